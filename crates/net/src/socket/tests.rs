use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Mutex;
use std::time::Duration;

use whimbrel_base::buffer::BufferPool;

use super::*;
use crate::interfaces::{self, Interface};
use crate::poll::{Events, Interest, Poller, Token, Trigger};

const PATIENCE: Duration = Duration::from_secs(5);

fn local(ip: IpAddr) -> UdpSocket {
    UdpSocket::bind(SocketAddr::new(ip, 0), PortUse::Exclusive).unwrap()
}

fn v4() -> UdpSocket {
    local(Ipv4Addr::LOCALHOST.into())
}

fn loopback() -> Interface {
    let all = interfaces::list().unwrap();
    all.into_iter()
        .find(|interface| interface.is_loopback)
        .unwrap()
}

/// Receives until `wanted` datagrams are there; fails when they do not come.
#[track_caller]
fn receive(socket: &UdpSocket, wanted: usize, batch: &mut RecvBatch) -> Vec<Datagram> {
    let poller = Poller::new().unwrap();
    poller
        .add(socket, Token(0), Interest::Read, Trigger::Level)
        .unwrap();
    let mut events = Events::with_capacity(1);
    let mut received = Vec::new();
    while received.len() < wanted {
        assert_eq!(
            poller.wait(Some(PATIENCE), &mut events).unwrap(),
            1,
            "nothing came"
        );
        socket.recv_batch(batch).unwrap();
        received.extend(batch.drain());
    }
    received
}

fn check_exchange(ip: IpAddr, parts: &[&[u8]]) {
    let (sender, receiver) = (local(ip), local(ip));
    let whole = parts.concat();
    let outcome = sender.send(receiver.local_addr(), parts).unwrap();
    assert_eq!(outcome, SendOutcome::Sent(whole.len()));
    let got = receive(&receiver, 1, &mut RecvBatch::new(8, 8)).remove(0);
    assert_eq!(*got.payload, *whole);
    assert_eq!(got.source, sender.local_addr());
    assert!(!got.truncated);
    if cfg!(all(target_os = "linux", not(whimbrel_portable))) {
        assert_eq!(got.destination, Some(ip));
        assert_eq!(got.interface_index, Some(loopback().index));
    }
}

#[test]
fn gathered_parts_arrive_as_one_datagram() {
    let long = [b'x'; GATHERED_BYTES_MAX];
    for ip in [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] {
        check_exchange(ip, &[b"one ", b"", b"two ", b"three", b"!"]);
        check_exchange(ip, &[b"alone"]);
        check_exchange(ip, &[b"head", &long]);
        check_exchange(ip, &[b"a", b"b", b"c", b"d", b"e", &long]);
        check_exchange(ip, &[]);
    }
}

#[test]
fn more_parts_than_the_system_takes() {
    let (sender, receiver) = (v4(), v4());
    let octets: Vec<u8> = (0..=255).cycle().take(4_000).collect();
    let parts: Vec<&[u8]> = octets.chunks(2).collect();
    assert_eq!(
        sender.send(receiver.local_addr(), &parts).unwrap(),
        SendOutcome::Sent(4_000)
    );
    let got = receive(&receiver, 1, &mut RecvBatch::new(1, 1)).remove(0);
    assert_eq!(&*got.payload, &octets[..]);
}

#[test]
fn batches_keep_order_and_use_slabs_again() {
    let (sender, receiver) = (v4(), v4());
    let mut batch = RecvBatch::new(4, 16);
    let mut slabs = Vec::new();
    for round in 0..20_u8 {
        for number in 0..10_u8 {
            let _ = sender
                .send(receiver.local_addr(), &[&[round, number]])
                .unwrap();
        }
        let got = receive(&receiver, 10, &mut batch);
        for (number, datagram) in (0..).zip(&got) {
            assert_eq!(*datagram.payload, [round, number]);
        }
        slabs.extend(
            got.iter()
                .map(|datagram| datagram.payload.as_ptr() as usize),
        );
    }
    slabs.sort_unstable();
    slabs.dedup();
    // Ten are held at once, and four more stand ready.
    assert!(slabs.len() <= 14, "{} slabs for 200 datagrams", slabs.len());
}

