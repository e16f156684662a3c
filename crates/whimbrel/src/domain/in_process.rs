//! How samples reach readers of the same process.

use std::fmt;
use std::str::FromStr;

use super::nearest::nearest;
use crate::error::Error;

/// How samples reach readers of the same process.
///
/// Discovery, matching and QoS are the same either way, and nobody else sees a difference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum InProcess {
    /// Past the network, and the reader's own listener hears of them within the write: on the
    /// writing thread, before `write` returns. A program must then hold no lock while it writes
    /// that such a listener takes.
    #[default]
    Direct,
    /// Past the network, but listeners are called by the callback thread as for other samples.
    Queued,
    /// As [`InProcess::Queued`], but encoded, once for all readers: none gets a copy of the value,
    /// nor one that is shared.
    Encoded,
    /// By the network, as to another process.
    Off,
}

const NAMES: [(InProcess, &str); 4] = [
    (InProcess::Direct, "direct"),
    (InProcess::Queued, "queued"),
    (InProcess::Encoded, "encoded"),
    (InProcess::Off, "off"),
];

impl fmt::Display for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(it, _)| it == self);
        f.write_str(name.map_or("", |(_, name)| name))
    }
}

impl FromStr for InProcess {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let known = NAMES.iter().find(|(_, name)| *name == text);
        known.map(|(it, _)| *it).ok_or_else(|| {
            let meant = nearest(text, NAMES.map(|(_, name)| name));
            let meant = meant.map_or_else(String::new, |it| format!("; did you mean {it:?}?"));
            Error::BadParameter(format!(
                "{text:?} is not direct, queued, encoded or off{meant}"
            ))
        })
    }
}
