//! What a call needs a yes for, as patterns that could stand in a rule.

use super::Ask;
use crate::approval::{asked_about, named};
use sayso_policy::{Decision, Facts, GrantSelector, Operation, Opinion, Stage, Verdict};
use sayso_shell::program::{Facets, facets};
use sayso_shell::{Carry, HostTarget, PathTarget, RunId, Target, Verb};
use std::collections::BTreeSet;
use std::path::Path;

/// Rules of one kind that belong together in one rule of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    /// Commands of a program.
    Run(String),
    /// Scripts of the project, each by its path, that an interpreter runs; without a name: that run themselves.
    Scripts(String),
    /// A command, to hosts.
    Fetch(String),
    /// Hosts, whatever reaches them.
    Hosts,
    /// Tools of a server, or of the agent itself.
    Tools(String),
    /// Paths, and folders with all below them.
    Path(Verb),
}

/// One pattern that a call needs a yes for.
pub(super) type Need = (Family, String);

/// What is named of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// Its programs.
    Programs,
    /// Every effect, paths by the folder that they are in.
    Effects,
    /// Every effect, paths as they are.
    Narrow,
}

/// What a rule, a limit or a finding asks about it asks on purpose.
pub(super) fn on_purpose(decision: &Decision) -> Option<&Opinion> {
    let of_purpose = |(_, opinion): &(_, &Opinion)| opinion.stage != Stage::Default || opinion.always;
    decision.asks().find(of_purpose).map(|(_, opinion)| opinion)
}

