//! Two hosts in namespaces: cables, addresses, MTUs, groups, narrow links, stopped and killed
//! processes.

mod groups;
mod meeting;
mod roles;
mod scenarios;
mod stage;

use std::thread;
use std::time::Duration;

use self::scenarios::SCENARIOS;
use self::stage::Scale;
use crate::proof::{Figure, Proof, Share};

/// Shares below this use a short lease, so that outages longer than it fit.
const LONG: Duration = Duration::from_secs(60);

/// The proof.
pub const PROOF: Proof = Proof {
    name: "hosts",
    claim: "two hosts: cable, address, MTU, bandwidth, SIGSTOP, kill -9; back in under 3 s",
    run,
    child: Some(roles::child),
};

fn run(share: &Share) -> Figure {
    let scale = if share.full {
        Scale {
            lease: Duration::from_secs(10),
            time: share.time.max(Duration::from_secs(600)),
        }
    } else if share.time >= LONG {
        Scale {
            lease: Duration::from_secs(10),
            time: share.time,
        }
    } else {
        Scale {
            lease: Duration::from_secs(2),
            time: share.time,
        }
    };
    let outcomes: Vec<(&str, Result<String, String>)> = thread::scope(|scope| {
        let running: Vec<_> = SCENARIOS
            .iter()
            .map(|(name, scenario)| (*name, scope.spawn(move || scenario(scale))))
            .collect();
        let joined = running.into_iter().map(|(name, running)| {
            let outcome = running.join();
            (name, outcome.unwrap_or_else(|_| Err("panicked".into())))
        });
        joined.collect()
    });
    let mut held = 0;
    let mut missed = Vec::new();
    for (name, outcome) in &outcomes {
        match outcome {
            Ok(said) => {
                held += 1;
                println!("{name}: {said}");
            }
            Err(why) => {
                println!("{name}: MISSED: {why}");
                missed.push(format!("{name}: {why}"));
            }
        }
    }
    let lease = scale.lease.as_secs();
    if missed.is_empty() {
        let of = |at: usize| {
            outcomes
                .get(at)
                .map_or("", |it| it.1.as_deref().unwrap_or(""))
        };
        Figure::held(format!(
            "{held} scenarios, lease {lease} s, each back in < 3 s; cable {}; address {}; \
             killed {}",
            of(0),
            of(2),
            of(7)
        ))
    } else {
        Figure::missed(missed.join("; "))
    }
}
