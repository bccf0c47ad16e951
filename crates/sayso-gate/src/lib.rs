//! The gate: the straight line from a tool call to a recorded answer, and what must be remembered for it.
//!
//! [`Gate::judge`] begins the line. Around it stand the policy files in force ([`policy`]), the record ([`audit`],
//! [`store`]) and the folder each session is about ([`Sessions`]). Blocking throughout: a hook has no use for an
//! async runtime, and a server calls it from its own threads.
//!
//! INVARIANT: nothing here turns a time-out, a parse failure, a panic, a missing file or an unknown key into Allow.

pub mod anchored;
pub mod approval;
pub mod audit;
mod circumstances;
mod diff;
mod effective_mode;
mod error;
pub mod fact;
mod gate;
pub mod grant;
pub mod history;
pub mod hold;
mod judgement;
pub mod limit;
mod listing;
mod looked;
mod memory;
pub mod mode;
mod permit;
mod places;
pub mod plan;
pub mod policy;
pub mod reason;
pub mod registered;
mod said;
mod session;
pub mod store;
mod verdict;
pub mod wire;

/// Where a server listens on the loopback interface unless it is told otherwise.
pub const PORT: u16 = 7171;

pub use audit::{Record, Recorder, Unrecorded};
pub use circumstances::{Asking, Circumstances, Otherwise};
pub use diff::unified;
pub use effective_mode::EffectiveMode;
pub use error::Error;
pub use gate::{Aside, Draft, Gate, Judgement};
pub use limit::{Expected, Outcome, Reporter, Which};
pub use listing::KeptFiles;
pub use looked::FactsOf;
pub use memory::Memory;
pub use permit::{Permit, Prompt, digest};
pub use places::{Home, Places, login_shell};
pub use policy::{InForce, Live};
pub use said::{Judged, Recorded, Unsaid};
use sayso_files::files;
pub use sayso_files::{Once, ProcessEnvironment, RealFiles};
pub use session::Sessions;
pub use verdict::analysed;
