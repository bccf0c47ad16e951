//! Judging a record again: the same call, by the same policy, must get the same verdict.

use crate::audit::{PolicyVersion, Record};
use crate::history::PastCall;
use crate::{Places, permit, policy};
use sayso_policy::{Code, Facts, Verdict};
use serde::Serialize;

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
    let (operation, decision) = PastCall::recorded(record).judge(&policy, facts);
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

fn why_another_call(record: &Record) -> &'static str {
    crate::history::why_less(record)
        .unwrap_or("it is a different call now: its programs have moved, or parts of it were not text")
}
