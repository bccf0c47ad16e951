//! `sayso check`: judges a call and does nothing else.

use crate::choice::PolicyChoice;
use crate::cli::one_command;
use crate::failure::Outcome;
use crate::input::call::{Circumstances, request};
use crate::input::stream;
use crate::judge::{Judge, Judged, Judges};
use crate::show::{mode::ShownMode, paint::Paint, verdict};
use anyhow::Context as _;
use sayso_gate::history::{Advice, Ask, PastCall};
use sayso_gate::wire::{self, line};
use sayso_policy::explain::{Change, visible};
use sayso_policy::shell::dialect::InShell;
use sayso_policy::{Answer, CanHold, Decision, Holding, Operation, Reason};
use std::io::{Write as _, stdin, stdout};
use std::process::ExitCode;

/// Check a command or tool call against the policy. Nothing runs, nothing is recorded, and no limit is used up.
///
/// Exit code: 0 allow or dry-run, 3 ask, 4 deny, 2 wrong usage or a bad policy, 1 internal error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso check 'cargo test && git push --force'
  sayso check --shell zsh 'echo *(/)'
  sayso check --hold 'python3 train.py'
  sayso check --policy preset:read-only 'rm -rf target'
  sayso check --tool Write --args '{\"file_path\": \"/etc/hosts\", \"content\": \"\"}'
  echo '{\"id\": 1, \"command\": \"ls\", \"cwd\": \"/tmp\"}' | sayso check --jsonl --policy preset:developer")]
pub(crate) struct Check {
    /// The command, as an agent would pass it to its shell; quote it, or put `--` before it
    #[arg(conflicts_with_all = ["tool", "args", "jsonl"])]
    command: Vec<std::ffi::OsString>,
    /// Check a call to this tool instead of a command
    #[arg(long, value_name = "NAME", conflicts_with = "jsonl")]
    tool: Option<String>,
    /// The tool's arguments
    #[arg(long, value_name = "JSON", requires = "tool")]
    args: Option<String>,
    /// Print JSON, with every stage's opinion on every effect
    #[arg(long)]
    json: bool,
    /// Read calls from standard input, one JSON object per line, and print one answer per line
    #[arg(long)]
    jsonl: bool,
    /// Answer as to a caller that holds the run, as `sayso run` does: what a hold would allow is an allow
    #[arg(long)]
    hold: bool,
    #[command(flatten)]
    policy: PolicyChoice,
    #[command(flatten)]
    circumstances: Circumstances,
}

/// Runs it.
pub(crate) fn run(check: &Check) -> Outcome {
    if check.jsonl {
        return lines(check);
    }
    let call = check.circumstances.call(request(
        one_command(&check.command).as_deref(),
        check.tool.as_deref(),
        check.args.as_deref(),
    )?)?;
    let judge = Judge::choose(&check.policy, &call)?;
    judge.say_notices();
    let can_hold = can_hold(check.hold);
    let asked = call.clone();
    let Judged { operation, decision, .. } = judge.judge(call, &check.circumstances.environment(), can_hold);
    let operation = operation.context("Sayso failed while judging this; please report the bug")?;
    let changes = judge.nearest(&operation, &decision, &check.circumstances.environment(), can_hold);
    let mode = judge.mode();
    let mut text = match check.json {
        true => String::new(),
        false => verdict::report(Paint::for_stdout(), &operation, &decision, &changes, &mode),
    };
    let mut trace = match check.json {
        true => Some(traced(&operation, &decision, &changes, &mode)?),
        false => None,
    };
    let answer = decision.answer;
    if answer == Answer::Ask {
        let ask = Ask { past: PastCall::new(asked), operation, decision, policy: 0, calls: 1, refused: 0 };
        if let Some(advice) = judge.advice(&ask, &check.circumstances.environment()) {
            text.push_str(&advised(&advice, check));
            if let Some(object) = trace.as_mut().and_then(serde_json::Value::as_object_mut) {
                match advice {
                    Advice::Rule { rule, widest } => {
                        object.insert("allow".to_owned(), serde_json::json!({ "rule": rule, "widest": widest }));
                    }
                    Advice::Instead(text) => {
                        object.insert("instead".to_owned(), text.into());
                    }
                }
            }
        }
    }
    if let Some(trace) = trace {
        text = serde_json::to_string_pretty(&trace)? + "\n";
    }
    stdout().write_all(text.as_bytes())?;
    Ok(exit_code(answer))
}

