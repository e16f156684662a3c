//! What a case is, and what it can do.

use std::time::Duration;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::reject::RejectKind;
use whimbrel_fuzz_targets::raw::Raw;

/// One attack.
#[derive(Clone, Copy)]
pub struct Case {
    /// Class and name, like `headers/wrong-magic`.
    pub name: &'static str,
    /// The refusals that it must meet: these kinds and no others. None where every octet is legal.
    pub refused: &'static [RejectKind],
    /// Plays it; the error says what it did not find as it should be.
    pub run: fn(&mut Attack<'_>) -> Result<(), String>,
    /// Whether it can also be played at a live participant.
    pub live: bool,
}

impl Case {
    /// A case for both kinds of fields.
    pub const fn new(
        name: &'static str,
        refused: &'static [RejectKind],
        run: fn(&mut Attack<'_>) -> Result<(), String>,
    ) -> Self {
        Self {
            name,
            refused,
            run,
            live: true,
        }
    }

    /// The same case, but only in virtual time.
    #[must_use]
    pub const fn virtual_only(mut self) -> Self {
        self.live = false;
        self
    }
}

/// Who is attacked, and whom the attacker plays: a peer whose endpoints are matched with both
/// reliable endpoints of the victim. Nothing was written to the victim's reader by that peer.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// Byte order of what is composed.
    pub endian: Endian,
    /// The participant under attack.
    pub victim: GuidPrefix,
    /// The peer whose identity the attacker uses.
    pub attacker: GuidPrefix,
    /// A peer that behaves.
    pub honest: GuidPrefix,
    /// The victim's reliable reader.
    pub victim_reader: EntityId,
    /// The victim's reliable writer.
    pub victim_writer: EntityId,
    /// The attacker's writer, matched with the victim's reader.
    pub writer: EntityId,
    /// The attacker's reader, matched with the victim's writer.
    pub reader: EntityId,
    /// The number of the next announcement of the attacker's writers, and of its readers.
    pub next_announcement: i64,
    /// The number of the next sample of the attacker's writer.
    pub next_sample: i64,
}

/// From where a datagram comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The address that the peer announced.
    Peer,
    /// An address nobody knows, by number.
    Stranger(u16),
}

/// What the victim's reader gave out: a type of a key octet and a sequence of octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The key.
    pub key: u8,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Where an attack takes place.
pub trait Field {
    /// A datagram reaches the victim.
    fn receive(&mut self, origin: Origin, datagram: &[u8]);

    /// Time passes.
    fn wait(&mut self, span: Duration);

    /// The victim's wall clock is set forward, or back, by this many nanoseconds; on a live field
    /// nobody sets clocks.
    fn set_wall_clock(&mut self, step_ns: i64);

    /// The victim's application writes.
    fn write(&mut self, sample: &Sample);

    /// Takes what the victim's reader has got of the attacker; where nobody knows when that has
    /// arrived, so many samples are waited for.
    fn take(&mut self, wanted: usize) -> Vec<Sample>;

    /// The victim's reader is told anew of the attacker's writer, and that it sends batches: who is
    /// who afterwards.
    ///
    /// # Errors
    /// Why it is not told.
    fn announce_batches(&mut self, scene: Scene) -> Result<Scene, String>;

    /// Has the victim's side do something else that takes outside bytes, measured like the rest.
    fn measure(&mut self, what: &str, act: &mut dyn FnMut());
}

/// An attack that is being played.
pub struct Attack<'a> {
    /// Who is who.
    pub scene: Scene,
    field: &'a mut dyn Field,
}

impl<'a> Attack<'a> {
    /// An attack on `field`.
    pub fn new(scene: Scene, field: &'a mut dyn Field) -> Self {
        Self { scene, field }
    }

    /// An empty byte writer in the byte order of the scene.
    pub fn raw(&self) -> Raw {
        self.scene.raw()
    }

    /// Has the attacker's writer be one that sends batches.
    ///
    /// # Errors
    /// Why the victim does not get to know.
    pub fn announce_batches(&mut self) -> Result<(), String> {
        self.scene = self.field.announce_batches(self.scene)?;
        Ok(())
    }

    /// Fires one datagram from the peer's address.
    pub fn datagram(&mut self, bytes: &[u8]) {
        self.field.receive(Origin::Peer, bytes);
    }

    /// Fires one datagram from `origin`.
    pub fn datagram_from(&mut self, origin: Origin, bytes: &[u8]) {
        self.field.receive(origin, bytes);
    }

    /// Fires one datagram with a good header of the peer, for the victim alone.
    pub fn say(&mut self, submessages: &[&[u8]]) {
        let message = self.scene.message(&submessages.concat());
        self.datagram(&message);
    }

    /// Lets milliseconds pass; on a live field at most a few.
    pub fn wait_ms(&mut self, ms: u64) {
        self.field.wait(Duration::from_millis(ms));
    }

    /// Sets the victim's wall clock forward, or back, by this many nanoseconds.
    pub fn set_wall_clock(&mut self, step_ns: i64) {
        self.field.set_wall_clock(step_ns);
    }

    /// Has the victim's application write.
    pub fn write(&mut self, key: u8, bytes: &[u8]) {
        let bytes = bytes.to_vec();
        self.field.write(&Sample { key, bytes });
    }

    /// Takes what the victim's reader has got of the attacker, at least so many samples.
    pub fn take_at_least(&mut self, wanted: usize) -> Vec<Sample> {
        self.field.take(wanted)
    }

    /// Takes what the victim's reader has got of the attacker so far.
    pub fn take(&mut self) -> Vec<Sample> {
        self.field.take(0)
    }

    /// Has the victim's side do something else that takes outside bytes.
    pub fn measure<R>(&mut self, what: &str, mut act: impl FnMut() -> R) -> Option<R> {
        let mut result = None;
        self.field.measure(what, &mut || result = Some(act()));
        result
    }

    /// The error unless exactly these samples (key, content) arrived of the attacker.
    pub fn expect(&mut self, wanted: &[(u8, &[u8])]) -> Result<(), String> {
        let found = self.take_at_least(wanted.len());
        let same = found.len() == wanted.len()
            && found
                .iter()
                .zip(wanted)
                .all(|(found, (key, bytes))| found.key == *key && found.bytes == *bytes);
        if same {
            return Ok(());
        }
        let brief = |sample: &Sample| (sample.key, sample.bytes.len());
        let found: Vec<_> = found.iter().map(brief).collect();
        let wanted: Vec<_> = wanted
            .iter()
            .map(|(key, bytes)| (*key, bytes.len()))
            .collect();
        Err(format!(
            "samples (key, octets) {found:?} instead of {wanted:?}"
        ))
    }
}
