//! The JSON that outside tools rely on: one reader for the lines of `check --jsonl` and the bodies of the HTTP API.

mod call;
mod json_string;
pub mod line;

pub use call::{
    CallEnvironment, OF_A_CALL, OF_A_CONTEXT, actor, call, call_in, can_hold, folder, home, workspace_at, workspace_of,
};
pub use json_string::JsonText;
