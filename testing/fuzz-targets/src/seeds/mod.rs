//! The first inputs of every corpus: valid ones in both byte orders, and the known attacks.
//!
//! They are written by hand from the standard with a plain byte writer, so that a parser and a
//! composer that err alike cannot agree here; only a rich value of user data is encoded by the code
//! under test, beside one that is not.

mod batches;
mod captures;
mod codecs;
mod discovery;
mod lists;
mod messages;
mod packed;
mod participants;
mod payloads;
mod seed;
mod submessages;

pub use seed::Seed;

/// All seeds.
pub fn all() -> Vec<Seed> {
    let mut all = submessages::seeds();
    all.extend(batches::seeds());
    all.extend(messages::seeds());
    all.extend(lists::seeds());
    all.extend(discovery::seeds());
    all.extend(payloads::seeds());
    all.extend(captures::seeds());
    all.extend(codecs::seeds());
    all.extend(participants::seeds());
    all.extend(packed::seeds());
    all
}
