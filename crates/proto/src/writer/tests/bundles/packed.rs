//! Bundles that leave compressed as a whole.

use whimbrel_base::guid::GuidPrefix;

use super::*;

#[test]
fn only_bundles_leave_compressed_and_only_where_everybody_takes_that() {
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
        now = now.after(Duration::from_nanos(500));
        if put(&mut writer, &mut sent, now, 1)[0] > 0 {
            let began = now;
            now = now.after(Duration::from_micros(6));
            depart(&mut writer, began, now);
        }
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
    let mut held = limit(Bundling::Off, all);
    held.suspend();
    assert!(held.packed_together_bytes_max() > 0);
}
