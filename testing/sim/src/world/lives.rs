//! Endpoints and nodes that come and go, and how the others learn of it.

use super::*;
use crate::forms::{self, Blocks, Inflater};
use whimbrel_base::qos::CompressionIds;
use whimbrel_proto::discovery::locators::LOCAL_MESSAGE_BYTES_MAX;

impl World {
    pub(super) fn start_writer(&mut self, plan: usize) {
        self.recovery.note_change(self.now);
        let settings = self.scenario.writers[plan];
        let keys = self.scenario.keys_of(settings.topic);
        let kind = match keys {
            Some(_) => EntityKind::WriterWithKey,
            None => EntityKind::WriterNoKey,
        };
        let node = settings.node;
        let guid = Guid::new(self.nodes[node].prefix, entity(plan, kind));
        let mut config = WriterConfig::new(guid);
        config.reliable = settings.reliable;
        config.durable = settings.durable;
        config.depth = settings.depth;
        config.samples_max = settings.samples_max.unwrap_or(usize::MAX);
        config.samples_per_instance_max = settings.samples_per_instance_max.unwrap_or(usize::MAX);
        config.unacknowledged_bytes_max = settings.unacknowledged_bytes_max;
        config.nack_response_delay = settings.nack_response_delay;
        config.nack_suppression = settings.nack_suppression;
        config.message_bytes_max = self.scenario.datagram_bytes_max;
        config.joined_bytes_max = forms::joined_bytes_max(&self.scenario, plan);
        if forms::begins_wide(&self.scenario, plan) {
            config.first_burst_bytes = config.burst_bytes;
        }
        let form = forms::of_writer(&self.scenario, plan);
        config.bundling = form.bundling;
        config.batch = form.batch;
        if form.batch.is_none() {
            config.packed_messages = form.codec;
        }
        let id = self.model.add_writer(WriterFacts {
            guid,
            reliable: settings.reliable,
            durable: settings.durable,
            depth: settings.depth,
            limited: settings.samples_max.is_some() || settings.samples_per_instance_max.is_some(),
        });
        self.writer_ids.insert(guid, id);
        let mut machine = Writer::new(config);
        if !form.codec.is_empty() {
            machine.set_block_packer(Some(Box::new(Blocks(form))));
        }
        let slot = WriterSlot::new(plan, id, machine, form.codec);
        self.nodes[node].writers.push(slot);
        if self.scenario.discovery {
            self.announce_writer(node, guid.entity, plan);
            return;
        }
        for reader in self.readers_up() {
            self.introduce(guid, reader);
        }
    }

    pub(super) fn start_reader(&mut self, plan: usize) {
        self.recovery.note_change(self.now);
        let settings = self.scenario.readers[plan];
        let keyed = self.scenario.keys_of(settings.topic).is_some();
        let kind = if keyed {
            EntityKind::ReaderWithKey
        } else {
            EntityKind::ReaderNoKey
        };
        let node = settings.node;
        let guid = Guid::new(self.nodes[node].prefix, entity(plan, kind));
        let mut limits = ResourceLimits::UNLIMITED;
        if let Some(samples) = settings.samples_max {
            limits = limits.max_samples(samples);
        }
        if let Some(samples) = settings.samples_per_instance_max {
            limits = limits.max_samples_per_instance(samples);
        }
        let history = settings.depth.map_or(History::KeepAll, History::KeepLast);
        let cache = CacheConfig {
            keyed,
            history,
            limits,
            ..CacheConfig::default()
        };
        let mut config = ReaderConfig::new(guid, cache);
        config.reliable = settings.reliable;
        config.durable = settings.durable;
        config.keys = keyed.then(|| Box::new(Keys) as Box<_>);
        config.unpacker = Some(Box::new(Inflater));
        config.reorder_samples_max = settings.reorder_samples_max;
        config.reassembly_samples_max = settings.reassembly_samples_max;
        config.heartbeat_response_delay = settings.heartbeat_response_delay;
        let take_period = if self.healed {
            Duration::ZERO
        } else {
            settings.take_period
        };
        let id = self.model.add_reader(ReaderFacts {
            guid,
            reliable: settings.reliable,
            durable: settings.durable,
            depth: settings.depth.map(|depth| depth as usize),
            limited: settings.samples_max.is_some(),
            prompt: settings.take_period.is_zero(),
        });
        self.reader_ids.insert(guid, id);
        let slot = ReaderSlot::new(plan, id, Reader::new(config), take_period);
        self.nodes[node].readers.push(slot);
        if self.scenario.discovery {
            self.announce_reader(node, guid.entity, plan);
            return;
        }
        for writer in self.writers_up() {
            self.introduce(writer, guid);
        }
    }

