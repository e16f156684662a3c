//! Every codec, in every way to leave, in messages of every size: all arrives as it was written.

use whimbrel_base::qos::CompressionIds;
use whimbrel_proto::writer::{BatchLimits, Bundling};
use whimbrel_sim::forms::{Form, up_to};
use whimbrel_sim::scenario::{Scenario, script};
use whimbrel_sim::world::{Outcome, play};

/// None, and every one that there is.
const CODECS: [CompressionIds; 8] = [
    CompressionIds::NONE,
    CompressionIds::ZLIB,
    CompressionIds::BZIP2,
    CompressionIds::LZ4,
    CompressionIds::ZSTD,
    CompressionIds::LZO,
    CompressionIds::HUFFMAN,
    CompressionIds::LZ,
];

/// Largest datagrams: the smallest that IP promises, Ethernet, jumbo frames, the largest there are.
const DATAGRAM_BYTES: [usize; 4] = [508, 1472, 8952, 65_507];

/// Octets of samples, in this order: few at once, then one that needs fragments nearly everywhere.
const SAMPLE_BYTES: [usize; 16] = [
    20, 64, 64, 65, 66, 67, 68, 300, 300, 1000, 1300, 2, 5000, 100, 9001, 30_000,
];

/// Ways to leave.
fn ways() -> Vec<(Bundling, Option<BatchLimits>)> {
    let mut ways = vec![
        (Bundling::Off, None),
        (Bundling::Automatic, None),
        (up_to(400, 2), None),
        (up_to(1400, 2), None),
        (up_to(60_000, 5), None),
    ];
    for samples_max in [1, 5, u32::MAX] {
        let bytes_max = 60_000;
        let limits = BatchLimits {
            samples_max,
            bytes_max,
        };
        ways.push((up_to(65_507, 5), Some(limits)));
    }
    ways
}

fn scenario(form: Form, datagram_bytes: usize, loss: u32) -> Scenario {
    // A batch of one large sample leaves as one datagram, which IP takes apart on its way.
    let carried_bytes = match form.batch {
        Some(_) => 65_507,
        None => datagram_bytes,
    };
    let mut text = format!(
        "seed 7\n\
         network datagram-bytes={datagram_bytes} heals=100ms\n\
         topics keys=3\n\
         node host=0\n\
         node host=1\n\
         link from=0 to=1 loss={loss} delay=50us datagram-bytes={carried_bytes}\n\
         link from=1 to=0 loss={loss} delay=50us datagram-bytes={carried_bytes}\n\
         writer node=0 reliable durable unacknowledged-bytes=1000000\n\
         reader node=1 reliable durable reorder-samples=4096 reassembly-samples=16\n\
         reader node=1 reliable durable reorder-samples=4096 reassembly-samples=16\n\
         at 0s start writer=0\n\
         at 0s start reader=0\n"
    );
    for round in 0..3 {
        for (at, bytes) in SAMPLE_BYTES.iter().enumerate() {
            let ms = 1 + round * 20 + at / 8;
            let key = at % 3;
            text += &format!("at {ms}ms write writer=0 key={key} bytes={bytes}\n");
        }
    }
    // One that comes late gets all of it.
    text += "at 70ms start reader=1\n";
    let mut scenario = script::read(&text).expect("a scenario");
    scenario.writers[0].form = Some(form);
    scenario
}

fn played(form: Form, datagram_bytes: usize, loss: u32) -> Outcome {
    let scenario = scenario(form, datagram_bytes, loss);
    let outcome = play(&scenario, false);
    let findings = &outcome.findings;
    assert!(
        findings.is_empty(),
        "{form:?} in {datagram_bytes}, {loss} of 1000 lost: {findings:#?}\n{scenario}"
    );
    outcome
}

/// Writers of one node to the same reader, each of which writes fifty samples.
const CROWD: usize = 3;

