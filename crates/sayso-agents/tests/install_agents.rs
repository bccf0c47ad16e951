//! Registering Sayso with each agent, and taking it out again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_agents::install::{Registration, Scope, Setting, plan_install, plan_uninstall, registrations};
use sayso_agents::{Agent, Error};
use sayso_gate::Places;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

struct Machine {
    _dir: tempfile::TempDir,
    setting: Setting,
}

fn machine(scope: Scope) -> Machine {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    for folder in ["home", "project", "bin"] {
        std::fs::create_dir_all(base.join(folder)).unwrap();
    }
    std::fs::write(base.join("home/mine"), "").unwrap();
    let program = base.join("bin/sayso");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let setting = Setting {
        places: Places::below(&base.join("home"), &base),
        scope,
        project: base.join("project"),
        agent_folder: None,
        program,
        shell: Some("zsh".to_owned()),
        limiter: Some("/usr/bin/timeout".into()),
        stated: None,
        policy: Vec::new(),
        trust: false,
        root: base,
    };
    Machine { setting, _dir: dir }
}

impl Machine {
    fn at(&self, path: &str) -> PathBuf {
        self.setting.root.join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.text(path)).unwrap()
    }

    fn install(&self, agent: Agent) {
        plan_install(agent, &self.setting).unwrap().apply().unwrap();
    }

    fn uninstall(&self, agent: Agent) {
        plan_uninstall(agent, &self.setting).unwrap().apply().unwrap();
    }

    /// Every file below the machine but Sayso's own, with its content.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        collect(&self.setting.root, &self.setting.places.state, &mut all);
        all.sort();
        all
    }

    fn look(&self, agent: Agent) -> Vec<Registration> {
        registrations(agent, &self.setting)
    }
}

