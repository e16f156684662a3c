//! What the control machine does, and what follows from that for endpoints, routes and users.

use whimbrel_base::time::Instant;
use whimbrel_proto::{Participant, ParticipantEvent};

use super::ParticipantCore;
use crate::driver::clock;
use crate::driver::contain::contain;
use crate::driver::outbox::SocketOutbox;
use crate::driver::routing::{Routing, Told};
use crate::driver::sync::atomic::Ordering;
use crate::driver::sync::{Arc, Weak, lock};
use crate::driver::timers::Timed;
use crate::driver::warning::Warning;

/// How often at most what was learned meanwhile takes effect before anything is sent.
const LEARNED_ROUNDS_MAX: usize = 16;

/// What is still to be told once nothing is locked.
#[derive(Default)]
struct Effects {
    warnings: Vec<Warning>,
    told: Vec<Told>,
    /// Something happened.
    is_any: bool,
}

impl ParticipantCore {
    /// Changes the control machine, then sends and applies what follows from that. What it had
    /// learned before takes effect first: who hears that an announcement has come may rely on it.
    pub(crate) fn change<R>(&self, f: impl FnOnce(&mut Participant, Instant) -> R) -> R {
        let serial = lock(&self.serial);
        let now = clock::now();
        let mut effects = Effects::default();
        let mut control = lock(&self.control);
        // More may arrive while nothing is locked; a flood of it is not waited for.
        for _ in 0..LEARNED_ROUNDS_MAX {
            let learned = events_of(&mut control);
            if learned.is_empty() {
                break;
            }
            drop(control);
            self.take_effect(learned, now, &mut effects);
            control = lock(&self.control);
        }
        let result = f(&mut control, now);
        control.poll_transmit(now, &mut SocketOutbox::control(&self.sockets));
        let events = events_of(&mut control);
        let deadline = control.poll_timeout();
        drop(control);
        self.take_effect(events, now, &mut effects);
        drop(serial);
        if let Some((at, _)) = deadline {
            let me: Weak<dyn Timed> = self.me.clone();
            self.driver.arm(&self.timer, &me, at);
        }
        // User code may run from here on, and do whatever it likes to this participant.
        for warning in effects.warnings {
            let _ = contain(|| self.warnings.raise(warning));
        }
        for (status, news) in effects.told {
            status.tell(news);
        }
        if effects.is_any {
            self.bell.ring();
        }
        result
    }

    /// Applies `events`, and adds to `effects` who is to be told of them.
    fn take_effect(&self, events: Vec<ParticipantEvent>, now: Instant, effects: &mut Effects) {
        effects.is_any |= !events.is_empty();
        let warning = |event| Warning::of(event, self.prefix);
        effects.warnings.extend(events.iter().filter_map(warning));
        effects.told.extend(self.apply(events, now));
    }

    /// Gives the events to the endpoints they concern; who is to be told of what, then.
    fn apply(&self, events: Vec<ParticipantEvent>, now: Instant) -> Vec<Told> {
        // Such as have not answered have no routes, however many come.
        let routeless = |event: &ParticipantEvent| {
            use ParticipantEvent as Event;
            matches!(
                event,
                Event::ParticipantHeard(_) | Event::ParticipantForgotten(_)
            )
        };
        if events.iter().all(routeless) {
            return Vec::new();
        }
        self.route_matches(&events);
        let routing = self.routing.load_full();
        let apply = |event| self.apply_one(&routing, event, now);
        events.into_iter().filter_map(apply).collect()
    }

    fn apply_one(&self, routing: &Routing, event: ParticipantEvent, now: Instant) -> Option<Told> {
        match event {
            ParticipantEvent::ReaderMatched { writer, reader } => {
                let told = routing.with_writer(writer, |it| it.matched(now, reader));
                if let Some(offer) = self.statistics.get() {
                    offer.note_matched(writer, now);
                }
                told
            }
            ParticipantEvent::ReaderUnmatched {
                writer,
                reader,
                lost,
            } => routing.with_writer(writer, |it| it.unmatched(now, reader, lost)),
            ParticipantEvent::WriterMatched { reader, writer } => {
                routing.with_reader(reader, |it| it.matched(now, writer))
            }
            ParticipantEvent::WriterUnmatched { reader, writer } => {
                routing.with_reader(reader, |it| it.unmatched(now, writer))
            }
            ParticipantEvent::ReaderIncompatible {
                writer, policies, ..
            } => routing.with_writer(writer, |it| it.incompatible(policies)),
            ParticipantEvent::WriterIncompatible {
                reader, policies, ..
            } => routing.with_reader(reader, |it| it.incompatible(policies)),
            ParticipantEvent::InconsistentTopic { topic_name } => {
                let topic = lock(&self.topics)
                    .get(&topic_name)
                    .and_then(Weak::upgrade)?;
                Some((Arc::clone(&topic.status), topic.inconsistent_topic()))
            }
            ParticipantEvent::PeerConfirmed { local, remote } => routing
                .with_writer(local, |it| it.confirmed(remote))
                .or_else(|| routing.with_reader(local, |it| it.confirmed(remote))),
            ParticipantEvent::OwnGuidClaimed { .. } => {
                self.own_guid_claimed.fetch_add(1, Ordering::Relaxed);
                None
            }
            ParticipantEvent::ParticipantHeard(_)
            | ParticipantEvent::ParticipantForgotten(_)
            | ParticipantEvent::ParticipantDiscovered(_)
            | ParticipantEvent::ParticipantLost { .. }
            | ParticipantEvent::ReaderUnserved { .. }
            | ParticipantEvent::RoutingChanged => None,
        }
    }

    /// New routes first: data may follow its match at once.
    fn route_matches(&self, events: &[ParticipantEvent]) {
        let routes = |event: &ParticipantEvent| {
            use ParticipantEvent as Event;
            matches!(
                event,
                Event::ParticipantDiscovered(_)
                    | Event::ParticipantLost { .. }
                    | Event::WriterMatched { .. }
                    | Event::WriterUnmatched { .. }
            )
        };
        if !events.iter().any(routes) {
            return;
        }
        self.reroute(|routing| {
            for event in events {
                match event {
                    ParticipantEvent::ParticipantDiscovered(prefix) => {
                        let (heard, addresses) = self.look(|control| {
                            let addresses = control.default_addresses(*prefix).iter();
                            let addresses = addresses.filter_map(|it| it.to_socket_addr());
                            (control.heard(*prefix), addresses.collect())
                        });
                        routing.note_heard(*prefix, heard);
                        routing.note_addresses(*prefix, addresses);
                    }
                    ParticipantEvent::ParticipantLost { prefix, .. } => {
                        self.sockets.forget_ways_to(routing.addresses(*prefix));
                        routing.note_heard(*prefix, None);
                    }
                    ParticipantEvent::WriterMatched { reader, writer } => {
                        routing.join(writer.guid, *reader);
                    }
                    ParticipantEvent::WriterUnmatched { reader, writer } => {
                        routing.part(*writer, *reader);
                    }
                    _ => {}
                }
            }
        });
    }
}

fn events_of(control: &mut Participant) -> Vec<ParticipantEvent> {
    std::iter::from_fn(|| control.poll_event()).collect()
}
