//! Golden bytes: what another implementation encodes, and what the rules of XTypes say.

use std::collections::BTreeMap;
use std::fmt::Debug;

use whimbrel_derive::DdsType;
use whimbrel_types::{
    DdsType, Endian, Representation, from_payload, key_hash_from_payload, key_hash_in,
    key_to_payload, to_payload,
};

use crate::golden_bytes as golden;

macro_rules! types {
    ($module:ident, $extensibility:tt) => {
        pub(crate) mod $module {
            use super::*;

            #[derive(DdsType, Clone, PartialEq, Debug)]
            #[dds(crate = "whimbrel_types", $extensibility)]
            pub(crate) struct Inner {
                #[dds(key)]
                pub(crate) a: u8,
                pub(crate) b: f64,
            }

            #[derive(DdsType, Clone, Copy, PartialEq, Debug)]
            #[dds(crate = "whimbrel_types", $extensibility)]
            pub(crate) enum Color {
                Red,
                Green = 5,
                Blue,
            }

            #[derive(DdsType, Clone, PartialEq, Debug)]
            #[dds(crate = "whimbrel_types", $extensibility)]
            pub(crate) enum Choice {
                #[dds(case = 1)]
                Number(i64),
                #[dds(case = [2, 3])]
                Text(String),
                Inner(Inner),
                #[dds(default, case = 9)]
                Other {
                    value: u8,
                },
            }

            #[derive(DdsType, Clone, PartialEq, Debug)]
            #[dds(crate = "whimbrel_types", $extensibility)]
            pub(crate) struct Numbers {
                pub(crate) flag: bool,
                pub(crate) s8: i8,
                pub(crate) u16: u16,
                pub(crate) i32: i32,
                pub(crate) u8: u8,
                pub(crate) f64: f64,
                pub(crate) f32: f32,
                pub(crate) i64: i64,
                pub(crate) text: String,
            }

            #[derive(DdsType, Clone, PartialEq, Debug)]
            #[dds(crate = "whimbrel_types", $extensibility)]
            pub(crate) struct Nested {
                pub(crate) x: u8,
                #[dds(key)]
                pub(crate) inner: Inner,
                #[dds(key)]
                pub(crate) y: u16,
            }

            #[derive(DdsType, Clone, PartialEq, Debug)]
            #[dds(crate = "whimbrel_types", $extensibility)]
            pub(crate) struct Seqs {
                pub(crate) octets: Vec<u8>,
                pub(crate) doubles: Vec<f64>,
                pub(crate) strings: Vec<String>,
                pub(crate) inners: Vec<Inner>,
                pub(crate) colors: Vec<Color>,
                pub(crate) rows: Vec<[i16; 3]>,
                pub(crate) empty: Vec<f64>,
                pub(crate) last: u8,
            }

            #[derive(DdsType, Clone, PartialEq, Debug)]
            #[dds(crate = "whimbrel_types", $extensibility)]
            pub(crate) struct Arrays {
                pub(crate) a: [i16; 3],
                pub(crate) grid: [[i32; 2]; 2],
                pub(crate) names: [String; 2],
                pub(crate) inners: [Inner; 2],
                pub(crate) tables: [[String; 1]; 2],
                pub(crate) colors: [Color; 2],
                pub(crate) last: u8,
            }

            #[derive(DdsType, Clone, PartialEq, Debug)]
            #[dds(crate = "whimbrel_types", $extensibility)]
            pub(crate) struct Opts {
                pub(crate) a: u8,
                pub(crate) b: Option<f64>,
                #[dds(optional)]
                pub(crate) c: Option<String>,
                pub(crate) d: Option<Inner>,
                pub(crate) e: u8,
            }

            #[derive(DdsType, Clone, PartialEq, Debug)]
            #[dds(crate = "whimbrel_types", $extensibility)]
            pub(crate) struct Chosen {
                pub(crate) first: u8,
                pub(crate) choices: Vec<Choice>,
                pub(crate) last: u8,
            }

            pub(crate) fn numbers() -> Numbers {
                Numbers {
                    flag: true,
                    s8: -2,
                    u16: 0x1234,
                    i32: -5,
                    u8: 9,
                    f64: 1.5,
                    f32: -2.25,
                    i64: -7,
                    text: "héllo".into(),
                }
            }

            pub(crate) fn nested() -> Nested {
                Nested {
                    x: 1,
                    inner: Inner { a: 2, b: 3.5 },
                    y: 0x0405,
                }
            }

            pub(crate) fn seqs() -> Seqs {
                Seqs {
                    octets: vec![1, 2, 3],
                    doubles: vec![1.5, -2.5],
                    strings: vec!["a".into(), "bcd".into()],
                    inners: vec![Inner { a: 1, b: 2.0 }, Inner { a: 3, b: 4.0 }],
                    colors: vec![Color::Blue, Color::Red],
                    rows: vec![[1, 2, 3], [-1, -2, -3]],
                    empty: vec![],
                    last: 7,
                }
            }

            pub(crate) fn arrays() -> Arrays {
                Arrays {
                    a: [1, 2, 3],
                    grid: [[1, 2], [3, 4]],
                    names: ["x".into(), "yz".into()],
                    inners: [Inner { a: 1, b: 2.0 }, Inner { a: 3, b: 4.0 }],
                    tables: [["p".into()], ["q".into()]],
                    colors: [Color::Green, Color::Blue],
                    last: 7,
                }
            }

            pub(crate) fn absent() -> Opts {
                Opts {
                    a: 1,
                    b: None,
                    c: None,
                    d: None,
                    e: 2,
                }
            }

            pub(crate) fn present() -> Opts {
                let d = Some(Inner { a: 3, b: 4.5 });
                Opts {
                    a: 1,
                    b: Some(2.5),
                    c: Some("hey".into()),
                    d,
                    e: 2,
                }
            }

            pub(crate) fn chosen() -> Chosen {
                let choices = vec![
                    Choice::Number(-3),
                    Choice::Text("ab".into()),
                    Choice::Inner(Inner { a: 1, b: 2.0 }),
                    Choice::Other { value: 8 },
                ];
                Chosen {
                    first: 1,
                    choices,
                    last: 7,
                }
            }
        }
    };
}

