//! The types of `peers/Interop.idl` and the values every peer gives them.

use whimbrel::DdsType;

use super::end::End;
use super::options::Options;
use crate::checksum::Checksum;

/// The well-known shape of every vendor's demo.
#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(final)]
pub(crate) struct ShapeType {
    #[dds(key, bound = 128)]
    color: String,
    x: i32,
    y: i32,
    shapesize: i32,
}

/// No key; `payload` makes the sample as large as a test wants.
#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(final)]
pub(crate) struct Keyless {
    seq: u32,
    payload: Vec<u8>,
}

/// Nested and appendable.
#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(appendable, nested)]
pub(crate) struct Place {
    host: String,
    port: u16,
}

/// Appendable and keyed.
#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(appendable)]
pub(crate) struct Telemetry {
    #[dds(key)]
    id: u32,
    seq: u32,
    valid: bool,
    value: f64,
    origin: Place,
    tags: Vec<String>,
    window: Vec<f64>,
}

/// What the lines say of a sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    pub(crate) seq: u32,
    pub(crate) key: String,
    pub(crate) crc: u32,
    pub(crate) length: usize,
}

/// A type with values that every peer knows.
pub(crate) trait Value: DdsType {
    /// The sample with this number and key; `None` where the text is no key.
    fn make(options: &Options, seq: u32, key: &str) -> Option<Self>;
    /// What the lines say of it.
    fn facts(&self) -> Facts;
    /// Its key as text.
    fn key(&self) -> String;
}

impl Value for ShapeType {
    fn make(options: &Options, seq: u32, key: &str) -> Option<Self> {
        let x = i32::try_from(seq).ok()?;
        Some(Self {
            color: key.into(),
            x,
            y: x.checked_mul(2)?,
            shapesize: i32::try_from(options.size_bytes).ok()?,
        })
    }

    fn facts(&self) -> Facts {
        let mut sum = Checksum::new();
        sum.add(self.color.as_bytes());
        for number in [self.x, self.y, self.shapesize] {
            sum.add(&number.to_le_bytes());
        }
        facts(self.x.unsigned_abs(), self.key(), sum)
    }

    fn key(&self) -> String {
        self.color.clone()
    }
}

impl Value for Keyless {
    fn make(options: &Options, seq: u32, _key: &str) -> Option<Self> {
        let octet = |i: u32| seq.wrapping_mul(31).wrapping_add(i.wrapping_mul(7)) as u8;
        Some(Self {
            seq,
            payload: (0..options.size_bytes).map(octet).collect(),
        })
    }

    fn facts(&self) -> Facts {
        let mut sum = Checksum::new();
        sum.add(&self.payload);
        facts(self.seq, self.key(), sum)
    }

    fn key(&self) -> String {
        "-".into()
    }
}

impl Value for Telemetry {
    fn make(_options: &Options, seq: u32, key: &str) -> Option<Self> {
        let id = key.parse().ok()?;
        Some(Self {
            id,
            seq,
            valid: seq % 2 == 1,
            value: f64::from(id) + 0.5 * f64::from(seq),
            origin: Place {
                host: format!("host-{id}"),
                port: (seq % 65_536) as u16,
            },
            tags: (0..seq % 4).map(|i| format!("tag-{seq}-{i}")).collect(),
            window: (0..seq % 5)
                .map(|i| f64::from(seq) + 0.25 * f64::from(i))
                .collect(),
        })
    }

    fn facts(&self) -> Facts {
        let mut sum = Checksum::new();
        sum.add(&self.id.to_le_bytes());
        sum.add(&self.seq.to_le_bytes());
        sum.add(&[u8::from(self.valid)]);
        sum.add(&self.value.to_le_bytes());
        sum.add(self.origin.host.as_bytes());
        sum.add(&self.origin.port.to_le_bytes());
        for tag in &self.tags {
            sum.add(tag.as_bytes());
        }
        for value in &self.window {
            sum.add(&value.to_le_bytes());
        }
        facts(self.seq, self.key(), sum)
    }

    fn key(&self) -> String {
        self.id.to_string()
    }
}

fn facts(seq: u32, key: String, sum: Checksum) -> Facts {
    Facts {
        seq,
        key,
        crc: sum.value(),
        length: sum.length(),
    }
}

/// The sample `seq` of `key`.
pub(super) fn make<T: Value>(options: &Options, seq: u32, key: &str) -> Result<T, End> {
    T::make(options, seq, key).ok_or_else(|| End::Usage(format!("no sample {seq} of key {key}")))
}
