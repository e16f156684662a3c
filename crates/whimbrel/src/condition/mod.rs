//! Waiting for several things at once: conditions and wait sets. DDS 1.4 §2.2.2.1.6 to §2.2.2.1.9.
//!
//! A [`WaitSet`] blocks until one of the [`Condition`]s attached to it is true: a status of an
//! entity changed ([`StatusCondition`]), a reader has samples with certain states
//! ([`ReadCondition`]), or the program says so itself ([`GuardCondition`]).
//!
//! Conditions do not keep their entity alive; that of an entity which is gone is never true. Every
//! call here may be made from every thread, also while another thread waits. Query conditions do
//! not exist yet.

mod guard;
mod read;
mod status;
mod wait_set;

pub use self::guard::GuardCondition;
pub use self::read::ReadCondition;
pub use self::status::StatusCondition;
pub use self::wait_set::{Condition, WaitSet};