#[test]
fn datagrams_are_whole_though_more_are_held_than_the_pool_remembers() {
    let (sender, receiver) = (v4(), v4());
    let mut batch = RecvBatch::new(4, 8);
    let mut held = Vec::new();
    for number in 0..40_u8 {
        let _ = sender
            .send(receiver.local_addr(), &[&[number; 5000]])
            .unwrap();
        held.extend(receive(&receiver, 1, &mut batch));
    }
    for (number, datagram) in (0..).zip(&held) {
        assert_eq!(*datagram.payload, [number; 5000]);
        assert!(!datagram.truncated);
    }
}

#[test]
fn whoever_keeps_datagrams_is_told_so_and_of_those_that_come_together() {
    let (sender, receiver) = (v4(), v4());
    let mut batch = RecvBatch::new(8, 8);
    let mut next = |count: usize| {
        for _ in 0..count {
            let _ = sender.send(receiver.local_addr(), &[b"ping"]).unwrap();
        }
        receive(&receiver, count, &mut batch)
    };
    let told = |got: &[Datagram]| got.iter().map(|it| it.is_held_up).collect::<Vec<_>>();
    for _ in 0..20 {
        assert_eq!(told(&next(1)), [false]);
    }
    let together = told(&next(8));
    assert_eq!(together.last(), Some(&true), "{together:?}");
    let mut held = next(1);
    (0..10).for_each(|_| held.extend(next(1)));
    let told = told(&held);
    assert!(told.iter().filter(|it| !**it).count() <= 4, "{told:?}");
}

#[test]
fn few_datagrams_are_to_be_kept_whatever_comes_between_them() {
    let (sender, receiver) = (v4(), v4());
    let mut batch = RecvBatch::new(8, 256);
    let mut next = |count: usize| {
        for _ in 0..count {
            let _ = sender.send(receiver.local_addr(), &[b"ping"]).unwrap();
        }
        batch.set_room(count);
        receive(&receiver, count, &mut batch)
    };
    let mut kept: Vec<Datagram> = Vec::new();
    for round in 0..100 {
        // One whose reader waits for the next one, and others that nobody keeps.
        let mut one = next(1);
        for _ in 0..2 {
            kept.extend(next(1).into_iter().filter(|it| !it.is_held_up));
        }
        one.clear();
        drop(next(8));
        assert!(kept.len() <= 3, "{} after {round}", kept.len());
    }
}

#[test]
fn one_by_one_only_one_slab_is_touched() {
    let (sender, receiver) = (v4(), v4());
    let mut batch = RecvBatch::new(8, 8);
    let mut slabs: Vec<_> = (0..50)
        .map(|_| {
            let _ = sender.send(receiver.local_addr(), &[b"ping"]).unwrap();
            receive(&receiver, 1, &mut batch).remove(0).payload.as_ptr() as usize
        })
        .collect();
    slabs.dedup();
    assert_eq!(slabs.len(), 1);
}

#[test]
fn a_batch_tells_when_nothing_is_left() {
    let (sender, receiver) = (v4(), v4());
    let mut batch = RecvBatch::new(4, 8);
    let mut step = |room: usize, sent: usize| {
        for _ in 0..sent {
            let _ = sender.send(receiver.local_addr(), &[b"x"]).unwrap();
        }
        batch.set_room(room);
        (receiver.recv_batch(&mut batch).unwrap(), batch.is_drained())
    };
    assert_eq!(step(4, 0), (0, true));
    assert_eq!(step(4, 3), (3, true));
    assert_eq!(step(4, 4), (4, false));
    assert_eq!(step(1, 0), (0, true));
    assert_eq!(step(1, 2), (1, false));
    assert_eq!(step(99, 0), (1, true));
}

#[test]
fn packet_info_can_be_left_out() {
    let (sender, receiver) = (v4(), v4());
    receiver.set_packet_info(false).unwrap();
    let _ = sender.send(receiver.local_addr(), &[b"x"]).unwrap();
    let got = receive(&receiver, 1, &mut RecvBatch::new(1, 1)).remove(0);
    assert_eq!((got.destination, got.interface_index), (None, None));
}

