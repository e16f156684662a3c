//! Bytes from outside: cut, claiming too much, nested too deeply, random.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::BTreeMap;
use whimbrel_derive::DdsType;
use whimbrel_types::dynamic::value_from_payload;
use whimbrel_types::{
    DEPTH_MAX, DdsType, DdsValue, Reject, RejectKind, from_payload, key_from_payload, key_hash,
    key_hash_from_payload, key_to_payload,
};

use crate::golden::{FORMS, encode, fixed, growing};

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", appendable)]
struct Leaf {
    number: i64,
    #[dds(key)]
    text: String,
    maybe: Option<u16>,
}

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", final)]
struct Everything {
    flag: bool,
    #[dds(key)]
    leaf: Leaf,
    leaves: Vec<Leaf>,
    #[dds(key)]
    pair: [u16; 2],
    floats: Vec<f32>,
    wide: Vec<u64>,
    map: BTreeMap<String, Vec<i32>>,
    grid: [[Vec<bool>; 2]; 2],
    #[dds(key)]
    last: u64,
    rest: Option<Vec<String>>,
}

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", appendable)]
struct Tree {
    value: u8,
    left: Option<Box<Self>>,
    others: Vec<Self>,
}

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", appendable)]
enum Term {
    Not(Box<Self>),
    All { terms: Vec<Self> },
    Truth(bool),
}

prop_compose! {
    fn leaf()(number: i64, text in "[a-zé ]{0,9}", maybe: Option<u16>) -> Leaf {
        Leaf { number, text, maybe }
    }
}

prop_compose! {
    fn everything()(
        flag: bool,
        leaf in leaf(),
        leaves in vec(leaf(), 0..4),
        pair: [u16; 2],
        floats in vec(-1e9f32..1e9, 0..200),
        wide in vec(any::<u64>(), 0..150),
        map in btree_map("[a-z]{0,5}", vec(any::<i32>(), 0..3), 0..4),
        bools in vec(vec(any::<bool>(), 0..4), 4),
        last: u64,
        rest in proptest::option::of(vec("[a-z]{0,5}", 0..3)),
    ) -> Everything {
        let [a, b, c, d]: [Vec<bool>; 4] = bools.try_into().unwrap();
        let grid = [[a, b], [c, d]];
        Everything { flag, leaf, leaves, pair, floats, wide, map, grid, last, rest }
    }
}

