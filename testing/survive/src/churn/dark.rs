//! Shutdown when the network is gone: a process in a network of its own, whose only interface
//! goes down before everything is dropped.

use std::process::{Command, ExitCode};
use std::time::Duration;

use super::drops::{self, DROP_MAX, timed};
use super::scene::{Scene, Tick, all, all_of_it, topic};
use super::watchdog;

const PATIENCE: Duration = Duration::from_secs(20);

/// Runs [`inside`] in a namespace of its own.
pub(super) fn run() -> Result<String, String> {
    watchdog::step("a process without a network");
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    let mut command = Command::new("unshare");
    command
        .arg("--net")
        .arg(program)
        .args(["child", "churn", "dark"]);
    let output = command.output().map_err(|why| format!("unshare: {why}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let last = said.lines().last().unwrap_or("silent").to_owned();
    if output.status.success() {
        Ok(last)
    } else {
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("interface down: {last} {}", errors.trim()))
    }
}

/// What the process does.
pub(super) fn inside() -> ExitCode {
    watchdog::start();
    let outcome = drop_in_the_dark();
    let (count, slowest, _) = drops::summary();
    let slowest_ms = slowest.as_secs_f64() * 1e3;
    match outcome {
        Ok(()) if slowest <= DROP_MAX => {
            println!("interface down: {count} drops, slowest {slowest_ms:.1} ms");
            ExitCode::SUCCESS
        }
        Ok(()) => {
            println!("{}slowest {slowest_ms:.1} ms", drops::table());
            ExitCode::FAILURE
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn drop_in_the_dark() -> Result<(), String> {
    loopback("up")?;
    let scene = Scene::new();
    let writer = scene.here.create_datawriter(&topic(&scene.here), all(100));
    let writer = writer.map_err(|why| why.to_string())?;
    let reader = scene
        .there
        .create_datareader(&topic(&scene.there), all_of_it());
    let reader = reader.map_err(|why| why.to_string())?;
    let matched = writer.wait_for_matched(1, PATIENCE);
    matched.map_err(|why| why.to_string())?;
    let written = writer.write(&Tick::new(1, 1, 10));
    written.map_err(|why| why.to_string())?;
    loopback("down")?;
    let _ = writer.write(&Tick::new(1, 2, 10));
    timed("a writer without a network", writer);
    timed("a reader without a network", reader);
    timed("a participant without a network", scene.here);
    timed("the last participant without a network", scene.there);
    Ok(())
}

fn loopback(state: &str) -> Result<(), String> {
    let mut command = Command::new("ip");
    let status = command.args(["link", "set", "lo", state]).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("ip link set lo {state}: {status}")),
        Err(why) => Err(format!("ip: {why}")),
    }
}
