//! `-loadDataFromFile`: samples are pieces of a file, one after the other.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::failure::Failure;
use crate::message::OVERHEAD_BYTES;

/// The pieces of a file.
#[derive(Debug)]
pub(crate) struct Pieces {
    pieces: Vec<Vec<u8>>,
    next: usize,
}

impl Pieces {
    /// Cuts `path` into data of samples of `data_len` octets; without, all of it is one sample. At
    /// most `bytes_max` of it are read.
    ///
    /// # Errors
    /// A file that cannot be read or is smaller than a sample.
    pub(crate) fn load(
        path: &Path,
        data_len: Option<usize>,
        bytes_max: u64,
    ) -> Result<Self, Failure> {
        let name = path.display();
        let refuse = |why: String| Failure::Options(format!("-loadDataFromFile {name}: {why}"));
        let mut content = Vec::new();
        File::open(path)
            .and_then(|file| file.take(bytes_max).read_to_end(&mut content))
            .map_err(|error| refuse(error.to_string()))?;
        let size = data_len.map_or(content.len(), |it| it - OVERHEAD_BYTES);
        if content.is_empty() {
            return Err(refuse("it is empty".into()));
        }
        if content.len() < size {
            let has = content.len();
            return Err(refuse(format!(
                "it has {has} octets, and a sample {size} beside its overhead"
            )));
        }
        // Samples without data still go one after the other.
        let pieces = match size {
            0 => vec![Vec::new()],
            _ => content.chunks_exact(size).map(<[u8]>::to_vec).collect(),
        };
        Ok(Self { pieces, next: 0 })
    }

    /// Octets of each sample, with its overhead.
    pub(crate) fn data_len(&self) -> usize {
        self.pieces.first().map_or(0, Vec::len) + OVERHEAD_BYTES
    }

    /// Puts the next piece into `data` and takes back the one that was there.
    pub(crate) fn turn(&mut self, data: &mut Vec<u8>) {
        let last = (self.next + self.pieces.len() - 1) % self.pieces.len();
        if self.pieces[last].is_empty() && !data.is_empty() {
            std::mem::swap(data, &mut self.pieces[last]);
        }
        std::mem::swap(data, &mut self.pieces[self.next]);
        self.next = (self.next + 1) % self.pieces.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn file(name: &str, content: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("perftest-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        path
    }

    #[test]
    fn pieces_come_in_turn_and_are_not_copied() {
        let path = file("turn", b"aaabbbcccd");
        let mut pieces = Pieces::load(&path, Some(31), 1 << 20).unwrap();
        assert_eq!(pieces.data_len(), 31);
        let mut data = Vec::new();
        let mut turn = || {
            pieces.turn(&mut data);
            String::from_utf8(data.clone()).unwrap()
        };
        let got: Vec<String> = (0..7).map(|_| turn()).collect();
        assert_eq!(got, ["aaa", "bbb", "ccc", "aaa", "bbb", "ccc", "aaa"]);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn one_piece_or_none_will_do() {
        let path = file("one", b"all of it");
        for (data_len, size) in [(None, 9), (Some(37), 9), (Some(28), 0)] {
            let mut pieces = Pieces::load(&path, data_len, 1 << 20).unwrap();
            let mut data = Vec::new();
            for _ in 0..3 {
                pieces.turn(&mut data);
                assert_eq!(data.len(), size);
            }
        }
        let read = Pieces::load(&path, None, 3).unwrap();
        assert_eq!(read.data_len(), 31);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_cannot_be_cut_is_refused_by_name() {
        let path = file("small", b"ab");
        let why = Pieces::load(&path, Some(100), 1 << 20).unwrap_err();
        assert!(why.to_string().contains("it has 2 octets"), "{why}");
        let empty = file("empty", b"");
        let why = Pieces::load(&empty, None, 1 << 20).unwrap_err();
        assert!(why.to_string().ends_with("it is empty"), "{why}");
        let why = Pieces::load(Path::new("/nowhere/at all"), None, 1).unwrap_err();
        assert!(why.to_string().contains("/nowhere/at all: "), "{why}");
        for path in [path, empty] {
            std::fs::remove_file(path).unwrap();
        }
    }
}
