//! `sayso explain`: what a reason code means.

use crate::failure::{Failure, Outcome};
use crate::show::paint::Paint;
use sayso_policy::text::problem_info;
use sayso_policy::{CodeInfo, REASON_CODES, code_info};
use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Explain a reason code, the word in brackets after a decision. Without a code, list all of them.
///
/// Codes that `sayso lint` shows are explained too. A rule in a policy has its own code, its `id`. The decision shows the file and line of the rule.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso explain default
  sayso explain")]
pub(crate) struct Explain {
    /// The code
    code: Option<String>,
}

/// Runs it.
pub(crate) fn run(explain: &Explain) -> Outcome {
    let text = match &explain.code {
        None => all(),
        Some(code) => one(code)?,
    };
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn all() -> String {
    let width = REASON_CODES.iter().map(|info| info.code.len()).max().unwrap_or(0);
    let mut out = String::new();
    for info in REASON_CODES {
        let _ = writeln!(out, "{:<width$}  {}", info.code, info.title);
    }
    out
}

fn one(code: &str) -> Result<String, Failure> {
    let code = code.trim_matches(['[', ']']);
    match code_info(code).or_else(|| problem_info(code)) {
        Some(CodeInfo { code, title, advice }) => {
            Ok(format!("{}\n\n  {title}\n  {advice}\n", Paint::for_stdout().bold(code)))
        }
        None => {
            let code = sayso_policy::explain::visible(code);
            Err(Failure::wrong(format!(
                "error: {code} is not one of Sayso's own codes\n\n  It may be the `id` of a rule in a policy: the decision that showed it gives the file and line.\n  `sayso explain` lists all codes."
            )))
        }
    }
}
