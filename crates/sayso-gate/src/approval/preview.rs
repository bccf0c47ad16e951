//! What else a width would let pass: asks of the past, judged again as if the answer had been remembered.

use super::{Offer, Question};
use crate::audit::{Query, Record};
use crate::store::Records;
use crate::{Error, ProcessEnvironment, RealFiles};
use sayso_policy::{Actor, Facts, Grant, Person, Policy, Request, State, ToolCall, Verdict, Workspace};
use std::path::PathBuf;

/// Asks of the past that are looked at.
const LOOKED_AT: usize = 500;
/// Examples that are shown.
const SHOWN: usize = 12;

/// What else a width would let pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preview {
    /// Calls of the record that were asked about and would not be any more, the newest first, each once.
    pub examples: Vec<String>,
    /// How many there are.
    pub would_pass: usize,
    /// How many asks were looked at.
    pub looked_at: usize,
}

/// Judges the latest asks of the record as if this answer to the question had been remembered.
///
/// # Errors
/// If the record cannot be read.
pub fn preview(
    records: &dyn Records,
    policy: &Policy,
    question: &Question,
    offer: &Offer,
    giver: &Person,
) -> Result<Preview, Error> {
    // The answer will count for this tenant, and whoever gives it may know of no other.
    let tenant = question.actor.tenant.clone();
    let query = Query { verdict: Some(Verdict::Ask), tenant, limit: Some(LOOKED_AT), ..Query::default() };
    let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
    let mut preview = Preview::default();
    for stored in records.query(&query)? {
        let record = stored.record;
        let Some(call) = again(&record) else { continue };
        preview.looked_at += 1;
        let operation = policy.operation(call, facts);
        let mut state = State { now_ms: record.time_ms, workspace: question.site.clone(), ..State::default() };
        if policy.evaluate(&operation, &state, facts).verdict != Verdict::Ask {
            continue;
        }
        state.grants = grants(question, offer, giver);
        state.digest = None;
        if policy.evaluate(&operation, &state, facts).verdict == Verdict::Allow {
            let shown = record.command.clone().unwrap_or_else(|| {
                format!("{} {}", record.tool, record.arguments.as_ref().map(ToString::to_string).unwrap_or_default())
            });
            if !preview.examples.contains(&shown) {
                preview.would_pass += 1;
                if preview.examples.len() < SHOWN {
                    preview.examples.push(shown);
                }
            }
        }
    }
    Ok(preview)
}

fn grants(question: &Question, offer: &Offer, giver: &Person) -> Vec<Grant> {
    let one = |selector: &sayso_policy::GrantSelector| Grant {
        id: "preview".to_owned(),
        selector: selector.clone(),
        workspace: question.site.clone(),
        session: None,
        uses_left: None,
        expires_ms: None,
        givers: vec![giver.clone()],
        verdict: Verdict::Allow,
        actor: Actor { tenant: question.actor.tenant.clone(), ..Actor::default() },
        plan: None,
    };
    offer.selectors.iter().map(one).collect()
}

/// The call of a record, as far as it was kept.
fn again(record: &Record) -> Option<ToolCall> {
    // What variables did to it is not known here.
    if record.env.is_some() {
        return None;
    }
    let request = match (&record.arguments, &record.command) {
        (Some(arguments), _) if arguments.is_object() => {
            Request::Tool { name: record.tool.clone(), arguments: arguments.clone(), server: None }
        }
        (None, Some(command)) => Request::Command(command.clone().into_bytes()),
        _ => return None,
    };
    let home = crate::Places::find(crate::Home::Environment).ok().map(|places| places.home);
    let workspace = record.workspace.as_ref().map(PathBuf::from);
    Some(ToolCall {
        actor: record.actor.clone(),
        cwd: record.cwd.as_ref().map(PathBuf::from),
        workspace: workspace.map_or_else(Workspace::unknown, |root| Workspace::new(root, home.as_deref())),
        home,
        ..ToolCall::new(request)
    })
}
