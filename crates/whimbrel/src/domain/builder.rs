//! How a participant is set up.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use whimbrel_base::limits::Limits;
use whimbrel_base::qos::DomainParticipantQos;
use whimbrel_base::time::Duration;
use whimbrel_net::clock::give_up_counter;
use whimbrel_net::decorate::Faults;
use whimbrel_net::interfaces::Selection;

use super::environment::Environment;
use super::in_process::InProcess;
use super::ip::IpVersions;
use super::join;
use super::offload::SegmentationOffload;
use super::participant::{DomainParticipant, ParticipantInner};
use super::settings::{Asked, Setting, Settings};
use super::waiting::Waiting;
use crate::driver::compression::built_in;
use crate::driver::network::{DataGroup, Fittings, Network};
use crate::driver::participant::ParticipantCore;
use crate::driver::sockets::Sockets;
use crate::driver::warning::{Warning, Warnings};
use crate::error::Error;

/// Settings of a participant, before it joins its domain.
///
/// What is not set here comes from the environment: `WHIMBREL_INTERFACES` (names, globs, networks,
/// separated by commas, `!` excludes), `WHIMBREL_PEERS` (addresses with or without port, separated
/// by commas), `WHIMBREL_IP` (`4`, `6` or `46`), `WHIMBREL_IN_PROCESS` (`direct`, `queued`,
/// `encoded` or `off`), `WHIMBREL_LOG` (`warn` or `off`), `WHIMBREL_DISCOVERY_BYTES_PER_S_MAX`,
/// `WHIMBREL_MESSAGE_BYTES_MAX`, `WHIMBREL_PACKET_BYTES_MAX`, `WHIMBREL_MULTICAST_DATA` (`on`,
/// `off` or a group),
/// `WHIMBREL_STATISTICS`, `WHIMBREL_AUTOMATIC_BUNDLING`, `WHIMBREL_CONNECTED_SOCKETS`,
/// `WHIMBREL_BATCHED_RECEIVE`, `WHIMBREL_BATCHED_SEND`, `WHIMBREL_RECEIVE_CREDIT`,
/// `WHIMBREL_BULK_SOCKET` and `WHIMBREL_PROCESSOR_COUNTER` (`on` or `off`),
/// `WHIMBREL_SEGMENTATION_OFFLOAD` (`on`, `off` or `auto`), `WHIMBREL_RECEIVE_BUFFER_BYTES` and
/// `WHIMBREL_SEND_BUFFER_BYTES` (octets or `system`), `WHIMBREL_WAITING` (`auto`, `auto:` and
/// so many microseconds, `receive`, `sleep` or `spin`), and
/// `WHIMBREL_DOMAIN` for [`DomainParticipantBuilder::default`]. A variable that begins with
/// `WHIMBREL_` and is no setting, or whose value makes no sense, is an error, also where the
/// program says otherwise.
#[derive(Debug, Default)]
pub struct DomainParticipantBuilder {
    asked: Asked,
    qos: DomainParticipantQos,
    capture: Option<PathBuf>,
    faults: Option<Faults>,
}

impl DomainParticipant {
    /// Joins `domain` with default settings.
    ///
    /// # Errors
    /// As [`DomainParticipantBuilder::build`].
    pub fn new(domain: u32) -> Result<Self, Error> {
        Self::builder(domain).build()
    }

    /// Settings for a participant of `domain`.
    pub fn builder(domain: u32) -> DomainParticipantBuilder {
        DomainParticipantBuilder::default().domain(domain)
    }
}

impl DomainParticipantBuilder {
    /// Which domain to join, 0 to 232; else `WHIMBREL_DOMAIN`, else 0.
    #[must_use]
    pub fn domain(mut self, domain: u32) -> Self {
        self.asked.domain = Some(domain);
        self
    }