/// What a call needs a yes for; `None`: no rule is proposed for it.
pub(super) fn needs(ask: &Ask, width: Width, facts: Facts<'_>) -> Option<BTreeSet<Need>> {
    let (operation, decision) = (&ask.operation, &ask.decision);
    if ask.refused == ask.calls {
        return None;
    }
    if on_purpose(decision).is_some() {
        return None;
    }
    let mut found = BTreeSet::new();
    for index in asked_about(operation, decision, facts)? {
        let effect = operation.effects.get(index)?;
        match &effect.target {
            Target::Program(id) | Target::Option(id) => {
                found.extend(program(operation, decision, index, *id, facts)?);
            }
            _ if width == Width::Programs => {}
            // The program that reaches a host is allowed to reach that host.
            Target::Host(_) if effect.run.is_some() => {}
            Target::Host(HostTarget::Exact { .. }) => {
                let (_, host) = named(operation, index, facts)?;
                found.insert((Family::Hosts, host));
            }
            Target::Path(target) => {
                found.insert(match width {
                    Width::Narrow => narrow_path(operation, index, effect.verb, target, facts)?,
                    _ => path(operation, index, effect.verb, target)?,
                });
            }
            Target::Tool => {
                let (_, name) = named(operation, index, facts)?;
                let server = name.split_once('/').map(|(server, _)| server.to_owned());
                GrantSelector::pattern(Verb::Call, &name).ok()?;
                found.insert((Family::Tools(server.unwrap_or_default()), name));
            }
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// A program by its words, and by the hosts that it reaches.
fn program(operation: &Operation, decision: &Decision, index: usize, id: RunId, facts: Facts<'_>) -> Option<Vec<Need>> {
    let Some((_, pattern)) = named(operation, index, facts) else {
        return own_script(operation, index, id).map(|need| vec![need]);
    };
    let pattern = with_first_words(operation, id, pattern);
    // A yes to what runs anything would be a yes to everything, so that what it runs is named.
    if GrantSelector::pattern(Verb::Run, &pattern).is_err() || fetches(&pattern) {
        let known = script(operation, id).or_else(|| fetched(operation, decision, id))?;
        return Some(vec![known]);
    }
    let mut hosts = Vec::new();
    for effect in operation.effects.iter().filter(|effect| effect.run == Some(id) && effect.verb == Verb::Connect) {
        match &effect.target {
            Target::Host(HostTarget::Exact { host, .. }) => hosts.push(host.clone()),
            // What the tool's configuration names, no word of the command does.
            Target::Host(HostTarget::Configured(_)) => {}
            _ => return None,
        }
    }
    let reaches = reaches(&pattern);
    if runs_what_follows(&pattern) || (hosts.is_empty() && reaches) {
        return None;
    }
    if !hosts.is_empty() {
        let plain = |host: &String| GrantSelector::pattern(Verb::Connect, host).is_ok();
        return hosts
            .iter()
            .all(plain)
            .then(|| hosts.into_iter().map(|host| (Family::Fetch(pattern.clone()), host)).collect());
    }
    let name = pattern.split(' ').next().unwrap_or_default().to_owned();
    Some(vec![(Family::Run(name), pattern)])
}

/// What tells that a word says all: the words behind it name what it is done to.
const SAYS_ALL: &[&str] = &[
    "get", "list", "ls", "show", "status", "describe", "view", "search", "find", "info", "version", "plan", "diff",
    "check", "test", "lint", "build", "validate", "logs", "log", "help", "whoami", "cat", "read", "fetch", "query",
    "run", "start", "stop", "fmt", "format", "init", "add", "create", "delete", "remove", "rm", "set", "update",
    "apply", "install", "deploy",
];

/// Of a program that Sayso doesn't know, its first word is taken for a subcommand where it looks like one: a yes to
/// `acmectl status` is none to `acmectl delete`. Where that is no verb, the second is: `acmectl pods list`.
fn with_first_words(operation: &Operation, id: RunId, pattern: String) -> String {
    // Of the client of a service, the words behind its name say what it does there, whether or not they are in its table.
    let configured = |effect: &sayso_shell::Effect| {
        effect.run == Some(id) && matches!(&effect.target, Target::Host(HostTarget::Configured(_)))
    };
    let is_known =
        |spec: &sayso_shell::program::Spec| !spec.subs.is_empty() || !operation.effects.iter().any(configured);
    if pattern.contains(' ') || sayso_shell::program::spec(&pattern).is_some_and(is_known) {
        return pattern;
    }
    let run = operation.analysis.as_ref().and_then(|analysis| analysis.run(id));
    let word_at = |at: usize| {
        let word = run.and_then(|run| run.argv.get(at)).and_then(|word| word.exact_str());
        word.filter(is_word)
    };
    match (word_at(1), word_at(2)) {
        (Some(first), Some(second)) if !SAYS_ALL.contains(&first) => format!("{pattern} {first} {second}"),
        (Some(first), _) => format!("{pattern} {first}"),
        (None, _) => pattern,
    }
}

fn is_word(word: &&str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Whether a program fetches what its words name and starts it.
fn fetches(pattern: &str) -> bool {
    pattern.split(' ').next().is_some_and(|name| facets(name).has(Facets::FETCHES))
}

/// An interpreter with a script of the project: by the script's path, so that it is neither inline code nor another file.
fn script(operation: &Operation, id: RunId) -> Option<Need> {
    let run = operation.analysis.as_ref()?.run(id)?;
    let name = run.program.base.clone()?;
    if !facets(&name).has(Facets::INTERPRETER.and(Facets::SHELL)) || run.program.shadow.is_some() {
        return None;
    }
    // An option with a value may be the code, or make the operand another one's.
    if run.options.iter().any(|option| option.value.is_some()) || run.subcommands > 0 || run.open_options {
        return None;
    }
    let inline = |effect: &sayso_shell::Effect| {
        effect.run == Some(id)
            && matches!(&effect.carry, Carry::Named { code, .. } if *code == sayso_shell::Code::InlineCode)
    };
    if operation.effects.iter().any(inline) {
        return None;
    }
    let path = run.argv.get(usize::from(*run.words.first()?))?.exact_str()?;
    // A bare name may be anything that was just written there.
    let named = path.strip_prefix("./").unwrap_or(path).contains('/');
    (named && is_script(path) && is_inside(operation, path))
        .then(|| (Family::Scripts(name.clone()), format!("{name} {path}")))
}

/// A program that lies in the project, by its path there.
fn own_script(operation: &Operation, index: usize, id: RunId) -> Option<Need> {
    if operation.provenance.has_effect(index) {
        return None;
    }
    let run = operation.analysis.as_ref()?.run(id)?;
    let path = run.name()?;
    let root = operation.workspace.root_for_allow()?;
    let whole = match Path::new(path).is_absolute() {
        true => path.into(),
        false => run.cwd.as_deref()?.join(path.strip_prefix("./").unwrap_or(path)),
    };
    let rest = whole.strip_prefix(root).ok()?.to_str()?;
    (path.contains('/') && is_script(rest)).then(|| (Family::Scripts(String::new()), format!("./{rest}")))
}

/// A path that reads the same as a pattern, and names a file.
fn is_script(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    let named = path.contains('/') || Path::new(path).extension().is_some();
    named && !path.starts_with('-') && path.chars().all(plain) && path.split('/').all(|part| part != "..")
}

fn is_inside(operation: &Operation, path: &str) -> bool {
    let root = operation.workspace.root_for_allow();
    !Path::new(path).is_absolute() || root.is_some_and(|root| Path::new(path).starts_with(root))
}

/// What fetches a program where it is not installed, with one that the policy allows by itself: `npx tsc`.
fn fetched(operation: &Operation, decision: &Decision, id: RunId) -> Option<Need> {
    let analysis = operation.analysis.as_ref()?;
    let name = analysis.run(id)?.program.base.clone()?;
    if !fetches(&name) {
        return None;
    }
    let allowed = |child: RunId| {
        decision.effects.iter().any(|said| {
            let effect = said.effect.and_then(|at| operation.effects.get(at));
            said.verdict == Verdict::Allow
                && effect.is_some_and(|it| matches!(it.target, Target::Program(own) if own == child))
        })
    };
    let numbers = (0_u32..).map(RunId);
    let child = analysis.runs.iter().zip(numbers).find(|(run, at)| run.parent == Some(id) && allowed(*at))?;
    let inner = child.0.name().filter(is_word)?;
    Some((Family::Run(name.clone()), format!("{name} {inner}")))
}

/// Whether a command reaches whatever host stands behind it.
pub(super) fn reaches(pattern: &str) -> bool {
    // An address among the words of a build is a target or a setting, which the build may go by or not.
    if pattern.split(' ').next().is_some_and(|name| facets(name).has(Facets::BUILDS)) {
        return false;
    }
    let operation = Operation::execute(format!("{pattern} https://host.invalid/x"));
    operation.effects.iter().any(|effect| {
        // Of a program that Sayso doesn't know, every address might be one that it reaches.
        effect.certain
            && effect.verb == Verb::Connect
            && matches!(&effect.target, Target::Host(HostTarget::Exact { host, .. }) if host.contains("host.invalid"))
    })
}

/// What makes a program start, or fetch and start, what its words name.
const STARTS: Facets = Facets::MULTI_CALL
    .and(Facets::ONLY_STARTS)
    .and(Facets::OTHER_USER)
    .and(Facets::OTHER_ROOT)
    .and(Facets::FEEDS)
    .and(Facets::FETCHES);

/// Whether a command runs whatever stands behind it.
pub(super) fn runs_what_follows(pattern: &str) -> bool {
    let starts = |behind: &str| {
        let operation = Operation::execute(format!("{pattern} {behind}"));
        operation.analysis.as_ref().map_or(0, |analysis| analysis.runs.len()) > 1
    };
    // By its subcommand it may do something else: `docker compose up` starts no words of the command.
    let (name, has_subcommand) = pattern.split_once(' ').map_or((pattern, false), |(name, _)| (name, true));
    starts("./x") || starts("./x ./y") || (!has_subcommand && facets(name).has(STARTS)) || fetches(pattern)
}

/// The folder that a path is in: a project beside this one, a package of the system. What is deleted is not proposed.
fn path(operation: &Operation, index: usize, verb: Verb, target: &PathTarget) -> Option<Need> {
    if !matches!(verb, Verb::Read | Verb::Write) || operation.provenance.has_effect(index) {
        return None;
    }
    let resolved = operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
    let path = resolved.or_else(|| target.place())?;
    let whole = matches!(target, PathTarget::Exact(_));
    let pattern = folder(path, operation.home.as_deref(), operation.workspace.root(), whole)?;
    GrantSelector::pattern(verb, &pattern).ok()?;
    Some((Family::Path(verb), pattern))
}

/// This path, or this folder, alone.
fn narrow_path(operation: &Operation, index: usize, verb: Verb, target: &PathTarget, facts: Facts<'_>) -> Option<Need> {
    let pattern = match target {
        PathTarget::Exact(_) => named(operation, index, facts)?.1,
        _ => {
            let place = target.place()?.to_str()?;
            let plain = !place.contains(|c: char| "*?[]{}!|@\\\"".contains(c) || c.is_whitespace());
            plain.then(|| format!("{}/**", place.trim_end_matches('/')))?
        }
    };
    GrantSelector::pattern(verb, &pattern).ok()?;
    Some((Family::Path(verb), pattern))
}

pub(super) fn folder(path: &Path, home: Option<&Path>, workspace: Option<&Path>, is_file: bool) -> Option<String> {
    let below_home = home.and_then(|home| path.strip_prefix(home).ok());
    let (start, rest) = match below_home {
        Some(rest) => ("~", rest),
        None => ("", path.strip_prefix("/").ok()?),
    };
    let parts: Vec<&str> = rest.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    let plain = |part: &&str| !part.contains(|c: char| "*?[]{}!|@\\\"".contains(c) || c.is_whitespace());
    if parts.is_empty() || !parts.iter().all(plain) {
        return None;
    }
    // `~/other/**`, but `~/.config/tool/**` and `/opt/tool/**`; beside `~/src/app` the project is `~/src/other`.
    let hidden = parts.first().is_some_and(|part| part.starts_with('.'));
    let shared = workspace.map_or(0, |root| shared(path, root, home));
    let depth = (if start == "~" && !hidden { 1 } else { 2 }).max(shared + 1);
    let pattern = match parts.len() {
        length if length > depth || (length == depth && !is_file) => {
            format!("{start}/{}/**", parts.get(..depth)?.join("/"))
        }
        _ if is_file => format!("{start}/{}", parts.join("/")),
        _ => return None,
    };
    Some(pattern)
}

/// How many folders a path shares with the workspace, counted from the home folder where both are below it.
fn shared(path: &Path, root: &Path, home: Option<&Path>) -> usize {
    let from = home.filter(|home| path.starts_with(home));
    let below = |it: &Path| {
        from.map_or_else(
            || it.strip_prefix("/").ok().map(Path::to_owned),
            |home| it.strip_prefix(home).ok().map(Path::to_owned),
        )
    };
    match (below(path), below(root)) {
        (Some(path), Some(root)) => path.iter().zip(root.iter()).take_while(|(a, b)| a == b).count(),
        _ => 0,
    }
}
