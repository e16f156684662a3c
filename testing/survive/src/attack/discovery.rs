//! Class 7: discovery that floods, redirects, impersonates and ends others.
//!
//! What goes to addresses that never answered is looked at after every step by the station itself.

use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::reject::RejectKind;

use super::announced::{TEN_SECONDS, WireDuration, WireLocator, pid};
use super::case::{Attack, Case, Origin};

/// Participants and endpoints that are made up, per case.
const FAKES: u32 = if cfg!(debug_assertions) { 200 } else { 4000 };

/// Somebody who never says a word.
const VICTIM: WireLocator = ([203, 0, 113, 9], 7410);

/// Some stranger.
const STRANGER: Origin = Origin::Stranger(1);

/// The first number after those of the peer's own announcements.
const NEXT: i64 = 3;

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case::new("discovery/own-guid", &[RejectKind::OwnGuid], |it| {
        let own = it.scene.victim;
        announce(it, STRANGER, own, false, TEN_SECONDS, &[VICTIM]);
        announce(it, STRANGER, own, true, TEN_SECONDS, &[VICTIM]);
        Ok(())
    }),
    Case::new("discovery/lease-zero-and-infinite", &[], |it| {
        for (number, lease) in [(0, 0), (0, 1), (i32::MAX, u32::MAX)]
            .into_iter()
            .enumerate()
        {
            announce(it, STRANGER, fake(number as u32), true, lease, &[VICTIM]);
            it.wait_ms(500);
        }
        it.wait_ms(30_000);
        Ok(())
    })
    .virtual_only(),
    Case::new("discovery/lease-negative", &[RejectKind::Time], |it| {
        for lease in [(-1, 0), (i32::MIN, 0), (-1, u32::MAX)] {
            announce(it, STRANGER, fake(1), false, lease, &[VICTIM]);
        }
        Ok(())
    }),
    Case::new(
        "discovery/somebody-elses-announcement",
        &[RejectKind::Stranger],
        |it| {
            let data = it.scene.participant_data(fake(2), TEN_SECONDS, &[VICTIM]);
            let data = it.scene.data_of(EntityId::SPDP_WRITER, 1, &data);
            it.say(&[&data]);
            let nobody = GuidPrefix::UNKNOWN;
            announce(it, STRANGER, nobody, false, TEN_SECONDS, &[VICTIM]);
            Ok(())
        },
    ),
    Case::new("discovery/third-party", &[], |it| {
        // The stranger hears us, and says that it listens at the victim's.
        for _ in 0..50 {
            announce(it, STRANGER, fake(1), true, TEN_SECONDS, &[VICTIM]);
            it.wait_ms(200);
        }
        Ok(())
    })
    .virtual_only(),
    Case::new("discovery/redirected-peer", &[], |it| {
        let peer = it.scene.attacker;
        for _ in 0..10 {
            announce(it, Origin::Peer, peer, true, TEN_SECONDS, &[VICTIM]);
            it.write(1, &[1]);
            it.wait_ms(300);
        }
        Ok(())
    })
    .virtual_only(),
    Case::new("discovery/redirected-endpoint", &[], |it| {
        let elsewhere = it.scene.endpoint_locator(VICTIM);
        let entity = it.scene.reader;
        let data = it.scene.endpoint_data(entity, "Square", &[elsewhere]);
        say_subscription(it, NEXT, &data);
        it.write(1, &[1]);
        it.wait_ms(3000);
        Ok(())
    })
    .virtual_only(),
    Case::new("discovery/useless-locators", &[], |it| {
        let useless = [
            ([203, 0, 113, 9], 0),
            ([239, 255, 0, 77], 7400),
            ([255, 255, 255, 255], 7410),
            ([0, 0, 0, 0], 7410),
            ([127, 0, 0, 1], 7410),
            ([203, 0, 113, 9], 65_536),
            ([203, 0, 113, 9], u32::MAX),
        ];
        announce(it, STRANGER, fake(1), true, TEN_SECONDS, &useless);
        it.wait_ms(5000);
        Ok(())
    })
    .virtual_only(),
    Case::new("discovery/thousands-of-locators", &[], |it| {
        let many: Vec<WireLocator> = (0..1100_u32)
            .map(|at| ([203, 0, (at >> 8) as u8, at as u8], 7410))
            .collect();
        for _ in 0..4 {
            announce(it, STRANGER, fake(1), true, TEN_SECONDS, &many);
            it.wait_ms(100);
        }
        Ok(())
    })
    .virtual_only(),
    Case::new(
        "discovery/farewell-of-another",
        &[RejectKind::Source],
        |it| {
            let honest = honest(it);
            let key = it
                .scene
                .key(pid::PARTICIPANT_GUID, honest, EntityId::PARTICIPANT);
            let said = it.scene.disposal_of(EntityId::SPDP_WRITER, 2, &key);
            let message = it.scene.message_of(honest, false, &said);
            it.datagram_from(STRANGER, &message);
            Ok(())
        },
    )
    .virtual_only(),
    Case::new(
        "discovery/endpoint-of-another-ended",
        &[RejectKind::Source],
        |it| {
            let honest = honest(it);
            let key = it.scene.key(pid::ENDPOINT_GUID, honest, it.scene.reader);
            let writer = EntityId::SEDP_SUBSCRIPTIONS_WRITER;
            for number in 1..9 {
                let said = it.scene.disposal_of(writer, number, &key);
                let message = it.scene.message_of(honest, true, &said);
                it.datagram_from(STRANGER, &message);
            }
            Ok(())
        },
    )
    .virtual_only(),
    Case::new("discovery/move-of-another", &[RejectKind::Source], |it| {
        let honest = honest(it);
        for _ in 0..10 {
            announce(it, STRANGER, honest, true, TEN_SECONDS, &[VICTIM]);
            it.wait_ms(250);
        }
        it.wait_ms(1000);
        Ok(())
    })
    .virtual_only(),
    Case::new("discovery/fakes-of-one-host", &[], |it| {
        flood(it, false, |_| STRANGER);
        Ok(())
    })
    .virtual_only(),
    Case::new("discovery/fakes-of-many-hosts", &[], |it| {
        flood(it, false, |number| Origin::Stranger(number as u16));
        Ok(())
    })
    .virtual_only(),
    Case::new("discovery/fakes-that-answer", &[], |it| {
        // They acknowledge nothing, so the newer make the older go.
        flood(it, true, |number| Origin::Stranger(number as u16));
        Ok(())
    })
    .virtual_only(),
    Case::new(
        "discovery/fakes-that-acknowledge",
        // Answers of those that were not let in are a stranger's.
        &[RejectKind::Limit, RejectKind::Stranger],
        |it| {
            for number in 0..32 {
                let origin = Origin::Stranger(number as u16);
                announce(it, origin, fake(number), true, TEN_SECONDS, &[]);
                let answer = it.scene.sedp_acknack();
                let answer = it.scene.message_of(fake(number), true, &answer);
                it.datagram_from(origin, &answer);
            }
            Ok(())
        },
    )
    .virtual_only(),
    Case::new("discovery/fake-endpoints", &[RejectKind::Limit], |it| {
        for number in 0..FAKES {
            let [_, a, b, c] = number.to_be_bytes();
            let entity = EntityId([a, b, c, 7]);
            let data = it.scene.endpoint_data(entity, "Square", &[]);
            say_subscription(it, NEXT + i64::from(number), &data);
        }
        Ok(())
    })
    .virtual_only(),
    Case::new(
        "discovery/endpoints-before-an-answer",
        &[RejectKind::Stranger],
        |it| {
            announce(it, STRANGER, fake(1), false, TEN_SECONDS, &[VICTIM]);
            let data = it.scene.endpoint_data(it.scene.reader, "Square", &[]);
            let said = it
                .scene
                .data_of(EntityId::SEDP_SUBSCRIPTIONS_WRITER, 1, &data);
            for _ in 0..100 {
                let message = it.scene.message_of(fake(1), false, &said);
                it.datagram_from(STRANGER, &message);
            }
            Ok(())
        },
    )
    .virtual_only(),
    Case::new("discovery/data-of-nobody", &[RejectKind::Stranger], |it| {
        let said = it
            .scene
            .data_of(EntityId([0, 0, 77, 2]), 1, &[0, 1, 0, 0, 1]);
        let message = it.scene.message_of(fake(1), false, &said);
        it.datagram_from(STRANGER, &message);
        Ok(())
    }),
];

