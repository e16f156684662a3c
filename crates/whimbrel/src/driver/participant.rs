//! A participant: its control machine, its sockets, and the way of every datagram.

mod control;
mod inbound;

use std::io;

use whimbrel_base::budget::Budget;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::reject::{Reject, RejectCounters};
use whimbrel_base::sorted::SortedMap;
use whimbrel_base::status::StatusMask;
use whimbrel_base::time::Instant;
use whimbrel_net::interfaces::Interface;
use whimbrel_net::socket::UdpSocket;
use whimbrel_proto::writer::{Bundling, SharedRate, WriterConfig};
use whimbrel_proto::{Participant, ParticipantConfig};

use super::clock;
use super::engine::Driver;
use super::neighbours::{self, Resident};
use super::network::Network;
use super::packing::BundleInflater;
use super::reader::ReaderCore;
use super::reception::Reception;
use super::routing::Routing;
use super::sockets::Sockets;
use super::statistics::{self, StatisticsOffer};
use super::status::EntityStatus;
use super::sync::atomic::{AtomicBool, AtomicU64};
use super::sync::{Arc, Mutex, OnceLock, Snapshot, Weak, lock};
use super::timers::{Timed, TimerSlot};
use super::topic::TopicCore;
use super::wake::Bell;
use super::warning::Warnings;
use super::writer::WriterCore;
use crate::domain::InProcess;

/// A participant.
pub(crate) struct ParticipantCore {
    pub(crate) prefix: GuidPrefix,
    me: Weak<Self>,
    /// Held while control events are applied, so that they arrive in order.
    serial: Mutex<()>,
    control: Mutex<Box<Participant>>,
    routing: Snapshot<Routing>,
    pub(crate) sockets: Arc<Sockets>,
    network: Network,
    interfaces: Mutex<Vec<Interface>>,
    receptions: Mutex<Vec<Arc<Reception>>>,
    timer: TimerSlot,
    topics: Mutex<SortedMap<String, Weak<TopicCore>>>,
    pub(crate) status: Arc<EntityStatus>,
    /// Rings when discovery learned something.
    pub(crate) bell: Bell,
    pub(crate) warnings: Arc<Warnings>,
    /// What its writers and readers may hold.
    pub(crate) budget: Arc<Budget>,
    /// How fast its writers write together.
    pub(crate) rate: Arc<SharedRate>,
    pub(crate) rejects: Arc<Mutex<RejectCounters>>,
    /// Inflates messages that are compressed as a whole.
    pub(crate) inflater: Mutex<BundleInflater>,
    /// The control machine has heard something and was not drained since.
    unsettled: AtomicBool,
    pub(crate) receive_errors: AtomicU64,
    /// Somebody else uses our GUID prefix.
    pub(crate) own_guid_claimed: AtomicU64,
    /// What it tells others of its endpoints, where it does.
    statistics: OnceLock<Arc<StatisticsOffer>>,
    pub(crate) driver: Arc<Driver>,
}

impl ParticipantCore {
    /// Starts a participant on sockets that were opened for `network` and `interfaces`.
    ///
    /// # Errors
    /// The system has no descriptors or threads left.
    pub(crate) fn start(
        mut config: ParticipantConfig,
        sockets: Sockets,
        network: Network,
        interfaces: Vec<Interface>,
        warnings: Warnings,
    ) -> io::Result<Arc<Self>> {
        config.set_addresses(sockets.addresses(&network, &interfaces));
        let driver = Driver::shared()?;
        let budget = Arc::new(Budget::new(config.limits.memory_bytes_max));
        let prefix = config.guid_prefix;
        let control = machine(config);
        let core = Arc::new_cyclic(|me| Self {
            prefix,
            me: me.clone(),
            serial: Mutex::new(()),
            control: Mutex::new(control),
            routing: Snapshot::default(),
            sockets: Arc::new(sockets),
            network,
            interfaces: Mutex::new(interfaces),
            receptions: Mutex::default(),
            timer: TimerSlot::default(),
            topics: Mutex::default(),
            status: EntityStatus::new(&driver.callbacks, None),
            bell: Bell::default(),
            warnings: Arc::new(warnings),
            budget,
            rate: Arc::default(),
            rejects: Arc::default(),
            inflater: Mutex::default(),
            unsettled: AtomicBool::new(false),
            receive_errors: AtomicU64::new(0),
            own_guid_claimed: AtomicU64::new(0),
            statistics: OnceLock::new(),
            driver,
        });
        for socket in core.sockets.all() {
            core.listen(&socket)?;
        }
        // User data comes by unicast, which is the first.
        if let Some(first) = lock(&core.receptions).first() {
            let reception = Arc::downgrade(first);
            core.status.bell.receive_at(Weak::clone(&reception));
            core.bell.receive_at(reception);
        }
        if core.in_process() != InProcess::Off {
            let me: Weak<dyn Resident> = core.me.clone();
            neighbours::enter(core.prefix, me);
        }
        core.change(|_, _| ());
        Ok(core)
    }

