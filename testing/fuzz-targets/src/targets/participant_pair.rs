//! Two honest participants and a network that does what the input says.
//!
//! Each octet of the input is the fate of the next datagram: its low three bits say what happens,
//! the others how much. As long as datagrams are only lost, repeated, delayed or overtaken and the
//! processes only write and pause, all reliable data arrives once the input has ended. Forged and
//! damaged datagrams may say anything, also that there is nothing to be had: after them only what
//! [`crate::station`] asserts holds.

use std::collections::BTreeMap;

use whimbrel_base::locator::Locator;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_proto::change::ChangeKind;

use crate::station::{START, Station, group, metatraffic, topics, user};

/// How long a datagram travels.
const TRAVEL: Duration = Duration::from_micros(200);

/// Everything must have arrived so long after the last fault.
const SETTLE: Duration = Duration::from_secs(60);

/// How long stations are watched after damaged datagrams.
const WATCH: Duration = Duration::from_secs(5);

/// Events of one run; far more would be a storm.
const STEPS_MAX: usize = 20_000;

/// Instances that each station writes.
const KEYS: u32 = 3;

/// What happens to a datagram.
pub mod fate {
    /// It arrives.
    pub const ARRIVES: u8 = 0;
    /// It is lost.
    pub const LOST: u8 = 1;
    /// It arrives twice.
    pub const TWICE: u8 = 2;
    /// It arrives late.
    pub const LATE: u8 = 3;
    /// It is damaged: two octets of position, one of flipped bits.
    pub const DAMAGED: u8 = 4;
    /// It is cut off: two octets of length.
    pub const CUT: u8 = 5;
    /// Something else arrives before it: one octet of length, so many octets.
    pub const PRECEDED: u8 = 6;
    /// It arrives after an application did something.
    pub const APPLICATION: u8 = 7;
}

/// What came of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Datagrams were forged or damaged.
    pub tainted: bool,
    /// All reliable data arrived.
    pub complete: bool,
}

/// Plays the fates.
pub fn participant_pair(data: &[u8]) {
    play(data);
}

/// Plays the fates and says what came of it.
pub fn play(data: &[u8]) -> Outcome {
    let mut pair = Pair::new(data);
    for index in [0, 1] {
        pair.write(index, 0, 8);
        pair.write(index, 1, 8);
    }
    while !pair.fates.is_empty() && pair.steps < STEPS_MAX {
        pair.step();
    }
    for index in [0, 1] {
        pair.final_writes(index);
    }
    let span = if pair.tainted { WATCH } else { SETTLE };
    let end = pair.now.after(span);
    while pair.now < end && (pair.tainted || !pair.is_complete()) {
        pair.step();
    }
    let outcome = Outcome {
        tainted: pair.tainted,
        complete: pair.is_complete(),
    };
    assert!(outcome.tainted || outcome.complete, "{}", pair.missing());
    outcome
}

/// A datagram on its way.
struct Flight {
    to: usize,
    from: Locator,
    bytes: Vec<u8>,
}

struct Pair<'a> {
    stations: [Station; 2],
    flights: BTreeMap<(Instant, usize), Flight>,
    launched: usize,
    now: Instant,
    fates: &'a [u8],
    tainted: bool,
    steps: usize,
    number: u32,
    /// What each station wrote, by its number.
    written: [BTreeMap<u32, Vec<u8>>; 2],
    /// The newest reliable sample of each instance that each station wrote.
    newest: [BTreeMap<u32, u32>; 2],
    /// The last reliable sample that the other station took of each of these instances.
    arrived: [BTreeMap<u32, u32>; 2],
}

impl<'a> Pair<'a> {
    fn new(fates: &'a [u8]) -> Self {
        let stations = [1, 2].map(|number| {
            let mut station = Station::new(number, topics(number));
            station.outgoing.keeps = true;
            station
        });
        Self {
            stations,
            flights: BTreeMap::new(),
            launched: 0,
            now: START,
            fates,
            tainted: false,
            steps: 0,
            number: 0,
            written: Default::default(),
            newest: Default::default(),
            arrived: Default::default(),
        }
    }

    /// Goes on to the next event.
    fn step(&mut self) {
        self.steps += 1;
        assert!(self.steps < STEPS_MAX, "a storm");
        let deadlines = self.stations.iter().filter_map(Station::next_deadline);
        let due = deadlines.map(|(at, _)| at).min();
        let flight = self.flights.keys().next().copied();
        let next = flight.map(|(at, _)| at).into_iter().chain(due).min();
        self.now = self
            .now
            .max(next.unwrap_or(self.now.after(Duration::from_secs(1))));
        for station in &mut self.stations {
            station.now = self.now;
        }
        if let Some(key) = flight.filter(|(at, _)| *at <= self.now) {
            if let Some(flight) = self.flights.remove(&key) {
                self.stations[flight.to].receive(flight.from, &flight.bytes);
            }
        } else {
            for station in &mut self.stations {
                station.drain();
            }
        }
        for index in [0, 1] {
            self.take(index);
            while let Some(packet) = self.stations[index].outgoing.packets.pop_front() {
                let other = 1 - index;
                let number = other as u8 + 1;
                if [group(), metatraffic(number), user(number)].contains(&packet.to) {
                    self.meet_fate(index, packet.bytes);
                }
            }
        }
    }

