//! Stage 8: remembered answers turn an Ask into Allow, or into Deny, effect by effect.

mod call;
mod key;

pub use call::effects_to_name;
pub use key::GrantKeys;

use super::opinions::Opinions;
use super::{Inputs, of_layer};
use crate::judging::Judging;
use crate::pattern::{HostPattern, PathPattern, Purpose, RunPattern, ToolPattern};
use crate::set::SetKind;
use crate::state::{Executable, Grant, GrantSelector, State};
use crate::word::{Code, Layer, Opinion, Stage, Tri, Verdict};
use sayso_shell::program::{Facets, facets, starts_others};
use sayso_shell::{Carry, Effect, NamedBy, Run, RunId, Target, Verb, instruct};
use std::path::{Path, PathBuf};

/// Has grants answer what is asked about the call and about each effect.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    let Inputs { judging, state, .. } = inputs;
    if state.grants.is_empty() {
        return;
    }
    let asked = asks(&said.call);
    if !asked.is_empty()
        && let Some(answer) = answer_to_call(judging, state, &asked)
    {
        said.call.push(answer);
    }
    for (effect, (index, on)) in judging.operation.effects.iter().zip(said.each()) {
        let asked = asks(&on.opinions);
        if !asked.is_empty() {
            let found = answers(judging, state, effect, index, &asked);
            on.opinions.extend(found);
        }
    }
}

/// The Asks of these opinions, if Ask is the strictest of them.
fn asks(opinions: &[Opinion]) -> Vec<&Opinion> {
    let strictest = opinions.iter().map(|opinion| opinion.verdict).max();
    let asked = opinions.iter().filter(|opinion| opinion.verdict == Verdict::Ask);
    if strictest == Some(Verdict::Ask) { asked.collect() } else { Vec::new() }
}

/// The remembered answers to an effect's Ask; none if it is not answered.
///
/// INVARIANT: never to an Ask of limits, of a tool's changed definition, or of a rule that says `always`; only to an
/// Ask that its givers could have answered.
fn answers(judging: &Judging<'_>, state: &State, effect: &Effect, index: usize, asks: &[&Opinion]) -> Vec<Opinion> {
    let in_force = || state.grants.iter().filter(|grant| in_force(grant, judging, state));
    let refused = in_force().find(|grant| {
        grant.verdict == Verdict::Deny && selects(grant, judging, state, effect, index, Purpose::Restrict)
    });
    let by_effects = matches!(effect.target, Target::Tool) && judging.operation.known;
    if let Some(grant) = refused.or_else(|| by_effects.then(|| call::refused(judging, state)).flatten()) {
        return vec![opinion(grant)];
    }
    let grant = in_force().find(|grant| {
        grant.verdict == Verdict::Allow
            && asks.iter().all(|ask| could_answer(grant, ask))
            && selects(grant, judging, state, effect, index, Purpose::Permit)
    });
    match grant {
        Some(grant) => vec![opinion(grant)],
        None if by_effects => call::allowed(judging, state, asks).into_iter().map(opinion).collect(),
        None => Vec::new(),
    }
}

/// The remembered answer to an Ask about the call as a whole: only one to this very call counts, and never for a limit.
fn answer_to_call(judging: &Judging<'_>, state: &State, asks: &[&Opinion]) -> Option<Opinion> {
    let exact = |grant: &&Grant| is_exact(grant, state) && in_force(grant, judging, state);
    let found: Vec<&Grant> = state.grants.iter().filter(exact).collect();
    let refused = found.iter().find(|grant| grant.verdict == Verdict::Deny);
    let allowed = || {
        let covers = |ask: &&Opinion, grant: &Grant| match ask.stage {
            Stage::Patterns => true,
            // What rules say of the call as a whole: that it needs a plan, its model, its risk.
            Stage::Rules => grant.plan.is_some(),
            _ => false,
        };
        found.iter().find(|grant| {
            grant.verdict == Verdict::Allow && asks.iter().all(|ask| covers(ask, grant) && could_answer(grant, ask))
        })
    };
    refused.or_else(allowed).map(|grant| opinion(grant))
}

/// Whether a grant is one to this very call: as it is, or as a step of a plan.
fn is_exact(grant: &Grant, state: &State) -> bool {
    let here = if grant.plan.is_some() { &state.step } else { &state.digest };
    matches!(&grant.selector, GrantSelector::Digest(digest) if here.as_ref() == Some(digest))
}