    /// Offers others what its endpoints count, from before it has any.
    pub(crate) fn offer_statistics(&self) {
        let mut config = WriterConfig::new(self.guid(statistics::ENTITY));
        config.budget = Some(Arc::clone(&self.budget));
        config.message_bytes_max = self.look(|it| it.config().message_bytes_max);
        config.bundling = self.automatic_bundling();
        let owner: Weak<dyn statistics::Owner> = self.me.clone();
        let (sockets, driver) = (&self.sockets, &self.driver);
        let told = (&self.warnings, &self.rejects);
        let offer = StatisticsOffer::new(owner, config, sockets, driver, told);
        self.add_writer(&offer.writer);
        if self.statistics.set(offer).is_ok() {
            self.change(|control, now| control.update_writer(now, statistics::announcement()));
        }
    }

    /// Octets of bundles that may wait to leave by one call.
    pub(crate) fn joined_bytes_max(&self) -> usize {
        self.network.fittings.offload.bundles_bytes_max()
    }

    /// How samples leave whose writer leaves that to us.
    pub(crate) fn automatic_bundling(&self) -> Bundling {
        if self.network.bundles {
            Bundling::Automatic
        } else {
            Bundling::Off
        }
    }

    /// How samples reach readers of this process.
    pub(crate) fn in_process(&self) -> InProcess {
        self.network.in_process()
    }

    /// Datagrams received, and octets in them.
    pub(crate) fn received(&self) -> (u64, u64) {
        let receptions = lock(&self.receptions);
        let each = receptions.iter().map(|it| it.received());
        each.fold((0, 0), |(count, bytes), it| (count + it.0, bytes + it.1))
    }

    fn listen(&self, socket: &Arc<UdpSocket>) -> io::Result<()> {
        let in_batches = self.network.fittings.receives_batches;
        let manner = (self.network.waiting, in_batches);
        let reception = self.driver.add(socket, self.me.clone(), manner)?;
        lock(&self.receptions).push(reception);
        Ok(())
    }

    /// The network interfaces in use.
    pub(crate) fn interfaces(&self) -> Vec<Interface> {
        lock(&self.interfaces).clone()
    }

    /// Looks at the control machine.
    pub(crate) fn look<R>(&self, f: impl FnOnce(&Participant) -> R) -> R {
        f(&lock(&self.control))
    }

    /// Replaces the routing snapshot; call with `serial` held or from [`ParticipantCore::apply`].
    fn reroute(&self, f: impl FnOnce(&mut Routing)) {
        let mut routing = Routing::clone(&self.routing.load());
        f(&mut routing);
        self.routing.store(Arc::new(routing));
    }

    /// Lets traffic reach a new writer.
    pub(crate) fn add_writer(&self, writer: &Arc<WriterCore>) {
        let _serial = lock(&self.serial);
        self.reroute(|routing| routing.add_writer(writer));
    }

    /// Lets traffic reach a new reader.
    pub(crate) fn add_reader(&self, reader: &Arc<ReaderCore>) {
        let _serial = lock(&self.serial);
        self.reroute(|routing| routing.add_reader(reader));
    }

    /// Takes a writer off the bus.
    pub(crate) fn remove_writer(&self, entity: EntityId) {
        self.change(|control, now| control.remove_writer(now, entity));
        let _serial = lock(&self.serial);
        self.reroute(|routing| routing.remove_writer(entity));
    }

