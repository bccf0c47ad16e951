//! How wide a remembered answer is: this exact command, this program and subcommand, these paths.

use super::Bound;
use sayso_policy::{
    Actor, Code, Decision, Executable, Grant, GrantSelector, Operation, Person, Policy, State, Verdict,
};
use sayso_policy::{Facts, effects_to_name, explain};
use sayso_shell::program::rehearses;
use sayso_shell::{Carry, Effect, HostTarget, NamedBy, PathTarget, Run, RunId, Target, Verb, instruct};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How wide an answer is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Width {
    /// This exact call, and the files it runs as they are now.
    #[default]
    Exact,
    /// The same program and subcommand, tool or host, with whatever operands need no yes of their own; the same paths.
    Program,
    /// The same, and everything below the folders of the paths.
    Folder,
}

impl Width {
    /// All of them, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Program, Self::Folder];

    /// The word of the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Program => "program",
            Self::Folder => "folder",
        }
    }
}

/// A width at which the answer to a question can be remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Offer {
    /// How wide.
    pub width: Width,
    /// What would be remembered, for each effect that is asked about.
    pub selectors: Vec<GrantSelector>,
    /// That in words, for the person who chooses.
    pub words: String,
}

/// The widths at which a yes to this call would let it pass next time, the narrowest first.
///
/// INVARIANT: each was tried. One that would not answer the very call it is offered for is not offered: it would be a
/// yes to something else.
pub(crate) fn offers(
    policy: &Policy,
    operation: &Operation,
    decision: &Decision,
    bound: &Bound,
    state: &State,
    facts: Facts<'_>,
) -> Vec<Offer> {
    let mut found: Vec<Offer> = Vec::new();
    if bound.only_once.is_some() {
        return found;
    }
    for width in Width::ALL {
        let Some(mut selectors) = selectors(operation, decision, bound, width, facts) else { continue };
        for selector in &mut selectors {
            bind(selector, operation, facts);
        }
        let known = found.iter().any(|offer| offer.selectors == selectors);
        if !known && answers(policy, operation, decision, &selectors, state, facts) {
            let words = words(operation, width, &selectors);
            found.push(Offer { width, selectors, words });
        }
    }
    found
}

/// Whether grants of these would answer the call.
fn answers(
    policy: &Policy,
    operation: &Operation,
    decision: &Decision,
    selectors: &[GrantSelector],
    state: &State,
    facts: Facts<'_>,
) -> bool {
    // Given by all whom it is addressed to, and a few more where many are needed.
    let members = decision.addressees().into_iter().flatten().flat_map(|to| to.members.clone());
    let mut givers: Vec<Person> =
        members.map(|name| Person { groups: vec![name.clone()], ..Person::named(name) }).collect();
    let groups: Vec<String> = givers.iter().map(|giver| giver.name.clone()).collect();
    let most = decision.addressees().into_iter().flatten().map(|to| to.need).max().unwrap_or(1).min(1_000);
    givers.extend((0..most).map(|n| Person { groups: groups.clone(), ..Person::named(format!("giver {n}")) }));
    let grant = |selector: &GrantSelector| Grant {
        id: "offer".to_owned(),
        selector: selector.clone(),
        workspace: state.workspace.clone(),
        session: None,
        uses_left: None,
        expires_ms: None,
        givers: givers.clone(),
        verdict: Verdict::Allow,
        actor: Actor { tenant: operation.actor.tenant.clone(), ..Actor::default() },
        plan: None,
    };
    let state = State { grants: selectors.iter().map(grant).collect(), ..state.clone() };
    policy.evaluate(operation, &state, facts).verdict == Verdict::Allow
}

/// Binds a yes to a program to the file that its name means now.
fn bind(selector: &mut GrantSelector, operation: &Operation, facts: Facts<'_>) {
    if let GrantSelector::Pattern { verb: Verb::Run, pattern, program } = selector {
        let name = pattern.split(' ').next();
        let mut runs = operation.analysis.iter().flat_map(|analysis| &analysis.runs);
        let run = runs.find(|run| run.program.base.as_deref() == name);
        *program = run.map(|run| Executable::of(run, facts.files));
    }
}

