//! Shared octets that an encoding leaves out belong where it says.

use whimbrel_base::buffer::{GatheredBytes, SharedBytes};
use whimbrel_base::cursor::Endian;
use whimbrel_derive::DdsType;
use whimbrel_types::{DdsType, Representation, from_payload, to_payload, to_payload_apart};

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", final)]
struct Plain {
    before: u8,
    bytes: SharedBytes,
    after: u64,
}

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types")]
struct Grown {
    name: String,
    parts: Vec<Plain>,
    more: SharedBytes,
    last: u16,
}

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types")]
struct Optional {
    bytes: Option<SharedBytes>,
    rest: SharedBytes,
    late: Option<Plain>,
    end: u64,
}

fn octets(len: usize) -> SharedBytes {
    (0..len).map(|it| it as u8).collect::<Vec<u8>>().into()
}

fn plain(len: usize) -> Plain {
    Plain {
        before: 7,
        bytes: octets(len),
        after: 0x0102_0304_0506_0708,
    }
}

/// Encodes `value` in every way, at the end of a buffer that is not empty; whether something was
/// left out is as `expected` in the two representations.
fn check<T: DdsType + PartialEq + std::fmt::Debug>(value: &T, expected: [bool; 2]) {
    let representations = [Representation::Xcdr1, Representation::Xcdr2];
    for (representation, expected) in representations.into_iter().zip(expected) {
        for endian in [Endian::Little, Endian::Big] {
            let mut whole = Vec::new();
            to_payload(value, representation, endian, &mut whole).unwrap();
            let mut out = Vec::new();
            let apart = to_payload_apart(value, representation, endian, &mut out, 100).unwrap();
            assert_eq!(apart.is_some(), expected, "{value:?} {representation:?}");
            let gathered = match apart {
                Some(apart) => GatheredBytes::new(out.into(), apart.at, apart.bytes),
                None => SharedBytes::from(out).into(),
            };
            assert_eq!(*gathered.whole(), *whole, "{value:?} {representation:?}");
            assert_eq!(&from_payload::<T>(&gathered.whole()).unwrap(), value);
        }
    }
}

#[test]
fn what_is_left_out_belongs_where_it_says() {
    for len in [0, 99, 100, 101, 102, 103, 107, 300] {
        check(&plain(len), [len >= 100; 2]);
        for first in [0, 3, 100, 203] {
            let value = Grown {
                name: "x".repeat(len % 5),
                parts: vec![plain(first), plain(len), plain(5)],
                more: octets(len + 1),
                last: 9,
            };
            check(&value, [first.max(len + 1) >= 100; 2]);
        }
    }
}

#[test]
fn nothing_is_left_out_of_a_parameter_whose_header_may_grow() {
    let some = |bytes: usize, rest: usize, late: usize| Optional {
        bytes: Some(octets(bytes)),
        rest: octets(rest),
        late: Some(plain(late)),
        end: 3,
    };
    check(&some(300, 5, 5), [false, true]);
    check(&some(300, 300, 5), [true, true]);
    check(&some(70_000, 103, 70_000), [true, true]);
    check(&some(5, 5, 300), [false, true]);
}
