//! What each agent sends, and what it is answered: cases as data, a line each, in `data/AGENT.jsonl`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

mod answer;
mod any_bytes;
mod captures;
mod docs;
mod happenings;
mod queue;
mod session;
mod table;
mod twice;