/// What would be remembered at this width; `None`: something in the call has no such width.
fn selectors(
    operation: &Operation,
    decision: &Decision,
    bound: &Bound,
    width: Width,
    facts: Facts<'_>,
) -> Option<Vec<GrantSelector>> {
    match width {
        Width::Exact => Some(vec![GrantSelector::Digest(bound.exact.clone())]),
        _ => proposed(operation, decision, width, facts),
    }
}

/// The patterns for what is asked about, at a width that is not this call alone.
fn proposed(operation: &Operation, decision: &Decision, width: Width, facts: Facts<'_>) -> Option<Vec<GrantSelector>> {
    let mut found: Vec<GrantSelector> = Vec::new();
    for index in asked_about(operation, decision, facts)? {
        let effect = operation.effects.get(index)?;
        // A pattern is shown, and would quote the file.
        if operation.provenance.has_effect(index) {
            return None;
        }
        let (verb, pattern) = pattern(operation, effect, index, width, facts)?;
        if tells_secret(operation, &pattern) {
            return None;
        }
        let selector = GrantSelector::pattern(verb, &pattern).ok()?;
        if !found.contains(&selector) {
            found.push(selector);
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The effects that an answer must name. A question about a call whose effects are known is about those.
pub(crate) fn asked_about(operation: &Operation, decision: &Decision, facts: Facts<'_>) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for asked in decision.effects.iter().filter(|effect| effect.verdict == Verdict::Ask) {
        let index = asked.effect?;
        match &operation.effects.get(index)?.target {
            Target::Tool if operation.known => places.extend(effects_to_name(operation, facts)?),
            _ => places.push(index),
        }
    }
    Some(places)
}

/// The narrowest pattern for one effect that is not this call alone; `None`: there is none, or it would quote a secret.
pub(crate) fn named(operation: &Operation, index: usize, facts: Facts<'_>) -> Option<(Verb, String)> {
    let effect = operation.effects.get(index)?;
    let (verb, pattern) = pattern(operation, effect, index, Width::Program, facts)?;
    let shows = operation.provenance.has_effect(index) || tells_secret(operation, &pattern);
    (!shows).then_some((verb, pattern))
}

/// Whether a pattern would show, and keep, what is taken out of the command before it is kept.
fn tells_secret(operation: &Operation, pattern: &str) -> bool {
    let command = explain::effect::command_text(operation).map(String::from_utf8_lossy).unwrap_or_default();
    crate::audit::said_of(&command, pattern) != pattern
}

fn pattern(
    operation: &Operation,
    effect: &Effect,
    index: usize,
    width: Width,
    facts: Facts<'_>,
) -> Option<(Verb, String)> {
    match &effect.target {
        Target::Program(id) | Target::Option(id) => Some((Verb::Run, program(operation, *id, facts)?)),
        Target::Path(PathTarget::Exact(path)) => {
            let resolved = operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
            Some((effect.verb, path_pattern(operation, resolved.unwrap_or(path), width)?))
        }
        Target::Path(target) => {
            (width == Width::Folder).then_some(())?;
            let path = target.place()?;
            Some((effect.verb, format!("{}/**", plain_path(operation, path)?)))
        }
        Target::Host(HostTarget::Exact { host, .. }) => plain(host).then(|| (Verb::Connect, host.clone())),
        Target::Tool => plain(&operation.tool.canonical).then(|| (Verb::Call, operation.tool.canonical.clone())),
        _ => None,
    }
}

/// `git push --force`: the program, its subcommands, and the flags that need a yes of their own, that name files for it
/// to go by, or that hold it back. What a flag makes it run or go by is named with its value.
fn program(operation: &Operation, id: RunId, facts: Facts<'_>) -> Option<String> {
    let run = operation.analysis.as_ref()?.run(id)?;
    let mut words = vec![run.program.base.clone()?];
    words.extend((0..usize::from(run.subcommands)).map_while(|at| run.subcommand(at)).map(str::to_owned));
    let mut flags: Vec<String> = Vec::new();
    for effect in operation.effects.iter().filter(|effect| belongs(effect, id)) {
        if let Carry::Named { by: NamedBy::Flag(flag), code } = &effect.carry {
            match Code::of(*code) {
                Some(Code::RunsCommand | Code::RunsCode | Code::RunsElsewhere) => flags.extend(with_values(run, flag)),
                _ => flags.push(flag.clone()),
            }
        }
    }
    flags.extend(instruct::options_with_files(run, facts.files).iter().flat_map(|flag| with_values(run, flag)));
    let holds_back = run.options.iter().map(|option| &option.name).filter(|name| rehearses(name));
    flags.extend(holds_back.cloned());
    for flag in flags {
        if !words.contains(&flag) {
            words.push(flag);
        }
    }
    let all_plain = words.iter().all(|word| plain(word));
    (all_plain && is_there(run)).then(|| words.join(" "))
}

/// A flag as it is given: once for each of its values, as far as they are known to be its.
fn with_values(run: &Run, flag: &str) -> Vec<String> {
    let given = run.options.iter().filter(|option| option.name == flag && !option.implied);
    let written = |option: &sayso_shell::Opt| match &option.value {
        // A space is in no pattern: whoever says yes to such a value says it to this call.
        Some(value) => format!("{flag}={}", value.exact_str().unwrap_or(" ")),
        None => flag.to_owned(),
    };
    let mut found: Vec<String> = given.map(written).collect();
    if found.is_empty() {
        found.push(flag.to_owned());
    }
    found
}

fn belongs(effect: &Effect, id: RunId) -> bool {
    matches!(&effect.target, Target::Option(own) if *own == id) || effect.run == Some(id)
}

/// A program inside the workspace has no name that a pattern could use.
fn is_there(run: &Run) -> bool {
    run.program.shadow.is_none()
}

fn path_pattern(operation: &Operation, path: &Path, width: Width) -> Option<String> {
    match width {
        Width::Folder => Some(format!("{}/**", plain_path(operation, path.parent()?)?)),
        _ => plain_path(operation, path),
    }
}

/// A path as a pattern that means it alone: `./src/x.rs` in the workspace, so that worktrees share it.
fn plain_path(operation: &Operation, path: &Path) -> Option<String> {
    let text = match operation.workspace.root_for_allow().and_then(|root| path.strip_prefix(root).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Some(rest) => format!("./{}", rest.to_str()?),
        None => path.to_str().filter(|_| path.is_absolute())?.to_owned(),
    };
    plain(&text).then_some(text)
}

/// No character that means something in a pattern.
fn plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| "*?[]{}!|@\\".contains(c) || c.is_whitespace() || c.is_control())
}

