//! Where a stream goes, and to how many.

use std::fmt;

use crate::arguments::Arguments;
use crate::placement::Placement;

/// Where the processes of a stream run, and how many of them read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Course {
    /// The writer has the first core, the readers share the second.
    pub(super) placement: Placement,
    pub(super) readers: usize,
}

impl Course {
    /// By which most goals go.
    pub(super) const MAIN: Self = Self::new(Placement::TwoCores, 1);

    /// To another host, by packets of 1500 octets.
    pub(super) const OTHER_HOST: Self = Self::new(Placement::TwoHosts, 1);

    const ALL: [Self; 3] = [
        Self::MAIN,
        Self::new(Placement::TwoCores, 4),
        Self::OTHER_HOST,
    ];

    const fn new(placement: Placement, readers: usize) -> Self {
        Self { placement, readers }
    }

    /// Those that are asked for.
    ///
    /// # Errors
    /// There is none of the placement.
    pub(super) fn wanted(arguments: &Arguments) -> Result<Vec<Self>, String> {
        let only = arguments.placement;
        let is_wanted = |it: &Self| only.is_none_or(|only| it.placement == only);
        let courses: Vec<Self> = Self::ALL.into_iter().filter(is_wanted).collect();
        if courses.is_empty() {
            return Err("streams have two-cores and two-hosts".to_owned());
        }
        Ok(courses)
    }
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} readers", self.placement, self.readers)
    }
}
