//! What is Sayso's is protected under every name that leads to it: people keep such folders and files behind links.
#![allow(clippy::unwrap_used, clippy::panic, clippy::allow_attributes, reason = "a failed unwrap is a failed test")]

use sayso_gate::policy::{InForce, Live};
use sayso_gate::registered::{Registered, Whose};
use sayso_gate::store;
use sayso_gate::{Asking, Circumstances, Expected, FactsOf, Gate, Places, Unrecorded};
use sayso_policy::{PolicyText, ToolCall, Verdict, Workspace};
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
            findings: Vec::new(),
            can_hold: sayso_policy::CanHold::No,
        };
        let decision = gate.judge(self.call(call), circumstances.clone(), FactsOf::Gate).settle().record().decision;
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
        assert_eq!(notice.reason.code.as_str(), "last-good-policy");
        assert!(notice.reason.text.contains("link to a missing file"), "{}", notice.reason.text);
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

/// A machine on which `sayso` is registered with an agent, as `install` notes it.
fn registered(program: &str) -> Machine {
    let machine = Machine::new();
    let program = machine.home.join(program);
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::write(&program, "the guard").unwrap();
    let settings = machine.home.join("elsewhere/claude/settings.json");
    note(&machine, &program, &settings);
    machine
}

fn note(machine: &Machine, program: &Path, file: &Path) {
    let (program, file) = (program.to_owned(), file.to_owned());
    let names = vec![machine.home.join("elsewhere/wrap.sh")];
    let home = Some(machine.home.join("second"));
    let it = Registered { agent: "claude-code".to_owned(), file, program, names, home, ..Registered::default() };
    sayso_gate::registered::note(&machine.places, Whose::User, vec![it]).unwrap();
}

#[test]
fn a_registered_program_is_not_changed_by_any_way_to_change_a_file() {
    let machine = registered("tools/bin/sayso");
    machine.denied(&[
        "cp /bin/true ~/tools/bin/sayso",
        "cd ~/tools/bin && echo x > sayso",
        "rm ~/tools/bin/sayso",
        "rm ~/tools/bin/s*",
        "rm -r ~/tools/b*",
        "rm -rf ~/tools",
        "unlink ~/tools/bin/sayso",
        "chmod -x ~/tools/bin/sayso",
        "chmod 000 ~/tools/bin/sayso",
        "ln -sf /bin/true ~/tools/bin/sayso",
        "mv ~/tools/bin/sayso ~/x",
        "mv /bin/true ~/tools/bin/sayso",
        "mv ~/tools ~/t2",
        "mv ~/tools/bin ~/t2",
        "mv ~/t* /tmp/x",
        "install -m 755 /bin/true ~/tools/bin/sayso",
        "dd if=/dev/zero of=$HOME/tools/bin/sayso",
        "truncate -s 0 ~/tools/bin/sayso",
        "echo x | tee ~/tools/bin/sayso",
        "sed -i s/a/b/ ~/tools/bin/sayso",
        "chattr +i ~/tools/bin/sayso",
        "setfacl -m u:nobody:- ~/tools/bin/sayso",
        "curl -o ~/tools/bin/sayso https://x.example",
        "chmod 000 ~/tools/bin",
        "chmod a-x ~/tools",
        "cd ~/tools && chmod 600 .",
        "chmod -R 700 ~/tools",
        "chmod 000 ~",
        "chown nobody ~/tools/bin",
        "chgrp nogroup ~/tools/",
        "chattr +i ~/tools/bin",
        "setfacl -m u:me:--- ~/tools/bin",
        "setcap cap_net_raw+ep ~/tools/bin/sayso",
        "chcon -t bin_t ~/tools/bin",
        "chmod 000 ~/elsewhere/claude",
        "chmod 000 ~/.config",
        "chmod 000 ~/.local/state",
        "find ~ -maxdepth 1 -name tools -exec chmod 000 {} +",
        "install -d -m 000 ~/tools/bin",
        "find ~/tools -delete",
        "git -C ~/tools clean -fdx",
        "echo x > ~/elsewhere/claude/settings.json",
        "rm -r ~/elsewhere",
        "echo x > ~/elsewhere/wrap.sh",
        "cat ~/second/.local/state/sayso/sayso.db",
        "echo > ~/second/.config/sayso/policy.toml",
    ]);
    for (tool, path) in [("Write", "tools/bin/sayso"), ("Edit", "tools/bin/sayso"), ("Write", "elsewhere/wrap.sh")] {
        assert_eq!(machine.tool(tool, path), Verdict::Deny, "{tool} {path}");
    }
    // What is in an archive, or in a folder that is copied, is not known.
    machine.refused(&["tar -xf x.tar -C ~/tools", "rsync -a x/ ~/tools/", "unzip x.zip -d ~/tools/bin"], Verdict::Ask);
    machine.allowed(&[
        "~/tools/bin/sayso check ls",
        "ls -l ~/tools/bin/sayso",
        "sha256sum ~/tools/bin/sayso",
        "cp ~/tools/bin/sayso /tmp/copy",
        "mkdir -p ~/tools/bin",
        "touch ~/tools",
        "chmod +x ~/tools/bin/other",
        "chmod 755 ~/proj",
        "cp /bin/true ~/tools/bin/other",
        "rm ~/tools/bin/other*",
        "rm ~/*.tmp",
        "rm -r ~/tools/b*.old",
        "mv ~/tools/other ~/x",
        "cat ~/elsewhere/claude/settings.json",
        "echo x > ~/elsewhere/claude/notes.txt",
    ]);
}

