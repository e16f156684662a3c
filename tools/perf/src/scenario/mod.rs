//! What can be measured, by name.

mod account;
mod codecs;
mod compressed;
mod figures;
mod latency;
mod published;
mod schedule;
mod setting;
mod streams;

use std::path::PathBuf;

use crate::failure::Failure;
use crate::report::Histograms;
use crate::report::model::{Section, State};
use crate::stop;
use crate::world::{Link, Place};
pub(crate) use codecs::describe;
pub(crate) use setting::{Extent, Setting};

/// A scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) seed: &'static str,
    pub(crate) title: &'static str,
    pub(crate) shows: &'static str,
    pub(crate) what: What,
}

/// What a scenario does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// Ping-pong of all products.
    Peers(Place),
    /// Ping-pong of samples of a payload over a slow cable.
    Compressed(Link),
    /// Streams with and without compression.
    CompressedStreams,
    /// Codecs alone.
    Codecs,
    /// What batches save.
    Savings,
    /// Streams over sizes.
    Bundles,
    /// Samples on a schedule.
    Schedule,
    /// What it needs does not exist yet.
    Waiting(&'static str),
}

const NO_FILTERS: &str = "content-filtered topics do not exist yet";
const NO_TREES: &str = "JSON, XML and YAML do not exist as data representations yet";
const NO_EMULATOR: &str = "JSON, XML and YAML do not exist yet, nor the emulator of long paths";

/// What samples hold where their content does not matter.
pub(crate) const CONSTANT: &str =
    "payload: one octet again and again, entropy 0.00 bits for each octet";

/// All scenarios, seed by seed.
#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    Scenario { name: "comp-lat", seed: "S0", title: "latency of compressed text over 100 Mbit/s",
        shows: "Median one-way latency of a sample of log text over a cable of 100 Mbit/s, plain \
            and with each codec, by size: where a line is below that of “none”, the codec wins \
            more on the cable than it costs on the cores.",
        what: What::Compressed(Link::FAST_ETHERNET) },
    Scenario { name: "comp-lat-gbit", seed: "S0", title: "the same over 1 Gbit/s",
        shows: "Median one-way latency of a sample of log text over a cable of 1 Gbit/s, as in the \
            benchmark of S0, plain and with each codec, by size.",
        what: What::Compressed(Link::GIGABIT) },
    Scenario { name: "comp-codec", seed: "S0", title: "codecs on log text, without a bus",
        shows: "What compressing, a wire of 1 Gbit/s and decompressing take together, by size: a \
            codec is worth it where its line is below that of the plain wire.",
        what: What::Codecs },
    Scenario { name: "comp-bw-batch", seed: "S0", title: "bandwidth saved by ZLIB and batches",
        shows: "How much of a log ZLIB at its best level saves when lines are compressed one by \
            one and in batches: of the payload alone, and of all octets on the wire, beside what \
            was published.",
        what: What::Savings },
    Scenario { name: "cft", seed: "S1", title: "content filters against unicast and multicast",
        shows: "", what: What::Waiting(NO_FILTERS) },
    Scenario { name: "flex-size", seed: "S2", title: "sizes of CDR, XML, JSON and YAML",
        shows: "", what: What::Waiting(NO_TREES) },
    Scenario { name: "flex-lan", seed: "S2", title: "round trips of CDR, XML, JSON and YAML",
        shows: "", what: What::Waiting(NO_TREES) },
    Scenario { name: "flex-comp-lan", seed: "S2", title: "the same compressed",
        shows: "", what: What::Waiting(NO_TREES) },
    Scenario { name: "flex-wan", seed: "S2", title: "the same over five long paths",
        shows: "", what: What::Waiting(NO_EMULATOR) },
    Scenario { name: "lat3-inter", seed: "S3", title: "latency between two processes of one host",
        shows: "Median one-way latency between two processes of one host over UDP, by size: \
            RELIABLE, KEEP_LAST 1, VOLATILE, a listener on each side.",
        what: What::Peers(Place::Inter) },
    Scenario { name: "lat3-intra", seed: "S3", title: "latency within one process",
        shows: "Median one-way latency between two participants of one process, by size; each \
            product takes the way that it takes without settings.",
        what: What::Peers(Place::Intra) },
    Scenario { name: "lat3-dual", seed: "S3", title: "latency between two hosts",
        shows: "Median one-way latency between two hosts joined by a virtual cable of unlimited \
            rate, by size.",
        what: What::Peers(Place::Dual(None)) },
    Scenario { name: "bundle", seed: "S4", title: "rates of small messages",
        shows: "How many samples per second arrive of one writer as fast as it goes, by size, each \
            alone (“off”), sharing messages up to 1400 and 5000 octets, and as it comes.",
        what: What::Bundles },
    Scenario { name: "mak-compress", seed: "S4", title: "rates of compressed messages",
        shows: "How many samples per second arrive of one writer as fast as it goes, plain and \
            through ZLIB, of log text and of noise, over a cable without limit and over one of \
            100 Mbit/s, by size.",
        what: What::CompressedStreams },
    Scenario { name: "schedule", seed: "ours", title: "latency at fixed rates",
        shows: "Latency of samples that leave by a schedule whether or not answers come: counted \
            from the schedule it contains what a late sample does to those behind it, which a \
            ping-pong hides.",
        what: What::Schedule },
];

