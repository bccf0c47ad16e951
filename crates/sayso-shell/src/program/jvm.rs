//! Build tools of the Java world.

use super::task::{self, Naming};
use super::{Act, Code, Spec, View};
use crate::effect::NamedBy;
use crate::option::{Style, Table, options};
use crate::word::Word;

const PASSES: Style = Style::EXACT.and(Style::RISKY).and(Style::PASSES);

const GRADLE: &Table = options!("
    -h -?, -v --version, -V --show-version, --console W, --warning-mode M, -q --quiet, -w --warn, -i --info, -d --debug
    -s --stacktrace, -S --full-stacktrace, --no-scan, --profile, -a --no-rebuild, --build-cache, --no-build-cache
    --configuration-cache, --no-configuration-cache, --configuration-cache-problems M, --configure-on-demand
    --no-configure-on-demand, --continue, --no-continue, --daemon, --no-daemon, --status, --stop, -m --dry-run
    -F --dependency-verification M, --max-workers N, --offline, --parallel, --no-parallel, --priority P
    --refresh-dependencies, --rerun-tasks, --rerun, -t --continuous, -u --no-search-upward, --watch-fs, --no-watch-fs
    --write-locks, -x --exclude-task T, --tests T, --fail-fast, --no-fail-fast, --configuration C, --dependency D, --task T
    --group G, --all, --no-all, --types, --property P, --variant V, --test-dry-run, --no-test-dry-run, --problems-report
    --no-problems-report, --quiet-daemon, --include-tags T, --exclude-tags T, --depth N, --recursive, --configurations C
    -P --project-prop PROP, -D --system-prop PROP
    --project-cache-dir DIR : makes-below
    -p --project-dir DIR, -b --build-file FILE, -c --settings-file FILE, -g --gradle-user-home DIR : recipe
    -I --init-script FILE : runs
    --include-build DIR : recipe
    --scan : publishes
    --foreground, --debug-jvm : serves
    --args ARGS : runs-code
    -M --write-verification-metadata C, --export-keys, --refresh-keys, -U --update-locks D : changes-files
");

const MAVEN: &Table = options!("
    -am --also-make, -amd --also-make-dependents, -B --batch-mode, -b --builder ID, -C --strict-checksums
    -c --lax-checksums, --color W, -cpu --check-plugin-updates, -e --errors, -fae --fail-at-end, -ff --fail-fast
    -fn --fail-never, -fos --fail-on-severity S, -h, -itr --ignore-transitive-repositories, -llr --legacy-local-repository
    -N --non-recursive, -npr --no-plugin-registry, -npu --no-plugin-updates, -nsu --no-snapshot-updates
    -ntp --no-transfer-progress, -o --offline, -P --activate-profiles P, -pl --projects P, -q --quiet, -rf --resume-from M
    -r --resume, -sadp --show-all-dependency-paths, -T --threads N, -U --update-snapshots, -up --update-plugins
    -V --show-version, -v --version, -X --debug --verbose, -canf --cache-artifact-not-found V, --non-interactive
    --force-interactive, --raw-streams V
    -D --define PROP
    -l --log-file FILE : makes
    -f --file FILE, -s --settings FILE, -gs --global-settings FILE, -ps --project-settings FILE : recipe
    -t --toolchains FILE, -gt --global-toolchains FILE, -is --install-settings FILE : recipe
    -emp --encrypt-master-password [P], -ep --encrypt-password [P] : shows-secrets
");

const ANT: &Table = options!("
    -quiet -q, -silent -S, -verbose -v, -debug -d, -emacs -e, -nouserlib, -noclasspath, -autoproxy, -keep-going -k, -noinput
    -diagnostics, -projecthelp -p, -version, -help -h, -nice N
    -D PROP
    -logfile -l FILE : makes
    -f -file -buildfile FILE, -find -s FILE, -lib PATH, -propertyfile FILE : recipe
    -logger CLASS, -listener CLASS, -inputhandler CLASS, -main CLASS : runs-code
");

const SBT: &Table = options!("
    -h -help --help, -v -verbose --verbose, -V -version --version, -d -debug --debug, -batch --batch, -no-colors --no-colors
    -color --color W, --error, --warn, --info, -client --client, -mem --mem N, -sbt-version --sbt-version V, -timings
    --timings, -traces --traces, -supershell --supershell W, -no-share --no-share, -numeric-version --numeric-version
    -script-version --script-version, -no-server --no-server, -scala-version V, -allow-empty --allow-empty
    -D PROP
    -sbt-create --sbt-create, -sbt-dir --sbt-dir DIR, -sbt-boot --sbt-boot DIR, -sbt-cache --sbt-cache DIR : recipe
    -ivy --ivy DIR : recipe
    -J [OPT], -java-home --java-home DIR, -sbt-jar --sbt-jar FILE, -sbt-launch-dir DIR, -sbt-rc, -S [OPT] : runs
    -jvm-debug --jvm-debug N : serves
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["gradle", "gradlew"]).style(PASSES).options(&[GRADLE]).acts(&[Act::Project]).judge(gradle),
    Spec::new(&["mvn", "mvnw", "mvnd"]).style(PASSES).options(&[MAVEN]).acts(&[Act::Project]).judge(maven),
    Spec::new(&["ant"]).style(PASSES.and(Style::JOINS)).options(&[ANT]).acts(&[Act::Project]).judge(ant),
    Spec::new(&["sbt"]).style(PASSES).options(&[SBT]).acts(&[Act::Project]).judge(sbt),
    Spec::new(&["lein"])
        .style(Style::EXACT.and(Style::PASSES).and(Style::GLOBAL))
        .options(&[options!("-o --offline, -h, -v, --help, --version, -U")])
        .acts(&[Act::Project])
        .subs(&[
            Spec::new(&[
                "test",
                "check",
                "compile",
                "jar",
                "uberjar",
                "clean",
                "classpath",
                "deps",
                "version",
                "help",
                "pom",
                "show-profiles",
                "javac",
                "retest",
                "kibit",
                "eastwood",
                "cljfmt",
                "ancient",
                "cljsbuild",
                "kaocha",
                "lint",
            ])
            .style(Style::EXACT)
            .options(&[options!("--help, -n --namespace N, -v --verbose")])
            .judge(hands_on_all),
            Spec::new(&["deploy", "release", "install", "upgrade", "downgrade", "new", "change", "vcs"])
                .style(Style::EXACT)
                .acts(&[Act::Named(Code::Publishes)]),
            Spec::new(&[
                "run",
                "repl",
                "trampoline",
                "do",
                "with-profile",
                "with-profiles",
                "update-in",
                "eval",
                "exec",
            ])
            .style(Style::EXACT.and(Style::LEADING))
            .acts(&[Act::Code("clojure")])
            .judge(hands_on_all),
        ]),
    Spec::new(&["mill", "clojure", "clj", "boot"])
        .style(PASSES)
        .options(&[options!("-v --version, -h, -i, -k --keep-going, -j --jobs N, -D PROP")])
        .acts(&[Act::Project, Act::Named(Code::RunsCode)])
        .judge(hands_on_all),
];

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

fn gradle(view: &mut View<'_>) {
    properties(view, "--system-prop");
    let mut first = true;
    each_task(view, |view, name, at| {
        runs_or_leaves(view, name, at);
        if !std::mem::take(&mut first) {
            task::also(view, name, at);
        }
    });
}

fn ant(view: &mut View<'_>) {
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
fn maven(view: &mut View<'_>) {
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

fn sbt(view: &mut View<'_>) {
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

fn hands_on_all(view: &mut View<'_>) {
    view.hands_on(0);
}
