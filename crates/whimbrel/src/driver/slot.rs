//! The place of a listener: one thread at a time runs it, nobody waits for another.
//!
//! Running it takes a turn. Whoever finds the turn taken leaves a note, and whoever has it sees to
//! the notes after it has given it back. Both have a fence in between: so either the note is found,
//! or who left it finds the turn free.

use std::any::Any;

use whimbrel_base::status::StatusMask;

use super::callbacks::Callback;
use super::contain::contain;
use super::sync::atomic::{AtomicU32, Ordering, fence};
use super::sync::{Mutex, MutexGuard, fence_after_unlock, lock, try_lock};

/// Somebody wanted to run the listener.
const AGAIN: u32 = 1;

/// There is another listener.
const REPLACED: u32 = 2;

/// A listener and what it wants to hear of.
#[derive(Default)]
pub(crate) struct CallbackSlot {
    /// Locked by the thread that has the turn, also while it runs the listener: it is only ever
    /// tried.
    turn: Mutex<Option<Callback>>,
    /// What is to take its place.
    next: Mutex<Option<Option<Callback>>>,
    notes: AtomicU32,
    mask: AtomicU32,
}

/// What came of an attempt to run a listener.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(crate) enum Ran {
    /// It ran.
    Done {
        /// Somebody else wanted to run it meanwhile: see to that.
        again: bool,
    },
    /// There is none.
    Nobody {
        /// As above.
        again: bool,
    },
    /// Another thread runs it, or this one further up.
    Busy,
}

/// What came of replacing a listener.
#[derive(Default)]
pub(crate) struct Replaced {
    /// Listeners that are called no more. Drop them without a lock held: they may own entities.
    pub(crate) old: Vec<Callback>,
    /// Somebody wanted to run the listener meanwhile: see to that.
    pub(crate) again: bool,
}

impl CallbackSlot {
    /// Replaces the listener. One that is running finishes first but is not called again.
    #[must_use]
    pub(crate) fn set(&self, callback: Option<Callback>, mask: StatusMask) -> Replaced {
        let mask = if callback.is_some() {
            mask
        } else {
            StatusMask::NONE
        };
        let mut replaced = Replaced::default();
        let skipped = {
            let mut next = lock(&self.next);
            self.mask.store(mask.0, Ordering::SeqCst);
            next.replace(callback)
        };
        replaced.old.extend(skipped.flatten());
        if let Some(turn) = self.leave_note(REPLACED) {
            self.replace(turn, &mut replaced);
            self.give_back(&mut replaced);
        }
        replaced
    }

    /// What the listener wants to hear of; nothing where there is none.
    pub(crate) fn mask(&self) -> StatusMask {
        StatusMask(self.mask.load(Ordering::SeqCst))
    }

    /// Calls the listener, if there is one, unless it is running already.
    pub(crate) fn run(&self, owner: &dyn Any, kinds: StatusMask) -> Ran {
        let Some(mut turn) = try_lock(&self.turn) else {
            return Ran::Busy;
        };
        let Some(callback) = &mut *turn else {
            drop(turn);
            let again = self.end_turn();
            return Ran::Nobody { again };
        };
        // One that panics is called again.
        let _ = contain(|| callback(owner, kinds));
        drop(turn);
        let again = self.end_turn();
        Ran::Done { again }
    }

    /// After [`Ran::Busy`], and after noting what for: whoever has the turn will see to it. True
    /// where nobody has it any more, so that the caller has to.
    pub(crate) fn ask_again(&self) -> bool {
        let free = self.leave_note(AGAIN).is_some();
        free && self.end_turn()
    }

    /// Leaves a note for whoever has the turn, or takes the turn.
    fn leave_note(&self, note: u32) -> Option<MutexGuard<'_, Option<Callback>>> {
        self.notes.fetch_or(note, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        try_lock(&self.turn)
    }

    /// After the turn was given back, without a lock; true where somebody wanted to run the
    /// listener meanwhile.
    #[inline(always)]
    fn end_turn(&self) -> bool {
        fence_after_unlock();
        self.notes.load(Ordering::SeqCst) != 0 && self.see_to_notes()
    }

    #[cold]
    fn see_to_notes(&self) -> bool {
        let mut replaced = Replaced::default();
        self.give_back(&mut replaced);
        let Replaced { old, again } = replaced;
        if !old.is_empty() {
            let _ = contain(|| drop(old));
        }
        again
    }

    /// Looks at the notes after the turn was given back.
    fn give_back(&self, replaced: &mut Replaced) {
        loop {
            let notes = self.notes.swap(0, Ordering::AcqRel);
            replaced.again |= notes & AGAIN != 0;
            if notes & REPLACED == 0 {
                return;
            }
            match self.leave_note(REPLACED) {
                Some(turn) => self.replace(turn, replaced),
                // Whoever has it now finds the note.
                None => return,
            }
        }
    }

    /// Puts the next listener, if there is one, where the old one was.
    fn replace(&self, mut turn: MutexGuard<'_, Option<Callback>>, replaced: &mut Replaced) {
        // First: whoever brings another one now leaves the note again.
        self.notes.fetch_and(!REPLACED, Ordering::AcqRel);
        if let Some(next) = lock(&self.next).take() {
            let old = std::mem::replace(&mut *turn, next);
            replaced.old.extend(old);
        }
    }
}

impl std::fmt::Debug for CallbackSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallbackSlot({:?})", self.mask())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    const ALL: StatusMask = StatusMask::ALL;

    #[test]
    fn a_listener_may_replace_itself_and_hears_what_comes_meanwhile_later() {
        let slot = Arc::new(CallbackSlot::default());
        assert_eq!(slot.run(&(), ALL), Ran::Nobody { again: false });
        let (inner, calls) = (Arc::clone(&slot), Arc::new(AtomicUsize::new(0)));
        let counts = Arc::clone(&calls);
        let once: Callback = Box::new(move |_, _| {
            calls.fetch_add(1, Ordering::SeqCst);
            assert_eq!(inner.run(&(), ALL), Ran::Busy);
            assert!(!inner.ask_again(), "it runs further up");
            assert!(inner.set(None, ALL).old.is_empty(), "it is still running");
            assert!(inner.mask().is_empty());
        });
        assert!(slot.set(Some(once), ALL).old.is_empty());
        assert_eq!(slot.run(&(), ALL), Ran::Done { again: true });
        assert_eq!(slot.run(&(), ALL), Ran::Nobody { again: false });
        assert_eq!(counts.load(Ordering::SeqCst), 1);
        assert_eq!(Arc::strong_count(&counts), 1, "it was not dropped");
        assert_eq!(Arc::strong_count(&slot), 1);
    }
}
