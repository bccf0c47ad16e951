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
    for file in files.iter().filter(|file| !file.starts_with(&own)) {
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
