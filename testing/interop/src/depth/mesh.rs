//! Processes of several products, each with a writer and a reader on each of many topics.

use std::fmt;
use std::time::Duration;

use super::stage::{Stage, wait};
use super::tally::Moved;
use crate::matrix::cases::Peer;
use crate::matrix::child::Child;

/// How long all may take to find each other and to get everything.
const PATIENCE: Duration = Duration::from_secs(45);

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
        let Self { topics, count, .. } = *self;
        let members = self.members.len();
        let mut children = Vec::new();
        for (number, peer) in self.members.into_iter().enumerate() {
            let words = format!(
                "mesh --type shape --keep-all --transient-local --topics {topics} \
                 --members {members} --count {count} --key M{number} --timeout-s 45 \
                 --linger-ms 60000"
            );
            children.push(stage.start(peer, &words)?);
        }
        let mut all: Vec<&mut Child> = children.iter_mut().collect();
        wait(
            &mut all,
            PATIENCE,
            "every member to have everything",
            |it| it.iter().all(|child| child.count("complete ") == 1),
        )?;
        for (peer, child) in self.members.iter().zip(&children) {
            for line in child.lines().iter().filter(|it| it.starts_with("disorder")) {
                println!("       {}: {line}", peer.name());
            }
        }
        let of_each = u64::from(topics) * u64::from(count) * members as u64;
        children.iter_mut().for_each(|child| {
            child.leave();
        });
        Ok(Moved {
            samples: of_each * members as u64,
            ..Moved::default()
        })
    }
}
