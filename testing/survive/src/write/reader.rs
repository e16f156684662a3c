//! A reader in a process of its own, to be stopped and killed.

use std::io::Read;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::bus::{all, join, topic};

/// The process, seen from the writer's.
pub(super) struct Reader(Child);

impl Reader {
    pub(super) fn start(tag: &str) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|why| why.to_string())?;
        let mut command = Command::new(program);
        command.args(["child", "write", tag]).stdin(Stdio::piped());
        let child = command.spawn().map_err(|why| why.to_string())?;
        Ok(Self(child))
    }

    pub(super) fn kill(mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    pub(super) fn stop(&self) {
        self.signal(Signal::STOP);
    }

    pub(super) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.0.id().cast_signed()) {
            kill_process(pid, signal).expect("the process is ours");
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the process does: takes, until its input ends.
pub(super) fn run(tag: &str) -> ExitCode {
    static STOP: AtomicBool = AtomicBool::new(false);
    thread::spawn(|| {
        let mut nothing = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut nothing);
        STOP.store(true, Ordering::SeqCst);
    });
    let reader = join(tag, 0).and_then(|there| {
        let reader = there.create_datareader(&topic(&there)?, all());
        reader.map_err(|why| why.to_string())
    });
    let Ok(reader) = reader else {
        return ExitCode::FAILURE;
    };
    while !STOP.load(Ordering::SeqCst) {
        let _ = reader.take_timeout(1000, Duration::from_millis(50));
    }
    ExitCode::SUCCESS
}
