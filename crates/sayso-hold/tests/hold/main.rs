//! Runs held for real, as a user without capabilities.
//!
//! Where the machine has no user namespaces these tests say `not run`; with `SAYSO_HOLD_REQUIRED=1` they fail there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

mod attempt;
mod behaviour;
mod caches;
mod faults;
mod git;
mod hosts;
mod room;
mod session;
mod surroundings;
mod terminals;
mod ways_out;
