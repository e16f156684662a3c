//! What the doctor finds.

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Severity {
    /// It keeps participants from meeting, or data from arriving.
    Serious,
    /// It may.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Serious => "serious",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A cause and its cure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Finding {
    pub(super) severity: Severity,
    /// A stable name for programs.
    pub(super) id: &'static str,
    pub(super) cause: String,
    pub(super) cure: String,
}