    fn writers_up(&self) -> Vec<Guid> {
        let slots = self.nodes.iter().flat_map(|node| &node.writers);
        slots.map(|slot| slot.machine.guid()).collect()
    }

    fn readers_up(&self) -> Vec<Guid> {
        let slots = self.nodes.iter().flat_map(|node| &node.readers);
        slots.map(|slot| slot.machine.guid()).collect()
    }

    fn soon(&mut self) -> Instant {
        let delay = self.random.span(self.scenario.news_delay);
        self.now.after(delay)
    }

    /// Has both sides of a compatible pair learn of each other, each in its own time.
    fn introduce(&mut self, writer: Guid, reader: Guid) {
        let (Some((_, wrote)), Some((_, reads))) =
            (self.writer_plan(writer), self.reader_plan(reader))
        else {
            return;
        };
        let (wrote, reads) = (self.scenario.writers[wrote], self.scenario.readers[reads]);
        let fits = wrote.fits(&reads);
        if fits {
            let at = self.soon();
            self.plan(at, Todo::WriterLearns { writer, reader });
            let at = self.soon();
            self.plan(at, Todo::ReaderLearns { reader, writer });
        }
    }

    fn writer_plan(&self, guid: Guid) -> Option<(NodeIndex, usize)> {
        self.nodes.iter().enumerate().find_map(|(index, node)| {
            let slot = node
                .writers
                .iter()
                .find(|slot| slot.machine.guid() == guid)?;
            Some((index, slot.plan))
        })
    }

    fn reader_plan(&self, guid: Guid) -> Option<(NodeIndex, usize)> {
        self.nodes.iter().enumerate().find_map(|(index, node)| {
            let slot = node
                .readers
                .iter()
                .find(|slot| slot.machine.guid() == guid)?;
            Some((index, slot.plan))
        })
    }

    pub(super) fn writer_learns(&mut self, writer: Guid, reader: Guid) {
        let (Some((node, wrote)), Some((reader_node, plan))) =
            (self.writer_plan(writer), self.reader_plan(reader))
        else {
            return;
        };
        let settings = self.scenario.readers[plan];
        let on_host = self.scenario.hosts[node] == self.scenario.hosts[reader_node];
        let form = forms::of_writer(&self.scenario, wrote);
        let taken = forms::of_reader(&self.scenario, plan).unwrap_or(CompressionIds::NONE);
        let matched = MatchedReader {
            group: None,
            receive_buffer_bytes: if self.scenario.heeds_queues(node) {
                self.scenario.told_queue_bytes(reader_node)
            } else {
                0
            },
            packed_messages: forms::of_node(&self.scenario, reader_node),
            packed: taken.intersects(form.codec),
            batches: forms::takes_batches(&self.scenario, reader_node),
            guid: reader,
            reliable: settings.reliable,
            durable: settings.durable,
            expects_inline_qos: false,
            locators: vec![self.data_locator(reader_node)],
            message_bytes_max: if on_host {
                LOCAL_MESSAGE_BYTES_MAX
            } else {
                self.scenario.datagram_bytes_max
            },
            vendor: VendorId::WHIMBREL,
        };
        self.match_reader(writer, matched);
        self.settle(node);
    }

