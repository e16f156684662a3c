//! The words of the command line.

use std::path::PathBuf;

use crate::placement::Placement;

/// How to call the program.
pub const USAGE: &str = "\
usage: whimbrel-bench BENCH [OPTION]...

  latency            ping-pong: one-way latency, and where the median goes
  throughput         one writer, one and four readers: rate, loss, work per sample
  calls              system calls and switches per message, counted by the kernel
  polling            what polling before blocking costs: at 1 kHz, idle, among busy processes
  footprint          memory, threads, work at idle, start to matched, size of the binary

  --quick            about a minute: fewer sizes, messages and repetitions
  --messages N       round trips per contestant, placement and size (latency, calls)
  --sizes A,B,...    octets of payload (latency, throughput)
  --placement NAME   only this one: two-cores, two-hosts (latency, throughput), one-core,
                     free (latency)
  --contestant NAME  only those whose name contains NAME; may be said again (not polling)
  --proof NAME=N     the goal NAME is kept by tests, of which N failed; may be said again
  --out FOLDER       where reports go (default target/bench)
  --peers FOLDER     where the peers' programs are (default target/peers)
";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Which bench.
    pub bench: Bench,
    /// About a minute.
    pub quick: bool,
    /// Round trips, where they are not the usual.
    pub messages: Option<usize>,
    /// Octets of payload, where they are not the usual; else empty.
    pub sizes: Vec<usize>,
    /// The only placement.
    pub placement: Option<Placement>,
    /// Parts of the names of the only contestants; all where it is empty.
    pub contestants: Vec<String>,
    /// Goals that tests keep, and how many of those failed.
    pub proofs: Vec<(String, u32)>,
    /// Where reports go.
    pub out: PathBuf,
    /// Where the peers' programs are.
    pub peers: PathBuf,
}

/// Which bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bench {
    /// Ping-pong.
    Latency,
    /// Streams.
    Throughput,
    /// System calls.
    Calls,
    /// Polling before blocking.
    Polling,
    /// What exists costs something.
    Footprint,
}

impl Bench {
    const ALL: [Self; 5] = [
        Self::Latency,
        Self::Throughput,
        Self::Calls,
        Self::Polling,
        Self::Footprint,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
            Self::Calls => "calls",
            Self::Polling => "polling",
            Self::Footprint => "footprint",
        }
    }

    /// Whether `option` says something to it.
    fn takes(self, option: &str) -> bool {
        match option {
            "--messages" => matches!(self, Self::Latency | Self::Calls),
            "--sizes" => matches!(self, Self::Latency | Self::Throughput),
            "--placement" => matches!(self, Self::Latency | Self::Throughput),
            "--contestant" => self != Self::Polling,
            _ => true,
        }
    }
}

impl Arguments {
    /// Reads the words after the program's name.
    ///
    /// # Errors
    /// What is wrong with which word.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let (bench, rest) = words.split_first().ok_or("which bench?")?;
        let named = Bench::ALL.into_iter().find(|it| it.name() == bench);
        let bench = named.ok_or_else(|| format!("there is no bench {bench}"))?;
        let mut found = Self {
            bench,
            quick: false,
            messages: None,
            sizes: Vec::new(),
            placement: None,
            contestants: Vec::new(),
            proofs: Vec::new(),
            out: PathBuf::from("target/bench"),
            peers: PathBuf::from("target/peers"),
        };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            if !bench.takes(word) {
                return Err(format!("{} takes no {word}", bench.name()));
            }
            let mut value = || rest.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--quick" => found.quick = true,
                "--messages" => found.messages = Some(number(value()?)?),
                "--sizes" => {
                    found.sizes = value()?.split(',').map(number).collect::<Result<_, _>>()?
                }
                "--placement" => found.placement = Some(Placement::named(value()?)?),
                "--contestant" => found.contestants.push(value()?.clone()),
                "--proof" => found.proofs.push(proof(value()?)?),
                "--out" => found.out = PathBuf::from(value()?),
                "--peers" => found.peers = PathBuf::from(value()?),
                _ => return Err(format!("what is {word}?")),
            }
        }
        Ok(found)
    }

    /// Whether a contestant of this name is wanted.
    pub fn wants(&self, contestant: &str) -> bool {
        self.contestants.is_empty() || self.contestants.iter().any(|it| contestant.contains(it))
    }

    /// Whether something that usually runs was left out or cut short, so that not every goal can
    /// be judged, or not as well.
    pub fn is_partial(&self) -> bool {
        self.quick
            || self.messages.is_some()
            || self.placement.is_some()
            || !self.contestants.is_empty()
            || !self.sizes.is_empty()
    }

    /// The form of the run, in words: what a report says of it.
    pub fn form(&self) -> &'static str {
        if self.quick {
            "quick"
        } else if self.is_partial() {
            "partial"
        } else {
            "whole"
        }
    }
}