fn collect(folder: &Path, but: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path == but {
            continue;
        }
        if path.is_dir() {
            if std::fs::read_dir(&path).unwrap().next().is_none() {
                all.push((path.clone(), Vec::new()));
            }
            collect(&path, but, all);
        } else {
            all.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
}

fn codes(registrations: &[Registration]) -> Vec<&str> {
    registrations.iter().flat_map(|it| it.findings.iter().map(|finding| finding.code)).collect()
}

/// Where an agent's settings are, for the agents and scopes that have them.
const PLACES: &[(Agent, Scope, &str)] = &[
    (Agent::CLAUDE_CODE, Scope::User, "home/.claude/settings.json"),
    (Agent::CLAUDE_CODE, Scope::Project, "project/.claude/settings.json"),
    (Agent::CODEX, Scope::User, "home/.codex/hooks.json"),
    (Agent::CODEX, Scope::Project, "project/.codex/hooks.json"),
    (Agent::CODEX, Scope::Managed, "etc/codex/requirements.toml"),
    (Agent::GEMINI, Scope::User, "home/.gemini/settings.json"),
    (Agent::GEMINI, Scope::Project, "project/.gemini/settings.json"),
    (Agent::GEMINI, Scope::Managed, "etc/gemini-cli/settings.json"),
    (Agent::COPILOT, Scope::User, "home/.copilot/hooks/sayso.json"),
    (Agent::COPILOT, Scope::Project, "project/.github/hooks/sayso.json"),
    (Agent::COPILOT, Scope::Managed, "etc/github-copilot/policy.d/sayso.json"),
    (Agent::CURSOR, Scope::User, "home/.cursor/hooks.json"),
    (Agent::CURSOR, Scope::Project, "project/.cursor/hooks.json"),
    (Agent::OPENCODE, Scope::User, "home/.config/opencode/plugins/sayso.js"),
    (Agent::OPENCODE, Scope::Project, "project/.opencode/plugins/sayso.js"),
    (Agent::OPENCLAW, Scope::User, "home/.openclaw/extensions/sayso/index.js"),
];

#[test]
fn every_agent_is_registered_in_its_place_and_taken_out_without_a_trace() {
    for (agent, scope, path) in PLACES {
        let mut m = machine(*scope);
        m.setting.trust = true;
        let before = m.files();
        m.install(*agent);
        assert!(m.at(path).is_file(), "{agent} {scope:?}");
        assert!(m.text(path).contains(agent.name()), "{}", m.text(path));
        let once = m.files();
        assert!(!plan_install(*agent, &m.setting).unwrap().changes(), "{agent} {scope:?} twice");
        assert_eq!(m.files(), once);
        let look = m.look(*agent);
        assert_eq!(look.len(), 1, "{agent}");
        assert!(look[0].in_force && look[0].findings.is_empty() && look[0].scope == *scope, "{agent}: {look:?}");
        m.uninstall(*agent);
        assert_eq!(m.files(), before, "{agent} {scope:?}");
        assert!(m.look(*agent).is_empty());
    }
}

#[test]
fn a_registration_with_policy_files_of_its_own_is_as_it_was_written() {
    let word = |word: &str| word.to_owned();
    for policy in [
        vec![word("--policy"), word("/etc/team/policy.toml")],
        vec![word("--policy"), word("preset:developer"), word("--policy"), word("/home/it's mine/p.toml")],
        vec![word("--policy"), word("/etc/claude.json"), word("--policy-format"), word("claude-code")],
    ] {
        for (agent, scope, _) in PLACES {
            let mut m = machine(*scope);
            m.setting.trust = true;
            m.setting.policy.clone_from(&policy);
            m.install(*agent);
            // Whoever looks later knows only what is registered.
            m.setting.policy.clear();
            let look = m.look(*agent);
            assert!(!codes(&look).contains(&"registration-differs"), "{agent} {policy:?}: {look:?}");
            assert_eq!(look.len(), 1, "{agent}");
        }
    }
}

#[test]
fn what_was_in_the_files_comes_back_byte_for_byte() {
    for (agent, path, before) in [
        (
            Agent::CODEX,
            "home/.codex/hooks.json",
            "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
        ),
        (
            Agent::CODEX,
            "home/.codex/config.toml",
            "# mine\nmodel = \"gpt\"   # keep\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
        ),
        (Agent::CODEX, "home/.codex/config.toml", "model = 'x'\r\n[hooks]\r\nstate = { }\r\n"),
        (
            Agent::CODEX,
            "home/.codex/config.toml",
            "[hooks.state.\"/other:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:00\"\n",
        ),
        (Agent::GEMINI, "home/.gemini/settings.json", "{\n  // my theme\n  \"ui\": {\"theme\": \"x\"} // dark\n}\n"),
        (Agent::COPILOT, "home/.copilot/hooks/sayso.json", "{\"version\":1,\"hooks\":{}}"),
        (Agent::OPENCLAW, "home/.openclaw/openclaw.json", "{\n  // mine\n  \"plugins\": {\"allow\": [\"x\"]}\n}\n"),
        (Agent::OPENCLAW, "home/.openclaw/openclaw.json", "{\"gateway\": {\"mode\": \"local\"}}"),
        (
            Agent::CURSOR,
            "home/.cursor/hooks.json",
            "{ \"version\": 1,\n \"hooks\": { \"stop\": [ {\"command\": \"x\"} ] } }\n",
        ),
    ] {
        let mut m = machine(Scope::User);
        m.setting.trust = true;
        m.put(path, before);
        m.install(agent);
        m.uninstall(agent);
        assert_eq!(m.text(path), before, "{agent}");
    }
}

#[test]
fn later_changes_of_others_survive_the_removal() {
    let mut m = machine(Scope::User);
    m.setting.trust = true;
    m.put("home/.codex/config.toml", "# mine\nmodel = \"a\"\n");
    m.install(Agent::CODEX);
    let config = m.text("home/.codex/config.toml").replace("model = \"a\"", "model = \"b\"");
    m.put("home/.codex/config.toml", &format!("{config}\n[tui]\ntheme = \"x\"\n"));
    m.uninstall(Agent::CODEX);
    let left = m.text("home/.codex/config.toml");
    assert!(left.starts_with("# mine\nmodel = \"b\"\n") && left.contains("[tui]\ntheme = \"x\""), "{left}");
    assert!(!left.contains("trusted_hash") && !left.contains("hooks"), "{left}");

    let m = machine(Scope::User);
    m.put("home/.gemini/settings.json", "{\n  // mine\n  \"a\": 1\n}\n");
    m.install(Agent::GEMINI);
    let changed = m.text("home/.gemini/settings.json").replace("\"a\": 1", "\"a\": 2");
    m.put("home/.gemini/settings.json", &changed);
    m.uninstall(Agent::GEMINI);
    assert_eq!(m.text("home/.gemini/settings.json"), "{\n  // mine\n  \"a\": 2\n}\n");
}

#[test]
fn time_outs_are_in_the_unit_of_the_agent() {
    for (agent, path, pointer, wanted) in [
        (Agent::CLAUDE_CODE, "home/.claude/settings.json", "/hooks/PreToolUse/0/hooks/0/timeout", 600),
        (Agent::CODEX, "home/.codex/hooks.json", "/hooks/PreToolUse/0/hooks/0/timeout", 600),
        (Agent::GEMINI, "home/.gemini/settings.json", "/hooks/BeforeTool/0/hooks/0/timeout", 600_000),
        (Agent::GEMINI, "home/.gemini/settings.json", "/hooks/AfterTool/0/hooks/0/timeout", 30_000),
        (Agent::COPILOT, "home/.copilot/hooks/sayso.json", "/hooks/preToolUse/0/timeoutSec", 600),
        (Agent::CURSOR, "home/.cursor/hooks.json", "/hooks/preToolUse/0/timeout", 600),
    ] {
        let m = machine(Scope::User);
        m.install(agent);
        assert_eq!(m.json(path).pointer(pointer), Some(&Value::from(wanted)), "{agent}");
    }
}

/// The line that agents run in a shell, run in a shell, with what may become of Sayso in the place of Sayso.
#[test]
fn every_failure_of_the_program_is_a_block_with_a_reason() {
    for shell in ["sh", "bash"] {
        for (script, code, reason) in [
            (Some("exit 0"), 0, ""),
            (Some("cat >/dev/null; echo '{}'"), 0, ""),
            (Some("echo no >&2; exit 2"), 2, "no\n"),
            (Some("exit 1"), 2, "Sayso did not answer"),
            (Some("exit 77"), 2, "Sayso did not answer"),
            (Some("kill -9 $$"), 2, "Sayso did not answer"),
            (Some("sleep 60"), 2, "Sayso did not answer"),
            (None, 2, "Sayso did not answer"),
        ] {
            let m = machine(Scope::User);
            match script {
                Some(script) => std::fs::write(&m.setting.program, format!("#!/bin/sh\n{script}\n")).unwrap(),
                None => std::fs::remove_file(&m.setting.program).unwrap(),
            }
            m.install(Agent::CODEX);
            let hooks = m.json("home/.codex/hooks.json");
            let line = hooks.pointer("/hooks/PreToolUse/0/hooks/0/command").unwrap().as_str().unwrap();
            let line = line.replace(" KILL 595 ", " KILL 1 ");
            let done = std::process::Command::new(shell)
                .arg("-c")
                .arg(&line)
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(code), "{shell} {script:?}: {said}");
            assert!(said.contains(reason) && (code == 0 || !said.is_empty()), "{shell} {script:?}: {said}");
            // Sayso's own reason stands alone.
            assert!(!reason.starts_with("no") || said == reason, "{said}");
        }
    }
}

