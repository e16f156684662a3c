//! Listeners hear the last change, and the callback thread ends, whoever ends it.

use whimbrel_base::status::{StatusKind, StatusMask};

use crate::driver::callbacks::{Callback, Callbacks};
use crate::driver::status::{self, AnyEntity, EntityStatus, News};
use crate::driver::sync::atomic::{AtomicUsize, Ordering};
use crate::driver::sync::{Arc, Mutex, Weak, lock, thread};
use crate::driver::worker::Worker;

use super::{ORDERS, SWITCHES, explore, explore_orders};

const KINDS: StatusMask = StatusMask::of(StatusKind::SampleLost);

const DATA: StatusMask = StatusMask::of(StatusKind::DataAvailable);

/// An entity with one status: how often it changed.
struct Entity {
    count: Mutex<usize>,
    status: Arc<EntityStatus>,
}

impl status::Entity for Entity {
    fn status(&self) -> &EntityStatus {
        &self.status
    }
}

impl Entity {
    fn new(callbacks: &Arc<Callbacks>) -> Arc<Self> {
        let entity = Arc::new(Self {
            count: Mutex::new(0),
            status: EntityStatus::new(callbacks, None),
        });
        let owner: Weak<Self> = Arc::downgrade(&entity);
        entity.status.set_owner(owner);
        entity
    }

    fn change(&self) {
        {
            *lock(&self.count) += 1;
            self.status.mark(KINDS);
        }
        self.status.tell(News::of(KINDS));
    }

    /// One more sample is here.
    fn hand_over(self: &Arc<Self>) {
        {
            *lock(&self.count) += 1;
            self.status.mark_data_here();
        }
        Arc::clone(self).tell_data_here();
    }

    /// The same by a writer that leaves the telling to a chain of listeners where it can.
    fn hand_over_in_turn(self: &Arc<Self>) {
        {
            *lock(&self.count) += 1;
            self.status.mark_data_here();
        }
        if !self.status.hears_after() {
            Arc::clone(self).tell_data_here();
        }
    }

    /// One more sample has come by the network.
    fn bring(self: &Arc<Self>) {
        {
            *lock(&self.count) += 1;
            self.status.mark(DATA);
        }
        self.status.tell(News::of(DATA));
    }

    /// Takes all samples.
    fn take(self: &Arc<Self>) {
        let mut count = lock(&self.count);
        self.status.clear(StatusKind::DataAvailable);
        *count = 0;
    }

    fn read(&self) -> usize {
        let count = lock(&self.count);
        self.status.clear(StatusKind::SampleLost);
        *count
    }
}

/// Notes what it reads of its entity.
fn listener(heard: &Arc<AtomicUsize>) -> Option<Callback> {
    let heard = Arc::clone(heard);
    Some(Box::new(move |owner, _| {
        let entity: &Arc<Entity> = owner.downcast_ref().unwrap();
        heard.fetch_max(entity.read(), Ordering::SeqCst);
    }))
}

/// Notes how many samples its entity has, and is never called while it runs.
fn data_listener(heard: &Arc<AtomicUsize>) -> Option<Callback> {
    let (heard, inside) = (Arc::clone(heard), AtomicUsize::new(0));
    Some(Box::new(move |owner, _| {
        let entity: &Arc<Entity> = owner.downcast_ref().unwrap();
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
        entity.status.clear(StatusKind::DataAvailable);
        heard.fetch_max(*lock(&entity.count), Ordering::SeqCst);
        inside.fetch_sub(1, Ordering::SeqCst);
    }))
}

fn end(callbacks: &Callbacks) {
    callbacks.stop().into_iter().for_each(Worker::join);
}

#[test]
fn the_last_change_is_told_also_to_a_listener_that_replaces_another() {
    explore(|| {
        let callbacks = Arc::new(Callbacks::default());
        let entity = Entity::new(&callbacks);
        let heard = Arc::new(AtomicUsize::new(0));
        entity.status.set_listener(listener(&heard), KINDS);
        let changers = [(); 2].map(|()| {
            let entity = Arc::clone(&entity);
            thread::spawn(move || {
                entity.change();
                entity.change();
            })
        });
        entity.status.set_listener(listener(&heard), KINDS);
        changers.into_iter().for_each(|it| it.join().unwrap());
        // Ends after what is queued.
        end(&callbacks);
        assert_eq!(heard.load(Ordering::SeqCst), 4);
        assert!(entity.status.changed().is_empty());
    });
}

