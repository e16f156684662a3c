//! A process that answers each line with one line, and what it costs the machine.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Set this, as by a signal, and whoever waits for a process gives up within a tenth of a second.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How long one wait lasts before somebody looks whether it still makes sense.
const SLICE: Duration = Duration::from_millis(100);

/// How often whoever waits for the end of a process looks.
const LOOK: Duration = Duration::from_millis(1);

/// A running process; killed when dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    /// `None` once it was told that nothing more comes.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

/// What the threads of a process have used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on a core, in nanoseconds.
    pub cpu_ns: u64,
    /// Of that, in the system: its calls, and what interrupts brought. Counted in hundredths of a
    /// second.
    pub system_ns: u64,
    /// How often a thread gave up its core to wait.
    pub waits: u64,
    /// How often a thread lost its core to another.
    pub preempted: u64,
}

/// What a process holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// Resident memory in KiB.
    pub resident_kib: u64,
    /// Of that, what no file backs: heap, stacks, changed data.
    pub private_kib: u64,
    /// Threads, the main one among them.
    pub threads: u64,
}

impl Usage {
    /// Time on cores in nanoseconds of which the system's part is known well enough: fifty of the
    /// hundredths of a second in which it is counted. Each counts for who it happens to meet, so of
    /// what is halved, one share in three is off by more than 7 % of the whole.
    pub const SPLIT_NS_MIN: u64 = 500_000_000;

    /// Of the time on cores, what the system took, in nanoseconds: never more than all. Nothing
    /// where too little was used to be split.
    pub fn system_part_ns(self) -> Option<u64> {
        (self.cpu_ns >= Self::SPLIT_NS_MIN).then(|| self.system_ns.min(self.cpu_ns))
    }

    /// What the threads of the process `id` have used so far; those that have ended are not in it.
    pub fn of(id: u32) -> Self {
        let tasks = fs::read_dir(format!("/proc/{id}/task"));
        let mut usage = Self::default();
        for task in tasks.into_iter().flatten().flatten() {
            let read = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            let of_task = usage_of(&read("schedstat"), &read("status"), &read("stat"));
            usage = usage.plus(of_task);
        }
        usage
    }

    /// What was used since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            waits: self.waits.saturating_sub(earlier.waits),
            preempted: self.preempted.saturating_sub(earlier.preempted),
        }
    }

    /// What both have used.
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            system_ns: self.system_ns + other.system_ns,
            waits: self.waits + other.waits,
            preempted: self.preempted + other.preempted,
        }
    }
}

impl Holding {
    /// What the process `id` holds now.
    ///
    /// # Errors
    /// It has ended.
    pub fn of(id: u32) -> Result<Self, String> {
        let path = format!("/proc/{id}/status");
        let status = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        holding_of(&status).ok_or_else(|| "it has ended".to_owned())
    }
}

