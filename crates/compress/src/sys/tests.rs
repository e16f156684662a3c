use super::*;

fn plain(length: usize) -> Vec<u8> {
    let line = b"0042 [INFO] what is written here comes again, but for a number: ";
    let numbered = |(at, byte): (usize, &u8)| byte.wrapping_add((at / 640) as u8);
    let all = line.iter().cycle().take(length).enumerate();
    all.map(numbered).collect()
}

fn starts(blocks: &Blocks) -> Vec<*mut c_void> {
    assert!(blocks.blocks.borrow().iter().all(|it| !it.is_lent));
    let mut starts: Vec<_> = blocks.blocks.borrow().iter().map(Block::start).collect();
    starts.sort();
    starts
}

/// How large what Miri goes through is.
const LARGE: usize = if cfg!(miri) { 2000 } else { 250_000 };

fn round(blocks: &mut Blocks, level: u8, plain: &[u8]) {
    let mut out = vec![0; plain.len() + 600];
    let length = blocks.compress(level, 30, plain, &mut out).unwrap();
    let mut back = vec![0; plain.len()];
    let parts = out[..length].split_at(length / 3);
    blocks.decompress(parts.into(), &mut back).unwrap();
    assert!(back == plain, "{level} {}", plain.len());
}

#[test]
fn what_was_used_once_is_used_again() {
    let mut blocks = Blocks::new();
    round(&mut blocks, 2, &plain(LARGE));
    let first = starts(&blocks);
    assert!(first.len() >= 4);
    for length in [0, 1, 1000, LARGE] {
        round(&mut blocks, 1, &plain(length));
        round(&mut blocks, 2, &plain(length));
        assert_eq!(starts(&blocks), first);
    }
    // Larger ones take the place of those that are too small.
    round(&mut blocks, 3, &plain(LARGE));
    assert_eq!(starts(&blocks).len(), first.len());
}

#[test]
fn streams_that_fail_give_everything_back() {
    let mut blocks = Blocks::new();
    let plain = plain(1000);
    let mut out = vec![0; 2000];
    assert_eq!(blocks.compress(0, 30, &plain, &mut out), None);
    assert_eq!(blocks.compress(1, 30, &plain, &mut out[..20]), None);
    assert_eq!(blocks.compress(1, 30, &plain, &mut []), None);
    let length = blocks.compress(1, 30, &plain, &mut out).unwrap();
    let packed = &out[..length];
    let mut back = vec![0; 1001];
    for room in [0, 1, 999, 1001] {
        assert_eq!(
            blocks.decompress([packed, &[]], &mut back[..room]),
            None,
            "{room}"
        );
    }
    for cut in [0, 3, 4, 20, length - 1] {
        let cut = [&packed[..cut], &[]];
        assert_eq!(blocks.decompress(cut, &mut back[..1000]), None);
    }
    let longer: Vec<u8> = packed.iter().copied().chain([0]).collect();
    assert_eq!(blocks.decompress([&longer, &[]], &mut back[..1000]), None);
    starts(&blocks);
    blocks.decompress([&[], packed], &mut back[..1000]).unwrap();

    // Some of what a stream needs is there, and some is not.
    let packed = packed.to_vec();
    for block_bytes_max in [0, 1000, 70_000, 300_000, 400_000] {
        let mut blocks = Blocks::new();
        blocks.block_bytes_max = block_bytes_max;
        assert_eq!(blocks.compress(1, 30, &plain, &mut out), None);
        let there = blocks.decompress([&packed, &[]], &mut back[..1000]);
        let there = there.is_some();
        assert_eq!(there, block_bytes_max == 400_000);
        starts(&blocks);
    }
}
