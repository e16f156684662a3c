//! Serialized user data: a payload with its encapsulation header, read as a derived type.

use std::collections::BTreeMap;

use whimbrel_derive::DdsType;
use whimbrel_types::dynamic::value_from_payload;
use whimbrel_types::{
    DdsType, Endian, Representation, from_payload, key_from_payload, key_hash,
    key_hash_from_payload, to_payload,
};

/// A final type of every simple shape.
#[derive(DdsType, Clone, Debug, PartialEq)]
#[dds(crate = "::whimbrel_types", final)]
pub struct Plain {
    /// The key.
    #[dds(key)]
    pub color: String,
    /// Numbers of four octets.
    pub x: i32,
    /// A number of two octets.
    pub size: u16,
    /// A boolean.
    pub filled: bool,
    /// A sequence.
    pub values: Vec<u32>,
    /// Eight octets, aligned differently in XCDR1 and XCDR2.
    pub weight: f64,
}

/// An enumeration.
#[derive(DdsType, Clone, Copy, Debug, PartialEq)]
#[dds(crate = "::whimbrel_types")]
pub enum Shade {
    /// First.
    Solid,
    /// Second.
    Striped,
}

/// A union.
#[derive(DdsType, Clone, Debug, PartialEq)]
#[dds(crate = "::whimbrel_types", final)]
pub enum Form {
    /// A number.
    #[dds(case = 1)]
    Circle(f32),
    /// A structure.
    #[dds(case = [2, 3])]
    Other(Plain),
}

/// A type that holds itself, so that data can nest.
#[derive(DdsType, Clone, Debug, PartialEq)]
#[dds(crate = "::whimbrel_types")]
pub struct Tree {
    /// What it holds.
    pub children: Vec<Self>,
}

macro_rules! rich {
    ($(#[$attribute:meta])* $name:ident) => {
        #[derive(DdsType, Clone, Debug, PartialEq)]
        $(#[$attribute])*
        pub struct $name {
            /// First key.
            #[dds(key)]
            pub id: u8,
            /// Second key.
            #[dds(key)]
            pub place: Plain,
            /// An optional string.
            pub note: Option<String>,
            /// A sequence of strings.
            pub names: Vec<String>,
            /// A map.
            pub table: BTreeMap<String, i64>,
            /// A sequence of structures.
            pub parts: Vec<Plain>,
            /// A bounded array.
            pub shades: [Shade; 3],
            /// A union.
            pub form: Form,
            /// Optional and nested.
            pub tree: Option<Tree>,
        }

        impl $name {
            /// A value with something in every member.
            pub fn example() -> Self {
                let leaf = Tree { children: Vec::new() };
                Self {
                    id: 7,
                    place: Plain::example(),
                    note: Some("note".to_owned()),
                    names: vec!["a".to_owned(), "bc".to_owned()],
                    table: BTreeMap::from([("one".to_owned(), 1), ("two".to_owned(), -2)]),
                    parts: vec![Plain::example(); 2],
                    shades: [Shade::Solid, Shade::Striped, Shade::Solid],
                    form: Form::Other(Plain::example()),
                    tree: Some(Tree { children: vec![leaf.clone(), leaf] }),
                }
            }
        }
    };
}

rich! {
    /// A final type of every nested shape.
    #[dds(crate = "::whimbrel_types", final)]
    Final
}

rich! {
    /// An appendable type of every nested shape.
    #[dds(crate = "::whimbrel_types", appendable)]
    Appendable
}

impl Plain {
    /// A value with something in every member.
    pub fn example() -> Self {
        Self {
            color: "BLUE".to_owned(),
            x: 10,
            size: 30,
            filled: true,
            values: vec![7, 8, 9],
            weight: 1.0,
        }
    }
}

/// Reads a payload as [`Plain`].
pub fn plain(data: &[u8]) {
    payload::<Plain>(data);
}

/// Reads a payload as [`Final`].
pub fn final_type(data: &[u8]) {
    payload::<Final>(data);
}

/// Reads a payload as [`Appendable`].
pub fn appendable(data: &[u8]) {
    payload::<Appendable>(data);
}

/// What was read is written and read again as the same octets, and its key does not change.
fn payload<T: DdsType>(data: &[u8]) {
    // Keys by themselves come from outside as well.
    let _ = key_from_payload::<T>(data);
    let _ = key_hash_from_payload::<T>(data, true);
    let transcoded = key_hash_from_payload::<T>(data, false);
    let dynamic = value_from_payload(T::describe(), data);
    let Ok(value) = from_payload::<T>(data) else {
        return;
    };
    assert!(dynamic.is_ok(), "{dynamic:?}");
    let hash = key_hash(&value).expect("a value that was read can be written");
    assert_eq!(transcoded, Ok(hash));
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let once = write(&value, representation);
        let again: T = from_payload(&once).expect("what was written can be read");
        // Octets, not values: a number that is not one does not equal itself.
        assert_eq!(write(&again, representation), once);
        assert_eq!(key_hash_from_payload::<T>(&once, false), Ok(hash));
    }
}

fn write<T: DdsType>(value: &T, representation: Representation) -> Vec<u8> {
    let mut out = Vec::new();
    to_payload(value, representation, Endian::Little, &mut out).expect("it can be written");
    out
}