    /// Tells a writer of a reader.
    pub(super) fn match_reader(&mut self, writer: Guid, matched: MatchedReader) {
        let (reader, durable) = (matched.guid, matched.durable);
        let Some(ids) = self.ids(writer, matched.guid) else {
            return;
        };
        self.settle_before_readers_change(writer, ids.0);
        let now = self.here(self.node_of(writer));
        let mut slots = self.nodes.iter_mut().flat_map(|node| &mut node.writers);
        if let Some(slot) = slots.find(|slot| slot.id == ids.0) {
            slot.change().handle_matched(now, matched);
            let history = durable && slot.machine.config().durable;
            self.model.writer_knows(ids.0, ids.1, true);
            if history {
                self.useful_bytes += self.model.written_bytes(ids.0, SAMPLE_OVERHEAD_BYTES);
            }
            self.note_neighbour((writer, ids.0), reader);
        }
    }

    /// Has what a writer put into a message already leave before readers come or go.
    fn settle_before_readers_change(&mut self, writer: Guid, id: WriterId) {
        let node = self.node_of(writer);
        let mut slots = self.nodes[node].writers.iter_mut();
        let slot = slots.find(|slot| slot.id == id);
        if slot.is_some_and(|it| it.change().leaves_before_readers_change()) {
            self.settle(node);
        }
    }

    fn data_locator(&self, node: NodeIndex) -> Locator {
        if self.scenario.multicast_data {
            data_group()
        } else {
            address(node)
        }
    }

    pub(super) fn reader_learns(&mut self, reader: Guid, writer: Guid) {
        let (Some((node, _)), Some((writer_node, plan))) =
            (self.reader_plan(reader), self.writer_plan(writer))
        else {
            return;
        };
        let settings = self.scenario.writers[plan];
        let takes_batches = forms::takes_batches(&self.scenario, node);
        let form = forms::of_writer(&self.scenario, plan);
        let matched = MatchedWriter {
            packs: !form.codec.is_empty(),
            // Who takes none does not know that there are any.
            batches: form.batch.is_some() && takes_batches,
            guid: writer,
            reliable: settings.reliable,
            durable: settings.durable,
            locators: vec![address(writer_node)],
            vendor: VendorId::WHIMBREL,
        };
        self.match_writer(reader, matched);
        self.settle(node);
    }

    /// Tells a reader of a writer.
    pub(super) fn match_writer(&mut self, reader: Guid, matched: MatchedWriter) {
        let Some(ids) = self.ids(matched.guid, reader) else {
            return;
        };
        let now = self.here(self.node_of(reader));
        let mut slots = self.nodes.iter_mut().flat_map(|node| &mut node.readers);
        if let Some(slot) = slots.find(|slot| slot.id == ids.1) {
            slot.change().handle_matched(now, matched);
            self.model.reader_knows(ids.0, ids.1, true);
        }
    }

    /// Who the two are to the model. An endpoint that nobody ever made comes of a damaged
    /// announcement.
    fn ids(&mut self, writer: Guid, reader: Guid) -> Option<(WriterId, ReaderId)> {
        let ids = self
            .writer_ids
            .get(&writer)
            .zip(self.reader_ids.get(&reader));
        if ids.is_none() {
            self.model
                .finding(format!("{writer:?} and {reader:?} matched: who is that?"));
        }
        ids.map(|(writer, reader)| (*writer, *reader))
    }

    /// The node on which an endpoint is, or was.
    pub(super) fn node_of(&self, endpoint: Guid) -> NodeIndex {
        usize::from(endpoint.prefix.0[1].saturating_sub(1)).min(self.nodes.len() - 1)
    }

    /// Tells a writer that a reader is gone, or `lost`.
    pub(super) fn writer_forgets(&mut self, writer: Guid, reader: Guid, lost: bool) {
        let Some(ids) = self.ids(writer, reader) else {
            return;
        };
        self.settle_before_readers_change(writer, ids.0);
        let now = self.here(self.node_of(writer));
        let mut slots = self.nodes.iter_mut().flat_map(|node| &mut node.writers);
        if let Some(slot) = slots.find(|slot| slot.id == ids.0) {
            slot.change().handle_unmatched(now, reader, lost);
            slot.neighbours.remove(&reader);
            for (writer, reader) in self.model.namesakes(ids) {
                self.model.writer_knows(writer, reader, false);
            }
        }
    }

