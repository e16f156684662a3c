//! Every option of RTI Perftest 4.3, of all its builds, and those of our own.

use super::spec::Argument::{
    None, Number, OneOf, OptionalNumber, OptionalNumbers, Range, Rate, Text,
};
use super::spec::Side::{Both, Publisher, Subscriber};
use super::spec::Standing::{self, Idle, Refused, Works};
use super::spec::{Argument, Side, Spec};

const SIZE_MAX: i64 = 2_147_482_620;
const COUNT_MAX: i64 = i64::MAX;
const ID_MAX: i64 = 0x7fff_ffff;

const NO_SECURITY: Standing = Refused("there is no security yet");
const NO_WAN: Standing = Refused("only UDP exists");
const NO_XML: Standing = Refused("there are no QoS profiles in XML; -noXmlQos is always so");
const NO_CONNEXT: Standing = Refused("it is a mechanism of Connext alone");

const fn of(
    name: &'static str,
    argument: Argument,
    side: Side,
    standing: Standing,
    meaning: &'static str,
) -> Spec {
    Spec {
        name,
        argument,
        side,
        standing,
        meaning,
    }
}

/// All options, in groups.
#[rustfmt::skip]
pub(super) const TABLE: &[Spec] = &[
    of("pub", None, Both, Works, "publish"),
    of("sub", None, Both, Works, "subscribe, the default"),

    of("dataLen", Number(28, SIZE_MAX), Both, Works,
        "octets of a sample, 28 of them overhead; 100"),
    of("unbounded", OptionalNumber(0, SIZE_MAX), Both, Works,
        "the type without bound, also used above 65470 octets"),
    of("keyed", None, Both, Works, "the type with a key"),
    of("instances", Number(1, ID_MAX), Both, Works, "keys in turn; 1"),
    of("writeInstance", Number(0, ID_MAX), Publisher, Works, "only this key"),
    of("loadDataFromFile", Text, Publisher, Works, "samples are pieces of this file"),
    of("maximumAllocableBufferSize", Number(1, COUNT_MAX), Publisher, Works,
        "octets of the file held; 1 GiB"),
    of("dynamicData", None, Both, Refused("there is no dynamic type interface for writers"),
        "dynamic types"),
    of("flatData", None, Both, NO_CONNEXT, "flat types"),
    of("zeroCopy", None, Both, Refused("there is no shared memory yet"), "samples by reference"),
    of("checkConsistency", None, Both, NO_CONNEXT, "checks of flat samples"),
    of("loaningSendReceive", None, Both, Refused("there is no shared memory yet"), "loans"),
    of("preallocateFragmentedSamples", None, Both, NO_CONNEXT, "memory for fragments ahead"),

    of("numIter", Number(1, COUNT_MAX), Publisher, Works,
        "samples to send; 100000000, in -latencyTest 10000000"),
    of("executionTime", Number(0, 1_000_000_000), Publisher, Works,
        "seconds to run; 0: until -numIter"),
    of("latencyTest", None, Publisher, Works, "ping-pong"),
    of("latencyCount", Number(1, COUNT_MAX), Publisher, Works,
        "one ping in so many samples; 10000, in -latencyTest 1"),
    of("numSubscribers", Number(1, ID_MAX), Publisher, Works, "subscribers to wait for; 1"),
    of("numPublishers", Number(1, ID_MAX), Subscriber, Works, "publishers to wait for; 1"),
    of("pidMultiPubTest", Number(0, ID_MAX), Publisher, Works, "number of this publisher; 0"),
    of("sidMultiSubTest", Number(0, ID_MAX), Subscriber, Works, "number of this subscriber; 0"),
    of("initialBurstSize", Number(0, ID_MAX), Publisher, Works, "samples before the test"),
    of("scan", OptionalNumbers(28, SIZE_MAX), Publisher, Works,
        "several sizes in one run, each for -executionTime (60)"),

    of("pubRate", Rate(10_000_000), Publisher, Works, "samples a second; 0: no limit"),
    of("pubRatebps", Rate(COUNT_MAX), Publisher, Works, "bits a second"),
    of("sleep", Number(0, 1_000_000_000), Publisher, Works, "milliseconds between samples; 0"),
    of("spin", Number(0, COUNT_MAX), Publisher, Works, "empty loops between samples; 0"),

    of("bestEffort", None, Both, Works, "RELIABILITY BEST_EFFORT; otherwise RELIABLE, KEEP_ALL"),
    of("durability", OneOf(&["0", "1", "2", "3"]), Both, Works,
        "0 volatile, 1 transient local; 2 and 3 refused: there is no durability service"),
    of("domain", Number(0, 250), Both, Works,
        "domain; 1; above 232 refused: RTPS has no ports for it"),
    of("batchSize", Number(0, ID_MAX), Publisher, Works,
        "octets of batches, flushed by size alone; 0: none; 8192, with a rate 0; above 60000 \
         refused: a batch leaves as one datagram"),
    of("sendQueueSize", Number(1, ID_MAX), Publisher, Works, "samples in the writer's history; 50"),
    of("receiveQueueSize", Number(1, ID_MAX), Both, Idle("memory is taken as samples come"),
        "samples that the reader has memory for at first; 128"),
    of("noPositiveAcks", None, Both, NO_CONNEXT, "only negative acknowledgments"),
    of("keepDurationUsec", Number(0, COUNT_MAX), Both, NO_CONNEXT,
        "how long samples are kept then"),
    of("asynchronous", None, Publisher, Works, "another thread sends"),
    of("flowController", OneOf(&["default", "1Gbps", "10Gbps"]), Publisher, Works,
        "how fast it sends with -asynchronous; default: no limit"),
    of("messageSizeMax", Number(0, ID_MAX), Both, Works,
        "octets of an RTPS message at most, 508 to 65507; as large as the path allows"),
    of("enableAutoThrottle", None, Publisher, NO_CONNEXT, "slows down by itself"),
    of("enableTurboMode", None, Publisher, NO_CONNEXT, "batches by itself"),
    of("noDirectCommunication", None, Both, Refused("there is no durability service"),
        "all through a service"),
    of("qosFile", Text, Both, NO_XML, "profiles"),
    of("qosLibrary", Text, Both, NO_XML, "library of profiles"),
    of("noXmlQos", None, Both, Idle("there are no profiles to leave out"), "no profiles"),
    of("crc", None, Both, NO_CONNEXT, "checksums of messages"),
    of("crcKind", Text, Both, NO_CONNEXT, "kind of checksum"),
    of("enable-message-length", None, Both, NO_CONNEXT, "lengths of messages"),

    of("cft", Range(0, 65_534), Subscriber, Works,
        "only these keys; the others are dropped by the subscriber, having arrived"),

    of("compressionId", OneOf(&["MASK_NONE", "ZLIB", "LZ4", "BZIP2"]), Both, Works,
        "how samples are compressed; MASK_NONE"),
    of("compressionLevel", Number(0, 10), Both, Works,
        "0 not at all, 1 fastest to 10 smallest; 10"),
    of("compressionThreshold", Number(0, ID_MAX), Both, Works,
        "samples of so many octets and fewer are not compressed; 0"),

    of("useReadThread", None, Both, Works,
        "a thread waits for samples; otherwise a listener is called"),
    of("waitsetDelayUsec", Number(0, COUNT_MAX), Both, Works,
        "how long it waits for more, in microseconds; 100"),
    of("waitsetEventCount", Number(1, ID_MAX), Both, Works, "and for how many; 5"),

    of("transport", OneOf(TRANSPORTS), Both, Works,
        "UDPv4 (the default) or UDPv6; others refused: there is no shared memory, no TCP"),
    of("nic", Text, Both, Works, "the interface to use: address or name"),
    of("allowInterfaces", Text, Both, Works, "as -nic"),
    of("peer", Text, Both, Works, "a host to announce to; may be repeated"),
    of("multicast", None, Both, Works,
        "one datagram of each sample for all subscribers, to 239.255.0.1; on both sides"),
    of("multicastAddr", Text, Both, Works,
        "as -multicast, to this group; one for all topics"),
    of("transportVerbosity", Text, Both, NO_CONNEXT, "talk of transports"),
    of("transportServerBindPort", Text, Both, NO_WAN, "port of TCP"),
    of("transportWan", None, Both, NO_WAN, "TCP across address translation"),
    of("transportPublicAddress", Text, Both, NO_WAN, "address seen from outside"),
    of("transportHostPort", Text, Both, NO_WAN, "port on the host"),
    of("transportWanServerAddress", Text, Both, NO_WAN, "server of the WAN transport"),
    of("transportWanServerPort", Text, Both, NO_WAN, "its port"),
    of("transportWanId", Text, Both, NO_WAN, "number at it"),
    of("transportSecureWan", None, Both, NO_WAN, "DTLS across address translation"),
    of("transportCertAuthority", Text, Both, NO_WAN, "authority of TLS"),
    of("transportCertFile", Text, Both, NO_WAN, "certificate of TLS"),
    of("transportPrivateKey", Text, Both, NO_WAN, "key of TLS"),

    of("rawTransport", None, Both, Refused("whimbrel-perf has a raw socket in every run"),
        "plain sockets"),
    of("noBlockingSockets", None, Both, Refused("it goes with -rawTransport"),
        "sockets that do not block"),
    of("fastQueue", None, Both, NO_CONNEXT, "other queues"),

    of("threadPriorities", Text, Both, Refused("use chrt"), "priorities of threads"),
    of("threadCPUAffinity", Text, Both, Refused("use taskset"), "cores of threads"),
    of("cpu", None, Both, Works, "a column with the share of the cores used"),

    of("noPrintIntervals", None, Both, Works, "summaries only"),
    of("outputFormat", OneOf(&["csv", "json", "legacy"]), Both, Works, "form of the output; csv"),
    of("noOutputHeaders", None, Both, Works, "no headers in csv"),
    of("outputFile", Text, Both, Works, "a file to append the output to"),
    of("latencyFile", Text, Publisher, Works, "a file to append each latency to"),
    of("verbosity", Number(0, 3), Both, Idle("WHIMBREL_LOG says what is logged"),
        "talk of the bus"),
    of("showSerializationTime", None, Publisher, Works, "columns with the cost of encoding"),
    of("lowResolutionClock", None, Publisher, Works,
        "the mean latency by the time of the whole test"),
    of("nanoClock", None, Publisher, Works,
        "latencies with three decimals (our own; a build option of the original)"),
    of("writerStats", None, Publisher, Works, "counters of the writer at the end"),
    of("cacheStats", None, Both, NO_CONNEXT, "fill of queues"),
    of("showResourceLimits", None, Both, NO_CONNEXT, "resource limits of Connext"),
    of("networkCapture", None, Both, Refused("use the capture setting of the library"),
        "what was sent, as a file"),
    of("doNotDropNetworkCapture", None, Both, Refused("it goes with -networkCapture"),
        "how complete that is"),

    of("sendBufferSize", Number(1, ID_MAX), Both, NO_CONNEXT, "buffer of sockets in small builds"),
    of("receiveBufferSize", Number(1, ID_MAX), Both, NO_CONNEXT,
        "buffer of sockets in small builds"),
    of("instanceHashBuckets", Number(-1, ID_MAX), Both, NO_CONNEXT, "size of a table"),
    of("enableInstanceStateRecovery", None, Both, NO_CONNEXT, "instance states after a break"),
    of("enableMonitoring2", None, Both, NO_CONNEXT, "monitoring"),
    of("collectorPeer", Text, Both, NO_CONNEXT, "where monitoring goes"),

    of("secureGovernanceFile", Text, Both, NO_SECURITY, "governance"),
    of("securePermissionsFile", Text, Both, NO_SECURITY, "permissions"),
    of("secureCertAuthority", Text, Both, NO_SECURITY, "authority"),
    of("secureCertFile", Text, Both, NO_SECURITY, "certificate"),
    of("securePrivateKey", Text, Both, NO_SECURITY, "key"),
    of("secureEncryptionAlgorithm", Text, Both, NO_SECURITY, "cipher"),
    of("secureEnableAAD", None, Both, NO_SECURITY, "additional data"),
    of("secureLibrary", Text, Both, NO_SECURITY, "library"),
    of("lightWeightSecurity", None, Both, NO_SECURITY, "small library"),
    of("securePSK", Text, Both, NO_SECURITY, "shared secret"),
    of("securePSKAlgorithm", Text, Both, NO_SECURITY, "its cipher"),
    of("secureRtpsHmacOnly", None, Both, NO_SECURITY, "signatures only"),
    of("secureDebug", Text, Both, NO_SECURITY, "talk of security"),
];

const TRANSPORTS: &[&str] = &[
    "UDPv4",
    "UDPv6",
    "SHMEM",
    "TCP",
    "TLS",
    "DTLS",
    "WAN",
    "UDPv4_WAN",
];
