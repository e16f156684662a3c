//! What the options of a command line mean together.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use whimbrel::domain::IpVersions;
use whimbrel::qos::{Batch, Compression, CompressionIds, PublishMode};

mod sending;

use crate::failure::Failure;
use crate::filter::KeyRange;
use crate::message::{BOUND, FINISHED_SIZE, INITIALIZE_SIZE, LENGTH_CHANGED_SIZE, OVERHEAD_BYTES};
use crate::options::Given;
use crate::printer::Form;
pub(crate) use sending::Pacing;

/// Samples of a test with `-latencyTest` and without.
const ITERATIONS: (u64, u64) = (10_000_000, 100_000_000);
/// Sizes of `-scan` without a list.
const SCAN: &[usize] = &[
    32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 63000,
];
/// The variable that bounds `-executionTime`.
pub(crate) const EXECUTION_TIME_MAX: &str = "PERFTEST_EXECUTION_TIME_MAX";
/// The largest sample of the bus.
const SAMPLE_BYTES_MAX: usize = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Publisher,
    Subscriber,
}

/// A thread of our own that receives: for how many samples it waits, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadThread {
    pub(crate) delay: Duration,
    pub(crate) events: usize,
}

/// What a test is.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) role: Role,
    /// Octets of a sample; `None` where the file decides.
    pub(crate) data_len: Option<usize>,
    pub(crate) unbounded: bool,
    pub(crate) keyed: bool,
    pub(crate) instances: u32,
    pub(crate) write_instance: Option<u32>,
    pub(crate) file: Option<PathBuf>,
    pub(crate) file_bytes_max: u64,
    pub(crate) iterations: u64,
    pub(crate) execution: Option<Duration>,
    pub(crate) latency_test: bool,
    pub(crate) latency_count: u64,
    pub(crate) subscribers: usize,
    pub(crate) publishers: usize,
    /// Number of this publisher or subscriber.
    pub(crate) id: i32,
    pub(crate) initial_burst: u64,
    pub(crate) scan: Option<Vec<usize>>,
    pub(crate) pacing: Pacing,
    pub(crate) best_effort: bool,
    pub(crate) transient_local: bool,
    pub(crate) domain: u32,
    pub(crate) send_queue: u32,
    /// Octets of batches; none where each sample leaves alone.
    pub(crate) batch: Option<usize>,
    /// Samples of a batch; 1 without.
    pub(crate) per_batch: u64,
    /// Octets of messages at most, where that is said.
    pub(crate) message_bytes_max: Option<usize>,
    pub(crate) publish_mode: PublishMode,
    pub(crate) read_thread: Option<ReadThread>,
    pub(crate) interfaces: Option<String>,
    pub(crate) peers: Vec<String>,
    /// Samples go by multicast.
    pub(crate) multicast: bool,
    /// By this group, where it is not that of RTPS for data.
    pub(crate) group: Option<IpAddr>,
    pub(crate) ip: IpVersions,
    /// Of pings, data and answers.
    pub(crate) compression: Compression,
    /// The keys that a subscriber wants; all without.
    pub(crate) filter: Option<KeyRange>,
    pub(crate) form: Form,
    pub(crate) output: Option<PathBuf>,
    pub(crate) latency_file: Option<PathBuf>,
    pub(crate) serialization: bool,
    pub(crate) low_resolution_clock: bool,
    pub(crate) writer_stats: bool,
    /// What was given and changes nothing.
    pub(crate) notes: Vec<String>,
}