#[test]
fn gathering_ends_where_the_room_does() {
    let mut room = [0; 6];
    assert_eq!(gather(&[b"abc", b"", b"def"], &mut room), Some(6));
    assert_eq!(&room, b"abcdef");
    assert_eq!(gather(&[b"abc", b"defg"], &mut room), None);
    assert_eq!(gather(&[], &mut room), Some(0));
}

#[test]
fn nothing_there_is_no_error() {
    assert_eq!(v4().recv_batch(&mut RecvBatch::new(8, 8)).unwrap(), 0);
}

#[test]
fn the_largest_datagram_fits_and_larger_ones_are_refused() {
    let (sender, receiver) = (v4(), v4());
    let bytes = vec![7; PAYLOAD_BYTES_MAX + 1];
    let whole = &bytes[..PAYLOAD_BYTES_MAX];
    let sent = sender.send(receiver.local_addr(), &[whole]).unwrap();
    assert_eq!(sent, SendOutcome::Sent(PAYLOAD_BYTES_MAX));
    let got = receive(&receiver, 1, &mut RecvBatch::new(1, 1)).remove(0);
    assert_eq!(&*got.payload, whole);
    assert_eq!(
        sender.send(receiver.local_addr(), &[&bytes]).unwrap(),
        SendOutcome::TooLarge
    );
}

#[test]
fn what_does_not_fit_a_slab_is_marked() {
    let (sender, receiver) = (v4(), v4());
    let pool = BufferPool::new(16, 4);
    let mut batch = RecvBatch::with_pool(2, pool);
    let _ = sender.send(receiver.local_addr(), &[&[1; 17]]).unwrap();
    let _ = sender.send(receiver.local_addr(), &[&[2; 16]]).unwrap();
    let got = receive(&receiver, 2, &mut batch);
    assert!(got[0].truncated && got[0].payload.len() == 16);
    assert!(!got[1].truncated && got[1].payload.len() == 16);
}

#[test]
fn one_call_serves_many_up_to_one_that_the_system_refuses() {
    let sender = v4();
    let receivers: Vec<_> = (0..40).map(|_| v4()).collect();
    let mut to: Vec<_> = receivers.iter().map(UdpSocket::local_addr).collect();
    let send = |to: &[SocketAddr], parts: &[&[u8]]| sender.send_to_many(to, parts);
    let most = if cfg!(all(target_os = "linux", not(whimbrel_portable))) {
        32
    } else {
        0
    };
    let large = vec![7; 50_000];
    let messages: [&[&[u8]]; 3] = [&[b"all"], &[b"to ", b"all"], &[b"to", &large, b"all"]];
    for parts in messages {
        assert_eq!(send(&to, parts), most);
        assert_eq!(send(&to[most..], parts), most.min(8));
        let mut batch = RecvBatch::new(8, 8);
        for receiver in receivers.iter().take(most + most.min(8)) {
            let got = &receive(receiver, 1, &mut batch)[0].payload;
            assert_eq!(**got, parts.concat());
        }
    }
    assert_eq!(send(&[], &[b"nobody"]), 0);
    // An IPv4 socket cannot reach this one.
    to.insert(3, SocketAddr::from((Ipv6Addr::LOCALHOST, 9)));
    assert_eq!(send(&to, &[b"some"]), most.min(3));
    assert_eq!(send(&to[3..], &[b"none"]), 0);
    assert_eq!(send(&to[..3], &[&vec![0; PAYLOAD_BYTES_MAX + 1]]), 0);
    // Each datagram of these is looked at by itself, and that of a connected socket has one way.
    let at = receivers[0].local_addr();
    for other in [
        v4().with_faults(Faults::default()),
        v4().with_tap(Arc::new(Notes::default())),
        v4().connected(at).unwrap(),
    ] {
        assert_eq!(other.send_to_many(&[at, at], &[b"alone"]), 0);
    }
}

