//! `sayso test`: does a policy say what its owner thinks it says?

use crate::choice;
use crate::failure::{Failure, Outcome};
use crate::judge;
use sayso_policy::explain::visible;
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::text::{File, PolicyTest, TestRequest};
use sayso_policy::{Decision, Facts, Policy, Request, State, ToolCall, Workspace};
use serde_json::json;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The workspace of all cases, and the home folder.
const WORKSPACE: &str = "/workspace";
const HOME: &str = "/home/you";

/// Run a policy's test cases: its `[[test]]` tables, the `hits` and `misses` of its rules, and the `cases` of texts about
/// programs.
///
/// Cases are judged as if in an empty folder on a standard machine, so that they give the same results everywhere.
/// Without FILE, the files in force here are tested. Exit code: 0 all passed, 1 some failed, 2 the file is rejected.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example of a case in a policy file:
  [[test]]
  command = \"git push --force\"
  expect  = \"deny\"
  code    = \"no-force-push\"")]
pub(crate) struct Test {
    /// Policy file, or a text about programs (*.prog)
    file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A case that failed.
#[derive(serde::Serialize)]
struct Complaint {
    source: String,
    what: String,
    why: String,
}

/// Runs it.
pub(crate) fn run(test: &Test) -> Outcome {
    let texts = judge::files_or_in_force(test.file.as_deref())?;
    // Compiling runs the examples of rules: a file with a wrong one is refused.
    let policy = choice::compile(&texts)?;
    let mut out = stdout().lock();
    let mut passed = 0_usize;
    let mut failures: Vec<Complaint> = Vec::new();
    for (file, case) in policy.programs().cases() {
        match sayso_policy::shell::program::case::check(&case.command, &case.wanted, policy.programs()) {
            Ok(()) => passed += 1,
            Err(found) => {
                let (source, what) = (format!("{file}:{}", case.at.line), case.command.clone());
                failures.push(Complaint { source, what, why: format!("expected {}; got {found}", case.wanted) });
            }
        }
    }
    for text in texts.iter().filter(|text| !text.teaches()) {
        let file = sayso_policy::text::parse(&text.name, &text.text)
            .map_err(|problems| Failure::wrong(judge::rendered(&problems, &texts)))?;
        let examples: usize = file.rules.iter().map(|rule| rule.hits.len() + rule.misses.len()).sum();
        passed += examples;
        for case in &file.tests {
            match outcome(&policy, case) {
                Ok(()) => passed += 1,
                Err(why) => failures.push(complaint(&file, case, why)),
            }
        }
    }
    let failed = failures.len();
    if test.json {
        writeln!(out, "{:#}", json!({"passed": passed, "failed": failed, "failures": failures}))?;
        return Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
    for Complaint { source, what, why } in &failures {
        writeln!(out, "{}: {}: {}", visible(source), visible(what), visible(why))?;
    }
    if passed + failed == 0 {
        writeln!(out, "There are no test cases yet. `sayso test --help` shows an example.")?;
    } else {
        writeln!(out, "{passed} passed, {failed} failed")?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn outcome(policy: &Policy, case: &PolicyTest) -> Result<(), String> {
    let decision = judged(policy, case);
    let reasons: Vec<&str> = decision.reasons.iter().map(|reason| reason.code.as_str()).collect();
    if decision.answer != case.expect.value {
        let because = decision.reasons.first().map(|reason| format!(": {} [{}]", reason.text, reason.code));
        return Err(format!(
            "expected {}, got {}{}",
            case.expect.value.as_str(),
            decision.answer.as_str(),
            visible(&because.unwrap_or_default())
        ));
    }
    match &case.code {
        Some(code) if !reasons.contains(&code.value.as_str()) => {
            let got = if reasons.is_empty() { "none".to_owned() } else { reasons.join(", ") };
            Err(format!(
                "{} as expected, but without the reason {}; got: {}",
                decision.answer.as_str(),
                code.value,
                visible(&got)
            ))
        }
        _ => Ok(()),
    }
}

fn judged(policy: &Policy, case: &PolicyTest) -> Decision {
    let mut files = MemoryFiles::new();
    files.folder(WORKSPACE);
    files.folder(HOME);
    files.folder("/tmp");
    let facts = Facts { files: &files, env: &NoEnvironment };
    let request = match &case.request {
        TestRequest::Command(command) => Request::Command(command.value.clone().into_bytes()),
        TestRequest::Tool { name, arguments } => {
            Request::Tool { name: name.value.clone(), arguments: arguments.clone(), server: None }
        }
    };
    let call = ToolCall {
        request,
        actor: case.actor.clone(),
        cwd: Some(case.cwd.as_ref().map_or_else(|| WORKSPACE.into(), |cwd| Path::new(WORKSPACE).join(&cwd.value))),
        workspace: Workspace::new(WORKSPACE, Some(Path::new(HOME))),
        home: Some(HOME.into()),
        reported_kind: None,
    };
    policy.evaluate(&policy.operation(call, facts), &State::default(), facts)
}

/// `policy.toml:12:1: git push: expected deny, got ask: ... [asked]`
fn complaint(file: &File, case: &PolicyTest, why: String) -> Complaint {
    let what = match &case.request {
        TestRequest::Command(command) => &command.value,
        TestRequest::Tool { name, .. } => &name.value,
    };
    Complaint { source: file.source(&case.span).to_string(), what: what.clone(), why }
}
