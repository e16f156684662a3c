//! How discovery leaves: what goes to one address at a time as one datagram, and no faster than
//! the settings allow.
//!
//! Meeting somebody takes an announcement, heartbeats, endpoints and acknowledgements of three
//! writers and readers, which each send messages of their own. Put together they cost one
//! datagram for each step, on both sides.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::locator::Locator;
use whimbrel_base::sorted::SortedMap;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::header::Header;
use whimbrel_wire::message::{Submessage, Submessages};
use whimbrel_wire::submessage::{InfoDestination, SubmessageKind};

use crate::discovery::locators::MESSAGE_BYTES_MIN;
use crate::message::ENDIAN;
use crate::outbox::Outbox;

/// Largest datagram put together for an address of this host, in octets.
const LOCAL_BUNDLE_BYTES_MAX: usize = 16 * 1024;

/// Octets that may wait; what comes on top is left to be repaired.
const WAITING_BYTES_MAX: usize = 4 << 20;

/// Silence that is made up for by leaving faster afterwards.
const CREDIT: Duration = Duration::from_millis(100);

/// Octets of an INFO_DST.
const INFO_DST_BYTES: usize = 16;

/// Messages to one address, put together.
#[derive(Debug)]
struct Bundle {
    to: Locator,
    /// Shared where the same goes to many: probes go to all ports of a host.
    bytes: Arc<Vec<u8>>,
    /// For whom its last submessage is.
    meant_for: Option<GuidPrefix>,
}

/// What waits to leave.
#[derive(Debug, Default)]
pub(super) struct Outlet {
    /// In the order in which they leave.
    waiting: BTreeMap<u64, Bundle>,
    /// The newest bundle for each address.
    newest: SortedMap<Locator, u64>,
    last_number: u64,
    waiting_bytes: usize,
    /// Octets per second that may leave.
    bytes_per_s_max: u64,
    /// Until when what has left is paid for at that rate.
    paid_until: Instant,
    /// Messages that found no room to wait.
    pub(super) dropped: u64,
}

impl Outlet {
    pub(super) fn new(bytes_per_s_max: u64) -> Self {
        Self {
            bytes_per_s_max: bytes_per_s_max.max(1),
            ..Self::default()
        }
    }

    /// When the next bundle may leave.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let waits = !self.waiting.is_empty();
        let credit = u64::try_from(CREDIT.as_nanos()).unwrap_or(0);
        waits.then(|| Instant(self.paid_until.0.saturating_sub(credit)))
    }

    /// Lets leave what may leave by `now`.
    pub(super) fn release(&mut self, now: Instant, outbox: &mut impl Outbox) {
        while self.next_at().is_some_and(|at| at <= now) {
            self.release_one(now, outbox);
        }
    }

    /// Lets everything leave at once.
    pub(super) fn release_all(&mut self, now: Instant, outbox: &mut impl Outbox) {
        while !self.waiting.is_empty() {
            self.release_one(now, outbox);
        }
    }

    fn release_one(&mut self, now: Instant, outbox: &mut impl Outbox) {
        let Some((number, bundle)) = self.waiting.pop_first() else {
            return;
        };
        if self.newest.get(&bundle.to) == Some(&number) {
            self.newest.remove(&bundle.to);
        }
        self.waiting_bytes = self.waiting_bytes.saturating_sub(bundle.bytes.len());
        let bytes = u64::try_from(bundle.bytes.len()).unwrap_or(u64::MAX);
        let nanos = bytes
            .saturating_mul(1_000_000_000)
            .checked_div(self.bytes_per_s_max)
            .and_then(|nanos| i64::try_from(nanos).ok())
            .unwrap_or(i64::MAX);
        self.paid_until = self.paid_until.max(now).after(Duration::from_nanos(nanos));
        outbox.send(&[bundle.to], &[&bundle.bytes]);
    }

    /// Puts one message where it will leave; false when there is no room.
    fn put(&mut self, to: Locator, message: &Arc<Vec<u8>>) -> bool {
        let bytes = message.len();
        if self.waiting_bytes.saturating_add(bytes) > WAITING_BYTES_MAX {
            return false;
        }
        let bytes_max = if to.is_loopback() {
            LOCAL_BUNDLE_BYTES_MAX
        } else {
            MESSAGE_BYTES_MIN
        };
        let newest = self.newest.get(&to);
        let newest = newest.and_then(|number| self.waiting.get_mut(number));
        if let Some(bundle) = newest.filter(|it| it.bytes.len().saturating_add(bytes) <= bytes_max)
        {
            let before = bundle.bytes.len();
            bundle.append(message);
            let more = bundle.bytes.len().saturating_sub(before);
            self.waiting_bytes = self.waiting_bytes.saturating_add(more);
            return true;
        }
        self.last_number = self.last_number.saturating_add(1);
        self.newest.insert(to, self.last_number);
        self.waiting
            .insert(self.last_number, Bundle::new(to, Arc::clone(message)));
        self.waiting_bytes = self.waiting_bytes.saturating_add(bytes);
        true
    }
}

