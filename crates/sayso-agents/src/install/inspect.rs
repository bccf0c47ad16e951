//! What is registered with an agent, and what is wrong with it.

use super::part::{read, resolved};
use super::{Scope, Setting, parts, switched_off};
use crate::Agent;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Sayso, as it stands in one place of an agent's settings.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Whose settings.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
    /// The program that is registered.
    pub program: PathBuf,
    /// Whether the agent will ask it.
    pub in_force: bool,
    /// Who is stated to ask there (`--as`).
    pub stated: Option<String>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A stable name for it.
    pub code: &'static str,
    /// What it is, and what to do.
    pub text: String,
}

/// Sayso in each place of an agent's settings where it is registered, and what keeps it from being asked.
#[must_use]
pub fn registrations(agent: Agent, setting: &Setting) -> Vec<Registration> {
    let scopes = Scope::ALL.iter().map(|scope| Setting { scope: *scope, trust: true, ..setting.clone() });
    scopes.filter_map(|setting| registration(agent, &setting)).collect()
}

fn registration(agent: Agent, setting: &Setting) -> Option<Registration> {
    let installer = agent.row().installer;
    let files = parts(agent, setting, false).ok()?;
    let path = resolved(files.first()?.path()).ok()?;
    let text = read(&path).ok()??;
    let found = installer.registered(setting, &text)?;
    let program = PathBuf::from(&found.program);
    let mut it = Registration {
        scope: setting.scope,
        path: path.clone(),
        program,
        in_force: true,
        stated: found.stated.clone(),
        findings: Vec::new(),
    };
    let mut say = |fatal: bool, code: &'static str, text: String| {
        it.in_force &= !fatal;
        it.findings.push(Finding { code, text });
    };
    if let Some(why) = cannot_run(&PathBuf::from(&found.program)) {
        let text = format!("{} {why}. Run: sayso install {agent}", found.program);
        say(false, "program-missing", text);
    }
    let again = format!("Run: sayso install {agent} --{}", setting.scope.name());
    let home = found.home.as_deref().map(Path::new);
    if home.is_none() {
        say(
            false,
            "home-not-fixed",
            format!("The home folder is not set, so the environment chooses the policy. {again}"),
        );
    } else if home.is_some_and(|home| home != Path::new("~") && home != setting.places.home) {
        say(
            false,
            "other-home",
            format!("It uses the policy and the record of {}.", home.unwrap_or(Path::new("")).display()),
        );
    }
    // Managed settings are for every user, each with a shell of their own.
    if found.shell.is_none() && setting.scope != Scope::Managed {
        say(false, "shell-not-fixed", format!("The agent's shell is not set, so your login shell is assumed. {again}"));
    }
    // As this version would write it, but for what was said already.
    let same = Setting {
        program: found.program.clone().into(),
        shell: found.shell.clone(),
        stated: found.stated.clone(),
        policy: found.policy.clone(),
        ..setting.clone()
    };
    let as_written = parts(agent, &same, false).ok().is_some_and(|parts| {
        parts.iter().all(|part| {
            let text = resolved(part.path()).ok().and_then(|path| read(&path).ok()).flatten();
            text.as_deref().is_some_and(|text| part.register(Some(text)).is_ok_and(|after| after == text))
        })
    });
    if !as_written {
        let text = format!("Events, timeouts or guards differ from what this version registers. {again}");
        say(false, "registration-differs", text);
    }
    for why in switched_off(agent, &text).into_iter().chain(installer.switched_off_elsewhere(setting)) {
        say(true, "switched-off", why);
    }
    for Finding { code, text } in installer.untrusted(setting, &text) {
        say(true, code, text);
    }
    Some(it)
}

/// Why a program cannot be started.
fn cannot_run(program: &Path) -> Option<&'static str> {
    match std::fs::metadata(program) {
        Err(_) => Some("is missing"),
        Ok(meta) if !meta.is_file() => Some("is not a file"),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => Some("cannot be executed"),
        Ok(_) => None,
    }
}
