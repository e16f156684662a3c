//! Participants in place of given matches.

use whimbrel_base::qos::{
    Batch, DataReaderQos, DataWriterQos, Partition, PublisherQos, SubscriberQos, TopicQos,
};
use whimbrel_proto::discovery::locators::InterfaceAddress;
use whimbrel_proto::participant::{
    LocalReader, LocalWriter, Participant, ParticipantConfig, ParticipantEvent,
};

use std::net::SocketAddr;

use super::*;
use crate::addresses::{LOOPBACK, groups, host_address, ports};
use crate::forms;

/// No scenario ends sooner after all faults have.
const SOAK: Duration = Duration::from_secs(2);

/// Loopback addresses that are probed at least; all where nodes may be, as participants do.
const PROBES_MIN: usize = 6;

fn interfaces(scenario: &Scenario, node: NodeIndex) -> Vec<InterfaceAddress> {
    let network = InterfaceAddress {
        ip: host_address(scenario, node).into(),
        prefix_len: 24,
        mtu: scenario.datagram_bytes_max as u32 + 48,
        loopback: false,
    };
    let loopback = InterfaceAddress {
        ip: LOOPBACK.into(),
        prefix_len: 8,
        mtu: 65_536,
        loopback: true,
    };
    vec![network, loopback]
}

/// The partition that a plan's bits name.
fn partition(bits: u8) -> Partition {
    let names = [(1, "a"), (2, "b"), (4, "?")];
    let named = names.iter().filter(|(bit, _)| bits & bit != 0);
    Partition {
        names: named.map(|(_, name)| String::from(*name)).collect(),
    }
}

impl World {
    pub(super) fn start_participant(&mut self, node: NodeIndex) {
        let scenario = &self.scenario;
        let [mut metatraffic, mut user] = ports(scenario, node);
        if !scenario.loopback {
            metatraffic.retain(|locator| !locator.is_loopback());
            user.retain(|locator| !locator.is_loopback());
        }
        let mut config = ParticipantConfig::new(self.nodes[node].prefix, 0);
        config.metatraffic_unicast = metatraffic;
        config.default_unicast = user;
        config.interfaces = interfaces(scenario, node);
        config.receive_buffer_bytes = scenario.told_queue_bytes(node);
        config.heeds_receive_buffers = scenario.heeds_queues(node);
        config.lease = scenario.lease;
        config.announce_period = scenario.announce_period;
        config.seed = scenario.seed.wrapping_add(node as u64);
        config.packed_messages = forms::of_node(scenario, node);
        let process = self.processes.name_of(scenario.processes[node]);
        if !scenario.anonymous.contains(&node) {
            let process = process.to_string();
            config.properties = vec![("dds.sys_info.process_id".to_owned(), process)];
        }
        let well_known = (7410u16..).step_by(2);
        config.probe = well_known
            .take(scenario.hosts.len().max(PROBES_MIN))
            .map(|port| SocketAddr::from((LOOPBACK, port)).into())
            .collect();
        config.metatraffic_multicast = groups(scenario, node);
        config.announce_to = config.metatraffic_multicast.clone();
        // It is enough that one of two hosts knows the other.
        for other in 0..node {
            if scenario.hosts[other] != scenario.hosts[node] && !scenario.share_group(node, other) {
                config.announce_to.push(ports(scenario, other)[0][0]);
            }
        }
        let here = self.here(node);
        self.nodes[node].participant = Some(Participant::new(here, config));
        self.nodes[node].change_participant();
        self.settle(node);
    }

    /// The participant of `node` ends, with or without a word, and another begins.
    pub(super) fn replace_participant(&mut self, node: NodeIndex, politely: bool) {
        if politely {
            self.depart(node);
        }
        self.recovery.note_end(self.now);
        if self.scenario.process_of(node).len() == 1 {
            self.processes.end(node);
        }
        self.lives[node] += 1;
        self.nodes[node].prefix = prefix(node, self.lives[node]);
        self.start_participant(node);
    }

    /// The participant of `node` says goodbye.
    pub(super) fn depart(&mut self, node: NodeIndex) {
        let now = self.here(node);
        if let Some(participant) = self.nodes[node].change_participant() {
            participant.depart(now);
            let mut sent = Sent::default();
            participant.poll_transmit(now, &mut sent);
            for (to, bytes) in sent.messages {
                self.note(|| format!("node {node} to {to:?} {}", pretty::Dissection(&bytes)));
                self.network.send(self.now, node, &to, bytes);
            }
        }
    }

    pub(super) fn announce_writer(&mut self, node: NodeIndex, entity: EntityId, plan: usize) {
        let settings = self.scenario.writers[plan];
        let mut qos = DataWriterQos::default();
        qos = if settings.reliable {
            qos.reliable()
        } else {
            qos.best_effort()
        };
        qos = if settings.durable {
            qos.transient_local()
        } else {
            qos.volatile()
        };
        let form = forms::of_writer(&self.scenario, plan);
        if !form.codec.is_empty() {
            qos.data_representation.compression.compression_ids = Some(form.codec);
        }
        qos.batch = form.batch.map(|_| Batch::of_samples(u32::MAX));
        let writer = LocalWriter {
            entity,
            topic_name: format!("topic {}", settings.topic),
            type_name: String::from("type"),
            qos,
            publisher: PublisherQos {
                partition: partition(settings.partitions),
                ..PublisherQos::default()
            },
            topic: TopicQos::default(),
        };
        let now = self.here(node);
        if let Some(participant) = self.nodes[node].change_participant() {
            participant.add_writer(now, writer);
        }
    }

