//! What takes an agent's guard down, as data: a file for each agent.
//!
//! Files are found by the effects of whatever would change them. What stands here besides is what has no such effect:
//! commands of the agent by which it changes its own settings, options and variables that start it without its hooks, and
//! its own tools that do either.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod openclaw;
mod opencode;
mod zed;

use crate::word::{Operation, Request};
use sayso_shell::program::Facets;
use sayso_shell::{Analysis, Run, Word};
use serde_json::Value;
use std::path::Path;

/// An agent: how it starts Sayso, and what would keep it from that.
pub(super) struct Agent {
    title: &'static str,
    /// Its program, by each of its names.
    programs: &'static [&'static str],
    /// What it is called where it is fetched and started in one (`npx`, `bunx`), or started by its file.
    packages: &'static [&'static str],
    /// Files and folders by which it starts Sayso, as patterns: read, but not changed.
    pub(super) places: &'static [&'static str],
    /// Those below the home folder that people keep behind links: a folder, and what is in it.
    home: &'static [(&'static str, &'static [&'static str])],
    commands: &'static [Command],
    /// Options with which it starts without its hooks, or with other settings than the owner's.
    options: &'static [&'static str],
    /// Options that do the same where their value holds a text.
    values: &'static [(&'static str, &'static str)],
    /// Variables that do the same, besides those that do it for every agent.
    variables: &'static [&'static str],
    tools: &'static [Tool],
}

/// A command of the agent's that changes its settings.
struct Command {
    /// These words, one after the other.
    words: &'static [&'static str],
    /// Only if another word holds one of these; if there are none, always.
    about: &'static [&'static str],
}

/// A tool of the agent's that changes its settings.
struct Tool {
    name: &'static str,
    /// The parameter that says what it does, and what of it changes something.
    action: &'static str,
    changes: &'static [&'static str],
    /// Only if the arguments hold one of these; if there are none, always.
    about: &'static [&'static str],
}

pub(super) static AGENTS: &[Agent] = &[
    claude_code::AGENT,
    codex::AGENT,
    gemini::AGENT,
    copilot::AGENT,
    cursor::AGENT,
    opencode::AGENT,
    openclaw::AGENT,
    zed::AGENT,
];

/// Every agent's settings are below these.
const HOMES: &[&str] = &["HOME", "XDG_CONFIG_HOME"];
/// Builtins that set variables for what follows.
const EXPORTS: &[&str] = &["export", "declare", "typeset"];
/// Variables with which something else runs first in every process that an agent starts, its hooks included, and which no
/// agent needs.
const AHEAD: &[&str] = &["BASH_ENV", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"];
/// Functions that come with the environment stand in the place of programs and builtins.
const FUNCTIONS: &str = "BASH_FUNC_";
/// Options for Node.js and Bun that make an agent load something: what else stands there sets sizes and warnings.
const LOADS: (&[&str], &[&str]) =
    (&["NODE_OPTIONS", "BUN_OPTIONS"], &["-r", "--import", "--loader", "--experimental", "--preload", "--eval"]);

/// What registers Sayso with agents below the home folder: a folder, and what is in it.
pub fn registration_files() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    AGENTS.iter().flat_map(|agent| agent.home.iter().copied())
}

/// The agent whose guard this run would take down.
pub(super) fn by_run(run: &Run, analysis: &Analysis, home: Option<&Path>) -> Option<&'static str> {
    let base = run.program.base.as_deref()?;
    let words: Vec<&str> = run.argv.iter().skip(1).filter_map(Word::exact_str).collect();
    let (agent, words) = match AGENTS.iter().find(|agent| agent.programs.contains(&base)) {
        Some(agent) => (agent, words.as_slice()),
        None if run.program.facets().has(Facets::TEXT) => return None,
        None => {
            words.iter().enumerate().find_map(|(at, word)| Some((Agent::of_package(word)?, words.get(at + 1..)?)))?
        }
    };
    let by_option = words.iter().any(|word| {
        let name = word.split_once('=').map_or(*word, |(name, _)| name);
        agent.options.contains(&name)
    });
    let by_value = agent.values.iter().any(|(option, text)| {
        // Behind an escape a name can be spelled otherwise.
        let says = |value: &str| holds(value, text) || value.contains('\\');
        let joined = words.iter().any(|word| word.starts_with(option) && says(word));
        joined || words.windows(2).any(|two| matches!(two, [one, value] if one == option && says(value)))
    });
    let by_command = agent.commands.iter().any(|command| command.is_in(words));
    let off = by_option || by_value || by_command || agent.variable_is_set(run, analysis, home);
    off.then_some(agent.title)
}