/// The decision as data.
pub(crate) fn traced(
    operation: &Operation,
    decision: &Decision,
    changes: &[Change],
    mode: &ShownMode,
) -> Result<serde_json::Value, serde_json::Error> {
    let mut trace = sayso_policy::explain::trace(operation, decision, changes, mode.decided().run);
    trace.looks_past = mode.looked_past().map(|mode| mode.run);
    serde_json::to_value(trace)
}

/// The last line: the rule that would let the call pass, or what to do instead.
fn advised(advice: &Advice, check: &Check) -> String {
    let paint = Paint::for_stdout();
    let line = |label: &str, text: &str| format!("      {}  {}\n", paint.dim(&format!("{label:<7}")), visible(text));
    match advice {
        Advice::Rule { rule, .. } => {
            let rule = rule.replace("[[rule]]\n", "").trim().replace("\n\n", " and ").replace('\n', ", ");
            // With policies that were named there is no file to write to.
            let own = check.policy.is_default() && !check.command.is_empty();
            line("to pass", &format!("{rule}{}", if own { "   `sayso allow 'COMMAND'` adds it" } else { "" }))
        }
        Advice::Instead(text) => line("instead", text),
    }
}

/// What `--hold` says.
pub(crate) fn can_hold(hold: bool) -> CanHold {
    if hold { CanHold::Whole } else { CanHold::No }
}

/// 0 allow or dry-run, 3 ask, 4 deny.
pub(crate) fn exit_code(answer: Answer) -> ExitCode {
    match answer {
        Answer::Allow | Answer::DryRun => ExitCode::SUCCESS,
        Answer::Ask => ExitCode::from(3),
        Answer::Deny => ExitCode::from(4),
    }
}

/// The answer to a line.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Line {
    Decided {
        id: line::Id,
        verdict: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        held: Option<&'static str>,
        /// Where it is not `enforce`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mode: Option<&'static str>,
        reasons: Vec<Reason>,
    },
    Failed {
        id: line::Id,
        error: String,
    },
}

fn lines(check: &Check) -> Outcome {
    let mut judges = Judges::new(&check.policy)?;
    let shells = check.circumstances.shell.unwrap_or_default();
    let mut missing = false;
    let answer = |text: &[u8]| {
        let (id, fields) = line::read(text);
        let decided = fields.and_then(|fields| {
            if !missing && !fields.has("cwd") && !fields.has("tool") {
                missing = true;
                eprintln!(
                    "note: a line has no `cwd`, so its working directory is unknown and so are relative paths in it"
                );
            }
            let (call, env) = wire::call(&fields)?;
            let said = wire::can_hold(&fields)?.max(can_hold(check.hold));
            judges.judge(call, &InShell { env, shells }, said)
        });
        match decided {
            Ok(Judged { decision, mode, .. }) => Line::Decided {
                id,
                mode: (mode != "enforce").then_some(mode),
                verdict: decision.answer.as_str(),
                held: decision.hold.and_then(Holding::decides),
                reasons: decision.reasons,
            },
            Err(error) => Line::Failed { id, error },
        }
    };
    let failed = |text: &[u8], why: &str| Line::Failed { id: line::read(text).0, error: why.to_owned() };
    stream::answer_lines(stdin().lock(), stdout().lock(), answer, failed)?;
    Ok(ExitCode::SUCCESS)
}
