//! Programs that check, format, bundle and test code of a project.

use super::{Code, View};
use crate::effect::{Carry, NamedBy, Verb};
use crate::option::Does;
use crate::word::Word;

/// What linters of JavaScript look at.
const SCRIPTS: &str = "js jsx mjs cjs ts tsx mts cts vue svelte astro";

/// What formatters of many languages look at.
const MARKUP: &str = "js jsx mjs cjs ts tsx mts cts vue svelte astro json jsonc json5 css scss less html md mdx yaml yml graphql gql hbs toml";

/// What linters and formatters of Python look at.
const PYTHON: &str = "py pyi pyw ipynb";

pub(crate) fn tsc(view: &mut View<'_>) {
    if view.has("--init") {
        view.touches(Verb::Write, "tsconfig.json", false);
    }
}

/// The first operand is the folder of a project, whose settings are code.
pub(crate) fn of_folder(view: &mut View<'_>) {
    takes_paths(view);
    empties(view);
    if let (Some(at), Some(folder)) = (view.operand_at(0), view.operand(0)) {
        view.reads_below(folder, at);
    }
}

/// `-c` may have its file in the next word, which is code.
pub(crate) fn rollup(view: &mut View<'_>) {
    takes_paths(view);
    let bare = view.seen.iter().filter(|seen| seen.opt.name == "--config" && seen.opt.value.is_none());
    for at in bare.map(|seen| seen.at + 1).collect::<Vec<_>>() {
        if let Some(file) = view.word(at)
            && !file.may_be_option()
            && !view.is_of_the_project(file)
        {
            view.named_by_flag(Code::RunsCode, "--config", at);
        }
    }
}

/// As [`takes_paths`], for bundlers that empty the folder for their output first.
pub(crate) fn bundles(view: &mut View<'_>) {
    takes_paths(view);
    empties(view);
}

/// A folder for output that is emptied first, by the option that names it and the one that says so. One that is called like
/// such a folder holds nothing else.
fn empties(view: &mut View<'_>) {
    const FOLDERS: &[(&str, Option<&str>)] =
        &[("--outDir", None), ("--output-path", Some("--output-clean")), ("--out-dir", Some("--delete-dir-on-start"))];
    for (option, only_with) in FOLDERS {
        if only_with.is_some_and(|flag| !view.has(flag)) {
            continue;
        }
        for (at, folder) in view.values(option) {
            if !folder.exact_str().is_some_and(is_for_output) {
                view.named_by_flag(Code::ChangesFiles, option, at);
                let carry = Carry::Named { code: Code::ChangesFiles, by: NamedBy::Flag((*option).to_owned()) };
                view.path_effect(Verb::Delete, &folder, at, true, carry);
            }
        }
    }
}

/// Whether a folder is called like one that holds only what a build makes.
fn is_for_output(folder: &str) -> bool {
    const BEGINNINGS: &[&str] = &["dist", "build", "out", "target", "coverage", "storybook-static", "_site", "www"];
    let made = |part: &str| {
        let part = part.strip_prefix('.').unwrap_or(part);
        let rest = BEGINNINGS.iter().find_map(|begin| part.strip_prefix(begin));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', '.']) || rest == "put")
    };
    let parts = || folder.split('/').filter(|part| !part.is_empty() && *part != ".");
    !parts().any(|part| part == "..") && (parts().next().is_some_and(made) || parts().next_back().is_some_and(made))
}

pub(crate) fn test_runner(view: &mut View<'_>) {
    reporters(view);
    loaded(view);
    takes_paths(view);
    super::project::runs_operands(view);
}

/// Environments and interfaces that are not the runner's own are modules.
fn loaded(view: &mut View<'_>) {
    const ENVIRONMENTS: &[&str] = &["node", "jsdom", "happy-dom", "edge-runtime"];
    const INTERFACES: &[&str] = &["bdd", "tdd", "qunit", "exports"];
    for (at, value) in view.values("--env") {
        if !value.exact_str().is_some_and(|name| ENVIRONMENTS.contains(&name)) {
            view.named_by_flag(Code::RunsCode, "--env", at);
        }
    }
    let own = |word: Option<&Word>| word.and_then(Word::exact_str).is_some_and(|name| INTERFACES.contains(&name));
    // Of others it opens a page.
    let interfaces = view.seen.iter().filter(|seen| seen.opt.name == "--ui" && view.name == "mocha");
    let foreign: Vec<usize> = interfaces
        .filter(|seen| !own(seen.opt.value.as_ref().or_else(|| view.word(seen.at + 1))))
        .map(|seen| seen.at)
        .collect();
    for at in foreign {
        view.named_by_flag(Code::RunsCode, "--ui", at);
    }
}

/// A formatter that is called like a class is looked for as a file.
pub(crate) fn rubocop(view: &mut View<'_>) {
    checks(view);
    for (at, value) in view.values("--format") {
        let own = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase());
        if !value.exact_str().is_some_and(own) {
            view.named_by_flag(Code::RunsCode, "--format", at);
        }
    }
}

/// Of a program with many options that nobody listed: what looks like a path may be read or written, and what an option
/// with such a name is given is written.
pub(crate) fn takes_paths(view: &mut View<'_>) {
    view.hands_on(0);
    options_take_paths(view);
}

