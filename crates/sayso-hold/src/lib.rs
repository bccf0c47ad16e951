//! Runs a command within bounds that the kernel keeps.
//!
//! Bounds in, a run out. This crate knows Linux and no policy: what may be written, read and reached is data
//! ([`sayso_shell::bounds::Bounds`]), and nothing that the run does can widen it.
//!
//! The outer side ([`run`]) starts the same program again as a *stage* ([`stage`]), which leaves the machine's namespaces,
//! mounts the bounds over what is there, applies Landlock and seccomp, and only then starts the command. If any step
//! fails, nothing runs. `docs/hold.md` says what is held, what it costs and what it leaves open.
//!
//! INVARIANT: a run is never held less than [`Ended::level`] says.

mod aside;
mod ask;
pub mod attempt;
mod bounds;
mod broker;
mod caches;
mod carve;
mod channel;
mod error;
mod filter;
pub mod git;
mod hard_links;
mod held_back;
mod inside;
mod level;
mod message;
mod mounts;
mod names;
mod network;
mod plan;
mod prepare;
mod request;
mod restrict;
mod run;
pub mod session;
mod shared;
mod signals;
mod step;
mod streams;
mod supervise;
mod sys;
mod wire;
mod writes;

pub use ask::{Answer, Ask, Asking, Attended, Wish};
pub use error::Error;
pub use held_back::{HeldBack, Record};
pub use inside::stage;
pub use level::{Open, left_open};
pub use names::dial::Resolve;
pub use plan::Level;
pub use run::{Ended, Launch, Stage, Status, run, run_at};
pub use step::Step;
