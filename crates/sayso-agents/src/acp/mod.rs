//! The ACP proxy: Sayso in the pipe between an editor and its agent.
//!
//! A proxy cannot be skipped and fails closed by nature, but ACP shows it only what the agent chooses to ask. So more
//! than permission requests is judged: what makes the client act, what would make the agent ask less, the MCP servers
//! it is given; and what it tells of its calls is compared with what it asked. `docs/acp.md` says what is left.
//!
//! `proxy` decides about one message at a time and does no I/O on the pipe; `pump` moves bytes and knows nothing
//! of ACP; `conductor` speaks for a chain of proxies.

mod acts;
mod answers;
mod call;
mod conductor;
mod judge;
mod later;
mod modes;
mod options;
mod pending;
mod permission;
mod proxy;
mod pump;
mod servers;
mod session_start;
mod sessions;
mod terminal;
mod updates;

pub use proxy::{Onward, Proxy, Routed, Side};
pub use pump::{run_between, run_component};
pub use servers::McpGateway;

use sayso_gate::Places;
use sayso_policy::{CanHold, PolicyText, Ruleset};

/// What the proxy depends on.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where policy and record are.
    pub places: Places,
    /// Policy files named by the owner; then no others count.
    pub given: Option<Vec<PolicyText>>,
    /// Rules of a program that embeds the proxy; then no files count.
    pub ruleset: Option<Ruleset>,
    /// The agent's name for policy and record; else the one it gives itself.
    pub agent: Option<String>,
    /// Who asks, as the owner states it.
    pub stated: sayso_policy::Stated,
    /// How to start the MCP gateway; `None`: this Sayso has none.
    pub gateway: Option<McpGateway>,
    /// Nothing on the agent's command line overrules its own settings: they say whether it asks where it tells of no mode.
    pub settings_count: bool,
    /// How strongly this machine can hold what the client starts.
    pub can_hold: CanHold,
    /// Cancel a session's turn when a call that the policy denies ran without asking.
    pub cancel_denied: bool,
    /// The longest line that is looked at.
    pub longest_line: usize,
}

impl Setting {
    /// With these places, and everything else as usual.
    #[must_use]
    pub fn new(places: Places) -> Self {
        Self {
            places,
            given: None,
            ruleset: None,
            agent: None,
            stated: sayso_policy::Stated::default(),
            gateway: None,
            settings_count: false,
            can_hold: CanHold::No,
            cancel_denied: false,
            longest_line: crate::pipe::LONGEST_LINE,
        }
    }
}
