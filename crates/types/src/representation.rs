//! Data representations, extensibility kinds and encapsulation identifiers.

use whimbrel_base::cursor::Endian;
use whimbrel_base::qos::data_representation::{DataRepresentation, DataRepresentationId};

/// An encoding of user data. XTypes 1.3 §7.4, §7.6.3.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Representation {
    /// Extended CDR version 1: numbers aligned up to 8 octets, no delimiters.
    Xcdr1,
    /// Extended CDR version 2: numbers aligned up to 4 octets, delimiters around what may grow.
    Xcdr2,
}

impl Representation {
    /// The greatest alignment, in octets. XTypes 1.3 §7.4.1.1, §7.4.2.
    pub const fn align_max(self) -> usize {
        match self {
            Self::Xcdr1 => 8,
            Self::Xcdr2 => 4,
        }
    }

    /// Its identifier in the DATA_REPRESENTATION policy. XTypes 1.3 §7.6.3.1.1.
    pub const fn id(self) -> DataRepresentationId {
        match self {
            Self::Xcdr1 => DataRepresentationId::XCDR1,
            Self::Xcdr2 => DataRepresentationId::XCDR2,
        }
    }

    /// The representation with identifier `id`, where it is one of these two.
    pub fn from_id(id: DataRepresentationId) -> Option<Self> {
        [Self::Xcdr1, Self::Xcdr2]
            .into_iter()
            .find(|known| known.id() == id)
    }

    /// The one a writer with this policy uses: the first of its list, where it is one of these
    /// two. XTypes 1.3 §7.6.3.1.1.
    pub fn of_writer(policy: &DataRepresentation) -> Option<Self> {
        Self::from_id(policy.first())
    }
}

/// How a type may change without breaking its peers. XTypes 1.3 §7.2.2.4.6, §7.3.1.2.1.8.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extensibility {
    /// Never; the most compact encoding.
    Final,
    /// Members may be added at the end. What the standard gives a type that says nothing.
    Appendable,
}

/// The first two octets of a serialized payload. XTypes 1.3 §7.6.3.1.2, RTPS 2.5 §10.5.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EncapsulationId(pub u16);

impl EncapsulationId {
    /// What a value of a type with `extensibility` is sent under.
    pub const fn new(
        representation: Representation,
        extensibility: Extensibility,
        endian: Endian,
    ) -> Self {
        let big = match (representation, extensibility) {
            (Representation::Xcdr1, _) => 0x0000,
            (Representation::Xcdr2, Extensibility::Final) => 0x0006,
            (Representation::Xcdr2, Extensibility::Appendable) => 0x0008,
        };
        Self(match endian {
            Endian::Big => big,
            Endian::Little => big | 1,
        })
    }

    /// The representation, the byte order and whether the value is delimited; `None` for an
    /// encapsulation that is not decoded here.
    pub const fn parts(self) -> Option<(Representation, Endian, bool)> {
        let endian = Endian::from_flag(self.0 & 1 == 1);
        match self.0 & !1 {
            0x0000 => Some((Representation::Xcdr1, endian, false)),
            0x0006 => Some((Representation::Xcdr2, endian, false)),
            0x0008 => Some((Representation::Xcdr2, endian, true)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encapsulations_are_those_of_the_standard() {
        use Extensibility::{Appendable, Final};
        use Representation::{Xcdr1, Xcdr2};
        for (id, representation, extensibility, endian) in [
            (0, Xcdr1, Final, Endian::Big),
            (1, Xcdr1, Appendable, Endian::Little),
            (6, Xcdr2, Final, Endian::Big),
            (7, Xcdr2, Final, Endian::Little),
            (8, Xcdr2, Appendable, Endian::Big),
            (9, Xcdr2, Appendable, Endian::Little),
        ] {
            let made = EncapsulationId::new(representation, extensibility, endian);
            assert_eq!(made, EncapsulationId(id));
            assert_eq!(made.parts(), Some((representation, endian, id >= 8)));
        }
        for refused in [2, 3, 4, 10, 11, 0x100, 0xffff] {
            assert_eq!(EncapsulationId(refused).parts(), None);
        }
    }

    #[test]
    fn identifiers_go_both_ways() {
        for representation in [Representation::Xcdr1, Representation::Xcdr2] {
            assert_eq!(
                Representation::from_id(representation.id()),
                Some(representation)
            );
        }
        assert_eq!(Representation::from_id(DataRepresentationId(1)), None);
    }
}
