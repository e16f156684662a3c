//! What the octets of a sample on the way are, by a capture of the end that asks.

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use whimbrel_bench::protocol::{Order, READY, round_trips};
use whimbrel_net::capture::{CaptureReader, CapturedUdp};
use whimbrel_rig::process::Process;
use whimbrel_wire::header::Header;
use whimbrel_wire::message::{Submessage, Submessages};

use super::pair::start_pair;
use super::{MEETING, ROUND};
use crate::contestant::{Contestant, Programs};
use crate::world::World;

/// Octets of a submessage header.
const SUBMESSAGE_BYTES: usize = 4;
/// Octets of UDP around a datagram; of IPv4 and Ethernet around each packet of it.
const UDP_BYTES: usize = 8;
const PACKET_BYTES: usize = 20 + 14;
/// Octets of UDP that fit one packet of 1500 octets.
const PACKET_BYTES_MAX: usize = 1480;

/// How long nothing may have come for discovery to be quiet, and how often that is looked at.
const SETTLING: Duration = Duration::from_millis(150);
const SETTLINGS_MAX: usize = 10;

/// Octets of some exchange, by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Octets {
    /// Samples that were sent, each counted once.
    pub(crate) samples: u64,
    /// Of these, those that left compressed.
    pub(crate) packed: u64,
    /// Their payloads as sent.
    pub(crate) payload: u64,
    /// Of these, the encapsulation headers.
    pub(crate) encapsulation: u64,
    /// What is in submessages with samples beside payloads, and in those that say for whom and
    /// when.
    pub(crate) submessages: u64,
    /// Headers of RTPS messages.
    pub(crate) rtps: u64,
    /// Heartbeats of all kinds, and gaps.
    pub(crate) heartbeats: u64,
    pub(crate) acknowledgments: u64,
    /// Submessages with what was sent before.
    pub(crate) repairs: u64,
    /// Whole packets of builtin endpoints.
    pub(crate) discovery: u64,
    /// UDP, IP and Ethernet around everything but discovery.
    pub(crate) packets: u64,
    /// What nobody here knows.
    pub(crate) other: u64,
}

impl Octets {
    /// All of them.
    #[cfg(test)]
    fn all(&self) -> u64 {
        self.payload
            + self.submessages
            + self.rtps
            + self.heartbeats
            + self.acknowledgments
            + self.repairs
            + self.discovery
            + self.packets
            + self.other
    }
}

/// What a submessage is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sample,
    Repair,
    Heartbeat,
    Acknowledgment,
    /// Of a builtin endpoint.
    Discovery,
    /// Says something of those that follow.
    Interpreter,
    Other,
}

/// Tells what datagrams hold; what was sent before is a repair.
#[derive(Debug, Default)]
struct Dissector {
    /// Senders and numbers of samples, with their fragments.
    seen: BTreeSet<(Vec<u8>, i64, u32)>,
    octets: Octets,
}

impl Dissector {
    fn add(&mut self, datagram: &CapturedUdp<'_>) {
        let len = datagram.payload.len();
        let packets = around(len);
        let Ok((header, submessages)) = Submessages::new(datagram.payload) else {
            self.octets.other += (len + packets) as u64;
            return;
        };
        let found: Vec<(Kind, usize, usize)> = submessages
            .map_while(Result::ok)
            .map(|raw| {
                let len = SUBMESSAGE_BYTES + raw.body.len();
                let parsed = raw.parse().unwrap_or_else(|_| raw.unparsed());
                let (kind, payload) = self.judge(&header, &parsed);
                (kind, len, payload)
            })
            .collect();
        let is_user =
            |it: &&(Kind, usize, usize)| !matches!(it.0, Kind::Discovery | Kind::Interpreter);
        if found.iter().find(is_user).is_none() {
            self.octets.discovery += (len + packets) as u64;
            return;
        }
        self.octets.packets += packets as u64;
        self.octets.rtps += Header::LEN as u64;
        let has_sample = found.iter().any(|it| it.0 == Kind::Sample);
        let first = found.iter().find(is_user).map_or(Kind::Other, |it| it.0);
        // What they say of samples is of samples, else of what else is there.
        let interpreted = if has_sample { Kind::Sample } else { first };
        for (kind, len, payload) in found {
            let kind = if kind == Kind::Interpreter {
                interpreted
            } else {
                kind
            };
            self.book(kind, len, payload);
        }
    }

