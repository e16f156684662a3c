use super::*;

/// Octets from a small generator, of which `alphabet` differ.
fn noise(length: usize, alphabet: u32) -> Vec<u8> {
    let mut state = 12_345u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) % alphabet) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn text(length: usize) -> Vec<u8> {
    let words = noise(length / 4 + 1, 50);
    let lines = words.iter().enumerate();
    let text: String = lines
        .map(|(at, it)| format!("{at} [INFO] word{it} of the {} sort; ", it % 7))
        .collect();
    text.into_bytes()[..length].to_vec()
}

fn inputs() -> Vec<Vec<u8>> {
    let mut inputs = vec![
        vec![],
        vec![7],
        vec![0; 100_000],
        b"abcabcabcabcabcabcabc".to_vec(),
    ];
    for length in [
        2, 3, 4, 5, 11, 12, 13, 14, 20, 64, 100, 1000, 8192, 65_534, 65_536, 300_000,
    ] {
        inputs.push(text(length));
        inputs.push(noise(length, 256));
        inputs.push(noise(length, 3));
        inputs.push(vec![9; length]);
    }
    inputs
}

fn kinds() -> impl Iterator<Item = CodecKind> {
    CodecKind::ALL.into_iter().filter(|it| it.exists())
}

fn codec(kind: CodecKind, level: u8) -> Box<dyn Codec> {
    kind.codec(Level::new(level)).unwrap()
}

