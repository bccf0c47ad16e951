//! `sayso approvals`: questions that wait for a person.

mod shown;
mod watch;

use crate::failure::{Failure, Outcome};
use crate::{judge, operator};
use sayso_gate::approval::{Approval, Question, Remember, Reply, Width, preview};
use sayso_gate::audit::Log;
use sayso_gate::audit::export::json_line;
use sayso_gate::store::{Questions, Store};
use sayso_gate::{Home, InForce, Memory, Places};
use sayso_policy::{Person, Verdict};
use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

/// Show and answer pending calls.
///
/// Where a policy says ask, the agent's own prompt is used or, while someone is watching, this queue. A rule that names
/// its approvers always asks here. Answering needs the key that `sayso serve` prints; you are asked for it at the
/// terminal. An answer is tied to the exact call: if a file, PATH or the policy changes, it is void.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso approvals watch                                  answer calls as they come in
  sayso approvals list
  sayso approvals list --agent claude-code --limit 0     every pending call of one agent
  sayso approvals show 01a2b3                            what it would do, and what a broader approval would allow
  sayso approvals answer 01a2b3 allow
  sayso approvals answer 01a2b3 allow --always --width program
  sayso approvals answer 01a2b3 deny --always
  sayso approvals escalate 01a2b3                        ask the group above now
  sayso approvals answer 01a2b3 allow --key-fd 3 3< <(pass-the-key)    from a program, without a terminal")]