fn opinion(grant: &Grant) -> Opinion {
    let givers = grant.givers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    let (code, did) = match grant.verdict {
        Verdict::Allow => (Code::Granted, "approved"),
        Verdict::Ask | Verdict::Deny => (Code::RefusedBefore, "denied"),
    };
    let text = match &grant.plan {
        Some(step) => {
            format!(
                "{givers} {did} this as step {} of {} of plan {} (grant {}).",
                step.step, step.of, step.plan, grant.id
            )
        }
        None => format!("{givers} {did} this before (grant {}).", grant.id),
    };
    let mut opinion = of_layer(Stage::Grants, grant.verdict, code, text, Layer::Grant);
    opinion.grant = Some(grant.id.clone());
    opinion
}

fn in_force(grant: &Grant, judging: &Judging<'_>, state: &State) -> bool {
    let actor = &judging.operation.actor;
    let same = |bound: &Option<String>, here: &Option<String>| bound.is_none() || bound == here;
    grant.uses_left != Some(0)
        && !grant.givers.is_empty()
        && grant.expires_ms.is_none_or(|end| state.now_ms < end)
        && same(&grant.workspace, &state.workspace)
        && same(&grant.session, &actor.session)
        // A session belongs to who opened it: another caller's session of the same name is another one.
        && (grant.session.is_none() || grant.actor.asker == actor.asker)
        // What somebody outside every tenant allowed, a tenant did not allow.
        && (grant.actor.tenant == actor.tenant || grant.verdict == Verdict::Deny && grant.actor.tenant.is_none())
        && same(&grant.actor.agent, &actor.agent)
}

/// Whether a program runs where a yes to it was given.
///
/// An attacker would have `make` allowed in the workspace and then go to a folder with a Makefile of its own: the
/// session's workspace stays, what runs does not. A folder that is not known is none of the workspace's.
fn runs_inside(grant: &Grant, judging: &Judging<'_>, id: RunId) -> bool {
    let operation = judging.operation;
    let folder = || operation.folders.get(usize::try_from(id.0).ok()?)?.as_deref();
    let inside =
        |root: &Path| folder().is_some_and(|folder| folder.starts_with(root) && names_inside(judging, id, root));
    grant.workspace.is_none() || operation.workspace.root_for_allow().is_some_and(inside)
}

/// Whether what the words of a program name lies in the workspace too, or is the system's: `make -C ../other`,
/// `npm --prefix /tmp/x` and `pytest ~/y` run what somebody else has put there.
fn names_inside(judging: &Judging<'_>, id: RunId, root: &Path) -> bool {
    const SYSTEM: [&str; 7] = ["/usr", "/bin", "/lib", "/lib64", "/dev", "/etc", "/nix/store"];
    let Some(run) = judging.run(id) else { return false };
    let home = judging.operation.home.as_deref();
    let inside = |path: &PathBuf| path.starts_with(root) || SYSTEM.iter().any(|system| path.starts_with(system));
    match instruct::named(run, home, judging.facts.files) {
        Some(paths) => paths.iter().all(inside),
        None => false,
    }
}

/// Whether the options that name files for the program to go by are ones that the pattern names, with the values that it
/// names: a yes to `rubocop` is none to `rubocop -c evil.yml`, nor is one to `rubocop -c good.yml`.
fn goes_by_what_was_named(judging: &Judging<'_>, id: RunId, pattern: &RunPattern) -> bool {
    let Some(run) = judging.run(id) else { return false };
    let named = |flag: &String| pattern.names(&NamedBy::Flag(flag.clone()), run, &judging.bases);
    pattern.names_all_values(run) && instruct::options_with_files(run, judging.facts.files).iter().all(named)
}

/// Whether a program's name still means the file that it meant. An attacker would put a program of the same name into a
/// folder that comes first, or write over the one that is there.
fn is_same_program(judging: &Judging<'_>, id: RunId, program: Option<&Executable>) -> bool {
    let Some(program) = program else { return true };
    judging.run(id).is_some_and(|run| Executable::of(run, judging.facts.files) == *program)
}

fn could_answer(grant: &Grant, ask: &Opinion) -> bool {
    if matches!(ask.stage, Stage::Limits | Stage::Integrity | Stage::Mode) {
        return false;
    }
    // INVARIANT: approving a plan answers what asked about its steps then, and nothing that asks since.
    if grant.plan.as_ref().is_some_and(|step| ask.is_finding() || !step.asks.contains(&ask.ask_key())) {
        return false;
    }
    let by_plan = grant.plan.is_some() && matches!(ask.reason.code.built_in(), Some(Code::NoPlan | Code::RiskAbove));
    if ask.always && !by_plan {
        return false;
    }
    // Perhaps a rule denies this call: whoever said yes to others like it did not say yes to that.
    if ask.maybe && !matches!(grant.selector, GrantSelector::Digest(_)) {
        return false;
    }
    ask.approver.as_ref().is_none_or(|approvers| approvers.satisfied_by(&grant.givers))
}

