//! Blocks of octets of a kind and size.

use std::fmt;
use std::io::Read as _;
use std::path::PathBuf;
use std::str::FromStr;

use crate::image::image;
use crate::log::LogLines;
use crate::random::Random;

/// A kind of octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Payload {
    /// Lines of a log, see [`LogLines`].
    Log,
    /// Zeros: the kindest case of all, which real data never is.
    Zeros,
    /// Noise that no codec makes smaller.
    Random,
    /// Pixels of a picture with a sensor's noise.
    Image,
    /// What a file holds, from its start, and again from its start where that is not enough.
    File(PathBuf),
}

/// Largest file that is read, in octets.
const FILE_MAX: u64 = 1 << 30;

/// Why there is no payload.
#[derive(Debug)]
pub enum PayloadError {
    /// The name is neither that of a kind nor `file:` with a path.
    Unknown(String),
    /// The file cannot be read.
    Unreadable(PathBuf, std::io::Error),
    /// The file is empty, or larger than 1 GiB.
    Unusable(PathBuf, u64),
}

impl Payload {
    /// So many octets of the kind; the seed has no say where a file or zeros are asked for.
    pub fn octets(&self, seed: u64, length: usize) -> Result<Vec<u8>, PayloadError> {
        Ok(match self {
            Self::Log => log(seed, length),
            Self::Zeros => vec![0; length],
            Self::Random => noise(seed, length),
            Self::Image => image(seed, length),
            Self::File(path) => {
                let content = read(path)?;
                content.iter().copied().cycle().take(length).collect()
            }
        })
    }
}

fn log(seed: u64, length: usize) -> Vec<u8> {
    let mut octets = Vec::with_capacity(length + 512);
    for line in LogLines::new(seed) {
        if octets.len() >= length {
            break;
        }
        octets.extend_from_slice(line.as_bytes());
        octets.push(b'\n');
    }
    octets.truncate(length);
    octets
}

fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut octets = Vec::with_capacity(length + 8);
    while octets.len() < length {
        octets.extend_from_slice(&random.next_u64().to_le_bytes());
    }
    octets.truncate(length);
    octets
}

fn read(path: &PathBuf) -> Result<Vec<u8>, PayloadError> {
    let unreadable = |error| PayloadError::Unreadable(path.clone(), error);
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut content = Vec::new();
    file.take(FILE_MAX + 1)
        .read_to_end(&mut content)
        .map_err(unreadable)?;
    let length = content.len() as u64;
    if length == 0 || length > FILE_MAX {
        return Err(PayloadError::Unusable(path.clone(), length));
    }
    Ok(content)
}

impl FromStr for Payload {
    type Err = PayloadError;

    /// `log`, `zeros`, `random`, `image` or `file:PATH`.
    fn from_str(name: &str) -> Result<Self, PayloadError> {
        Ok(match name {
            "log" => Self::Log,
            "zeros" => Self::Zeros,
            "random" => Self::Random,
            "image" => Self::Image,
            _ => match name.strip_prefix("file:") {
                Some(path) if !path.is_empty() => Self::File(path.into()),
                _ => return Err(PayloadError::Unknown(name.into())),
            },
        })
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log => f.write_str("log"),
            Self::Zeros => f.write_str("zeros"),
            Self::Random => f.write_str("random"),
            Self::Image => f.write_str("image"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(
                f,
                "{name:?} is no payload: there are log, zeros, random, image and file:PATH"
            ),
            Self::Unreadable(path, error) => {
                write!(f, "cannot read the payload {}: {error}", path.display())
            }
            Self::Unusable(path, 0) => write!(f, "the payload {} is empty", path.display()),
            Self::Unusable(path, _) => write!(
                f,
                "the payload {} has more than {FILE_MAX} octets",
                path.display()
            ),
        }
    }
}

impl std::error::Error for PayloadError {}
