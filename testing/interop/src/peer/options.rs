//! The command line that all live peers share.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use whimbrel::qos::CompressionIds;

use super::end::End;

/// Which of the types of `peers/Interop.idl`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Shape,
    Keyless,
    Telemetry,
}

/// What the program is there for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    Publish,
    Subscribe,
    /// Many topics, everybody writes and reads all of them.
    Mesh,
}

/// What happens to an instance after the last sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Farewell {
    Nothing,
    Dispose(String),
    Unregister(String),
}

/// The options; `testing/interop/README.md` explains them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Options {
    pub(crate) task: Task,
    pub(crate) topic: String,
    pub(crate) kind: Kind,
    pub(crate) domain: u32,
    pub(crate) reliable: bool,
    pub(crate) transient_local: bool,
    /// `None` keeps all.
    pub(crate) keep_last: Option<u32>,
    pub(crate) max_samples: Option<u32>,
    pub(crate) xcdr: Option<u8>,
    pub(crate) count: u32,
    pub(crate) size_bytes: u32,
    pub(crate) period_ms: u32,
    /// A subscriber takes one sample at a time and pauses so long after it.
    pub(crate) take_ms: Option<u32>,
    /// Of a mesh.
    pub(crate) topics: u32,
    /// Of a mesh.
    pub(crate) members: u32,
    pub(crate) keys: Vec<String>,
    pub(crate) farewell: Farewell,
    pub(crate) wait_matched: usize,
    pub(crate) settle_ms: u32,
    pub(crate) linger_ms: u32,
    pub(crate) deadline: Instant,
    pub(crate) lease_ms: Option<u32>,
    pub(crate) interface: String,
    pub(crate) multicast: bool,
    pub(crate) peers: Vec<String>,
    pub(crate) capture: Option<PathBuf>,
    pub(crate) faults_per_mille: Option<u16>,
    pub(crate) fault_seed: u64,
    /// By which the publisher compresses.
    pub(crate) codec: Option<CompressionIds>,
    /// The publisher's samples wait for others up to so many octets.
    pub(crate) bundle_bytes: Option<usize>,
    /// The publisher's process reads too, by a participant of its own.
    pub(crate) beside: bool,
    /// Lingering ends with the end of standard input.
    pub(crate) until_eof: bool,
}

impl Options {
    /// Reads the words after `peer`.
    pub(crate) fn parse(words: &[String]) -> Result<Self, End> {
        let mut words = words.iter().map(String::as_str);
        let task = match words.next() {
            Some("pub") => Task::Publish,
            Some("sub") => Task::Subscribe,
            Some("mesh") => Task::Mesh,
            _ => return Err(usage("first argument: pub, sub or mesh")),
        };
        let mut options = Self::new(task);
        while let Some(name) = words.next() {
            if !options.flag(name) {
                let value = words
                    .next()
                    .ok_or_else(|| usage(format!("{name} is unknown or needs a value")))?;
                options.set(name, value)?;
            }
        }
        options.complete()
    }

    fn new(task: Task) -> Self {
        Self {
            task,
            topic: String::new(),
            kind: Kind::Shape,
            domain: 0,
            reliable: true,
            transient_local: false,
            keep_last: Some(1),
            max_samples: None,
            xcdr: None,
            count: 10,
            size_bytes: 64,
            period_ms: 10,
            take_ms: None,
            topics: 1,
            members: 1,
            keys: Vec::new(),
            farewell: Farewell::Nothing,
            wait_matched: 0,
            settle_ms: 0,
            linger_ms: 200,
            deadline: Instant::now() + Duration::from_secs(30),
            lease_ms: None,
            interface: "lo".into(),
            multicast: false,
            peers: Vec::new(),
            capture: None,
            faults_per_mille: None,
            fault_seed: 1,
            codec: None,
            bundle_bytes: None,
            beside: false,
            until_eof: false,
        }
    }

