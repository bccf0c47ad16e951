//! `sayso run` for real: as root, where the tests are, and as a user without capabilities.
//!
//! Where the machine cannot hold a run these tests say `not run`; with `SAYSO_HOLD_REQUIRED=1` they fail there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

mod behaviour;
mod desk;
mod left;
mod live;
mod permits;
mod plain;
mod room;
mod section;
mod terminals;
mod tries;
mod ways_out;
