//! Build tools of the Java world.

use super::task::{self, Naming};
use super::{Code, View, host};
use crate::effect::{Carry, NamedBy, Target, Verb};
use crate::word::Word;

/// Properties that name code, or the folders in which it is looked for.
const JVM_CODE: &[&str] = &[
    "exec.",
    "gradle.user.home",
    "java.class.path",
    "java.endorsed.",
    "java.ext.",
    "java.security.",
    "java.system.",
    "maven.conf",
    "maven.ext.",
    "maven.home",
    "maven.multiModule",
    "org.gradle.java",
    "org.gradle.jvmargs",
    "sbt.boot",
    "sbt.global",
    "sbt.repository",
    "user.home",
];

/// Commands of sbt that take Scala.
const SBT_CODE: &[&str] = &["eval", "set", "apply", "alias", "addPluginSbtFile", "iflast", "onFailure"];

/// What a property that is set by `flag` changes.
fn properties(view: &mut View<'_>, flag: &str) {
    for (at, property) in view.values(flag) {
        let code = property.exact_str().is_none_or(|name| JVM_CODE.iter().any(|code| name.starts_with(code)));
        // Everything that is fetched goes by way of this host.
        let named = property.exact_str().and_then(|text| text.split_once('='));
        if let Some((_, host)) = named.filter(|(name, _)| name.ends_with("roxyHost")) {
            let target = Target::Host(host::of_text(host));
            view.effect(Verb::Connect, target, at, Carry::Plain);
        }
        // Plugins are looked for there, and run.
        let store = property.exact_str().and_then(|text| text.strip_prefix("maven.repo.local="));
        if code || store.is_some_and(|folder| !view.is_of_the_project(&Word::Exact(folder.into()))) {
            view.named_by_flag(Code::RunsCode, flag, at);
        }
    }
}

/// What a task or goal by this name starts.
fn runs_or_leaves(view: &mut View<'_>, name: &str, at: usize) {
    let last = name.rsplit(':').next().unwrap_or(name);
    if ["deploy", "publish", "release", "upload", "install", "site-deploy", "wrapper"]
        .iter()
        .any(|g| last.starts_with(g))
    {
        view.named(Code::Publishes, NamedBy::Words(vec![name.to_owned()]), at);
    } else if let Some(code) = task::says(name, Naming::Last) {
        view.named(code, NamedBy::Words(vec![name.to_owned()]), at);
    } else if ["bootRun", "run", "exec", "appRun", "jettyRun", "runMain", "console", "jshell"].contains(&last) {
        view.named(Code::RunsCode, NamedBy::Words(vec![name.to_owned()]), at);
    }
}

fn each_task(view: &mut View<'_>, mut judge: impl FnMut(&mut View<'_>, &str, usize)) {
    for at in view.operands() {
        if let Some(name) = view.word(at).and_then(Word::exact_str).map(str::to_owned) {
            judge(view, &name, at);
        }
    }
}

pub(crate) fn gradle(view: &mut View<'_>) {
    properties(view, "--system-prop");
    let mut first = true;
    each_task(view, |view, name, at| {
        runs_or_leaves(view, name, at);
        if !std::mem::take(&mut first) {
            task::also(view, name, at);
        }
    });
}

pub(crate) fn ant(view: &mut View<'_>) {
    properties(view, "-D");
    let mut first = true;
    each_task(view, |view, name, at| {
        runs_or_leaves(view, name, at);
        if !std::mem::take(&mut first) {
            task::also(view, name, at);
        }
    });
}

/// Phases of Maven's own life cycles that stay in the project.
const PHASES: &[&str] = &[
    "clean",
    "compile",
    "generate-resources",
    "generate-sources",
    "generate-test-resources",
    "generate-test-sources",
    "initialize",
    "integration-test",
    "package",
    "post-clean",
    "post-integration-test",
    "post-site",
    "pre-clean",
    "pre-integration-test",
    "pre-site",
    "prepare-package",
    "process-classes",
    "process-resources",
    "process-sources",
    "process-test-classes",
    "process-test-resources",
    "process-test-sources",
    "site",
    "test",
    "test-compile",
    "validate",
    "verify",
];

/// Plugins of which every goal stays in the project, or only tells.
const PLUGINS: &[&str] = &[
    "checkstyle",
    "compiler",
    "enforcer",
    "failsafe",
    "fmt",
    "formatter",
    "impsort",
    "jacoco",
    "jar",
    "javadoc",
    "license",
    "pmd",
    "resources",
    "rewrite",
    "source",
    "spotbugs",
    "spotless",
    "surefire",
    "war",
];

/// Single goals of others.
const GOALS: &[&str] = &[
    "dependency:analyze",
    "dependency:analyze-only",
    "dependency:build-classpath",
    "dependency:display-ancestors",
    "dependency:go-offline",
    "dependency:list",
    "dependency:resolve",
    "dependency:resolve-plugins",
    "dependency:sources",
    "dependency:tree",
    "help:active-profiles",
    "help:all-profiles",
    "help:describe",
    "help:effective-pom",
    "help:evaluate",
    "help:help",
    "quarkus:build",
    "quarkus:test",
    "spring-boot:build-info",
    "spring-boot:repackage",
    "versions:display-dependency-updates",
    "versions:display-plugin-updates",
    "versions:display-property-updates",
];

/// A goal is a phase, or a plugin's: one that is written out (`group:plugin:version:goal`) is fetched and runs, whatever
/// the project declares.
pub(crate) fn maven(view: &mut View<'_>) {
    properties(view, "--define");
    let mut first = true;
    each_task(view, |view, goal, at| {
        let another = !std::mem::take(&mut first);
        runs_or_leaves(view, goal, at);
        let by = || NamedBy::Words(vec![goal.to_owned()]);
        let plain = goal.split('@').next().unwrap_or(goal);
        match plain.split_once(':') {
            None if PHASES.contains(&plain) => {}
            Some((_, rest)) if rest.contains(':') => view.named(Code::Installs, by(), at),
            Some((plugin, _)) if PLUGINS.contains(&plugin) || GOALS.contains(&plain) => {}
            _ => view.named(Code::RunsCode, by(), at),
        }
        if another {
            task::also(view, goal, at);
        }
    });
}

pub(crate) fn sbt(view: &mut View<'_>) {
    properties(view, "-D");
    each_task(view, |view, text, at| {
        for command in text.split(';') {
            let name = command.split_whitespace().next().unwrap_or_default();
            let own = name.rsplit('/').next().unwrap_or(name);
            if SBT_CODE.contains(&own) {
                view.code("scala", Code::InlineCode, NamedBy::Words(vec![text.to_owned()]), at);
            } else if let Some(code) = task::says(own, Naming::Last) {
                view.named(code, NamedBy::Words(vec![text.to_owned()]), at);
            } else if ["run", "runMain", "console", "consoleQuick", "consoleProject", "bgRun", "<"].contains(&own) {
                view.named(Code::RunsCode, NamedBy::Words(vec![text.to_owned()]), at);
            }
        }
    });
}

pub(crate) fn hands_on_all(view: &mut View<'_>) {
    view.hands_on(0);
}
