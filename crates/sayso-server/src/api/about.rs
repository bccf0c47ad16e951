//! What helps to answer a question beside the question itself: where its remotes lead, whether such a call was made here
//! before, what its session has done, and the rule that would let it pass from now on.

use super::approvals::theirs;
use super::parameters::{Named, blocking};
use super::try_box;
use crate::app::App;
use crate::error::ApiError;
use crate::remote::remotes;
use crate::who::{Approver, Owner};
use axum::Json;
use axum::extract::State;
use sayso_gate::approval::Question;
use sayso_gate::audit::{Kind, Log, Query, Record};
use sayso_gate::fact::{Whose, known};
use sayso_gate::history::{Advice, Rulebook, allowing};
use sayso_gate::{ProcessEnvironment, RealFiles};
use sayso_policy::{Answer, Facts};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use utoipa::ToSchema;

/// Earlier records that are looked at.
const LOOKED_AT: usize = 500;
/// How much of a command earlier records are searched for, in characters; what is found is compared whole.
const SEARCHED: usize = 500;
/// Facts of a session that are told.
const FACTS: usize = 8;

/// What helps to answer.
#[derive(Serialize, ToSchema)]
#[schema(as = ApprovalContext)]
pub(super) struct Context {
    /// The remotes of the repository there, as its own configuration names them.
    remotes: Vec<Remote>,
    /// Earlier calls of the same command, or of the same tool with the same arguments, in the same workspace.
    before: Before,
    /// What its session did before that rules ask about.
    facts: Vec<Done>,
}

/// A remote of a repository.
#[derive(Serialize, ToSchema)]
#[schema(as = GitRemote)]
pub(super) struct Remote {
    name: String,
    /// Host and path, without user and password.
    place: String,
}

/// Earlier calls like this one.
#[derive(Default, Serialize, ToSchema)]
#[schema(as = EarlierCalls)]
pub(super) struct Before {
    /// What was looked for.
    like: String,
    /// How many ran.
    allowed: u64,
    /// How many did not.
    refused: u64,
    /// There may be more than were looked at.
    more: bool,
}

/// An earlier call of the session.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionFact)]
pub(super) struct Done {
    /// The condition of a rule that it fulfils: `read @secrets`.
    what: String,
    /// It only may have.
    maybe: bool,
    /// Secrets taken out.
    command: String,
    time_ms: u64,
}

/// Tells it to whoever may answer the question.
pub(super) async fn context(
    State(app): State<Arc<App>>,
    Approver { caller, .. }: Approver,
    Named(id): Named,
) -> Result<Json<Context>, ApiError> {
    let question = theirs(&app, &caller, &id).await?.question;
    blocking(move || {
        app.with_log(Log::fold)?;
        let folder = question.cwd.as_deref().or(question.workspace.as_deref()).map(Path::new);
        let found = folder.filter(|folder| folder.is_absolute()).map(remotes).unwrap_or_default();
        let remotes = found.into_iter().map(|(name, place)| Remote { name, place }).collect();
        Ok(Json(Context { remotes, before: before(&app, &question)?, facts: facts(&app, &question) }))
    })
    .await
}

fn facts(app: &App, question: &Question) -> Vec<Done> {
    let whose = Whose::of(&question.actor, question.workspace.as_deref().map(Path::new));
    let known = known(&app.places, &whose);
    let one = |(what, (certain, call)): (&String, &(bool, sayso_policy::EarlierCall))| Done {
        what: what.clone(),
        maybe: !certain,
        command: call.command.clone(),
        time_ms: call.time_ms,
    };
    known.after.iter().map(one).take(FACTS).collect()
}