    fn book(&mut self, kind: Kind, len: usize, payload: usize) {
        let octets = &mut self.octets;
        let (len, payload) = (len as u64, payload as u64);
        match kind {
            Kind::Sample => {
                octets.payload += payload;
                octets.submessages += len - payload;
            }
            Kind::Repair => octets.repairs += len,
            Kind::Heartbeat => octets.heartbeats += len,
            Kind::Acknowledgment => octets.acknowledgments += len,
            Kind::Discovery => octets.discovery += len,
            Kind::Interpreter | Kind::Other => octets.other += len,
        }
    }

    /// What `submessage` is for, and the octets of payload in it.
    fn judge(&mut self, header: &Header, submessage: &Submessage<'_>) -> (Kind, usize) {
        let (builtin, kind) = match submessage {
            Submessage::Data(it) => {
                let is_new = self.note(header, it.writer.0, it.number.0, 1, it.payload);
                return part(it.writer.is_builtin(), is_new, it.payload.len());
            }
            Submessage::DataFrag(it) => {
                let first = it.first.0;
                let is_new = self.note(header, it.writer.0, it.number.0, first, it.payload);
                return part(it.writer.is_builtin(), is_new, it.payload.len());
            }
            Submessage::Heartbeat(it) => (it.writer.is_builtin(), Kind::Heartbeat),
            Submessage::HeartbeatFrag(it) => (it.writer.is_builtin(), Kind::Heartbeat),
            Submessage::Gap(it) => (it.writer.is_builtin(), Kind::Heartbeat),
            Submessage::AckNack(it) => (it.writer.is_builtin(), Kind::Acknowledgment),
            Submessage::NackFrag(it) => (it.writer.is_builtin(), Kind::Acknowledgment),
            Submessage::InfoTimestamp(_)
            | Submessage::InfoDestination(_)
            | Submessage::InfoSource(_)
            | Submessage::InfoReply(_)
            | Submessage::InfoReplyIp4(_)
            | Submessage::HeaderExtension(_)
            | Submessage::Pad(_) => (false, Kind::Interpreter),
            _ => (false, Kind::Other),
        };
        (if builtin { Kind::Discovery } else { kind }, 0)
    }

    /// Whether this part of a sample is here for the first time; its beginning is its encapsulation
    /// header.
    fn note(
        &mut self,
        header: &Header,
        writer: [u8; 4],
        number: i64,
        fragment: u32,
        payload: &[u8],
    ) -> bool {
        let sender = [&header.prefix.0[..], &writer].concat();
        let is_new = self.seen.insert((sender, number, fragment));
        let builtin = writer[3] & 0xc0 == 0xc0;
        if is_new && fragment == 1 && !builtin {
            let head = head_bytes(payload);
            self.octets.samples += 1;
            self.octets.packed += u64::from(head > PLAIN_HEAD_BYTES);
            self.octets.encapsulation += head as u64;
        }
        is_new
    }
}

/// Octets in front of a plain sample.
const PLAIN_HEAD_BYTES: usize = 4;

/// Octets in front of what a codec made, or of a plain sample: see `whimbrel_wire::compressed`.
fn head_bytes(payload: &[u8]) -> usize {
    match payload.get(3).map(|options| (options >> 2) & 7) {
        None | Some(0) => PLAIN_HEAD_BYTES,
        Some(7) => PLAIN_HEAD_BYTES + 8,
        Some(_) => PLAIN_HEAD_BYTES + 4,
    }
}

fn part(builtin: bool, is_new: bool, payload: usize) -> (Kind, usize) {
    match (builtin, is_new) {
        (true, _) => (Kind::Discovery, 0),
        (false, true) => (Kind::Sample, payload),
        (false, false) => (Kind::Repair, 0),
    }
}

