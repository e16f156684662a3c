use std::net::SocketAddr;

use whimbrel_base::reject::RejectKind;
use whimbrel_base::time::Timestamp;

use super::*;

const AT: Timestamp = Timestamp(1_795_000_000_123_456_789);

fn addr(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn written() -> Vec<u8> {
    let mut writer = CaptureWriter::new(Vec::new()).unwrap();
    let (a, b) = (addr("127.0.0.1:7410"), addr("239.255.0.1:7400"));
    writer
        .write_udp(a, b, &[b"RTPS", b"", b" four"], AT)
        .unwrap();
    let (c, d) = (addr("[::1]:7411"), addr("[ff02::1]:7400"));
    writer
        .write_udp(c, d, &[b"six"], Timestamp(AT.0 + 1))
        .unwrap();
    writer.write_udp(a, b, &[], Timestamp(0)).unwrap();
    writer.into_inner().unwrap()
}

/// Source, destination, payload and time of every datagram, in words.
fn read(file: &[u8]) -> Vec<String> {
    let mut words = Vec::new();
    let mut reader = match CaptureReader::new(file) {
        Ok(reader) => reader,
        Err(reject) => return vec![reject.kind.text().to_owned()],
    };
    for packet in &mut reader {
        words.push(match packet {
            Ok(udp) => format!(
                "{} > {} {} {:?}",
                udp.source,
                udp.destination,
                String::from_utf8_lossy(udp.payload),
                udp.at
            ),
            Err(reject) => reject.kind.text().to_owned(),
        });
    }
    if reader.skipped() > 0 {
        words.push(format!("skipped {}", reader.skipped()));
    }
    words
}

#[track_caller]
fn check(file: &[u8], wanted: &[&str]) {
    assert_eq!(read(file), wanted);
}

/// A raw IPv4 packet with one datagram, as the writer makes it.
fn raw_v4() -> Vec<u8> {
    let header = packet::header(addr("10.0.0.1:1"), addr("10.0.0.2:2"), &[b"hi"]).unwrap();
    [header.as_ref(), b"hi"].concat()
}

/// A classic little-endian pcap of one packet, in microseconds.
fn classic(link: u32, packet: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link, 5, 6] {
        file.extend(u32::to_le_bytes(word));
    }
    for _ in 0..2 {
        file.extend((packet.len() as u32).to_le_bytes());
    }
    file.extend(packet);
    file
}

#[test]
fn what_was_written_is_read_back() {
    let wanted = [
        "127.0.0.1:7410 > 239.255.0.1:7400 RTPS four 1795000000.123456789",
        "[::1]:7411 > [ff02::1]:7400 six 1795000000.123456790",
        "127.0.0.1:7410 > 239.255.0.1:7400  0.000000000",
    ];
    check(&written(), &wanted);
    let sections = [written(), written()].concat();
    check(&sections, &[wanted, wanted].concat());
}

#[test]
fn checksums_add_up() {
    let sum = |bytes: &[u8]| {
        let mut sum = bytes.chunks(2).fold(0_u32, |sum, pair| {
            sum + u32::from(pair[0]) * 256 + u32::from(*pair.get(1).unwrap_or(&0))
        });
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        sum
    };
    let (from, to) = (addr("10.1.2.3:700"), addr("10.3.2.1:800"));
    let parts: [&[u8]; 3] = [b"odd", b"lengths", b"!"];
    let header = packet::header(from, to, &parts).unwrap();
    let whole = [header.as_ref(), &parts.concat()].concat();
    assert_eq!(sum(&whole[..20]), 0xffff);
    let pseudo = [&whole[12..20], &[0, 17], &whole[24..26], &whole[20..]].concat();
    assert_eq!(sum(&pseudo), 0xffff);
    let (from, to) = (addr("[fd00::1]:700"), addr("[fd00::2]:800"));
    let header = packet::header(from, to, &parts).unwrap();
    let whole = [header.as_ref(), &parts.concat()].concat();
    let pseudo = [&whole[8..40], &[0, 17], &whole[4..6], &whole[40..]].concat();
    assert_eq!(sum(&pseudo), 0xffff);
}

#[test]
fn impossible_datagrams_are_not_written() {
    let mut writer = CaptureWriter::new(Vec::new()).unwrap();
    let (v4, v6) = (addr("127.0.0.1:1"), addr("[::1]:1"));
    assert!(writer.write_udp(v4, v6, &[b"x"], AT).is_err());
    assert!(writer.write_udp(v4, v4, &[&[0; 65_508]], AT).is_err());
    assert!(writer.write_udp(v4, v4, &[&[0; 65_507]], AT).is_ok());
}