types!(fixed, final);
types!(growing, appendable);

pub(crate) const FORMS: [(Representation, Endian); 4] = [
    (Representation::Xcdr1, Endian::Big),
    (Representation::Xcdr1, Endian::Little),
    (Representation::Xcdr2, Endian::Big),
    (Representation::Xcdr2, Endian::Little),
];

pub(crate) fn encode<T: DdsType>(value: &T, form: (Representation, Endian)) -> Vec<u8> {
    let mut payload = Vec::new();
    to_payload(value, form.0, form.1, &mut payload).unwrap();
    payload
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// The payload with its padding, which the options count.
fn padded(hex: &str) -> Vec<u8> {
    let mut payload = bytes(hex);
    let count = payload.len().next_multiple_of(4) - payload.len();
    payload.resize(payload.len() + count, 0);
    payload[3] = u8::try_from(count).unwrap();
    payload
}

/// Both directions, in all four forms; without padding, too, as it was made. A copy is the same.
fn check<T: DdsType + PartialEq + Debug>(value: &T, expected: &[&str], encoded: bool) {
    let mut copy = value.duplicate().unwrap();
    assert_eq!(&copy, value);
    assert!(value.duplicate_into(&mut copy));
    assert_eq!(&copy, value);
    for (form, hex) in FORMS.into_iter().zip(expected) {
        assert_eq!(
            from_payload::<T>(&bytes(hex)).as_ref(),
            Ok(value),
            "{form:?}"
        );
        if encoded || form.0 == Representation::Xcdr2 {
            assert_eq!(encode(value, form), padded(hex), "{form:?}");
        }
        assert_eq!(
            from_payload::<T>(&encode(value, form)).as_ref(),
            Ok(value),
            "{form:?}"
        );
    }
}

#[test]
fn another_implementation_writes_the_same_bytes() {
    check(&fixed::numbers(), &golden::NUMBERS[..4], true);
    check(&growing::numbers(), &golden::NUMBERS[4..], true);
    check(&fixed::nested(), &golden::NESTED[..4], true);
    check(&growing::nested(), &golden::NESTED[4..], true);
    check(&fixed::seqs(), &golden::SEQS[..4], true);
    check(&growing::seqs(), &golden::SEQS[4..], true);
    check(&fixed::arrays(), &golden::ARRAYS[..4], true);
    check(&growing::arrays(), &golden::ARRAYS[4..], true);
    check(&fixed::chosen(), &golden::CHOSEN[..4], true);
    check(&growing::chosen(), &golden::CHOSEN[4..], true);
}

#[test]
fn another_implementation_s_optional_members_are_understood() {
    // In XCDR1 it takes the extended parameter header where we take the short one.
    check(&fixed::absent(), &golden::OPTS1[..4], false);
    check(&growing::absent(), &golden::OPTS1[4..], false);
    check(&fixed::present(), &golden::OPTS2[..4], false);
    check(&growing::present(), &golden::OPTS2[4..], false);
}

fn check_key<T: DdsType>(value: &T, expected: &[&str]) {
    // RTPS 2.5 §9.6.4.8: at most 16 octets, so the key itself, each member aligned, as if final.
    let hash = [2, 0, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for (form, hex) in FORMS.into_iter().zip(expected) {
        let mut payload = Vec::new();
        key_to_payload(value, form.0, form.1, &mut payload).unwrap();
        assert_eq!(payload[4..], bytes(hex), "{form:?}");
        assert_eq!(key_hash_in(value, form.0), Ok(hash));
        assert_eq!(key_hash_from_payload::<T>(&payload, true), Ok(hash));
        assert_eq!(
            key_hash_from_payload::<T>(&encode(value, form), false),
            Ok(hash)
        );
    }
}

#[test]
fn nested_keys_contribute_their_own_keys_only() {
    check_key(&fixed::nested(), &golden::NESTED_KEY[..4]);
    check_key(&growing::nested(), &golden::NESTED_KEY[4..]);
}

#[test]
fn optional_members_have_short_headers_in_xcdr1() {
    let present = encode(&fixed::present(), FORMS[0]);
    let mut expected = vec![0, 0, 0, 3, 1, 0, 0, 0];
    // Member id and length; alignment counts from the content.
    expected.extend([0, 1, 0, 8]);
    expected.extend(2.5f64.to_be_bytes());
    expected.extend([0, 2, 0, 8, 0, 0, 0, 4, b'h', b'e', b'y', 0]);
    expected.extend([0, 3, 0, 16, 3, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend(4.5f64.to_be_bytes());
    expected.extend([2, 0, 0, 0]);
    assert_eq!(present, expected);
    let absent = encode(&fixed::absent(), FORMS[0]);
    assert_eq!(
        absent,
        [
            0, 0, 0, 3, 1, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0
        ]
    );
}

#[derive(DdsType, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", final)]
struct LongOptions {
    #[dds(id = 3)]
    text: Option<String>,
    #[dds(id = 0x3f00)]
    number: Option<u64>,
    last: u64,
}

#[test]
fn long_optional_members_have_extended_headers_in_xcdr1() {
    let text = "x".repeat(70_000);
    let value = LongOptions {
        text: Some(text),
        number: Some(5),
        last: 6,
    };
    let payload = encode(&value, FORMS[1]);
    // PID_EXTENDED, must understand; 8; id; 4 + 70,001 octets.
    assert_eq!(
        payload[4..20],
        [
            0x01, 0x7f, 8, 0, 3, 0, 0, 0, 0x75, 0x11, 1, 0, 0x71, 0x11, 1, 0
        ]
    );
    // 12 + 70,005 octets and 3 of padding.
    let next = 4 + 12 + 70_005 + 3;
    let header = [
        0x01, 0x7f, 8, 0, 0, 0x3f, 0, 0, 8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0,
    ];
    assert_eq!(payload[next..next + 20], header);
    for form in FORMS {
        assert_eq!(
            from_payload::<LongOptions>(&encode(&value, form)).as_ref(),
            Ok(&value)
        );
    }
}

#[derive(DdsType, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", final)]
struct Maps {
    plain: BTreeMap<u8, u32>,
    named: BTreeMap<String, f64>,
}

#[test]
fn maps_are_sequences_of_pairs_delimited_where_not_primitive() {
    let value = Maps {
        plain: BTreeMap::from([(1, 2), (3, 4)]),
        named: BTreeMap::from([("k".to_owned(), 1.0)]),
    };
    let plain = [0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 4];
    // XTypes 1.3 §7.4.3.5: DHEADER of 20, length 1, "k", its value aligned to 4.
    let named = [
        0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 2, b'k', 0, 0, 0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0,
    ];
    let expected = [&[0, 6, 0, 0][..], &plain, &named].concat();
    assert_eq!(encode(&value, FORMS[2]), expected);
    // In XCDR1 no DHEADER, and the value aligned to 8.
    let named = [
        0, 0, 0, 1, 0, 0, 0, 2, b'k', 0, 0, 0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0,
    ];
    let expected = [&[0, 0, 0, 0][..], &plain, &named].concat();
    assert_eq!(encode(&value, FORMS[0])[..24 + 12], expected[..24 + 12]);
    for form in FORMS {
        assert_eq!(
            from_payload::<Maps>(&encode(&value, form)).as_ref(),
            Ok(&value)
        );
    }
}
