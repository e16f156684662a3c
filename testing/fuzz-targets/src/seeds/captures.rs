//! Packet captures, whole and damaged.

use super::messages;
use super::seed::Seed;
use crate::raw::Raw;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    let mut add = |name: &str, raw: Raw| all.push(Seed::new("capture", name, raw.done()));
    for (order, start) in [("le", Raw::little()), ("be", Raw::big())] {
        let file = |link: u32| file(start.clone(), MICROSECONDS, link);
        for link in [0, 1, 101, 113, 228, 276] {
            add(
                &format!("link-{link}-{order}"),
                packet(file(link), None, &ipv4()),
            );
        }
        add(&format!("nanoseconds-{order}"), {
            packet(self::file(start.clone(), NANOSECONDS, 101), None, &ipv4())
        });
        add(&format!("ethernet-{order}"), {
            let frame = [vec![0; 12], vec![8, 0], ipv4()].concat();
            packet(file(1), None, &frame)
        });
        add(&format!("ipv6-{order}"), packet(file(101), None, &ipv6()));
        add(
            &format!("two-{order}"),
            packet(packet(file(101), None, &ipv4()), None, &ipv6()),
        );
        add(&format!("no-packet-{order}"), file(101));
        add(
            &format!("length-max-{order}"),
            packet(file(101), Some(u32::MAX), &ipv4()),
        );
        add(
            &format!("length-long-{order}"),
            packet(file(101), Some(0x0fff_ffff), &ipv4()),
        );
        add(
            &format!("length-zero-{order}"),
            packet(file(101), Some(0), &ipv4()),
        );
    }
    add("magic", Raw::little().bytes(&[0; 24]));
    add("empty", Raw::little());
    add(
        "next-generation",
        Raw::little()
            .u32(0x0a0d_0d0a)
            .u32(28)
            .u32(0x1a2b_3c4d)
            .u64(1)
            .u64(0),
    );
    all
}

fn file(start: Raw, magic: u32, link: u32) -> Raw {
    start
        .u32(magic)
        .u16(2)
        .u16(4)
        .u32(0)
        .u32(0)
        .u32(65_535)
        .u32(link)
}

/// A record; `claimed` replaces its captured length.
fn packet(file: Raw, claimed: Option<u32>, bytes: &[u8]) -> Raw {
    let len = bytes.len() as u32;
    file.u32(1_700_000_000)
        .u32(500_000)
        .u32(claimed.unwrap_or(len))
        .u32(len)
        .bytes(bytes)
}

fn udp() -> Vec<u8> {
    let payload = messages::header();
    let len = 8 + payload.len() as u16;
    Raw::big()
        .u16(7410)
        .u16(7400)
        .u16(len)
        .u16(0)
        .bytes(&payload)
        .done()
}

fn ipv4() -> Vec<u8> {
    let udp = udp();
    let len = 20 + udp.len() as u16;
    let head = Raw::big().u16(0x4500).u16(len).u32(0).u16(0x4011).u16(0);
    head.bytes(&[127, 0, 0, 1, 127, 0, 0, 1]).bytes(&udp).done()
}

fn ipv6() -> Vec<u8> {
    let udp = udp();
    let one = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let head = Raw::big()
        .u32(0x6000_0000)
        .u16(udp.len() as u16)
        .u16(0x1140);
    head.bytes(&one).bytes(&one).bytes(&udp).done()
}
