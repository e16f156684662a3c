//! Where the two processes of a contestant run.

use std::fmt;

/// Cores and hosts of the two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// One host, each process on a core of its own.
    TwoCores,
    /// One host, both on one core: no wake-up across cores hides what software costs.
    OneCore,
    /// One host, wherever the scheduler puts them.
    Free,
    /// Two network namespaces joined by a cable, each process on a core of its own.
    TwoHosts,
}

impl Placement {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::TwoCores, Self::OneCore, Self::Free, Self::TwoHosts];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::TwoCores => "two-cores",
            Self::OneCore => "one-core",
            Self::Free => "free",
            Self::TwoHosts => "two-hosts",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// There is none; the text names all.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| {
            format!(
                "no placement {name}: {}",
                Self::ALL.map(Self::name).join(", ")
            )
        })
    }

    /// The core of the process that measures and of the one that answers; none where the
    /// scheduler decides.
    pub fn cores(self) -> Option<[u32; 2]> {
        match self {
            Self::TwoCores | Self::TwoHosts => Some([0, 1]),
            Self::OneCore => Some([0, 0]),
            Self::Free => None,
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for placement in Placement::ALL {
            assert_eq!(Placement::named(placement.name()), Ok(placement));
        }
        let why = Placement::named("nowhere").unwrap_err();
        assert!(
            why.ends_with("two-cores, one-core, free, two-hosts"),
            "{why}"
        );
    }
}
