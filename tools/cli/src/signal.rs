//! The signals that end a command, and what it says and returns then.

use std::io::{self, IsTerminal};

use signal_hook::consts::{SIGINT, SIGTERM};

/// What a shell adds to the number of the signal that ended a command.
const EXIT_CODE_BASE: u8 = 128;

/// The signals that end a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    Terminate,
}

impl Signal {
    pub(crate) const ALL: [Self; 2] = [Self::Interrupt, Self::Terminate];

    /// Its number.
    pub(crate) const fn number(self) -> u8 {
        let number = match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
        };
        // Signals have small numbers, on every system.
        number as u8
    }

    /// The exit code of a command that it ended, as shells count.
    pub(crate) const fn exit_code(self) -> u8 {
        EXIT_CODE_BASE + self.number()
    }

    /// Its name.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }

    /// What goes in front of the last line: a terminal shows `^C` where that would begin.
    pub(crate) fn line_break(self) -> &'static str {
        if self == Self::Interrupt && io::stderr().is_terminal() {
            "\n"
        } else {
            ""
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_shells() {
        let codes = Signal::ALL.map(|it| (it.text(), it.exit_code()));
        assert_eq!(codes, [("SIGINT", 130), ("SIGTERM", 143)]);
    }
}
