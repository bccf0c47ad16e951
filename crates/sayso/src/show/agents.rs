//! Which agents are on this machine, and whether Sayso guards them.

use sayso_gate::Places;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long an agent may take to say its version.
const PATIENCE: Duration = Duration::from_secs(3);

/// An agent by its program's name, its title and its name to Sayso.
const KNOWN: [(&str, &str, &str); 6] = [
    ("claude", "Claude Code", "claude-code"),
    ("codex", "Codex", "codex"),
    ("gemini", "Gemini CLI", "gemini"),
    ("copilot", "Copilot CLI", "copilot"),
    ("opencode", "OpenCode", "opencode"),
    ("cursor-agent", "Cursor", "cursor"),
];

/// An agent that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    title: &'static str,
    name: &'static str,
    version: Option<String>,
    /// Sayso is registered in its settings.
    pub(crate) guarded: bool,
}

impl Found {
    /// `Claude Code 2.1.325`
    pub(crate) fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.title),
            None => self.title.to_owned(),
        }
    }

    /// What guards it.
    pub(crate) fn install(&self) -> String {
        match self.name {
            "claude-code" => format!("sayso install {}", self.name),
            _ => "cannot be guarded yet".to_owned(),
        }
    }
}

/// Looks for agents on PATH and asks each for its version.
pub(crate) fn find(places: &Places) -> Vec<Found> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    let mut asked = Vec::new();
    for (program, title, name) in KNOWN {
        if let Some(file) = folders.iter().map(|folder| folder.join(program)).find(|file| file.is_file()) {
            asked.push((title, name, ask(&file)));
        }
    }
    let until = Instant::now() + PATIENCE;
    let guarded = |name: &str| name == "claude-code" && guards_claude_code(places);
    let answered = asked.into_iter().map(|(title, name, child)| Found {
        title,
        name,
        version: child.and_then(|child| answer(child, until)),
        guarded: guarded(name),
    });
    answered.collect()
}

/// All are asked at once: some need a second to start.
fn ask(program: &Path) -> Option<std::process::Child> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().ok()
}

/// The first word that looks like a version.
fn answer(mut child: std::process::Child, until: Instant) -> Option<String> {
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let is_version =
        |word: &&str| word.len() < 40 && word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    text.split_whitespace().find(is_version).map(|version| sayso_policy::explain::visible(version).into_owned())
}

/// Sayso's hook stands in the user's settings or in the machine's.
fn guards_claude_code(places: &Places) -> bool {
    let user = std::env::var_os("CLAUDE_CONFIG_DIR").map_or_else(|| places.home.join(".claude"), PathBuf::from);
    let files = [user.join("settings.json"), PathBuf::from("/etc/claude-code/managed-settings.json")];
    files.iter().any(|file| std::fs::read_to_string(file).is_ok_and(|text| registers(&text)))
}

fn registers(settings: &str) -> bool {
    let Ok(settings) = serde_json::from_str::<serde_json::Value>(settings) else { return false };
    let groups = settings.pointer("/hooks/PreToolUse").and_then(serde_json::Value::as_array);
    let hooks = groups.into_iter().flatten().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    hooks.into_iter().any(|hook| {
        let text = hook.to_string();
        text.contains("sayso") && text.contains("hook") && text.contains("claude-code")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registered_hook_is_seen_and_another_is_not() {
        let hook = |command: &str| {
            serde_json::json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": command,
                "args": ["hook", "claude-code"]}]}]}})
            .to_string()
        };
        assert!(registers(&hook("/usr/local/bin/sayso")));
        assert!(!registers(&hook("/usr/local/bin/other")));
        assert!(!registers("{\"hooks\": 7}"));
        assert!(!registers("nonsense"));
    }
}