impl Scenario {
    /// The scenario `name`, or all whose name begins with it and a hyphen.
    ///
    /// # Errors
    /// There is none; the text names all.
    pub(crate) fn named(name: &str) -> Result<Vec<Self>, Failure> {
        let group = format!("{name}-");
        let found: Vec<Self> = ALL
            .iter()
            .filter(|it| it.name == name || it.name.starts_with(&group))
            .copied()
            .collect();
        if found.is_empty() {
            let names: Vec<&str> = ALL.iter().map(|it| it.name).collect();
            let names = names.join(", ");
            return Err(Failure::Setup(format!(
                "no scenario {name}: there are {names}"
            )));
        }
        Ok(found)
    }

    /// The scenarios of `seed`, or of all seeds.
    ///
    /// # Errors
    /// There is no such seed.
    pub(crate) fn of_seed(seed: &str) -> Result<Vec<Self>, Failure> {
        let wanted = |it: &&Self| {
            it.seed.eq_ignore_ascii_case(seed)
                || (seed.eq_ignore_ascii_case("all") && it.seed != "ours")
        };
        let found: Vec<Self> = ALL.iter().filter(wanted).copied().collect();
        if found.is_empty() || seed == "ours" {
            let why = format!("no seed {seed}: there are S0, S1, S2, S3, S4 and all");
            return Err(Failure::Setup(why));
        }
        Ok(found)
    }

    /// Measures; what stops it is told in the section, which has what was measured until then.
    ///
    /// # Errors
    /// A signal; the section is whole even then.
    pub(crate) fn run(
        self,
        setting: &Setting,
        histograms: &mut Histograms,
    ) -> (Section, Result<(), Failure>) {
        let mut section = Section {
            name: self.name.into(),
            seed: self.seed.into(),
            title: self.title.into(),
            shows: self.shows.into(),
            published: published::of(self.name),
            ..Section::default()
        };
        if matches!(self.what, What::Peers(_) | What::Bundles | What::Schedule) {
            section.notes.push(CONSTANT.into());
        }
        let outcome = match self.what {
            What::Waiting(why) => {
                section.state = State::Waiting(why.into());
                Ok(())
            }
            What::Peers(place) => latency::peers(setting, place, &mut section, histograms),
            What::Compressed(link) => {
                compressed::latencies(setting, link, &mut section, histograms)
            }
            What::CompressedStreams => compressed::streams(setting, &mut section),
            What::Codecs => codecs::blocks(setting, &mut section),
            What::Savings => codecs::savings(setting, &mut section),
            What::Bundles => streams::bundles(setting, &mut section),
            What::Schedule => schedule::rates(setting, &mut section, histograms),
        };
        match outcome {
            Err(Failure::Setup(why)) => {
                section.state = State::Skipped(why);
                (section, Ok(()))
            }
            // Ctrl-C reaches the processes that are measured too.
            Err(Failure::Broke(why)) if stop::check().is_err() => {
                section.state = State::Broke(why);
                (section, stop::check())
            }
            Err(Failure::Broke(why)) => {
                section.state = State::Broke(why.clone());
                (
                    section,
                    Err(Failure::Broke(format!("{}: {why}", self.name))),
                )
            }
            Err(Failure::Signal(number)) => {
                section.state = State::Broke(format!("signal {number}"));
                (section, Err(Failure::Signal(number)))
            }
            other => (section, other),
        }
    }
}

/// Where the peers' programs are unless said otherwise.
pub(crate) fn peers_folder() -> PathBuf {
    PathBuf::from("target/peers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_have_their_names_once() {
        for scenario in ALL {
            let found = Scenario::named(scenario.name).unwrap();
            assert_eq!(found[0].name, scenario.name);
            let waits = matches!(scenario.what, What::Waiting(_));
            assert_eq!(scenario.shows.is_empty(), waits, "{}", scenario.name);
        }
        assert_eq!(Scenario::named("lat3").unwrap().len(), 3);
        assert_eq!(Scenario::named("flex").unwrap().len(), 4);
        assert!(Scenario::named("nothing").is_err());
    }

    #[test]
    fn every_seed_has_scenarios() {
        let mut count = 0;
        for seed in ["S0", "s1", "S2", "S3", "S4"] {
            count += Scenario::of_seed(seed).unwrap().len();
        }
        assert_eq!(Scenario::of_seed("all").unwrap().len(), count);
        for seed in ["S5", "ours", ""] {
            assert!(Scenario::of_seed(seed).is_err(), "{seed}");
        }
    }
}
