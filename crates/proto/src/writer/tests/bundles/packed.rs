//! Bundles that leave compressed as a whole.

use whimbrel_base::guid::GuidPrefix;

use super::*;
use crate::peer::MatchedReader;

#[test]
fn only_bundles_leave_compressed_and_only_where_everybody_at_an_address_takes_that() {
    let (mut writer, mut sent) = bundling(up_to(1400), |config| {
        config.packed_messages = CompressionIds::LZ4;
    });
    let mut leaves = |writer: &mut Writer, samples| {
        put(writer, &mut sent, NOW, samples);
        writer.flush();
        writer.poll_transmit(NOW, &mut sent);
        core::mem::take(&mut sent.packed)
    };
    assert_eq!(leaves(&mut writer, 3), 0, "nobody said so");
    let mut reader = matched(true, false);
    reader.packed_messages = CompressionIds::ALL;
    writer.handle_matched(NOW, reader);
    assert_eq!(leaves(&mut writer, 3), 1);
    assert_eq!(leaves(&mut writer, 1), 0, "a lone sample");
    let mut other = matched(false, false);
    other.guid.prefix = GuidPrefix([9; 12]);
    other.packed_messages = CompressionIds::ZLIB;
    let guid = other.guid;
    writer.handle_matched(NOW, other);
    assert_eq!(leaves(&mut writer, 3), 0, "one takes another codec");
    writer.handle_unmatched(NOW, guid, false);
    assert_eq!(leaves(&mut writer, 3), 1);
}

/// What left to which ports, and whether it may be compressed.
#[derive(Default)]
struct Ways(Vec<(Vec<u32>, bool, Vec<u8>)>);

impl Ways {
    fn note(&mut self, to: &[Locator], packs: bool, parts: &[&[u8]]) {
        let ports = to.iter().map(|it| it.port).collect();
        self.0.push((ports, packs, parts.concat()));
    }
}

impl Outbox for Ways {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        self.note(to, false, parts);
    }

    fn send_bundle(&mut self, to: &[Locator], parts: &[&[u8]]) {
        self.note(to, true, parts);
    }
}

fn reader_at(port: u16, packed_messages: CompressionIds) -> MatchedReader {
    let mut reader = matched(false, false);
    reader.guid.prefix = GuidPrefix([port as u8; 12]);
    reader.locators = vec![SocketAddr::from(([127, 0, 0, 1], port)).into()];
    reader.packed_messages = packed_messages;
    reader
}

#[test]
fn a_reader_of_another_vendor_gets_bundles_plain_and_the_others_theirs_compressed() {
    let (all, none) = (CompressionIds::ALL, CompressionIds::NONE);
    let mut writer = writer(|config| {
        config.bundling = up_to(1400);
        config.packed_messages = CompressionIds::LZ4;
    });
    let leave = |writer: &mut Writer, samples| {
        let mut sent = Ways::default();
        for _ in 0..samples {
            writer.write(NOW, change(100)).unwrap();
        }
        writer.flush();
        writer.poll_transmit(NOW, &mut sent);
        let ways: Vec<_> = sent.0.iter().map(|it| (it.0.clone(), it.1)).collect();
        assert!(sent.0.windows(2).all(|two| two[0].2 == two[1].2), "alike");
        ways
    };
    let foreign = reader_at(2, none);
    for reader in [reader_at(1, all), reader_at(3, all), foreign.clone()] {
        writer.handle_matched(NOW, reader);
    }
    let both = [(vec![1, 3], true), (vec![2], false)];
    assert_eq!(leave(&mut writer, 3), both);
    let plain = [(vec![1, 3], false), (vec![2], false)];
    assert_eq!(leave(&mut writer, 1), plain, "a lone sample");
    // Where it listens nobody else gets them compressed.
    let mut beside = reader_at(2, all);
    beside.guid.prefix = GuidPrefix([9; 12]);
    writer.handle_matched(NOW, beside);
    assert_eq!(leave(&mut writer, 3), both);
    writer.handle_unmatched(NOW, foreign.guid, false);
    assert_eq!(leave(&mut writer, 3), [(vec![1, 3, 2], true)]);
    // It may move, and learn.
    let mut moved = reader_at(1, all);
    moved.packed_messages = none;
    writer.handle_matched(NOW, moved);
    assert_eq!(
        leave(&mut writer, 3),
        [(vec![3, 2], true), (vec![1], false)]
    );
}

#[test]
fn time_to_compress_is_no_pause_and_bundles_end_it() {
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |config| {
        config.packed_messages = CompressionIds::LZ4;
    });
    let mut reader = matched(true, false);
    reader.packed_messages = CompressionIds::ALL;
    writer.handle_matched(NOW, reader);
    let mut now = NOW;
    let mut alone = 0;
    for _ in 0..1000 {
        // A loop that does nothing else; a sample by itself takes longer to compress than to send.
        if writer.packed_together_bytes_max() < 16 {
            alone += 1;
            let took = Duration::from_micros(30);
            now = now.after(took);
            writer.note_packing(took);
        }
        put_next(&mut writer, &mut sent, &mut now, Duration::from_nanos(500));
    }
    assert!(alone < 20, "{alone} were compressed alone");
    assert!(
        sent.packed > 0 && sent.packed < 1000 / 20,
        "{}",
        sent.packed
    );
}

#[test]
fn only_what_leaves_in_compressed_bundles_is_not_compressed_alone() {
    let limit = |bundling_of, taken| {
        let (mut writer, _) = bundling(bundling_of, |config| {
            config.packed_messages = CompressionIds::LZ4;
        });
        let mut reader = matched(true, false);
        reader.packed_messages = taken;
        writer.handle_matched(NOW, reader);
        writer
    };
    let all = CompressionIds::ALL;
    assert_eq!(limit(Bundling::Off, all).packed_together_bytes_max(), 0);
    assert_eq!(
        limit(Bundling::Automatic, all).packed_together_bytes_max(),
        0
    );
    let together = limit(up_to(1400), all).packed_together_bytes_max();
    assert!((500..700).contains(&together), "{together}");
    let other = limit(up_to(1400), CompressionIds::ZLIB);
    assert_eq!(other.packed_together_bytes_max(), 0);
    assert!(!other.leaves_in_packed_message(10));
    // Alone or not, but not in fragments.
    for bundling_of in [Bundling::Off, up_to(1400)] {
        let packs = limit(bundling_of, all);
        assert!(packs.leaves_in_packed_message(1000));
        assert!(!packs.leaves_in_packed_message(100_000));
    }
    let mut beside = limit(up_to(1400), all);
    beside.handle_matched(NOW, reader_at(5, CompressionIds::NONE));
    assert_eq!(beside.packed_together_bytes_max(), together);
    // One who takes what is compressed alone, and nothing else, is to have it so.
    let mut alone = reader_at(6, CompressionIds::NONE);
    alone.packed = true;
    beside.handle_matched(NOW, alone);
    assert_eq!(beside.packed_together_bytes_max(), 0);
    let mut held = limit(Bundling::Off, all);
    held.suspend();
    assert!(held.packed_together_bytes_max() > 0);
}