fn selects(
    grant: &Grant,
    judging: &Judging<'_>,
    state: &State,
    effect: &Effect,
    index: usize,
    purpose: Purpose,
) -> bool {
    let (verb, pattern, program) = match &grant.selector {
        GrantSelector::Digest(_) => return is_exact(grant, state),
        GrantSelector::Pattern { verb, pattern, program } => (*verb, pattern, program.as_ref()),
    };
    let run_pattern = || RunPattern::parse(pattern, &mut |_| Ok(Vec::new())).ok();
    let permits = purpose == Purpose::Permit;
    let may_run = |id: RunId, pattern: &RunPattern| {
        !permits
            || !is_broad(judging, id)
                && runs_inside(grant, judging, id)
                && goes_by_what_was_named(judging, id, pattern)
                && is_same_program(judging, id, program)
    };
    match (&effect.target, verb) {
        (Target::Program(id) | Target::Wrapper(id), Verb::Run) => run_pattern()
            .is_some_and(|pattern| judging.matches_run(&pattern, *id, purpose) == Tri::Yes && may_run(*id, &pattern)),
        (Target::Option(id), Verb::Run) => {
            let Carry::Named { by, .. } = &effect.carry else { return false };
            let Some(run) = judging.run(*id) else { return false };
            run_pattern().is_some_and(|pattern| pattern.names(by, run, &judging.bases) && may_run(*id, &pattern))
        }
        (Target::Path(target), verb) if verb == effect.verb => PathPattern::parse(pattern).is_ok_and(|pattern| {
            (!permits || judging.guard(index).is_none_or(|guard| guard.named_by(&pattern)))
                && judging.matches_path(&pattern, index, verb, target, purpose) == Tri::Yes
        }),
        (Target::Host(target), Verb::Connect) => HostPattern::parse(pattern).is_ok_and(|pattern| {
            (!permits || judging.guard(index).is_none() || pattern.names_guarded())
                && pattern.matches(target, purpose) == Tri::Yes
        }),
        // Where it is known what the tool does, that is what a yes must name.
        (Target::Tool, Verb::Call) if !(permits && judging.operation.known) => ToolPattern::parse(pattern)
            .is_ok_and(|patterns| ToolPattern::any_matches(&patterns, &judging.operation.tool, purpose)),
        // Code and what cannot be seen through: only a yes to this very call.
        _ => false,
    }
}

/// Whether a program runs whatever it is given: by what it does in this call, or by its name.
fn is_broad(judging: &Judging<'_>, id: RunId) -> bool {
    let starts = |run: &Run| run.parent == Some(id);
    let code = |effect: &Effect| matches!(effect.target, Target::Code { run, .. } if run == id);
    judging.analysis().is_some_and(|analysis| analysis.runs.iter().any(starts))
        || judging.operation.effects.iter().any(code)
        || judging.operation.effects.iter().any(|effect| acts_on_anything(effect, id))
        || judging
            .run(id)
            .is_none_or(|run| run.program.base.as_deref().is_none_or(runs_anything) || run.program.facets().has(RUNS))
}

/// Whether this is what a program or subcommand does as a whole, and its operands say how much: code that it runs, a
/// secret that it shows, a setting that it changes. `git config user.name` is no yes to `git config core.pager`.
fn acts_on_anything(effect: &Effect, id: RunId) -> bool {
    let Carry::Named { code, by } = &effect.carry else { return false };
    if effect.run != Some(id) {
        return false;
    }
    let by_operands = |code| matches!(code, Some(Code::ShowsSecrets | Code::ChangesSettings));
    match (by, Code::of(*code)) {
        (NamedBy::Program, code) => by_operands(code) || matches!(code, Some(Code::RunsCode | Code::RunsCommand)),
        (NamedBy::Words(words), code) => by_operands(code) || words.first().is_some_and(|word| word == "remote"),
        _ => false,
    }
}

/// What makes a program one that runs whatever it is given.
const RUNS: Facets = Facets::SHELL.and(Facets::INTERPRETER).and(Facets::AGENT).and(Facets::RUNS_ANYTHING);

/// Whether a program of this name runs whatever it is given: a yes to it by name would be a yes to everything.
fn runs_anything(name: &str) -> bool {
    facets(name).has(RUNS) || starts_others(name)
}

