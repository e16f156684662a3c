//! What is tried, with whom, and what the other products cannot do.

use std::fmt;
use std::str::FromStr;

use super::shared::previous_versions;

/// A product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    Cyclone,
    CyclonePy,
    FastDds,
    Whimbrel,
    /// The newest release before this tree.
    Previous,
    /// The release before that.
    PreviousButOne,
}

impl Peer {
    const ALL: [Self; 6] = [
        Self::Cyclone,
        Self::CyclonePy,
        Self::FastDds,
        Self::Whimbrel,
        Self::Previous,
        Self::PreviousButOne,
    ];

    /// Its name on the command line and in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cyclone => "cyclone",
            Self::CyclonePy => "cyclone_py",
            Self::FastDds => "fastdds",
            Self::Whimbrel => "whimbrel",
            Self::Previous => "whimbrel-previous",
            Self::PreviousButOne => "whimbrel-previous-but-one",
        }
    }

    /// True for a peer that goes when its standard input ends.
    pub(crate) const fn leaves_on_request(self) -> bool {
        self.is_whimbrel()
    }

    /// Whimbrel of any release.
    pub(crate) const fn is_whimbrel(self) -> bool {
        matches!(self, Self::Whimbrel | Self::Previous | Self::PreviousButOne)
    }

    /// False for previous releases, which are played only where they are asked for.
    pub(crate) const fn is_played_always(self) -> bool {
        !matches!(self, Self::Previous | Self::PreviousButOne)
    }

    /// Cyclone DDS in any version.
    pub(crate) const fn is_cyclone(self) -> bool {
        matches!(self, Self::Cyclone | Self::CyclonePy)
    }
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|peer| peer.name() == text)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                format!("--peer: {text} is none of {names}")
            })
    }
}

/// Who publishes and who subscribes; one of them is Whimbrel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) publisher: Peer,
    pub(crate) subscriber: Peer,
}

impl Pair {
    /// All pairs, in the order of the table's columns.
    pub(crate) const ALL: &[Self] = &[
        Self::to(Peer::Cyclone),
        Self::from(Peer::Cyclone),
        Self::to(Peer::CyclonePy),
        Self::from(Peer::CyclonePy),
        Self::to(Peer::FastDds),
        Self::from(Peer::FastDds),
        Self::to(Peer::Whimbrel),
    ];

    /// With the previous releases, as many as there are.
    pub(crate) fn with_previous() -> Vec<Self> {
        let releases = [Peer::Previous, Peer::PreviousButOne].into_iter();
        releases
            .zip(previous_versions())
            .flat_map(|(peer, _)| [Self::to(peer), Self::from(peer)])
            .collect()
    }

    pub(crate) const fn to(subscriber: Peer) -> Self {
        Self {
            publisher: Peer::Whimbrel,
            subscriber,
        }
    }

    pub(crate) const fn from(publisher: Peer) -> Self {
        Self {
            publisher,
            subscriber: Peer::Whimbrel,
        }
    }

    /// The one that is not Whimbrel, or Whimbrel where both are.
    pub(crate) fn other(self) -> Peer {
        if self.publisher == Peer::Whimbrel {
            self.subscriber
        } else {
            self.publisher
        }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}", self.publisher.name(), self.subscriber.name())
    }
}

/// How a case goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Course {
    /// Both start at once; the publisher waits for the match.
    Together,
    /// The subscriber starts once everything is written.
    Late,
    /// As together; then the publisher leaves and the subscriber must notice.
    PublisherLeaves,
    /// As together; then the subscriber leaves and the publisher must notice.
    SubscriberLeaves,
    /// As together; then the publisher is killed and the subscriber must notice by its lease.
    PublisherKilled,
}

/// Which of the samples must arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// All, in order.
    All,
    /// The last of each key.
    Newest,
    /// As many as the subscriber waits for, in order.
    Some,
}

/// Where the two run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// One host, loopback, no multicast.
    Loopback,
    /// Two hosts on a network with multicast and no setting.
    Multicast,
    /// Two hosts on a network without multicast, each told of the other.
    Peers,
}

/// A case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) both: &'static str,
    pub(crate) publisher: &'static str,
    pub(crate) subscriber: &'static str,
    pub(crate) course: Course,
    pub(crate) arrival: Arrival,
    pub(crate) place: Place,
    /// Lines the subscriber must print (the publisher where the subscriber leaves).
    pub(crate) lines: &'static [&'static str],
}

const PLAIN: Case = Case {
    name: "",
    both: "",
    publisher: "",
    subscriber: "",
    course: Course::Together,
    arrival: Arrival::All,
    place: Place::Loopback,
    lines: &[],
};

const SHAPE: &str = "--type shape --keep-all";
const RED_BLUE: &str = "--key RED,BLUE";
/// With `--count` a multiple of four, what a history of one sample a key still holds has a hole:
/// the newest RED, two BLUE that are gone, the newest BLUE. A late reader is told of it by a GAP.
const RED_THEN_BLUE: &str = "--key RED,BLUE,BLUE,BLUE --count 20";
const TELEMETRY: &str = "--key 1,2,4294967295";
const GONE: &[&str] = &["unmatched 0"];
const GONE_NO_WRITERS: &[&str] = &[
    "unmatched 0",
    "state RED no_writers",
    "state BLUE no_writers",
];