    /// Takes a reader off the bus.
    pub(crate) fn remove_reader(&self, entity: EntityId) {
        self.change(|control, now| control.remove_reader(now, entity));
        let _serial = lock(&self.serial);
        self.reroute(|routing| routing.remove_reader(entity));
    }

    /// The topic of this name, shared by all who use it.
    pub(crate) fn topic(&self, name: &str) -> Arc<TopicCore> {
        let mut topics = lock(&self.topics);
        topics.retain(|_, topic| topic.strong_count() > 0);
        if let Some(topic) = topics.get(name).and_then(Weak::upgrade) {
            return topic;
        }
        let topic = TopicCore::new(name, self.new_status());
        let owner: Weak<TopicCore> = Arc::downgrade(&topic);
        topic.status.set_owner(owner);
        topics.insert(name.to_owned(), Arc::downgrade(&topic));
        topic
    }

    /// Statuses of an entity within this participant.
    pub(crate) fn new_status(&self) -> Arc<EntityStatus> {
        EntityStatus::new(&self.driver.callbacks, Some(&self.status))
    }

    /// Its endpoints as they are at the moment.
    pub(super) fn routes(&self) -> Arc<Routing> {
        self.routing.load_full()
    }

    /// Has listeners at `level` told of what has changed already in the entities within it.
    pub(crate) fn retell_within(&self, level: &Arc<EntityStatus>, kinds: StatusMask) {
        let routing = self.routing.load_full();
        let topics: Vec<_> = lock(&self.topics)
            .values()
            .filter_map(Weak::upgrade)
            .collect();
        let writers = routing.writers().values().map(|it| &it.status);
        let readers = routing.readers().values().map(|it| &it.status);
        let topics = topics.iter().map(|it| &it.status);
        writers
            .chain(readers)
            .chain(topics)
            .filter(|status| status.is_within(level))
            .for_each(|status| status.retell(kinds));
    }

    /// Has the listeners of readers within `level` told that there is data, though a listener for
    /// DATA_ON_READERS was told before.
    pub(crate) fn forward_data(&self, level: &Arc<EntityStatus>) {
        let routing = self.routing.load_full();
        let readers = routing.readers().values().map(|it| &it.status);
        readers
            .filter(|status| status.is_within(level))
            .for_each(|status| status.forward_data());
    }

    /// Somebody waits until endpoints are matched: those that are yet to be announced are at once.
    pub(crate) fn announce_at_once(&self) {
        self.change(|control, _| control.hurry());
    }

    /// Says farewell. The program may end as soon as this returns.
    pub(crate) fn leave(&self) {
        self.change(|control, now| control.depart(now));
    }

    #[cold]
    fn reject(&self, reject: Reject) {
        lock(&self.rejects).count(reject.kind);
    }

    /// Everything refused so far, by reason.
    pub(crate) fn rejects(&self) -> RejectCounters {
        let mut all = lock(&self.rejects).clone();
        self.look(|control| all.add(control.rejects()));
        all
    }

    /// Our GUID for `entity`.
    pub(crate) fn guid(&self, entity: EntityId) -> Guid {
        Guid::new(self.prefix, entity)
    }
}

/// Apart, so that what it takes to make one leaves the stack before anything else needs it.
#[inline(never)]
fn machine(config: ParticipantConfig) -> Box<Participant> {
    Box::new(Participant::new(clock::now(), config))
}

impl statistics::Owner for ParticipantCore {
    fn routes(&self) -> Arc<Routing> {
        Self::routes(self)
    }
}

impl Resident for ParticipantCore {
    fn reader(&self, entity: EntityId) -> Option<Arc<ReaderCore>> {
        self.routing.load().readers().get(&entity).cloned()
    }
}

impl Timed for ParticipantCore {
    fn on_timer(&self, _now: Instant) {
        self.change(|control, now| control.handle_timeout(now));
    }

    fn timer(&self) -> &TimerSlot {
        &self.timer
    }
}

impl Drop for ParticipantCore {
    fn drop(&mut self) {
        neighbours::leave(self.prefix);
        self.driver.disarm(&self.timer);
        for reception in lock(&self.receptions).drain(..) {
            self.driver.remove(&reception);
        }
    }
}

impl std::fmt::Debug for ParticipantCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ParticipantCore({})", self.prefix)
    }
}
