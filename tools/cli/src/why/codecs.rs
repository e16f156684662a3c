//! By which codec samples travel from a writer to a reader, or why by none.

use whimbrel::qos::{Compression, CompressionIds, DataRepresentation};

/// What a writer and a reader have announced of codecs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codecs {
    /// The writer's.
    offered: CompressionIds,
    /// The reader's; `None` where it says nothing, as those of other vendors.
    taken: Option<CompressionIds>,
    /// The reader reads the encoding that the writer writes.
    reads: bool,
}

impl Codecs {
    pub(super) fn of(writer: &DataRepresentation, reader: &DataRepresentation) -> Self {
        Self {
            offered: writer.compression.offered(),
            taken: reader.compression.compression_ids,
            reads: reader.effective().contains(&writer.first()),
        }
    }

    fn reader(self) -> Compression {
        Compression {
            compression_ids: self.taken,
            ..Compression::default()
        }
    }

    /// They keep the two from matching.
    fn refuse(self) -> bool {
        !self.reader().accepts(self.offered)
    }

    /// What of a pair that matches leaves plain though the writer compresses: why, and what to
    /// change if it is not to. `batches_by_any`: the reader knows batches of whatever codec.
    pub(super) fn note(self, batches_by_any: bool) -> Option<String> {
        let batches = || (!batches_by_any).then(|| self.plain_batches()).flatten();
        self.plain().or_else(batches)
    }

    /// Connext knows no batches that are compressed by anything but ZLIB.
    fn plain_batches(self) -> Option<String> {
        let is_known = self.offered.is_empty() || self.offered == CompressionIds::ZLIB;
        (!is_known && self.reader().takes(self.offered)).then(|| {
            format!(
                "batches, where the writer makes such, leave plain for this reader: another \
                 vendor's knows only those compressed by ZLIB; let the writer compress by ZLIB, \
                 not by {}, to have them compressed",
                listed(self.offered)
            )
        })
    }

    /// Where the two may match, but nothing is compressed for the reader: why, and what to change
    /// if it is to be.
    fn plain(self) -> Option<String> {
        if self.offered.is_empty() || self.refuse() || self.reader().takes(self.offered) {
            return None;
        }
        let offered = listed(self.offered);
        Some(match self.taken {
            None => format!(
                "samples leave plain for this reader: the writer compresses by {offered}, the \
                 reader says nothing of codecs"
            ),
            Some(taken) => format!(
                "samples leave plain for this reader: the writer compresses by {offered}, the \
                 reader takes {}; {}, to have them compressed",
                listed(taken),
                self.same()
            ),
        })
    }

    /// What to change for DATA_REPRESENTATION to match.
    pub(super) fn advice(self) -> String {
        let reads = "let the reader accept the first representation that the writer offers";
        let reads = (!self.reads).then(|| reads.to_owned());
        let same = self.refuse().then(|| self.same());
        let both: Vec<_> = reads.into_iter().chain(same).collect();
        both.join("; ")
    }

    /// What to change for samples to be compressed.
    fn same(self) -> String {
        let offered = listed(self.offered);
        let reader = format!("let the reader take {offered} too (`compression_ids`)");
        match self.taken.filter(|it| !it.is_empty()) {
            None => reader,
            Some(taken) if taken.count() == 1 => {
                format!("{reader}, or the writer compress by {}", listed(taken))
            }
            Some(taken) => format!(
                "{reader}, or the writer compress by one of {}",
                listed(taken)
            ),
        }
    }
}

fn listed(ids: CompressionIds) -> String {
    let names: Vec<_> = ids.iter().map(|it| it.to_string()).collect();
    if names.is_empty() {
        return "no codec".into();
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codecs(offered: CompressionIds, taken: Option<CompressionIds>) -> Codecs {
        let of = |compression_ids| DataRepresentation {
            compression: Compression {
                compression_ids,
                ..Compression::default()
            },
            ..DataRepresentation::default()
        };
        Codecs::of(&of(Some(offered)), &of(taken))
    }

    #[test]
    fn what_is_compressed_or_kept_from_matching_does_not_leave_plain() {
        let (zlib, lzo, none) = (
            CompressionIds::ZLIB,
            CompressionIds::LZO,
            CompressionIds::NONE,
        );
        for (offered, taken, refuse) in [
            (none, None, false),
            (none, Some(zlib), false),
            (zlib, Some(zlib | lzo), false),
            (lzo, Some(CompressionIds::ALL), false),
            (zlib, Some(lzo), true),
            (zlib, Some(none), true),
        ] {
            let it = codecs(offered, taken);
            assert_eq!((it.plain(), it.refuse()), (None, refuse), "{it:?}");
        }
    }

    #[test]
    fn who_takes_another_codec_gets_plain_samples_and_is_told_what_to_change() {
        let lzo = CompressionIds::LZO;
        let both = CompressionIds::ZLIB | CompressionIds::LZ4;
        let plain = codecs(lzo, Some(both)).plain().unwrap();
        assert_eq!(
            plain,
            "samples leave plain for this reader: the writer compresses by LZO, the reader takes \
             ZLIB, LZ4; let the reader take LZO too (`compression_ids`), or the writer compress by \
             one of ZLIB, LZ4, to have them compressed"
        );
        let plain = codecs(lzo, Some(CompressionIds::NONE)).plain().unwrap();
        assert!(plain.contains("takes no codec; let the reader take LZO too"));
        let plain = codecs(CompressionIds::ZLIB, None).plain().unwrap();
        assert!(
            plain.ends_with("the reader says nothing of codecs"),
            "{plain}"
        );
    }

    #[test]
    fn batches_leave_plain_for_a_foreign_reader_unless_by_zlib() {
        let (zlib, lz4) = (CompressionIds::ZLIB, CompressionIds::LZ4);
        let said = |offered, taken, by_any| codecs(offered, taken).note(by_any);
        let note = said(lz4, Some(lz4 | zlib), false).unwrap();
        assert!(note.starts_with("batches, where") && note.contains("not by LZ4"));
        assert_eq!(said(lz4, Some(lz4), true), None);
        assert_eq!(said(zlib, Some(lz4 | zlib), false), None);
        assert_eq!(said(CompressionIds::NONE, Some(lz4), false), None);
        let all = said(lz4, None, false).unwrap();
        assert!(all.starts_with("samples leave plain"), "{all}");
    }

    #[test]
    fn what_does_not_match_is_to_be_changed_and_nothing_else() {
        let mut it = codecs(CompressionIds::LZ4, Some(CompressionIds::ZLIB));
        let codec =
            "let the reader take LZ4 too (`compression_ids`), or the writer compress by ZLIB";
        assert_eq!(it.advice(), codec);
        it.reads = false;
        assert!(it.advice().ends_with(codec) && it.advice().contains("representation"));
        let it = Codecs {
            reads: false,
            ..codecs(CompressionIds::LZO, Some(CompressionIds::ZLIB))
        };
        assert!(!it.advice().contains("LZO"), "{it:?}");
    }
}