impl Bundle {
    fn new(to: Locator, bytes: Arc<Vec<u8>>) -> Self {
        let meant_for = destinations(&bytes).1;
        Self {
            to,
            bytes,
            meant_for,
        }
    }

    /// Adds the submessages of `message`, which is ours as well.
    fn append(&mut self, message: &[u8]) {
        let (first, last) = destinations(message);
        let bytes = Arc::make_mut(&mut self.bytes);
        let mut rest = message.get(Header::LEN..).unwrap_or_default();
        if first.is_some() && first == self.meant_for {
            rest = rest.get(INFO_DST_BYTES..).unwrap_or_default();
        } else if first.is_none() && self.meant_for.is_some_and(|it| it != GuidPrefix::UNKNOWN) {
            // The destination of the message before does not count for this one.
            let everybody = InfoDestination {
                prefix: GuidPrefix::UNKNOWN,
            };
            everybody.compose(bytes, ENDIAN);
            self.meant_for = Some(GuidPrefix::UNKNOWN);
        }
        bytes.extend_from_slice(rest);
        self.meant_for = last.or(self.meant_for);
    }
}

/// For whom `message` says that it is at its beginning, and at its end.
fn destinations(message: &[u8]) -> (Option<GuidPrefix>, Option<GuidPrefix>) {
    let (mut first, mut last) = (None, None);
    let submessages = Submessages::new(message).map(|(_, submessages)| submessages);
    let submessages = submessages.into_iter().flatten().map_while(Result::ok);
    for (number, submessage) in submessages.enumerate() {
        if submessage.kind != SubmessageKind::INFO_DST {
            continue;
        }
        if let Ok(Submessage::InfoDestination(info)) = submessage.parse() {
            last = Some(info.prefix);
            first = if number == 0 { last } else { first };
        }
    }
    (first, last)
}

/// An [`Outbox`] whose messages wait in an [`Outlet`].
pub(super) struct Port<'a, O> {
    pub(super) outlet: &'a mut Outlet,
    pub(super) now: Instant,
    pub(super) inner: &'a mut O,
}