/// Octets around a datagram of `len` octets.
fn around(len: usize) -> usize {
    let packets = (len + UDP_BYTES).div_ceil(PACKET_BYTES_MAX);
    UDP_BYTES + packets * PACKET_BYTES
}

/// Two processes of which the one that asks writes down what it sends and receives.
#[derive(Debug)]
pub(crate) struct Watched {
    asking: Process,
    answering: Process,
    capture: PathBuf,
    /// The address of the end that asks.
    own: IpAddr,
    /// Datagrams that were there before.
    before: usize,
    dissector: Dissector,
}

impl Watched {
    /// Those of `whimbrel`.
    ///
    /// # Errors
    /// They do not start or meet.
    pub(crate) fn start(
        world: &World,
        programs: &Programs,
        whimbrel: &Contestant,
        domain: u32,
    ) -> Result<Self, String> {
        let name = format!("whimbrel-perf-{}-{domain}.pcapng", std::process::id());
        let capture = std::env::temp_dir().join(name);
        let [a, _] = world.seats();
        let own = a
            .address
            .parse()
            .map_err(|_| format!("no address: {}", a.address))?;
        let name = format!("{}, captured", whimbrel.name());
        let part = ("latency", domain);
        let [asking, answering] = start_pair((world, programs), whimbrel, part, &name, |asking| {
            asking.arg("--capture").arg(&capture);
        })?;
        let watched = Self {
            asking,
            answering,
            capture,
            own,
            before: 0,
            dissector: Dissector::default(),
        };
        watched.asking.wait_until(READY, MEETING)?;
        Ok(watched)
    }

    /// Octets of discovery since the beginning, once it is quiet.
    ///
    /// # Errors
    /// The capture cannot be read.
    pub(crate) fn meeting(&mut self) -> Result<u64, String> {
        for _ in 0..SETTLINGS_MAX {
            let before = self.before;
            thread::sleep(SETTLING);
            self.read()?;
            if self.before == before {
                break;
            }
        }
        Ok(self.dissector.octets.discovery)
    }

    /// What `count` round trips of samples of `size` octets take.
    ///
    /// # Errors
    /// A process does not answer, or the capture cannot be read.
    pub(crate) fn measure(&mut self, size: usize, count: usize) -> Result<Octets, String> {
        // What is there so far is not of them.
        self.read()?;
        self.dissector.octets = Octets::default();
        let order = Order {
            size,
            count,
            warm: 0,
        };
        let line = order.to_string();
        let answer = self.asking.ask_beside(&mut self.answering, &line, ROUND)?;
        round_trips(&answer)?;
        self.read()?;
        Ok(self.dissector.octets)
    }

    fn read(&mut self) -> Result<(), String> {
        let path = self.capture.display();
        let bytes = fs::read(&self.capture).map_err(|error| format!("{path}: {error}"))?;
        let reader = CaptureReader::new(&bytes).map_err(|it| format!("{path}: {it:?}"))?;
        let mut count = 0;
        for datagram in reader.map_while(Result::ok) {
            count += 1;
            if count > self.before && crosses(&datagram, self.own) {
                self.dissector.add(&datagram);
            }
        }
        self.before = count;
        Ok(())
    }
}

