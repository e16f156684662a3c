//! Lines like those that a busy middleware writes to its log.
//!
//! What matters to a codec is how alike lines are: the same few messages come again and again,
//! often many in a row, with a time, names of nested functions and values that are partly new and
//! partly from small sets. The shares are chosen so that ZLIB at its highest level saves of single
//! lines, and of 2, 5 and 10 together, what a published study saved of a customer's log.

use std::fmt::Write as _;

use crate::random::Random;

/// A log without end; each item is a line without its end.
#[derive(Clone, Debug)]
pub struct LogLines {
    random: Random,
    /// Time of the next line in microseconds of the epoch.
    now_us: u64,
    templates: Vec<Template>,
    participants: Vec<String>,
    /// Which template came last.
    last: usize,
    sequence: u64,
}

#[derive(Clone, Debug)]
struct Template {
    level: &'static str,
    /// Names of the functions that led to the message, outermost first.
    functions: String,
    line: u64,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Sequence,
    Participant,
    Topic,
    Locator,
    Bytes,
    RoundTrip,
    Queue,
    Reason,
}

const MODULES: [&str; 8] = [
    "Writer",
    "Reader",
    "Transport",
    "Discovery",
    "Presentation",
    "Netio",
    "Security",
    "Event",
];
const VERBS: [&str; 10] = [
    "send", "receive", "process", "assert", "update", "remove", "notify", "flush", "match",
    "resolve",
];
const OBJECTS: [&str; 10] = [
    "Sample",
    "Heartbeat",
    "Endpoint",
    "Locator",
    "Fragment",
    "Queue",
    "Liveliness",
    "Participant",
    "Acknack",
    "Instance",
];
const TOPICS: [&str; 6] = [
    "FlightPlan",
    "RadarTrack",
    "SystemStatus",
    "CommandLog",
    "WeatherCell",
    "Handover",
];
const REASONS: [&str; 5] = [
    "window full",
    "no route to host",
    "reader is slow",
    "lease expired",
    "out of order",
];
const LEVELS: [&str; 4] = ["INFO", "DEBUG", "WARN", "ERROR"];
const BYTES: [u64; 5] = [64, 128, 1024, 8192, 63000];
const FIELDS: [Field; 8] = [
    Field::Sequence,
    Field::Participant,
    Field::Topic,
    Field::Locator,
    Field::Bytes,
    Field::RoundTrip,
    Field::Queue,
    Field::Reason,
];

/// Messages that the program knows.
const TEMPLATES: usize = 40;
/// Names of functions they are made of.
const NAMES: usize = 60;
/// Names in a message.
const NESTED: usize = 8;
/// In so many of 1000 lines the message before comes again.
const AGAIN: u64 = 290;
/// Mean time between lines in microseconds: 200 in a second.
const APART_US: u64 = 5_000;

impl LogLines {
    /// The log of the seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let names: Vec<String> = (0..NAMES).map(|_| function(&mut random)).collect();
        let templates = (0..TEMPLATES)
            .map(|_| Template::random(&names, &mut random))
            .collect();
        let participants = (0..8)
            .map(|_| format!("{:016x}", random.next_u64()))
            .collect();
        Self {
            random,
            now_us: 1_700_000_000_000_000,
            templates,
            participants,
            last: 0,
            sequence: 1,
        }
    }

    /// By Zipf's law with exponent 1.2: the first template is the commonest.
    fn template(&mut self) -> usize {
        if self.random.permille(AGAIN) {
            return self.last;
        }
        let total: u64 = ZIPF.iter().sum();
        let mut at = self.random.below(total);
        for (index, weight) in ZIPF.iter().enumerate() {
            if at < *weight {
                return index;
            }
            at -= weight;
        }
        0
    }

    fn field(&mut self, field: Field, line: &mut String) {
        let random = &mut self.random;
        let written = match field {
            Field::Sequence => {
                self.sequence += 1 + random.below(3);
                write!(line, " sn={}", self.sequence)
            }
            Field::Participant => {
                write!(line, " guid={}", random.one_of(&self.participants))
            }
            Field::Topic => write!(line, " topic={}", random.one_of(&TOPICS)),
            Field::Locator => write!(
                line,
                " locator=udpv4://10.2.7.{}:7411",
                10 + random.below(8)
            ),
            Field::Bytes => write!(line, " bytes={}", random.one_of(&BYTES)),
            Field::RoundTrip => write!(line, " rtt={}us", round_trip_us(random)),
            Field::Queue => write!(line, " queue={}/50", random.below(51)),
            Field::Reason => write!(line, " reason=\"{}\"", random.one_of(&REASONS)),
        };
        written.expect("a string takes any text");
    }
}

impl Iterator for LogLines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.now_us += self.random.exponential(APART_US);
        self.last = self.template();
        let template = self.templates[self.last].clone();
        let (seconds, part_us) = (self.now_us / 1_000_000, self.now_us % 1_000_000);
        let mut line = format!(
            "{seconds}.{part_us:06} [{}] [{}] line {}:",
            template.level, template.functions, template.line
        );
        for field in template.fields {
            self.field(field, &mut line);
        }
        Some(line)
    }
}

impl Template {
    fn random(names: &[String], random: &mut Random) -> Self {
        let functions: Vec<&str> = (0..NESTED).map(|_| random.one_of(names).as_str()).collect();
        let count = 1 + random.below(4) as usize;
        let mut fields = FIELDS.to_vec();
        while fields.len() > count {
            let at = random.below(fields.len() as u64) as usize;
            fields.remove(at);
        }
        Self {
            level: *random.one_of(&LEVELS),
            functions: functions.join("|"),
            line: 100 + random.below(4000),
            fields,
        }
    }
}

fn function(random: &mut Random) -> String {
    format!(
        "{}_{}{}",
        random.one_of(&MODULES),
        random.one_of(&VERBS),
        random.one_of(&OBJECTS)
    )
}

/// Log-normal in shape: a median of 150 us times or by 9/8 for each excess of heads or tails.
fn round_trip_us(random: &mut Random) -> u64 {
    let heads = random.next_u64().count_ones();
    let mut value = 150_000 + random.below(18_000);
    for _ in 32..heads {
        value = value * 9 / 8;
    }
    for _ in heads..32 {
        value = value * 8 / 9;
    }
    value / 1000
}

/// 1,000,000 by the rank to the power of 1.2, for each rank from 1.
const ZIPF: [u64; TEMPLATES] = [
    1_000_000, 435275, 267581, 189465, 144956, 116471, 96802, 82469, 71599, 63096, 56277, 50697,
    46054, 42135, 38787, 35897, 33378, 31165, 29208, 27464, 25902, 24496, 23223, 22067, 21012,
    20046, 19159, 18340, 17584, 16883, 16232, 15625, 15059, 14529, 14032, 13566, 13127, 12713,
    12323, 11954,
];
