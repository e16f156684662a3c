//! Maps: encoded like sequences of pairs. XTypes 1.3 §7.4.3.5.

use alloc::collections::BTreeMap;

use whimbrel_base::reject::{Reject, RejectKind};

use super::traits::DdsValue;
use crate::bounds::KeyBounds;
use crate::decoder::Decoder;
use crate::describe::Kind;
use crate::encoder::Encoder;
use crate::shape::Shape;

impl<K: DdsValue + Ord, V: DdsValue> DdsValue for BTreeMap<K, V> {
    const SHAPE: Shape = Shape::Composite;
    const MIN_SIZE: usize = 4;
    const KEY_BOUNDS: KeyBounds = KeyBounds::UNBOUNDED;

    fn encode(&self, out: &mut Encoder<'_>) {
        let delimiter = out.begin_collection(is_primitive::<K, V>());
        out.length(self.len());
        for (key, value) in self {
            key.encode(out);
            value.encode(out);
        }
        out.end(delimiter);
    }

    fn held_bytes(&self) -> usize {
        let own = size_of::<(K, V)>().saturating_mul(self.len());
        let held = self
            .iter()
            .map(|(key, value)| key.held_bytes().saturating_add(value.held_bytes()));
        held.fold(own, usize::saturating_add)
    }

    fn duplicate(&self) -> Option<Self> {
        let duplicate = |(key, value): (&K, &V)| key.duplicate().zip(value.duplicate());
        self.iter().map(duplicate).collect()
    }

    fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        input.collection(is_primitive::<K, V>(), |input| {
            let len = input.length(K::MIN_SIZE.saturating_add(V::MIN_SIZE))?;
            let mut map = Self::new();
            for _ in 0..len {
                let key = K::decode(input)?;
                let value = V::decode(input)?;
                if map.insert(key, value).is_some() {
                    return Err(input.reject(RejectKind::Duplicate));
                }
            }
            Ok(map)
        })
    }

    fn skip(input: &mut Decoder<'_>) -> Result<(), Reject> {
        let primitive = is_primitive::<K, V>();
        if input.skip_collection(primitive)? {
            return Ok(());
        }
        input.collection(primitive, |input| {
            let len = input.length(K::MIN_SIZE.saturating_add(V::MIN_SIZE))?;
            for _ in 0..len {
                K::skip(input)?;
                V::skip(input)?;
            }
            Ok(())
        })
    }

    fn missing(_input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Ok(Self::new())
    }

    fn kind() -> Kind {
        Kind::Map(K::kind, V::kind)
    }
}

const fn is_primitive<K: DdsValue, V: DdsValue>() -> bool {
    K::SHAPE.is_primitive() && V::SHAPE.is_primitive()
}
