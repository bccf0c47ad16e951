//! Stage 1: what is Sayso's, and what nothing lifts. Built in, no file, grant or mode reaches it.

mod mention;
mod switch;

pub use switch::registration_files;

use super::opinions::Opinions;
use super::{Inputs, built_in};
use crate::index::{Built, Numbers, PathVerb, path as by_path};
use crate::judging::Judging;
use crate::pattern::{PathPattern, Purpose, RunPattern, expand_braces, may_name};
use crate::word::{Code, Opinion, Resolved, Stage, Tri, Verdict};
use sayso_shell::program::Facets;
use sayso_shell::{HostTarget, PathTarget, RunId, Target, Verb};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// What belongs to the Sayso that runs here, beyond the places it uses everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    /// Folders and files that no call may read, change or remove: state, keys, tokens, sockets, caches.
    pub paths: Vec<PathBuf>,
    /// Programs, folders and files by which agents start Sayso, where their names do not tell: read and run, but not
    /// changed.
    pub registration: Vec<PathBuf>,
    /// Links on the way to those: what is reached through them may be anything, but no call may replace or remove them.
    pub links: Vec<PathBuf>,
    /// Files of all these that have further names, as the file system knows them: a write to one of those names changes
    /// them too.
    pub twins: Vec<(u64, u64)>,
    /// Addresses that no call may connect to.
    pub addresses: Vec<(String, u16)>,
}

/// Where Sayso keeps its things: neither read nor changed.
const OWN: &[&str] = &[
    "~/.config/sayso/**",
    "~/.local/state/sayso/**",
    "~/.local/share/sayso/**",
    "~/.cache/sayso/**",
    "/etc/sayso/**",
    "/var/lib/sayso/**",
    "/run/sayso/**",
    "/run/user/*/sayso/**",
];

/// Project policies and the programs that a project teaches: read, but not changed. What registers Sayso with agents is each agent's.
const REGISTRATION: &[&str] = &["/**/.sayso.toml", "/**/.sayso", "/**/.sayso/**"];

/// Raw writes here lose a disk or the running system.
const DEVICES: &[&str] = &[
    "/dev/{sd*,hd*,vd*,xvd*,nvme*,mmcblk*,loop*,dm-*,md*,nbd*,zram*,ram*,sg*,sr*,rdisk*,disk*,mem,kmem,port}",
    "/dev/{disk,mapper,block}/**",
    "/proc/{sysrq-trigger,kcore}",
];

/// Commands that are for people.
const OPERATOR: &[&str] = &[
    "sayso {approvals,trust,token,grants,policy,uninstall,install,mode,serve,store,break-glass,hook,allow,deny}",
    "sayso init",
    "sayso limits reset",
    "sayso route",
    "sayso history --write",
    "sayso session forget",
    "sayso log key rotate",
    "sayso log prune",
    "sayso log accept",
    "sayso mcp pins",
];

/// Patterns, found by their literal parts.
struct Places {
    patterns: Vec<PathPattern>,
    numbers: Numbers,
}

/// Each is made when a call first needs it: a process that lives for a millisecond has no time for more.
static OWN_PLACES: LazyLock<Places> = LazyLock::new(|| paths(OWN));
static REGISTRATION_PLACES: LazyLock<Places> = LazyLock::new(|| {
    let of_agents = switch::AGENTS.iter().flat_map(|agent| agent.places);
    paths(&REGISTRATION.iter().chain(of_agents).copied().collect::<Vec<_>>())
});
static DEVICE_PLACES: LazyLock<Places> = LazyLock::new(|| paths(DEVICES));
static OPERATOR_COMMANDS: LazyLock<Vec<RunPattern>> = LazyLock::new(|| {
    OPERATOR
        .iter()
        .flat_map(|text| expand_braces(text).unwrap_or_default())
        .filter_map(|text| RunPattern::parse(&text, &mut |_| Ok(Vec::new())).ok())
        .collect()
});