/// Whether a datagram is on the cable of the host with the address `own`: what a host says to
/// itself is not.
fn crosses(datagram: &CapturedUdp<'_>, own: IpAddr) -> bool {
    let (from, to) = (datagram.source.ip(), datagram.destination.ip());
    let stays = to == own && (from == own || from.is_unspecified());
    !stays && !to.is_loopback()
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It may not have begun.
        let _ = fs::remove_file(&self.capture);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whimbrel_net::capture::CaptureWriter;

    /// A message with the submessages `all`: kind, flags, body.
    fn message(all: &[(u8, u8, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = b"RTPS\x02\x05\x01\x77".to_vec();
        bytes.extend([7; 12]);
        for (kind, flags, body) in all {
            bytes.extend([*kind, *flags]);
            bytes.extend((body.len() as u16).to_le_bytes());
            bytes.extend(body);
        }
        bytes
    }

    /// A DATA of `writer` with `number` and `payload`, in little-endian.
    fn data(writer: [u8; 4], number: u32, payload: &[u8]) -> (u8, u8, Vec<u8>) {
        let mut body = vec![0, 0, 16, 0, 0, 0, 0, 0];
        body.extend(writer);
        body.extend([0; 4]);
        body.extend(number.to_le_bytes());
        body.extend(payload);
        (0x15, 0x05, body)
    }

    fn heartbeat(writer: [u8; 4]) -> (u8, u8, Vec<u8>) {
        let mut body = vec![0; 4];
        body.extend(writer);
        for number in [0u32, 1, 0, 1, 1] {
            body.extend(number.to_le_bytes());
        }
        (0x07, 0x01, body)
    }

    const USER: [u8; 4] = [0, 0, 1, 0x03];
    const BUILTIN: [u8; 4] = [0, 0, 3, 0xc2];

    fn octets(messages: &[Vec<u8>]) -> Octets {
        let mut capture = CaptureWriter::new(Vec::new()).unwrap();
        let (from, to) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        for message in messages {
            let at = whimbrel::base::time::Timestamp(1);
            capture.write_udp(from, to, &[message], at).unwrap();
        }
        let bytes = capture.into_inner().unwrap();
        let mut dissector = Dissector::default();
        for datagram in CaptureReader::new(&bytes).unwrap() {
            dissector.add(&datagram.unwrap());
        }
        let all: usize = messages.iter().map(|it| it.len() + around(it.len())).sum();
        assert_eq!(dissector.octets.all(), all as u64);
        dissector.octets
    }

    #[test]
    fn every_octet_is_told_apart() {
        let plain = [0, 1, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9];
        let time = || (0x09, 0x01, vec![0; 8]);
        let first = message(&[time(), data(USER, 1, &plain), heartbeat(USER)]);
        let again = message(&[data(USER, 1, &plain)]);
        let found = octets(&[first, again, message(&[heartbeat(BUILTIN)])]);
        let wanted = Octets {
            samples: 1,
            payload: 12,
            encapsulation: 4,
            submessages: 12 + 24,
            rtps: 40,
            heartbeats: 32,
            repairs: 36,
            discovery: 20 + 32 + 42,
            packets: 84,
            ..Octets::default()
        };
        assert_eq!(found, wanted);
        let packed = [0, 1, 0, 2 << 2, 0, 0, 1, 0, 5, 5, 5, 5];
        let found = octets(&[message(&[data(USER, 1, &packed)])]);
        assert_eq!((found.packed, found.encapsulation), (1, 8));
        assert_eq!(octets(&[b"noise".to_vec()]).other, 5 + 42);
    }

    #[test]
    fn what_a_host_says_to_itself_is_not_on_the_cable() {
        let own = "10.0.0.1".parse().unwrap();
        let on_cable = |from: &str, to: &str| {
            let address = |it: &str| format!("{it}:7400").parse().unwrap();
            let datagram = CapturedUdp {
                source: address(from),
                destination: address(to),
                payload: &[],
                at: whimbrel::base::time::Timestamp(1),
            };
            crosses(&datagram, own)
        };
        for (from, to) in [
            ("0.0.0.0", "10.0.0.2"),
            ("10.0.0.2", "10.0.0.1"),
            ("0.0.0.0", "239.255.0.1"),
        ] {
            assert!(on_cable(from, to), "{from} {to}");
        }
        for from in ["0.0.0.0", "10.0.0.1"] {
            assert!(!on_cable(from, "10.0.0.1") && !on_cable(from, "127.0.0.1"));
        }
    }

    #[test]
    fn large_datagrams_are_several_packets() {
        assert_eq!(around(1472), 42);
        assert_eq!(around(1473), 8 + 2 * 34);
    }
}
