//! Names of parameters.

use core::fmt;

/// Which parameter a value belongs to. RTPS 2.5 §9.6.3.2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParameterId(pub u16);

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal, $text:literal;)+) => {
        impl ParameterId {
            $($(#[doc = $doc])+ pub const $name: Self = Self($value);)+

            /// The standard's name, without `PID_` and in lower case; `None` for ids that the
            /// standard does not define.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($text),)+
                    _ => None,
                }
            }
        }
    };
}

ids! {
    /// Padding, to be skipped.
    PAD = 0x0000, "pad";
    /// End of the list.
    SENTINEL = 0x0001, "sentinel";
    /// How long a participant lives without being heard.
    PARTICIPANT_LEASE_DURATION = 0x0002, "participant_lease_duration";
    /// Time-based filter policy.
    TIME_BASED_FILTER = 0x0004, "time_based_filter";
    /// Name of the topic.
    TOPIC_NAME = 0x0005, "topic_name";
    /// Ownership strength policy.
    OWNERSHIP_STRENGTH = 0x0006, "ownership_strength";
    /// Name of the type.
    TYPE_NAME = 0x0007, "type_name";
    /// Domain that a participant is in.
    DOMAIN_ID = 0x000f, "domain_id";
    /// Protocol version of a participant or endpoint.
    PROTOCOL_VERSION = 0x0015, "protocol_version";
    /// Implementation of a participant or endpoint.
    VENDOR_ID = 0x0016, "vendor_id";
    /// Reliability policy.
    RELIABILITY = 0x001a, "reliability";
    /// Liveliness policy.
    LIVELINESS = 0x001b, "liveliness";
    /// Durability policy.
    DURABILITY = 0x001d, "durability";
    /// Durability service policy.
    DURABILITY_SERVICE = 0x001e, "durability_service";
    /// Ownership policy.
    OWNERSHIP = 0x001f, "ownership";
    /// Presentation policy.
    PRESENTATION = 0x0021, "presentation";
    /// Deadline policy.
    DEADLINE = 0x0023, "deadline";
    /// Destination order policy.
    DESTINATION_ORDER = 0x0025, "destination_order";
    /// Latency budget policy.
    LATENCY_BUDGET = 0x0027, "latency_budget";
    /// Partition policy.
    PARTITION = 0x0029, "partition";
    /// Lifespan policy.
    LIFESPAN = 0x002b, "lifespan";
    /// User data policy.
    USER_DATA = 0x002c, "user_data";
    /// Group data policy.
    GROUP_DATA = 0x002d, "group_data";
    /// Topic data policy.
    TOPIC_DATA = 0x002e, "topic_data";
    /// Unicast locator of an endpoint.
    UNICAST_LOCATOR = 0x002f, "unicast_locator";
    /// Multicast locator of an endpoint.
    MULTICAST_LOCATOR = 0x0030, "multicast_locator";
    /// Unicast locator for user traffic of a participant.
    DEFAULT_UNICAST_LOCATOR = 0x0031, "default_unicast_locator";
    /// Unicast locator for discovery traffic of a participant.
    METATRAFFIC_UNICAST_LOCATOR = 0x0032, "metatraffic_unicast_locator";
    /// Multicast locator for discovery traffic of a participant.
    METATRAFFIC_MULTICAST_LOCATOR = 0x0033, "metatraffic_multicast_locator";
    /// Counts manual assertions of a participant's liveliness.
    PARTICIPANT_MANUAL_LIVELINESS_COUNT = 0x0034, "participant_manual_liveliness_count";
    /// Content filter of a reader.
    CONTENT_FILTER_PROPERTY = 0x0035, "content_filter_property";
    /// History policy.
    HISTORY = 0x0040, "history";
    /// Resource limits policy.
    RESOURCE_LIMITS = 0x0041, "resource_limits";
    /// A reader wants the QoS with every sample.
    EXPECTS_INLINE_QOS = 0x0043, "expects_inline_qos";
    /// Multicast locator for user traffic of a participant.
    DEFAULT_MULTICAST_LOCATOR = 0x0048, "default_multicast_locator";
    /// Transport priority policy.
    TRANSPORT_PRIORITY = 0x0049, "transport_priority";
    /// GUID of a participant.
    PARTICIPANT_GUID = 0x0050, "participant_guid";
    /// GUID of a publisher or subscriber.
    GROUP_GUID = 0x0052, "group_guid";
    /// Entity id of a publisher or subscriber.
    GROUP_ENTITY_ID = 0x0053, "group_entity_id";
    /// Which readers' filters a sample passes.
    CONTENT_FILTER_INFO = 0x0055, "content_filter_info";
    /// Coherent set that a change belongs to.
    COHERENT_SET = 0x0056, "coherent_set";
    /// Reader that alone a change is meant for.
    DIRECTED_WRITE = 0x0057, "directed_write";
    /// Discovery and liveliness endpoints that a participant has.
    BUILTIN_ENDPOINT_SET = 0x0058, "builtin_endpoint_set";
    /// Names and values free to use.
    PROPERTY_LIST = 0x0059, "property_list";
    /// GUID of an endpoint.
    ENDPOINT_GUID = 0x005a, "endpoint_guid";
    /// Greatest size of a serialized sample.
    TYPE_MAX_SIZE_SERIALIZED = 0x0060, "type_max_size_serialized";
    /// Who wrote a change that is now forwarded.
    ORIGINAL_WRITER_INFO = 0x0061, "original_writer_info";
    /// Name of an entity.
    ENTITY_NAME = 0x0062, "entity_name";
    /// Group coherent set that a change belongs to.
    GROUP_COHERENT_SET = 0x0063, "group_coherent_set";
    /// Number of a change within its publisher.
    GROUP_SEQ_NUM = 0x0064, "group_seq_num";
    /// Writers of a publisher.
    WRITER_GROUP_INFO = 0x0065, "writer_group_info";
    /// Secure writers of a publisher.
    SECURE_WRITER_GROUP_INFO = 0x0066, "secure_writer_group_info";
    /// Hash of a sample's key.
    KEY_HASH = 0x0070, "key_hash";
    /// Disposed, unregistered, filtered.
    STATUS_INFO = 0x0071, "status_info";
    /// TypeObject. XTypes 1.3 §7.6.3.2.
    TYPE_OBJECT = 0x0072, "type_object";
    /// Data representation policy. XTypes 1.3 §7.6.3.1.
    DATA_REPRESENTATION = 0x0073, "data_representation";
    /// Type consistency enforcement policy. XTypes 1.3 §7.6.3.7.
    TYPE_CONSISTENCY = 0x0074, "type_consistency";
    /// TypeInformation. XTypes 1.3 §7.6.3.2.2.
    TYPE_INFORMATION = 0x0075, "type_information";
    /// Behaviour of the built-in endpoints.
    BUILTIN_ENDPOINT_QOS = 0x0077, "builtin_endpoint_qos";
    /// Request that a sample answers. DDS-RPC 1.0 §7.8.2.
    RELATED_SAMPLE_IDENTITY = 0x0083, "related_sample_identity";
    /// Identity token. DDS-Security 1.1 §7.4.1.
    IDENTITY_TOKEN = 0x1001, "identity_token";
    /// Permissions token. DDS-Security 1.1 §7.4.1.
    PERMISSIONS_TOKEN = 0x1002, "permissions_token";
    /// Data tags. DDS-Security 1.1 §7.4.1.
    DATA_TAGS = 0x1003, "data_tags";
    /// Protection of an endpoint. DDS-Security 1.1 §7.4.1.
    ENDPOINT_SECURITY_INFO = 0x1004, "endpoint_security_info";
    /// Protection of a participant. DDS-Security 1.1 §7.4.1.
    PARTICIPANT_SECURITY_INFO = 0x1005, "participant_security_info";
    /// Identity status token. DDS-Security 1.1 §7.4.1.
    IDENTITY_STATUS_TOKEN = 0x1006, "identity_status_token";
    /// Splits a domain; it must be understood.
    DOMAIN_TAG = 0x4014, "domain_tag";
}