fn paths(texts: &[&str]) -> Places {
    let patterns: Vec<PathPattern> = texts
        .iter()
        .flat_map(|text| expand_braces(text).unwrap_or_default())
        .filter_map(|text| PathPattern::parse(&text).ok())
        .collect();
    let mut built = Built::default();
    for (at, pattern) in (0_u32..).zip(&patterns) {
        by_path::add(&mut built, PathVerb::Read, pattern, at);
    }
    Places { patterns, numbers: Numbers::Built(built) }
}

/// The patterns that look at what exists.
pub(crate) fn patterns<'p>() -> impl Iterator<Item = &'p PathPattern> {
    [&OWN_PLACES, &REGISTRATION_PLACES, &DEVICE_PLACES].into_iter().flat_map(|places| &places.patterns)
}

impl Places {
    /// How surely an effect is about one of these places.
    fn hit(&self, judging: &Judging<'_>, at: usize, verb: Verb, target: &PathTarget) -> Tri {
        let empty = Resolved::default();
        let resolved = judging.operation.resolved.get(at).unwrap_or(&empty);
        let mut best = Tri::No;
        by_path::candidates(&self.numbers, PathVerb::Read, verb, target, resolved, judging.tree(), &mut |pattern| {
            if let Some(pattern) = self.patterns.get(pattern as usize) {
                best = best.max(judging.matches_path(pattern, at, verb, target, Purpose::Restrict));
            }
        });
        best
    }
}

/// What is said of each effect, and of the call as a whole. Foreign files alone have this switched off.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    if !inputs.policy.integrity {
        return;
    }
    let (judging, protected) = (inputs.judging, &inputs.policy.protected);
    for (index, on) in said.each() {
        on.opinions.extend(judge_effect(judging, protected, index));
    }
    said.call.extend(judge_call(judging, protected));
}

/// The opinion on one effect.
fn judge_effect(judging: &Judging<'_>, protected: &Protected, index: usize) -> Option<Opinion> {
    let effect = judging.operation.effects.get(index)?;
    match &effect.target {
        // Of what is Sayso's nothing is told either.
        Target::Path(PathTarget::Told(target)) => path(judging, protected, index, effect.verb, target, effect.certain),
        Target::Path(target) => path(judging, protected, index, effect.verb, target, effect.certain),
        Target::Host(HostTarget::Exact { host, port: Some(port) }) => protected
            .addresses
            .iter()
            .any(|(own, own_port)| own_port == port && same_host(own, host))
            .then(|| deny(Code::SaysoItself, "Tool calls may not connect to Sayso's own server.")),
        Target::Program(id) | Target::Wrapper(id) => program(judging, *id),
        _ => None,
    }
}

/// The opinion on the call as a whole.
fn judge_call(judging: &Judging<'_>, protected: &Protected) -> Option<Opinion> {
    if let Some(agent) = switch::by_tool(judging.operation) {
        return Some(takes_down(agent));
    }
    let analysis = judging.analysis()?;
    if analysis.doubts.iter().any(|doubt| Code::of(doubt.code) == Some(Code::ForkBomb)) {
        let text = "A function that keeps starting copies of itself would take the machine down.";
        return Some(deny(Code::ForkBomb, text));
    }
    mention::judge(judging, protected, analysis)
}

/// What would take the guard of an agent down.
fn takes_down(agent: &str) -> Opinion {
    deny(Code::SaysoItself, &format!("This would turn Sayso off for {agent}, or start {agent} without Sayso."))
}

/// Whether this path is, or lies in, one of the places where Sayso keeps its things.
pub(super) fn is_own(judging: &Judging<'_>, protected: &Protected, path: &Path) -> bool {
    let places = || OWN_PLACES.patterns.iter();
    places().any(|place| place.matches_path(path, &judging.bases, Purpose::Restrict))
        || protected.paths.iter().any(|own| path.starts_with(own))
}