/// The rows of the table. `{xcdr}` becomes what the other product can do with appendable types.
pub(crate) const CASES: &[Case] = &[
    Case {
        name: "keyed-reliable",
        both: SHAPE,
        publisher: "--key RED,GREEN,BLUE --count 21",
        subscriber: "--count 21",
        ..PLAIN
    },
    Case {
        name: "keyed-best-effort",
        both: "--type shape --keep-all --best-effort",
        publisher: "--key RED,BLUE --count 50",
        subscriber: "--count 20",
        arrival: Arrival::Some,
        ..PLAIN
    },
    Case {
        name: "unkeyed-reliable",
        both: "--type keyless --keep-all",
        ..PLAIN
    },
    Case {
        name: "unkeyed-best-effort",
        both: "--type keyless --keep-all --best-effort",
        publisher: "--count 50",
        subscriber: "--count 20",
        arrival: Arrival::Some,
        ..PLAIN
    },
    Case {
        name: "best-effort-reader",
        both: SHAPE,
        publisher: "--reliable --count 50",
        subscriber: "--best-effort --count 20",
        arrival: Arrival::Some,
        ..PLAIN
    },
    Case {
        name: "burst",
        both: "--type keyless --keep-all --count 2000",
        publisher: "--period-ms 0 --size 100",
        ..PLAIN
    },
    Case {
        name: "1MiB",
        both: "--type keyless --keep-all --count 4",
        publisher: "--size 1048576",
        ..PLAIN
    },
    Case {
        name: "1MiB-late",
        both: "--type keyless --keep-all --count 3 --transient-local",
        publisher: "--size 1048576",
        course: Course::Late,
        ..PLAIN
    },
    Case {
        name: "late-joiner",
        both: "--type shape --keep-all --transient-local",
        publisher: RED_BLUE,
        course: Course::Late,
        ..PLAIN
    },
    Case {
        name: "late-joiner-newest",
        both: "--type shape --keep-last 1 --transient-local",
        publisher: RED_THEN_BLUE,
        subscriber: "--count 2",
        course: Course::Late,
        arrival: Arrival::Newest,
        ..PLAIN
    },
    Case {
        name: "xcdr1-final",
        both: "--type shape --keep-all --xcdr 1",
        publisher: RED_BLUE,
        ..PLAIN
    },
    Case {
        name: "xcdr2-final",
        both: "--type shape --keep-all --xcdr 2",
        publisher: RED_BLUE,
        ..PLAIN
    },
    Case {
        name: "xcdr1-appendable",
        both: "--type telemetry --keep-all --xcdr 1",
        publisher: TELEMETRY,
        ..PLAIN
    },
    Case {
        name: "xcdr2-appendable",
        both: "--type telemetry --keep-all --xcdr 2",
        publisher: TELEMETRY,
        ..PLAIN
    },
    Case {
        name: "dispose",
        both: SHAPE,
        publisher: "--key RED,BLUE --dispose RED",
        lines: &["state RED disposed"],
        ..PLAIN
    },
    Case {
        name: "dispose-long-key",
        both: SHAPE,
        publisher: "--key A-COLOR-WHOSE-NAME-IS-LONGER-THAN-A-KEY-HASH,BLUE \
                    --dispose A-COLOR-WHOSE-NAME-IS-LONGER-THAN-A-KEY-HASH",
        lines: &["state A-COLOR-WHOSE-NAME-IS-LONGER-THAN-A-KEY-HASH disposed"],
        ..PLAIN
    },
    Case {
        name: "dispose-number",
        both: "--type telemetry --keep-all --xcdr {xcdr}",
        publisher: "--key 1,2 --dispose 1",
        lines: &["state 1 disposed"],
        ..PLAIN
    },
    Case {
        name: "unregister",
        both: SHAPE,
        publisher: "--key RED,BLUE --unregister RED",
        lines: &["state RED no_writers"],
        ..PLAIN
    },
    Case {
        name: "unregister-number",
        both: "--type telemetry --keep-all --xcdr {xcdr}",
        publisher: "--key 1,2 --unregister 1",
        lines: &["state 1 no_writers"],
        ..PLAIN
    },
    Case {
        name: "departure",
        both: SHAPE,
        publisher: RED_BLUE,
        course: Course::PublisherLeaves,
        lines: GONE,
        ..PLAIN
    },
    Case {
        name: "departure-states",
        both: SHAPE,
        publisher: RED_BLUE,
        course: Course::PublisherLeaves,
        lines: GONE_NO_WRITERS,
        ..PLAIN
    },
    Case {
        name: "reader-departure",
        both: SHAPE,
        publisher: RED_BLUE,
        course: Course::SubscriberLeaves,
        lines: GONE,
        ..PLAIN
    },
    Case {
        name: "killed",
        both: SHAPE,
        publisher: "--key RED,BLUE --lease-ms 2000",
        course: Course::PublisherKilled,
        lines: GONE,
        ..PLAIN
    },
    Case {
        name: "lossy",
        both: "--type shape --keep-all --count 200 {faults}",
        publisher: "--key RED,BLUE --period-ms 1",
        ..PLAIN
    },
    Case {
        name: "lossy-1MiB",
        both: "--type keyless --keep-all --count 3 {faults}",
        publisher: "--size 1048576",
        ..PLAIN
    },
    Case {
        name: "lossy-newest",
        both: "--type shape --keep-last 1 {faults}",
        publisher: "--key RED,BLUE,BLUE,BLUE --count 200 --period-ms 0",
        subscriber: "--count 1",
        arrival: Arrival::Some,
        lines: &["received 200 BLUE 8d2a848b 16"],
        ..PLAIN
    },
    Case {
        name: "compressed",
        both: "--type keyless --keep-all --count 300",
        publisher: "--period-ms 0 --size 3000 --compress zlib --bundle 20000 --beside",
        ..PLAIN
    },
    Case {
        name: "compressed-alone",
        both: "--type keyless --keep-all --count 300",
        publisher: "--period-ms 0 --size 3000 --compress zlib --beside",
        ..PLAIN
    },
    Case {
        name: "compressed-lossy",
        both: "--type keyless --keep-all --count 300 {faults}",
        publisher: "--period-ms 0 --size 200 --compress lz4 --bundle 1400 --beside",
        ..PLAIN
    },
    Case {
        name: "two-hosts-multicast",
        both: SHAPE,
        publisher: RED_BLUE,
        place: Place::Multicast,
        ..PLAIN
    },
    Case {
        name: "two-hosts-1MiB",
        both: "--type keyless --keep-all --count 3",
        publisher: "--size 1048576",
        place: Place::Multicast,
        ..PLAIN
    },
    Case {
        name: "two-hosts-16kB",
        both: "--type keyless --keep-all --count 200",
        publisher: "--size 16000 --period-ms 0",
        place: Place::Multicast,
        ..PLAIN
    },
    Case {
        name: "two-hosts-peers",
        both: SHAPE,
        publisher: RED_BLUE,
        place: Place::Peers,
        ..PLAIN
    },
];

