//! A second process that churns in the same part of the domain.

use std::io::Read;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::cycle::Churn;
use super::drops::{self, DROP_MAX};
use super::faults::faults;
use super::resources::Resources;
use super::scene::Scene;
use super::traffic::Traffic;
use super::watchdog;

/// The process, seen from the first one.
pub(super) struct Peer(Child);

impl Peer {
    pub(super) fn start(scene: &Scene) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|why| why.to_string())?;
        let mut command = Command::new(program);
        command.args(["child", "churn", "peer", &scene.tag]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.spawn();
        child
            .map(Self)
            .map_err(|why| format!("no second process: {why}"))
    }

    /// Ends it; its last line.
    pub(super) fn stop(mut self) -> Result<String, String> {
        watchdog::step("the end of the second process");
        drop(self.0.stdin.take());
        let mut said = String::new();
        let mut output = self.0.stdout.take().ok_or("no output")?;
        output
            .read_to_string(&mut said)
            .map_err(|why| why.to_string())?;
        let status = self.0.wait().map_err(|why| why.to_string())?;
        let last = said.lines().last().unwrap_or("silent").to_owned();
        if status.success() {
            Ok(last)
        } else {
            print!("{said}");
            Err(format!("second process: {last}"))
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the second process does, until its input ends.
pub(super) fn run(tag: &str) -> ExitCode {
    watchdog::start();
    let before = Resources::now();
    static STOP: AtomicBool = AtomicBool::new(false);
    let waiting = thread::spawn(|| {
        let mut nothing = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut nothing);
        STOP.store(true, Ordering::SeqCst);
    });
    let mut cycles = 0_u64;
    let scene = Scene::tagged(tag);
    let traffic = Traffic::start(&scene, 2);
    let mut churn = Churn::new(&scene, 1_000_000);
    while !STOP.load(Ordering::SeqCst) {
        churn.cycle();
        cycles += 1;
        thread::sleep(Duration::from_millis(1));
    }
    // The thread that read has ended too.
    let _ = waiting.join();
    let told = traffic.stop();
    drop(scene);
    let after = Resources::settled(&before);
    let (count, slowest, what) = drops::summary();
    let mut wrong = after.left_behind(&before);
    wrong.extend(told.err());
    wrong.extend(faults());
    if slowest > DROP_MAX {
        wrong.push(format!("a drop of {what} took {slowest:?}"));
    }
    print!("{}", drops::table());
    wrong.iter().for_each(|what| print!("{what}; "));
    let slowest_ms = slowest.as_secs_f64() * 1e3;
    println!("{cycles} cycles, {count} drops, slowest {slowest_ms:.1} ms");
    if wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
