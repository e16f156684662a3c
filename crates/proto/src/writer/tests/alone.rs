//! The usual way of a change beside the general one: two writers to which the same happens do the
//! same, whichever way each of them takes.

use alloc::format;
use alloc::string::String;

use super::*;
use crate::tests::random::Random;
use crate::writer::Bundling;
use whimbrel_base::buffer::GatheredBytes;

/// A writer, what it has sent and whether it may take the usual way.
struct Side {
    writer: Writer,
    sent: Sent,
    may_be_usual: bool,
    /// How often it took the usual way, and how often what was written took over.
    alone: usize,
    taken_over: usize,
    /// How much of it was large.
    large: usize,
}

impl Side {
    fn new(config: &WriterConfig, may_be_usual: bool) -> Self {
        Self {
            writer: Writer::new(config.clone()),
            sent: Sent::default(),
            may_be_usual,
            alone: 0,
            taken_over: 0,
            large: 0,
        }
    }

    fn write(&mut self, now: Instant, mut new: NewChange) -> Result<SequenceNumber, WriteError> {
        if self.may_be_usual {
            self.taken_over += usize::from(self.writer.takes_over(&new));
            self.writer.write_from(now, &mut new)
        } else {
            self.writer.write_beside(now, &mut new)
        }
    }

    /// What follows from a change of the machine: events.
    fn drain(&mut self, now: Instant) -> Vec<WriterEvent> {
        let timeout = self.writer.poll_timeout();
        if self.may_be_usual && self.writer.transmit_alone(now, &mut self.sent) {
            self.alone += 1;
            self.large += usize::from(self.sent.0.last().is_some_and(|it| it.len() > 4500));
            assert_eq!(self.writer.poll_timeout(), timeout);
            assert_eq!(self.writer.poll_event(), None);
            return vec![];
        }
        self.writer.poll_transmit(now, &mut self.sent);
        core::iter::from_fn(|| self.writer.poll_event()).collect()
    }

    /// All that can be seen of it.
    fn seen(&mut self) -> String {
        let writer = &self.writer;
        let through = (writer.acknowledged_through(), writer.last_sequence());
        let history: Vec<_> = (1..=through.1.0)
            .filter_map(|number| writer.history.get(SequenceNumber(number)))
            .map(|it| (it.sequence, it.instance, it.charged_bytes, it.payload.len()))
            .collect();
        let sent = core::mem::take(&mut self.sent.0);
        let due = (writer.poll_timeout(), writer.measures_departures());
        let counts = (writer.statistics(), writer.held_bytes());
        format!("{sent:?} {history:?} {through:?} {due:?} {counts:?}")
    }
}

/// What happens to a writer.
#[derive(Clone, Debug)]
enum Step {
    Write(NewChange),
    AckNack(whimbrel_wire::submessage::AckNack),
    Timeout,
    Match(MatchedReader),
    Unmatch,
    Suspend(bool),
}

fn random_reader(random: &mut Random) -> MatchedReader {
    let mut reader = matched(random.below(4) > 0, random.below(4) == 0);
    reader.guid.prefix.0[0] = random.below(3) as u8;
    reader.expects_inline_qos = random.below(16) == 0;
    if random.below(8) == 0 {
        reader.locators.clear();
    }
    reader.receive_buffer_bytes = [0, 200_000][random.below(2) as usize];
    reader.message_bytes_max = [1472, 65_507, 65_507][random.below(3) as usize];
    reader
}

