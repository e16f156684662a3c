//! What an option is.

/// Who may say an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Publisher,
    Subscriber,
}

/// What follows the name of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    None,
    /// A whole number within these bounds.
    Number(i64, i64),
    /// As `Number`, or nothing.
    OptionalNumber(i64, i64),
    /// One or two numbers with a colon between.
    Range(i64, i64),
    /// Numbers with colons between, or nothing.
    OptionalNumbers(i64, i64),
    /// A number, then perhaps a colon and `spin` or `sleep`.
    Rate(i64),
    /// One of these, in any case.
    OneOf(&'static [&'static str]),
    Text,
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Works,
    /// It changes nothing here, for the reason given.
    Idle(&'static str),
    /// It is an error, for the reason given.
    Refused(&'static str),
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) argument: Argument,
    pub(super) side: Side,
    pub(super) standing: Standing,
    pub(super) meaning: &'static str,
}
