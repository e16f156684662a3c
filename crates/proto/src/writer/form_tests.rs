//! Who gets compressed changes, and how.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::sequence::{Count, FragmentNumber};
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::message::{Submessage, Submessages};
use whimbrel_wire::number_set::FragmentNumberSet;
use whimbrel_wire::submessage::NackFrag;

use super::tests::{acknack, change, matched, writer};
use super::{NewChange, Writer};
use crate::outbox::Outbox;
use crate::peer::MatchedReader;

const NOW: Instant = Instant(1_000_000_000);

/// First octet of the payloads that came to each port.
#[derive(Default)]
struct Ports(BTreeMap<u32, Vec<u8>>);

impl Outbox for Ports {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let message = parts.concat();
        let (_, submessages) = Submessages::new(&message).unwrap();
        for submessage in submessages {
            let payload = match submessage.unwrap().parse().unwrap() {
                Submessage::Data(data) => data.payload.to_vec(),
                Submessage::DataFrag(frag) => frag.payload.to_vec(),
                _ => continue,
            };
            for locator in to {
                self.0.entry(locator.port).or_default().push(payload[0]);
            }
        }
    }
}

fn reader(number: u8, port: u16, packed: bool) -> MatchedReader {
    let known = matched(true, false);
    MatchedReader {
        receive_buffer_bytes: 0,
        packed_messages: whimbrel_base::qos::CompressionIds::NONE,
        guid: Guid::new(GuidPrefix([number; 12]), known.guid.entity),
        locators: vec![SocketAddr::from(([127, 0, 0, 1], port)).into()],
        packed,
        ..known
    }
}

const PLAIN: u8 = 7;
const PACKED: u8 = 8;

fn packed(plain: usize, packed: usize) -> NewChange {
    NewChange {
        packed: super::Packed::Smaller(Box::new(
            SharedBytes::from_vec(vec![PACKED; packed]).into(),
        )),
        ..change(plain)
    }
}

fn written(readers: &[MatchedReader], new: NewChange) -> (Writer, BTreeMap<u32, Vec<u8>>) {
    let mut writer = writer(|_| {});
    for reader in readers {
        writer.handle_matched(NOW, reader.clone());
    }
    let mut ports = Ports::default();
    writer.write(NOW, new).unwrap();
    writer.poll_transmit(NOW, &mut ports);
    (writer, ports.0)
}

#[test]
fn all_get_the_form_that_all_take() {
    let (yes, no) = (reader(1, 1, true), reader(2, 2, false));
    let (_, ports) = written(&[yes.clone(), reader(3, 3, true)], packed(900, 400));
    assert_eq!(ports, [(1, vec![PACKED]), (3, vec![PACKED])].into());
    let (_, ports) = written(core::slice::from_ref(&yes), packed(9000, 4000));
    assert_eq!(ports, [(1, vec![PACKED; 3])].into());
    let (_, ports) = written(&[yes, no.clone()], change(900));
    assert_eq!(ports, [(1, vec![PLAIN]), (2, vec![PLAIN])].into());
    let (_, ports) = written(&[no], packed(900, 400));
    assert_eq!(ports, [(2, vec![PLAIN])].into());
}

#[test]
fn each_gets_the_form_that_it_takes() {
    let readers = [reader(1, 1, true), reader(2, 2, false)];
    let (_, ports) = written(&readers, packed(900, 400));
    assert_eq!(ports, [(1, vec![PACKED]), (2, vec![PLAIN])].into());
    let (_, ports) = written(&readers, packed(9000, 4000));
    let expected = [(1, vec![PACKED; 3]), (2, vec![PLAIN; 7])];
    assert_eq!(ports, expected.into());
    let (_, ports) = written(&readers, packed(9000, 400));
    assert_eq!(ports, [(1, vec![PACKED]), (2, vec![PLAIN; 7])].into());
}

#[test]
fn one_who_needs_plain_changes_decides_for_its_address() {
    let beside = [reader(1, 1, true), reader(2, 1, false), reader(3, 3, true)];
    let (_, ports) = written(&beside, packed(900, 400));
    assert_eq!(ports, [(1, vec![PLAIN]), (3, vec![PACKED])].into());
    // Who cannot ask for fragments gets what is pushed to all.
    let mut best_effort = reader(1, 1, true);
    best_effort.reliable = false;
    let readers = [best_effort, reader(2, 2, false)];
    let (_, ports) = written(&readers, packed(9000, 4000));
    assert_eq!(ports, [(1, vec![PLAIN; 7]), (2, vec![PLAIN; 7])].into());
}

#[test]
fn repairs_come_in_the_form_of_the_reader_and_follow_it() {
    let readers = [reader(1, 1, true), reader(2, 2, false)];
    let (mut writer, _) = written(&readers, packed(9000, 4000));
    let again = |writer: &mut Writer, number: u8, count| {
        let later = Instant(NOW.0 + u64::from(count as u32) * 1_000_000_000);
        let from = readers[usize::from(number) - 1].guid;
        let asked = acknack(1, &[1], count);
        writer.handle_acknack(later, from, &asked).unwrap();
        let mut ports = Ports::default();
        writer.handle_timeout(later);
        writer.poll_transmit(later, &mut ports);
        ports.0
    };
    assert_eq!(again(&mut writer, 1, 1), [(1, vec![PACKED; 3])].into());
    assert_eq!(again(&mut writer, 2, 2), [(2, vec![PLAIN; 7])].into());
    writer.handle_matched(NOW, reader(3, 1, false));
    assert_eq!(again(&mut writer, 1, 3), [(1, vec![PLAIN; 7])].into());
    writer.handle_unmatched(NOW, reader(3, 1, false).guid, false);
    writer.handle_unmatched(NOW, readers[1].guid, false);
    assert_eq!(again(&mut writer, 1, 4), [(1, vec![PACKED; 3])].into());
}

#[test]
fn who_has_fragments_of_a_form_that_is_over_gets_all_of_the_other() {
    // The one who needed plain changes at this address goes while one is on its way.
    let readers = [reader(1, 1, true), reader(2, 1, false)];
    let (mut writer, ports) = written(&readers, packed(9000, 2500));
    assert_eq!(ports, [(1, vec![PLAIN; 7])].into());
    let number = writer.last_sequence();
    writer.handle_unmatched(NOW, readers[1].guid, false);
    let mut state = FragmentNumberSet::new(FragmentNumber(7));
    state.insert(FragmentNumber(7));
    let nack = NackFrag {
        reader: readers[0].guid.entity,
        writer: writer.guid().entity,
        number,
        state,
        count: Count(1),
    };
    let later = NOW.after(Duration::from_millis(100));
    writer
        .handle_nack_frag(later, readers[0].guid, &nack)
        .unwrap();
    let mut ports = Ports::default();
    writer.poll_transmit(later, &mut ports);
    assert_eq!(ports.0, [(1, vec![PACKED; 2])].into());
}
