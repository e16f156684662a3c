//! Models of the driver's concurrency, run by Shuttle in many thread orders:
//! `cargo xtask test --only models`.
//!
//! The code under test is the driver's own: [`super::sync`] swaps its locks, atomics and threads.
//! A thread that is never woken shows as a deadlock, or as a model that does not end.

mod bus;
mod listeners;
mod timers;
mod wakes;

/// Orders tried by chance for each model, and again as many with few, well-placed switches.
const ORDERS: usize = 800;

/// Thread switches of the second kind.
const SWITCHES: usize = 3;

fn explore(model: impl Fn() + Send + Sync + Clone + 'static) {
    explore_orders(ORDERS, SWITCHES, model);
}

/// As [`explore`], so many orders and thread switches: for what goes wrong in very few.
fn explore_orders(
    orders: usize,
    switches: usize,
    model: impl Fn() + Send + Sync + Clone + 'static,
) {
    shuttle::check_random(model.clone(), orders);
    shuttle::check_pct(model, orders, switches);
}
