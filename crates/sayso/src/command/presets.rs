//! `sayso presets`: the policies that come with Sayso.

use crate::completing::Completes;
use crate::failure::{Failure, Outcome};
use crate::show::paint::Paint;
use sayso_policy::presets;
use sayso_policy::text::nearest;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// List the presets, the policies that come with Sayso, or show one.
///
/// A policy file names those it builds on in `extends`. Where the file speaks of something, the preset's allows and asks
/// step back; its denies stay unless the file switches them off with `disable`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso presets
  sayso presets developer                             show its rules
  sayso check --policy preset:read-only 'rm -rf out'  try one")]
pub(crate) struct Presets {
    /// Show the text of this one
    #[arg(value_parser = Completes::presets(), hide_possible_values = true)]
    name: Option<String>,
    /// Print JSON: one object for a preset, or one object per line for the list
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(crate) fn run(command: &Presets) -> Outcome {
    let mut out = stdout().lock();
    let Some(name) = &command.name else {
        let width = presets::NAMES.iter().map(|name| name.len()).max().unwrap_or(0);
        for name in presets::NAMES {
            let summary = summary(presets::text(name).unwrap_or_default());
            match command.json {
                true => writeln!(out, "{}", serde_json::json!({"name": name, "summary": summary}))?,
                false => writeln!(out, "{}  {summary}", Paint::for_stdout().bold(&format!("{name:<width$}")))?,
            }
        }
        return Ok(ExitCode::SUCCESS);
    };
    drop(out);
    show(name.strip_prefix("preset:").unwrap_or(name), command.json)
}

/// Shows one.
pub(crate) fn show(name: &str, json: bool) -> Outcome {
    let text = text(name)?;
    let mut out = stdout().lock();
    match json {
        true => {
            let object = serde_json::json!({"name": name, "summary": summary(text), "text": text});
            writeln!(out, "{object:#}")?;
        }
        false => write!(out, "{text}")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The text of a preset, or which one may have been meant.
pub(crate) fn text(name: &str) -> Result<&'static str, Failure> {
    presets::text(name).ok_or_else(|| {
        let near = nearest(name, presets::NAMES).map(|near| format!(". Did you mean `{near}`?")).unwrap_or_default();
        let known = presets::NAMES.join(", ");
        let name = sayso_policy::explain::visible(name);
        Failure::wrong(format!("error: there is no preset named `{name}`{near}\n\n  Presets: {known}."))
    })
}

/// The comment at the beginning, on one line.
fn summary(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
    lines.collect::<Vec<_>>().join(" ")
}