/// As [`takes_paths`], where operands are known.
pub(crate) fn options_take_paths(view: &mut View<'_>) {
    let values: Vec<_> = view
        .seen
        .iter()
        .filter(|seen| seen.does == Does::Nothing)
        .map(|seen| (seen.at, seen.opt.name.to_ascii_lowercase(), seen.opt.value.clone()))
        .collect();
    for (at, name, value) in values {
        let written = says_written(&name);
        match value {
            Some(value) => {
                view.hands_on_word(&value, at);
                if written {
                    view.writes_below(&value, at);
                }
            }
            // Whether the next word is its value is not known.
            None if written => {
                if let Some(next) = view.word(at + 1).filter(|next| !next.may_be_option()) {
                    view.writes_below(next, at + 1);
                }
            }
            // `--inject:file`
            None => {
                if let Some((_, file)) = name.split_once(':') {
                    view.hands_on_word(&Word::Exact(file.into()), at);
                }
            }
        }
    }
}

/// Whether an option of this name, in lower case, is given what is written: `--outdir`, `--coverage-dest`, `--reportdir`.
fn says_written(name: &str) -> bool {
    let begins =
        |part: &str| ["out", "dest", "artifact", "emit", "dump", "export"].iter().any(|word| part.starts_with(word));
    let Some(name) = name.strip_prefix("--") else { return false };
    // `--outputjson`, `--output-format`: how, not where.
    if ["json", "format", "style", "mode", "type", "level"].iter().any(|how| name.contains(how)) {
        return false;
    }
    name.split(['-', '.', '_']).any(begins) || name.contains("report") && !name.contains("reporter")
}

/// Reporters and formatters that come with the program; any other name is a package or file whose code runs.
fn reporters(view: &mut View<'_>) {
    const OWN: &[&str] = &[
        "basic",
        "blob",
        "checkstyle",
        "compact",
        "default",
        "doc",
        "dot",
        "github",
        "github-actions",
        "hanging-process",
        "html",
        "json",
        "json-stream",
        "json-with-metadata",
        "jslint-xml",
        "junit",
        "landing",
        "line",
        "list",
        "markdown",
        "min",
        "minimal",
        "nyan",
        "prettier",
        "progress",
        "rdjson",
        "sarif",
        "silent",
        "spec",
        "string",
        "stylish",
        "summary",
        "tap",
        "tap-flat",
        "teamcity",
        "text",
        "tree",
        "unix",
        "unix",
        "verbose",
        "visualstudio",
        "xunit",
        "gitlab",
        "sonarqube",
        "pretty",
        "lcov",
        "null",
    ];
    for flag in ["--format", "--reporter"] {
        for (at, value) in view.values(flag) {
            let own = value.exact_str().is_some_and(|names| names.split(',').all(|name| OWN.contains(&name)));
            if !own {
                view.named_by_flag(Code::RunsCode, flag, at);
            }
        }
    }
}

const FIXES: &[&str] = &[
    "--fix",
    "--fix-only",
    "--add-noqa",
    "--write",
    "--apply",
    "--apply-unsafe",
    "--fix-suggestions",
    "--fix-dangerously",
];

/// A checker that rewrites what it looks at, if it is told to by one of many options.
pub(crate) fn checks(view: &mut View<'_>) {
    options_take_paths(view);
    if view.seen.iter().any(|seen| seen.does == Does::Named(Code::ChangesFiles)) {
        write_operands(view, None);
    }
}

pub(crate) fn eslint(view: &mut View<'_>) {
    reporters(view);
    if view.has_any(FIXES) {
        write_operands(view, Some(SCRIPTS));
    }
}

pub(crate) fn stylelint(view: &mut View<'_>) {
    reporters(view);
    if view.has_any(FIXES) {
        write_operands(view, None);
    }
}

/// What a formatter with subcommands changes.
pub(crate) fn fixes(view: &mut View<'_>) {
    if view.has_any(FIXES) || matches!(view.path.last(), Some(&("format" | "fmt" | "fix"))) {
        write_operands(view, Some(MARKUP));
    }
}

pub(crate) fn ruff_check(view: &mut View<'_>) {
    if view.has_any(FIXES) {
        write_operands(view, Some(PYTHON));
    }
}

pub(crate) fn ruff_format(view: &mut View<'_>) {
    if !view.has_any(&["--check", "--diff"]) {
        write_operands(view, Some(PYTHON));
    }
}

/// `black x` writes unless it only checks; those with `-i` write only then.
pub(crate) fn black(view: &mut View<'_>) {
    let asks = matches!(view.name, "autopep8" | "yapf" | "autoflake" | "docformatter" | "unify");
    let checks = view.has_any(&["--check", "--check-only", "--diff"]) || view.name == "isort" && view.has("-c");
    options_take_paths(view);
    if view.has("--in-place") || !asks && !checks {
        write_operands(view, Some(PYTHON));
    }
}

pub(crate) fn format_in_place(view: &mut View<'_>) {
    let known = matches!(view.name, "prettier" | "dprint" | "biome" | "rome");
    options_take_paths(view);
    for at in view.operands() {
        match view.word(at) {
            Some(word) if known => view.reads_sources(word, at, MARKUP),
            Some(word) => view.reads_below(word, at),
            None => {}
        }
    }
    if view.has_any(&["--write", "--in-place", "--fix"]) {
        write_operands(view, known.then_some(MARKUP));
    }
}

pub(super) fn write_operands(view: &mut View<'_>, suffixes: Option<&str>) {
    for at in view.operands() {
        match (view.word(at), suffixes) {
            (Some(word), _) if word.exact() == Some(b"-") => {}
            (Some(word), Some(suffixes)) => view.writes_sources(word, at, suffixes),
            (Some(word), None) => view.path_effect(Verb::Write, word, at, true, Carry::Plain),
            (None, _) => {}
        }
    }
}