fn words(operation: &Operation, width: Width, selectors: &[GrantSelector]) -> String {
    if width == Width::Exact {
        let text = explain::effect::command_text(operation).map(String::from_utf8_lossy);
        return match text {
            // The question holds the whole command; here it is only named.
            Some(text) => format!("exactly this command: {}", crate::audit::shown(&text)),
            None => format!("exactly this call to {}{}", operation.tool.canonical, does(operation)),
        };
    }
    let one = |selector: &GrantSelector| match selector {
        GrantSelector::Digest(_) => String::new(),
        // Whoever chooses must know how wide that is: no subcommand of it is known, so that none is left out.
        GrantSelector::Pattern { verb: Verb::Run, pattern, .. } if is_unknown(pattern) => {
            format!("`{pattern}` with any arguments, whatever they do: Sayso doesn't know this program")
        }
        GrantSelector::Pattern { verb: Verb::Run, pattern, .. } => format!("`{pattern}` with any ordinary operands"),
        GrantSelector::Pattern { verb, pattern, .. } => format!("{} `{pattern}`", verb_word(*verb)),
    };
    selectors.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// `: write /home/ann/app/x.md`, for a call whose effects are known.
fn does(operation: &Operation) -> String {
    let effects = operation.effects.iter().filter(|effect| effect.verb != Verb::Call);
    let shown: Vec<String> = effects
        .take(2)
        .map(|it| format!("{} {}", explain::effect::verb(it), explain::effect::target(operation, it)))
        .collect();
    if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) }
}

/// Whether a pattern for a program is about one of which Sayso knows no subcommands, options or operands.
fn is_unknown(pattern: &str) -> bool {
    pattern.split(' ').next().is_none_or(|name| sayso_shell::program::spec(name).is_none())
}

fn verb_word(verb: Verb) -> &'static str {
    match verb {
        Verb::Run => "running",
        Verb::Read => "reading",
        Verb::Write => "writing",
        Verb::Delete => "deleting",
        Verb::Connect => "connecting to",
        Verb::Call => "calling",
    }
}
