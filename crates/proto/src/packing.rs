//! To which addresses messages leave compressed as a whole.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;

use whimbrel_base::locator::Locator;

/// To which addresses messages leave compressed as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) enum Packing {
    /// To none.
    #[default]
    Nowhere,
    /// To all.
    Everywhere,
    /// To some.
    Some(Arc<Sides>),
}

/// Addresses, divided.
#[derive(Debug)]
pub(crate) struct Sides {
    all: Vec<Locator>,
    taking: Vec<Locator>,
    others: Vec<Locator>,
}

impl Packing {
    /// To those of `all` that `takes` names.
    pub(crate) fn of(all: &[Locator], takes: impl Fn(&Locator) -> bool) -> Self {
        let (taking, others): (Vec<_>, Vec<_>) = all.iter().copied().partition(takes);
        if others.is_empty() {
            return Self::Everywhere;
        }
        if taking.is_empty() {
            return Self::Nowhere;
        }
        let all = all.to_vec();
        Self::Some(Arc::new(Sides {
            all,
            taking,
            others,
        }))
    }

    /// True where there is such an address.
    pub(crate) fn is_somewhere(&self) -> bool {
        !matches!(self, Self::Nowhere)
    }
}

impl Sides {
    /// Those of `to` that take what is compressed, and the others.
    pub(crate) fn of<'a>(&'a self, to: &[Locator]) -> (Cow<'a, [Locator]>, Cow<'a, [Locator]>) {
        if to == self.all {
            return (Cow::Borrowed(&self.taking), Cow::Borrowed(&self.others));
        }
        let takes = |it: &Locator| self.taking.contains(it);
        let (taking, others): (Vec<_>, Vec<_>) = to.iter().copied().partition(takes);
        (Cow::Owned(taking), Cow::Owned(others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::SocketAddr;

    #[test]
    fn addresses_are_divided_by_who_takes_what_is_compressed() {
        let at = |port| Locator::from(SocketAddr::from(([127, 0, 0, 1], port)));
        let all = [at(1), at(2), at(3)];
        let odd = |to: &Locator| to.port % 2 == 1;
        let Packing::Some(sides) = Packing::of(&all, odd) else {
            panic!("some do")
        };
        let (taking, others) = sides.of(&all);
        assert_eq!((&*taking, &*others), (&[at(1), at(3)][..], &[at(2)][..]));
        // Whoever is not known takes nothing that is compressed.
        let (taking, others) = sides.of(&[at(2), at(3), at(5)]);
        assert_eq!((&*taking, &*others), (&[at(3)][..], &[at(2), at(5)][..]));
        assert!(matches!(Packing::of(&all, |_| true), Packing::Everywhere));
        assert!(!Packing::of(&all, |_| false).is_somewhere());
    }
}
