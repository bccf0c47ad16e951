//! The command as people and programs use it: one file for each command.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]

mod analyze;
mod attacks;
mod check;
mod check_lines;
mod designs;
mod doctor;
mod facts;
mod formats;
mod history;
mod hold;
mod hook;
mod init;
mod install;
mod json;
mod log;
mod mcp;
mod memory;
mod one_truth;
mod person;
mod plan;
mod policy_diff;
mod policy_files;
mod programs;
mod pty;
mod readme;
mod reference;
mod serve;
mod served;
mod session;
mod store;
mod token;
mod trust;
mod who;
mod withheld;
