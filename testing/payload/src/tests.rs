use std::path::PathBuf;

use flate2::{Compress, Compression, FlushCompress};
use sha2::{Digest as _, Sha256};

use super::*;

/// Octets of a compressed sample before the stream: encapsulation header and length.
const HEADER: usize = 8;

fn packed(plain: &[u8]) -> usize {
    let mut out = Vec::with_capacity(plain.len() + 256);
    Compress::new(Compression::best(), true)
        .compress_vec(plain, &mut out, FlushCompress::Finish)
        .unwrap();
    out.len()
}

/// What ZLIB at level 9 saves of so many lines at a time, in percent.
fn saved(lines: &[String], together: usize) -> f64 {
    let (mut before, mut after) = (0, 0);
    for group in lines.chunks(together) {
        let plain = group.concat().into_bytes();
        before += plain.len();
        after += plain.len().min(packed(&plain) + HEADER);
    }
    100.0 - 100.0 * after as f64 / before as f64
}

fn hash(octets: &[u8]) -> String {
    let digest = Sha256::digest(octets);
    digest.iter().map(|it| format!("{it:02x}")).collect()
}

#[test]
fn savings_of_the_log_are_those_of_the_study() {
    let lines: Vec<String> = LogLines::new(SEED).take(3_000).collect();
    for (together, wanted) in [(1, 23.87), (2, 46.57), (5, 68.12), (10, 75.42)] {
        let got = saved(&lines, together);
        println!("{together}: {got:.2} % of {wanted} %");
        assert!((got - wanted).abs() <= 2.0, "{together}: {got} {wanted}");
    }
}

#[test]
fn the_same_seed_gives_the_same_octets() {
    for (kind, wanted) in [
        (
            Payload::Log,
            "96afcdfb58d92ab2797961130b9d640d356513f269c16115802fa31e4e880cb7",
        ),
        (
            Payload::Random,
            "408a12070e3a469429491a2483bcd51929226e5bb4d205f5115c926ff20223e4",
        ),
        (
            Payload::Image,
            "a94d2d1a214a6156a707b94191061b2db955bfb271bb67883e0a44b5acab58f8",
        ),
    ] {
        let octets = kind.octets(SEED, 1_000_000).unwrap();
        assert_eq!(octets.len(), 1_000_000, "{kind}");
        assert_eq!(hash(&octets), wanted, "{kind}");
        assert_ne!(octets, kind.octets(SEED + 1, 1_000_000).unwrap(), "{kind}");
    }
}

#[test]
fn entropy_tells_noise_from_text_and_zeros() {
    let entropy = |kind: Payload| entropy_bits(&kind.octets(SEED, 200_000).unwrap());
    assert!(entropy(Payload::Random) > 7.99);
    let log = entropy(Payload::Log);
    assert!((4.5..5.7).contains(&log), "{log}");
    let image = entropy(Payload::Image);
    assert!((6.0..7.9).contains(&image), "{image}");
    assert_eq!(entropy(Payload::Zeros), 0.0);
    assert_eq!(entropy_bits(&[]), 0.0);
    assert_eq!(entropy_bits(&[1, 2, 3, 4]), 2.0);
}

#[test]
fn arrivals_have_the_mean_that_was_asked_for() {
    let mut random = Random::new(SEED);
    let sum: u64 = (0..100_000).map(|_| random.exponential(5_000)).sum();
    assert!((4_900..5_100).contains(&(sum / 100_000)), "{sum}");
}

#[test]
fn names_of_kinds_read_as_they_print() {
    for name in ["log", "zeros", "random", "image", "file:/a b"] {
        assert_eq!(name.parse::<Payload>().unwrap().to_string(), name);
    }
    let error = "noise".parse::<Payload>().unwrap_err().to_string();
    assert!(error.contains("\"noise\" is no payload"), "{error}");
    assert!("file:".parse::<Payload>().is_err());
}

#[test]
fn files_repeat_and_bad_files_are_refused() {
    let folder = std::env::temp_dir().join(format!("whimbrel-payload-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("abc");
    std::fs::write(&file, "abc").unwrap();
    assert_eq!(Payload::File(file).octets(0, 7).unwrap(), b"abcabca");
    let empty = folder.join("empty");
    std::fs::write(&empty, "").unwrap();
    let error = |path: PathBuf| Payload::File(path).octets(0, 1).unwrap_err();
    assert!(error(empty).to_string().ends_with("is empty"));
    assert!(matches!(
        error(folder.join("none")),
        PayloadError::Unreadable(..)
    ));
    std::fs::remove_dir_all(&folder).unwrap();
}