impl Settings {
    /// What `given` means.
    ///
    /// # Errors
    /// Options that contradict each other, or need what does not exist.
    pub(crate) fn new(given: &Given) -> Result<Self, Failure> {
        refuse_missing(given)?;
        let role = if given.has("pub") {
            Role::Publisher
        } else {
            Role::Subscriber
        };
        let scan = scan(given);
        let data_len = data_len(given, scan.as_deref())?;
        let latency_test = given.has("latencyTest");
        let largest = scan.iter().flatten().copied().max().or(data_len);
        let smallest = scan.iter().flatten().copied().min().or(data_len);
        let batch = sending::batch(given, data_len)?;
        let per_batch = sending::per_batch(batch, smallest);
        let settings = Self {
            role,
            data_len,
            unbounded: given.has("unbounded") || largest.is_some_and(|it| it > BOUND),
            keyed: given.has("keyed"),
            instances: small(given, "instances", 1),
            write_instance: given
                .has("writeInstance")
                .then(|| small(given, "writeInstance", 0)),
            file: given.text("loadDataFromFile").map(PathBuf::from),
            file_bytes_max: given.count("maximumAllocableBufferSize", 1 << 30),
            iterations: iterations(given),
            execution: execution(given, scan.is_some()),
            latency_test,
            latency_count: given.count("latencyCount", if latency_test { 1 } else { 10_000 }),
            subscribers: small(given, "numSubscribers", 1) as usize,
            publishers: small(given, "numPublishers", 1) as usize,
            id: number_of(role, given),
            initial_burst: sending::initial_burst(given, per_batch),
            scan,
            pacing: sending::pacing(given, largest)?,
            best_effort: given.has("bestEffort"),
            transient_local: given.text("durability") == Some("1"),
            domain: small(given, "domain", 1),
            send_queue: small(given, "sendQueueSize", 50),
            batch,
            per_batch,
            message_bytes_max: message_bytes_max(given),
            publish_mode: sending::publish_mode(given),
            read_thread: given.has("useReadThread").then(|| ReadThread {
                delay: Duration::from_micros(given.count("waitsetDelayUsec", 100)),
                events: small(given, "waitsetEventCount", 5) as usize,
            }),
            interfaces: interfaces(given),
            multicast: given.has("multicast") || given.has("multicastAddr"),
            group: group(given)?,
            peers: given.texts("peer").iter().map(|it| peer(it)).collect(),
            ip: if given.text("transport") == Some("UDPv6") {
                IpVersions::V6
            } else {
                IpVersions::V4
            },
            compression: compression(given),
            filter: given.text("cft").and_then(KeyRange::parse),
            form: Form::of(given),
            output: given.text("outputFile").map(PathBuf::from),
            latency_file: given.text("latencyFile").map(PathBuf::from),
            serialization: given.has("showSerializationTime"),
            low_resolution_clock: given.has("lowResolutionClock"),
            writer_stats: given.has("writerStats"),
            notes: given.idle.clone(),
        };
        settings.check()?;
        Ok(settings)
    }

