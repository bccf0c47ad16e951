//! What is registered with an agent, and what is wrong with it.

use super::codex_trust::{Trust, Trusted};
use super::command::{Ours, ours};
use super::part::{read, resolved};
use super::{Scope, Setting, codex, hooks_json, json_text, parts, shim};
use crate::Agent;
use serde_json::Value;
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
    let parts = parts(agent, setting, false).ok()?;
    let first = parts.first()?;
    let path = resolved(first.path()).ok()?;
    let text = read(&path).ok()??;
    let found = registered(agent, setting, &text)?;
    let program = PathBuf::from(&found.program);
    let mut it =
        Registration { scope: setting.scope, path: path.clone(), program, in_force: true, findings: Vec::new() };
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
    if found.shell.is_none() && setting.scope != Scope::Managed && agent != Agent::Zed {
        say(false, "shell-not-fixed", format!("The agent's shell is not set, so your login shell is assumed. {again}"));
    }
    // As this version would write it, but for what was said already.
    let same = Setting { program: found.program.clone().into(), shell: found.shell.clone(), ..setting.clone() };
    let as_written = super::parts(agent, &same, false).ok().is_some_and(|parts| {
        parts.iter().all(|part| {
            let text = resolved(part.path()).ok().and_then(|path| read(&path).ok()).flatten();
            text.as_deref().is_some_and(|text| part.register(Some(text)).is_ok_and(|after| after == text))
        })
    });
    if !as_written {
        let text = format!("Events, timeouts or guards differ from what this version registers. {again}");
        say(false, "registration-differs", text);
    }
    for why in super::switched_off(agent, &text).into_iter().chain(elsewhere(agent, setting)) {
        say(true, "switched-off", why);
    }
    if agent == Agent::Codex && setting.scope != Scope::Managed {
        for (code, why) in untrusted(setting, &text) {
            say(true, code, why);
        }
    }
    Some(it)
}

/// The first handler of Sayso's in a text, whichever form the agent has.
fn registered(agent: Agent, setting: &Setting, text: &str) -> Option<Ours> {
    match (agent, setting.scope) {
        (Agent::OpenCode | Agent::OpenClaw, _) => shim::constants(text),
        (Agent::Codex, Scope::Managed) => text.lines().find_map(|line| {
            let command = line.trim().strip_prefix("command = ")?.parse::<toml_edit::Value>().ok()?;
            ours(&serde_json::json!({"command": command.as_str()?}), agent)
        }),
        _ => {
            let file: hooks_json::HooksFile = super::hooks(agent, setting)?.ok()?;
            let placed = file.placed(text).ok()?;
            placed.first().and_then(|placed| ours(&placed.value, agent))
        }
    }
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

/// What in other files of the agent's keeps a registration from being asked.
fn elsewhere(agent: Agent, setting: &Setting) -> Vec<String> {
    let on = |path: &Path, pointer: &str, wanted: bool| {
        let text = read(path).ok().flatten()?;
        (json_text::value(&text)?.pointer(pointer)? == &Value::Bool(wanted)).then(|| path.display().to_string())
    };
    match agent {
        // Managed hooks run whatever users and projects say.
        Agent::ClaudeCode if setting.scope != Scope::Managed => {
            let user = setting.agent_folder_or(".claude");
            let project = setting.project.join(".claude");
            let managed = setting.root.join("etc/claude-code/managed-settings.json");
            let all = [user.join("settings.json"), project.join("settings.json"), project.join("settings.local.json")];
            let disabled = all.iter().chain([&managed]).filter_map(|path| on(path, "/disableAllHooks", true));
            let only = on(&managed, "/allowManagedHooksOnly", true);
            let off = disabled.map(|path| format!("`disableAllHooks` is on in {path}."));
            off.chain(only.map(|path| {
                format!(
                    "`allowManagedHooksOnly` is on in {path}: only `sayso install claude-code --managed` has an effect."
                )
            }))
            .collect()
        }
        // The machine's switch wins over those of users and projects.
        Agent::Gemini if setting.scope != Scope::Managed => {
            let files = [
                setting.agent_folder_or(".gemini").join("settings.json"),
                setting.project.join(".gemini/settings.json"),
                setting.root.join("etc/gemini-cli/settings.json"),
            ];
            let off = files.iter().filter_map(|path| on(path, "/hooksConfig/enabled", false));
            off.map(|path| format!("`hooksConfig.enabled` is false in {path}.")).collect()
        }
        Agent::Copilot if setting.scope != Scope::Managed => {
            let settings = setting.agent_folder_or(".copilot").join("settings.json");
            let config = setting.agent_folder_or(".copilot").join("config.json");
            let off = [settings, config].into_iter().filter_map(|path| on(&path, "/disableAllHooks", true));
            off.map(|path| format!("`disableAllHooks` is on in {path}.")).collect()
        }
        Agent::OpenClaw => {
            let text = read(&setting.agent_folder_or(".openclaw").join("openclaw.json")).ok().flatten();
            match text.as_deref().map_or(Some(Value::Null), json_text::value) {
                Some(settings) => super::openclaw::switched_off(&settings),
                None => vec!["openclaw.json cannot be read; check with `openclaw plugins inspect sayso`.".to_owned()],
            }
        }
        _ => Vec::new(),
    }
}

/// Hooks that Codex does not run because they are not trusted.
fn untrusted(setting: &Setting, hooks: &str) -> Vec<(&'static str, String)> {
    let config = codex::user_folder(setting).join("config.toml");
    let text = match read(&config) {
        Ok(text) => text,
        Err(error) => return vec![("trust-unknown", error.to_string())],
    };
    let state = match Trust::new(setting).and_then(|trust| trust.state(hooks, text.as_deref())) {
        Ok(state) => state,
        Err(why) => return vec![("trust-unknown", format!("{}: {why}", config.display()))],
    };
    let with = |wanted: Trusted| -> Vec<&str> {
        state.iter().filter(|(_, trusted)| *trusted == wanted).map(|(placed, _)| placed.event.as_str()).collect()
    };
    let mut all = Vec::new();
    for (wanted, code, how) in [
        (Trusted::Changed, "trust-outdated", "has changed since you trusted it"),
        (Trusted::Never, "not-trusted", "is not trusted"),
    ] {
        let events = with(wanted);
        if !events.is_empty() {
            let events = events.join(", ");
            let scope = setting.scope.name();
            all.push((code, format!("Codex does not run the hook: it {how} ({events}). Start codex and trust it there, or run: sayso install codex --{scope} --trust")));
        }
    }
    all
}