    /// Tells a reader that a writer is gone.
    pub(super) fn reader_forgets(&mut self, reader: Guid, writer: Guid) {
        let Some(ids) = self.ids(writer, reader) else {
            return;
        };
        let node = self.node_of(reader);
        let (now, wall) = (self.here(node), self.wall(node));
        let at = self.nodes.iter().enumerate().find_map(|(node, it)| {
            Some((node, it.readers.iter().position(|slot| slot.id == ids.1)?))
        });
        if let Some((node, index)) = at {
            // What the old writer sent is told from what a new one of its name will send.
            while self.take(node, index) {}
            let slot = &mut self.nodes[node].readers[index];
            slot.change().handle_unmatched(now, wall, writer);
            for (writer, reader) in self.model.namesakes(ids) {
                self.model.reader_knows(writer, reader, false);
            }
        }
    }

    pub(super) fn stop_writer(&mut self, plan: usize) {
        self.recovery.note_change(self.now);
        let node = self.scenario.writers[plan].node;
        let here = self.here(node);
        let slots = &mut self.nodes[node].writers;
        if let Some(index) = slots.iter().position(|slot| slot.plan == plan) {
            let gone = slots.remove(index);
            let gone = gone.machine.guid();
            if let Some(participant) = self.nodes[node].change_participant() {
                return participant.remove_writer(here, gone.entity);
            }
            for reader in self.readers_up() {
                let at = self.soon();
                self.plan(
                    at,
                    Todo::ReaderForgets {
                        reader,
                        writer: gone,
                    },
                );
            }
        }
    }

    pub(super) fn stop_reader(&mut self, plan: usize) {
        self.recovery.note_change(self.now);
        let node = self.scenario.readers[plan].node;
        let here = self.here(node);
        let slots = &mut self.nodes[node].readers;
        if let Some(index) = slots.iter().position(|slot| slot.plan == plan) {
            let gone = slots.remove(index);
            self.model.remove_reader(gone.id);
            if let Some(participant) = self.nodes[node].change_participant() {
                return participant.remove_reader(here, gone.machine.guid().entity);
            }
            for writer in self.writers_up() {
                let at = self.soon();
                self.plan(
                    at,
                    Todo::WriterForgets {
                        writer,
                        reader: gone.machine.guid(),
                    },
                );
            }
        }
    }

    pub(super) fn restart(&mut self, node: NodeIndex, same_prefix: bool) {
        if self.away.contains_key(&node) {
            return;
        }
        let writers: Vec<_> = self.nodes[node].writers.drain(..).collect();
        let readers: Vec<_> = self.nodes[node].readers.drain(..).collect();
        if self.scenario.discovery {
            self.replace_participant(node, same_prefix);
        } else if same_prefix {
            // A machine that boots takes longer than datagrams live.
            self.network.purge(node);
        } else {
            self.lives[node] += 1;
            self.nodes[node].prefix = prefix(node, self.lives[node]);
        }
        for gone in &readers {
            self.model.remove_reader(gone.id);
        }
        let introduced = !self.scenario.discovery;
        for writer in writers
            .iter()
            .filter(|_| introduced)
            .map(|gone| gone.machine.guid())
        {
            for reader in self.readers_up() {
                self.part(same_prefix, Todo::ReaderForgets { reader, writer });
            }
        }
        for reader in readers
            .iter()
            .filter(|_| introduced)
            .map(|gone| gone.machine.guid())
        {
            for writer in self.writers_up() {
                self.part(same_prefix, Todo::WriterForgets { writer, reader });
            }
        }
        for gone in writers {
            self.start_writer(gone.plan);
        }
        for gone in readers {
            self.start_reader(gone.plan);
        }
        self.settle(node);
    }

    fn part(&mut self, at_once: bool, todo: Todo) {
        if at_once {
            self.act(todo);
        } else {
            let at = self.soon();
            self.plan(at, todo);
        }
    }
}
