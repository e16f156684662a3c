//! Appendable types of different lengths, member ids, defaults, bounds and enumerations.

use whimbrel_derive::DdsType;
use whimbrel_types::{
    DdsType, EncodeError, Endian, KeyHasher, Reject, RejectKind, Representation, from_payload,
    key_hash, key_hash_from_payload, key_hash_in, to_payload,
};

use crate::golden::{FORMS, encode};

#[derive(DdsType, Clone, Copy, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", bit_bound = 8)]
enum Mood {
    Calm = -1,
    #[dds(default)]
    Unknown,
    Wild = 7,
}

#[derive(DdsType, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", rename = "zoo::Bird")]
struct Old {
    #[dds(key)]
    id: u16,
    name: String,
}

#[derive(DdsType, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", rename = "zoo::Bird")]
struct New {
    #[dds(key)]
    id: u16,
    name: String,
    mood: Mood,
    #[dds(default = 2)]
    legs: u8,
    #[dds(default)]
    tags: Vec<String>,
    mate: Option<Box<Old>>,
    #[dds(id = 9)]
    nests: [Old; 1],
    choice: Prey,
}

#[derive(DdsType, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", discriminator = "bool")]
enum Prey {
    #[dds(case = true)]
    Fish(u64),
    #[dds(case = false)]
    None,
}

fn old() -> Old {
    Old {
        id: 7,
        name: "curlew".into(),
    }
}

fn new() -> New {
    New {
        id: 7,
        name: "curlew".into(),
        mood: Mood::Wild,
        legs: 1,
        tags: vec!["wader".into()],
        mate: Some(Box::new(old())),
        nests: [old()],
        choice: Prey::None,
    }
}

#[test]
fn members_added_at_the_end_do_not_disturb_older_readers() {
    for form in FORMS {
        assert_eq!(from_payload(&encode(&new(), form)), Ok(old()));
        assert_eq!(from_payload(&encode(&new(), form)), Ok(new()));
        let hash = key_hash_from_payload::<Old>(&encode(&new(), form), false);
        assert_eq!(hash, Ok(key_hash(&new()).unwrap()));
    }
}

#[test]
fn members_not_sent_take_their_defaults_in_xcdr2() {
    let expected = New {
        mood: Mood::Unknown,
        legs: 2,
        tags: vec![],
        mate: None,
        nests: [Old {
            id: 0,
            name: String::new(),
        }],
        choice: Prey::Fish(0),
        ..new()
    };
    assert_eq!(from_payload(&encode(&old(), FORMS[2])), Ok(expected));
    // XCDR1 has no delimiter to tell the end of a value.
    let refused = from_payload::<New>(&encode(&old(), FORMS[1]));
    assert_eq!(refused, Err(Reject::new(RejectKind::Truncated, 19)));
}

#[test]
fn unknown_numbers_take_the_default_literal_or_are_refused() {
    #[derive(DdsType, PartialEq, Debug)]
    #[dds(crate = "whimbrel_types", final)]
    struct Moods {
        all: [Mood; 3],
    }
    let all = [Mood::Calm, Mood::Unknown, Mood::Wild];
    assert_eq!(
        encode(&Moods { all }, FORMS[1]),
        [0, 1, 0, 1, 0xff, 0, 7, 0]
    );
    assert_eq!(
        from_payload(&[0, 1, 0, 1, 0xff, 3, 7, 0]),
        Ok(Moods { all })
    );

    #[derive(DdsType, PartialEq, Debug)]
    #[dds(crate = "whimbrel_types", final)]
    enum Strict {
        #[dds(case = 1)]
        One(u8),
    }
    let refused = from_payload::<Strict>(&[0, 0, 0, 0, 0, 0, 0, 2, 5]);
    assert_eq!(refused, Err(Reject::new(RejectKind::EnumValue, 8)));
}

#[test]
fn names_ids_and_kinds_are_described() {
    let description = New::describe();
    assert_eq!(
        (New::TYPE_NAME, description.name),
        ("zoo::Bird", "zoo::Bird")
    );
    let ids: Vec<_> = description
        .members()
        .iter()
        .map(|m| (m.name, m.id, m.key))
        .collect();
    assert_eq!(ids[0], ("id", 0, true));
    assert_eq!(
        ids[5..],
        [
            ("mate", 5, false),
            ("nests", 9, false),
            ("choice", 10, false)
        ]
    );
    assert!(description.members()[5].optional && !description.members()[6].optional);
}

#[derive(DdsType, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", final)]
struct Unsorted {
    #[dds(id = 9, key)]
    late: u8,
    #[dds(id = 3, key, bound = 3)]
    early: String,
    #[dds(id = 4)]
    rest: u32,
}

#[test]
fn key_hashes_take_members_by_id_and_bounds_into_account() {
    let value = Unsorted {
        late: 1,
        early: "ab".into(),
        rest: 5,
    };
    // At most 4 + 4 + 1 octets, so the key itself.
    let expected = Ok([0, 0, 0, 3, b'a', b'b', 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(key_hash(&value), expected);
    for form in FORMS {
        let found = key_hash_from_payload::<Unsorted>(&encode(&value, form), false);
        assert_eq!(found.map_err(|_| EncodeError::TooLong), expected);
    }
}

#[derive(DdsType, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", final)]
struct Wide {
    #[dds(key)]
    small: u8,
    #[dds(key)]
    wide: u64,
}

#[test]
fn key_hashes_differ_by_representation_where_padding_does() {
    let value = Wide { small: 1, wide: 2 };
    let xcdr1 = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
    let xcdr2 = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0];
    assert_eq!(key_hash_in(&value, Representation::Xcdr1), Ok(xcdr1));
    assert_eq!(key_hash_in(&value, Representation::Xcdr2), Ok(xcdr2));
    // One instance, whatever it was written in.
    for form in FORMS {
        let payload = encode(&value, form);
        assert_eq!(key_hash_from_payload::<Wide>(&payload, false), Ok(xcdr2));
    }
}

#[test]
fn a_hasher_starts_anew_with_each_key() {
    let mut hasher = KeyHasher::new(Representation::Xcdr2);
    for small in [1, 2, 1] {
        let value = Wide { small, wide: 3 };
        let payload = encode(&value, FORMS[0]);
        assert_eq!(hasher.of_value(&value), key_hash(&value));
        let cut = hasher.of_payload::<Wide>(&payload[..9], false);
        assert_eq!(
            cut.map_err(|reject| reject.kind),
            Err(RejectKind::Truncated)
        );
        assert_eq!(
            hasher.of_payload::<Wide>(&payload, false),
            Ok(key_hash(&value).unwrap())
        );
    }
}

#[test]
fn what_cannot_be_encoded_leaves_the_buffer_as_it_was() {
    let mut out = vec![1, 2, 3];
    let mut check = |early: &str, expected| {
        let value = Unsorted {
            late: 1,
            early: early.into(),
            rest: 5,
        };
        let result = to_payload(&value, Representation::Xcdr1, Endian::NATIVE, &mut out);
        assert_eq!(result, Err(expected));
        assert_eq!(out, [1, 2, 3]);
    };
    check("abcd", EncodeError::OverBound);
    check("a\0", EncodeError::NulInString);
    let over = [
        0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 5, b'a', b'b', b'c', b'd', 0, 0, 0, 0, 0, 0, 0, 5,
    ];
    let refused = from_payload::<Unsorted>(&over);
    assert_eq!(
        refused.map_err(|reject| reject.kind),
        Err(RejectKind::Length)
    );
}
