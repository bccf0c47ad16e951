//! What is Sayso's is protected under every name that leads to it: people keep such folders and files behind links.
#![allow(clippy::unwrap_used, clippy::panic, clippy::allow_attributes, reason = "a failed unwrap is a failed test")]

use sayso_gate::policy::{InForce, Live};
use sayso_gate::{Asking, Circumstances, Expected, Gate, Places, Unrecorded};
use sayso_policy::{ToolCall, Verdict, Workspace};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Machine {
    _dir: tempfile::TempDir,
    home: PathBuf,
    places: Places,
}

impl Machine {
    /// Everything is allowed that nothing built in forbids.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let home = base.join("home");
        for folder in [".config/sayso", ".local/state/sayso", ".claude", "proj", "elsewhere"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        std::fs::write(home.join(".config/sayso/policy.toml"), "default = \"allow\"\n").unwrap();
        std::fs::write(home.join(".claude/settings.json"), "{}").unwrap();
        let places = Places::below(&home, &base);
        Self { _dir: dir, home, places }
    }

    /// Moves a file or folder of the home folder, and leaves a link to it.
    fn linked(self, name: &str, to: &str) -> Self {
        let real = self.home.join(to);
        std::fs::create_dir_all(real.parent().unwrap()).unwrap();
        std::fs::rename(self.home.join(name), &real).unwrap();
        symlink(&real, self.home.join(name)).unwrap();
        self
    }

    fn gate(&self) -> Gate {
        let project = self.home.join("proj");
        Gate::new(InForce::load_compiled(&self.places, Some(&project)).unwrap(), Box::new(Unrecorded))
    }

    fn call(&self, mut call: ToolCall) -> ToolCall {
        let project = self.home.join("proj");
        call.workspace = Workspace::new(&project, Some(&self.home));
        call.cwd = Some(project);
        call.home = Some(self.home.clone());
        call
    }

    fn judged(&self, gate: &Gate, call: ToolCall) -> (Verdict, Vec<String>) {
        let circumstances = Circumstances {
            way_in: "test".into(),
            peer: None,
            event: None,
            call_id: None,
            asking: Asking::OwnPrompt,
            expected: Expected::default(),
        };
        let decision = gate.judge(self.call(call), &circumstances).decision;
        (decision.verdict, decision.reasons.iter().map(|reason| reason.code.to_string()).collect())
    }

    fn denied(&self, commands: &[&str]) {
        self.refused(commands, Verdict::Deny);
    }

    fn refused(&self, commands: &[&str], wanted: Verdict) {
        let gate = self.gate();
        for command in commands {
            let (verdict, codes) = self.judged(&gate, ToolCall::command(command.as_bytes()));
            assert_eq!(verdict, wanted, "{command}: {codes:?}");
            assert!(codes.iter().any(|code| code == "sayso-itself"), "{command}: {codes:?}");
        }
    }

    fn allowed(&self, commands: &[&str]) {
        let gate = self.gate();
        for command in commands {
            let (verdict, codes) = self.judged(&gate, ToolCall::command(command.as_bytes()));
            assert_eq!(verdict, Verdict::Allow, "{command}: {codes:?}");
        }
    }

    fn tool(&self, tool: &str, path: &str) -> Verdict {
        let arguments = json!({ "file_path": self.home.join(path), "content": "x" });
        self.judged(&self.gate(), ToolCall::tool(tool, arguments)).0
    }
}

#[test]
fn a_config_folder_behind_a_link() {
    let machine = Machine::new().linked(".config", "dot/config");
    machine.denied(&[
        "echo > ~/dot/config/sayso/policy.toml",
        "rm ~/dot/config/sayso/policy.toml",
        "cat ~/dot/config/sayso/policy.toml",
        "rm ~/.config/sayso/policy.toml",
        "rm ~/.config",
        "unlink ~/.config",
        "mv ~/.config ~/.c",
        "ln -sfT /tmp/x ~/.config",
        "mv ~/dot/config ~/dot/c2",
        "mv ~/dot ~/d2",
        "rm -rf ~/dot",
        "cd ~/dot && rm -r config",
    ]);
    // Such a link may be put into the folder or in its place: not certain enough for a Deny.
    machine.refused(&["ln -sfn /tmp/x ~/.config"], Verdict::Ask);
    machine.allowed(&[
        "ls ~/.config",
        "cat ~/.config/git/config",
        "echo x > ~/.config/other",
        "echo x > ~/dot/config/other",
        "rm ~/dot/config/other",
        "mkdir -p ~/.config/other/deep",
        "rm -rf ~/dot/other",
        "rm -rf ~/elsewhere",
    ]);
}

#[test]
fn a_policy_file_behind_a_link() {
    let machine = Machine::new().linked(".config/sayso/policy.toml", "dotfiles/sayso.toml");
    machine.denied(&[
        "rm ~/dotfiles/sayso.toml",
        "sed -i s/a/b/ ~/dotfiles/sayso.toml",
        "echo x > ~/dotfiles/sayso.toml",
        "cp x ~/dotfiles/sayso.toml",
        "mv ~/dotfiles/sayso.toml /tmp/x",
        "mv ~/dotfiles ~/d2",
        "rm -rf ~/dotfiles",
        "rm ~/.config/sayso/policy.toml",
    ]);
    assert_eq!(machine.tool("Write", "dotfiles/sayso.toml"), Verdict::Deny);
    assert_eq!(machine.tool("Write", "dotfiles/bashrc"), Verdict::Allow);
    machine.allowed(&["echo x > ~/dotfiles/bashrc", "ls ~/dotfiles"]);
    // A link that leads nowhere: whoever makes what it names writes the policy.
    std::fs::remove_file(machine.home.join("dotfiles/sayso.toml")).unwrap();
    assert_eq!(machine.tool("Write", "dotfiles/sayso.toml"), Verdict::Deny);
}