/// The agent whose guard a call of one of its own tools would take down.
pub(super) fn by_tool(operation: &Operation) -> Option<&'static str> {
    let Request::Tool { name, arguments, server: None } = &operation.request else { return None };
    if operation.tool.mcp {
        return None;
    }
    let name = name.trim().to_lowercase();
    let of = |agent: &&Agent| agent.tools.iter().any(|tool| tool.name == name && tool.is_used(arguments));
    AGENTS.iter().find(of).map(|agent| agent.title)
}

impl Agent {
    /// The agent whose package a word names: by itself, at a version, or by a file in it.
    fn of_package(word: &str) -> Option<&'static Self> {
        let is = |package: &&&str| {
            let version = word.strip_prefix(**package).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'));
            let mut parts = word.split("node_modules/").skip(1);
            version || parts.any(|part| part.strip_prefix(**package).is_some_and(|rest| rest.starts_with('/')))
        };
        AGENTS.iter().find(|agent| agent.packages.iter().any(|package| is(&package)))
    }

    /// Whether a word sets one of its variables, by itself or as the value of an option.
    fn is_set_in(&self, word: &str) -> bool {
        let mut parts = word.rsplit('=').skip(1);
        let own = |before: &str| {
            let name = before.trim_start_matches('-');
            self.variables.iter().chain(AHEAD).any(|own| name.ends_with(own)) || name.contains(FUNCTIONS)
        };
        parts.any(own)
    }

    /// Whether a variable leads it to other settings: set before it, or exported in the same call.
    fn variable_is_set(&self, run: &Run, analysis: &Analysis, home: Option<&Path>) -> bool {
        let elsewhere = |name: &str, value: &Word| {
            let same = || value.exact_str().is_some_and(|value| home.is_some_and(|home| Path::new(value) == home));
            let (loaders, loads) = LOADS;
            let may_load = || value.exact_str().is_none_or(|value| loads.iter().any(|option| value.contains(option)));
            self.variables.contains(&name)
                || HOMES.contains(&name) && !(name == "HOME" && same())
                || AHEAD.contains(&name)
                || name.starts_with(FUNCTIONS)
                || loaders.contains(&name) && may_load()
        };
        let before = |run: &Run| {
            run.env
                .iter()
                .any(|(name, value)| std::str::from_utf8(name.as_bytes()).is_ok_and(|name| elsewhere(name, value)))
        };
        let exported = |run: &Run| {
            let exports = run.program.base.as_deref().is_some_and(|base| EXPORTS.contains(&base));
            let prints = run.program.facets().has(Facets::TEXT);
            let sets = |word: &Word| match word {
                // `export -f timeout`: a function takes the place of a program.
                Word::Exact(_) if exports && word.exact_str().is_some_and(gives_function) => true,
                Word::Exact(_) if exports => word
                    .exact_str()
                    .and_then(|text| text.split_once('='))
                    .is_some_and(|(name, value)| elsewhere(name, &Word::Exact(value.as_bytes().into()))),
                // What starts something else has options of its own for variables (`systemd-run --setenv=NAME=x`).
                Word::Exact(_) => !prints && word.exact_str().is_some_and(|text| self.is_set_in(text)),
                Word::Dynamic(_) | Word::Opaque => false,
            };
            run.argv.iter().skip(1).any(sets)
        };
        before(run) || analysis.runs.iter().any(|other| exported(other) || other.argv.is_empty() && before(other))
    }
}

impl Command {
    fn is_in(&self, words: &[&str]) -> bool {
        let plain: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let said = plain.windows(self.words.len()).any(|some| some == self.words);
        said && (self.about.is_empty() || words.iter().any(|word| self.about.iter().any(|it| holds(word, it))))
    }
}

impl Tool {
    fn is_used(&self, arguments: &Value) -> bool {
        let action = arguments.get(self.action).and_then(Value::as_str);
        let changes = action.is_some_and(|action| self.changes.contains(&action.trim()));
        let text = arguments.to_string();
        // Behind an escape a name can be spelled otherwise.
        changes && (self.about.is_empty() || text.contains("\\\\") || self.about.iter().any(|it| holds(&text, it)))
    }
}

/// Whether an option of `export` hands on functions: `-f`, `-fx`.
fn gives_function(option: &str) -> bool {
    option
        .strip_prefix('-')
        .is_some_and(|letters| letters.contains('f') && letters.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// Whether a text holds another, whatever the case of its letters.
fn holds(text: &str, part: &str) -> bool {
    text.as_bytes().windows(part.len()).any(|some| some.eq_ignore_ascii_case(part.as_bytes()))
}
