//! The MCP gateway: stands between a client and MCP servers, and judges every call of a tool.
//!
//! A line goes this way: a driver reads it (`stdio`, `http`), the strict scanner of `crate::pipe` takes it apart,
//! the `guard` says what becomes of it, and an `upstream` sends it on. What the guard says nothing of is passed byte
//! for byte. With several servers, `multiplexer` finds the right one.
//!
//! An attacker is on either side. The client's model is under injection, and may send anything that its client lets
//! it. A server may describe its tools as it likes, change them later, answer what nobody asked, never answer, or die.

mod answer;
mod asking;
mod call;
mod child;
mod config;
mod definition;
mod elicit;
mod findings;
mod guard;
mod http;
mod hub;
mod judge;
mod multiplexer;
mod own_id;
mod pins;
mod result;
mod schema;
mod setting;
mod stdio;
mod suspicion;
mod tools;
mod upstream;

pub use config::{check_name, read_config};
pub use guard::Limits;
pub use http::listen;
pub use judge::JudgeSetting;
pub use pins::{Changed, OpenTool, Pin, PinnedServer, Pins};
pub use result::Redact;
pub use setting::{GatewaySetting, Reach, ServerSetting, name_of};
pub use stdio::{run_between, run_stdio};