#[test]
fn a_state_folder_behind_a_link() {
    let machine = Machine::new().linked(".local/state", "big/state");
    machine.denied(&[
        "echo x > ~/big/state/sayso/mode.json",
        "cp x ~/big/state/sayso/sayso.db",
        "cat ~/big/state/sayso/audit.key",
        "rm -rf ~/big/state",
        "mv ~/big ~/b",
        "rm ~/.local/state",
    ]);
    machine.allowed(&["echo x > ~/big/state/other/x", "cat ~/big/state/other/x"]);
}

#[test]
fn an_agents_settings_behind_links() {
    let machine = Machine::new().linked(".claude", "dot/claude");
    machine.denied(&[
        "echo {} > ~/dot/claude/settings.json",
        "echo {} > ~/dot/claude/settings.local.json",
        "rm ~/dot/claude/settings.json",
        "rm -rf ~/dot/claude",
        "mv ~/dot ~/d2",
        "rm ~/.claude",
    ]);
    machine.refused(&["ln -sfn /tmp/x ~/.claude"], Verdict::Ask);
    machine.allowed(&["cat ~/dot/claude/settings.json", "echo x > ~/dot/claude/notes.md", "ls ~/.claude"]);

    let machine = Machine::new().linked(".claude/settings.json", "dotfiles/claude.json");
    machine.denied(&[
        "echo {} > ~/dotfiles/claude.json",
        "rm ~/dotfiles/claude.json",
        "mv ~/dotfiles ~/d2",
        "rm ~/.claude/settings.json",
    ]);
    machine.allowed(&["cat ~/dotfiles/claude.json", "echo x > ~/dotfiles/other"]);
}

#[test]
fn links_upon_links() {
    let machine = Machine::new().linked(".config/sayso", "first/sayso").linked("first", "second/first");
    machine.denied(&[
        "echo > ~/second/first/sayso/policy.toml",
        "echo > ~/first/sayso/policy.toml",
        "rm ~/first",
        "mv ~/second ~/third",
        "rm ~/.config/sayso",
    ]);
    machine.allowed(&["echo > ~/second/first/other"]);
}

/// A server lives on while its owner moves things.
#[test]
fn a_link_made_later_counts() {
    let machine = Machine::new();
    let project: &Path = &machine.home.join("proj");
    let live = Live::follow(&machine.places, Some(project)).unwrap();
    let before = live.current_now();
    assert!(Arc::ptr_eq(&before, &live.current_now()), "nothing changed");
    let machine = machine.linked(".claude", "dot/claude");
    let after = live.current_now();
    assert!(!Arc::ptr_eq(&before, &after));
    let gate = Gate::over(live, Box::new(Unrecorded));
    let call = ToolCall::command(b"echo {} > ~/dot/claude/settings.json");
    assert_eq!(machine.judged(&gate, call).0, Verdict::Deny);
}

/// What a link led to was moved or removed: that is no word of the owner's that there should be no policy.
#[test]
fn a_policy_gone_from_behind_a_link_stays_in_force() {
    let strict = "default = \"allow\"\n[deny]\nrun = [\"git push\"]\n";
    for (name, to, gone) in
        [(".config/sayso/policy.toml", "dotfiles/sayso.toml", "dotfiles/sayso.toml"), (".config", "dot/config", "dot")]
    {
        let machine = Machine::new();
        std::fs::write(&machine.places.user, strict).unwrap();
        let machine = machine.linked(name, to);
        let push = || machine.judged(&machine.gate(), ToolCall::command(b"git push")).0;
        assert_eq!(push(), Verdict::Deny);
        std::fs::rename(machine.home.join(gone), machine.home.join("away")).unwrap();
        assert_eq!(push(), Verdict::Deny, "{name}");
        let in_force = InForce::load(&machine.places, None).unwrap();
        let [notice] = in_force.notices.as_slice() else { panic!("{:?}", in_force.notices) };
        assert_eq!(notice.reason.code, "last-good-policy");
        assert!(notice.reason.text.contains("leads nowhere"), "{}", notice.reason.text);
        // Without a copy, nothing runs unasked.
        std::fs::remove_dir_all(machine.places.state.join("last-good")).unwrap();
        let in_force = InForce::load(&machine.places, None).unwrap();
        assert_eq!(
            in_force.floor.map(|(verdict, reason)| (verdict, reason.code.to_string())),
            Some((Verdict::Ask, "policy-refused".to_owned()))
        );
        // The owner removes the link: there is no policy, as before there was one.
        std::fs::remove_file(machine.home.join(name)).unwrap();
        let in_force = InForce::load(&machine.places, None).unwrap();
        assert!(in_force.notices.is_empty() && in_force.floor.is_none(), "{:?}", in_force.notices);
    }
}