proptest! {
    #[test]
    fn values_come_back_from_every_form(value in everything()) {
        let hash = key_hash(&value).unwrap();
        for form in FORMS {
            let payload = encode(&value, form);
            prop_assert_eq!(payload.len() % 4, 0);
            prop_assert_eq!(from_payload(&payload), Ok(value.clone()));
            prop_assert!(value_from_payload(Everything::describe(), &payload).is_ok());
            prop_assert_eq!(key_hash_from_payload::<Everything>(&payload, false), Ok(hash));
            let mut key = Vec::new();
            key_to_payload(&value, form.0, form.1, &mut key).unwrap();
            prop_assert_eq!(key_hash_from_payload::<Everything>(&key, true), Ok(hash));
            let back: Everything = key_from_payload(&key).unwrap();
            prop_assert_eq!(back.leaf.text, value.leaf.text.clone());
            prop_assert_eq!((back.pair, back.last), (value.pair, value.last));
        }
    }

    #[test]
    fn a_copy_is_the_same_whatever_was_in_its_place(
        value in everything(),
        mut other in everything(),
    ) {
        prop_assert_eq!(value.duplicate(), Some(value.clone()));
        prop_assert!(value.duplicate_into(&mut other));
        prop_assert_eq!(other, value);
    }

    #[test]
    fn changed_bytes_never_panic(
        value in everything(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for form in FORMS {
            let mut payload = encode(&value, form);
            for (place, octet) in &changes {
                let place = 4 + place.index(payload.len() - 4);
                payload[place] = *octet;
            }
            // Whatever is read must be possible to write.
            if let Ok(read) = from_payload::<Everything>(&payload) {
                let copy = read.duplicate().map(|it| encode(&it, form));
                prop_assert_eq!(copy, Some(encode(&read, form)));
                prop_assert!(value_from_payload(Everything::describe(), &payload).is_ok());
            }
            let _ = key_hash_from_payload::<Everything>(&payload, false);
            let _ = key_from_payload::<Everything>(&payload);
        }
    }

    #[test]
    fn random_bytes_never_panic(id in 0u8..12, body in vec(any::<u8>(), 0..200)) {
        let payload = [&[0, id, 0, 0][..], &body].concat();
        let _ = from_payload::<Everything>(&payload);
        let _ = from_payload::<Tree>(&payload);
        let _ = from_payload::<Term>(&payload);
        let _ = from_payload::<growing::Chosen>(&payload);
        let _ = value_from_payload(Tree::describe(), &payload);
    }
}

fn refusal<T: DdsType>(payload: &[u8]) -> Option<RejectKind> {
    from_payload::<T>(payload).err().map(|reject| reject.kind)
}

fn check_cut<T: DdsType>(value: &T) {
    for form in FORMS {
        let mut payload = encode(value, form);
        let padding = usize::from(std::mem::take(&mut payload[3]));
        payload.truncate(payload.len() - padding);
        for end in 0..payload.len() {
            assert!(
                from_payload::<T>(&payload[..end]).is_err(),
                "{form:?} cut at {end}"
            );
        }
    }
}

#[test]
fn every_prefix_is_refused() {
    check_cut(&fixed::numbers());
    check_cut(&growing::numbers());
    check_cut(&fixed::seqs());
    check_cut(&growing::seqs());
    check_cut(&fixed::arrays());
    check_cut(&growing::arrays());
    check_cut(&fixed::present());
    check_cut(&growing::present());
    check_cut(&fixed::chosen());
    check_cut(&growing::chosen());
}

#[derive(DdsType, PartialEq, Debug)]
#[dds(crate = "whimbrel_types", final)]
struct Heavy {
    all: Vec<[u64; 1000]>,
    names: Vec<String>,
}

#[test]
fn claims_beyond_the_bytes_are_refused_before_allocating() {
    for claimed in [2u32, 1 << 16, u32::MAX] {
        let payload = [&[0, 0, 0, 0][..], &claimed.to_be_bytes(), &[0; 64]].concat();
        assert_eq!(refusal::<Heavy>(&payload), Some(RejectKind::Truncated));
        // No arrays, so many names.
        let payload = [&[0; 8][..], &claimed.to_be_bytes(), &[0; 4]].concat();
        assert_eq!(refusal::<Heavy>(&payload), Some(RejectKind::Truncated));
        // A DHEADER that spans more than there is.
        let payload = [&[0, 6, 0, 0][..], &claimed.to_be_bytes(), &[0]].concat();
        assert_eq!(refusal::<Heavy>(&payload), Some(RejectKind::Truncated));
    }
}

#[test]
fn strings_must_be_terminated_text() {
    #[derive(DdsType, PartialEq, Debug)]
    #[dds(crate = "whimbrel_types", final)]
    struct Text {
        text: String,
    }
    let read = |body: &[u8]| from_payload::<Text>(&[&[0, 0, 0, 0][..], body].concat());
    assert_eq!(read(&[0, 0, 0, 2, b'a', 0]), Ok(Text { text: "a".into() }));
    assert_eq!(
        read(&[0, 0, 0, 0]),
        Ok(Text {
            text: String::new()
        })
    );
    for body in [
        &[0, 0, 0, 2, b'a', b'b'][..],
        &[0, 0, 0, 2, 0, 0],
        &[0, 0, 0, 2, 0xff, 0],
    ] {
        assert_eq!(read(body), Err(Reject::new(RejectKind::String, 10)));
    }
}

#[test]
fn other_refusals() {
    let numbers = encode(&fixed::numbers(), FORMS[0]);
    let changed = |at: usize, octet: u8| {
        let mut payload = numbers.clone();
        payload[at] = octet;
        from_payload::<fixed::Numbers>(&payload).map(|_| ())
    };
    assert_eq!(changed(4, 2), Err(Reject::new(RejectKind::EnumValue, 4)));
    assert_eq!(
        changed(1, 2),
        Err(Reject::new(RejectKind::Encapsulation, 0))
    );
    assert_eq!(
        changed(0, 1),
        Err(Reject::new(RejectKind::Encapsulation, 0))
    );
    // Compressed by a vendor's extension.
    assert_eq!(
        changed(3, 4),
        Err(Reject::new(RejectKind::Encapsulation, 0))
    );
    assert_eq!(
        refusal::<fixed::Numbers>(&[0, 0, 0]),
        Some(RejectKind::Truncated)
    );

    let mut optional = encode(&fixed::present(), FORMS[0]);
    optional[9] = 8;
    assert_eq!(
        refusal::<fixed::Opts>(&optional),
        Some(RejectKind::Parameter)
    );

    // Two entries, both with an empty key.
    let twice = [
        0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2,
    ];
    #[derive(DdsType, PartialEq, Debug)]
    #[dds(crate = "whimbrel_types", final)]
    struct Map {
        map: BTreeMap<String, u32>,
    }
    assert_eq!(refusal::<Map>(&twice), Some(RejectKind::Duplicate));
    let unkeyed = key_from_payload::<Map>(&twice).map_err(|reject| reject.kind);
    assert_eq!(unkeyed, Err(RejectKind::Key));
    assert_eq!(key_hash_from_payload::<Map>(&[], false), Ok([0; 16]));
}

fn tree(depth: usize) -> Tree {
    let left = (depth > 0).then(|| Box::new(tree(depth - 1)));
    Tree {
        value: 1,
        left,
        others: vec![],
    }
}

#[test]
fn recursive_unions_have_a_limit_too() {
    let all = Term::All {
        terms: vec![Term::Truth(true), Term::Not(Box::new(Term::Truth(false)))],
    };
    for form in FORMS {
        assert_eq!(from_payload::<Term>(&encode(&all, form)).as_ref(), Ok(&all));
        let deep = (0..DEPTH_MAX + 1).fold(all.clone(), |term, _| Term::Not(Box::new(term)));
        assert_eq!(
            refusal::<Term>(&encode(&deep, form)),
            Some(RejectKind::Depth)
        );
        let shown = value_from_payload(Term::describe(), &encode(&all, form)).unwrap();
        assert_eq!(shown.to_string(), "All([Truth(true), Not(Truth(false))])");
    }
    // Selected, but its value not sent: the first case that no box leads back from.
    let missing = from_payload::<Term>(&[0, 9, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        missing,
        Ok(Term::Not(Box::new(Term::All { terms: vec![] })))
    );
}

#[test]
fn nesting_has_a_limit() {
    let deepest = usize::from(DEPTH_MAX);
    for form in FORMS {
        // The empty sequence in each tree counts as a level.
        let fits = tree(deepest - 1);
        assert_eq!(
            from_payload::<Tree>(&encode(&fits, form)).as_ref(),
            Ok(&fits)
        );
        let payload = encode(&tree(deepest), form);
        assert_eq!(refusal::<Tree>(&payload), Some(RejectKind::Depth));
        // What is shown may nest deeper, since boxes leave no trace there, but not without end.
        let payload = encode(&tree(300), form);
        let shown = value_from_payload(Tree::describe(), &payload);
        assert_eq!(shown.unwrap_err().kind, RejectKind::Depth);
    }
}
