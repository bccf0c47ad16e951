//! What a call needs a yes for, as patterns that could stand in a rule.

use super::family::{Family, Where, tells_what_it_sends};
use super::{Ask, harm, script};
use crate::approval::{asked_about, named};
use sayso_policy::{Decision, Facts, GrantSelector, Operation, Opinion, Stage};
use sayso_shell::program::{Facets, facets};
use sayso_shell::{Carry, Code, HostTarget, NamedBy, PathTarget, RunId, Target, Verb, Word};
use std::collections::BTreeSet;
use std::path::Path;

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
    if on_purpose(decision).is_some() || (width != Width::Narrow && harm::call_acts(ask)) {
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
                if width != Width::Narrow && harm::takes_anything(ask) {
                    return None;
                }
                GrantSelector::pattern(Verb::Call, &name).ok()?;
                found.insert((Family::Tools, name));
            }
            // The pattern of its command names it, by its words.
            _ if matches!(&effect.carry, Carry::Named { by: NamedBy::Words(_) | NamedBy::Program, .. }) => {}
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// A program by its words, and by the hosts that it reaches.
fn program(operation: &Operation, decision: &Decision, index: usize, id: RunId, facts: Facts<'_>) -> Option<Vec<Need>> {
    let needs = plain_program(operation, decision, index, id, facts)?;
    // A variable that changes what runs is named, as it is set.
    let Some(variable) = steered_by(operation, id)? else { return Some(needs) };
    let with = |(family, pattern): Need| match family {
        Family::Looks(_) | Family::Work(_) | Family::Run(_) => Some((Family::With(variable.clone(), false), pattern)),
        Family::Scripts => Some((Family::With(variable.clone(), true), pattern)),
        _ => None,
    };
    needs.into_iter().map(with).collect()
}

fn plain_program(
    operation: &Operation,
    decision: &Decision,
    index: usize,
    id: RunId,
    facts: Facts<'_>,
) -> Option<Vec<Need>> {
    let Some((_, pattern)) = named(operation, index, facts) else {
        return script::own(operation, index, id).map(|need| vec![need]);
    };
    let pattern = with_first_words(operation, id, pattern)?;
    // A yes to what runs anything would be a yes to everything, so that what it runs is named.
    let of_table = operation.analysis.as_ref()?.run(id).is_some_and(|run| run.subcommands > 0);
    let name = pattern.split(' ').next().unwrap_or_default().to_owned();
    let is_broad = GrantSelector::pattern(Verb::Run, &pattern).is_err();
    let by_subcommand = of_table && !facets(&name).has(Facets::INTERPRETER.and(Facets::SHELL));
    if (is_broad && !by_subcommand) || fetches(&pattern) {
        let known = script::of_interpreter(operation, id).or_else(|| fetched(operation, decision, id))?;
        return Some(vec![known]);
    }
    let (mut hosts, mut configured) = (Vec::new(), false);
    for effect in operation.effects.iter().filter(|effect| effect.run == Some(id) && effect.verb == Verb::Connect) {
        match &effect.target {
            Target::Host(HostTarget::Exact { host, .. }) => hosts.push(host.clone()),
            // What the tool's configuration names, no word of the command does.
            Target::Host(HostTarget::Configured(_)) => configured = true,
            _ => return None,
        }
    }
    if runs_what_follows(&pattern) {
        return None;
    }
    let mut place = Where::Anywhere;
    if hosts.is_empty() && !configured && reaches(&pattern) {
        // In the project alone no host is reached. What nobody knows, no folder bounds.
        sayso_shell::program::spec(&name).filter(|_| !fetches_anything(&pattern))?;
        place = Where::Here;
    }
    if !hosts.is_empty() {
        let plain = |host: &String| GrantSelector::pattern(Verb::Connect, host).is_ok();
        let pattern = to_hosts(operation, id, pattern)?;
        return hosts
            .iter()
            .all(plain)
            .then(|| hosts.into_iter().map(|host| (Family::Fetch(pattern.clone()), host)).collect());
    }
    Some(vec![(family(operation, id, &pattern, place)?, pattern)])
}

/// A command that reaches hosts by the method that it uses, where a word says so; `None`: it sends something.
fn to_hosts(operation: &Operation, id: RunId, pattern: String) -> Option<String> {
    let run = operation.analysis.as_ref()?.run(id)?;
    let name = pattern.split(' ').next().unwrap_or_default();
    if tells_what_it_sends(name) {
        return (!run.options.iter().any(|option| option.name == "--sends")).then_some(pattern);
    }
    let first = run.words.first().and_then(|at| run.argv.get(usize::from(*at))).and_then(Word::exact_str);
    let method = first.filter(|word| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase()));
    match method {
        Some(word) => matches!(word, "GET" | "HEAD").then(|| format!("{pattern} {word}")),
        // Without a table nobody knows what else the words of a program do at the host.
        None => (sayso_shell::program::spec(name).is_some() || pattern.contains(' ')).then_some(pattern),
    }
}

