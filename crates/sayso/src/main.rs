//! The command: a way in for people and programs. Each command has a file of its own in `command/`.

mod choice;
mod cli;
mod codes;
mod command;
mod completing;
mod failure;
mod input;
mod judge;
mod operator;
mod show;

use clap::FromArgMatches as _;
use cli::{Cli, Command};
use std::process::ExitCode;

fn main() -> ExitCode {
    // An agent waits for its hook at every call: no time for more than that.
    if let Some(code) = command::hook::fast_path() {
        return code;
    }
    if let Some(code) = command::run::inner::part() {
        return code;
    }
    let cli = match cli::command().try_get_matches().and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => cli,
        Err(error) => return wrong_usage(&error),
    };
    show::paint::choose(cli.color);
    let outcome = match cli.command {
        Command::Check(it) => command::check::run(&it),
        Command::Why(it) => command::why::run(&it),
        Command::Allow(it) => command::allow::allow(&it),
        Command::Deny(it) => command::allow::deny(&it),
        Command::Analyze(it) => command::analyze::run(&it),
        Command::Init(it) => command::init::run(&it),
        Command::Import(it) => command::import::run(&it),
        Command::Export(it) => command::export::run(&it),
        Command::Lint(it) => command::lint::run(&it),
        Command::Test(it) => command::test::run(&it),
        Command::Trust(it) => command::trust::run(&it),
        Command::Explain(it) => command::explain::run(&it),
        Command::Presets(it) => command::presets::run(&it),
        Command::Schema(it) => command::schema::run(&it),
        Command::Log(it) => command::log::run(&it),
        Command::Store(it) => command::store::run(&it),
        Command::Approvals(it) => command::approvals::run(&it),
        Command::Grants(it) => command::grants::run(&it),
        Command::Limits(it) => command::limits::run(&it),
        Command::Route(it) => command::route::run(&it),
        Command::Plan(it) => command::plan::run(&it),
        Command::Session(it) => command::session::run(&it),
        Command::Policy(it) => command::policy::run(&it),
        Command::Mode(it) => command::mode::run(&it),
        Command::Token(it) => command::token::run(&it),
        Command::Hook(it) => command::hook::run(&it),
        Command::Acp(it) => command::acp::run(&it),
        Command::Install(it) => command::install::run(&it),
        Command::Uninstall(it) => command::uninstall::run(&it),
        Command::Run(it) => command::run::run(&it),
        Command::Doctor(it) => command::doctor::run(&it),
        Command::Reconcile(it) => command::reconcile::run(&it),
        Command::History(it) => command::history::run(&it),
        Command::Mcp(it) => command::mcp::run(&it),
        Command::Serve(it) => command::serve::run(&it),
        Command::Completions(it) => command::completions::run(&it),
        Command::Man(it) => command::man::run(&it),
    };
    outcome.unwrap_or_else(|failure| failure.report())
}

/// Says what is wrong with the words, or shows the help that was asked for. `sayso run` ends with the program's own code, so
/// wrong usage has another one there.
fn wrong_usage(error: &clap::Error) -> ExitCode {
    // Nobody may be there to read it.
    let _ = error.print();
    if let Some(hint) = cli::unquoted(error.kind(), std::env::args_os().skip(1)) {
        eprintln!("\n{hint}");
    }
    let runs = std::env::args_os().nth(1).is_some_and(|word| word == "run");
    match error.exit_code() {
        0 => ExitCode::SUCCESS,
        _ if runs => ExitCode::from(command::run::NOT_ALLOWED),
        code => ExitCode::from(u8::try_from(code).unwrap_or(1)),
    }
}