#[test]
fn the_callback_thread_ends_while_changes_come_and_by_a_listener_itself() {
    explore(|| {
        let callbacks = Arc::new(Callbacks::default());
        let (entity, other) = (Entity::new(&callbacks), Entity::new(&callbacks));
        let ends = Arc::clone(&callbacks);
        let ender: Callback = Box::new(move |_, _| end(&ends));
        entity.status.set_listener(Some(ender), KINDS);
        let heard = Arc::new(AtomicUsize::new(0));
        other.status.set_listener(listener(&heard), KINDS);
        let changers = [entity, other].map(|entity| {
            thread::spawn(move || {
                entity.change();
                entity.change();
                drop(entity);
            })
        });
        end(&callbacks);
        changers.into_iter().for_each(|it| it.join().unwrap());
        assert!(callbacks.stop().is_none(), "a thread was started again");
    });
}

#[test]
fn data_told_by_writers_and_by_the_network_at_once_is_heard_by_one_at_a_time() {
    explore(|| {
        let callbacks = Arc::new(Callbacks::default());
        let entity = Entity::new(&callbacks);
        let heard = Arc::new(AtomicUsize::new(0));
        entity.status.set_listener(data_listener(&heard), DATA);
        let tellers = [Entity::hand_over, Entity::hand_over, Entity::bring].map(|tell| {
            let entity = Arc::clone(&entity);
            thread::spawn(move || tell(&entity))
        });
        tellers.into_iter().for_each(|it| it.join().unwrap());
        end(&callbacks);
        assert_eq!(heard.load(Ordering::SeqCst), 3);
        assert!(entity.status.changed().is_empty());
    });
}

/// Two hand samples over while a third takes them, and so does the listener, if there is one; at
/// the end nothing may be left that nobody was told of.
fn check_data_left(hears: bool) {
    explore_orders(20 * ORDERS, SWITCHES + 2, move || {
        let callbacks = Arc::new(Callbacks::default());
        let entity = Entity::new(&callbacks);
        if hears {
            let listener: Callback = Box::new(|owner, _| {
                let entity: &Arc<Entity> = owner.downcast_ref().unwrap();
                // As the call of a reader's listener does, which is without the lock.
                entity.status.clear(StatusKind::DataAvailable);
                entity.take();
            });
            entity.status.set_listener(Some(listener), DATA);
        }
        let threads = [Entity::hand_over, Entity::hand_over, Entity::take].map(|act| {
            let entity = Arc::clone(&entity);
            thread::spawn(move || act(&entity))
        });
        threads.into_iter().for_each(|it| it.join().unwrap());
        end(&callbacks);
        let is_told = !hears && entity.status.changed().intersects(DATA);
        assert!(is_told || *lock(&entity.count) == 0);
    });
}

#[test]
fn data_handed_over_while_others_take_is_heard() {
    check_data_left(true);
}

#[test]
fn data_handed_over_while_others_take_shows() {
    check_data_left(false);
}

/// A listener hands a sample over to another reader, while `other` brings it one too or waits for
/// one: its own listener hears of all, one at a time.
fn check_chain(other: fn(&Arc<Entity>)) {
    explore(move || {
        let callbacks = Arc::new(Callbacks::default());
        let (first, second) = (Entity::new(&callbacks), Entity::new(&callbacks));
        let heard = Arc::new(AtomicUsize::new(0));
        second.status.set_listener(data_listener(&heard), DATA);
        let to = Arc::clone(&second);
        let writes: Callback = Box::new(move |owner, _| {
            let entity: &Arc<Entity> = owner.downcast_ref().unwrap();
            entity.status.clear(StatusKind::DataAvailable);
            to.hand_over_in_turn();
        });
        first.status.set_listener(Some(writes), DATA);
        let beside = Arc::clone(&second);
        let threads = [
            thread::spawn(move || first.hand_over()),
            thread::spawn(move || other(&beside)),
        ];
        threads.into_iter().for_each(|it| it.join().unwrap());
        end(&callbacks);
        assert_eq!(heard.load(Ordering::SeqCst), *lock(&second.count));
        assert!(second.status.changed().is_empty());
    });
}

#[test]
fn data_that_a_listener_hands_over_is_heard_beside_what_others_do() {
    check_chain(Entity::hand_over);
}

#[test]
fn data_that_a_listener_hands_over_is_heard_beside_what_the_network_brings() {
    check_chain(Entity::bring);
}

#[test]
fn data_that_a_listener_hands_over_wakes_who_waits_for_it() {
    check_chain(|entity| {
        let is_there = || (*lock(&entity.count) > 0).then_some(());
        assert!(entity.status.bell.wait_until(None, is_there).is_some());
    });
}