fn random_step(random: &mut Random, count: i32, last: i64) -> Step {
    match random.below(100) {
        0..70 => {
            let instance = if random.below(20) == 0 { 1 } else { 0 };
            let kind = match random.below(60) {
                0 => ChangeKind::Disposed,
                1 => ChangeKind::Unregistered,
                _ => ChangeKind::Alive,
            };
            let bytes = [4, 4, 4, 8, 1300, 1500, 5001, 0][random.below(8) as usize];
            let mut payload = SharedBytes::from_vec(vec![7; bytes]).into();
            if random.below(4) == 0 {
                let [before, after] = [4, 4400].map(|it| random.below(it) as usize);
                let amid = SharedBytes::from_vec(vec![8; 4400 + before]);
                let around = SharedBytes::from_vec(vec![7; before + after / 1000]);
                payload = GatheredBytes::new(around, before, amid);
            }
            Step::Write(NewChange {
                payload,
                ..keyed(kind, instance)
            })
        }
        70..85 => {
            let base = 1 + random.below(last as u64 + 1) as i64;
            let base = if random.below(2) == 0 { last + 1 } else { base };
            let missing = if base <= last && random.below(2) == 0 {
                vec![base]
            } else {
                vec![]
            };
            let mut said = acknack(base, &missing, count);
            said.is_final = random.below(8) > 0;
            Step::AckNack(said)
        }
        85..93 => Step::Timeout,
        93..95 => Step::Match(random_reader(random)),
        95..96 => Step::Unmatch,
        _ => Step::Suspend(random.below(3) == 0),
    }
}

/// Has `step` happen, to which `from` has a part; what is seen then, where all that follows does
/// before anything else happens.
fn take(side: &mut Side, now: Instant, (step, from): (Step, Guid), drains: bool) -> String {
    let writer = &mut side.writer;
    let mut said = String::new();
    match step {
        Step::Write(new) => said = format!("{:?}", side.write(now, new)),
        Step::AckNack(it) => said = format!("{:?}", writer.handle_acknack(now, from, &it)),
        Step::Timeout => writer.handle_timeout(now),
        Step::Match(reader) => writer.handle_matched(now, reader),
        Step::Unmatch => writer.handle_unmatched(now, from, false),
        Step::Suspend(true) => writer.suspend(),
        Step::Suspend(false) => writer.resume(),
    }
    if !drains {
        return said;
    }
    let events = side.drain(now);
    format!("{said} {events:?} {:?}", side.seen())
}

/// Lets the same happen to both; how often the usual way was taken, how often what was written took
/// over, and how often what left so was large.
fn run(seed: u64) -> [usize; 3] {
    let mut random = Random::new(seed);
    let mut config = writer(|_| {}).config().clone();
    config.depth = [Some(1), Some(1), Some(3), None][random.below(4) as usize];
    config.reliable = random.below(8) > 0;
    config.durable = random.below(4) == 0;
    config.bundling = match random.below(3) {
        0 => Bundling::Off,
        1 => Bundling::Automatic,
        _ => Bundling::UpTo {
            message_bytes_max: 1000,
            wait: Duration::from_millis(1),
        },
    };
    config.joined_bytes_max = [0, 4000][random.below(2) as usize];
    config.asynchronous = false;
    let mut sides = [true, false].map(|it| Side::new(&config, it));
    let mut now = NOW;
    for count in 1..300 {
        let step = random_step(&mut random, count, sides[0].writer.last_sequence().0);
        let mut from = READER;
        from.prefix.0[0] = random.below(3) as u8;
        now = now.after(Duration::from_micros(
            [1, 20, 300, 5000][random.below(4) as usize],
        ));
        if let (Step::Timeout, Some((at, _))) = (&step, sides[0].writer.poll_timeout()) {
            now = now.max(at);
        }
        let [one, other] = &mut sides;
        let case = format!("seed {seed} step {count} {step:?}");
        let drains = random.below(3) > 0;
        let took = take(one, now, (step.clone(), from), drains);
        assert_eq!(took, take(other, now, (step, from), drains), "{case}");
    }
    let usual = &sides[0];
    [usual.alone, usual.taken_over, usual.large]
}

#[test]
fn whichever_way_a_change_takes_the_same_leaves_and_the_same_follows() {
    let ways: Vec<_> = (0..400).map(run).collect();
    let counts = [0, 1, 2].map(|at| ways.iter().map(|it| it[at]).sum::<usize>());
    assert!(counts.iter().all(|it| *it > 200), "{counts:?}");
}