/// What they write; `words` are said of the network.
fn crowd(seed: u64, words: &str, loss: u32) -> Scenario {
    let mut text = format!(
        "seed {seed}\n\
         network {words} heals=200ms\n\
         topics keys=3\n\
         node host=0\n\
         node host=1\n\
         link from=0 to=1 loss={loss} delay=50us\n\
         link from=1 to=0 loss={loss} delay=50us\n\
         reader node=1 reliable durable reorder-samples=4096 reassembly-samples=16\n\
         at 0s start reader=0\n"
    );
    for writer in 0..CROWD {
        text += "writer node=0 reliable durable unacknowledged-bytes=1000000\n";
        text += &format!("at 0s start writer={writer}\n");
    }
    for round in 0..50 {
        for writer in 0..CROWD {
            let (at, key) = (1000 + round * 700 + writer * 10, round % 3);
            let bytes = 30 + 100 * ((round + writer) % 4);
            text += &format!("at {at}us write writer={writer} key={key} bytes={bytes}\n");
        }
    }
    script::read(&text).expect("a scenario")
}

/// Plays it with writers that compress by `codecs` and whose bundles differ in size.
fn played_alike(codecs: [CompressionIds; CROWD], loss: u32) -> Outcome {
    let mut scenario = crowd(7, "", loss);
    for (at, codec) in codecs.into_iter().enumerate() {
        scenario.writers[at].form = Some(Form {
            codec,
            threshold: 0,
            bundling: up_to([1400, 60_000, 900][at], 2),
            batch: None,
        });
    }
    let outcome = play(&scenario, false);
    let findings = &outcome.findings;
    assert!(findings.is_empty(), "{codecs:?}, {loss}: {findings:#?}");
    outcome
}

#[test]
fn writers_of_a_node_share_bundles_and_all_of_it_arrives() {
    let (none, lz4, zlib) = (
        CompressionIds::NONE,
        CompressionIds::LZ4,
        CompressionIds::ZLIB,
    );
    let plain = played_alike([none; 3], 0).sent_bytes;
    for codecs in [[none; 3], [lz4; 3], [lz4, zlib, zlib], [zlib, none, zlib]] {
        for loss in [0, 200] {
            let outcome = played_alike(codecs, loss);
            let shared = outcome.shared_messages;
            assert!(shared > 10, "{codecs:?}, {loss}: {shared}");
            let smaller = outcome.sent_bytes * 10 < plain * 9;
            assert!(loss > 0 || smaller || codecs == [none; 3], "{codecs:?}");
        }
    }
    // Those that compress unlike have nothing in common.
    assert_eq!(
        played_alike([zlib, lz4, CompressionIds::LZO], 0).shared_messages,
        0
    );
}

#[test]
fn writers_that_bundle_and_compress_now_so_now_so_share_bundles_under_loss() {
    let mut shared = Vec::new();
    for seed in 0..60 {
        let outcome = play(&crowd(seed, "forms", 200), false);
        let findings = &outcome.findings;
        assert!(findings.is_empty(), "{seed}: {findings:#?}");
        shared.push(outcome.shared_messages);
    }
    let seeds = shared.iter().filter(|it| **it > 0).count();
    assert!(seeds > 15, "{shared:?}");
}

#[test]
fn every_codec_in_every_bundle_in_every_datagram_arrives_intact() {
    for datagram_bytes in DATAGRAM_BYTES {
        for (bundling, batch) in ways() {
            let form = |codec| Form {
                codec,
                threshold: 0,
                bundling,
                batch,
            };
            let plain = played(form(CompressionIds::NONE), datagram_bytes, 0).sent_bytes;
            for codec in CODECS {
                let sent = played(form(codec), datagram_bytes, 0).sent_bytes;
                let smaller = sent * 10 < plain * 9;
                assert_eq!(
                    smaller,
                    codec != CompressionIds::NONE,
                    "{codec} {bundling:?} {batch:?} in {datagram_bytes}: {sent} of {plain} octets"
                );
                played(form(codec), datagram_bytes, 200);
            }
        }
    }
}