fn path(
    judging: &Judging<'_>,
    protected: &Protected,
    index: usize,
    verb: Verb,
    target: &PathTarget,
    certain: bool,
) -> Option<Opinion> {
    let hit = |places: &Places| places.hit(judging, index, verb, target);
    let changes = matches!(verb, Verb::Write | Verb::Delete);
    if changes && certain && wipes(judging, index, verb, target) {
        return Some(deny(Code::WipesEverything, "This would delete the whole system or a home folder."));
    }
    if verb == Verb::Write && hit(&DEVICE_PLACES) == Tri::Yes {
        return Some(deny(Code::RawDevice, "A raw write to a device destroys the data on it."));
    }
    let mut own = hit(&OWN_PLACES);
    for path in &protected.paths {
        own = own.max(overlaps_protected(judging, index, verb, target, path));
    }
    if changes {
        own = own.max(hit(&REGISTRATION_PLACES));
        for path in &protected.registration {
            own = own.max(overlaps_protected(judging, index, verb, target, path));
        }
        for link in &protected.links {
            own = own.max(replaces_link(judging, index, verb, target, link));
        }
        own = own.max(changes_twin(judging, protected, index, verb).into());
        own = own.max(closes_folder(judging, protected, index, verb).into());
    }
    let text = if changes {
        "Only their owner may change Sayso's policy, records and registration, not a tool call."
    } else {
        "Tool calls may not read Sayso's policy, records or keys."
    };
    match own {
        Tri::Yes if certain => Some(deny(Code::SaysoItself, text)),
        Tri::Yes | Tri::Maybe => {
            let text = match (target.place().is_some(), changes) {
                (true, _) => text,
                (false, true) => "Sayso cannot tell which path this changes; it could be one of Sayso's own.",
                (false, false) => "Sayso cannot tell which path this reads; it could be one of Sayso's own.",
            };
            let mut opinion = built_in(Stage::Integrity, Verdict::Ask, Code::SaysoItself, text);
            opinion.maybe = true;
            Some(opinion)
        }
        Tri::No => None,
    }
}

/// Whether an effect reaches a protected path: at it, below it, or from above it.
fn overlaps_protected(judging: &Judging<'_>, index: usize, verb: Verb, target: &PathTarget, path: &Path) -> Tri {
    let Some(resolved) = judging.operation.resolved.get(index) else { return Tri::No };
    if forms(resolved).any(|form| form.starts_with(path)) {
        return Tri::Yes;
    }
    let reaches = |form: &Path| {
        path.starts_with(form)
            && match target {
                PathTarget::Sifted(listing) | PathTarget::Listed(listing) => {
                    judging.tree().lets_through(&listing.sieve, form, path)
                }
                PathTarget::Glob { pattern, below, .. } => may_name(pattern, *below, form, path),
                _ => true,
            }
    };
    if is_deep(target) && forms(resolved).any(reaches) {
        return if verb == Verb::Delete { Tri::Yes } else { Tri::Maybe };
    }
    Tri::No
}

/// Whether a change is made to a file of Sayso's by another of its names. To remove such a name changes nothing.
fn changes_twin(judging: &Judging<'_>, protected: &Protected, index: usize, verb: Verb) -> bool {
    if protected.twins.is_empty() || verb != Verb::Write {
        return false;
    }
    let canonical = judging.operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
    let identity = canonical.and_then(|path| judging.facts.files.identity(path));
    identity.is_some_and(|identity| protected.twins.contains(&identity))
}

/// Whether a change of permissions or attributes is made to a folder above what is Sayso's: nobody reaches what lies in a
/// folder that is closed, neither the guard's program nor the settings by which an agent starts it.
fn closes_folder(judging: &Judging<'_>, protected: &Protected, index: usize, verb: Verb) -> bool {
    let by = judging.operation.effects.get(index).and_then(|effect| judging.run(effect.run?));
    if verb != Verb::Write || !by.is_some_and(|run| run.program.facets().has(Facets::CLOSES)) {
        return false;
    }
    let Some(resolved) = judging.operation.resolved.get(index) else { return false };
    let homes = || judging.operation.home.iter().chain(&judging.operation.claimed_homes);
    let below_home = OWN.iter().filter_map(|pattern| pattern.strip_prefix("~/")?.strip_suffix("/**"));
    let kept = below_home.flat_map(|folder| homes().map(move |home| home.join(folder)));
    let places = protected.registration.iter().chain(&protected.paths).cloned().chain(kept);
    let places: Vec<PathBuf> = places.collect();
    forms(resolved).any(|form| places.iter().any(|place| place != form && place.starts_with(form)))
}

