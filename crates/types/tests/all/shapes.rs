//! The well-known ShapeType and its key hash.

use whimbrel_derive::DdsType;
use whimbrel_types::{
    DdsType, Endian, Representation, from_payload, key_from_payload, key_hash,
    key_hash_from_payload, key_hash_in, key_to_payload, to_payload,
};

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", final, rename = "ShapeType")]
pub(crate) struct FinalShape {
    #[dds(key)]
    color: String,
    x: i32,
    y: i32,
    shapesize: i32,
}

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", appendable, rename = "ShapeType")]
pub(crate) struct Shape {
    #[dds(key, bound = 128)]
    color: String,
    x: i32,
    y: i32,
    shapesize: i32,
}

const BLUE: [u8; 16] = [
    0xca, 0xc2, 0x17, 0xc3, 0x18, 0x36, 0x3f, 0x8e, 0xf1, 0x16, 0x0e, 0xee, 0xde, 0xf9, 0xe8, 0x86,
];

fn check<T: DdsType>(value: &T, representation: Representation) {
    assert_eq!(key_hash(value), Ok(BLUE));
    assert_eq!(key_hash_in(value, representation), Ok(BLUE));
    for endian in [Endian::Big, Endian::Little] {
        let mut payload = Vec::new();
        to_payload(value, representation, endian, &mut payload).unwrap();
        assert_eq!(key_hash_from_payload::<T>(&payload, false), Ok(BLUE));
        payload.clear();
        key_to_payload(value, representation, endian, &mut payload).unwrap();
        assert_eq!(key_hash_from_payload::<T>(&payload, true), Ok(BLUE));
        let key = key_from_payload::<T>(&payload).unwrap();
        assert_eq!(key_hash(&key), Ok(BLUE));
    }
}

#[test]
fn blue_has_its_well_known_key_hash() {
    let (x, y, shapesize) = (1, 2, 3);
    let color = "BLUE".to_owned();
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        check(
            &FinalShape {
                color: color.clone(),
                x,
                y,
                shapesize,
            },
            representation,
        );
        check(
            &Shape {
                color: color.clone(),
                x,
                y,
                shapesize,
            },
            representation,
        );
    }
}

#[test]
fn final_and_appendable_differ_in_xcdr2_alone() {
    let shape = Shape {
        color: "RED".to_owned(),
        x: 1,
        y: -2,
        shapesize: 30,
    };
    let body = [
        4, 0, 0, 0, b'R', b'E', b'D', 0, 1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 30, 0, 0, 0,
    ];
    let mut payload = Vec::new();
    to_payload(&shape, Representation::Xcdr1, Endian::Little, &mut payload).unwrap();
    assert_eq!(payload, [&[0, 1, 0, 0][..], &body].concat());
    let as_final: FinalShape = from_payload(&payload).unwrap();
    assert_eq!(as_final.color, "RED");
    payload.clear();
    to_payload(&shape, Representation::Xcdr2, Endian::Little, &mut payload).unwrap();
    assert_eq!(payload, [&[0, 9, 0, 0, 20, 0, 0, 0][..], &body].concat());
    // A peer that declares the type otherwise is understood.
    let as_final: FinalShape = from_payload(&payload).unwrap();
    assert_eq!((as_final.x, as_final.y, as_final.shapesize), (1, -2, 30));
    payload.clear();
    to_payload(
        &as_final,
        Representation::Xcdr2,
        Endian::Little,
        &mut payload,
    )
    .unwrap();
    assert_eq!(payload, [&[0, 7, 0, 0][..], &body].concat());
    assert_eq!(from_payload::<Shape>(&payload), Ok(shape));
}

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", appendable)]
struct Numbered {
    #[dds(key)]
    id: u32,
    seq: u32,
}

/// As Cyclone DDS 11.0 and as Cyclone DDS 0.10.2 send the key 1: with the delimiter that the
/// encapsulation announces, and without.
#[test]
fn a_key_without_its_announced_delimiter_is_understood() {
    let whole = [0, 9, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0];
    let bare = [0, 9, 0, 0, 1, 0, 0, 0];
    let hash = key_hash(&Numbered { id: 1, seq: 0 });
    for payload in [&whole[..], &bare[..]] {
        assert_eq!(key_from_payload::<Numbered>(payload).unwrap().id, 1);
        let of_payload = key_hash_from_payload::<Numbered>(payload, true);
        assert_eq!(of_payload.unwrap(), hash.unwrap());
        assert!(key_from_payload::<Numbered>(&payload[..payload.len() - 1]).is_err());
    }
    assert!(
        from_payload::<Numbered>(&bare).is_err(),
        "a sample is no key"
    );
}
