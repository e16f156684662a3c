//! Payloads read by a description alone.

use whimbrel_types::dynamic::{key_value_from_payload, value_from_payload};
use whimbrel_types::{DdsType, RejectKind, from_payload, key_to_payload};

use crate::golden::{FORMS, encode, fixed, growing};

fn check<T: DdsType>(value: &T, text: &str) {
    for form in FORMS {
        let found = value_from_payload(T::describe(), &encode(value, form)).unwrap();
        assert_eq!(found.to_string(), text, "{form:?}");
    }
}

#[test]
fn every_kind_of_value_is_printed() {
    let numbers = "{flag: true, s8: -2, u16: 4660, i32: -5, u8: 9, f64: 1.5, f32: -2.25, i64: -7, \
                   text: \"héllo\"}";
    check(&fixed::numbers(), numbers);
    check(&growing::numbers(), numbers);
    let seqs = "{octets: 0x010203, doubles: [1.5, -2.5], strings: [\"a\", \"bcd\"], \
                inners: [{a: 1, b: 2.0}, {a: 3, b: 4.0}], colors: [Blue, Red], \
                rows: [[1, 2, 3], [-1, -2, -3]], empty: [], last: 7}";
    check(&fixed::seqs(), seqs);
    check(&growing::seqs(), seqs);
    let arrays = "{a: [1, 2, 3], grid: [[1, 2], [3, 4]], names: [\"x\", \"yz\"], \
                  inners: [{a: 1, b: 2.0}, {a: 3, b: 4.0}], tables: [[\"p\"], [\"q\"]], \
                  colors: [Green, Blue], last: 7}";
    check(&fixed::arrays(), arrays);
    check(&growing::arrays(), arrays);
    check(&fixed::absent(), "{a: 1, b: none, c: none, d: none, e: 2}");
    check(
        &growing::present(),
        "{a: 1, b: 2.5, c: \"hey\", d: {a: 3, b: 4.5}, e: 2}",
    );
    let chosen = "{first: 1, choices: [Number(-3), Text(\"ab\"), Inner({a: 1, b: 2.0}), \
                  Other(8)], last: 7}";
    check(&fixed::chosen(), chosen);
    check(&growing::chosen(), chosen);
}

#[test]
fn keys_alone_are_read() {
    for form in FORMS {
        let mut payload = Vec::new();
        key_to_payload(&growing::nested(), form.0, form.1, &mut payload).unwrap();
        let key = key_value_from_payload(growing::Nested::describe(), &payload).unwrap();
        assert_eq!(key.to_string(), "{inner: {a: 2}, y: 1029}");
    }
    let refused = key_value_from_payload(growing::Seqs::describe(), &[0; 8]);
    assert_eq!(refused.map_err(|reject| reject.kind), Err(RejectKind::Key));
}

#[test]
fn a_cut_payload_is_refused() {
    for form in FORMS {
        let payload = encode(&fixed::seqs(), form);
        for end in 0..payload.len() - 4 {
            // The options count three octets of padding, so even the last octet counts.
            assert!(value_from_payload(fixed::Seqs::describe(), &payload[..end]).is_err());
        }
    }
}

/// A type that holds itself in sequences.
#[derive(whimbrel_derive::DdsType, Debug, PartialEq)]
#[dds(crate = "::whimbrel_types")]
struct Nest {
    eggs: Vec<Self>,
}

#[test]
fn what_can_be_read_can_be_shown_however_deep() {
    for depth in [1, 32, 33, 63, 64, 65] {
        let empty = Nest { eggs: vec![] };
        let nest = (1..depth).fold(empty, |inner, _| Nest { eggs: vec![inner] });
        for form in FORMS {
            let payload = encode(&nest, form);
            let read = from_payload::<Nest>(&payload).map(drop);
            let shown = value_from_payload(Nest::describe(), &payload).map(drop);
            assert_eq!(read.is_ok(), depth <= 64, "{depth}");
            assert_eq!(shown.is_ok(), read.is_ok(), "{depth}");
        }
    }
}
