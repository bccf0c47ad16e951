//! Paths are compared canonically, on a real file system: no link, `..`, missing tail or sibling prefix escapes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

use sayso_gate::RealFiles;
use sayso_policy::shell::NoEnvironment;
use sayso_policy::{Facts, Layer, Operation, Policy, PolicyText, State, ToolCall, Verdict, Workspace};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const POLICY: &str = r#"
default = "ask"
[allow]
run = ["cat", "cp", "ln", "cd", "ls", "grep", "mv", "echo"]
read = ["./**"]
write = ["./**", "!./locked/**"]
[deny]
read = ["./private/**", "/**/.env"]
write = ["./locked/**"]
"#;

struct World {
    _folder: tempfile::TempDir,
    project: PathBuf,
    outside: PathBuf,
    policy: Policy,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (project, outside) = (base.join("project"), base.join("outside"));
        for path in [&project, &outside, &base.join("project-evil")] {
            std::fs::create_dir(path).unwrap();
        }
        for name in ["private", "locked", "src", "clean"] {
            std::fs::create_dir(project.join(name)).unwrap();
        }
        for file in ["private/key", "src/main.rs", "locked/file", "src/.env", "clean/a.txt"] {
            std::fs::write(project.join(file), "x").unwrap();
        }
        std::fs::write(outside.join("file"), "x").unwrap();
        symlink(&outside, project.join("way-out")).unwrap();
        symlink("private", project.join("way-in")).unwrap();
        symlink(project.join("private/key"), project.join("src/alias")).unwrap();
        symlink("locked/file", project.join("innocent")).unwrap();
        symlink(&project, outside.join("back")).unwrap();
        symlink("loop-b", project.join("loop-a")).unwrap();
        symlink("loop-a", project.join("loop-b")).unwrap();
        let text = PolicyText { layer: Layer::User, name: "policy.toml".into(), text: POLICY.into(), trusted: true };
        Self { _folder: folder, project, outside, policy: Policy::compile(&[text]).unwrap() }
    }

    fn judge(&self, call: ToolCall) -> Verdict {
        let facts = Facts { files: &RealFiles, env: &NoEnvironment };
        let call = ToolCall {
            cwd: Some(self.project.clone()),
            workspace: Workspace::new(&self.project, Some(Path::new("/home/nobody"))),
            home: Some("/home/nobody".into()),
            ..call
        };
        self.policy.evaluate(&Operation::new(call, facts), &State::default(), facts).verdict
    }

    fn read(&self, path: &str) -> Verdict {
        self.judge(ToolCall::tool("Read", json!({ "file_path": path })))
    }

    fn write(&self, path: &str) -> Verdict {
        self.judge(ToolCall::tool("Write", json!({ "file_path": path, "content": "x" })))
    }

    fn run(&self, command: &str) -> Verdict {
        self.judge(ToolCall::command(command.as_bytes()))
    }
}

#[test]
fn a_link_is_where_it_leads() {
    let world = World::new();
    assert_eq!(world.read("src/main.rs"), Verdict::Allow);
    assert_eq!(world.read("way-out/file"), Verdict::Ask);
    assert_eq!(world.read("way-in/key"), Verdict::Deny);
    assert_eq!(world.read("src/alias"), Verdict::Deny);
    assert_eq!(world.write("innocent"), Verdict::Deny);
    assert_eq!(world.write("way-out/new"), Verdict::Ask);
    assert_eq!(world.read(world.outside.join("back/private/key").to_str().unwrap()), Verdict::Deny);
    assert_eq!(world.read(world.outside.join("back/src/main.rs").to_str().unwrap()), Verdict::Allow);
}

#[test]
fn parent_folders_are_resolved_after_links() {
    let world = World::new();
    assert_eq!(world.read("src/../private/key"), Verdict::Deny);
    assert_eq!(world.read("../outside/file"), Verdict::Ask);
    // The parent of a link is the parent of what it leads to.
    assert_eq!(world.read("way-out/../project/src/main.rs"), Verdict::Allow);
    assert_eq!(world.read("way-out/../outside/file"), Verdict::Ask);
    assert_eq!(world.run("cat way-in/../private/key"), Verdict::Deny);
}

#[test]
fn what_does_not_exist_yet_is_where_it_would_be() {
    let world = World::new();
    assert_eq!(world.write("src/new/deep/file"), Verdict::Allow);
    assert_eq!(world.write("way-out/new/deep/file"), Verdict::Ask);
    assert_eq!(world.write("locked/new"), Verdict::Deny);
    assert_eq!(world.write("src/missing/../../locked/new"), Verdict::Deny);
}

#[test]
fn a_sibling_whose_name_begins_alike_is_outside() {
    let world = World::new();
    assert_eq!(world.write("../project-evil/x"), Verdict::Ask);
    assert_eq!(world.read(&format!("{}-evil/x", world.project.display())), Verdict::Ask);
}

#[test]
fn another_case_of_a_denied_name_asks() {
    let world = World::new();
    assert_eq!(world.read("PRIVATE/key"), Verdict::Ask);
    assert_eq!(world.read("src/.Env"), Verdict::Ask);
}

#[test]
fn links_without_end_permit_nothing() {
    let world = World::new();
    assert_ne!(world.read("loop-a"), Verdict::Allow);
    assert_ne!(world.write("loop-a/x"), Verdict::Allow);
}

#[test]
fn recursive_reads_ask_only_where_something_denied_exists() {
    let world = World::new();
    assert_eq!(world.run("grep -r x clean"), Verdict::Allow);
    assert_eq!(world.run("grep -r x src"), Verdict::Ask);
    assert_eq!(world.run("cat clean/*"), Verdict::Allow);
    assert_eq!(world.run("cat src/.*"), Verdict::Ask);
    assert_ne!(world.run("cat private/*"), Verdict::Allow);
}

#[test]
fn a_link_made_by_the_same_command_hides_nothing() {
    let world = World::new();
    assert_ne!(world.run("ln -s private p && cat p/key"), Verdict::Allow);
    assert_ne!(world.run("mv private q && cat q/key"), Verdict::Allow);
    assert_eq!(world.run("cd private && cat key"), Verdict::Deny);
    assert_eq!(world.run("cat < private/key"), Verdict::Deny);
}

#[test]
fn a_home_folder_as_workspace_permits_nothing_by_dot() {
    let world = World::new();
    let facts = Facts { files: &RealFiles, env: &NoEnvironment };
    let call = ToolCall {
        cwd: Some(world.project.clone()),
        workspace: Workspace::new(&world.project, Some(&world.project)),
        home: Some(world.project.clone()),
        ..ToolCall::tool("Read", json!({ "file_path": "src/main.rs" }))
    };
    let decision = world.policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
    assert_eq!(decision.verdict, Verdict::Ask);
}
