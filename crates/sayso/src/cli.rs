//! The command line. The comments here and in `command/` are the text of `--help`, of the manual page and of the
//! completions.

use crate::command;

/// Agents act on your say-so.
///
/// Sayso sits between an AI agent and its tools. It sees every tool call before it runs, works out what the call would
/// actually do, checks that against your policy, asks you where the policy says to, and keeps a record.
#[derive(Debug, clap::Parser)]
#[command(name = "sayso", version, propagate_version = true, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "\
First steps:
  sayso check 'git push --force'     see the decision and the reasons
  sayso init                         create your own policy file
  sayso install claude-code          guard an agent
  sayso serve                        watch decisions as they are made")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One for each file in `command/`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Check(command::check::Check),
    Why(command::why::Why),
    Allow(command::allow::Allow),
    Deny(command::allow::Deny),
    Analyze(command::analyze::Analyze),
    Init(command::init::Init),
    Import(command::import::Import),
    Export(command::export::Export),
    Lint(command::lint::Lint),
    Test(command::test::Test),
    Trust(command::trust::Trust),
    Explain(command::explain::Explain),
    Schema(command::schema::Schema),
    Log(command::log::Log),
    Store(command::store::Store),
    Approvals(command::approvals::Approvals),
    Grants(command::grants::Grants),
    Limits(command::limits::Limits),
    Route(command::route::Route),
    Plan(command::plan::Plan),
    Session(command::session::Session),
    Policy(command::policy::Policy),
    Mode(command::mode::Mode),
    Token(command::token::Token),
    Hook(command::hook::Hook),
    Acp(command::acp::Acp),
    Install(command::install::Install),
    Uninstall(command::uninstall::Uninstall),
    Run(command::run::Run),
    Doctor(command::doctor::Doctor),
    Reconcile(command::reconcile::Reconcile),
    History(command::history::History),
    Mcp(command::mcp::Mcp),
    Serve(command::serve::Serve),
    Completions(command::completions::Completions),
    Man(command::man::Man),
}