/// Whether a change puts something in the place of a link, or takes it away: at it, or from above it.
fn replaces_link(judging: &Judging<'_>, index: usize, verb: Verb, target: &PathTarget, link: &Path) -> Tri {
    let Some(resolved) = judging.operation.resolved.get(index) else { return Tri::No };
    let deep = is_deep(target);
    if (verb == Verb::Delete || !deep) && forms(resolved).any(|form| form == link) {
        return Tri::Yes;
    }
    let reaches = |form: &Path| {
        link.starts_with(form)
            && !matches!(target, PathTarget::Glob { pattern, below, .. } if !may_name(pattern, *below, form, link))
    };
    if deep && forms(resolved).any(reaches) {
        return if verb == Verb::Delete { Tri::Yes } else { Tri::Maybe };
    }
    Tri::No
}

/// Where an effect is, by its name and by what is behind it.
fn forms(resolved: &Resolved) -> impl Iterator<Item = &Path> {
    [resolved.canonical.as_deref(), resolved.lexical.as_deref()].into_iter().flatten()
}

/// Whether an effect reaches what is below its path too.
fn is_deep(target: &PathTarget) -> bool {
    !matches!(target, PathTarget::Exact(_) | PathTarget::Told(_) | PathTarget::Unknown(_))
}

fn wipes(judging: &Judging<'_>, index: usize, verb: Verb, target: &PathTarget) -> bool {
    if verb != Verb::Delete {
        return false;
    }
    let Some(resolved) = judging.operation.resolved.get(index) else { return false };
    let whole = match target {
        PathTarget::Below(_) => true,
        PathTarget::Glob { pattern, .. } => matches!(pattern.as_bytes(), b"*" | b".*" | b"*/" | b"**" | b"*/*"),
        _ => false,
    };
    let homes = || judging.operation.home.iter().chain(&judging.operation.claimed_homes);
    whole
        && [resolved.canonical.as_deref(), resolved.lexical.as_deref()].into_iter().flatten().any(|path| {
            path.parent().is_none()
                || homes().any(|home| home.starts_with(path))
                || matches!(path.to_str(), Some("/home" | "/root" | "/Users"))
        })
}

fn program(judging: &Judging<'_>, id: RunId) -> Option<Opinion> {
    let run = judging.run(id)?;
    // Only a name that is certain makes the answer yes, so other programs need not be compared.
    let operator = match run.program.base.as_deref() {
        Some("sayso") => {
            let each = OPERATOR_COMMANDS.iter().map(|pattern| judging.matches_run(pattern, id, Purpose::Restrict));
            each.max().unwrap_or(Tri::No)
        }
        // It does nothing else than `sayso hook`, which is for agents themselves: an event made up is a record made up.
        Some("sayso-hook") => Tri::Yes,
        _ => Tri::No,
    };
    let kills = run.program.facets().has(Facets::SIGNALS_BY_NAME)
        && run.argv.iter().skip(1).any(|word| word.exact_str().is_some_and(|text| text.contains("sayso")));
    if operator == Tri::Yes || kills {
        return Some(deny(
            Code::OperatorCommand,
            "Only a person at a terminal may run this Sayso command, not an agent.",
        ));
    }
    let home = judging.operation.home.as_deref();
    judging.analysis().and_then(|analysis| switch::by_run(run, analysis, home)).map(takes_down)
}

fn same_host(own: &str, other: &str) -> bool {
    use crate::pattern::normal_host;
    let local = |host: &str| {
        host == "localhost" || host == "::1" || host.starts_with("127.") || host == "0.0.0.0" || host == "::"
    };
    let (own, other) = (normal_host(own), normal_host(other));
    own == other || (local(&own) && (local(&other) || other.ends_with(".localhost")))
}

fn deny(code: Code, text: &str) -> Opinion {
    built_in(Stage::Integrity, Verdict::Deny, code, text)
}
