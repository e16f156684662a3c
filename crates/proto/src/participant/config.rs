//! What a participant is told when it is made.

use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::limits::Limits;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::time::Duration;
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::discovery::{BuiltinEndpoints, ParticipantData};
use whimbrel_wire::property::{Property, PropertyList};

use super::addresses::Addresses;
use crate::discovery::locators::{InterfaceAddress, LOCAL_MESSAGE_BYTES_MAX};

/// Settings of a [`super::Participant`].
#[derive(Clone, Debug)]
pub struct ParticipantConfig {
    /// Who it is; from the operating system's randomness.
    pub guid_prefix: GuidPrefix,
    /// Its domain. Participants of other domains are ignored.
    pub domain_id: u32,
    /// Part of the domain; participants with another tag are ignored. RTPS 2.5 §8.5.3.2.
    pub domain_tag: String,
    /// Its name, for people.
    pub name: String,
    /// USER_DATA. DDS 1.4 §2.2.3.1.
    pub user_data: Vec<u8>,
    /// Names and values that others see, such as `dds.sys_info.hostname` and
    /// `dds.sys_info.process_id`.
    pub properties: Vec<(String, String)>,
    /// How long others keep it without hearing anything of it; 10 s by default.
    pub lease: Duration,
    /// Time between announcements; 3 s by default.
    pub announce_period: Duration,
    /// Announcements that follow the first one quickly, and the wait before the first of them,
    /// which doubles each time; 4 and 100 ms by default.
    pub announce_burst: (u32, Duration),
    /// Where our sockets listen for discovery traffic.
    pub metatraffic_unicast: Vec<Locator>,
    /// Octets that the smallest receive buffer of these sockets holds; zero where that is not
    /// known.
    pub receive_buffer_bytes: u32,
    /// Writers heed what receive buffers of readers hold, where those tell; they do by default.
    pub heeds_receive_buffers: bool,
    /// Codecs by which whole messages are taken; none by default.
    pub packed_messages: CompressionIds,
    /// Where our sockets listen for user traffic.
    pub default_unicast: Vec<Locator>,
    /// Groups that we have joined for discovery traffic; empty without multicast.
    pub metatraffic_multicast: Vec<Locator>,
    /// Groups that we have joined for data: our readers are reached by them, and readers elsewhere
    /// that announced one of them; empty unless that is wanted.
    pub user_multicast: Vec<Locator>,
    /// As [`Addresses::multicast_on_host`].
    pub multicast_on_host: bool,
    /// Where every announcement goes: multicast groups and explicit peers.
    pub announce_to: Vec<Locator>,
    /// Addresses of this host where other participants may listen: each is sent an announcement
    /// at the start, and again every fifth announcement while nobody is known to be there; after
    /// some rounds less often, until somebody is lost.
    pub probe: Vec<Locator>,
    /// Our own addresses.
    pub interfaces: Vec<InterfaceAddress>,
    /// As [`Addresses::paths`].
    pub paths: Vec<(IpAddr, u32)>,
    /// How long a local reader that is new or has lost its last writer may be without one before
    /// that is reported; 5 s by default.
    pub unserved_patience: Duration,
    /// As [`Addresses::own`].
    pub own_addresses: Vec<IpAddr>,
    /// Octets of discovery that leave per second at most, in datagrams without their UDP and IP
    /// headers; 12.5 MB/s by default. What is over it waits.
    pub discovery_bytes_per_s_max: u64,
    /// Octets of the largest message that leaves; 65,507 by default, what fits a datagram.
    pub message_bytes_max: usize,
    /// What peers can make us hold.
    pub limits: Limits,
    /// Seeds the jitter of announcements.
    pub seed: u64,
}