#[test]
fn everything_comes_back_at_every_level() {
    for kind in kinds() {
        for level in 0..=10 {
            let mut codec = codec(kind, level);
            for plain in inputs() {
                if plain.len() > 10_000 && level != 1 && level != 6 {
                    continue;
                }
                let mut out = vec![0; plain.len() * 2 + 600];
                let length = codec.compress(&plain, &mut out).unwrap();
                let mut back = vec![1; plain.len()];
                let packed = &out[..length];
                let outcome = codec.decompress(packed, &mut back);
                assert_eq!(outcome, Ok(()), "{kind} {level} {}", plain.len());
                assert_eq!(back, plain, "{kind} {level}");
                assert!(plain.len() <= kind.claim_bytes_max(length));
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let plain = text(5000);
    for kind in kinds() {
        for level in [1, 10] {
            let mut codec = codec(kind, level);
            let mut out = vec![0; 8000];
            let length = codec.compress(&plain, &mut out).unwrap();
            assert!(length < 4500, "{kind} {level}: {length}");
            for room in [0, 1, length / 2, length - 1] {
                let outcome = codec.compress(&plain, &mut out[..room]);
                assert_eq!(outcome, Err(NoRoom), "{kind} {level} {room}");
            }
            // ZSTD wants a little more than it uses.
            let again = codec.compress(&plain, &mut out[..length + 64]);
            assert_eq!(again, Ok(length), "{kind} {level}");
        }
    }
}

#[test]
fn other_lengths_and_what_follows_are_damage() {
    for kind in kinds() {
        let mut codec = codec(kind, 5);
        for plain in [text(3000), noise(40, 5)] {
            let mut out = vec![0; 8000];
            let length = codec.compress(&plain, &mut out).unwrap();
            let mut back = vec![0; plain.len() + 300];
            for wrong in [0, 1, plain.len() - 1, plain.len() + 1, plain.len() + 300] {
                let outcome = codec.decompress(&out[..length], &mut back[..wrong]);
                assert_eq!(outcome, Err(Damaged), "{kind} {wrong}");
            }
            let room = &mut back[..plain.len()];
            for cut in [0, 1, length / 2, length - 1, length + 1, length + 9] {
                let outcome = codec.decompress(&out[..cut], room);
                assert_eq!(outcome, Err(Damaged), "{kind} {cut} of {length}");
            }
            assert_eq!(codec.decompress(&out[..length], room), Ok(()), "{kind}");
        }
    }
}

#[test]
#[cfg(feature = "zstd")]
fn a_second_frame_is_damage() {
    let mut codec = codec(CodecKind::Zstd, 5);
    let mut frame_of = |plain: &[u8]| {
        let mut out = vec![0; 4000];
        let length = codec.compress(plain, &mut out).unwrap();
        out.truncate(length);
        out
    };
    let plain = text(3000);
    let (frame, empty) = (frame_of(&plain), frame_of(&[]));
    // RFC 8878 §3.1.2.
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 7, 7, 7];
    let mut back = vec![0; plain.len()];
    for other in [&empty[..], &skippable] {
        for both in [[&frame[..], other].concat(), [other, &frame].concat()] {
            assert_eq!(codec.decompress(&both, &mut back), Err(Damaged));
        }
    }
    assert_eq!(codec.decompress(&skippable, &mut []), Err(Damaged));
    assert_eq!(codec.decompress(&empty, &mut []), Ok(()));
    assert_eq!(codec.decompress(&frame, &mut back), Ok(()));
}

#[test]
fn damaged_octets_end_in_an_error_or_in_octets() {
    let plain = text(2000);
    for kind in kinds() {
        let mut codec = codec(kind, 9);
        let mut out = vec![0; 4000];
        let length = codec.compress(&plain, &mut out).unwrap();
        let mut back = vec![0; plain.len()];
        for (at, by) in (0..length).zip([1, 0x80, 0xff].into_iter().cycle()) {
            let mut damaged = out[..length].to_vec();
            damaged[at] ^= by;
            let _ = codec.decompress(&damaged, &mut back);
        }
        // What was refused leaves nothing behind.
        assert_eq!(
            codec.decompress(&out[..length], &mut back),
            Ok(()),
            "{kind}"
        );
        assert_eq!(back, plain, "{kind}");
    }
}

#[test]
fn higher_levels_make_text_smaller() {
    let plain = text(60_000);
    let length = |kind, level| {
        let mut out = vec![0; 100_000];
        codec(kind, level).compress(&plain, &mut out).unwrap()
    };
    for kind in
        kinds().filter(|it| !matches!(it, CodecKind::Huffman | CodecKind::Lzo | CodecKind::Bzip2))
    {
        let (least, best) = (length(kind, 1), length(kind, 10));
        assert!(best < least, "{kind}: {best} {least}");
    }
}

/// Which levels come to the same octets: how each kind documents them.
#[test]
fn levels_are_those_that_each_codec_documents() {
    // Text in which what was there before differs by how far one looks, more than one block long.
    let plain = [text(150_000), noise(20_000, 3), text(80_000)].concat();
    let small = text(20_000);
    for kind in kinds() {
        let packed = |plain: &[u8], level| {
            let mut out = vec![0; plain.len() * 2];
            let length = codec(kind, level).compress(plain, &mut out).unwrap();
            out.truncate(length);
            out
        };
        let same: Vec<bool> = (2..=10)
            .map(|level| packed(&plain, level - 1) == packed(&plain, level))
            .collect();
        // Level 2 as 1, 3 as 2, up to 10 as 9.
        let documented = match kind {
            CodecKind::Lzo | CodecKind::Huffman => [true; 9],
            CodecKind::Lz4 => [true, true, true, true, false, false, false, false, false],
            CodecKind::Zlib | CodecKind::Lz => {
                let mut last = [false; 9];
                last[8] = true;
                last
            }
            // Three blocks hold all of it.
            CodecKind::Bzip2 => [false, false, true, true, true, true, true, true, true],
            CodecKind::Zstd => [false; 9],
        };
        assert_eq!(same, documented, "{kind}");
        if kind == CodecKind::Bzip2 {
            assert_eq!(packed(&small, 1), packed(&small, 10));
        }
    }
}

#[test]
fn names_are_read_as_they_are_written() {
    for kind in CodecKind::ALL {
        assert_eq!(kind.to_string().to_uppercase().parse(), Ok(kind));
    }
    let error = "rar".parse::<CodecKind>().unwrap_err();
    assert!(
        error.starts_with("\"rar\" is no codec: there are zlib,"),
        "{error}"
    );
    assert_eq!(Level::new(99), Level::BEST);
}
