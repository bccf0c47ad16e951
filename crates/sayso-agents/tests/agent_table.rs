//! An agent is one folder and one row: nobody else knows which one it is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "this is a test"
)]

use sayso_agents::Agent;
use sayso_agents::install::{Scope, Setting, plan_install};
use sayso_gate::{Places, ProcessEnvironment, RealFiles};
use sayso_policy::{Facts, Layer, Operation, Policy, PolicyText, State, ToolCall, Verdict, Workspace};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn only_an_agents_own_folder_asks_which_agent_it_is() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for one in std::fs::read_dir(crates).unwrap().flatten() {
        sources(&one.path().join("src"), &mut files);
    }
    assert!(files.len() > 200, "{}", files.len());
    let own = crates.join("sayso-agents/src/agent");
    let constants: Vec<String> =
        Agent::ALL.iter().map(|agent| format!("Agent::{}", agent.name().replace('-', "_").to_uppercase())).collect();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.starts_with(&own) && !file.ends_with("tests.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        found.extend(
            constants.iter().filter(|name| code.contains(*name)).map(|name| format!("{}: {name}", file.display())),
        );
    }
    assert!(found.is_empty(), "{found:#?}");
    let table = std::fs::read_to_string(own.join("mod.rs")).unwrap();
    assert!(constants.iter().all(|name| table.contains(&name.replace("Agent", "Self"))), "{constants:?}");
}

#[test]
fn every_agent_has_a_name_a_page_and_a_folder_of_its_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap();
    let mut names = HashSet::new();
    for agent in Agent::ALL {
        let name = agent.name();
        assert!(names.insert(name) && names.insert(agent.title()), "{name}");
        assert_eq!(name.parse::<Agent>().unwrap(), *agent);
        assert!(root.join(format!("docs/agents/{name}.md")).is_file(), "{name} has no page");
        let folder = root.join("crates/sayso-agents/src/agent").join(name.replace('-', "_"));
        assert!(folder.join("mod.rs").is_file(), "{name} has no folder");
    }
}

#[test]
fn versions_that_cannot_be_guarded_are_told() {
    for (version, too_old) in
        [("2.1.294", true), ("2.0.999", true), ("1.0", true), ("2.1.295", false), ("2.1.325", false), ("beta", false)]
    {
        assert_eq!(Agent::CLAUDE_CODE.too_old(version).is_some(), too_old, "{version}");
    }
    assert!(Agent::CODEX.too_old("0.1").is_none());
}

#[test]
fn every_file_that_an_agent_is_registered_in_is_integritys() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let project = home.join("project");
    std::fs::create_dir(&project).unwrap();
    let text = PolicyText { layer: Layer::User, name: "p".into(), text: "default = \"allow\"\n".into(), trusted: true };
    let policy = Policy::compile(&[text]).unwrap();
    let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
    let verdict = |command: &str| {
        let mut call = ToolCall::command(command);
        (call.cwd, call.home) = (Some(project.clone()), Some(home.clone()));
        call.workspace = Workspace::new(project.clone(), Some(&home));
        let operation = Operation::new(call, facts);
        policy.evaluate(&operation, &State::default(), facts).verdict
    };
    assert_eq!(verdict("echo x > notes"), Verdict::Allow);
    let mut files = 0;
    for agent in Agent::ALL.iter().filter(|agent| agent.has_hooks()) {
        for scope in Scope::ALL {
            let mut setting =
                Setting::here(*scope, Places::below(&home, &home), project.clone(), "/opt/sayso/bin/sayso".into());
            (setting.trust, setting.shell) = (true, Some("bash".to_owned()));
            let Ok(plan) = plan_install(*agent, &setting) else { continue };
            for file in &plan.files {
                let path = file.path.display();
                assert_eq!(verdict(&format!("echo x > '{path}'")), Verdict::Deny, "{agent}: {path}");
                assert_eq!(verdict(&format!("rm -f '{path}'")), Verdict::Deny, "{agent}: {path}");
                files += 1;
            }
        }
    }
    assert!(files >= 20, "{files}");
}
