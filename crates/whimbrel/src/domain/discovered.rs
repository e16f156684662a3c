//! What a participant knows of the others, for programs and tools.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use whimbrel_base::guid::Guid;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{DataReaderQos, DataWriterQos, Partition};
use whimbrel_base::reject::RejectCounters;
use whimbrel_base::time::{Duration, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_proto::{ParticipantStatistics, RemoteParticipant, RuleVerdict};
use whimbrel_wire::discovery::EndpointData;

use super::participant::DomainParticipant;
use crate::driver::clock;
use crate::driver::memory::ParticipantMemory;
use crate::driver::sync::lock;
use crate::driver::warning::Warning;

/// A participant found on the bus.
#[derive(Clone, Debug)]
pub struct DiscoveredParticipant {
    /// Who it is.
    pub guid: Guid,
    /// Which implementation it runs.
    pub vendor: VendorId,
    /// Its name, where it gives one.
    pub name: String,
    /// Its USER_DATA. DDS 1.4 §2.2.3.1.
    pub user_data: Vec<u8>,
    /// The host it runs on, where it says so.
    pub host: Option<String>,
    /// Its process id, where it says so.
    pub process_id: Option<String>,
    /// Where its announcement came from.
    pub address: Locator,
    /// Where it listens for user data.
    pub locators: Vec<Locator>,
    /// How long it is kept without being heard.
    pub lease: Duration,
    /// How much of that is left.
    pub lease_left: Duration,
    /// How long it has been known.
    pub known_for: Duration,
    /// It has shown that it hears us.
    pub confirmed: bool,
}

/// What a found writer or reader has in common.
#[derive(Clone, Debug)]
pub struct DiscoveredEndpoint<Q> {
    /// Who it is.
    pub guid: Guid,
    /// Name of its topic.
    pub topic_name: String,
    /// Name of its type.
    pub type_name: String,
    /// Its QoS.
    pub qos: Q,
    /// The partitions of its publisher or subscriber.
    pub partition: Partition,
    /// TOPIC_DATA of its topic. DDS 1.4 §2.2.3.2.
    pub topic_data: Vec<u8>,
    /// GROUP_DATA of its publisher or subscriber. DDS 1.4 §2.2.3.3.
    pub group_data: Vec<u8>,
    /// It belongs to this very participant.
    pub is_local: bool,
}

/// A writer found on the bus, or one of our own.
pub type DiscoveredWriter = DiscoveredEndpoint<DataWriterQos>;

/// A reader found on the bus, or one of our own.
pub type DiscoveredReader = DiscoveredEndpoint<DataReaderQos>;

/// One socket of a participant.
#[derive(Clone, Copy, Debug)]
pub struct SocketDiagnostics {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its receive buffer, in octets.
    pub recv_buffer_bytes: Option<usize>,
    /// Its send buffer, in octets.
    pub send_buffer_bytes: Option<usize>,
    /// Datagrams that the system dropped because its receive buffer was full.
    pub datagrams_dropped: Option<u64>,
}

/// How a participant is doing, for people who look for faults.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// Its sockets.
    pub sockets: Vec<SocketDiagnostics>,
    /// The participant index whose ports it has; `None` when all were taken.
    pub participant_index: Option<u32>,
    /// Interfaces on which it joined the discovery group.
    pub multicast_interfaces: Vec<String>,
    /// Counters of discovery.
    pub discovery: ParticipantStatistics,
    /// What was refused, by reason.
    pub rejects: RejectCounters,
    /// Datagrams received, and their octets.
    pub received: (u64, u64),
    /// Datagrams sent, and their octets.
    pub sent: (u64, u64),
    /// Datagrams received that were compressed as a whole, their octets, and what these were plain.
    pub inflated: (u64, u64, u64),
    /// Datagrams that were larger than their path carries.
    pub oversize: u64,
    /// Datagrams given up because a send buffer stayed full.
    pub send_dropped: u64,
    /// Receive calls that failed.
    pub receive_errors: u64,
    /// Steps of the process's io thread that failed or panicked.
    pub io_faults: u64,
    /// How often somebody else claimed our identity.
    pub own_guid_claimed: u64,
}

impl DomainParticipant {
    /// The other participants of the domain. DDS 1.4 §2.2.2.2.1.28.
    pub fn discovered_participants(&self) -> Vec<DiscoveredParticipant> {
        let now = clock::now();
        self.inner.core.look(|control| {
            let describe = |it: &RemoteParticipant| DiscoveredParticipant {
                guid: it.data.guid,
                vendor: it.data.vendor,
                name: it.data.entity_name.clone(),
                user_data: it.data.user_data.clone(),
                host: property(
                    it,
                    &[
                        "dds.sys_info.hostname",
                        "fastdds.physical_data.host",
                        "__Hostname",
                    ],
                ),
                process_id: it.data.process_id().map(str::to_owned),
                address: it.address,
                locators: it.data.default_unicast.clone(),
                lease: it.lease(),
                lease_left: it.lease_left(now),
                known_for: now.since(it.discovered_at),
                confirmed: it.confirmed,
            };
            control.participants().map(describe).collect()
        })
    }

