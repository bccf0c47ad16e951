//! The words of Sayso as types. Code, documentation and messages use exactly these.

mod actor;
mod approver;
mod call;
mod code;
mod decision;
mod hold;
mod operation;
mod provenance;
mod reason;
mod verdict;
mod workspace;

pub use actor::{Actor, ProviderKey, Reported, Stated};
pub use approver::{Approvers, Escalation, Person};
pub use call::{Request, ToolCall};
pub use code::{Code, CodeInfo, REASON_CODES, code_info};
pub use decision::{Decision, EffectOpinions, Opinion, Stage};
pub use hold::{CanHold, Holding};
pub use operation::{Facts, Operation, Resolved, ToolName};
pub use provenance::Provenance;
pub(crate) use provenance::{Noted, Withheld};
pub use reason::{Layer, Reason, ReasonCode, Source};
pub use verdict::{Answer, Outcome, Tri, Verdict};
pub use workspace::Workspace;
