//! What an honest peer says to the participant under attack, as an input of its target.
//!
//! Unlike the seeds it depends on the machines themselves, so that it is only written again on
//! purpose; an old recording stays a valid input.

use whimbrel_base::time::Duration;
use whimbrel_proto::change::ChangeKind;

use crate::station::{Station, metatraffic, topics};
use crate::targets::participant::{action, kind};

/// Time between two looks at the stations.
const STEP_US: u32 = 10_000;

/// Steps recorded.
const STEPS: usize = 80;

/// Discovery, samples in both directions, a large one among them, and the peer's departure.
pub fn exchange() -> Vec<u8> {
    let mut input = Vec::new();
    let mut stations = [1, 2].map(|number| {
        let mut station = Station::new(number, topics(number));
        station.outgoing.keeps = true;
        station
    });
    for step in 0..STEPS {
        if step % 20 == 10 {
            let own = [0, step as u8, 0, 0];
            input.extend(action(kind::WRITE, 0, &own));
            let payload = [&[0, 1, 0, 0][..], &own].concat();
            let _ = stations[0].write(0, ChangeKind::Alive, 0, payload);
            let _ = stations[1].write(0, ChangeKind::Alive, 1, [0, 1, 0, 0, 1].repeat(4 * step));
        }
        if step + 5 == STEPS {
            stations[1].depart();
        }
        while let Some(packet) = stations[0].outgoing.packets.pop_front() {
            stations[1].receive(metatraffic(1), &packet.bytes);
        }
        while let Some(packet) = stations[1].outgoing.packets.pop_front() {
            input.extend(action(kind::DATAGRAM, 0, &packet.bytes));
            stations[0].receive(metatraffic(2), &packet.bytes);
        }
        input.extend(action(kind::TIME, 0, &STEP_US.to_le_bytes()));
        for station in &mut stations {
            station.advance(Duration::from_micros(STEP_US.into()));
        }
    }
    input
}
