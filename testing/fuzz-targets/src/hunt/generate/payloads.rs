//! Values of user types, encoded well and then lied about.

use std::collections::BTreeMap;

use whimbrel_types::{DdsType, Endian, Representation, to_payload};

use crate::mutate::extreme;
use crate::random::Random;
use crate::targets::xcdr::{Appendable, Final, Form, Plain, Shade, Tree};

pub(super) fn plain(random: &mut Random) -> Vec<u8> {
    let value = plain_value(random);
    encoded(random, &value)
}

macro_rules! rich {
    ($function:ident, $name:ident) => {
        pub(super) fn $function(random: &mut Random) -> Vec<u8> {
            let value = $name {
                id: random.next() as u8,
                place: plain_value(random),
                note: random.once_in(2).then(|| text(random)),
                names: (0..random.below(4)).map(|_| text(random)).collect(),
                table: (0..random.below(4))
                    .map(|_| (text(random), random.edge() as i64))
                    .collect::<BTreeMap<_, _>>(),
                parts: (0..random.below(3)).map(|_| plain_value(random)).collect(),
                shades: [Shade::Solid, Shade::Striped, Shade::Solid],
                form: match random.once_in(2) {
                    true => Form::Circle(f32::from_bits(random.edge() as u32)),
                    false => Form::Other(plain_value(random)),
                },
                tree: random.once_in(2).then(|| tree(random)),
            };
            encoded(random, &value)
        }
    };
}

rich!(final_type, Final);
rich!(appendable, Appendable);

fn plain_value(random: &mut Random) -> Plain {
    Plain {
        color: text(random),
        x: random.edge() as i32,
        size: random.edge() as u16,
        filled: random.once_in(2),
        values: (0..random.below(6)).map(|_| random.edge() as u32).collect(),
        weight: f64::from_bits(random.edge()),
    }
}

fn text(random: &mut Random) -> String {
    let len = random.below(9);
    (0..len)
        .map(|_| *random.one_of(&['a', 'z', ' ', 'é', '水']))
        .collect()
}

/// A deep one or a wide one.
fn tree(random: &mut Random) -> Tree {
    let mut tree = Tree {
        children: Vec::new(),
    };
    let depth_max = if random.once_in(8) { 66 } else { 5 };
    for _ in 0..random.below(depth_max) {
        let more = random.below(3);
        let mut children = vec![
            Tree {
                children: Vec::new()
            };
            more
        ];
        children.push(tree);
        tree = Tree { children };
    }
    tree
}

/// The payload, mostly with some of its aligned numbers, lengths among them, at an extreme.
fn encoded<T: DdsType>(random: &mut Random, value: &T) -> Vec<u8> {
    let representation = *random.one_of(&[Representation::Xcdr1, Representation::Xcdr2]);
    let endian = *random.one_of(&[Endian::Big, Endian::Little]);
    let mut payload = Vec::new();
    // What cannot be encoded is an empty payload.
    let _ = to_payload(value, representation, endian, &mut payload);
    for _ in 0..random.below(4) {
        extreme(&mut payload, random);
    }
    payload
}