fn before(app: &App, question: &Question) -> Result<Before, ApiError> {
    let like = question.command.as_deref().unwrap_or(&question.tool).trim().to_owned();
    // Of a call that was not kept whole nobody knows whether another was the same.
    if question.left_out {
        return Ok(Before { like, more: true, ..Before::default() });
    }
    let query = Query {
        kinds: vec![Kind::Decision],
        tenant: question.actor.tenant.clone(),
        tool: Some(question.tool.clone()),
        text: question.command.is_some().then(|| like.chars().take(SEARCHED).collect()),
        until_ms: Some(question.asked_ms),
        limit: Some(LOOKED_AT),
        ..Query::default()
    };
    let records = app.store().query(&query)?;
    let mut before = Before { more: records.len() == LOOKED_AT, like, ..Before::default() };
    for stored in &records {
        let record = &stored.record;
        let same = record.workspace == question.workspace && is_same(question, record);
        match record.answer {
            Answer::Allow if same => before.allowed += 1,
            Answer::Deny if same => before.refused += 1,
            _ => {}
        }
    }
    Ok(before)
}

/// Whether an earlier call was this very one. Less would let fifty harmless calls of a program vouch for another.
fn is_same(question: &Question, record: &Record) -> bool {
    match (&question.command, &record.command) {
        (Some(command), Some(earlier)) => command.trim() == earlier.trim(),
        (None, None) => question.arguments == record.arguments,
        _ => false,
    }
}

/// The rule that would let a call pass from now on.
#[derive(Serialize, ToSchema)]
#[schema(as = RuleOffered)]
pub(super) struct Offered {
    /// The narrowest one; absent: none is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// The widest call that it would also let pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    widest: Option<String>,
    /// What to do where no rule is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<String>,
    /// The user's own policy file with the rule at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The version in force: to be sent along as `base` when the text is put in force.
    base: String,
}

/// What a rule is put behind: the user's own policy. Who has no file yet begins one with the preset that was in force
/// without it; a file that cannot be read is none to be replaced by that.
fn own_text(file: &Path) -> std::io::Result<String> {
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok("extends = [\"developer\"]\n".to_owned()),
        read => read,
    }
}

/// Offers it. Changes nothing.
pub(super) async fn rule(State(app): State<Arc<App>>, _: Owner, Named(id): Named) -> Result<Json<Offered>, ApiError> {
    blocking(move || {
        let question = app.store().approval(&id)?.ok_or_else(ApiError::no_approval)?.question;
        let gate = app.gate_of(&question)?;
        let in_force = gate.in_force_now();
        let base = app.gate(Some(Path::new(&app.about.folder)))?.in_force_now().policy.version().to_owned();
        let none = |instead: &str| {
            let instead = Some(instead.to_owned());
            Ok(Json(Offered { rule: None, widest: None, instead, text: None, base: base.clone() }))
        };
        if app.is_fixed() {
            return none("This server uses the files named on its command line; change those.");
        }
        let Some(ask) = try_box::asked(&app, &question) else {
            return none("The call was not kept whole, so no rule can be made from it.");
        };
        let rulebook = Rulebook::new(&app.places, vec![in_force]);
        let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
        match allowing(&ask, &rulebook, facts) {
            Advice::Instead(text) => none(&text),
            Advice::Rule { rule, widest } => {
                let begin = match own_text(&app.places.user) {
                    Ok(begin) => begin,
                    Err(error) => {
                        let file = app.places.user.display();
                        return none(&format!("Your policy file {file} cannot be read: {error}. Repair it first."));
                    }
                };
                let text = Some(format!("{}\n\n{rule}", begin.trim_end()));
                Ok(Json(Offered { rule: Some(rule), widest, instead: None, text, base }))
            }
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_is_not_there_is_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("policy.toml");
        assert_eq!(own_text(&file).unwrap(), "extends = [\"developer\"]\n");
        std::fs::write(&file, "# mine\n").unwrap();
        assert_eq!(own_text(&file).unwrap(), "# mine\n");
        std::fs::write(&file, b"# caf\xe9\n").unwrap();
        assert!(own_text(&file).is_err(), "not UTF-8");
        assert!(own_text(dir.path()).is_err(), "a folder");
    }
}
