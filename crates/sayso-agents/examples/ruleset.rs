//! A Rust `Ruleset` behind the ACP proxy: `cargo run --example ruleset -- AGENT ARGUMENTS...` stands between an editor and
//! an agent, and behind a gate that judges and records single calls.

use sayso_agents::acp::{self, Setting};
use sayso_gate::audit::Spool;
use sayso_gate::{Gate, Home, InForce, Places};
use sayso_policy::matchers::{Compilation, ReadOnlyGit};
use sayso_policy::{Matcher, Outcome, Rule, Ruleset};
use std::error::Error;

fn rules() -> Ruleset {
    Ruleset::new(vec![
        Rule::new(ReadOnlyGit::matcher(), Outcome::Allow),
        Rule::new(Compilation::matcher().within_directory("."), Outcome::Allow),
        Rule::new(Matcher::command("git").with_subcommand("push").with_flag("--force"), Outcome::Deny),
        Rule::new(Matcher::command("curl").piped_to_shell(), Outcome::Deny),
    ])
}

/// A gate over the same rules, for a program that brings its own calls.
pub fn gate(places: &Places) -> Result<Gate, sayso_gate::Error> {
    Ok(Gate::new(InForce::of(rules().into(), Vec::new()).guarding(places), Box::new(Spool::open(places)?)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let command: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let mut setting = Setting::new(Places::find(Home::Environment)?);
    setting.ruleset = Some(rules());
    let code = acp::run_between(setting, &command)?;
    std::process::exit(code.into());
}
