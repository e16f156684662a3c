//! Drops while others wait: in blocking calls, and in futures that are never polled again.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::qos::{Limit, ResourceLimits};
use whimbrel::{DataReader, DataWriter, DomainParticipant, Error, Topic, WaitSet};

use super::dice::Dice;
use super::drops::{Thing, timed};
use super::faults::fault;
use super::scene::{Scene, Tick, all, all_of_it};
use super::watchdog;

/// What blocking calls are given.
const WAIT_MS: u32 = 200;
const WAIT: Duration = Duration::from_millis(WAIT_MS as u64);

/// How much longer they may take on a loaded machine.
const SLACK: Duration = Duration::from_secs(2);

/// How long two ends on one host may take for a step on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Numbers the topics of this process.
static TOPICS: AtomicU64 = AtomicU64::new(0);

/// A writer whose history is full, as its only reader has no room, and a reader without data.
struct Stuck {
    ends: [DomainParticipant; 2],
    writer: DataWriter<Tick>,
    reader: DataReader<Tick>,
    idle: DataReader<Tick>,
}

impl Stuck {
    fn new(scene: &Scene) -> Self {
        let (here, there) = (scene.join(), scene.join());
        let one = ResourceLimits {
            max_samples: Limit::at_most(1),
            max_samples_per_instance: Limit::at_most(1),
            ..ResourceLimits::UNLIMITED
        };
        let topic = |participant: &DomainParticipant, name: &str| -> Topic<Tick> {
            participant.create_topic(name).expect("a topic can be made")
        };
        // On a topic of their own: the drop of somebody else's reader would free the writer.
        let own = TOPICS.fetch_add(1, Ordering::Relaxed);
        let own = format!("stuck-{}-{own}", std::process::id());
        let writer = here
            .create_datawriter(&topic(&here, &own), all(WAIT_MS).resource_limits(one))
            .expect("a writer can be made");
        let reader = there
            .create_datareader(&topic(&there, &own), all_of_it().resource_limits(one))
            .expect("a reader can be made");
        let idle = there
            .create_datareader(&topic(&there, "idle"), all_of_it())
            .expect("a reader can be made");
        watchdog::step("wait_for_matched");
        if let Err(why) = writer.wait_for_matched(1, PATIENCE) {
            fault(format!("two new participants do not meet: {why}"));
        }
        watchdog::step("filling a history");
        fill(&writer);
        Self {
            ends: [here, there],
            writer,
            reader,
            idle,
        }
    }

    fn drop_in_any_order(self, dice: &mut Dice, others: Vec<Thing>) {
        let [here, there] = self.ends;
        let mut things: Vec<Thing> = vec![
            ("a writer that is waited for", Box::new(self.writer)),
            ("a reader that is waited for", Box::new(self.reader)),
            ("a reader that is waited for", Box::new(self.idle)),
            ("a participant that is waited for", Box::new(here)),
            ("a participant that is waited for", Box::new(there)),
        ];
        things.extend(others);
        dice.shuffle(&mut things);
        for (name, thing) in things {
            timed(name, thing);
        }
    }
}

/// Fills the room for one sample at each end: the first is acknowledged as it reaches the
/// reader's cache, the second never, as it finds no room there.
fn fill(writer: &DataWriter<Tick>) {
    let write = || writer.try_write(&Tick::new(1, 0, 10)).is_ok();
    let started = Instant::now();
    let mut written = 0;
    while written < 2 {
        if write() {
            written += 1;
        } else if started.elapsed() > PATIENCE {
            return fault(format!("room for two samples took {written} of them"));
        } else {
            thread::sleep(Duration::from_millis(1));
        }
    }
    if write() {
        fault("room for two samples took three of them".to_owned());
    }
}

/// Handles are dropped while clones of them block in other threads.
pub(super) fn threads(scene: &Scene, dice: &mut Dice) {
    let stuck = Stuck::new(scene);
    let (writer, reader) = (stuck.writer.clone(), stuck.idle.clone());
    let conditions = [reader.status_condition()];
    thread::scope(|threads| {
        threads.spawn(in_time("write", {
            let writer = writer.clone();
            move || writer.write(&Tick::new(1, 1, 10))
        }));
        threads.spawn(in_time("wait_for_acknowledgments", move || {
            writer.wait_for_acknowledgments(WAIT)
        }));
        threads.spawn(in_time("take_timeout", move || {
            reader.take_timeout(1, WAIT).map(drop)
        }));
        threads.spawn(in_time("wait", move || {
            let wait_set = WaitSet::new();
            for condition in conditions {
                condition.set_enabled_statuses(whimbrel::StatusMask::NONE);
                wait_set.attach(condition);
            }
            wait_set.wait(WAIT).map(drop)
        }));
        thread::sleep(Duration::from_millis(dice.below(20)));
        stuck.drop_in_any_order(dice, Vec::new());
        watchdog::step("threads that were blocked");
    });
}

/// A call that must end in time, whatever its outcome; its handles are dropped after it.
fn in_time(
    name: &'static str,
    call: impl FnOnce() -> Result<(), Error> + Send,
) -> impl FnOnce() + Send {
    move || {
        let started = Instant::now();
        let _ = call();
        let took = started.elapsed();
        if took > WAIT + SLACK {
            fault(format!("{name} took {took:?}, allowed {WAIT:?}"));
        }
    }
}

/// Handles are dropped while futures made from them wait, and the futures too.
pub(super) fn futures(scene: &Scene, dice: &mut Dice) {
    let stuck = Stuck::new(scene);
    let wait_set = WaitSet::new();
    let waiting: Vec<Pin<Box<dyn Future<Output = ()>>>> = vec![
        Box::pin(ignore(stuck.idle.take_async(1))),
        Box::pin(ignore(stuck.idle.wait_for_matched_async(99))),
        Box::pin(ignore(stuck.writer.write_async(&Tick::new(1, 1, 10)))),
        Box::pin(ignore(stuck.writer.wait_for_acknowledgments_async())),
        Box::pin(ignore(stuck.writer.wait_for_matched_async(99))),
        Box::pin(ignore(wait_set.wait_async())),
    ];
    let others = waiting.into_iter().map(|mut future| -> Thing {
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_ready() {
            fault("a future of a stuck writer or an idle reader was done".to_owned());
        }
        ("a future that waits", Box::new(future))
    });
    let others = others.collect();
    stuck.drop_in_any_order(dice, others);
}

async fn ignore<T>(future: impl Future<Output = T>) {
    future.await;
}
