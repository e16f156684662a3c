//! Ends the process when a step takes so long that it must hang, and says what every thread does.

use std::cell::RefCell;
use std::fs;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any wait in a step.
const HANG: Duration = Duration::from_secs(45);

type Step = (String, &'static str, Instant);

static STEPS: Mutex<Vec<Arc<Mutex<Step>>>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: RefCell<Option<Arc<Mutex<Step>>>> = const { RefCell::new(None) };
}

/// Notes that the calling thread begins something.
pub(super) fn step(what: &'static str) {
    MINE.with_borrow_mut(|mine| {
        let mine = mine.get_or_insert_with(|| {
            let name = thread::current().name().unwrap_or("worker").to_owned();
            let step = Arc::new(Mutex::new((name, what, Instant::now())));
            let mut steps = STEPS.lock().expect("nobody panics here");
            // Threads that have ended hold theirs no longer.
            steps.retain(|step| Arc::strong_count(step) > 1);
            steps.push(Arc::clone(&step));
            step
        });
        let mut step = mine.lock().expect("nobody panics here");
        (step.1, step.2) = (what, Instant::now());
    });
}

/// Notes that the calling thread is done with what is watched, and may wait for ever.
pub(super) fn rest() {
    MINE.with_borrow_mut(Option::take);
}

/// Watches from now on.
pub(super) fn start() {
    let watch = || {
        loop {
            thread::sleep(Duration::from_millis(500));
            if let Some((name, what, since)) = hanging() {
                println!(
                    "thread {name} hangs in \"{what}\" for {:?}",
                    since.elapsed()
                );
                print_threads();
                println!("churn: a thread hangs in \"{what}\"");
                std::process::exit(1);
            }
        }
    };
    let watching = thread::Builder::new().name("watchdog".into()).spawn(watch);
    watching.expect("the system has threads");
}

fn hanging() -> Option<Step> {
    let steps = STEPS.lock().expect("nobody panics here");
    let mut steps = steps.iter().filter(|step| Arc::strong_count(step) > 1);
    steps.find_map(|step| {
        let step = step.lock().expect("nobody panics here");
        (step.2.elapsed() > HANG).then(|| step.clone())
    })
}

/// What the system tells of each thread of this process.
fn print_threads() {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return;
    };
    for task in tasks.flatten() {
        let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let state = read("status");
        let state = state.lines().find(|line| line.starts_with("State:"));
        println!(
            "  {} {} {} in {} {}",
            task.file_name().to_string_lossy(),
            read("comm").trim(),
            state.unwrap_or("State: unknown"),
            read("wchan").trim(),
            read("stack").replace('\n', " <- "),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_rests_is_not_watched() {
        let is_watched = || {
            let steps = STEPS.lock().expect("nobody panics here");
            let mut steps = steps.iter().filter(|step| Arc::strong_count(step) > 1);
            steps.any(|step| step.lock().expect("nobody panics here").1 == "a test")
        };
        assert!(!is_watched());
        step("a test");
        assert!(is_watched());
        rest();
        assert!(!is_watched());
    }
}