#[test]
fn paths_with_odd_characters_survive_the_shell() {
    let mut m = machine(Scope::User);
    let odd = m.at("it's a \"bin\" $HOME `x`; é");
    std::fs::create_dir_all(&odd).unwrap();
    let program = odd.join("sayso");
    std::fs::rename(&m.setting.program, &program).unwrap();
    std::fs::write(&program, "#!/bin/sh\necho \"$@\"\n").unwrap();
    m.setting.program = program;
    m.install(Agent::GEMINI);
    let settings = m.json("home/.gemini/settings.json");
    let line = settings.pointer("/hooks/BeforeTool/0/hooks/0/command").unwrap().as_str().unwrap().to_owned();
    let done = std::process::Command::new("sh").arg("-c").arg(&line).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.starts_with("hook gemini --home "), "{said}");
    assert!(m.look(Agent::GEMINI)[0].findings.is_empty(), "{:?}", m.look(Agent::GEMINI));

    m.setting.program = m.at("new\nline/sayso");
    assert!(matches!(plan_install(Agent::GEMINI, &m.setting), Err(Error::CannotInstall { .. })));
}

#[test]
fn trust_is_recorded_only_on_a_clear_yes() {
    let m = machine(Scope::User);
    let plan = plan_install(Agent::CODEX, &m.setting).unwrap();
    assert!(plan.notices.iter().any(|notice| notice.contains("--trust")), "{:?}", plan.notices);
    m.install(Agent::CODEX);
    assert!(!m.at("home/.codex/config.toml").exists());
    let look = m.look(Agent::CODEX);
    assert_eq!(codes(&look), ["not-trusted"]);
    assert!(!look[0].in_force);
}

