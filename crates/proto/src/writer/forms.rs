//! Whom compressed changes reach.

use alloc::vec::Vec;

use whimbrel_base::locator::Locator;

use super::change::{Change, Form};

/// Whom compressed changes reach.
#[derive(Debug, Default)]
pub(super) struct Forms {
    /// Some reader takes them, be it one that stands aside.
    pub(super) packed: bool,
    /// Some reader is sent them.
    pub(super) wanted: bool,
    /// Every reader does.
    pub(super) all: bool,
    /// Where the others listen, and where those that stand apart do.
    pub(super) divided: Option<(Vec<Locator>, Vec<Locator>)>,
}

impl Forms {
    /// The form in which all readers that do not stand apart get changes.
    pub(super) fn shared(&self) -> Form {
        if self.all { Form::Packed } else { Form::Plain }
    }

    /// True where some addresses get plain changes and others compressed ones.
    pub(super) fn is_divided(&self) -> bool {
        self.divided.is_some()
    }

    /// The addresses at which plain changes are wanted, and those at which compressed ones are,
    /// where that differs for this change.
    pub(super) fn divided(&self, change: &Change) -> Option<(&[Locator], &[Locator])> {
        let (plain, apart) = self.divided.as_ref()?;
        change.packed.smaller().map(|_| (&**plain, &**apart))
    }
}
