//! The JSON that outside tools rely on: one reader for the lines of `check --jsonl` and the bodies of the HTTP API.

mod call;
mod json_string;
pub mod line;
mod typed;

#[cfg(test)]
pub(crate) use call::OF_A_CONTEXT;
pub use call::{CallEnvironment, call, folder, home, workspace_at};
pub(crate) use call::{OF_A_CALL, actor, call_in, workspace_of};
pub use json_string::JsonText;
pub(crate) use typed::typed;