pub(crate) struct Approvals {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List pending calls, those with the highest risk score first
    List {
        /// Include those that were answered, expired or cancelled
        #[arg(long)]
        all: bool,
        /// Only from this agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Only from this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Show at most this many; 0 shows all
        #[arg(long, value_name = "N", default_value_t = 200)]
        limit: usize,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Show one pending call: what it would do, why it needs approval, and what a broader approval would allow
    Show {
        /// Its id, or the start of it
        id: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Answer a pending call
    Answer(Answer),
    /// Let the next higher group answer a pending call now, instead of after its `escalate.wait`
    Escalate {
        /// Its id, or the start of it
        id: String,
        /// Read the server's key from this open file descriptor instead of the terminal
        #[arg(long, value_name = "N")]
        key_fd: Option<u32>,
    },
    /// Wait for pending calls and answer them; while you watch, agents ask here
    Watch {
        /// Print one JSON object per line, and take no answers
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
struct Answer {
    /// Its id, or the start of it
    id: String,
    /// allow or deny
    #[arg(value_parser = ["allow", "deny"])]
    verdict: String,
    /// Apply to the rest of the agent's session
    #[arg(long, conflicts_with = "always")]
    session: bool,
    /// Apply in this workspace until revoked
    #[arg(long)]
    always: bool,
    /// What the answer covers: exact (this exact call), program (the same program and subcommand), folder (everything
    /// below it)
    #[arg(long, value_parser = ["exact", "program", "folder"], default_value = "exact")]
    width: String,
    /// Allow only these changes of a run made with `sayso run --try`, by the numbers that `show` gives them
    #[arg(long, value_name = "N,N", value_delimiter = ',', conflicts_with_all = ["session", "always"])]
    only: Vec<u32>,
    /// Read the server's key from this open file descriptor instead of the terminal
    #[arg(long, value_name = "N")]
    key_fd: Option<u32>,
}

/// Runs it.
pub(crate) fn run(command: &Approvals) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let memory = Memory::of(&places);
    let store = memory.store()?.as_ref();
    match &command.action {
        Action::List { all, agent, session, limit, json } => {
            let (agent, session) = (agent.as_deref(), session.as_deref());
            let mut found =
                store.questions(&Questions { pending: !all, agent, session, ..Questions::all() }, &|_| true)?;
            if !all {
                // What could do the most harm comes first, and of the same the newest.
                found.sort_by_key(|approval| std::cmp::Reverse(approval.question.risk_score()));
            }
            shown::list(&found, if *limit == 0 { usize::MAX } else { *limit }, *json)?;
        }
        Action::Show { id, json } => {
            let approval = find(store, id)?;
            if *json {
                let previews = previews(&places, &approval.question)?;
                let value = serde_json::json!({ "approval": approval, "previews": previews });
                write!(stdout(), "{}", json_line(&value)?)?;
            } else {
                let text = shown::whole(&approval, &previews(&places, &approval.question)?);
                write!(stdout(), "{text}")?;
            }
        }
        Action::Answer(answer) => {
            let approval = find(store, &answer.id)?;
            let reply = reply(answer);
            let asks = format!("{}\n{}", shown::whole(&approval, &[]), shown::about_to(&approval.question, &reply));
            let signed_in = signed_in(&places, answer.key_fd, &asks)?;
            let answered = signed_in.answer(&approval.question.id, &reply).map_err(operator::refused)?;
            writeln!(stdout(), "{}", shown::standing(&answered))?;
        }
        Action::Escalate { id, key_fd } => {
            let approval = find(store, id)?;
            let signed_in = signed_in(&places, *key_fd, &shown::whole(&approval, &[]))?;
            let escalated = signed_in.escalate(&approval.question.id).map_err(operator::refused)?;
            let to = escalated.escalated.as_deref().unwrap_or("nobody else");
            writeln!(stdout(), "{} may answer it too.", sayso_policy::explain::visible(to))?;
        }
        Action::Watch { json } => watch::run(&places, store, *json)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Whoever shows the server's key, from a descriptor or at the terminal once they have seen what it is about.
fn signed_in(places: &Places, key_fd: Option<u32>, about: &str) -> Result<sayso_server::SignedIn, Failure> {
    match key_fd {
        Some(descriptor) => operator::sign_in_from(operator::server(places)?, descriptor),
        None => {
            let (_, mut terminal) = operator::at_terminal()?;
            let server = operator::server(places)?;
            writeln!(terminal, "{about}")?;
            operator::sign_in(server, &mut terminal)
        }
    }
}

fn reply(answer: &Answer) -> Reply {
    let remember = match (answer.session, answer.always) {
        (true, _) => Remember::Session,
        (_, true) => Remember::Always,
        _ => Remember::Once,
    };
    let width = Width::ALL.into_iter().find(|width| width.as_str() == answer.width).unwrap_or_default();
    let verdict = if answer.verdict == "allow" { Verdict::Allow } else { Verdict::Deny };
    // Shown from 1, as people count.
    let parts = answer.only.iter().map(|number| number.wrapping_sub(1)).collect::<Vec<_>>();
    Reply { verdict, remember, width, parts: (!parts.is_empty()).then_some(parts) }
}

/// What each width would let pass of what was asked lately.
fn previews(places: &Places, question: &Question) -> Result<Vec<(Width, sayso_gate::approval::Preview)>, Failure> {
    let in_force = InForce::load(places, question.workspace.as_deref().map(Path::new)).map_err(judge::refused)?;
    let log = Log::open(places)?;
    log.fold()?;
    let person = Person::named(operator::user_name());
    let wider = question.offers.iter().filter(|offer| offer.width != Width::Exact);
    wider
        .map(|offer| Ok((offer.width, preview(log.store().as_ref(), &in_force.policy, question, offer, &person)?)))
        .collect()
}

fn find(store: &dyn Store, id: &str) -> Result<Approval, Failure> {
    // The whole id needs no look at the others, however many there are.
    if let Some(found) = store.approval(id)? {
        return Ok(found);
    }
    let mut found = store.questions(&Questions::all(), &|question| question.id.starts_with(id))?;
    match found.len() {
        1 => found.pop().ok_or_else(|| Failure::wrong("error: not found")),
        0 => Err(Failure::wrong(format!(
            "error: there is no pending call {id}\n\n  List them with `sayso approvals list --all`."
        ))),
        many => Err(Failure::wrong(format!(
            "error: {many} pending calls start with {id}; type more of the id\n\n{}",
            shown::candidates(&found)
        ))),
    }
}
