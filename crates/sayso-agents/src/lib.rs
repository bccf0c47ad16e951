//! Ways into Sayso: each agent's own words, and how Sayso is put in its way.
//!
//! One folder for each agent in `agent/`; its JSON is known there and nowhere else. What an agent sends is
//! read with a strict view of Sayso's own: new fields are tolerated, and what cannot be judged is denied with a reason.
//! `judge.rs` is the way from an event to its answer, `hook.rs` the process around it.

pub mod acp;
mod agent;
mod counted;
mod dialect;
mod entrance;
mod error;
mod event;
pub mod find;
mod hold;
mod hook;
mod hook_answer;
mod hook_line;
pub mod install;
mod json;
mod judge;
pub mod live;
mod mark;
pub mod mcp;
mod once;
mod pipe;
pub mod plugin;
pub mod reconcile;
mod seat;
mod shell;
mod told;

pub use agent::Agent;
pub use error::Error;
pub use hook::{HookOutput, HookSetting, LARGEST_INPUT, hook_process, run_hook};
pub use hook_line::hook_line;
