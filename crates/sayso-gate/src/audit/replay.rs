//! Judging a record again: the same call, by the same policy, must get the same verdict.

use crate::audit::{PolicyVersion, Record};
use crate::{Places, permit, policy};
use sayso_policy::{CanHold, Code, Facts, Holding, Request, State, ToolCall, Verdict, Workspace};
use sayso_shell::Environment;
use serde::Serialize;
use std::path::PathBuf;

/// What judging a record again gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "replayed", rename_all = "kebab-case")]
pub enum Replayed {
    /// Every effect got the verdict that is on record.
    Same,
    /// The very same call gets another verdict now.
    Differs {
        /// What differs: the effect, what is on record, what it is now.
        effect: String,
        /// On record.
        was: Verdict,
        /// Now.
        now: Verdict,
    },
    /// It cannot be judged again as it was.
    Cannot {
        /// Why not.
        why: String,
    },
}

/// Judges a record again by the policy of its version.
///
/// The call is made again from what is on record. If its digest is not the one on record, it is another call: secrets
/// were taken out, text was cut, or its programs are found elsewhere now. Facts on disk are those of today.
#[must_use]
pub fn replay(record: &Record, version: Option<&PolicyVersion>, places: &Places, facts: Facts<'_>) -> Replayed {
    let cannot = |why: &str| Replayed::Cannot { why: why.to_owned() };
    let Some(digest) = &record.digest else { return cannot("Sayso failed on this call, so there is nothing to judge") };
    let Some(version) = version else { return cannot("its policy was not kept") };
    let Some(policy) = version.policy() else {
        return cannot("its policy now has a different version: it was changed, or written by another Sayso");
    };
    // Files that were named on a command line stand alone.
    let given = version.files.iter().all(|file| file.layer == "given");
    let policy = if given { policy } else { policy::protecting(policy, places) };
    let env = Recorded::of(record, facts.env);
    let facts = Facts { env: &env, ..facts };
    let operation = policy.operation(call(record), facts);
    if permit::digest(&operation, &record.policy) != *digest {
        return cannot(why_another_call(record));
    }
    let mut stages = record.effects.iter().flat_map(|effect| &effect.opinions).chain(&record.opinions);
    if stages.any(|opinion| matches!(opinion.stage, sayso_policy::Stage::Limits | sayso_policy::Stage::Grants)) {
        return cannot("it involved limits or saved answers, which have changed since");
    }
    let switched = [crate::reason::BREAK_GLASS, crate::reason::OPERATOR_MODE];
    if record.reasons.iter().filter_map(|reason| Code::parse(&reason.code)).any(|code| switched.contains(&code)) {
        return cannot("an operator had switched the mode");
    }
    let can_hold = match record.hold {
        Some(Holding::Required(_)) => CanHold::Whole,
        _ => CanHold::No,
    };
    let state = State { now_ms: record.time_ms, can_hold, ..State::default() };
    let decision = policy.evaluate(&operation, &state, facts);
    for (index, effect) in record.effects.iter().enumerate() {
        let now =
            decision.effects.iter().find(|said| said.effect == Some(index)).map_or(decision.verdict, |s| s.verdict);
        if now != effect.verdict {
            let effect_name = format!("{} {}", format!("{:?}", effect.verb).to_lowercase(), effect.target);
            return Replayed::Differs { effect: effect_name, was: effect.verdict, now };
        }
    }
    // The gate may have been stricter than the policy (nobody to ask, a file that cannot be read); never milder.
    if decision.verdict > record.verdict {
        return Replayed::Differs { effect: "the call".to_owned(), was: record.verdict, now: decision.verdict };
    }
    Replayed::Same
}

/// The environment of today with the variables that the call brought.
struct Recorded<'a> {
    given: Vec<(String, String)>,
    claimed_homes: Vec<PathBuf>,
    today: &'a dyn Environment,
}

impl<'a> Recorded<'a> {
    fn of(record: &Record, today: &'a dyn Environment) -> Self {
        let all = record.env.as_ref().and_then(serde_json::Value::as_object).into_iter().flatten();
        let one = |(name, value): (&String, &serde_json::Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let claimed_homes = record.claimed_homes.iter().map(PathBuf::from).collect();
        Self { given: all.filter_map(one).collect(), claimed_homes, today }
    }
}

impl Environment for Recorded<'_> {
    fn get(&self, name: &str) -> Option<String> {
        let given = self.given.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        given.or_else(|| self.today.get(name))
    }

    fn given(&self) -> &[(String, String)] {
        &self.given
    }

    fn claimed_homes(&self) -> &[PathBuf] {
        &self.claimed_homes
    }
}

fn call(record: &Record) -> ToolCall {
    let path = |text: &Option<String>| text.as_ref().map(PathBuf::from);
    let home = path(&record.home);
    let claimed: Vec<PathBuf> = record.claimed_homes.iter().map(PathBuf::from).collect();
    let request = match (&record.called_as.name, &record.command) {
        (Some(name), _) => Request::Tool {
            name: name.clone(),
            arguments: record.arguments.clone().unwrap_or_default(),
            server: record.called_as.server.clone(),
        },
        (None, command) => Request::Command(command.clone().unwrap_or_default().into_bytes()),
    };
    ToolCall {
        request,
        actor: record.actor.clone(),
        cwd: path(&record.cwd),
        workspace: path(&record.workspace).map_or_else(Workspace::unknown, |root| {
            let workspace = Workspace::beside(root, home.iter().chain(&claimed).map(PathBuf::as_path));
            // Over HTTP it is the caller's word.
            if record.way_in == "http" { workspace.claimed() } else { workspace }
        }),
        home,
        reported_kind: record.called_as.kind.clone(),
    }
}

fn why_another_call(record: &Record) -> &'static str {
    let holds = |what: &str| {
        let arguments = record.arguments.as_ref().map(ToString::to_string).unwrap_or_default();
        let env = record.env.as_ref().map(ToString::to_string).unwrap_or_default();
        record.command.as_deref().unwrap_or_default().contains(what) || arguments.contains(what) || env.contains(what)
    };
    if holds("[redacted]") {
        "secrets were redacted before it was stored"
    } else if holds(" more bytes)") || holds("[too deep]") {
        "it was too long to store in full"
    } else {
        "it is a different call now: its programs have moved, or parts of it were not text"
    }
}