    pub(super) fn announce_reader(&mut self, node: NodeIndex, entity: EntityId, plan: usize) {
        let settings = self.scenario.readers[plan];
        let mut qos = DataReaderQos::default();
        qos = if settings.reliable {
            qos.reliable()
        } else {
            qos.best_effort()
        };
        qos = if settings.durable {
            qos.transient_local()
        } else {
            qos.volatile()
        };
        let taken = forms::of_reader(&self.scenario, plan);
        qos.data_representation.compression.compression_ids = taken;
        let reader = LocalReader {
            entity,
            topic_name: format!("topic {}", settings.topic),
            type_name: String::from("type"),
            qos,
            subscriber: SubscriberQos {
                partition: partition(settings.partitions),
                ..SubscriberQos::default()
            },
            topic: TopicQos::default(),
        };
        let now = self.here(node);
        if let Some(participant) = self.nodes[node].change_participant() {
            participant.add_reader(now, reader);
        }
    }

    pub(super) fn heed_participant(&mut self, node: NodeIndex, event: ParticipantEvent) {
        let own = self.nodes[node].prefix;
        match event {
            ParticipantEvent::ReaderMatched { writer, reader } => {
                self.match_reader(Guid::new(own, writer), reader);
            }
            ParticipantEvent::ReaderUnmatched {
                writer,
                reader,
                lost,
            } => {
                self.writer_forgets(Guid::new(own, writer), reader, lost);
            }
            ParticipantEvent::WriterMatched { reader, writer } => {
                self.match_writer(Guid::new(own, reader), writer);
            }
            ParticipantEvent::WriterUnmatched { reader, writer } => {
                self.reader_forgets(Guid::new(own, reader), writer);
            }
            ParticipantEvent::InconsistentTopic { topic_name } => {
                self.model
                    .finding(format!("{topic_name} is called inconsistent"));
            }
            ParticipantEvent::OwnGuidClaimed { from } => {
                self.model
                    .finding(format!("node {node} thinks {from} claims its name"));
            }
            ParticipantEvent::ParticipantLost { .. }
            | ParticipantEvent::ReaderIncompatible { .. }
            | ParticipantEvent::WriterIncompatible { .. }
            | ParticipantEvent::ReaderUnserved { .. }
            | ParticipantEvent::PeerConfirmed { .. }
            | ParticipantEvent::ParticipantHeard(_)
            | ParticipantEvent::ParticipantForgotten(_)
            | ParticipantEvent::ParticipantDiscovered(_)
            | ParticipantEvent::RoutingChanged => {}
        }
    }

    /// Ends the scenario when everybody has met and everything has arrived.
    pub(super) fn look_for_rest(&mut self) {
        let late = self.now > self.scenario.heals_at.after(QUIET_AFTER.divided_by(2));
        let early = self.now < self.scenario.heals_at.after(SOAK);
        let odd = self.odd_match().or_else(|| self.ghost());
        if let Some(text) = self.recovery.judge(self.now, odd.as_deref()) {
            self.model.finding(text);
        }
        match odd.or_else(|| self.unrest()) {
            None if !early => self.at_rest = true,
            Some(text) if late => self.model.finding(text),
            None | Some(_) => {
                let at = self.now.after(Duration::from_millis(250));
                self.plan(at, Todo::Rest);
            }
        }
    }

    /// Who is matched and should not be, or the other way round.
    fn odd_match(&self) -> Option<String> {
        let slots = self.nodes.iter().flat_map(|node| &node.writers);
        let writers: Vec<_> = slots.map(|slot| (slot.id, slot.plan)).collect();
        let slots = self.nodes.iter().flat_map(|node| &node.readers);
        let readers: Vec<_> = slots.map(|slot| (slot.id, slot.plan)).collect();
        let mut expected = BTreeSet::new();
        for (writer, wrote) in &writers {
            for (reader, reads) in &readers {
                let plans = (
                    &self.scenario.writers[*wrote],
                    &self.scenario.readers[*reads],
                );
                if plans.0.fits(plans.1)
                    && self.scenario.reach_each_other(plans.0.node, plans.1.node)
                {
                    expected.insert((*writer, *reader));
                }
            }
        }
        let matched = self.model.known();
        if let Some(pair) = expected
            .iter()
            .find(|pair| matched.get(pair) != Some(&(true, true)))
        {
            return Some(format!(
                "{pair:?} should be matched: {:?}",
                matched.get(pair)
            ));
        }
        for ((writer, reader), (writer_knows, reader_knows)) in &matched {
            let writer_lives = writers.iter().any(|(id, _)| id == writer);
            let reader_lives = readers.iter().any(|(id, _)| id == reader);
            let stale = (*writer_knows && writer_lives) || (*reader_knows && reader_lives);
            let reachable = self.reach_each_other(*writer, *reader);
            if stale && reachable && !expected.contains(&(*writer, *reader)) {
                return Some(format!("{writer:?} and {reader:?} should not be matched"));
            }
        }
        None
    }

    /// What is still to come, if anything.
    fn unrest(&self) -> Option<String> {
        let busy = self
            .nodes
            .iter()
            .find_map(|node| node.reasons().first().copied());
        busy.map(|reason| format!("still busy: {reason:?}"))
    }
}