/// The hash that the real Codex 0.166.0 accepted for this hook.
#[test]
fn trust_is_the_hash_that_codex_makes() {
    let mut m = machine(Scope::User);
    m.setting.trust = true;
    m.install(Agent::CODEX);
    let config = m.text("home/.codex/config.toml");
    let key = format!("[hooks.state.\"{}:pre_tool_use:0:0\"]", m.at("home/.codex/hooks.json").display());
    assert!(config.contains(&key), "{config}");
    // As anybody can compute it.
    let hooks = m.json("home/.codex/hooks.json");
    let command = hooks.pointer("/hooks/PreToolUse/0/hooks/0/command").unwrap();
    let text = format!(
        r#"{{"event_name":"pre_tool_use","hooks":[{{"async":false,"command":{command},"timeout":600,"type":"command"}}],"matcher":"*"}}"#
    );
    let sum = std::process::Command::new("sh")
        .args(["-c", "printf %s \"$1\" | sha256sum | cut -d' ' -f1", "sh", &text])
        .output()
        .unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert!(config.contains(&format!("trusted_hash = \"sha256:{}\"", sum.trim())), "{config}");
}

/// Seen with the real Codex: behind a link the hook was trusted under a name that Codex did not look for.
#[test]
fn trust_holds_under_both_names_of_a_folder_behind_a_link() {
    let mut m = machine(Scope::User);
    m.setting.trust = true;
    std::fs::create_dir_all(m.at("dotfiles/codex")).unwrap();
    let link = m.at("home/.codex");
    std::os::unix::fs::symlink(m.at("dotfiles/codex"), &link).unwrap();
    m.install(Agent::CODEX);
    let config = m.text("dotfiles/codex/config.toml");
    for folder in [link, m.at("dotfiles/codex")] {
        let key = format!("[hooks.state.\"{}:pre_tool_use:0:0\"]", folder.join("hooks.json").display());
        assert!(config.contains(&key), "{config}");
    }
    let forgotten =
        config.replace(&format!("{}/home/.codex/hooks.json:pre", m.setting.root.display()), "/elsewhere:pre");
    m.put("dotfiles/codex/config.toml", &forgotten);
    assert_eq!(codes(&m.look(Agent::CODEX)), ["not-trusted"]);
    m.put("dotfiles/codex/config.toml", &config);
    m.uninstall(Agent::CODEX);
    assert!(!m.at("dotfiles/codex/config.toml").exists());

    // The home folder is a link, and the agent was never started.
    let mut m = machine(Scope::User);
    m.setting.trust = true;
    std::os::unix::fs::symlink(m.at("home"), m.at("link")).unwrap();
    m.setting.agent_folder = Some(m.at("link/.codex"));
    m.install(Agent::CODEX);
    assert!(m.look(Agent::CODEX)[0].in_force, "{:?}", m.look(Agent::CODEX));
}

#[test]
fn a_hook_that_changed_after_it_was_trusted_is_noticed() {
    let mut m = machine(Scope::User);
    m.setting.trust = true;
    m.install(Agent::CODEX);
    assert!(m.look(Agent::CODEX)[0].in_force);
    let changed = m.text("home/.codex/hooks.json").replacen("\"timeout\": 600", "\"timeout\": 1", 1);
    m.put("home/.codex/hooks.json", &changed);
    let look = m.look(Agent::CODEX);
    assert_eq!(codes(&look), ["registration-differs", "trust-outdated"]);
    assert!(!look[0].in_force);
}

#[test]
fn what_switches_the_guard_off_is_found() {
    for (agent, file, text) in [
        (Agent::CLAUDE_CODE, "project/.claude/settings.local.json", "{\"disableAllHooks\": true}"),
        (Agent::CLAUDE_CODE, "etc/claude-code/managed-settings.json", "{\"allowManagedHooksOnly\": true}"),
        (Agent::GEMINI, "project/.gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}} // off"),
        (Agent::COPILOT, "home/.copilot/config.json", "{\"disableAllHooks\": true}"),
        (Agent::OPENCODE, "home/.config/opencode/opencode.json", "{\"plugins\": [\"x\", \"-sayso\"]}"),
        (Agent::OPENCODE, "project/opencode.json", "{\"plugin\": [\"-*\"]}"),
        (Agent::OPENCODE, "project/.opencode/opencode.json", "{\"plugins\": [\"-say*\"]}"),
    ] {
        let m = machine(Scope::User);
        m.install(agent);
        assert!(m.look(agent)[0].in_force);
        m.put(file, text);
        let look = m.look(agent);
        assert_eq!(codes(&look), ["switched-off"], "{agent}");
        assert!(!look[0].in_force, "{agent}");
    }
}

