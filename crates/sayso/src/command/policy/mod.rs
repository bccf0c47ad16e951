//! `sayso policy`: what is in force, what was, what a change means, and back.

mod diff;
mod layers;
mod try_file;

use crate::command::log::time::shown as time;
use crate::command::presets;
use crate::completing::Completes;
use crate::failure::{Failure, Outcome};
use crate::{judge, operator};
use sayso_gate::audit::{Log, PolicyVersion};
use sayso_gate::policy::{self, Putting};
use sayso_gate::{Error, Home, InForce, Places};
use sayso_policy::explain::visible;
use sayso_policy::{Layer, Policy as Compiled};
use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

/// Show the policy in force and its versions, find out what a change means, and roll back to an earlier version.
///
/// Every policy that decided a call is kept under its version, which is in the record.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso policy show                    the files in force here
  sayso policy show preset:developer   a preset
  sayso policy show --agent coder --provider openai/gpt-4
                                       the layers in force for that agent
  sayso policy versions
  sayso policy diff 7c1e9a4be2d05f31   what changed from that version to the policy in force, and what it means
  sayso policy try new.toml            what it would change over the last 30 days
  sayso policy rollback 7c1e9a4be2d05f31")]
pub(crate) struct Policy {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the files of the policy in force here, or of a version
    Show {
        /// A version, or the start of it; or a preset
        #[arg(value_name = "VERSION|preset:NAME", value_parser = Completes::policies(), hide_possible_values = true)]
        which: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        /// Show instead which layers are in force for an agent, in order, with their places
        #[command(flatten)]
        of: layers::Of,
    },
    /// List the versions that have decided calls, newest last
    Versions {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    Diff(diff::Diff),
    Try(try_file::Try),
    /// Restore your own policy file from a version
    Rollback {
        /// A version, or the start of it
        #[arg(value_name = "VERSION")]
        which: String,
    },
}

/// Runs it.
pub(crate) fn run(command: &Policy) -> Outcome {
    match &command.action {
        Action::Diff(diff) => return diff::run(diff),
        Action::Try(wanted) => return try_file::run(wanted),
        _ => {}
    }
    if let Action::Show { which: Some(which), json, of } = &command.action
        && !of.is_anybody()
        && let Some(name) = which.strip_prefix("preset:")
    {
        return presets::show(name, *json);
    }
    let places = Places::find(Home::Environment)?;
    let here = std::env::current_dir()?.canonicalize()?;
    let log = Log::open(&places)?;
    log.fold()?;
    let in_force = || {
        let in_force = InForce::load(&places, Some(&here)).map_err(judge::refused)?;
        Ok::<_, Failure>(PolicyVersion::new(in_force.policy.version(), &in_force.files))
    };
    let mut out = stdout().lock();
    match &command.action {
        Action::Show { which, json, of } if of.is_anybody() => {
            let shown = which.as_ref().map_or_else(in_force, |version| find(&log, version))?;
            let texts = shown.texts();
            let policy = Compiled::compile(&texts).map_err(|found| Failure::wrong(judge::rendered(&found, &texts)))?;
            layers::show(&mut out, (&policy, &texts), of, *json)?;
        }
        Action::Show { which, json, .. } => {
            let shown = which.as_ref().map_or_else(in_force, |version| find(&log, version))?;
            if *json {
                serde_json::to_writer(&mut out, &shown)?;
                writeln!(out)?;
            } else {
                writeln!(out, "policy {}", shown.version)?;
                for file in &shown.files {
                    let trust = if file.trusted { "" } else { ", not trusted: only its asks and denies apply" };
                    writeln!(out, "\n# {} ({}{trust})", visible(&file.name), file.layer)?;
                    file.text.lines().try_for_each(|line| writeln!(out, "{}", visible(line)))?;
                }
            }
        }
        Action::Versions { json } => {
            let now = in_force()?.version;
            let known = log.store().policies()?;
            if known.is_empty() && !*json {
                writeln!(
                    out,
                    "No policy has decided a call yet. The one in force here is {now}; `sayso policy show` shows it."
                )?;
            }
            for (version, first_ms) in known {
                if *json {
                    let line =
                        serde_json::json!({ "version": version, "first_ms": first_ms, "in_force": version == now });
                    writeln!(out, "{line}")?;
                } else {
                    writeln!(
                        out,
                        "{version}  {}{}",
                        time(first_ms),
                        if version == now { "  in force here" } else { "" }
                    )?;
                }
            }
        }
        Action::Diff(_) | Action::Try(_) => {}
        Action::Rollback { which } => {
            let version = find(&log, which)?;
            drop(out);
            rollback(&places, &log, &here, &version)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find(log: &Log, version: &str) -> Result<PolicyVersion, Failure> {
    policy::find(log.store().as_ref(), version).map_err(|error| match error {
        error @ (Error::NoVersion(_) | Error::SeveralVersions(_)) => {
            Failure::wrong(format!("error: {error}\n\n  List them with `sayso policy versions`."))
        }
        error => error.into(),
    })
}

fn rollback(places: &Places, log: &Log, here: &Path, version: &PolicyVersion) -> Result<(), Failure> {
    let own = version.files.iter().find(|file| file.layer == Layer::User.to_string());
    let Some(own) = own else {
        return Err(Failure::wrong(format!(
            "error: in version {} you had no policy file, so there is none to put in place\n\n  To go back to it, move {} \
             away. `sayso policy show {}` shows the files it had.",
            version.version,
            places.shown(&places.user),
            version.version
        )));
    };
    let texts: Vec<_> = version.texts().into_iter().filter(|text| text.layer == Layer::User).collect();
    if let Err(problems) = Compiled::compile(&texts) {
        return Err(Failure::wrong(judge::rendered(&problems, &texts)));
    }
    let asks = format!("{} will be restored to version {}.", places.shown(&places.user), version.version);
    let person = operator::confirmed(places, &asks)?;
    let putting = Putting { by: &person.name, from: Some(&version.version), base: None };
    let put = policy::put(places, log.store().as_ref(), Some(here), &own.text, &putting)?;
    let kept =
        put.before.map(|kept| format!("; the previous file was saved to {}", places.shown(&kept))).unwrap_or_default();
    writeln!(stdout(), "{} is back{kept}.", places.shown(&places.user))?;
    Ok(())
}
