//! The field in virtual time: a victim, the peer that the attacker plays, and an honest peer.

use std::net::SocketAddr;
use std::time::Duration;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::Guid;
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::RejectCounters;
use whimbrel_base::time::Duration as Span;
use whimbrel_base::vendor::VendorId;
use whimbrel_fuzz_targets::station::{
    MEMORY_BYTES_MAX, READERS, Station, WRITERS, metatraffic, prefix, topics, user,
};
use whimbrel_fuzz_targets::thread_time::thread_time;
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::peer::MatchedWriter;

use super::case::{Field, Origin, Sample, Scene};
use super::watch::{Costs, STEP_MAX};
use crate::heap;

/// Numbers of the stations.
const VICTIM: u8 = 1;
const ATTACKER: u8 = 2;
const HONEST: u8 = 4;

/// Between two looks at the network.
const TICK: Span = Span::from_millis(5);

/// Ticks in which everything must have happened that needs no repair.
const TICKS_MAX: usize = 2000;

/// Three participants that know each other; the attacker's own machine rests afterwards.
pub(super) struct Model {
    victim: Station,
    honest: Station,
    /// What the steps cost.
    pub(super) costs: Costs,
    /// Steps that went over a bound.
    pub(super) faults: Vec<String>,
    watched: bool,
    before_bytes: usize,
    number: u8,
}

impl Model {
    /// Lets the three meet. Memory is `watched` where no other thread works.
    pub(super) fn new(watched: bool) -> Result<Self, String> {
        let [victim, honest, mut attacker] = [VICTIM, HONEST, ATTACKER].map(|number| {
            let mut station = Station::new(number, topics(number));
            station.outgoing.keeps = true;
            station
        });
        let mut model = Self {
            victim,
            honest,
            costs: Costs::default(),
            faults: Vec::new(),
            watched,
            before_bytes: 0,
            number: 0,
        };
        let met = (0..TICKS_MAX).any(|_| {
            exchange(&mut [&mut model.victim, &mut model.honest, &mut attacker]);
            model.victim.writers[0].reader_count() == 2
                && model.victim.readers[0].writer_count() == 2
                && model.honest.writers[0].reader_count() == 1
                && model.honest.readers[0].writer_count() == 1
        });
        if !met {
            return Err("the participants do not meet".to_owned());
        }
        model.pass(Span::from_secs(1));
        for key in 1..=3 {
            model.write(&Sample {
                key,
                bytes: vec![key; 8],
            });
        }
        model.write(&Sample {
            key: 3,
            bytes: vec![9; 2000],
        });
        model.victim.fetch(0, true);
        model.still_moves()?;
        Ok(model)
    }

    /// Who is who, in this byte order.
    pub(super) fn scene(&self, endian: Endian) -> Scene {
        Scene {
            endian,
            victim: prefix(VICTIM),
            attacker: prefix(ATTACKER),
            honest: prefix(HONEST),
            victim_reader: READERS[0],
            victim_writer: WRITERS[0],
            writer: WRITERS[0],
            reader: READERS[0],
            // It has announced two of each.
            next_announcement: 3,
            next_sample: 1,
        }
    }

    /// What the victim has refused so far.
    pub(super) fn rejects(&self) -> RejectCounters {
        self.victim.rejects()
    }

    /// The error unless a sample still reaches the honest peer, and one of it the victim.
    pub(super) fn still_moves(&mut self) -> Result<(), String> {
        self.number = self.number.wrapping_add(1);
        // Large enough to travel in fragments.
        let bytes = vec![self.number; 1500];
        let payload = encoded(&Sample { key: 100, bytes });
        if !arrives(&mut self.honest, &mut self.victim, &payload) {
            return Err("no sample of the honest peer arrives any more".to_owned());
        }
        if !arrives(&mut self.victim, &mut self.honest, &payload) {
            return Err("no sample to the honest peer arrives any more".to_owned());
        }
        Ok(())
    }

    fn pass(&mut self, span: Span) {
        let end = self.victim.now.after(span);
        while self.victim.now < end {
            exchange(&mut [&mut self.victim, &mut self.honest]);
        }
    }

    /// The attack begins here: what is held from now on counts.
    pub(super) fn begin(&mut self) {
        self.costs = Costs::default();
        self.faults.clear();
        self.before_bytes = heap::held_bytes();
    }

    /// One step of the victim, measured.
    fn step<R>(&mut self, what: &str, act: impl FnOnce(&mut Station) -> R) -> R {
        let begin = thread_time();
        let result = if self.watched {
            heap::limited(2 * MEMORY_BYTES_MAX, || act(&mut self.victim))
        } else {
            act(&mut self.victim)
        };
        let took = thread_time().saturating_sub(begin);
        self.costs.add(took);
        if took > STEP_MAX && !cfg!(debug_assertions) {
            let ms = took.as_millis();
            self.faults
                .push(format!("{what} cost {ms} ms of processor time"));
        }
        exchange_at_once(&mut [&mut self.victim, &mut self.honest]);
        let held = heap::held_bytes().saturating_sub(self.before_bytes);
        if self.watched && held > self.costs.held_bytes_max {
            self.costs.held_bytes_max = held;
            if held > MEMORY_BYTES_MAX {
                self.faults
                    .push(format!("{held} octets are held after {what}"));
            }
        }
        result
    }
}