impl Process {
    /// Starts `command`; `name` is for errors.
    ///
    /// # Errors
    /// The system refuses.
    pub fn start(name: &str, command: &mut Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name}: {command:?}: {error}"))?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = child.stdout.take().ok_or("no output")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            name: name.to_owned(),
            child,
            input: Some(input),
            lines,
        })
    }

    /// Waits until it says `word`, unasked.
    ///
    /// # Errors
    /// It ends, says something else, or does not say so in time.
    pub fn wait_until(&self, word: &str, patience: Duration) -> Result<(), String> {
        let heard = self.hear(patience)?;
        if heard == word {
            Ok(())
        } else {
            Err(format!("{}: not {word} but: {heard}", self.name))
        }
    }

    /// Says `line` and waits for the answer.
    ///
    /// # Errors
    /// It has ended or does not answer.
    pub fn ask(&mut self, line: &str, patience: Duration) -> Result<String, String> {
        self.say(line)?;
        self.hear(patience)
            .map_err(|why| format!("{why}, to: {line}"))
    }

    fn say(&mut self, line: &str) -> Result<(), String> {
        let said = self.input.as_mut().map(|input| writeln!(input, "{line}"));
        match said {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(format!("{}: {line}: {error}", self.name)),
            None => Err(format!("{}: {line}: it was to end", self.name)),
        }
    }

    /// Ends its input and waits until it has ended of itself; true where it did in time.
    pub fn end(&mut self, patience: Duration) -> bool {
        self.input = None;
        let deadline = Instant::now() + patience;
        while !self.has_ended() {
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(LOOK);
        }
        true
    }

    /// As [`Process::ask`], and gives up as soon as `other`, without which there is no answer, has
    /// ended.
    ///
    /// # Errors
    /// It or `other` has ended, or it does not answer.
    pub fn ask_beside(
        &mut self,
        other: &mut Self,
        line: &str,
        patience: Duration,
    ) -> Result<String, String> {
        self.say(line)?;
        let deadline = Instant::now() + patience;
        loop {
            match self.lines.recv_timeout(SLICE) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("{} has ended, asked: {line}", self.name));
                }
                Err(RecvTimeoutError::Timeout) if other.has_ended() => {
                    return Err(format!("{} has ended", other.name));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    return Err(format!("{} does not answer: {line}", self.name));
                }
                Err(RecvTimeoutError::Timeout) => self.check_interrupted()?,
            }
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Its next line.
    ///
    /// # Errors
    /// It ends, or says nothing in time.
    pub fn hear(&self, patience: Duration) -> Result<String, String> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(SLICE)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => self.check_interrupted()?,
                Err(error) => return Err(format!("{} does not answer: {error}", self.name)),
            }
        }
    }

    fn check_interrupted(&self) -> Result<(), String> {
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Err(format!("waiting for {} was interrupted", self.name));
        }
        Ok(())
    }

    /// Sends it the signal `name`, such as `KILL`. `ip netns exec` becomes the program, so this
    /// reaches what runs on another host too.
    ///
    /// # Errors
    /// It has ended.
    pub fn signal(&self, name: &str) -> Result<(), String> {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            other => Err(format!("kill -s {name} {id}: {other:?}")),
        }
    }

    /// What its threads have used so far; those that have ended are not in it.
    pub fn usage(&self) -> Usage {
        Usage::of(self.child.id())
    }

    /// What it holds now.
    ///
    /// # Errors
    /// It has ended.
    pub fn holding(&self) -> Result<Holding, String> {
        Holding::of(self.child.id()).map_err(|why| format!("{}: {why}", self.name))
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the time in the system is in a file `stat`, counted from the state on, in ticks that are
/// a hundredth of a second on every Linux. proc_pid_stat(5).
const STIME: usize = 12;
const TICK_NS: u64 = 10_000_000;

/// What a process holds, by its file `status`. proc_pid_status(5).
fn holding_of(status: &str) -> Option<Holding> {
    let field = |name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Some(Holding {
        resident_kib: field("VmRSS:")?,
        private_kib: field("RssAnon:")?,
        threads: field("Threads:")?,
    })
}

/// What one thread has used, by its files `schedstat` and `status`.
fn usage_of(schedstat: &str, status: &str, stat: &str) -> Usage {
    let number = |text: Option<&str>| text.and_then(|it| it.trim().parse().ok()).unwrap_or(0);
    let field = |name| number(status.lines().find_map(|line| line.strip_prefix(name)));
    // Behind the name, which may have any character in it: the state, then numbers.
    let behind = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    Usage {
        system_ns: number(behind.split_whitespace().nth(STIME)) * TICK_NS,
        cpu_ns: number(schedstat.split_whitespace().next()),
        waits: field("voluntary_ctxt_switches:"),
        preempted: field("nonvoluntary_ctxt_switches:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Process {
        Process::start("shell", Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn lines_are_answered() {
        let mut process = shell("echo ready; read it; echo got $it");
        process.wait_until("ready", PATIENCE).unwrap();
        assert_eq!(process.ask("16 1 0", PATIENCE).unwrap(), "got 16 1 0");
    }

    #[test]
    fn who_ends_or_says_something_else_is_an_error() {
        let why = shell("exit 3").wait_until("ready", PATIENCE).unwrap_err();
        assert!(why.starts_with("shell does not answer"), "{why}");
        let why = shell("echo no peer")
            .wait_until("ready", PATIENCE)
            .unwrap_err();
        assert!(why.ends_with("no peer"), "{why}");
    }

    #[test]
    fn only_what_can_be_told_apart_is_split() {
        let used = |cpu_ns, system_ns| Usage {
            cpu_ns,
            system_ns,
            ..Usage::default()
        };
        let enough_ns = Usage::SPLIT_NS_MIN;
        let part = |cpu_ns, system_ns| used(cpu_ns, system_ns).system_part_ns();
        assert_eq!(part(enough_ns, 60_000_000), Some(60_000_000));
        assert_eq!(part(enough_ns, enough_ns + 1), Some(enough_ns));
        assert_eq!(part(enough_ns - 1, 60_000_000), None);
    }

    #[test]
    fn a_signal_ends_it() {
        let mut process = shell("echo ready; read it");
        process.wait_until("ready", PATIENCE).unwrap();
        process.signal("KILL").unwrap();
        assert!(process.hear(PATIENCE).is_err());
        assert!(process.ask("more", PATIENCE).is_err());
    }

    #[test]
    fn it_ends_of_itself_with_its_input_or_not_in_time() {
        let mut polite = shell("while read it; do echo $it; done");
        assert_eq!(polite.ask("1", PATIENCE).as_deref(), Ok("1"));
        assert!(polite.end(PATIENCE));
        assert!(polite.ask("2", PATIENCE).is_err());
        assert!(!shell("sleep 30").end(Duration::ZERO));
    }

    #[test]
    fn nobody_waits_for_an_answer_that_needs_who_has_ended() {
        let mut asking = shell("echo ready; read it; sleep 30");
        asking.wait_until("ready", PATIENCE).unwrap();
        let mut other = shell("exit 0");
        let why = asking.ask_beside(&mut other, "1", PATIENCE).unwrap_err();
        assert_eq!(why, "shell has ended");
        let mut asking = shell("read it; echo got $it");
        let mut other = shell("read it");
        let answer = asking.ask_beside(&mut other, "7", PATIENCE);
        assert_eq!(answer.as_deref(), Ok("got 7"));
        let mut ended = shell("exit 0");
        let why = ended.ask_beside(&mut other, "7", PATIENCE).unwrap_err();
        assert!(why.starts_with("shell"), "{why}");
    }

    #[test]
    fn usage_is_read_from_what_the_kernel_says() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t9\n";
        let stat = "77 (a) b) S 1 77 77 0 -1 4194560 10 0 0 0 31 4 0 0 20 0 1 0 9 9 9\n";
        let usage = usage_of("1500 20 3\n", status, stat);
        assert_eq!(usage.system_ns, 40_000_000);
        assert_eq!((usage.cpu_ns, usage.waits, usage.preempted), (1500, 7, 9));
        assert_eq!(usage_of("", "", ""), Usage::default());
        let later = usage.plus(usage);
        assert_eq!(later.since(usage), usage);
    }

    #[test]
    fn memory_is_read_from_what_the_kernel_says() {
        let status = "VmRSS:\t    5300 kB\nRssAnon:\t     812 kB\nThreads:\t6\n";
        let wanted = Holding {
            resident_kib: 5300,
            private_kib: 812,
            threads: 6,
        };
        assert_eq!(holding_of(status), Some(wanted));
        // What the kernel says of a process that has ended.
        assert_eq!(holding_of("State:\tZ (zombie)\nThreads:\t1\n"), None);
    }
}