    /// A name for people, shown by tools.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.asked.name = Some(name.into());
        self
    }

    /// QoS of the participant.
    #[must_use]
    pub fn qos(mut self, qos: DomainParticipantQos) -> Self {
        self.qos = qos;
        self
    }

    /// Which network interfaces to use, as in `WHIMBREL_INTERFACES`; all usable ones by default.
    #[must_use]
    pub fn interfaces(mut self, filter: impl Into<String>) -> Self {
        self.asked.interfaces = Some(filter.into());
        self
    }

    /// Hosts to announce this participant to, for networks without multicast: IP addresses, with
    /// a port or without. Those without are asked on the ports of participant indices 0 to 31: one
    /// with a higher index, or on another port, is found only by its own announcements, or with its
    /// port given.
    #[must_use]
    pub fn peers<I: IntoIterator<Item: Into<String>>>(mut self, peers: I) -> Self {
        self.asked.peers = Some(peers.into_iter().map(Into::into).collect());
        self
    }

    /// Which IP versions to use.
    #[must_use]
    pub fn ip(mut self, ip: IpVersions) -> Self {
        self.asked.ip = Some(ip);
        self
    }

    /// How samples reach readers of the same process, as in `WHIMBREL_IN_PROCESS`: directly by
    /// default. Where the participant of the writer or that of the reader says encoded, they are;
    /// where one says off, writes a [capture](Self::capture) or has [faults](Self::faults), they go
    /// by the network.
    #[must_use]
    pub fn in_process(mut self, how: InProcess) -> Self {
        self.asked.in_process = Some(how);
        self
    }

    /// Whether to use multicast where it exists; on by default.
    #[must_use]
    pub fn multicast(mut self, yes: bool) -> Self {
        self.asked.multicast = Some(yes);
        self
    }

    /// Whether new samples for readers of this participant may come by multicast, one datagram for
    /// all of them, and whether its writers send so to readers that announced the same; off by
    /// default, also by `WHIMBREL_MULTICAST_DATA`. Repairs, samples for anybody else, and those of
    /// writers with a batch limit go to each by itself. The group is that of RTPS 2.5 §9.6.2.4 for
    /// data, 239.255.0.1, at the domain's port for it. Where a network has multicast but does not
    /// carry it, everything reliable arrives as repairs and nothing else arrives.
    #[must_use]
    pub fn multicast_data(mut self, yes: bool) -> Self {
        let group = if yes {
            DataGroup::Standard
        } else {
            DataGroup::Off
        };
        self.asked.data_group = Some(group);
        self
    }

    /// As [`DomainParticipantBuilder::multicast_data`], but by `group`, an IPv4 or IPv6 multicast
    /// address, at the same port; also by `WHIMBREL_MULTICAST_DATA`. Only readers of participants
    /// with the same group are reached by it; [`DomainParticipantBuilder::build`] refuses what is
    /// no multicast address.
    #[must_use]
    pub fn multicast_data_group(mut self, group: IpAddr) -> Self {
        self.asked.data_group = Some(DataGroup::At(group));
        self
    }

    /// Whether to look for participants on the well-known ports of this host; on by default. Those
    /// are the ports of 120 participant indices: of two participants one must have such a port to
    /// be found, so those that came when all were taken meet each other by multicast or peers only.
    /// Linux's loopback carries multicast once it is told to: `ip link set lo multicast on`.
    #[must_use]
    pub fn loopback_probing(mut self, yes: bool) -> Self {
        self.asked.loopback_probing = Some(yes);
        self
    }

    /// What threads do that wait at its entities; by default they receive themselves, and poll
    /// briefly before they block for as long as that pays.
    #[must_use]
    pub fn waiting(mut self, waiting: Waiting) -> Self {
        self.asked.waiting = Some(waiting);
        self
    }

    /// How long others keep this participant without hearing of it; 10 s by default.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.asked.lease = Some(lease);
        self
    }

    /// Time between announcements; 3 s by default.
    #[must_use]
    pub fn announce_period(mut self, period: Duration) -> Self {
        self.asked.announce_period = Some(period);
        self
    }

    /// How long a new reader, or one that has lost its last writer, may be without one before that
    /// is a [`super::Warning`]; 5 s by default.
    #[must_use]
    pub fn unserved_patience(mut self, patience: Duration) -> Self {
        self.asked.unserved_patience = Some(patience);
        self
    }

    /// Octets of discovery that this participant sends per second at most, UDP and IP headers not
    /// counted; 12.5 MB/s by default, 1,000 at least. What is over it waits, so that meeting others
    /// takes longer.
    #[must_use]
    pub fn discovery_bytes_per_s_max(mut self, bytes: u64) -> Self {
        self.asked.discovery_bytes_per_s_max = Some(bytes);
        self
    }

    /// Octets of the largest RTPS message that leaves, 508 to 65,507: a larger sample leaves as
    /// fragments, and samples that leave together share no more. By default what fits a datagram
    /// between participants of one host, and a packet of the path to others; also by
    /// `WHIMBREL_MESSAGE_BYTES_MAX`. Batches of Connext are not divided.
    #[must_use]
    pub fn message_bytes_max(mut self, bytes: usize) -> Self {
        self.asked.message_bytes_max = Some(bytes);
        self
    }

    /// Octets of the largest IP packet by which data leaves for other hosts, 576 to 65,535, but
    /// never more than the interface and the path are known to carry; 1500 by default, also by
    /// `WHIMBREL_PACKET_BYTES_MAX`. 9000 suits networks where every host and switch takes jumbo
    /// frames; where one does not, larger packets vanish there and nobody says so.
    #[must_use]
    pub fn packet_bytes_max(mut self, bytes: u32) -> Self {
        self.asked.packet_bytes_max = Some(bytes);
        self
    }

    /// Whether datagrams of one size, such as the fragments of large samples and the bundles of a
    /// stream of small ones, leave and arrive many by one system call where the system can
    /// (UDP_SEGMENT and UDP_GRO), as by `WHIMBREL_SEGMENTATION_OFFLOAD`; by default bundles and the
    /// parts of samples do, of samples above 64 KiB no more than have been arriving in 50 µs. What
    /// travels is the same, and samples reach other hosts sooner; but where as much as the system
    /// takes leaves of larger samples, small ones on a narrow link wait the longer for it.
    #[must_use]
    pub fn segmentation_offload(mut self, how: impl Into<SegmentationOffload>) -> Self {
        self.asked.segmentation_offload = Some(how.into());
        self
    }

    /// Whether samples of writers with [`Bundling::Automatic`](crate::qos::Bundling::Automatic),
    /// which is the default, leave together where they come faster than they can be sent; on by
    /// default, also by `WHIMBREL_AUTOMATIC_BUNDLING`. Off, they leave as those of writers without
    /// bundling do.
    #[must_use]
    pub fn automatic_bundling(mut self, yes: bool) -> Self {
        self.asked.automatic_bundling = Some(yes);
        self
    }

    /// Whether datagrams that have arrived together are received several by one system call; on by
    /// default, also by `WHIMBREL_BATCHED_RECEIVE`. Those that the system has joined come so
    /// anyway: see [`DomainParticipantBuilder::segmentation_offload`].
    #[must_use]
    pub fn batched_receive(mut self, yes: bool) -> Self {
        self.asked.batched_receive = Some(yes);
        self
    }

    /// Whether a message to several addresses leaves by one system call to those that no socket is
    /// connected to, and to all where they are eight or more; on by default, also by
    /// `WHIMBREL_BATCHED_SEND`.
    #[must_use]
    pub fn batched_send(mut self, yes: bool) -> Self {
        self.asked.batched_send = Some(yes);
        self
    }

    /// Whether what receive buffers hold is told to writers and heeded by them; on by default, also
    /// by `WHIMBREL_RECEIVE_CREDIT`. Best-effort writers then hold back for a moment what such a
    /// buffer, or the way there, would drop, for which readers answer them now and then, and on one
    /// host reliable ones have that much of large samples under way. Off, this participant tells
    /// nothing and heeds nobody: writers pace what they send.
    #[must_use]
    pub fn receive_credit(mut self, yes: bool) -> Self {
        self.asked.receive_credit = Some(yes);
        self
    }

    /// Whether what is sent often to the same address leaves by a socket that is connected to it,
    /// for which the system looks up the way once; on by default, also by
    /// `WHIMBREL_CONNECTED_SOCKETS`. There are at most eight such sockets of each IP version; each
    /// sends from a port of its own, where all else leaves from the port that discovery tells of.
    #[must_use]
    pub fn connected_sockets(mut self, yes: bool) -> Self {
        self.asked.connected_sockets = Some(yes);
        self
    }

    /// Whether parts of samples of more than 9,000 octets leave for other hosts by a socket of low
    /// priority, so that what is short passes them where a link is full; on by default, also by
    /// `WHIMBREL_BULK_SOCKET`. It sends from a port of its own.
    #[must_use]
    pub fn bulk_socket(mut self, yes: bool) -> Self {
        self.asked.bulk_socket = Some(yes);
        self
    }

    /// Whether short spans of time are reckoned by the processor's counter, where the system itself
    /// keeps time by that, instead of asking the system each time; on by default, also by
    /// `WHIMBREL_PROCESSOR_COUNTER`. Off, it is off for all participants of the process, for good.
    #[must_use]
    pub fn processor_counter(mut self, yes: bool) -> Self {
        self.asked.processor_counter = Some(yes);
        self
    }

    /// To how many octets the receive buffers of sockets are raised, as by
    /// `WHIMBREL_RECEIVE_BUFFER_BYTES`; 4 MiB by default. The system may let them be less, as
    /// `whimbrel doctor` shows, and what is less than its own default changes nothing. `None`
    /// (`system`) leaves them as the system makes them. Each is memory that a burst may take
    /// before it is read; what does not fit is lost and, where RELIABLE, repaired.
    #[must_use]
    pub fn receive_buffer_bytes(mut self, bytes: Option<usize>) -> Self {
        self.asked.receive_buffer_bytes = Some(bytes);
        self
    }

    /// The same of send buffers, as by `WHIMBREL_SEND_BUFFER_BYTES`; 1 MiB by default.
    #[must_use]
    pub fn send_buffer_bytes(mut self, bytes: Option<usize>) -> Self {
        self.asked.send_buffer_bytes = Some(bytes);
        self
    }

    /// Whether others may read what its writers and readers have counted, on the topic
    /// [`crate::statistics::TOPIC_NAME`], as `whimbrel ls -v` does; off by default, also by
    /// `WHIMBREL_STATISTICS`. Where it is on, discovery tells of one writer more; while nobody
    /// reads it, nothing else happens.
    #[must_use]
    pub fn statistics(mut self, yes: bool) -> Self {
        self.asked.statistics = Some(yes);
        self
    }

    /// Whether warnings are lines on standard error where the program has no `tracing` subscriber,
    /// as by `WHIMBREL_LOG`; on by default.
    #[must_use]
    pub fn log(mut self, yes: bool) -> Self {
        self.asked.log = Some(yes);
        self
    }

    /// Makes a domain within the domain: only participants with the same tag meet.
    /// RTPS 2.5 §8.5.3.2.
    #[must_use]
    pub fn domain_tag(mut self, tag: impl Into<String>) -> Self {
        self.asked.domain_tag = Some(tag.into());
        self
    }

    /// Writes everything sent and received to a pcapng file.
    #[must_use]
    pub fn capture(mut self, file: impl Into<PathBuf>) -> Self {
        self.capture = Some(file.into());
        self
    }

    /// Drops and repeats outgoing datagrams, so and so many of a thousand, as a bad network would:
    /// for tests and demonstrations.
    #[must_use]
    pub fn faults(mut self, drop_per_mille: u16, duplicate_per_mille: u16, seed: u64) -> Self {
        self.faults = Some(Faults {
            drop_per_mille,
            duplicate_per_mille,
            seed,
        });
        self
    }

    /// Caps on what peers can make this participant hold.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.asked.limits = Some(limits);
        self
    }

    /// Every setting as it is in force, and who said so.
    ///
    /// # Errors
    /// Settings that make no sense.
    pub fn settings(&self) -> Result<Vec<Setting>, Error> {
        Ok(Settings::resolve(&self.asked, &Environment::of_process())?.list())
    }

    /// Checks everything that [`DomainParticipantBuilder::build`] does before it opens sockets, and
    /// tells what it would warn of.
    ///
    /// # Errors
    /// As [`DomainParticipantBuilder::build`].
    pub fn check(&self) -> Result<Vec<Warning>, Error> {
        let (_, selection) = self.checked()?;
        Ok(missing(selection.unmatched).collect())
    }

    fn checked(&self) -> Result<(Settings, Selection), Error> {
        let settings = Settings::resolve(&self.asked, &Environment::of_process())?;
        self.qos.check()?;
        self.qos.check_supported()?;
        let selection = join::select(&settings.interfaces.value)?;
        Ok((settings, selection))
    }

    /// Joins the domain.
    ///
    /// # Errors
    /// A domain over 232, settings that make no sense or name no interface, variables of the
    /// environment that are not understood, QoS that does not exist yet, or an operating system
    /// without interfaces, sockets, threads or randomness.
    pub fn build(self) -> Result<DomainParticipant, Error> {
        let (settings, selection) = self.checked()?;
        let network = Network {
            domain: settings.domain.value,
            loopback_only: selection.interfaces.iter().all(|it| it.is_loopback),
            filter: settings.interfaces.value.clone(),
            multicast: settings.multicast.value,
            data_group: settings.data_group.value,
            probing: settings.loopback_probing.value,
            families: join::families(settings.ip.value),
            packet_bytes_max: settings.packet_bytes_max.value,
            waiting: settings.waiting.value,
            peers: join::peer_locators(&settings),
            in_process: settings.in_process.value,
            bundles: settings.automatic_bundling.value,
            fittings: Fittings {
                tap: self.capture.as_deref().map(join::tap).transpose()?,
                faults: self.faults,
                offload: settings.segmentation_offload.value,
                connects: settings.connected_sockets.value,
                sets_bulk_apart: settings.bulk_socket.value,
                receives_batches: settings.batched_receive.value,
                sends_batches: settings.batched_send.value,
                receive_buffer_bytes: settings.receive_buffer_bytes.value,
                send_buffer_bytes: settings.send_buffer_bytes.value,
            },
        };
        if !settings.processor_counter.value {
            give_up_counter();
        }
        let interfaces = selection.interfaces;
        let sockets =
            Sockets::open(&network, &interfaces).map_err(Error::io("opening UDP sockets"))?;
        let warnings = Warnings::new(settings.log.value);
        missing(selection.unmatched).for_each(|it| warnings.raise(it));
        let mut config = join::config(&settings, &self.qos)?;
        config.heeds_receive_buffers = settings.receive_credit.value;
        if config.heeds_receive_buffers {
            config.receive_buffer_bytes = sockets.receive_buffer_bytes();
        }
        config.packed_messages = built_in();
        let core = ParticipantCore::start(config, sockets, network, interfaces, warnings)
            .map_err(Error::io("starting the participant"))?;
        if settings.statistics.value {
            core.offer_statistics();
        }
        let (domain, name) = (settings.domain.value, settings.name.value);
        let inner = ParticipantInner::new(core, domain, name, self.qos);
        Ok(DomainParticipant {
            inner: Arc::new(inner),
        })
    }
}

/// Warnings of terms that want something which is not there.
fn missing(terms: Vec<String>) -> impl Iterator<Item = Warning> {
    terms
        .into_iter()
        .map(|term| Warning::InterfaceMissing { term })
}
