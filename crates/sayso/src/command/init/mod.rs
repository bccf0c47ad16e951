//! `sayso init`: a first policy file.

use crate::failure::{Failure, Outcome};
use sayso_gate::{Home, Places};
use sayso_policy::presets;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _, stdout};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::ExitCode;

/// What `init` writes. Tests compile it.
pub(crate) const FIRST_POLICY: &str = include_str!("policy.toml");
/// What `init --project` writes.
pub(crate) const FIRST_PROJECT_POLICY: &str = include_str!("project.toml");

/// Create a commented starter policy in ~/.config/sayso/policy.toml. An existing file is never overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso init
  sayso init --for reviewer   give agents of the kind `reviewer` the preset of that name
  sayso init --project        write .sayso.toml here, for everyone who works on this repository")]
pub(crate) struct Init {
    /// Write .sayso.toml in this folder instead
    #[arg(long)]
    project: bool,
    /// Add the preset for a kind of agent: reviewer, researcher or deployer; repeatable
    #[arg(long = "for", value_name = "ROLE", value_parser = presets::ROLES)]
    roles: Vec<String>,
}

/// The tables of `[for]` for these roles, with what each needs.
fn for_roles(roles: &[String]) -> String {
    let mut text = String::new();
    let mut seen: Vec<&String> = Vec::new();
    for role in roles {
        if seen.contains(&role) {
            continue;
        }
        seen.push(role);
        text.push_str(&format!(
            "\n# Agents of the kind `{role}` have this preset in place of `extends` above. `sayso policy show --agent {role}` shows\n\
             # what is in force for them.\n[for.\"agent:{role}\"]\nextends = [\"{role}\"]\n"
        ));
        if role == "deployer" {
            text.push_str(
                "\n# Who approves what a deployer publishes; until then, whoever answers here.\n\
                 # [approvals.publishers]\n# members = [\"alice\"]\n",
            );
        }
    }
    text
}

/// Runs it.
pub(crate) fn run(init: &Init) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let (path, text) = if init.project {
        (std::env::current_dir()?.join(".sayso.toml"), FIRST_PROJECT_POLICY)
    } else {
        (places.user.clone(), FIRST_POLICY)
    };
    let text = text.to_owned() + &for_roles(&init.roles);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mode = if init.project { 0o644 } else { 0o600 };
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(mode).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let shown = places.shown(&path);
            return Err(Failure::wrong(format!(
                "{shown} already exists and was left unchanged.\n\n  Check it with `sayso lint`."
            )));
        }
        Err(error) => {
            return Err(Failure::Internal(
                anyhow::Error::new(error).context(format!("cannot write {}", path.display())),
            ));
        }
    };
    file.write_all(text.as_bytes())?;
    let next = if let Some(role) = init.roles.first() {
        &format!(
            "Say which agent it is where it is registered: sayso install AGENT --as agent:{role}\n\
             An agent that only reports the kind is bound by the preset too, but gains nothing from it."
        )
    } else if init.project {
        "Its denies and asks apply immediately. Run `sayso trust` to let its allows apply too."
    } else {
        "It applies from the next call. Try it: sayso check 'git push'"
    };
    writeln!(stdout(), "Wrote {}\n{next}", places.shown(&path))?;
    Ok(ExitCode::SUCCESS)
}