    /// Options without a value.
    fn flag(&mut self, name: &str) -> bool {
        match name {
            "--reliable" => self.reliable = true,
            "--best-effort" => self.reliable = false,
            "--transient-local" => self.transient_local = true,
            "--keep-all" => self.keep_last = None,
            "--multicast" => self.multicast = true,
            "--until-eof" => self.until_eof = true,
            "--beside" => self.beside = true,
            _ => return false,
        }
        true
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), End> {
        match name {
            "--topic" => self.topic = value.into(),
            "--type" => self.kind = kind(value)?,
            "--domain" => self.domain = number(name, value)?,
            "--keep-last" => self.keep_last = Some(number(name, value)?),
            "--max-samples" => self.max_samples = Some(number(name, value)?),
            "--xcdr" => self.xcdr = Some(number(name, value)?),
            "--count" => self.count = number(name, value)?,
            "--size" => self.size_bytes = number(name, value)?,
            "--period-ms" => self.period_ms = number(name, value)?,
            "--take-ms" => self.take_ms = Some(number(name, value)?),
            "--topics" => self.topics = number(name, value)?,
            "--members" => self.members = number(name, value)?,
            "--key" => self.keys = value.split(',').map(str::to_owned).collect(),
            "--dispose" => self.farewell = Farewell::Dispose(value.into()),
            "--unregister" => self.farewell = Farewell::Unregister(value.into()),
            "--wait-matched" => self.wait_matched = number(name, value)?,
            "--settle-ms" => self.settle_ms = number(name, value)?,
            "--linger-ms" => self.linger_ms = number(name, value)?,
            "--timeout-s" => {
                self.deadline = Instant::now() + Duration::from_secs(number(name, value)?);
            }
            "--lease-ms" => self.lease_ms = Some(number(name, value)?),
            "--interface" => self.interface = value.into(),
            "--peer" => self.peers.push(value.into()),
            "--capture" => self.capture = Some(value.into()),
            "--fault-seed" => self.fault_seed = number(name, value)?,
            "--compress" => {
                let codec = CompressionIds::from_name(value);
                self.codec = Some(codec.ok_or_else(|| usage(format!("no codec {value}")))?);
            }
            "--bundle" => self.bundle_bytes = Some(number(name, value)?),
            "--faults" => self.faults_per_mille = Some(number(name, value)?),
            _ => return Err(usage(format!("unknown option {name}"))),
        }
        Ok(())
    }

    fn complete(mut self) -> Result<Self, End> {
        if self.topic.is_empty() {
            return Err(usage("--topic is missing"));
        }
        if !matches!(self.xcdr, None | Some(1 | 2)) {
            return Err(usage("--xcdr: 1 or 2"));
        }
        if self.kind == Kind::Keyless && self.farewell != Farewell::Nothing {
            return Err(usage("keyless has no instance to dispose or unregister"));
        }
        if self.task == Task::Mesh && (self.kind != Kind::Shape || self.topics == 0) {
            return Err(usage("mesh: shapes, at least one topic"));
        }
        if self.keys.is_empty() {
            let key = if self.kind == Kind::Shape {
                "BLUE"
            } else {
                "1"
            };
            self.keys = vec![key.into()];
        }
        Ok(self)
    }

    /// The key of a sample: all in turn.
    pub(crate) fn key_of(&self, seq: u32) -> &str {
        let turn = seq.saturating_sub(1) as usize;
        &self.keys[turn % self.keys.len()]
    }
}

fn usage(text: impl Into<String>) -> End {
    End::Usage(text.into())
}

fn kind(text: &str) -> Result<Kind, End> {
    match text {
        "shape" => Ok(Kind::Shape),
        "keyless" => Ok(Kind::Keyless),
        "telemetry" => Ok(Kind::Telemetry),
        _ => Err(usage("--type: shape, keyless or telemetry")),
    }
}

fn number<T: FromStr>(name: &str, text: &str) -> Result<T, End> {
    text.parse()
        .map_err(|_| usage(format!("{name}: not a number that fits: {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, End> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words)
    }

    #[test]
    fn the_line_of_the_contract_is_read() {
        let text = "pub --topic t --type telemetry --key 1,2 --keep-all --xcdr 2 --dispose 2";
        let options = parse(text).unwrap();
        assert_eq!(options.task, Task::Publish);
        assert!(options.reliable && !options.transient_local);
        assert_eq!((options.keep_last, options.xcdr), (None, Some(2)));
        assert_eq!(options.farewell, Farewell::Dispose("2".into()));
        assert_eq!(
            (options.key_of(1), options.key_of(2), options.key_of(3)),
            ("1", "2", "1")
        );
        assert_eq!(parse("sub --topic t").unwrap().keys, ["BLUE"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in [
            "",
            "both --topic t",
            "pub",
            "pub --topic",
            "pub --topic t --what",
            "pub --topic t --xcdr 3",
            "pub --topic t --domain -1",
            "pub --topic t --type keyless --dispose 1",
            "mesh --topic t --type keyless",
            "mesh --topic t --topics 0",
        ] {
            assert!(matches!(parse(text), Err(End::Usage(_))), "{text}");
        }
    }
}