#[test]
fn every_link_type_leads_to_the_datagram() {
    let ip = raw_v4();
    let wanted = ["10.0.0.1:1 > 10.0.0.2:2 hi 5.000006000"];
    let with = |before: &[u8]| [before, &ip].concat();
    let macs = [0; 12];
    check(&classic(link_type::RAW, &ip), &wanted);
    check(&classic(12, &ip), &wanted);
    check(&classic(link_type::IPV4, &ip), &wanted);
    check(&classic(link_type::NULL, &with(&[2, 0, 0, 0])), &wanted);
    check(&classic(link_type::LOOP, &with(&[0, 0, 0, 2])), &wanted);
    let ethernet = [&macs[..], &[8, 0]].concat();
    check(&classic(link_type::ETHERNET, &with(&ethernet)), &wanted);
    let tagged = [&macs[..], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0]].concat();
    check(&classic(link_type::ETHERNET, &with(&tagged)), &wanted);
    let cooked = [&[0; 14][..], &[8, 0]].concat();
    check(&classic(link_type::LINUX_SLL, &with(&cooked)), &wanted);
    let cooked = [&[8, 0][..], &[0; 18]].concat();
    check(&classic(link_type::LINUX_SLL2, &with(&cooked)), &wanted);
}

#[test]
fn extension_headers_are_passed_over() {
    let header = packet::header(addr("[fd00::1]:1"), addr("[fd00::2]:2"), &[b"hi"]).unwrap();
    let plain = [header.as_ref(), b"hi"].concat();
    let with = |count: usize| {
        let mut packet = plain.clone();
        packet[5] += 8 * count as u8;
        packet[6] = 60;
        let mut extensions = [60, 0, 1, 4, 0, 0, 0, 0].repeat(count);
        extensions[8 * (count - 1)] = 17;
        packet.splice(40..40, extensions);
        packet
    };
    let wanted = ["[fd00::1]:1 > [fd00::2]:2 hi 5.000006000"];
    check(&classic(link_type::RAW, &with(2)), &wanted);
    check(&classic(link_type::RAW, &with(9)), &["skipped 1"]);
}

#[test]
fn other_packets_are_passed_over_and_counted() {
    let skipped = ["skipped 1"];
    let changed = |at: usize, value: u8| {
        let mut packet = raw_v4();
        packet[at] = value;
        classic(link_type::RAW, &packet)
    };
    check(&changed(9, 6), &skipped);
    check(&changed(6, 0x20), &skipped);
    check(&changed(7, 1), &skipped);
    check(&changed(0, 0x44), &skipped);
    check(&changed(0, 0x55), &skipped);
    check(&changed(3, 19), &skipped);
    check(&changed(25, 7), &skipped);
    check(&changed(25, 99), &skipped);
    check(&classic(9_999, &raw_v4()), &skipped);
    check(&classic(link_type::RAW, &[]), &skipped);
}

#[test]
fn broken_files_end_with_one_error() {
    check(b"", &[RejectKind::Truncated.text()]);
    check(b"GIF89a", &[RejectKind::Unexpected.text()]);
    let mut claims = classic(link_type::RAW, &raw_v4());
    claims[32..36].copy_from_slice(&[0xff; 4]);
    check(&claims, &[RejectKind::Truncated.text()]);
    let mut odd = written();
    odd[4] = 29;
    check(&odd, &[RejectKind::Length.text()]);
    let mut short = written();
    short[4] = 8;
    check(&short, &[RejectKind::Length.text()]);
}

#[test]
fn any_cut_and_any_wrong_octet_is_survived() {
    let big_endian = |file: &[u8]| CaptureReader::new(file).map(Iterator::count);
    for file in [written(), classic(link_type::RAW, &raw_v4())] {
        for cut in 0..file.len() {
            let _ = big_endian(&file[..cut]);
        }
        for at in 0..file.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut broken = file.clone();
                broken[at] = value;
                let found = big_endian(&broken).unwrap_or(0);
                assert!(found <= 4, "octet {at} = {value}: {found} packets");
            }
        }
    }
}

#[test]
fn a_packet_reaches_the_file_in_one_write() {
    #[derive(Default)]
    struct Writes(Vec<usize>);
    impl std::io::Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.push(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut writer = CaptureWriter::new(Writes::default()).unwrap();
    let [from, to] = ["127.0.0.1:1", "127.0.0.1:2"].map(|it| it.parse().unwrap());
    for _ in 0..3 {
        writer
            .write_udp(from, to, &[b"one", b"two"], Timestamp(5))
            .unwrap();
    }
    let writes = writer.into_inner().unwrap().0;
    let packets = &writes[writes.len() - 3..];
    assert!(
        packets.iter().all(|it| *it == packets[0] && *it > 60),
        "{writes:?}"
    );
}