/// Which rule a pattern belongs to.
fn family(operation: &Operation, id: RunId, pattern: &str, place: Where) -> Option<Family> {
    let mut words = pattern.split(' ');
    let name = words.next().unwrap_or_default().to_owned();
    let of_run = operation.effects.iter().filter(|effect| {
        effect.run == Some(id) || matches!(effect.target, Target::Program(own) | Target::Option(own) if own == id)
    });
    for effect in of_run {
        match &effect.carry {
            // What it installs is whatever its words say.
            Carry::Named { code: Code::Installs | Code::ChangesSystem, .. } => return None,
            Carry::Named { code: Code::ChangesService | Code::Serves, .. } => {
                return Some(Family::Run(name));
            }
            _ => {}
        }
    }
    let mut words = words.filter(|word| !word.starts_with('-')).peekable();
    Some(match words.peek().is_some() && words.any(|word| word.split('-').any(|part| LOOKS.contains(&part))) {
        true => Family::Looks(place),
        false => Family::Work(place),
    })
}

/// What only looks, where it stands among the words of a command.
const LOOKS: &[&str] = &[
    "get",
    "list",
    "ls",
    "show",
    "status",
    "describe",
    "view",
    "search",
    "find",
    "info",
    "version",
    "diff",
    "logs",
    "log",
    "help",
    "whoami",
    "cat",
    "read",
    "query",
    "history",
    "tail",
    "top",
    "explain",
    "inspect",
    "ping",
    "keys",
    "count",
    "watch",
    "ps",
    "tree",
    "outdated",
    "why",
    "routes",
    "plan",
    "providers",
    "events",
    "whois",
    "lookup",
    "filter",
    "head",
    "stat",
    "stats",
    "metrics",
    "report",
    "print",
    "preview",
    "template",
    "validate",
];

/// The variable that changes what a program runs, as it is set: `NODE_OPTIONS=--max-old-space-size=8192`.
/// `None`: there are several, or it could lead anywhere.
#[expect(clippy::option_option, reason = "no variable is not the same as one that no rule is made for")]
fn steered_by(operation: &Operation, id: RunId) -> Option<Option<String>> {
    /// What decides which programs and libraries are started, not how one works.
    const LEADS: &[&str] = &[
        "PRELOAD", "AUDIT", "PATH", "COMMAND", "SSH", "ASKPASS", "WRAPPER", "PROXY", "SHELL", "EDITOR", "PAGER",
        "HOME", "ENV", "IFS", "LIBRARY", "RUNNER", "LAUNCHER", "BROWSER", "HOOK", "CONFIG", "TEMPLATE",
    ];
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for effect in &operation.effects {
        let own =
            effect.run == Some(id) || matches!(effect.target, Target::Program(it) | Target::Option(it) if it == id);
        if let (true, Carry::Named { by: NamedBy::Env(name), .. }) = (own, &effect.carry) {
            found.insert(name);
        }
    }
    let mut found = found.into_iter();
    let Some(name) = found.next() else { return Some(None) };
    // Where modules of the language are looked for, and only that, may lead into the project.
    let modules = name.ends_with("PATH") && name.len() > "PATH".len() && !name.starts_with("LD_");
    if found.next().is_some() || (!modules && name.split('_').any(|part| LEADS.contains(&part))) {
        return None;
    }
    let run = operation.analysis.as_ref()?.run(id)?;
    let value = run.env.iter().rev().find(|(known, _)| known.to_string_lossy() == name)?.1.exact_str()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+=/:,".contains(c);
    let inside =
        !modules || value.split(':').all(|part| !part.starts_with('/') && !part.split('/').any(|it| it == ".."));
    (!value.is_empty() && inside && value.chars().all(plain)).then(|| Some(format!("{name}={value}")))
}

/// What tells that a word says all: the words behind it name what it is done to.
const SAYS_ALL: &[&str] = &[
    "get", "list", "ls", "show", "status", "describe", "view", "search", "find", "info", "version", "plan", "diff",
    "check", "test", "lint", "build", "validate", "logs", "log", "help", "whoami", "cat", "read", "fetch", "query",
    "run", "start", "stop", "fmt", "format", "init", "add", "create", "delete", "remove", "rm", "set", "update",
    "apply", "install", "deploy",
];

