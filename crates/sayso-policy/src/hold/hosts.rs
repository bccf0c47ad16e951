//! The hosts that a held run may reach: names, and `*.` before a name. Nothing else can be said to the kernel.

use super::ground::HoldGround;
use super::lower::Loss;
use super::section::HoldSection;
use super::verdicts::Verdicts;
use crate::index::Table;
use crate::pattern::{HostPattern, Purpose, is_loopback, normal_host};
use crate::policy::{CompiledFile, Policy};
use crate::role::{self, Side};
use crate::rule::{Pattern, Rule};
use crate::word::{Layer, Source, Tri, Verdict};
use sayso_shell::bounds::Host;
use sayso_shell::{HostTarget, Verb};

/// Whether this is one of `@registries`: then who wonders why a build failed is told what would open them.
#[must_use]
pub fn is_registry(host: &str) -> bool {
    let host = normal_host(host);
    crate::set::built_in("registries").is_some_and(|set| set.members.contains(&host.as_ref()))
}

/// A host that somebody allows.
struct Wanted<'a> {
    pattern: &'a HostPattern,
    source: Option<&'a Source>,
    /// `hold.connect` says so, whatever rules allow.
    listed: bool,
    /// What its list leaves out.
    except: &'a [Pattern],
}

/// The hosts, and what could not be said.
pub(super) fn lower(
    policy: &Policy,
    ground: &HoldGround,
    (files, sides): (&[&CompiledFile], &[Side]),
    holds: &[&HoldSection],
) -> (Vec<Host>, Vec<Loss>) {
    let mut hosts: Vec<Host> = Vec::new();
    let mut losses = Vec::new();
    let verdicts = Verdicts::of(policy, ground, files);
    for wanted in of_rules(policy, files, sides).chain(of_holds(holds)) {
        let Some(host) = said(wanted.pattern) else {
            let text = "Only a host's name, or `*.` before one, can be reached by a held run: this is neither.";
            losses.push(Loss::of(text.to_owned(), wanted.source));
            continue;
        };
        if is_loopback(&host.name) {
            continue;
        }
        let kept_back = match host.name.strip_prefix("*.") {
            None => {
                let said = verdicts.on_host(&host.name, host.ports.first().copied());
                said.is_none_or(|said| said.by_rule || !wanted.listed && said.verdict != Verdict::Allow)
            }
            // No part can be taken out again.
            Some(_) => {
                stricter(policy, (files, sides), ground).any(|rule| overlaps(&rule.pattern, &host.name))
                    || wanted.except.iter().any(|except| overlaps(except, &host.name))
            }
        };
        if kept_back {
            let text = format!(
                "`{}` cannot be reached by a held run: a stricter rule speaks of it, or of names below it.",
                host.name
            );
            losses.push(Loss::of(text, wanted.source));
        } else if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    (hosts, losses)
}

fn of_rules<'a>(
    policy: &'a Policy,
    files: &'a [&'a CompiledFile],
    sides: &'a [Side],
) -> impl Iterator<Item = Wanted<'a>> {
    files
        .iter()
        .filter(|file| file.counts_allow && (!policy.closed.contains(&Verb::Connect) || file.layer == Layer::Managed))
        .flat_map(|file| role::tables(policy, file, sides, true).flat_map(Table::each))
        .filter(|rule| rule.verdict == Verdict::Allow && rule.verb == Verb::Connect && rule.when.is_empty())
        .filter_map(|rule| match &rule.pattern {
            Pattern::Host(pattern) => {
                Some(Wanted { pattern, source: rule.source.as_ref(), listed: false, except: &rule.except })
            }
            _ => None,
        })
}

/// What `hold.connect` names in every file that has `[hold]`.
fn of_holds<'a>(holds: &'a [&'a HoldSection]) -> impl Iterator<Item = Wanted<'a>> {
    let all = holds.iter().filter(|hold| hold.lifts).flat_map(|hold| &hold.connect);
    let in_each = |pattern: &HostPattern| {
        let Some(host) = said(pattern) else { return true };
        holds.iter().all(|hold| {
            let covers = |other: &HostPattern| said(other).is_some_and(|other| covers(&other, &host));
            hold.lifts
                && hold.connect.iter().any(|one| covers(&one.pattern))
                && !hold.connect_except.iter().any(|except| may_match(except, &host.name))
        })
    };
    all.filter(move |one| in_each(&one.pattern)).map(|one| Wanted {
        pattern: &one.pattern,
        source: Some(&one.source),
        listed: true,
        except: &[],
    })
}

/// A pattern as bounds say it.
fn said(pattern: &HostPattern) -> Option<Host> {
    let HostPattern::Name { port, .. } = pattern else { return None };
    let name = match (pattern.literal(), pattern.suffix()) {
        (Some(name), _) => normal_host(name),
        (None, Some(below)) => format!("*.{below}"),
        (None, None) => return None,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let bare = name.strip_prefix("*.").unwrap_or(&name);
    let whole = !bare.is_empty() && bare.chars().all(plain) && bare.split('.').all(|label| !label.is_empty());
    // `*.org` is most of the world, but whoever wrote it meant it; `*.` alone is nothing.
    whole.then(|| Host { name, ports: port.iter().copied().collect() })
}

/// Whether one says all that the other says.
fn covers(one: &Host, other: &Host) -> bool {
    let named = match one.name.strip_prefix("*.") {
        Some(below) => is_below(&other.name, below),
        None => one.name == other.name,
    };
    named && (one.ports.is_empty() || one.ports == other.ports)
}

/// `a.example.org` and `*.example.org` are below `example.org`.
fn is_below(name: &str, top: &str) -> bool {
    name.strip_suffix(top).is_some_and(|rest| rest.ends_with('.'))
}

/// What asks or denies, but for rules about what was never done here: a held run does none of it either, since it meets
/// decoys.
fn stricter<'a>(
    policy: &'a Policy,
    (files, sides): (&'a [&'a CompiledFile], &'a [Side]),
    ground: &'a HoldGround,
) -> impl Iterator<Item = &'a Rule> {
    let rules = files.iter().flat_map(|file| role::tables(policy, file, sides, false).flat_map(Table::each));
    let counts = |rule: &&Rule| rule.when.iter().all(|condition| condition.may_come_after(&ground.past));
    rules.filter(|rule| rule.verdict != Verdict::Allow && rule.verb == Verb::Connect).filter(counts)
}

/// Whether a pattern may speak of a name below this one.
fn overlaps(pattern: &Pattern, name: &str) -> bool {
    matches!(pattern, Pattern::Host(pattern) if may_match(pattern, name))
}

/// Whether a pattern may match this name, or one that this stands for.
fn may_match(pattern: &HostPattern, name: &str) -> bool {
    let below = name.strip_prefix("*.");
    match (pattern.literal(), pattern.suffix(), below) {
        (Some(literal), _, Some(top)) => is_below(&normal_host(literal), top),
        (Some(literal), _, None) => normal_host(literal) == name,
        (None, Some(suffix), Some(top)) => suffix == top || is_below(suffix, top) || is_below(top, suffix),
        _ => {
            let host = HostTarget::Exact { host: below.unwrap_or(name).to_owned(), port: None };
            below.is_some() || pattern.matches(&host, Purpose::Restrict) != Tri::No
        }
    }
}