    /// Every writer known here, our own included. DDS 1.4 §2.2.5 (DCPSPublication).
    pub fn discovered_writers(&self) -> Vec<DiscoveredWriter> {
        self.inner.core.look(|control| {
            let remote = control
                .remote_writers()
                .map(|it| endpoint(&it.data.endpoint, it.data.qos.clone()));
            let local = control.local_writers().map(|it| DiscoveredEndpoint {
                guid: self.inner.core.guid(it.entity),
                topic_name: it.topic_name.clone(),
                type_name: it.type_name.clone(),
                qos: it.qos.clone(),
                partition: it.publisher.partition.clone(),
                topic_data: it.topic.topic_data.value.clone(),
                group_data: it.publisher.group_data.value.clone(),
                is_local: true,
            });
            remote.chain(local).collect()
        })
    }

    /// Every reader known here, our own included. DDS 1.4 §2.2.5 (DCPSSubscription).
    pub fn discovered_readers(&self) -> Vec<DiscoveredReader> {
        self.inner.core.look(|control| {
            let remote = control
                .remote_readers()
                .map(|it| endpoint(&it.data.endpoint, it.data.qos.clone()));
            let local = control.local_readers().map(|it| DiscoveredEndpoint {
                guid: self.inner.core.guid(it.entity),
                topic_name: it.topic_name.clone(),
                type_name: it.type_name.clone(),
                qos: it.qos.clone(),
                partition: it.subscriber.partition.clone(),
                topic_data: it.topic.topic_data.value.clone(),
                group_data: it.subscriber.group_data.value.clone(),
                is_local: true,
            });
            remote.chain(local).collect()
        })
    }

    /// The current time, as samples are stamped with it. DDS 1.4 §2.2.2.2.1.32.
    pub fn current_time(&self) -> Timestamp {
        clock::wall()
    }

    /// Every rule by which `writer` and `reader` match or do not, with both values; `None` when
    /// one of them is not known here.
    pub fn explain_match(&self, writer: Guid, reader: Guid) -> Option<Vec<RuleVerdict>> {
        self.inner
            .core
            .look(|control| control.explain(writer, reader))
    }

    /// What a person should have heard of, oldest first; the newest 64.
    pub fn warnings(&self) -> Vec<Warning> {
        self.inner.core.warnings.all()
    }

    /// What this participant, each of its entities and discovery hold.
    pub fn memory(&self) -> ParticipantMemory {
        self.inner.core.memory()
    }

    /// How this participant is doing.
    pub fn diagnostics(&self) -> Diagnostics {
        let core = &self.inner.core;
        let sockets = &core.sockets;
        let describe =
            |socket: &std::sync::Arc<whimbrel_net::socket::UdpSocket>| SocketDiagnostics {
                address: socket.local_addr(),
                recv_buffer_bytes: socket.recv_buffer_bytes().ok(),
                send_buffer_bytes: socket.send_buffer_bytes().ok(),
                datagrams_dropped: socket.datagrams_dropped().ok().flatten(),
            };
        Diagnostics {
            sockets: sockets.all().iter().map(describe).collect(),
            participant_index: sockets.index,
            multicast_interfaces: sockets
                .groups()
                .iter()
                .flat_map(|group| &group.interfaces)
                .map(|it| it.name.clone())
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect(),
            discovery: core.look(|control| control.statistics()),
            rejects: core.rejects(),
            received: core.received(),
            sent: (
                sockets.sent.load(Ordering::Relaxed),
                sockets.sent_bytes.load(Ordering::Relaxed),
            ),
            inflated: {
                let inflater = lock(&core.inflater);
                (
                    inflater.inflated,
                    inflater.packed_bytes,
                    inflater.plain_bytes,
                )
            },
            oversize: sockets.oversize.load(Ordering::Relaxed),
            send_dropped: sockets.dropped.load(Ordering::Relaxed),
            receive_errors: core.receive_errors.load(Ordering::Relaxed),
            io_faults: core.driver.faults.load(Ordering::Relaxed),
            own_guid_claimed: core.own_guid_claimed.load(Ordering::Relaxed),
        }
    }

    /// Blocks until `ready` is true of this participant or `timeout` has passed; looks again
    /// whenever discovery learns something. True when it became ready.
    pub fn wait_for_discovery(
        &self,
        timeout: std::time::Duration,
        mut ready: impl FnMut(&Self) -> bool,
    ) -> bool {
        let deadline = clock::deadline(timeout);
        self.inner
            .core
            .bell
            .wait_until(deadline, || ready(self).then_some(()))
            .is_some()
    }
}

fn endpoint<Q>(data: &EndpointData, qos: Q) -> DiscoveredEndpoint<Q> {
    DiscoveredEndpoint {
        guid: data.guid,
        topic_name: data.topic_name.clone(),
        type_name: data.type_name.clone(),
        qos,
        partition: data.partition.clone(),
        topic_data: data.topic_data.value.clone(),
        group_data: data.group_data.value.clone(),
        is_local: false,
    }
}

fn property(it: &RemoteParticipant, names: &[&str]) -> Option<String> {
    let text = &it.data.properties.text;
    let found = |name: &&str| text.iter().find(|property| property.name == **name);
    names
        .iter()
        .find_map(found)
        .map(|property| property.value.clone())
}