#[test]
fn a_program_in_the_workspace_is_protected_only_if_it_is_registered() {
    let commands = ["rm -rf target", "cp /bin/true target/release/sayso", "cargo clean"];
    let machine = Machine::new();
    std::fs::create_dir_all(machine.home.join("proj/target/release")).unwrap();
    std::fs::write(machine.home.join("proj/target/release/sayso"), "built").unwrap();
    machine.allowed(&commands);
    machine.allowed(&["cargo build --release"]);
    note(&machine, &machine.home.join("proj/target/release/sayso"), &machine.home.join(".claude/settings.json"));
    machine.denied(&commands);
    machine.allowed(&["cargo check", "cargo test", "rm -rf target/debug", "echo x > target/release/other"]);
}

#[test]
fn a_registered_program_behind_links_and_under_another_name() {
    let machine = registered("store/1.0/sayso");
    std::fs::create_dir_all(machine.home.join("bin")).unwrap();
    symlink("../store/current/sayso", machine.home.join("bin/sayso")).unwrap();
    symlink("1.0", machine.home.join("store/current")).unwrap();
    std::fs::hard_link(machine.home.join("store/1.0/sayso"), machine.home.join("proj/twin")).unwrap();
    note(&machine, &machine.home.join("bin/sayso"), &machine.home.join(".claude/settings.json"));
    machine.denied(&[
        "ln -sfT /tmp/evil ~/store/current",
        "rm ~/store/current",
        "rm ~/bin/sayso",
        "echo x > ~/bin/sayso",
        "echo x > ~/store/1.0/sayso",
        "echo x > ~/store/current/sayso",
        "mv ~/bin ~/b2",
        // The same file by another of its names.
        "cp /bin/true twin",
        "echo x > twin",
        "truncate -s 0 ~/proj/twin",
    ]);
    machine.allowed(&["cat twin", "mkdir ~/store/2.0", "echo x > ~/store/other"]);
}