impl Field for Model {
    fn receive(&mut self, origin: Origin, datagram: &[u8]) {
        let from = address(origin);
        self.step("a datagram", |victim| victim.receive(from, datagram));
    }

    fn wait(&mut self, span: Duration) {
        let end = self
            .victim
            .now
            .after(Span::from_nanos(span.as_nanos() as i64));
        while self.victim.now < end {
            let left = Span::from_nanos(end.0.saturating_sub(self.victim.now.0) as i64);
            let tick = TICK.min(left);
            self.honest.advance(tick);
            self.step("a pause", |victim| victim.advance(tick));
        }
    }

    fn set_wall_clock(&mut self, step_ns: i64) {
        self.step("a step of the clock", |victim| {
            victim.wall_step_ns = victim.wall_step_ns.saturating_add(step_ns);
        });
    }

    fn write(&mut self, sample: &Sample) {
        let payload = encoded(sample);
        let key = sample.key;
        let _ = self.step("a write", |victim| {
            victim.write(0, ChangeKind::Alive, key, payload)
        });
    }

    fn announce_batches(&mut self, scene: Scene) -> Result<Scene, String> {
        let guid = Guid::new(prefix(ATTACKER), WRITERS[0]);
        self.victim.unmatch_writer(0, guid);
        let fresh = MatchedWriter {
            guid,
            reliable: true,
            durable: true,
            locators: vec![user(ATTACKER)],
            vendor: VendorId::WHIMBREL,
            packs: true,
            batches: true,
        };
        self.victim.match_writer(0, fresh);
        self.victim.drain();
        Ok(scene)
    }

    fn measure(&mut self, what: &str, act: &mut dyn FnMut()) {
        self.step(what, |_| act());
    }

    fn take(&mut self, _wanted: usize) -> Vec<Sample> {
        let writer = Guid::new(prefix(ATTACKER), WRITERS[0]).to_bytes();
        let taken = self.step("a take", |victim| victim.fetch(0, true));
        taken
            .iter()
            .filter(|it| it.info.valid_data)
            .filter(|it| it.info.publication_handle.key_hash() == writer)
            .map(|it| decoded(&it.payload))
            .collect()
    }
}

fn address(origin: Origin) -> Locator {
    match origin {
        Origin::Peer => metatraffic(ATTACKER),
        Origin::Stranger(number) => {
            let [high, low] = number.to_be_bytes();
            SocketAddr::from(([198, 18, high, low], 7400)).into()
        }
    }
}

/// The sample as the topic's type says, in little endian.
fn encoded(sample: &Sample) -> Vec<u8> {
    let mut payload = vec![0, 1, 0, 0, sample.key, 0, 0, 0];
    payload.extend((sample.bytes.len() as u32).to_le_bytes());
    payload.extend(&sample.bytes);
    payload
}

/// What the octets of a sample say, as far as they go.
fn decoded(payload: &[u8]) -> Sample {
    let little = payload.get(1).is_some_and(|id| id & 1 == 1);
    let len: [u8; 4] = payload
        .get(8..12)
        .unwrap_or_default()
        .try_into()
        .unwrap_or_default();
    let len = if little {
        u32::from_le_bytes(len)
    } else {
        u32::from_be_bytes(len)
    };
    let content = payload.get(12..).unwrap_or_default();
    let bytes = content.get(..len as usize).unwrap_or(content).to_vec();
    Sample {
        key: payload.get(4).copied().unwrap_or(0),
        bytes,
    }
}

/// True when a sample that `from` writes reaches `to`.
fn arrives(from: &mut Station, to: &mut Station, payload: &[u8]) -> bool {
    if from
        .write(0, ChangeKind::Alive, 100, payload.to_vec())
        .is_err()
    {
        return false;
    }
    let writer = Guid::new(from.control.prefix(), WRITERS[0]).to_bytes();
    (0..TICKS_MAX).any(|_| {
        exchange(&mut [from, to]);
        let taken = to.fetch(0, true);
        taken.iter().any(|sample| {
            // A submessage ends at a multiple of four octets.
            sample.info.publication_handle.key_hash() == writer
                && sample.payload.starts_with(payload)
        })
    })
}

/// Delivers what the stations have sent each other, and lets a tick pass.
fn exchange(stations: &mut [&mut Station]) {
    exchange_at_once(stations);
    for station in stations {
        station.advance(TICK);
    }
}

/// Delivers what the stations have sent each other.
fn exchange_at_once(stations: &mut [&mut Station]) {
    for _ in 0..64 {
        let mut quiet = true;
        for sender in 0..stations.len() {
            while let Some(packet) = stations[sender].outgoing.packets.pop_front() {
                let from = stations[sender].address();
                for other in (0..stations.len()).filter(|other| *other != sender) {
                    if stations[other].listens_at(packet.to) {
                        quiet = false;
                        stations[other].receive(from, &packet.bytes);
                    }
                }
            }
        }
        if quiet {
            break;
        }
    }
}
