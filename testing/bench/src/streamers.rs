//! The processes of a stream: one that writes, and those that read.

use std::path::Path;
use std::time::Duration;

use whimbrel_rig::process::Process;

use crate::pair::ENDING;
use crate::protocol::READY;
use crate::stage::Seat;

/// How long it may take to meet.
const MEETING: Duration = Duration::from_secs(30);

/// What streams, and to how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streaming<'a> {
    /// The product's way of doing it, as its program calls it.
    pub mode: &'a str,
    /// So many write, each by a thread of one process, and each to all that read.
    pub writers: usize,
    /// So many read.
    pub readers: usize,
    /// Octets of a sample.
    pub size: usize,
    /// Nobody else is in it.
    pub domain: usize,
}

/// The processes of a stream.
#[derive(Debug)]
pub struct Streamers {
    /// Writes.
    pub writer: Process,
    /// Read.
    pub readers: Vec<Process>,
}

impl Drop for Streamers {
    fn drop(&mut self) {
        for process in self.readers.iter_mut().chain([&mut self.writer]) {
            process.end(ENDING);
        }
    }
}

impl Streamers {
    /// Starts `program` on `seats`, the writer's and the readers'; the readers are ready when this
    /// returns. Errors name them by `name`.
    ///
    /// # Errors
    /// The program does not start.
    pub fn start(
        name: &str,
        program: &Path,
        seats: &[Seat; 2],
        streaming: Streaming<'_>,
    ) -> Result<Self, String> {
        let begin = |role: &str, number: usize, seat: &Seat, other: &Seat| {
            let mut command = seat.program(program);
            command.args(["throughput", role, streaming.mode]);
            command.args(["--number", &number.to_string()]);
            if streaming.writers > 1 {
                command.args(["--writers", &streaming.writers.to_string()]);
            }
            command.args(["--domain", &streaming.domain.to_string()]);
            command.args(["--size", &streaming.size.to_string()]);
            command.args(["--interface", seat.interface]);
            command.args(["--address", seat.address, "--peer", other.address]);
            Process::start(&format!("{name}, {role}"), &mut command)
        };
        let [a, b] = seats;
        let readers = (0..streaming.readers).map(|number| begin("sub", number, b, a));
        let readers = readers.collect::<Result<Vec<Process>, String>>()?;
        for reader in &readers {
            reader.wait_until(READY, MEETING)?;
        }
        let role = if streaming.writers > 1 { "pubs" } else { "pub" };
        let writer = begin(role, streaming.readers, a, b)?;
        Ok(Self { writer, readers })
    }

    /// Waits until all have met.
    ///
    /// # Errors
    /// They do not.
    pub fn wait_until_ready(&self) -> Result<(), String> {
        self.writer.wait_until(READY, MEETING)
    }
}