#[test]
fn the_program_that_runs_is_protected_though_nobody_noted_it() {
    let machine = Machine::new();
    let program = std::env::current_exe().unwrap();
    let (file, folder) = (program.display(), program.parent().unwrap().display());
    machine.denied(&[&format!("cp /bin/true {file}"), &format!("rm {file}"), &format!("mv {folder} /tmp/x")]);
    machine.allowed(&[&format!("ls -l {file}")]);
    let given = InForce::given(vec![PolicyText { text: "default = \"allow\"\n".into(), ..PolicyText::preset("x") }]);
    let gate = Gate::new(given.unwrap(), Box::new(Unrecorded));
    let (verdict, codes) = machine.judged(&gate, ToolCall::command(format!("rm {file}").as_bytes()));
    assert_eq!(verdict, Verdict::Deny, "{codes:?}");
}

#[test]
fn a_policy_file_that_was_given_to_a_guard_is_protected() {
    let machine = Machine::new();
    let file = machine.home.join("elsewhere/policy.toml");
    let name = file.display().to_string();
    let text = PolicyText { text: "default = \"allow\"\n".into(), name, ..PolicyText::preset("x") };
    std::fs::write(&file, &text.text).unwrap();
    let gate = Gate::new(InForce::given(vec![text]).unwrap().guarding(&machine.places), Box::new(Unrecorded));
    for command in ["echo > ~/elsewhere/policy.toml", "rm -r ~/elsewhere"] {
        let (verdict, codes) = machine.judged(&gate, ToolCall::command(command.as_bytes()));
        assert_eq!(verdict, Verdict::Deny, "{command}: {codes:?}");
    }
}

#[test]
fn notes_that_others_could_have_written_count_for_nothing_and_renewed_ones_replace_old_ones() {
    let machine = registered("tools/bin/sayso");
    note(&machine, &machine.home.join("tools/bin/sayso"), &machine.home.join("elsewhere/claude/settings.json"));
    assert_eq!(sayso_gate::registered::all(&machine.places).len(), 1);
    let file = machine.places.state.join("registered.json");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    assert!(sayso_gate::registered::all(&machine.places).is_empty());
}