/// Something a product cannot do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limit {
    /// Why.
    pub(crate) why: &'static str,
    /// The peer says so itself, by exit code 4: the case is started, and fails if it does not.
    pub(crate) said: bool,
}

/// What keeps `pair` from playing `case`, and is not ours to mend.
pub(crate) fn limit(case: &str, pair: Pair) -> Option<Limit> {
    let other = pair.other();
    let said = |why| Some(Limit { why, said: true });
    let known = |why| Some(Limit { why, said: false });
    match (case, other) {
        ("compressed" | "compressed-alone" | "compressed-lossy", _)
            if pair.publisher != Peer::Whimbrel =>
        {
            known("it is about what a writer of this release does")
        }
        ("xcdr1-appendable", Peer::CyclonePy) if pair.publisher == Peer::Whimbrel => known(
            "Cyclone DDS 11.0.1 matches an XCDR1 writer of an appendable type and cannot decode it",
        ),
        ("dispose-number" | "unregister-number", Peer::Cyclone)
            if pair.publisher == Peer::Whimbrel =>
        {
            known(
                "Cyclone DDS 0.10.2 knows no delimiter in appendable keys, as 11.0.1 sends it too",
            )
        }
        ("xcdr1-appendable", peer) if peer.is_cyclone() => {
            said("Cyclone DDS has appendable types in XCDR2 only")
        }
        ("xcdr2-final" | "xcdr2-appendable", Peer::FastDds) => said("Fast DDS 2.9 has XCDR1 only"),
        ("departure-states", Peer::FastDds) if pair.subscriber == Peer::FastDds => {
            known("a Fast DDS 2.9 reader whose samples were taken reports no NO_WRITERS")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_limits_name_cases() {
        let names: BTreeSet<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), CASES.len());
        let limited = |case: &&Case| {
            Pair::ALL
                .iter()
                .any(|pair| limit(case.name, *pair).is_some())
        };
        let limited: Vec<&str> = CASES.iter().filter(limited).map(|case| case.name).collect();
        let expected = [
            "xcdr2-final",
            "xcdr1-appendable",
            "xcdr2-appendable",
            "dispose-number",
            "unregister-number",
            "departure-states",
            "compressed",
            "compressed-alone",
            "compressed-lossy",
        ];
        assert_eq!(limited, expected);
    }

    #[test]
    fn whimbrel_is_in_every_pair_and_has_no_limits() {
        for pair in Pair::ALL {
            assert!(pair.publisher == Peer::Whimbrel || pair.subscriber == Peer::Whimbrel);
        }
        let own = Pair::to(Peer::Whimbrel);
        assert!(CASES.iter().all(|case| limit(case.name, own).is_none()));
    }

    #[test]
    fn a_long_key_is_long() {
        let case = CASES
            .iter()
            .find(|case| case.name == "dispose-long-key")
            .unwrap();
        let key = case.publisher.split("--dispose ").nth(1).unwrap();
        assert!(key.len() > 16 && case.lines == [format!("state {key} disposed")]);
    }
}
