//! Participants that said goodbye lately, whose words may still be on their way.
//!
//! An announcement that comes after the farewell is an echo, unless it names another process: then
//! the participant is back, with the GUID that it had. The farewell of its former life may come
//! once more and must not end it.

use alloc::collections::VecDeque;
use alloc::string::String;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::discovery::ParticipantData;

/// How long late announcements of a participant that has departed are ignored.
const PATIENCE: Duration = Duration::from_secs(10);

/// Datagrams are no later than this.
const ECHO: Duration = Duration::from_secs(1);

/// Departed participants remembered.
const REMEMBERED_MAX: usize = 64;

#[derive(Debug)]
struct Farewell {
    at: Instant,
    prefix: GuidPrefix,
    process: Option<String>,
}

/// The farewells.
#[derive(Debug, Default)]
pub(super) struct Farewells(VecDeque<Farewell>);

impl Farewells {
    /// The participant of `data` has left.
    pub(super) fn note(&mut self, now: Instant, data: &ParticipantData) {
        let prefix = data.guid.prefix;
        self.0.retain(|it| it.prefix != prefix);
        while self.0.len() >= REMEMBERED_MAX {
            self.0.pop_front();
        }
        self.0.push_back(Farewell {
            at: now,
            prefix,
            process: data.process_id().map(String::from),
        });
    }

    fn of(&self, prefix: GuidPrefix) -> Option<&Farewell> {
        self.0.iter().find(|it| it.prefix == prefix)
    }

    /// True when what `data` announces was said before its participant left.
    pub(super) fn outlived(&self, now: Instant, data: &ParticipantData) -> bool {
        self.of(data.guid.prefix).is_some_and(|left| {
            let another = match (left.process.as_deref(), data.process_id()) {
                (Some(former), Some(process)) => former != process,
                _ => false,
            };
            !another && now.since(left.at) < PATIENCE
        })
    }

    /// True when a farewell of `prefix` may be that of the life before, once more.
    pub(super) fn has_just_left(&self, now: Instant, prefix: GuidPrefix) -> bool {
        self.of(prefix)
            .is_some_and(|left| now.since(left.at) < ECHO)
    }
}