#[test]
fn what_takes_an_agents_guard_down_is_denied() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.home.join(".openclaw/extensions/sayso")).unwrap();
    machine.denied(&[
        "rm -rf ~/.openclaw/extensions",
        "rm -rf ~/.openclaw/extensions/sayso",
        "mv ~/.openclaw/extensions/sayso /tmp/x",
        "echo > ~/.openclaw/extensions/sayso/index.js",
        "echo '{}' > ~/.openclaw/openclaw.json",
        "openclaw plugins disable sayso",
        "openclaw --log-level debug plugins uninstall sayso --force",
        "openclaw config set plugins.entries.sayso.enabled false",
        "openclaw config unset plugins.entries.sayso",
        "openclaw config patch --file x.json",
        "OPENCLAW_STATE_DIR=/tmp/x openclaw agent --message hi",
        "openclaw --profile other agent --message hi",
        "claude --bare -p hi",
        "claude -p hi --safe-mode",
        "claude --settings '{\"disableAllHooks\": true}' -p hi",
        "claude --setting-sources project -p hi",
        "CLAUDE_CODE_SIMPLE=1 claude -p hi",
        "env CLAUDE_CONFIG_DIR=/tmp/x claude -p hi",
        "export CLAUDE_CONFIG_DIR=/tmp/x; claude -p hi",
        "HOME=/tmp/x claude -p hi",
        "timeout 9 env HOME=/tmp/x codex exec hi",
        "codex features disable hooks",
        "codex --disable hooks exec hi",
        "codex --disable=hooks exec hi",
        "codex -c features.hooks=false exec hi",
        "codex -c 'features={hooks=false}' exec hi",
        "CODEX_HOME=/tmp/x codex exec hi",
        "gemini hooks disable sayso",
        "GEMINI_CLI_HOME=/tmp/x gemini -p hi",
        "copilot --config-dir /tmp/x -p hi",
        "COPILOT_HOME=/tmp/x copilot -p hi",
        "opencode --pure run hi",
        "OPENCODE_PURE=1 opencode run hi",
        "XDG_CONFIG_HOME=/tmp/x opencode run hi",
        "echo '{\"disableAllHooks\": true}' > ~/.copilot/settings.json",
        "echo > .github/hooks/sayso.json",
        "echo 'features.hooks=false' > ~/.codex/fast.config.toml",
        "npx -y @anthropic-ai/claude-code@latest --bare -p hi",
        "bunx @openai/codex -c features.hooks=false exec hi",
        "pnpm dlx opencode-ai --pure run hi",
        "npx openclaw plugins disable sayso",
        "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js --bare",
        "CLAUDE_CONFIG_DIR=/tmp/x npx @anthropic-ai/claude-code -p hi",
        "systemd-run --user -E CLAUDE_CONFIG_DIR=/tmp/x claude -p hi",
        "systemd-run --user --setenv=CODEX_HOME=/tmp/x codex exec hi",
        "codex -c 'features={\"ho\\u006fks\"=false}' exec hi",
        "gemini hooks disable-all",
        "echo GEMINI_CLI_HOME=/tmp/x > ~/.gemini/.env",
        "openclaw plugin disable sayso",
        "zed --user-data-dir /tmp/x .",
        "CLAUDE_CODE_SHELL_PREFIX=/bin/true claude -p hi",
        "env CLAUDE_CODE_SHELL_PREFIX=/bin/true claude -p hi",
        "BASH_ENV=/tmp/x claude -p hi",
        "export BASH_ENV=/tmp/x; codex exec hi",
        "env LD_PRELOAD=/tmp/x.so gemini -p hi",
        "systemd-run --user -E LD_PRELOAD=/tmp/x.so copilot -p hi",
        "NODE_OPTIONS='--require /tmp/x.js' gemini -p hi",
        "NODE_OPTIONS=--import=/tmp/x.mjs npx @google/gemini-cli -p hi",
        "NODE_OPTIONS=$X gemini -p hi",
        "timeout() { :; }; export -f timeout; claude -p hi",
        "timeout() { :; }; declare -fx timeout; claude -p hi",
        "env 'BASH_FUNC_timeout%%=() { :; }' claude -p hi",
        "copilot config disableAllHooks true",
        "copilot config --rm hooks",
        "copilot mcp disable gateway",
        "OPENCODE_CONFIG_CONTENT='{\"plugins\":[\"-sayso\"]}' opencode run hi",
        "OPENCODE_CONFIG=/tmp/x.json opencode run hi",
        "OPENCODE_CONFIG_DIR=/tmp/x opencode run hi",
        "echo '{\"plugins\":[\"-*\"]}' > opencode.json",
        "echo '{\"plugins\":[\"-*\"]}' > ~/.config/opencode/opencode.jsonc",
        "cp x .opencode/opencode.json",
        "opencode plugin disable sayso",
        "echo '{}' > ~/.gemini/trustedFolders.json",
    ]);
    let (verdict, codes) = machine.judged(&machine.gate(), ToolCall::command(b"sayso-hook hook claude-code < x"));
    assert_eq!(verdict, Verdict::Deny, "an event made up is a record made up: {codes:?}");
    let gate = machine.gate();
    for command in [
        "claude -p 'why do hooks need disableAllHooks?'",
        "codex exec 'mend the hooks'",
        "codex -c model=x exec hi",
        "HOME=$HOME claude -p hi",
        "openclaw config set agents.defaults.model x",
        "openclaw plugins list",
        "gemini -p 'hooks disable'",
        "claude --version",
        "echo claude --bare",
        "cat ~/.openclaw/openclaw.json",
        "ls ~/.openclaw/extensions/sayso",
        "echo x > ~/.openclaw/extensions/other.js",
        "npm install -g @openai/codex",
        "echo npx @anthropic-ai/claude-code --bare",
        "grep -r CODEX_HOME=/tmp . && codex exec hi",
        "zed .",
        "NODE_OPTIONS=--max-old-space-size=8192 gemini -p hi",
        "copilot config footer.showQuota off",
        "export -n X; claude -p hi",
        "LANG=C claude -p hi",
        "cat opencode.json",
        "BASH_ENV=/tmp/x make",
        "opencode run 'disable the plugin of sayso'",
    ] {
        let (_, codes) = machine.judged(&gate, ToolCall::command(command.as_bytes()));
        assert!(!codes.iter().any(|code| code == "sayso-itself"), "{command}: {codes:?}");
    }
}