/// What says what is done, and not yet to what: the word behind it is part of it.
const SAYS_LITTLE: &[&str] = &["run", "start", "exec", "call", "task", "do", "use", "db", "x", "make"];

/// Of a program that Sayso doesn't know, its first word is taken for a subcommand where it looks like one: a yes to
/// `acmectl status` is none to `acmectl delete`. Where that is no verb, the second is: `acmectl pods list`. `None`: options
/// stand before it, so that nobody knows which word it is.
fn with_first_words(operation: &Operation, id: RunId, pattern: String) -> Option<String> {
    if pattern.contains(' ') {
        return Some(pattern);
    }
    // Where its table holds subcommands, none of them would be all of them.
    let has_subcommands = sayso_shell::program::spec(&pattern).is_some_and(|spec| !spec.subs.is_empty());
    let run = operation.analysis.as_ref()?.run(id)?;
    // Of some tables only the effects are known, and not which options take a value.
    let first = run.words.first().map(|at| usize::from(*at));
    let behind_option = first.and_then(|at| run.argv.get(at.checked_sub(1)?)).is_some_and(Word::may_be_option);
    let has_table = run.program.known && !behind_option;
    let word_at = |at: usize| {
        let place = match has_table {
            // Where options are known, words are known from their values.
            true => usize::from(*run.words.get(at)?),
            false => at + 1,
        };
        run.argv.get(place).and_then(Word::exact_str).filter(|word| is_word(word))
    };
    let options_first = run.argv.get(1).is_some_and(Word::may_be_option);
    let says_more = |word: &str| SAYS_LITTLE.contains(&word) || !SAYS_ALL.contains(&word);
    match (word_at(0), word_at(1), word_at(2)) {
        // `aws --profile dev s3 ls`: the word may be the value of the option.
        (None, ..)
            if !has_table && options_first && run.argv.iter().skip(1).filter_map(Word::exact_str).any(is_word) =>
        {
            None
        }
        (None, ..) => (!has_subcommands).then_some(pattern),
        (Some(first), Some(second), third) if says_more(first) => Some(match third {
            // `gcloud container clusters list`.
            Some(third) if says_more(second) && SAYS_ALL.contains(&third) => {
                format!("{pattern} {first} {second} {third}")
            }
            _ => format!("{pattern} {first} {second}"),
        }),
        (Some(first), ..) => Some(format!("{pattern} {first}")),
    }
}

/// Whether a word looks like a subcommand or a task.
pub(super) fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
}

/// Whether a program fetches what its words name and starts it.
fn fetches(pattern: &str) -> bool {
    pattern.split(' ').next().is_some_and(|name| facets(name).has(Facets::FETCHES))
}

/// What fetches a program where it is not installed, with the program that it starts: `npx tsc`. That one needs a yes of its
/// own, unless the policy allows it by itself.
fn fetched(operation: &Operation, decision: &Decision, id: RunId) -> Option<Need> {
    let analysis = operation.analysis.as_ref()?;
    let name = analysis.run(id)?.program.base.clone()?;
    if !fetches(&name) {
        return None;
    }
    let judged = |child: RunId| {
        decision.effects.iter().any(|said| {
            let effect = said.effect.and_then(|at| operation.effects.get(at));
            effect.is_some_and(|it| matches!(it.target, Target::Program(own) if own == child))
        })
    };
    let numbers = (0_u32..).map(RunId);
    let child = analysis.runs.iter().zip(numbers).find(|(run, at)| run.parent == Some(id) && judged(*at))?;
    let inner = child.0.name().filter(|name| is_word(name) && !harm::acts(name))?;
    Some((Family::Work(Where::Here), format!("{name} {inner}")))
}

/// Whether fetching what stands behind it is what a command is for.
fn fetches_anything(pattern: &str) -> bool {
    let does = |operand: &str, what: &dyn Fn(&sayso_shell::Effect) -> bool| {
        Operation::execute(format!("{pattern} {operand}")).effects.iter().any(what)
    };
    let address = "https://host.invalid/x";
    let installs = |effect: &sayso_shell::Effect| matches!(effect.carry, Carry::Named { code: Code::Installs, .. });
    let writes = |effect: &sayso_shell::Effect| effect.verb == Verb::Write;
    let name = pattern.split(' ').next().unwrap_or(pattern);
    tells_what_it_sends(name) || does(address, &installs) || (does(address, &writes) && !does("./x.y", &writes))
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
    (verb == Verb::Read || !harm::is_foreign(&pattern)).then_some((Family::Path(verb), pattern))
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
