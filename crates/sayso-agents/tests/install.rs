//! Registering Sayso with Claude Code, and taking it out again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_agents::install::{Plan, Scope, Setting, plan_install, plan_uninstall};
use sayso_agents::{Agent, Error};
use sayso_gate::Places;
use serde_json::{Value, json};
use std::path::PathBuf;

const CLAUDE: Agent = Agent::CLAUDE_CODE;

struct Machine {
    _dir: tempfile::TempDir,
    setting: Setting,
}

fn machine(scope: Scope) -> Machine {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(base.join("home")).unwrap();
    std::fs::create_dir_all(base.join("project")).unwrap();
    let setting = Setting {
        places: Places::below(&base.join("home"), &base),
        scope,
        project: base.join("project"),
        agent_folder: None,
        program: "/opt/bin/sayso".into(),
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
    fn path(&self) -> PathBuf {
        plan_install(CLAUDE, &self.setting).unwrap().files[0].path.clone()
    }

    fn put(&self, text: &str) {
        let path = self.setting.places.home.join(".claude/settings.json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn text(&self) -> Option<String> {
        std::fs::read_to_string(self.path()).ok()
    }

    fn install(&self) -> Plan {
        let plan = plan_install(CLAUDE, &self.setting).unwrap();
        plan.apply().unwrap();
        plan
    }

    fn uninstall(&self) -> Plan {
        let plan = plan_uninstall(CLAUDE, &self.setting).unwrap();
        plan.apply().unwrap();
        plan
    }
}

fn registered(text: &str) -> Vec<String> {
    let settings: Value = serde_json::from_str(text).unwrap();
    let hooks = settings["hooks"].as_object().cloned().unwrap_or_default();
    let ours = |groups: &Value| groups.to_string().contains("\"hook\",\"claude-code\"");
    hooks.iter().filter(|(_, groups)| ours(groups)).map(|(event, _)| event.clone()).collect()
}

/// Settings as people have them: compact, spaced, with tabs, with hooks of others, with odd escapes.
const SETTINGS: &[&str] = &[
    "{}",
    "{}\n",
    "",
    "{\"model\":\"opus\"}",
    "{\n  \"z\": 1,\n  \"a\": [1,2 , 3],\n  \"u\": \"\\u00e9\\/\"\n}\n",
    "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"x\" } ] }\n\t\t]\n\t}\n}",
    "{\"hooks\":{}}",
    "{\"hooks\": {\"PreToolUse\": [], \"Stop\": [{\"hooks\": []}]}, \"env\": {\"A\": \"b\"}}\r\n",
    "{\r\n    \"permissions\": {\r\n        \"allow\": [\"Bash(ls)\"]\r\n    }\r\n}\r\n",
];

#[test]
fn what_is_installed_is_taken_out_byte_for_byte() {
    for before in SETTINGS {
        let m = machine(Scope::User);
        m.put(before);
        let plan = m.install();
        assert!(plan.changes() && plan.diff().contains("+"), "{before}");
        let after = m.text().unwrap();
        assert_eq!(registered(&after).len(), 8, "{after}");
        m.uninstall();
        assert_eq!(m.text().as_deref(), Some(*before));
        assert_eq!(std::fs::read_dir(m.setting.places.state.join("install")).unwrap().count(), 0);
    }
}

#[test]
fn what_was_there_keeps_its_order_spacing_and_spelling() {
    let m = machine(Scope::User);
    m.put(SETTINGS[4]);
    m.install();
    let after = m.text().unwrap();
    let kept = "{\n  \"z\": 1,\n  \"a\": [1,2 , 3],\n  \"u\": \"\\u00e9\\/\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n";
    assert!(after.starts_with(kept), "{after}");
    assert!(after.ends_with("\n    ]\n  }\n}\n"), "{after}");
}

#[test]
fn hooks_of_others_stay() {
    let m = machine(Scope::User);
    m.put(SETTINGS[5]);
    m.install();
    let settings: Value = serde_json::from_str(&m.text().unwrap()).unwrap();
    let groups = settings["hooks"]["PreToolUse"].as_array().unwrap();
    assert_eq!(groups[0]["hooks"][0]["command"], "x");
    assert_eq!(
        groups[1],
        json!({"matcher": "*", "hooks": [{
            "type": "command", "command": "/opt/bin/sayso",
            "args": ["hook", "claude-code", "--home", m.setting.places.home.to_str().unwrap(), "--shell", "zsh", "--wait", "590"],
            "timeout": 600, "onFailure": "block"}]})
    );
}

#[test]
fn installing_twice_changes_nothing() {
    let m = machine(Scope::User);
    m.put(SETTINGS[5]);
    m.install();
    let once = m.text();
    assert!(!m.install().changes());
    assert_eq!(m.text(), once);
    m.uninstall();
    assert_eq!(m.text().as_deref(), Some(SETTINGS[5]));
    assert!(!m.uninstall().changes());
}

#[test]
fn a_moved_program_is_registered_anew_and_the_way_back_stays() {
    let mut m = machine(Scope::User);
    m.put(SETTINGS[3]);
    m.install();
    m.setting.program = "/usr/bin/sayso".into();
    m.install();
    let after = m.text().unwrap();
    assert!(after.contains("/usr/bin/sayso") && !after.contains("/opt/bin/sayso"), "{after}");
    assert_eq!(after.matches("claude-code").count(), 8);
    m.uninstall();
    assert_eq!(m.text().as_deref(), Some(SETTINGS[3]));
}

#[test]
fn later_changes_of_others_survive_the_removal() {
    let m = machine(Scope::User);
    m.put("{\n  \"a\": 1\n}\n");
    m.install();
    let changed = m.text().unwrap().replace("\"a\": 1", "\"a\": 2,\n  \"b\": 3");
    m.put(&changed);
    m.uninstall();
    assert_eq!(m.text().unwrap(), "{\n  \"a\": 2,\n  \"b\": 3\n}\n");
}

#[test]
fn a_handler_that_shares_a_group_is_taken_out_alone() {
    let m = machine(Scope::User);
    m.put(
        r#"{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "sayso hook claude-code"}, {"type": "command", "command": "lint"}]}]}}"#,
    );
    m.uninstall();
    let wanted = r#"{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "lint"}]}]}}"#;
    assert_eq!(m.text().unwrap(), wanted);
}

#[test]
fn a_file_that_was_not_there_is_gone_again_and_so_is_its_folder() {
    for scope in [Scope::User, Scope::Project, Scope::Managed] {
        let m = machine(scope);
        let plan = m.install();
        assert!(plan.diff().starts_with("--- /dev/null\n"));
        assert_eq!(registered(&m.text().unwrap()).len(), 8);
        m.uninstall();
        assert_eq!(m.text(), None);
        assert!(!plan.files[0].path.parent().unwrap().exists());
    }
}

#[test]
fn managed_settings_leave_the_home_folder_to_the_user_database() {
    let m = machine(Scope::Managed);
    m.install();
    assert!(m.path().ends_with("etc/claude-code/managed-settings.json") || cfg!(target_os = "macos"));
    assert!(m.text().unwrap().contains("\"~\""));
}

#[test]
fn what_cannot_be_edited_safely_is_refused_and_left_alone() {
    for (text, why) in [
        ("{ // mine\n}", "plain JSON"),
        ("{\"a\": 1,}", "plain JSON"),
        ("{} {}", "plain JSON"),
        ("[]", "not an object"),
        ("{\"hooks\": []}", "`hooks`"),
        ("{\"hooks\": {\"PreToolUse\": {}}}", "`hooks.PreToolUse`"),
        ("{\"hooks\": {}, \"hooks\": {}}", "two members"),
    ] {
        let m = machine(Scope::User);
        m.put(text);
        match plan_install(CLAUDE, &m.setting) {
            Err(Error::Settings { why: said, .. }) => assert!(said.contains(why), "{text}: {said}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_change_between_plan_and_execution_is_noticed() {
    let m = machine(Scope::User);
    m.put("{}");
    let plan = plan_install(CLAUDE, &m.setting).unwrap();
    m.put("{\"new\": 1}");
    assert!(matches!(plan.apply(), Err(Error::Changed(_))));
    assert_eq!(m.text().as_deref(), Some("{\"new\": 1}"));
}

#[test]
fn settings_behind_a_link_stay_behind_it() {
    let m = machine(Scope::User);
    let real = m.setting.root.join("dotfiles.json");
    std::fs::write(&real, "{}").unwrap();
    let link = m.setting.places.home.join(".claude/settings.json");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    m.install();
    assert!(link.is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("sayso"));
}

#[test]
fn hooks_that_are_switched_off_are_noticed() {
    let m = machine(Scope::User);
    m.put("{\"disableAllHooks\": true}");
    assert_eq!(plan_install(CLAUDE, &m.setting).unwrap().notices.len(), 1);
}