impl ParameterId {
    /// A receiver that does not know the parameter must refuse the list. RTPS 2.5 §9.6.3.2.
    pub const MUST_UNDERSTAND: u16 = 0x4000;
    /// The parameter means what the sender's vendor says. RTPS 2.5 §9.6.3.2.
    pub const VENDOR_SPECIFIC: u16 = 0x8000;
    /// Of Whimbrel: codecs of its own that an endpoint takes or compresses with.
    pub const WHIMBREL_COMPRESSION: Self = Self(0x8c01);
    /// Of Whimbrel: octets that the receive buffers of a participant's sockets hold.
    pub const WHIMBREL_RECEIVE_BUFFER: Self = Self(0x8c03);
    /// Of Whimbrel: codecs by which a participant takes whole messages.
    pub const WHIMBREL_PACKED_MESSAGES: Self = Self(0x8c02);
    /// Of Whimbrel: the writer sends batches, or the reader takes them.
    pub const WHIMBREL_BATCHES: Self = Self(0x8c04);
    /// Of Fast DDS: the writer does not want positive acknowledgements.
    pub const FAST_DDS_DISABLE_POSITIVE_ACKS: Self = Self(0x8005);

    /// True where a receiver that does not know the parameter must refuse the list.
    pub const fn must_be_understood(self) -> bool {
        self.0 & Self::MUST_UNDERSTAND != 0
    }

    /// True where the sender's vendor defines the meaning.
    pub const fn is_vendor_specific(self) -> bool {
        self.0 & Self::VENDOR_SPECIFIC != 0
    }
}

impl fmt::Display for ParameterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None if self.is_vendor_specific() => write!(f, "vendor {:#06x}", self.0),
            None => write!(f, "unknown {:#06x}", self.0),
        }
    }
}

impl fmt::Debug for ParameterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