#[test]
fn errors_of_sending_are_sorted() {
    let run = |answers: &[io::ErrorKind]| {
        let mut answers = answers.iter();
        try_send(|| answers.next().map_or(Ok(3), |kind| Err((*kind).into())))
    };
    use io::ErrorKind::{ConnectionRefused, Interrupted, PermissionDenied, WouldBlock};
    assert_eq!(run(&[]).unwrap(), SendOutcome::Sent(3));
    assert_eq!(run(&[ConnectionRefused]).unwrap(), SendOutcome::Sent(3));
    assert_eq!(
        run(&[Interrupted, Interrupted]).unwrap(),
        SendOutcome::Sent(3)
    );
    assert_eq!(run(&[ConnectionRefused; 2]).unwrap(), SendOutcome::Refused);
    assert_eq!(run(&[WouldBlock]).unwrap(), SendOutcome::Full);
    assert_eq!(
        run(&[PermissionDenied]).unwrap_err().kind(),
        PermissionDenied
    );
    let full = try_send(|| Err(io::Error::from_raw_os_error(sys::NO_BUFFERS)));
    assert_eq!(full.unwrap(), SendOutcome::Full);
}

#[test]
fn shared_ports_hear_the_groups_they_joined() {
    let any = |port| SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    let first = UdpSocket::bind(any(0), PortUse::Shared).unwrap();
    let port = first.local_addr().port();
    let second = UdpSocket::bind(any(port), PortUse::Shared).unwrap();
    let deaf = UdpSocket::bind(any(port), PortUse::Shared).unwrap();
    assert!(UdpSocket::bind(any(port), PortUse::Exclusive).is_err());
    let lo = loopback();
    let group = IpAddr::from([239, 255, 77, 1]);
    for listener in [&first, &second] {
        listener.join(group, &lo).unwrap();
        listener.join(group, &lo).unwrap();
    }
    let sender = v4();
    sender.set_multicast_interface(&lo).unwrap();
    sender.set_multicast_hops(1).unwrap();
    sender.set_multicast_loop(true).unwrap();
    let to = SocketAddr::new(group, port);
    let _ = sender.send(to, &[b"to the group"]).unwrap();
    let mut batch = RecvBatch::new(8, 8);
    for listener in [&first, &second] {
        let got = receive(listener, 1, &mut batch).remove(0);
        assert_eq!(&*got.payload, b"to the group");
        assert!(got.destination.is_none_or(|ip| ip == group));
    }
    first.leave(group, &lo).unwrap();
    let _ = sender.send(to, &[b"again"]).unwrap();
    assert_eq!(&*receive(&second, 1, &mut batch)[0].payload, b"again");
    assert_eq!(first.recv_batch(&mut batch).unwrap(), 0);
    if cfg!(target_os = "linux") {
        assert_eq!(deaf.recv_batch(&mut batch).unwrap(), 0);
    }
    assert!(first.leave(group, &lo).is_err());
    assert!(first.join(IpAddr::from([10, 0, 0, 1]), &lo).is_err());
}

#[test]
fn buffers_are_raised_and_never_shrunk() {
    let socket = v4();
    let before = socket.recv_buffer_bytes().unwrap();
    let raised = socket.raise_recv_buffer(before + 4_096).unwrap();
    assert!(raised >= before);
    assert_eq!(socket.recv_buffer_bytes().unwrap(), raised);
    assert_eq!(socket.raise_recv_buffer(1).unwrap(), raised);
    let before = socket.send_buffer_bytes().unwrap();
    assert!(socket.raise_send_buffer(before * 2).unwrap() >= before);
}

#[test]
fn datagrams_without_room_are_counted() {
    let (sender, receiver) = (v4(), v4());
    let Some(0) = receiver.datagrams_dropped().unwrap() else {
        return;
    };
    let bytes = [0; 60_000];
    let room = receiver.recv_buffer_bytes().unwrap() * 2;
    for _ in 0..=room / bytes.len() {
        let _ = sender.send(receiver.local_addr(), &[&bytes]).unwrap();
    }
    assert_ne!(receiver.datagrams_dropped().unwrap(), Some(0));
}

#[test]
fn oversize_policy_is_the_systems_choice() {
    for socket in [v4(), local(Ipv6Addr::LOCALHOST.into())] {
        socket.set_oversize_policy(OversizePolicy::System).unwrap();
        let refused = socket.set_oversize_policy(OversizePolicy::Refuse);
        assert_eq!(
            refused.is_ok(),
            cfg!(all(target_os = "linux", not(whimbrel_portable)))
        );
    }
}