fn proof(text: &str) -> Result<(String, u32), String> {
    let parts = text.split_once('=');
    let parsed = parts.and_then(|(name, failed)| Some((name.to_owned(), failed.parse().ok()?)));
    parsed.ok_or_else(|| format!("{text} is no goal and a number"))
}

fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{text} is not a number above 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Arguments::parse(&words)
    }

    #[test]
    fn words_say_what_is_wanted() {
        let found =
            parse("latency --quick --messages 500 --sizes 16,63000 --placement free").unwrap();
        assert!(found.quick && found.is_partial());
        assert_eq!(found.messages, Some(500));
        assert_eq!(found.sizes, [16, 63_000]);
        assert_eq!(found.placement, Some(Placement::Free));
        let found = parse("calls --proof calls.none=0 --proof calls.some=2").unwrap();
        let wanted = [("calls.none".to_owned(), 0), ("calls.some".to_owned(), 2)];
        assert_eq!(found.proofs, wanted);
        assert!(!found.is_partial());
        let found = parse("latency --contestant raw --contestant listener").unwrap();
        assert!(found.wants("raw calls") && found.wants("cyclone listener"));
        assert!(!found.wants("cyclone waitset"));
    }

    #[test]
    fn only_a_run_of_everything_is_whole() {
        for (line, form) in [
            ("latency", "whole"),
            ("latency --out x --peers y", "whole"),
            ("latency --quick", "quick"),
            ("calls --messages 5", "partial"),
            ("throughput --sizes 16", "partial"),
            ("latency --placement free", "partial"),
            ("footprint --contestant raw", "partial"),
        ] {
            let found = parse(line).unwrap();
            assert_eq!(found.form(), form, "{line}");
            assert_eq!(found.is_partial(), form != "whole", "{line}");
        }
    }

    #[test]
    fn options_that_would_say_nothing_are_refused() {
        for line in [
            "throughput --messages 5",
            "calls --placement one-core",
            "calls --sizes 16",
            "polling --messages 5",
            "polling --sizes 16",
            "polling --contestant take",
            "footprint --messages 5",
            "footprint --sizes 16",
            "footprint --placement free",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let why = format!("{} takes no {}", words[0], words[1]);
            assert_eq!(parse(line), Err(why));
        }
    }

    #[test]
    fn bad_words_are_refused_by_name() {
        for (line, why) in [
            ("", "which bench?"),
            ("speed", "there is no bench speed"),
            ("latency --fast", "what is --fast?"),
            ("latency --messages", "--messages needs a value"),
            ("latency --messages 0", "0 is not a number above 0"),
            ("latency --messages ten", "ten is not a number above 0"),
            ("calls --proof a=b", "a=b is no goal and a number"),
            ("calls --proof a", "a is no goal and a number"),
            ("latency --sizes 16,,32", " is not a number above 0"),
        ] {
            assert_eq!(parse(line), Err(why.to_owned()), "{line}");
        }
        assert!(parse("latency --placement moon").is_err());
    }
}
