//! Files of a project that say what a build tool or test runner does. `make` is asked about as one word; what it runs
//! stands in the Makefile. An attacker would have the word answered for, and then change the file.

use sayso_policy::{Facts, Operation};
use sayso_shell::{Kind, Run, Word};
use std::path::{Path, PathBuf};

/// Folders above the one that a program starts in; programs look there too.
const MOST_ABOVE: usize = 6;
/// Words of a command that may name a folder or a file to begin with.
const MOST_WORDS: usize = 32;

/// Programs, and the files of a project that steer them.
const STEERED: &[(&[&str], &[&str])] = &[
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (
        &["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "turbo", "lerna", "nx"],
        &["package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "bunfig.toml", "turbo.json", "nx.json"],
    ),
    (
        &["jest", "vitest", "mocha", "vite", "webpack", "rollup", "eslint", "prettier", "tsc", "playwright"],
        &[
            "package.json",
            "jest.config.js",
            "jest.config.ts",
            "vitest.config.ts",
            "vitest.config.js",
            ".mocharc.js",
            ".mocharc.json",
            "vite.config.ts",
            "vite.config.js",
            "webpack.config.js",
            "rollup.config.js",
            "eslint.config.js",
            ".eslintrc.js",
            "prettier.config.js",
            "tsconfig.json",
            "playwright.config.ts",
        ],
    ),
    (
        &["cargo"],
        &["Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"],
    ),
    (
        &["pytest", "py.test", "tox", "nox", "coverage", "python", "python3"],
        &[
            "conftest.py",
            "tests/conftest.py",
            "test/conftest.py",
            "pytest.ini",
            "pyproject.toml",
            "setup.cfg",
            "setup.py",
            "tox.ini",
            "noxfile.py",
        ],
    ),
    (
        &["pip", "pip3", "uv", "poetry", "pdm", "hatch"],
        &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"],
    ),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task", "go-task"], &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"]),
    (
        &["rake", "bundle", "rspec"],
        &["Rakefile", "rakefile", "Gemfile", ".bundle/config", ".rspec", "spec/spec_helper.rb"],
    ),
    (
        &["gradle", "gradlew"],
        &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradlew"],
    ),
    (&["mvn", "mvnw"], &["pom.xml", ".mvn/extensions.xml", ".mvn/jvm.config", ".mvn/maven.config"]),
    (&["ant"], &["build.xml"]),
    (&["sbt"], &["build.sbt", "project/plugins.sbt"]),
    (
        &["cmake", "ctest", "cpack"],
        &["CMakeLists.txt", "CMakePresets.json", "CTestTestfile.cmake", "cmake_install.cmake"],
    ),
    (&["meson"], &["meson.build"]),
    (&["ninja"], &["build.ninja"]),
    (&["scons"], &["SConstruct", "Sconstruct", "sconstruct"]),
    (&["bazel", "bazelisk"], &["WORKSPACE", "MODULE.bazel", "BUILD", "BUILD.bazel", ".bazelrc"]),
    (&["go"], &["go.mod", "go.work"]),
    (&["mix"], &["mix.exs"]),
    (&["composer"], &["composer.json"]),
    (&["deno"], &["deno.json", "deno.jsonc"]),
    (&["zig"], &["build.zig"]),
    (&["swift"], &["Package.swift"]),
    (
        &["docker", "docker-compose", "podman", "buildah"],
        &["Dockerfile", "Containerfile", "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"],
    ),
    (&["pre-commit"], &[".pre-commit-config.yaml"]),
    (&["invoke", "inv", "fab"], &["tasks.py", "fabfile.py"]),
    (&["ansible-playbook"], &["ansible.cfg"]),
    (&["vagrant"], &["Vagrantfile"]),
    (&["nix", "nix-build", "nix-shell"], &["flake.nix", "default.nix", "shell.nix"]),
];

/// The files that steer the programs of a call, whether they are there or not.
pub(super) fn files(operation: &Operation, facts: Facts<'_>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let root = operation.workspace.root();
    for run in operation.analysis.iter().flat_map(|analysis| &analysis.runs) {
        let Some(names) = run.program.base.as_deref().and_then(names) else { continue };
        let Some(start) = run.cwd.as_deref().or(operation.cwd.as_deref()) else { continue };
        let (folders, named) = named(run, start, facts);
        found.extend(named);
        for folder in std::iter::once(start).chain(folders.iter().map(PathBuf::as_path)) {
            for folder in folder.ancestors().take(MOST_ABOVE) {
                found.extend(names.iter().map(|name| folder.join(name)));
                if Some(folder) == root {
                    break;
                }
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

fn names(program: &str) -> Option<&'static [&'static str]> {
    STEERED.iter().find(|(programs, _)| programs.contains(&program)).map(|(_, names)| *names)
}

/// The folders and files that the words of a command name: `-C build`, `--manifest-path=x/Cargo.toml`, `-f other.mk`.
fn named(run: &Run, start: &Path, facts: Facts<'_>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for word in run.argv.iter().skip(1).take(MOST_WORDS).filter_map(Word::exact_str) {
        let value = if word.starts_with('-') { word.split_once('=').map_or("", |(_, value)| value) } else { word };
        if value.is_empty() {
            continue;
        }
        let path = start.join(value);
        match facts.files.kind(&path) {
            Kind::Folder { .. } => folders.push(path),
            Kind::File { .. } => {
                folders.extend(path.parent().map(Path::to_owned));
                files.push(path);
            }
            Kind::Link(_) | Kind::Missing | Kind::Other | Kind::Unknown => {}
        }
    }
    (folders, files)
}
