//! Copies for readers of the writer's process: as who decodes has them, or none.

use std::collections::BTreeMap;
use std::fmt::Debug;

use whimbrel_derive::DdsType;
use whimbrel_types::{
    DdsType, DdsValue, Decoder, Encoder, Kind, Reject, Representation, Shape, SharedBytes,
};

use crate::golden::{FORMS, encode};

#[derive(DdsType, Clone, PartialEq, Debug, Default)]
#[dds(crate = "whimbrel_types")]
struct Texts {
    #[dds(bound = 3)]
    one: String,
    maybe: Option<String>,
    some: Vec<String>,
    pair: [String; 2],
    boxed: Box<[String; 1]>,
    map: BTreeMap<String, String>,
    #[dds(bound = 2)]
    numbers: Vec<u16>,
    choice: Choice,
}

#[derive(DdsType, Clone, PartialEq, Debug, Default)]
#[dds(crate = "whimbrel_types")]
enum Choice {
    #[default]
    Nothing,
    Text(String),
    Others {
        others: Vec<Self>,
    },
}

fn texts(change: impl FnOnce(&mut Texts)) -> Texts {
    let mut texts = Texts::default();
    change(&mut texts);
    texts
}

/// There is a copy of `value` where it can be encoded, and only there, whatever is in its place.
fn check<T: DdsType + PartialEq + Debug>(value: &T, others: impl IntoIterator<Item = T>) -> bool {
    let mut payload = Vec::new();
    let (representation, endian) = FORMS[3];
    let encoded = whimbrel_types::to_payload(value, representation, endian, &mut payload).is_ok();
    assert_eq!(value.duplicate().as_ref(), encoded.then_some(value));
    for mut other in others {
        assert_eq!(value.duplicate_into(&mut other), encoded, "{value:?}");
        if encoded {
            assert_eq!(&other, value);
        }
    }
    encoded
}

#[test]
fn what_cannot_be_encoded_has_no_copy_wherever_it_is_within_the_value() {
    type Place = (&'static str, fn(&mut Texts, &str));
    let places: [Place; 9] = [
        ("member", |it, text| it.one = text.into()),
        ("optional", |it, text| it.maybe = Some(text.into())),
        ("sequence", |it, text| {
            it.some = vec!["a".into(), text.into()]
        }),
        ("array", |it, text| it.pair[1] = text.into()),
        ("box", |it, text| it.boxed[0] = text.into()),
        ("key of a map", |it, text| {
            it.map.insert(text.into(), String::new());
        }),
        ("value of a map", |it, text| {
            it.map.insert(String::new(), text.into());
        }),
        ("union", |it, text| it.choice = Choice::Text(text.into())),
        ("union within", |it, text| {
            let others = vec![Choice::Nothing, Choice::Text(text.into())];
            it.choice = Choice::Others { others };
        }),
    ];
    let all = |text| places.map(|(_, put)| texts(|it| put(it, text)));
    for (name, put) in places {
        for (text, is_well) in [("ab", true), ("a\0b", false), ("", true)] {
            let value = texts(|it| put(it, text));
            let others = all("xyz").into_iter().chain(all("")).chain(all("\0"));
            assert_eq!(check(&value, others), is_well, "{name}: {text:?}");
        }
    }
    let bounded = |one: &str, count| {
        texts(|it| {
            it.one = one.into();
            it.numbers = vec![7; count];
        })
    };
    for (one, count, is_well) in [("abc", 2, true), ("abcd", 2, false), ("abc", 3, false)] {
        let others = [bounded("", 0), bounded("x", 5)];
        assert_eq!(check(&bounded(one, count), others), is_well);
    }
}

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types")]
struct Reuse {
    text: String,
    numbers: Vec<u64>,
    texts: Vec<String>,
    boxed: Box<u32>,
    small: SharedBytes,
    large: SharedBytes,
}

#[test]
fn a_copy_serves_again_with_the_memory_that_it_has() {
    let reuse = |octet: u8, len: usize| Reuse {
        text: "abcdefgh"[..len].into(),
        numbers: vec![octet.into(); len],
        texts: vec!["x".repeat(len); len],
        boxed: Box::new(octet.into()),
        small: SharedBytes::from_vec(vec![octet; len]),
        large: SharedBytes::from_vec(vec![octet; SharedBytes::SMALL_SLAB_BYTES + len]),
    };
    let (first, second) = (reuse(1, 8), reuse(2, 5));
    let mut copy = first.duplicate().unwrap();
    // As it does from the second time on.
    assert!(first.duplicate_into(&mut copy));
    assert_ne!(
        copy.small.as_ptr(),
        first.small.as_ptr(),
        "keeps what was written"
    );
    let places = |it: &Reuse| {
        let boxed: *const u32 = &*it.boxed;
        let places = (it.text.as_ptr(), it.numbers.as_ptr(), it.texts.as_ptr());
        (places, it.texts[0].as_ptr(), boxed, it.small.as_ptr())
    };
    let before = places(&copy);
    assert!(second.duplicate_into(&mut copy));
    assert_eq!(places(&copy), before);
    assert_eq!(copy, second);
    // Many octets are not copied.
    assert_eq!(copy.large.as_ptr(), second.large.as_ptr());
    // Whoever still has the few of before keeps them.
    let kept = copy.small.clone();
    assert!(first.duplicate_into(&mut copy));
    assert_eq!((&kept, &copy.small), (&second.small, &first.small));
}

/// Has no copy: what is written here does not say how.
#[derive(Clone, PartialEq, Debug)]
struct Handmade(u8);

impl DdsValue for Handmade {
    const SHAPE: Shape = u8::SHAPE;
    const MIN_SIZE: usize = u8::MIN_SIZE;
    const KEY_BOUNDS: whimbrel_types::KeyBounds = u8::KEY_BOUNDS;

    fn encode(&self, out: &mut Encoder<'_>) {
        self.0.encode(out);
    }

    fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        u8::decode(input).map(Self)
    }

    fn skip(input: &mut Decoder<'_>) -> Result<(), Reject> {
        u8::skip(input)
    }

    fn missing(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        u8::missing(input).map(Self)
    }

    fn kind() -> Kind {
        u8::kind()
    }
}

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(crate = "whimbrel_types")]
struct Around {
    handmade: Vec<Handmade>,
    maybe: Option<Handmade>,
}

#[test]
fn a_value_around_one_that_has_no_copy_has_none() {
    let around = |count, maybe: Option<u8>| Around {
        handmade: vec![Handmade(1); count],
        maybe: maybe.map(Handmade),
    };
    let cases = [(0, None, true), (1, None, false), (0, Some(2), false)];
    for (count, maybe, has) in cases {
        let value = around(count, maybe);
        assert!(!encode(&value, (Representation::Xcdr2, FORMS[0].1)).is_empty());
        assert_eq!(value.duplicate().is_some(), has);
        for mut other in [around(0, None), around(3, Some(4))] {
            assert_eq!(value.duplicate_into(&mut other), has);
        }
    }
}