    /// Ends tests after `seconds`, where the command line says longer: for scripts that are not to
    /// be changed.
    ///
    /// # Errors
    /// It is no number of seconds above 0.
    pub(crate) fn shorten(&mut self, seconds: &str) -> Result<(), Failure> {
        let most = seconds.parse::<u64>().ok().filter(|it| *it > 0);
        let most = most.ok_or_else(|| {
            Failure::Options(format!(
                "{EXECUTION_TIME_MAX}={seconds}: no seconds above 0"
            ))
        })?;
        let most = Duration::from_secs(most);
        if let Some(time) = self.execution.filter(|it| *it > most) {
            self.notes.push(format!(
                "-executionTime: {} s instead of {}, by {EXECUTION_TIME_MAX}",
                most.as_secs(),
                time.as_secs()
            ));
            self.execution = Some(most);
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Failure> {
        let refuse = |why: String| Err(Failure::Options(why));
        if self.latency_test && self.id != 0 {
            return refuse("-latencyTest: only the publisher with -pidMultiPubTest 0 can".into());
        }
        if self.iterations < self.latency_count {
            let (all, each) = (self.iterations, self.latency_count);
            return refuse(format!("-numIter {all} is below -latencyCount {each}"));
        }
        if self.scan.is_some() && self.file.is_some() {
            return refuse("-scan and -loadDataFromFile: pieces have one size".into());
        }
        if let Some(instance) = self.write_instance
            && instance >= self.instances
        {
            let instances = self.instances;
            return refuse(format!(
                "-writeInstance {instance}: there are -instances {instances}, counted from 0"
            ));
        }
        for size in self.scan.iter().flatten().copied().chain(self.data_len) {
            check_size(size)?;
        }
        Ok(())
    }

    /// Says on standard error what was understood.
    pub(crate) fn describe(&self) {
        let mode = match self.role {
            Role::Subscriber => "SUBSCRIBER",
            Role::Publisher if self.latency_test => "LATENCY TEST (Ping-Pong test)",
            Role::Publisher => "THROUGHPUT TEST",
        };
        eprintln!("\nMode: {mode}\n\nPerftest Configuration:");
        let reliability = if self.best_effort {
            "Best Effort"
        } else {
            "Reliable"
        };
        eprintln!("\tReliability: {reliability}");
        eprintln!("\tKeyed: {}", if self.keyed { "Yes" } else { "No" });
        match (self.data_len, &self.scan) {
            (_, Some(sizes)) => eprintln!("\tData Size: {sizes:?}"),
            (Some(size), None) => eprintln!("\tData Size: {size}"),
            (None, None) => eprintln!("\tData Size: that of the file"),
        }
        if self.role == Role::Publisher {
            self.describe_sending();
        }
        let offered = self.compression.offered();
        if !offered.is_empty() {
            eprintln!(
                "\tCompression: {offered}, level {}, threshold {}",
                self.compression.writer_compression_level,
                self.compression.writer_compression_threshold.unwrap_or(0)
            );
        }
        if let Some(range) = self.filter {
            eprintln!("\tContent filter: {range}");
            eprintln!("[IMPORTANT] -cft: the subscriber drops other keys, having received them");
        }
        let way = if self.read_thread.is_some() {
            "WaitSets"
        } else {
            "Listeners"
        };
        eprintln!("\tReceive using: {way}\n\tDomain: {}", self.domain);
        let nic = self.interfaces.as_deref().unwrap_or("by environment");
        let peers = self.peers.join(",");
        let multicast = match (self.multicast, self.group) {
            (_, Some(group)) => format!("Yes, {group}"),
            (true, None) => "Yes".to_owned(),
            (false, None) => "No".to_owned(),
        };
        eprintln!(
            "\nTransport Configuration:\n\tKind: UDP\n\tNic: {nic}\n\tInitial peers: {peers}\n\
             \tMulticast: {multicast}"
        );
        for note in &self.notes {
            eprintln!("[IMPORTANT] {note}");
        }
        eprintln!();
    }

    fn describe_sending(&self) {
        match self.batch {
            Some(bytes) => {
                eprintln!("\tBatching: {bytes} Bytes, flushed by size alone (-batchSize 0: none)")
            }
            None => eprintln!("\tBatching: No"),
        }
        let way = match self.publish_mode {
            PublishMode::Synchronous => "Asynchronous Publishing: No".into(),
            PublishMode::Asynchronous(it) if it.is_unlimited() => {
                "Asynchronous Publishing: Yes, Flow Controller: default".to_owned()
            }
            PublishMode::Asynchronous(it) => format!(
                "Asynchronous Publishing: Yes, Flow Controller: {} Bytes every 10 ms",
                it.bytes_per_period
            ),
        };
        eprintln!("\t{way}");
        match self.pacing {
            Pacing::Rate { per_s, spins } => {
                let method = if spins { "spin" } else { "sleep" };
                eprintln!("\tPublication Rate: {per_s} Samples/s ({method})");
            }
            _ => eprintln!("\tPublication Rate: Unlimited (Not set)"),
        }
        match self.execution {
            Some(time) => eprintln!("\tExecution Time: {} seconds", time.as_secs()),
            None => eprintln!("\tNumber of samples: {}", self.iterations),
        }
    }
}

/// Refuses values for which there is no behaviour yet.
fn refuse_missing(given: &Given) -> Result<(), Failure> {
    let refuse = |name: &str, why: &str| {
        let value = given.text(name).unwrap_or_default();
        let why = format!("-{name} {value}: is not supported by Whimbrel: {why}");
        Err(Failure::Options(why))
    };
    if given.count("batchSize", 0) > Batch::DATA_BYTES_MAX as u64 {
        return refuse(
            "batchSize",
            "a batch leaves as one datagram: 60000 octets at most",
        );
    }
    let message = given.count("messageSizeMax", 508);
    if !(508..=65_507).contains(&message) {
        return refuse(
            "messageSizeMax",
            "messages have 508 to 65507 octets at most",
        );
    }
    if given.count("durability", 0) > 1 {
        return refuse("durability", "there is no durability service");
    }
    if given
        .text("transport")
        .is_some_and(|it| !["UDPv4", "UDPv6"].contains(&it))
    {
        return refuse(
            "transport",
            "there are UDPv4 and UDPv6, no shared memory and no TCP",
        );
    }
    if given.count("domain", 0) > 232 {
        return refuse("domain", "ports end at domain 232 (RTPS 2.5 §9.6.2.3)");
    }
    Ok(())
}

fn data_len(given: &Given, scan: Option<&[usize]>) -> Result<Option<usize>, Failure> {
    let size = given
        .number("dataLen")
        .and_then(|it| usize::try_from(it).ok());
    match (size, scan) {
        (Some(_), Some(_)) => Err(Failure::Options(
            "-dataLen and -scan: one says the size".into(),
        )),
        (Some(size), None) => Ok(Some(size)),
        (None, _) if given.has("loadDataFromFile") => Ok(None),
        (None, _) => Ok(Some(100)),
    }
}

/// A sample of `size` octets must be told apart from control marks, and fit.
pub(crate) fn check_size(size: usize) -> Result<(), Failure> {
    let marks = [INITIALIZE_SIZE, FINISHED_SIZE, LENGTH_CHANGED_SIZE];
    if marks.contains(&size.saturating_sub(OVERHEAD_BYTES)) {
        return Err(Failure::Options(format!(
            "{size} octets: samples of 1262 to 1264 octets are the protocol's own marks"
        )));
    }
    if size > SAMPLE_BYTES_MAX {
        return Err(Failure::Options(format!(
            "{size} octets: samples have {SAMPLE_BYTES_MAX} octets at most"
        )));
    }
    Ok(())
}

fn scan(given: &Given) -> Option<Vec<usize>> {
    let list = given.text("scan")?;
    if list.is_empty() {
        return Some(SCAN.to_vec());
    }
    Some(list.split(':').filter_map(|it| it.parse().ok()).collect())
}

/// Samples of the test.
fn iterations(given: &Given) -> u64 {
    let (ping_pong, stream) = ITERATIONS;
    let default = if given.has("latencyTest") {
        ping_pong
    } else {
        stream
    };
    given.count("numIter", default)
}

fn message_bytes_max(given: &Given) -> Option<usize> {
    let bytes = given.number("messageSizeMax")?;
    usize::try_from(bytes).ok()
}

fn execution(given: &Given, scans: bool) -> Option<Duration> {
    let default = if scans { 60 } else { 0 };
    let seconds = given.count("executionTime", default);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// The number of a publisher among publishers, of a subscriber among subscribers.
fn number_of(role: Role, given: &Given) -> i32 {
    let name = match role {
        Role::Publisher => "pidMultiPubTest",
        Role::Subscriber => "sidMultiSubTest",
    };
    i32::try_from(given.count(name, 0)).unwrap_or(i32::MAX)
}

/// What the three words say; the threshold of the original is 0 where that of the bus is not.
fn compression(given: &Given) -> Compression {
    let threshold = usize::try_from(given.count("compressionThreshold", 0));
    Compression {
        compression_ids: given
            .text("compressionId")
            .and_then(CompressionIds::from_name),
        writer_compression_level: u8::try_from(given.count("compressionLevel", 10))
            .unwrap_or(Compression::LEVEL_MAX),
        writer_compression_threshold: threshold.ok(),
    }
}

fn interfaces(given: &Given) -> Option<String> {
    let all: Vec<&str> = ["nic", "allowInterfaces"]
        .iter()
        .flat_map(|it| given.texts(it))
        .map(String::as_str)
        .collect();
    (!all.is_empty()).then(|| all.join(","))
}

/// The group of `-multicastAddr`, which is that of all topics.
fn group(given: &Given) -> Result<Option<IpAddr>, Failure> {
    let read = |text: &str| {
        let group = text.parse().ok().filter(IpAddr::is_multicast);
        let why = format!("-multicastAddr {text}: one multicast address, for all topics");
        group.ok_or(Failure::Options(why))
    };
    given.text("multicastAddr").map(read).transpose()
}

/// A peer descriptor of Connext, `[count@][transport://]address`, as an address.
fn peer(text: &str) -> String {
    let address = text.rsplit_once('@').map_or(text, |(_, rest)| rest);
    let address = address.rsplit_once("//").map_or(address, |(_, rest)| rest);
    address.to_owned()
}

/// The number given for `name`, which the table keeps below 2³¹.
fn small(given: &Given, name: &str, default: u32) -> u32 {
    u32::try_from(given.count(name, u64::from(default))).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