#[test]
fn faults_drop_and_duplicate() {
    let faults = |drop_per_mille, duplicate_per_mille| Faults {
        drop_per_mille,
        duplicate_per_mille,
        seed: 1,
    };
    let receiver = v4();
    let mut batch = RecvBatch::new(8, 8);
    let lossy = v4().with_faults(faults(1_000, 0));
    let outcome = lossy.send(receiver.local_addr(), &[b"lost"]).unwrap();
    assert_eq!(outcome, SendOutcome::Sent(4));
    let twice = v4().with_faults(faults(0, 1_000));
    let outcome = twice.send(receiver.local_addr(), &[b"twice"]).unwrap();
    assert_eq!(outcome, SendOutcome::Sent(5));
    let got = receive(&receiver, 2, &mut batch);
    assert!(got.iter().all(|datagram| *datagram.payload == *b"twice"));
    assert_eq!(receiver.recv_batch(&mut batch).unwrap(), 0);
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Tap for Notes {
    fn sent(&self, _: SocketAddr, _: SocketAddr, parts: &[&[u8]]) {
        let text = String::from_utf8_lossy(&parts.concat()).into_owned();
        self.0.lock().unwrap().push(format!("> {text}"));
    }

    fn received(&self, _: SocketAddr, datagram: &Datagram) {
        let text = String::from_utf8_lossy(&datagram.payload).into_owned();
        self.0.lock().unwrap().push(format!("< {text}"));
    }
}

#[test]
fn taps_see_both_directions() {
    let notes = Arc::new(Notes::default());
    let (sender, receiver) = (v4().with_tap(notes.clone()), v4().with_tap(notes.clone()));
    let to = receiver.local_addr();
    let _ = sender.send(to, &[b"a", b"b"]).unwrap();
    let _ = sender.send(to, &[b"c"]).unwrap();
    receive(&receiver, 2, &mut RecvBatch::new(8, 8));
    assert_eq!(*notes.0.lock().unwrap(), ["> ab", "> c", "< ab", "< c"]);
}

#[test]
#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
fn the_path_to_this_host_carries_the_largest_datagrams() {
    let to = SocketAddr::from(([127, 0, 0, 1], 9));
    let bytes = UdpSocket::path_payload_bytes(to).unwrap();
    assert!(bytes >= 16_000, "{bytes}");
}

#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
mod waiting {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_waiting_thread_gets_the_first_datagram_and_those_behind_it() {
        let receiver = Arc::new(v4());
        let sender = v4();
        let waits = thread::spawn({
            let receiver = Arc::clone(&receiver);
            move || {
                let mut batch = RecvBatch::new(8, 8);
                let mut got = Vec::new();
                for room in [1, 8] {
                    batch.set_room(room);
                    assert!(receiver.recv_waiting(&mut batch).unwrap() > 0);
                    got.extend(batch.drain().map(|it| it.payload.to_vec()));
                }
                got
            }
        });
        for part in [b"a", b"b"] {
            let _ = sender.send(receiver.local_addr(), &[part]).unwrap();
        }
        assert_eq!(waits.join().unwrap(), [b"a", b"b"]);
    }

    #[test]
    fn interrupts_end_a_wait_and_are_no_datagrams() {
        for local in ["127.0.0.1:0", "0.0.0.0:0"] {
            let notes = Arc::new(Notes::default());
            let receiver = UdpSocket::bind(local.parse().unwrap(), PortUse::Exclusive).unwrap();
            let receiver = Arc::new(receiver.with_tap(notes.clone()));
            let waits = thread::spawn({
                let receiver = Arc::clone(&receiver);
                move || {
                    let mut batch = RecvBatch::new(8, 8);
                    let counts = [(); 2].map(|()| receiver.recv_waiting(&mut batch).unwrap());
                    (counts, batch.interrupts())
                }
            });
            receiver.interrupt().unwrap();
            let to = SocketAddr::from(([127, 0, 0, 1], receiver.local_addr().port()));
            // The second wait may have met the datagram of another, if the first met none.
            while !waits.is_finished() {
                thread::sleep(Duration::from_millis(1));
                receiver.interrupt().unwrap();
            }
            let (counts, interrupts) = waits.join().unwrap();
            assert_eq!(counts, [0, 0]);
            assert!(interrupts > 0);
            // An empty datagram of somebody else is one.
            let _ = v4().send(to, &[b""]).unwrap();
            let mut batch = RecvBatch::new(32, 8);
            while receiver.recv_batch(&mut batch).unwrap() == 0 {
                assert!(!batch.is_drained() || batch.interrupts() > 0);
            }
            assert_eq!(*notes.0.lock().unwrap(), ["< "]);
        }
    }

    #[test]
    fn readiness_is_waited_for_as_long_as_said() {
        let receiver = v4();
        assert!(!receiver.wait_readable(Duration::from_millis(1)).unwrap());
        let _ = v4().send(receiver.local_addr(), &[b"x"]).unwrap();
        assert!(receiver.wait_readable(Duration::from_secs(60)).unwrap());
        assert!(receiver.wait_writable(Duration::from_secs(60)).unwrap());
        let mut batch = RecvBatch::new(1, 8);
        assert_eq!(receiver.recv_waiting(&mut batch).unwrap(), 1);
    }
}

#[test]
fn many_of_one_size_leave_and_arrive_as_one() {
    for joined in [false, true] {
        let (sender, receiver) = (v4(), v4());
        if joined && receiver.receive_joined().is_err() {
            continue;
        }
        let bytes: Vec<u8> = (0..10_500u32).map(|at| (at / 1000) as u8).collect();
        let sent = sender.send_segments(receiver.local_addr(), &bytes, 1000);
        assert_eq!(sent.unwrap(), SendOutcome::Sent(10_500));
        let alone = sender.send_segments(receiver.local_addr(), &[9; 4], 1000);
        assert_eq!(alone.unwrap(), SendOutcome::Sent(4));
        let mut batch = RecvBatch::new(32, 32);
        let got = receive(&receiver, 12, &mut batch);
        for (at, datagram) in got.iter().enumerate() {
            let (len, octet) = match at {
                0..=9 => (1000, at),
                10 => (500, 10),
                _ => (4, 9),
            };
            assert_eq!(&*datagram.payload, vec![octet as u8; len]);
            assert_eq!(datagram.source, sender.local_addr());
            assert!(!datagram.truncated);
        }
    }
}

#[test]
fn what_comes_in_parts_comes_joined_once_that_is_useful() {
    let (sender, receiver) = (v4(), v4());
    receiver.set_packet_info(false).unwrap();
    receiver.receive_joined_once_useful();
    let mut batch = RecvBatch::new(4, 8);
    let mut arrive = |sizes: usize, together: usize, times: usize| {
        let part = vec![3; sizes];
        for _ in 0..times {
            for _ in 0..together {
                let sent = sender.send(receiver.local_addr(), &[&part]).unwrap();
                assert_eq!(sent, SendOutcome::Sent(sizes));
            }
            for got in receive(&receiver, together, &mut batch) {
                assert_eq!(&*got.payload, part);
                assert_eq!(got.source, sender.local_addr());
            }
        }
    };
    // Neither small ones are parts of anything, nor such as come one by one.
    arrive(100, 2, 20);
    arrive(1000, 1, 40);
    arrive(1000, 2, 5);
    arrive(1001, 2, 3);
    assert!(!receiver.joining.is_in_force());
    arrive(1001, 2, 1);
    if receiver.joining.is_in_force() {
        let sent = sender.send_segments(receiver.local_addr(), &[4; 3000], 1000);
        assert_eq!(sent.unwrap(), SendOutcome::Sent(3000));
        assert_eq!(receiver.recv_batch(&mut batch).unwrap(), 3);
        let lens: Vec<_> = batch.drain().map(|it| it.payload.len()).collect();
        assert_eq!(lens, [1000; 3]);
    } else {
        assert!(receiver.receive_joined().is_err(), "the system cannot");
    }
}

#[test]
fn two_parts_of_which_the_last_is_shorter_come_joined_too() {
    let (sender, receiver) = (v4(), v4());
    receiver.set_packet_info(false).unwrap();
    receiver.receive_joined_once_useful();
    let mut batch = RecvBatch::new(2, 8);
    for turn in 0..20 {
        assert_eq!(receiver.joining.is_wanted(), turn < 16);
        for size in [1300, 700] {
            let _ = sender.send(receiver.local_addr(), &[&[5; 1300][..size]]);
        }
        receive(&receiver, 2, &mut batch);
    }
}

#[test]
fn parts_that_are_received_one_by_one_come_joined_where_all_but_the_first_had_waited() {
    for sizes in [[1300, 700], [1300, 1300]] {
        let (sender, receiver) = (v4(), v4());
        receiver.set_packet_info(false).unwrap();
        receiver.receive_joined_once_useful();
        let mut batch = RecvBatch::new(1, 8);
        let mut exchange = |waited: bool| {
            for (at, size) in sizes.into_iter().enumerate() {
                let _ = sender.send(receiver.local_addr(), &[&[5; 1300][..size]]);
                receive(&receiver, 1, &mut batch);
                if waited && at > 0 {
                    batch.note_waited();
                }
            }
        };
        // Few of those that come alone had waited: whoever is driven off its core finds such.
        (0..60).for_each(|turn| exchange(turn % 3 == 0));
        assert!(receiver.joining.is_wanted(), "{sizes:?}");
        (0..20).for_each(|_| exchange(true));
        assert!(!receiver.joining.is_wanted(), "{sizes:?}");
    }
}

#[test]
fn received_plainly_datagrams_tell_their_source_and_whether_they_were_cut() {
    let receiver = v4();
    receiver.set_packet_info(false).unwrap();
    let sender = v4();
    for payload in [&b"0123456789abcdef"[..], b"0123456789abcdefg", b"x"] {
        let mut batch = RecvBatch::with_pool(1, BufferPool::new(16, 4));
        let _ = sender.send(receiver.local_addr(), &[payload]).unwrap();
        let got = receive(&receiver, 1, &mut batch);
        assert_eq!(&*got[0].payload, &payload[..payload.len().min(16)]);
        assert_eq!(got[0].truncated, payload.len() > 16);
        assert_eq!(got[0].source, sender.local_addr());
        assert_eq!(got[0].destination, None);
    }
}

#[test]
fn a_connected_socket_sends_there_and_elsewhere_and_hears_nobody_else() {
    let (first, second) = (v4(), v4());
    let sender = v4().connected(first.local_addr()).unwrap();
    let mut batch = RecvBatch::new(8, 8);
    let large = vec![7; GATHERED_BYTES_MAX + 1];
    for parts in [
        &[&b"one"[..]][..],
        &[b"two", b"parts"],
        &[&large, b"and more"],
    ] {
        for to in [&first, &second] {
            let bytes: usize = parts.iter().map(|it| it.len()).sum();
            let sent = sender.send(to.local_addr(), parts).unwrap();
            assert_eq!(sent, SendOutcome::Sent(bytes));
            let got = receive(to, 1, &mut batch);
            assert_eq!(&*got[0].payload, parts.concat());
            assert_eq!(got[0].source, sender.local_addr());
        }
    }
    let _ = second.send(sender.local_addr(), &[b"stranger"]).unwrap();
    let _ = first.send(sender.local_addr(), &[b"peer"]).unwrap();
    let got = receive(&sender, 1, &mut batch);
    assert_eq!(&*got[0].payload, b"peer");
}

#[test]
fn segments_are_seen_one_by_one_by_faults() {
    let receiver = v4();
    let lossy = v4().with_faults(Faults {
        drop_per_mille: 1000,
        duplicate_per_mille: 0,
        seed: 1,
    });
    let sent = lossy.send_segments(receiver.local_addr(), &[1; 50], 20);
    assert_eq!(sent.unwrap(), SendOutcome::Sent(50));
    let mut batch = RecvBatch::new(8, 8);
    assert_eq!(receiver.recv_batch(&mut batch).unwrap(), 0);
}

#[test]
fn segments_larger_than_the_path_are_refused_where_that_is_wanted() {
    let sender = v4();
    sender
        .set_oversize_policy(OversizePolicy::Refuse)
        .unwrap_or_default();
    let to = v4().local_addr();
    let sent = sender.send_segments(to, &vec![0; 140_000], 65_520);
    assert_eq!(sent.unwrap(), SendOutcome::TooLarge);
}
