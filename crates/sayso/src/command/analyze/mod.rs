//! `sayso analyze`: what a command would do, before any policy speaks.

mod unguarded;

use crate::failure::{Failure, Outcome};
use crate::input::call::{Circumstances, shells};
use crate::input::stream;
use crate::show::caret;
use crate::show::paint::Paint;
use crate::show::table::Table;
use sayso_gate::ProcessEnvironment;
use sayso_gate::wire::{self, JsonText, line};
use sayso_policy::explain::effect::{self, bytes_of, command_line};
use sayso_policy::explain::visible;
use sayso_policy::shell::dialect::{Shells, analyze_in};
use sayso_policy::shell::program::Knowing;
use sayso_policy::shell::report::Report;
use sayso_policy::shell::syntax::{self, Options};
use sayso_policy::shell::{Analysis, Context, Dialect};
use sayso_policy::{Facts, Operation, Provenance, Request};
use std::fmt::Write as _;
use std::io::{Write as _, stdin, stdout};
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;
use unguarded::Unguarded;

/// Show what a command would do: its structure, the programs it starts, what they read, write, delete and connect to,
/// and what cannot be determined.
///
/// No rule decides anything here. Like a shell, it looks at files: it finds programs on PATH and reads scripts. It does not
/// read files that hold secrets, or that the policy in force denies reading, because their contents would be shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso analyze 'cd src && rm -rf \"$TMP\"/*.o > log'
  echo '{\"id\": 1, \"command\": \"ls | xargs rm\", \"cwd\": \"/tmp\"}' | sayso analyze --jsonl")]
pub(crate) struct Analyze {
    /// The command, as an agent would pass it to its shell
    #[arg(conflicts_with = "jsonl")]
    command: Option<std::ffi::OsString>,
    /// Read commands from standard input, one JSON object per line, and print one answer per line
    #[arg(long)]
    jsonl: bool,
    /// Working directory of the command [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<std::path::PathBuf>,
    /// Shell that would run it: bash, zsh, sh, dash or ksh; separate several with commas [default: bash]
    #[arg(long, value_name = "SHELL", value_parser = shells)]
    shell: Option<Shells>,
}

/// Runs it.
pub(crate) fn run(command: &Analyze) -> Outcome {
    if command.jsonl {
        return lines(command.shell.unwrap_or_default());
    }
    let Some(text) = &command.command else {
        return Err(Failure::wrong("error: give a command to analyze\n\n  Try: sayso analyze 'cat a | tee b'"));
    };
    let circumstances = Circumstances { cwd: command.cwd.clone(), shell: command.shell, ..Circumstances::default() };
    let text = text.as_bytes();
    let call = circumstances.call(Request::Command(text.to_vec()))?;
    let files = Unguarded::of(call.home.as_deref())?;
    let env = circumstances.environment();
    let env = Knowing { env: &env, programs: files.programs() };
    let mut operation = Operation::new(call, Facts { files: &files, env: &env });
    operation.provenance = Provenance::default();
    stdout().write_all(report(Paint::for_stdout(), text, &operation).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The answer to a line.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Line {
    Analysed {
        id: line::Id,
        #[serde(flatten)]
        report: Report<JsonText>,
    },
    Failed {
        id: line::Id,
        error: String,
    },
}

fn lines(shells: Shells) -> Outcome {
    let unguarded = Unguarded::of(wire::home(&ProcessEnvironment).as_deref())?;
    let answer = |text: &[u8]| {
        let (id, fields) = line::read(text);
        match fields.and_then(|fields| analysed(&fields, &unguarded, shells)) {
            Ok(analysis) => Line::Analysed { id, report: Report::new(&analysis, &|bytes| JsonText(bytes.to_vec())) },
            Err(error) => Line::Failed { id, error },
        }
    };
    let failed = |text: &[u8], why: &str| Line::Failed { id: line::read(text).0, error: why.to_owned() };
    stream::answer_lines(stdin().lock(), stdout().lock(), answer, failed)?;
    Ok(ExitCode::SUCCESS)
}

fn analysed(fields: &line::Fields, files: &Unguarded, shells: Shells) -> Result<Analysis, String> {
    let command = fields.bytes("command")?.ok_or("`command` is missing.")?;
    let (cwd, home) = (wire::folder(fields, "cwd")?, wire::folder(fields, "home")?);
    let context = Context {
        cwd: cwd.as_deref(),
        home: home.as_deref(),
        workspace: None,
        env: &Knowing { env: &ProcessEnvironment, programs: files.programs() },
        files,
        dialect: Dialect::Bash,
    };
    Ok(analyze_in(&command, &context, shells))
}

fn report(paint: Paint, text: &[u8], operation: &Operation) -> String {
    let mut out = String::new();
    if let Ok(tree) = syntax::parse(text, Dialect::Bash, Options::default()) {
        let _ = writeln!(out, "{}", paint.bold("structure"));
        for line in tree.render().lines() {
            let _ = writeln!(out, "  {}", visible(line));
        }
        out.push('\n');
    }
    let Some(analysis) = &operation.analysis else { return out };
    programs(paint, text, analysis, &mut out);
    let mut effects = Table::new(["effect", "", ""]);
    for it in operation.effects.iter().filter(|it| !is_call(it)) {
        let note = if it.certain { String::new() } else { "perhaps".to_owned() };
        effects.row([effect::verb(it).to_owned(), effect::target(operation, it), note]);
    }
    let _ = write!(out, "{}\n{}", paint.bold("effects"), effects.draw(paint));
    doubts(paint, text, analysis, &mut out);
    out
}

fn is_call(effect: &sayso_policy::shell::Effect) -> bool {
    matches!(effect.target, sayso_policy::shell::Target::Tool)
}

fn programs(paint: Paint, text: &[u8], analysis: &Analysis, out: &mut String) {
    let mut table = Table::new(["command", "program", ""]);
    for run in &analysis.runs {
        let program = match (&run.program.path, run.program.builtin) {
            (Some(path), _) => visible(&path.to_string_lossy()).into_owned(),
            (None, true) => "builtin".to_owned(),
            (None, false) => "not found".to_owned(),
        };
        let shadow = run.program.shadow.map(|shadow| format!("not the real program: {shadow:?}")).unwrap_or_default();
        table.row([command_line(run, text), program, shadow]);
    }
    if !analysis.runs.is_empty() {
        let _ = writeln!(out, "{}\n{}", paint.bold("programs"), table.draw(paint));
    }
}

/// What is not sure, each with the place it is about.
fn doubts(paint: Paint, text: &[u8], analysis: &Analysis, out: &mut String) {
    if analysis.opaque {
        let _ = writeln!(
            out,
            "\n{}: there may be more than is listed here",
            paint.verdict(sayso_policy::Verdict::Ask, "opaque")
        );
    }
    for doubt in &analysis.doubts {
        let _ = writeln!(out, "\n{}  [{}]", visible(&doubt.text), doubt.code);
        let range = bytes_of(doubt.span);
        for line in
            caret::marked(text, std::slice::from_ref(&range)).into_iter().filter(|it| !it.carets.is_empty()).take(2)
        {
            let _ = writeln!(out, "  {}\n  {}", line.text, line.carets);
        }
    }
}
