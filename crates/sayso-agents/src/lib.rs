//! Ways into Sayso: each agent's own words, and how Sayso is put in its way.
//!
//! One file for each dialect; an agent's JSON is known there and nowhere else. What an agent sends is read with a
//! strict view of Sayso's own: new fields are tolerated, and what cannot be judged is denied with a reason.

mod agent;
pub mod claude_code;
mod error;
mod hook;
pub mod install;
pub mod plugin;

pub use agent::Agent;
pub use error::Error;
pub use hook::{HookOutput, HookSetting, LARGEST_INPUT, hook_process, run_hook};