/// Somebody who does not exist.
fn fake(number: u32) -> GuidPrefix {
    let [a, b, c, d] = number.to_be_bytes();
    GuidPrefix([1, 0x10, 0xfa, 0xce, a, b, c, d, 0, 0, 0, 1])
}

/// The peer that the attacker is not.
fn honest(it: &Attack<'_>) -> GuidPrefix {
    it.scene.honest
}

fn announce(
    it: &mut Attack<'_>,
    origin: Origin,
    prefix: GuidPrefix,
    directed: bool,
    lease: WireDuration,
    locators: &[WireLocator],
) {
    let message = it.scene.announcement(prefix, directed, lease, locators);
    it.datagram_from(origin, &message);
}

/// The peer announces one more reader.
fn say_subscription(it: &mut Attack<'_>, number: i64, data: &[u8]) {
    let writer = EntityId::SEDP_SUBSCRIPTIONS_WRITER;
    let said = it.scene.data_of(writer, number, data);
    it.say(&[&said]);
}

/// Participants without end, some of which say that they have heard the victim.
fn flood(it: &mut Attack<'_>, directed: bool, from: fn(u32) -> Origin) {
    for number in 0..FAKES {
        let [_, _, a, b] = number.to_be_bytes();
        let listens = ([203, 1, a, b], 7410);
        announce(
            it,
            from(number),
            fake(number),
            directed,
            TEN_SECONDS,
            &[listens],
        );
        if number.is_multiple_of(64) {
            it.wait_ms(5);
        }
    }
}
