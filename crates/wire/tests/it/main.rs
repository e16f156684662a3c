//! Whole messages of every kind: composed, parsed again, damaged, printed.

mod damage;
mod edges;
mod messages;
mod peers;
