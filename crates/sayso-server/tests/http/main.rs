//! The API over real sockets: a real server, its own home folder, its own store, and whatever a caller may send.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed unwrap is a failed test"
)]

mod audit;
mod batch;
mod claims;
mod client;
mod conformance;
mod description;
mod environment;
mod foreign;
mod grants;
mod limits;
mod operation;
mod plans;
mod policy;
mod sessions;
mod strict;
mod tools;
mod walls;
mod withheld;