impl ParticipantConfig {
    /// The participant `guid_prefix` of domain `domain_id` with the default times and limits, that
    /// listens nowhere and announces itself nowhere.
    pub fn new(guid_prefix: GuidPrefix, domain_id: u32) -> Self {
        Self {
            guid_prefix,
            domain_id,
            domain_tag: String::new(),
            name: String::new(),
            user_data: Vec::new(),
            properties: Vec::new(),
            lease: Duration::from_secs(10),
            announce_period: Duration::from_secs(3),
            announce_burst: (4, Duration::from_millis(100)),
            metatraffic_unicast: Vec::new(),
            default_unicast: Vec::new(),
            receive_buffer_bytes: 0,
            heeds_receive_buffers: true,
            packed_messages: CompressionIds::NONE,
            metatraffic_multicast: Vec::new(),
            user_multicast: Vec::new(),
            multicast_on_host: false,
            announce_to: Vec::new(),
            probe: Vec::new(),
            interfaces: Vec::new(),
            paths: Vec::new(),
            unserved_patience: Duration::from_secs(5),
            own_addresses: Vec::new(),
            discovery_bytes_per_s_max: 12_500_000,
            message_bytes_max: LOCAL_MESSAGE_BYTES_MAX,
            limits: Limits::DEFAULT,
            seed: 0,
        }
    }

    /// Listens at, announces itself to and reaches others by `addresses`.
    pub fn set_addresses(&mut self, addresses: Addresses) {
        let Addresses {
            unicast,
            multicast,
            user_multicast,
            multicast_on_host,
            announce_to,
            probe,
            interfaces,
            paths,
            own,
        } = addresses;
        self.default_unicast.clone_from(&unicast);
        self.metatraffic_unicast = unicast;
        self.metatraffic_multicast = multicast;
        self.user_multicast = user_multicast;
        self.multicast_on_host = multicast_on_host;
        self.announce_to = announce_to;
        self.probe = probe;
        self.interfaces = interfaces;
        self.paths = paths;
        self.own_addresses = own;
    }

    /// What [`ParticipantConfig::set_addresses`] would set to leave everything as it is.
    pub(super) fn addresses(&self) -> Addresses {
        Addresses {
            unicast: self.default_unicast.clone(),
            multicast: self.metatraffic_multicast.clone(),
            user_multicast: self.user_multicast.clone(),
            multicast_on_host: self.multicast_on_host,
            announce_to: self.announce_to.clone(),
            probe: self.probe.clone(),
            interfaces: self.interfaces.clone(),
            paths: self.paths.clone(),
            own: self.own_addresses.clone(),
        }
    }

    /// What others are told of a participant with these settings, encapsulated.
    /// RTPS 2.5 §8.5.3.2.
    pub(super) fn announcement(&self) -> SharedBytes {
        self.announcement_with(&self.user_data)
    }

    /// As [`ParticipantConfig::announcement`], with other USER_DATA.
    pub(super) fn announcement_with(&self, user_data: &[u8]) -> SharedBytes {
        let guid = Guid::new(self.guid_prefix, EntityId::PARTICIPANT);
        let text = self
            .properties
            .iter()
            .map(|(name, value)| Property {
                name: name.clone(),
                value: value.clone(),
            })
            .collect();
        let data = ParticipantData {
            domain_id: Some(self.domain_id),
            domain_tag: self.domain_tag.clone(),
            builtin_endpoints: BuiltinEndpoints::STANDARD,
            metatraffic_unicast: self.metatraffic_unicast.clone(),
            metatraffic_multicast: self.metatraffic_multicast.clone(),
            default_unicast: self.default_unicast.clone(),
            default_multicast: self.user_multicast.clone(),
            lease_duration: self.lease,
            user_data: user_data.to_vec(),
            properties: PropertyList {
                text,
                binary: Vec::new(),
            },
            entity_name: self.name.clone(),
            receive_buffer_bytes: self.receive_buffer_bytes,
            packed_messages: self.packed_messages,
            ..ParticipantData::new(guid, VendorId::WHIMBREL)
        };
        let mut payload = Vec::new();
        // What is too long to travel is left out; the checks of settings keep that from happening.
        let _ = data.compose(&mut payload);
        SharedBytes::from_vec(payload)
    }
}