    fn octet(&mut self) -> u8 {
        let Some((first, rest)) = self.fates.split_first() else {
            return 0;
        };
        self.fates = rest;
        *first
    }

    fn pair_of_octets(&mut self) -> usize {
        let low = self.octet();
        usize::from(u16::from_le_bytes([low, self.octet()]))
    }

    fn launch(&mut self, sender: usize, late: Duration, bytes: Vec<u8>) {
        let at = self.now.after(TRAVEL).after(late);
        self.launched += 1;
        let flight = Flight {
            to: 1 - sender,
            from: metatraffic(sender as u8 + 1),
            bytes,
        };
        self.flights.insert((at, self.launched), flight);
    }

    fn meet_fate(&mut self, sender: usize, mut bytes: Vec<u8>) {
        let octet = self.octet();
        let (what, much) = (octet & 7, octet >> 3);
        let late = Duration::from_millis(i64::from(much).pow(2));
        match what {
            fate::LOST => return,
            fate::TWICE => self.launch(sender, late, bytes.clone()),
            fate::LATE => return self.launch(sender, late, bytes),
            fate::DAMAGED => {
                let position = self.pair_of_octets() % bytes.len();
                bytes[position] ^= self.octet();
                self.tainted = true;
            }
            fate::CUT => {
                bytes.truncate(self.pair_of_octets() % bytes.len());
                self.tainted = true;
            }
            fate::PRECEDED => {
                let len = usize::from(self.octet()).min(self.fates.len());
                let (forged, rest) = self.fates.split_at(len);
                self.fates = rest;
                self.launch(sender, Duration::ZERO, forged.to_vec());
                self.tainted = true;
            }
            fate::APPLICATION => self.act(much),
            _ => {}
        }
        self.launch(sender, Duration::ZERO, bytes);
    }

    fn act(&mut self, much: u8) {
        let (station, index) = (usize::from(much & 1), usize::from(much >> 1 & 1));
        let far = much & 16 != 0;
        match much >> 2 & 3 {
            0 => self.write(station, index, 8),
            1 => self.write(station, index, if far { 4000 } else { 1500 }),
            2 => self.take(station),
            _ => {
                self.now = self
                    .now
                    .after(Duration::from_secs(if far { 15 } else { 4 }))
            }
        }
    }

    /// Writes a sample of `len` octets and its headers; without room, it is not written.
    fn write(&mut self, station: usize, index: usize, len: usize) {
        self.number += 1;
        let (number, key) = (self.number, self.number % KEYS);
        let mut payload = vec![0, 1, 0, 0, key as u8, 0, 0, 0];
        payload.extend(number.to_le_bytes());
        payload.resize(payload.len() + len, number as u8);
        self.stations[station].now = self.now;
        let outcome =
            self.stations[station].write(index, ChangeKind::Alive, key as u8, payload.clone());
        if outcome.is_ok() {
            self.written[station].insert(number, payload);
            if index == 0 {
                self.newest[station].insert(key, number);
            }
        }
    }

    /// What each station writes when the network is good again.
    fn final_writes(&mut self, station: usize) {
        for len in [8, 3000, 8] {
            self.write(station, 0, len);
        }
    }

    fn take(&mut self, station: usize) {
        let other = 1 - station;
        for index in [0, 1] {
            // Nearly every step brings nothing; a look at each reader was most of the time.
            if self.stations[station].readers[index].cache().sample_count() == 0 {
                continue;
            }
            for sample in self.stations[station].fetch(index, true) {
                if self.tainted || !sample.info.valid_data {
                    continue;
                }
                let number = sample.payload.get(8..12).unwrap_or_default();
                let number = number.iter().rev().fold(0, |n, o| n << 8 | u32::from(*o));
                let written = self.written[other].get(&number).map(Vec::as_slice);
                assert_eq!(Some(&*sample.payload), written, "never written");
                if index == 0 {
                    self.arrived[other].insert(number % KEYS, number);
                }
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.newest == self.arrived
    }

    fn missing(&self) -> String {
        let (newest, arrived) = (&self.newest, &self.arrived);
        let at = self.now.since(START);
        let known = |station: &Station| {
            let confirmed = station.control.participants().map(|it| it.confirmed);
            let confirmed: Vec<bool> = confirmed.collect();
            let readers = station.writers.each_ref().map(|it| it.reader_count());
            let writers = station.readers.each_ref().map(|it| it.writer_count());
            format!("participants confirmed {confirmed:?}, matches {readers:?} {writers:?}")
        };
        let known = self.stations.each_ref().map(known);
        format!("after {at:?}: written {newest:?}, arrived {arrived:?}; {known:#?}")
    }
}