impl GrantSelector {
    /// A selector by pattern, if a grant may have it.
    ///
    /// # Errors
    /// Why not, in a sentence: it is no pattern, or it is wider than an answer to one question should be.
    pub fn pattern(verb: Verb, pattern: &str) -> Result<Self, String> {
        let pattern = pattern.trim();
        match SetKind::of(verb) {
            SetKind::Run => check_run(pattern)?,
            SetKind::Path => check_path(pattern)?,
            SetKind::Host => {
                let parsed = HostPattern::parse(pattern).map_err(|error| error.message)?;
                if !parsed.names_guarded() || matches!(parsed, HostPattern::Anything | HostPattern::Regex(_)) {
                    return Err(format!("`{pattern}` matches every host; name the host you mean"));
                }
            }
            SetKind::Tool => {
                ToolPattern::parse(pattern).map_err(|error| error.message)?;
                if pattern.contains(['*', '?']) || pattern.starts_with("re:") {
                    return Err(format!("`{pattern}` matches more than one tool; name the tool you mean"));
                }
            }
        }
        Ok(Self::Pattern { verb, pattern: pattern.to_owned(), program: None })
    }
}

fn check_run(pattern: &str) -> Result<(), String> {
    let parsed = RunPattern::parse(pattern, &mut |_| Ok(Vec::new())).map_err(|error| error.message)?;
    let (Some(name), _) = parsed.key() else {
        return Err(format!("`{pattern}` does not name a single program"));
    };
    if runs_anything(name) {
        return Err(format!("`{name}` runs whatever it is given, so only an exact command can be saved"));
    }
    Ok(())
}

fn check_path(pattern: &str) -> Result<(), String> {
    PathPattern::parse(pattern).map_err(|error| error.message)?;
    let fixed: Vec<&str> = pattern.split('/').take_while(|part| !part.contains(['*', '?', '['])).collect();
    let named = fixed.iter().any(|part| !matches!(*part, "" | "." | "..")) && fixed != ["~"];
    let whole = pattern.contains(['*', '?', '[']);
    let home = matches!(fixed.as_slice(), ["~"] | ["", "home" | "Users" | "root"] | ["", "home" | "Users", _]);
    if pattern.starts_with("re:") || (whole && (home || !named) && !pattern.starts_with("./")) {
        return Err(format!("`{pattern}` covers nearly everything; name the folder you mean"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_run_anything_are_found() {
        for name in [
            "sh",
            "bash",
            "python3",
            "python3.12",
            "node",
            "sudo",
            "env",
            "xargs",
            "ssh",
            "eval",
            "lua5.4",
            "java",
            "tsx",
            "gtimeout",
            "cross-env",
            "chronic",
            "claude",
            "hyperfine",
            "yash",
            "python3.12-dbg",
            "gxargs",
            "nerdctl",
            "kimi",
        ] {
            assert!(runs_anything(name), "{name}");
        }
        for name in ["git", "cargo", "make", "jq", "rm"] {
            assert!(!runs_anything(name), "{name}");
        }
    }

    #[test]
    fn a_grant_names_what_it_is_for() {
        let good = [
            (Verb::Run, "git push"),
            (Verb::Run, "jq"),
            (Verb::Write, "./src/**"),
            (Verb::Write, "./**"),
            (Verb::Read, "/etc/hosts"),
            (Verb::Delete, "~/build/**"),
            (Verb::Connect, "docs.rs"),
            (Verb::Connect, "*.example.org"),
            (Verb::Call, "mcp:github/create_issue"),
        ];
        for (verb, pattern) in good {
            assert!(
                GrantSelector::pattern(verb, pattern).is_ok(),
                "{pattern}: {:?}",
                GrantSelector::pattern(verb, pattern)
            );
        }
        let bad = [
            (Verb::Run, "*"),
            (Verb::Run, "g*"),
            (Verb::Run, "bash"),
            (Verb::Run, "python3 x.py"),
            (Verb::Run, "sudo apt"),
            (Verb::Run, "env"),
            (Verb::Run, "re:.*"),
            (Verb::Run, "curl | sh"),
            (Verb::Run, ""),
            (Verb::Write, "/**"),
            (Verb::Write, "**"),
            (Verb::Write, "~/**"),
            (Verb::Write, "/home/ann/**"),
            (Verb::Write, "re:.*"),
            (Verb::Connect, "*"),
            (Verb::Call, "*"),
            (Verb::Call, "mcp:*"),
        ];
        for (verb, pattern) in bad {
            assert!(GrantSelector::pattern(verb, pattern).is_err(), "{pattern}");
        }
    }
}
