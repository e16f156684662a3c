//! Processes of several products, each with a writer and a reader on each of many topics.

use std::fmt;
use std::time::Duration;

use super::stage::{Stage, wait};
use super::tally::Moved;
use crate::matrix::cases::Peer;
use crate::matrix::child::Child;

/// How long all may take to find each other and to get everything.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fast DDS 2.9 at times acknowledges what another product announces and then does not match it,
/// for good; a new start helps (`testing/interop/README.md`, Corners). So often it may.
const ANEW_MAX: u64 = 1;

/// A mesh of four processes.
#[derive(Debug)]
pub(crate) struct Mesh {
    pub(crate) members: [Peer; 4],
    pub(crate) topics: u32,
    pub(crate) count: u32,
}

impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.members.map(Peer::name).join(" ");
        write!(f, "{} topics x {names}", self.topics)
    }
}

impl Mesh {
    /// Everybody must match everybody on every topic, and get every sample of all, in order.
    pub(crate) fn play(&self, stage: &Stage<'_>) -> Result<Moved, String> {
        let mut anew = 0;
        loop {
            let mut children = self.start(stage, anew)?;
            let outcome = self.complete(&mut children);
            let only_fast_dds = self.only_fast_dds_waits(&children);
            children.iter_mut().for_each(|child| {
                child.leave();
            });
            match outcome {
                Ok(()) => break,
                Err(why) if !only_fast_dds || anew == ANEW_MAX => return Err(why),
                Err(why) => println!("       anew: {why}"),
            }
            anew += 1;
        }
        let of_each = self.topics * self.count * self.members.len() as u32;
        Ok(Moved {
            samples: u64::from(of_each) * self.members.len() as u64,
            anew,
            ..Moved::default()
        })
    }

    fn start(&self, stage: &Stage<'_>, anew: u64) -> Result<Vec<Child>, String> {
        let Self { topics, count, .. } = *self;
        let members = self.members.len();
        let peers = self.members.into_iter().enumerate();
        peers
            .map(|(number, peer)| {
                let words = format!(
                    "mesh --type shape --keep-all --transient-local --topics {topics} \
                     --members {members} --count {count} --key M{number}x{anew} --timeout-s 45 \
                     --linger-ms 60000"
                );
                stage.start(peer, &words)
            })
            .collect()
    }

    fn complete(&self, children: &mut [Child]) -> Result<(), String> {
        let mut all: Vec<&mut Child> = children.iter_mut().collect();
        wait(
            &mut all,
            PATIENCE,
            "every member to have everything",
            |it| it.iter().all(|child| child.count("complete ") == 1),
        )?;
        for (peer, child) in self.members.iter().zip(children) {
            let lines = child.lines();
            if let Some(line) = lines.iter().find(|it| it.starts_with("disorder")) {
                println!("       {}: {line}", peer.name());
            }
        }
        Ok(())
    }

    /// True when all but Fast DDS say that they have matched everybody.
    fn only_fast_dds_waits(&self, children: &[Child]) -> bool {
        let members = self.members.len();
        let matched = format!("mesh writers {members} readers {members}");
        let waiting = self.members.iter().zip(children);
        let waiting = waiting.filter(|(_, child)| !child.said(&matched));
        let waiting: Vec<Peer> = waiting.map(|(peer, _)| *peer).collect();
        !waiting.is_empty() && waiting.iter().all(|peer| *peer == Peer::FastDds)
    }
}
