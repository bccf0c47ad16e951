//! What the name of a task says that it does.
//!
//! The project decides what a task does, and the agent may have written it: a name proves nothing. But people call a task
//! that leaves the machine by its purpose, and such a task must not run because tests may.

use crate::effect::NamedBy;
use crate::program::{Code, View};
use crate::word::Word;

/// Where in a name the task's own part stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::program) enum Naming {
    /// All of it: `deploy:prod`, `db:drop`.
    Whole,
    /// Behind the last colon: `:app:publish`.
    Last,
    /// Behind the first colon, where there is one: `app:deploy`, `app:build:production`.
    Target,
}

/// Something is put where others see or use it.
const LEAVES: &[&str] =
    &["deploy", "distribute", "promote", "publish", "push", "release", "rollback", "rollout", "ship", "upload"];

/// Something that is kept goes away.
const DESTROYS: &[&str] = &["destroy", "drop", "nuke", "purge", "teardown", "truncate", "wipe"];

/// What stands before such a word and changes nothing.
const BEFORE: &[&str] = &["re", "pre", "post", "auto", "un"];

/// What is done to a release, as a kind of build: `assembleRelease`, `build:release`.
const BUILDS: &[&str] = &[
    "assemble", "build", "bundle", "check", "clean", "compile", "debug", "install", "link", "lint", "package", "test",
];

/// Why a task of this name needs a yes of its own, if it does.
pub(in crate::program) fn says(name: &str, naming: Naming) -> Option<Code> {
    let own = match naming {
        Naming::Whole => name,
        Naming::Last => name.rsplit(':').next().unwrap_or(name),
        Naming::Target => name.split_once(':').map_or(name, |(_, target)| target),
    };
    let parts = parts(own);
    let a_build =
        parts.first().is_some_and(|first| BUILDS.contains(&first.as_str())) && !parts.iter().any(|p| p == "and");
    let means = |word: &str| parts.iter().any(|part| is(part, word));
    if LEAVES.iter().filter(|word| **word != "release" || !a_build).any(|word| means(word)) {
        return Some(Code::Publishes);
    }
    if parts.first().is_some_and(|first| matches!(first.as_str(), "install" | "uninstall")) {
        return Some(Code::Installs);
    }
    let database =
        || parts.iter().any(|part| matches!(part.as_str(), "db" | "database" | "ecto" | "prod" | "production"));
    let tears = parts.windows(2).any(|pair| matches!(pair, [tear, down] if tear == "tear" && down == "down"));
    let resets = parts.iter().any(|part| part == "reset") && database();
    (tears || resets || DESTROYS.iter().any(|word| means(word))).then_some(Code::ChangesService)
}

/// `deploy`, `redeploy`, `deployment`, `deploys`; short words only by themselves.
fn is(part: &str, word: &str) -> bool {
    let begins = |part: &str| part == word || word.len() > 5 && part.starts_with(word);
    begins(part) || BEFORE.iter().any(|before| part.strip_prefix(before).is_some_and(begins))
}

/// The words that a name is made of, in lower case: at signs between them and where small letters meet a great one.
fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut small = false;
    let mut open = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            open = false;
            small = false;
            continue;
        }
        if !open || small && c.is_uppercase() {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
        open = true;
        small = c.is_lowercase();
    }
    parts
}

/// The word at `at` names a task: what its name says needs a rule that names it.
pub(in crate::program) fn task(view: &mut View<'_>, at: usize, naming: Naming) {
    match view.word(at).and_then(Word::exact_str) {
        Some(name) => named(view, name, at, naming),
        None => unknown(view, at),
    }
}

/// A task whose name is not known may be any, one that publishes too.
pub(in crate::program) fn unknown(view: &mut View<'_>, at: usize) {
    view.named(Code::DynamicOption, NamedBy::Nothing, at);
}

/// As [`task`], where the name stands in a word.
pub(in crate::program) fn named(view: &mut View<'_>, name: &str, at: usize, naming: Naming) {
    if let Some(code) = says(name, naming) {
        let by = NamedBy::Words(words(view, name));
        view.named(code, by, at);
    }
}

/// All operands from the `from`th on name tasks. A rule for the first of them names no other.
pub(in crate::program) fn tasks(view: &mut View<'_>, naming: Naming) {
    let is_task = |word: &str| !word.starts_with('-') && !word.contains('=');
    let found: Vec<(usize, String)> = view
        .operands()
        .into_iter()
        .filter_map(|at| Some((at, view.word(at)?.exact_str().filter(|word| is_task(word))?.to_owned())))
        .collect();
    for (n, (at, name)) in found.iter().enumerate() {
        named(view, name, *at, naming);
        if n > 0 {
            also(view, name, *at);
        }
    }
}

/// One more task beside the first.
pub(in crate::program) fn also(view: &mut View<'_>, name: &str, at: usize) {
    let by = NamedBy::Task(words(view, name));
    view.named(Code::RunsCode, by, at);
}

fn words(view: &View<'_>, name: &str) -> Vec<String> {
    view.path.iter().map(|&word| word.to_owned()).chain([name.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whether_the_task_leaves_or_destroys() {
        let leaves = [
            "publish",
            "deploy",
            "deploy:prod",
            "prod-deploy",
            "redeploy",
            "predeploy",
            "deployAll",
            "release",
            "push",
            "docker-push",
            "docker_push",
            "release:minor",
            "semantic-release",
            "publishToMavenLocal",
            "UPLOAD",
            "ship-it",
            "build-and-release",
            "unpublish",
            "rollback",
            "npmPublish",
        ];
        for name in leaves {
            assert_eq!(says(name, Naming::Whole), Some(Code::Publishes), "{name}");
        }
        for name in ["destroy", "db:drop", "db-reset", "tear-down", "teardown", "ecto.drop", "nuke", "infra:destroy"] {
            assert_eq!(says(name, Naming::Whole), Some(Code::ChangesService), "{name}");
        }
        for name in ["install", "install-deps", "installDist", "uninstall"] {
            assert_eq!(says(name, Naming::Whole), Some(Code::Installs), "{name}");
        }
        let stays = [
            "test",
            "lint",
            "build",
            "build:release",
            "assembleRelease",
            "testReleaseUnitTest",
            "check-types",
            "ci",
            "relationship",
            "dropdown",
            "worship",
            "db:seed",
            "db:migrate",
            "reset",
            "format",
            "clean",
            "droplet",
            "shipping-tests",
        ];
        for name in stays {
            assert_eq!(says(name, Naming::Whole), None, "{name}");
        }
        assert_eq!(says(":deploy-service:test", Naming::Last), None);
        assert_eq!(says(":app:publish", Naming::Last), Some(Code::Publishes));
        assert_eq!(says("deploy-tool:lint", Naming::Target), None);
        assert_eq!(says("app:deploy", Naming::Target), Some(Code::Publishes));
        assert_eq!(says("app:build:release", Naming::Target), None);
    }
}
