//! `sayso allow` and `sayso deny`: the narrowest rule for one call, shown, then written with the owner's yes.

use crate::command::history::append;
use crate::failure::{Failure, Outcome};
use crate::input::call::{Circumstances, request};
use crate::judge::{Judge, Judged};
use anyhow::Context as _;
use sayso_gate::history::{Advice, Ask, PastCall, Rulebook, allowing, denying};
use sayso_gate::{Home, KeptFiles, Places};
use sayso_policy::explain::visible;
use sayso_policy::{CanHold, Facts, Verdict};
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Add the narrowest rule that lets a call pass without a prompt, after you confirm it.
///
/// Shows the rule and the widest call that it would also allow, then appends it to your policy file. No rule is offered
/// for what a rule denies or asks about on purpose, or for programs that run whatever they are given. Agents cannot run this.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso allow 'terraform plan'
  sayso allow --tool mcp__github__get_issue")]
pub(crate) struct Allow {
    #[command(flatten)]
    one: One,
}

/// Add the narrowest rule that denies a call, after you confirm it.
///
/// Shows the rule and the smallest other call that it would also affect, then appends it to your policy file. Agents cannot
/// run this.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso deny 'terraform apply -auto-approve'
  sayso deny --tool mcp__github__delete_repo")]
pub(crate) struct Deny {
    #[command(flatten)]
    one: One,
}

/// One call.
#[derive(Debug, clap::Args)]
struct One {
    /// The command, as an agent would pass it to its shell
    #[arg(conflicts_with_all = ["tool", "args"])]
    command: Option<std::ffi::OsString>,
    /// A call to this tool instead of a command
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The tool's arguments
    #[arg(long, value_name = "JSON", requires = "tool")]
    args: Option<String>,
    #[command(flatten)]
    circumstances: Circumstances,
}

/// Runs `sayso allow`.
pub(crate) fn allow(command: &Allow) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let judged = judged(&places, &command.one)?;
    let (ask, judge) = match judged {
        (ask, _) if ask.decision.verdict == Verdict::Allow => {
            writeln!(stdout(), "The policy already allows this. Nothing was changed.")?;
            return Ok(ExitCode::SUCCESS);
        }
        (ask, _) if ask.decision.verdict == Verdict::Deny => {
            let why = ask.decision.reasons.first().map(|it| format!("{} [{}]", it.text, it.code)).unwrap_or_default();
            return Err(Failure::wrong(format!(
                "error: the policy denies this: {}\n\n  An allow doesn't overrule a deny. `sayso why` shows which rule to change.",
                visible(&why)
            )));
        }
        both => both,
    };
    let files = KeptFiles::here();
    let env = command.one.circumstances.environment();
    let rulebook = Rulebook::new(&places, vec![judge.in_force()]);
    match allowing(&ask, &rulebook, Facts { files: &files, env: &env }) {
        Advice::Rule { rule, widest } => {
            show(&rule, "also allows", widest.as_deref())?;
            append(&places, &rule)?;
            Ok(ExitCode::SUCCESS)
        }
        Advice::Instead(text) => {
            Err(Failure::wrong(format!("error: no rule is offered for this\n\n  {}", visible(&text))))
        }
    }
}

/// Runs `sayso deny`.
pub(crate) fn deny(command: &Deny) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let (ask, judge) = judged(&places, &command.one)?;
    if ask.decision.verdict == Verdict::Deny {
        writeln!(stdout(), "The policy already denies this. Nothing was changed.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let files = KeptFiles::here();
    let env = command.one.circumstances.environment();
    let rulebook = Rulebook::new(&places, vec![judge.in_force()]);
    let found = denying(&ask.past, &ask.operation, &ask.decision, &rulebook, Facts { files: &files, env: &env });
    let Some(denial) = found else {
        return Err(Failure::wrong(
            "error: no single pattern names what this call does\n\n  Write the rule yourself: `sayso why` shows the call's effects.",
        ));
    };
    show(&denial.rule, "also affects", denial.also.as_deref())?;
    append(&places, &denial.rule)?;
    Ok(ExitCode::SUCCESS)
}

/// The call and what the policy in force says of it.
fn judged(places: &Places, one: &One) -> Result<(Ask, Judge), Failure> {
    let call = one.circumstances.call(request(one.command.as_deref(), one.tool.as_deref(), one.args.as_deref())?)?;
    let judge = Judge::in_force_at(places, call.workspace.root())?.past_mode();
    judge.say_notices();
    let env = one.circumstances.environment();
    let Judged { operation, decision, .. } = judge.judge(call.clone(), &env, CanHold::No);
    let operation = operation.context("Sayso failed while judging this; please report the bug")?;
    Ok((Ask { past: PastCall::new(call), operation, decision, policy: 0, calls: 1, refused: 0 }, judge))
}

fn show(rule: &str, label: &str, other: Option<&str>) -> Result<(), Failure> {
    let mut out = stdout().lock();
    for line in rule.lines() {
        writeln!(out, "  {}", visible(line))?;
    }
    if let Some(other) = other {
        writeln!(out, "  {label}  {}", visible(other))?;
    }
    Ok(())
}