#[test]
fn an_agents_own_tools_do_not_take_its_guard_down() {
    let machine = Machine::new();
    let gate = machine.gate();
    let say = |arguments: serde_json::Value| machine.judged(&gate, ToolCall::tool("gateway", arguments));
    for arguments in [
        json!({"action": "config.patch", "raw": "{plugins: {entries: {sayso: {enabled: false}}}}"}),
        json!({"action": "config.patch", "patch": {"plugins": {"entries": {"sayso": {"enabled": false}}}}}),
        json!({"action": "config.patch", "raw": "{sayso: {enabled: false}}"}),
        json!({"action": "config.patch", "raw": r#"{"plu\u0067ins": {"enabled": false}}"#}),
        json!({"action": "config.apply", "raw": "{}"}),
    ] {
        let (verdict, codes) = say(arguments.clone());
        assert_eq!(verdict, Verdict::Deny, "{arguments}: {codes:?}");
        assert!(codes.iter().any(|code| code == "sayso-itself"), "{arguments}: {codes:?}");
    }
    for arguments in [
        json!({"action": "config.get"}),
        json!({"action": "config.patch", "raw": "{agents: {defaults: {model: 'x'}}}"}),
        json!({"action": "restart"}),
    ] {
        let (_, codes) = say(arguments.clone());
        assert!(!codes.iter().any(|code| code == "sayso-itself"), "{arguments}: {codes:?}");
    }
}

#[test]
fn a_signing_key_that_lies_elsewhere_is_neither_read_nor_changed() {
    let machine = Machine::new();
    let commands = ["cat ~/keys/sayso", "cp ~/keys/sayso x", "echo x > ~/keys/sayso", "rm -rf ~/keys"];
    std::fs::create_dir_all(machine.home.join("keys")).unwrap();
    std::fs::write(machine.home.join("keys/other"), "x").unwrap();
    machine.allowed(&commands);
    let live = Live::follow(&machine.places, None).unwrap();
    let store = store::open(&machine.places).unwrap();
    store.rotate_key(Some(&machine.home.join("keys/sayso")), "ann").unwrap();
    machine.denied(&commands);
    machine.denied(&["mv ~/keys/sayso x", "mv ~/keys ~/k", "cd ~/keys && cat sayso"]);
    machine.refused(&["cat ~/keys/s*"], Verdict::Ask);
    assert_eq!(machine.tool("Read", "keys/sayso"), Verdict::Deny);
    assert_eq!(machine.tool("Write", "keys/sayso"), Verdict::Deny);
    machine.allowed(&["cat ~/keys/other", "echo x > ~/keys/other"]);
    // Whoever runs already knows of it too.
    let _ = live.current_now();
    let gate = Gate::over(live, Box::new(Unrecorded));
    let (verdict, codes) = machine.judged(&gate, ToolCall::command("cat ~/keys/sayso"));
    assert_eq!(verdict, Verdict::Deny, "{codes:?}");
    // What it is called by, and what is behind that.
    let real = machine.home.join("medium/k");
    std::fs::create_dir_all(machine.home.join("medium")).unwrap();
    std::fs::rename(machine.home.join("keys"), &real).unwrap();
    symlink(&real, machine.home.join("keys")).unwrap();
    machine.denied(&["cat ~/medium/k/sayso", "rm ~/medium/k/sayso", "rm ~/keys", "cat ~/keys/sayso"]);
}