#[test]
fn a_machine_that_guards_gemini_leaves_no_switch_to_its_users() {
    let m = machine(Scope::Managed);
    m.put("etc/gemini-cli/settings.json", "{\"hooksConfig\": {\"notifications\": false}}");
    m.install(Agent::GEMINI);
    let settings = m.json("etc/gemini-cli/settings.json");
    assert_eq!(settings["hooksConfig"], serde_json::json!({"notifications": false, "enabled": true}));
    m.put("home/.gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}");
    assert!(m.look(Agent::GEMINI)[0].in_force);
    m.uninstall(Agent::GEMINI);
    assert_eq!(m.text("etc/gemini-cli/settings.json"), "{\"hooksConfig\": {\"notifications\": false}}");

    let m = machine(Scope::Managed);
    m.put("etc/gemini-cli/settings.json", "{\"hooksConfig\": {\"enabled\": false}}");
    assert!(matches!(plan_install(Agent::GEMINI, &m.setting), Err(Error::Settings { .. })));
}

#[test]
fn a_program_that_is_gone_or_cannot_run_is_found() {
    for agent in [Agent::CLAUDE_CODE, Agent::CODEX, Agent::OPENCODE, Agent::OPENCLAW] {
        let mut m = machine(Scope::User);
        m.setting.trust = true;
        m.install(agent);
        std::fs::set_permissions(&m.setting.program, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(codes(&m.look(agent)), ["program-missing"], "{agent}");
        std::fs::remove_file(&m.setting.program).unwrap();
        assert_eq!(codes(&m.look(agent)), ["program-missing"], "{agent}");
    }
}

#[test]
fn a_plugin_of_somebody_else_is_left_alone() {
    let m = machine(Scope::User);
    m.put("home/.config/opencode/plugins/sayso.js", "export const Mine = 1\n");
    assert!(matches!(plan_install(Agent::OPENCODE, &m.setting), Err(Error::Settings { .. })));
    m.uninstall(Agent::OPENCODE);
    assert_eq!(m.text("home/.config/opencode/plugins/sayso.js"), "export const Mine = 1\n");
}

#[test]
fn settings_in_a_hostile_state_are_refused_and_nothing_is_lost() {
    for (agent, path, text) in [
        (Agent::CODEX, "home/.codex/hooks.json", "{ // no comments here\n}"),
        (Agent::CODEX, "home/.codex/hooks.json", "{\"hooks\": 7}"),
        (Agent::CODEX, "home/.codex/config.toml", "hooks = 3\n"),
        (Agent::CODEX, "home/.codex/config.toml", "[hooks]\nstate = \"x\"\n"),
        (Agent::CODEX, "home/.codex/config.toml", "model = \n"),
        (Agent::GEMINI, "home/.gemini/settings.json", "{\"hooks\": {\"BeforeTool\": \"x\"}}"),
        (Agent::GEMINI, "home/.gemini/settings.json", "{\"a\": 1,}"),
        (Agent::GEMINI, "home/.gemini/settings.json", "\u{feff}{}"),
        (Agent::CURSOR, "home/.cursor/hooks.json", "[1]"),
        (Agent::COPILOT, "home/.copilot/hooks/sayso.json", "null"),
    ] {
        let mut m = machine(Scope::User);
        m.setting.trust = true;
        m.put(path, text);
        let before = m.files();
        assert!(matches!(plan_install(agent, &m.setting), Err(Error::Settings { .. })), "{agent}: {text}");
        assert_eq!(m.files(), before);
    }
}

#[test]
fn links_pipes_and_folders_in_the_place_of_settings_are_named() {
    let m = machine(Scope::User);
    std::fs::create_dir_all(m.at("home/.gemini/settings.json")).unwrap();
    let said = plan_install(Agent::GEMINI, &m.setting).unwrap_err().to_string();
    assert!(said.contains("not a file"), "{said}");

    let m = machine(Scope::User);
    std::fs::create_dir_all(m.at("home/.gemini")).unwrap();
    std::os::unix::fs::symlink("/nonexistent/settings.json", m.at("home/.gemini/settings.json")).unwrap();
    let said = plan_install(Agent::GEMINI, &m.setting).unwrap_err().to_string();
    assert!(said.contains("it is a broken link"), "{said}");
    assert!(m.at("home/.gemini/settings.json").is_symlink());

    let m = machine(Scope::User);
    std::fs::create_dir_all(m.at("home/.gemini")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(m.at("home/.gemini/settings.json")).status().unwrap();
    assert!(made.success());
    let said = plan_install(Agent::GEMINI, &m.setting).unwrap_err().to_string();
    assert!(said.contains("not a file"), "{said}");
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_others_as_they_were() {
    let mut m = machine(Scope::User);
    m.setting.trust = true;
    m.put("home/.codex/hooks.json", "{}");
    // The second file's folder is a file: whoever runs this, root too, cannot write there.
    m.put("elsewhere/config.toml", "model = \"a\"\n");
    std::os::unix::fs::symlink(m.at("elsewhere/config.toml"), m.at("home/.codex/config.toml")).unwrap();
    let plan = plan_install(Agent::CODEX, &m.setting).unwrap();
    assert_eq!(plan.files.len(), 2);
    let temporary = m.at(&format!("elsewhere/config.toml.{}.sayso-new", std::process::id()));
    std::fs::create_dir(&temporary).unwrap();
    assert!(matches!(plan.apply(), Err(Error::Io { .. })));
    assert_eq!(m.text("home/.codex/hooks.json"), "{}");
    assert_eq!(m.text("elsewhere/config.toml"), "model = \"a\"\n");
}

#[test]
fn openclaw_is_told_to_load_the_plugin() {
    let m = machine(Scope::User);
    m.put("home/.openclaw/openclaw.json", "{\"plugins\": {\"allow\": [\"x\"]}, \"gateway\": {}}");
    m.install(Agent::OPENCLAW);
    let list = m.json("home/.openclaw/openclaw.json");
    assert_eq!(list["plugins"], serde_json::json!({"allow": ["x", "sayso"], "entries": {"sayso": {"enabled": true}}}));
    assert!(m.look(Agent::OPENCLAW)[0].in_force);
    for off in [
        "{}",
        "{\"plugins\": {\"enabled\": false, \"entries\": {\"sayso\": {\"enabled\": true}}}}",
        "{\"plugins\": {\"deny\": [\"sayso\"], \"entries\": {\"sayso\": {\"enabled\": true}}}}",
        "{\"plugins\": {\"allow\": [], \"entries\": {\"sayso\": {\"enabled\": true}}}}",
        "{\"plugins\": {\"entries\": {\"sayso\": {\"enabled\": false}}}}",
        "{plugins: {}}",
    ] {
        m.put("home/.openclaw/openclaw.json", off);
        assert!(!m.look(Agent::OPENCLAW)[0].in_force, "{off}");
    }
    assert!(matches!(plan_install(Agent::OPENCLAW, &m.setting), Err(Error::Settings { .. })));
    assert_eq!(m.text("home/.openclaw/openclaw.json"), "{plugins: {}}");
}

/// The pages name what is really registered, and where.
#[test]
fn each_page_names_every_event_and_every_place() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents");
    for (agent, scope, path) in PLACES {
        let page = std::fs::read_to_string(docs.join(format!("{agent}.md"))).unwrap();
        let shown = path.replacen("home/", "~/", 1).replacen("project/", "", 1).replacen("etc/", "/etc/", 1);
        let shown = shown.strip_suffix("/index.js").unwrap_or(&shown);
        assert!(page.contains(shown), "{agent}: {shown}");
        let mut m = machine(*scope);
        m.setting.trust = true;
        m.install(*agent);
        let text = m.text(path);
        let events: Vec<String> = match (serde_json::from_str::<Value>(&text), agent.name()) {
            (Ok(settings), _) => settings["hooks"].as_object().unwrap().keys().cloned().collect(),
            (Err(_), "opencode") => vec!["tool.execute.before".to_owned(), "tool.execute.after".to_owned()],
            (Err(_), "openclaw") => vec!["before_tool_call".to_owned(), "after_tool_call".to_owned()],
            (Err(_), _) => Vec::new(),
        };
        for event in events {
            assert!(page.contains(&format!("`{event}`")) && text.contains(&event), "{agent}: {event}");
        }
    }
}