impl<O: Outbox> Outbox for Port<'_, O> {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let message = Arc::new(parts.concat());
        for locator in to {
            if self.outlet.put(*locator, &message) {
                continue;
            }
            self.outlet.release(self.now, self.inner);
            if !self.outlet.put(*locator, &message) {
                self.outlet.dropped = self.outlet.dropped.saturating_add(1);
            }
        }
    }

    fn retain_listened(&mut self, to: &mut Vec<Locator>) {
        self.inner.retain_listened(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use core::net::SocketAddr;
    use whimbrel_base::vendor::{ProtocolVersion, VendorId};

    #[derive(Default)]
    struct Sent(Vec<(Locator, Vec<u8>)>);

    impl Outbox for Sent {
        fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
            self.0.push((to[0], parts.concat()));
        }
    }

    fn at(ip: [u8; 4], port: u16) -> Locator {
        Locator::from(SocketAddr::from((ip, port)))
    }

    fn header() -> Vec<u8> {
        let mut bytes = vec![];
        Header {
            version: ProtocolVersion::V2_5,
            vendor: VendorId::WHIMBREL,
            prefix: GuidPrefix([7; 12]),
        }
        .compose(&mut bytes);
        bytes
    }

    fn destination(prefix: GuidPrefix) -> Vec<u8> {
        let mut bytes = vec![];
        InfoDestination { prefix }.compose(&mut bytes, ENDIAN);
        bytes
    }

    /// A submessage for `prefix`.
    fn meant_for(prefix: GuidPrefix) -> Vec<u8> {
        [destination(prefix), vec![7, 1, 0, 0]].concat()
    }

    fn put(outlet: &mut Outlet, to: Locator, submessages: &[u8]) {
        let (now, mut nobody) = (Instant(1), Sent::default());
        Port {
            outlet,
            now,
            inner: &mut nobody,
        }
        .send(&[to], &[&header(), submessages]);
        assert!(nobody.0.is_empty());
    }

    #[test]
    fn messages_to_one_address_leave_together_each_with_its_own_destination() {
        let mut outlet = Outlet::new(u64::MAX);
        let (here, there) = (at([127, 0, 0, 1], 1), at([192, 168, 0, 9], 1));
        let general = [7, 1, 0, 0];
        let (one, other) = (
            meant_for(GuidPrefix([1; 12])),
            meant_for(GuidPrefix([2; 12])),
        );
        put(&mut outlet, here, &one);
        put(&mut outlet, there, &general);
        put(&mut outlet, here, &general);
        put(&mut outlet, here, &general);
        put(&mut outlet, here, &other);
        put(&mut outlet, here, &other);
        put(&mut outlet, there, &meant_for(GuidPrefix::UNKNOWN));
        let mut sent = Sent::default();
        outlet.release(Instant(1), &mut sent);
        let everybody = destination(GuidPrefix::UNKNOWN);
        let bundle = [
            &header()[..],
            &one,
            &everybody,
            &general,
            &general,
            &other,
            // The same once more needs no destination of its own.
            &general,
        ];
        let unnamed = [&header()[..], &general, &everybody, &general].concat();
        assert_eq!(sent.0, [(here, bundle.concat()), (there, unnamed)]);
        assert!(outlet.newest.is_empty() && outlet.waiting_bytes == 0);
    }

    #[test]
    fn a_bundle_passes_any_link() {
        let mut outlet = Outlet::new(u64::MAX);
        let (here, there) = (at([127, 0, 0, 1], 1), at([192, 168, 0, 9], 1));
        for _ in 0..200 {
            put(&mut outlet, here, &[9; 200]);
            put(&mut outlet, there, &[9; 200]);
        }
        let mut sent = Sent::default();
        outlet.release(Instant(1), &mut sent);
        let largest = |to| {
            let to_it = sent.0.iter().filter(|(it, _)| *it == to);
            to_it.map(|(_, bytes)| bytes.len()).max().unwrap()
        };
        assert!((8000..=LOCAL_BUNDLE_BYTES_MAX).contains(&largest(here)));
        assert!((400..=MESSAGE_BYTES_MIN).contains(&largest(there)));
    }

    #[test]
    fn no_more_leaves_than_the_rate_allows_and_nothing_is_lost_by_waiting() {
        let rate = 10_000;
        let mut outlet = Outlet::new(rate);
        for port in 0..100 {
            put(&mut outlet, at([192, 168, 0, 9], port), &[9; 280]);
        }
        let mut sent = Sent::default();
        let start = Instant(5_000_000_000);
        let mut now = start;
        loop {
            outlet.release(now, &mut sent);
            let bytes: usize = sent.0.iter().map(|(_, bytes)| bytes.len()).sum();
            let allowed = now.since(start).as_nanos() as u64 * rate / 1_000_000_000;
            assert!(
                bytes as u64 <= allowed + rate / 10 + 300,
                "{bytes} {allowed}"
            );
            match outlet.next_at() {
                Some(at) => now = at,
                None => break,
            }
        }
        assert_eq!(sent.0.len(), 100);
        let took = now.since(start).as_nanos() / 1_000_000;
        assert!((2800..3000).contains(&took), "{took} ms");
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut outlet = Outlet::new(1);
        let large = vec![9; 60_000];
        for port in 0..200 {
            outlet.paid_until = Instant::FAR_FUTURE;
            put(&mut outlet, at([127, 0, 0, 1], port), &large);
        }
        assert!(outlet.waiting_bytes <= WAITING_BYTES_MAX);
        assert!(outlet.dropped > 100);
        let mut sent = Sent::default();
        outlet.release(Instant(1), &mut sent);
        assert!(sent.0.is_empty());
        outlet.release_all(Instant(1), &mut sent);
        assert_eq!(sent.0.len() as u64, 200 - outlet.dropped);
        assert_eq!((outlet.waiting_bytes, outlet.next_at()), (0, None));
    }
}
