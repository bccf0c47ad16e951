//! Waiting for questions at a terminal.

use super::{previews, shown};
use crate::command::log::time::now_ms;
use crate::failure::Failure;
use crate::operator;
use sayso_gate::Places;
use sayso_gate::approval::{Approval, HEARTBEAT_MS, Presence, Remember, Reply, Standing, Width};
use sayso_gate::audit::export::json_line;
use sayso_gate::audit::{Event, Kind, Order, Query};
use sayso_gate::store::{Approvals as _, Questions, Records as _, Sqlite};
use sayso_policy::Person;
use sayso_policy::explain::visible;
use sayso_server::SignedIn;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often new questions are looked for.
const LOOK: Duration = Duration::from_millis(300);

/// Shows questions as they come; at a terminal, takes answers too.
pub(super) fn run(places: &Places, store: &Sqlite, json: bool) -> Result<(), Failure> {
    if json {
        return follow(store);
    }
    let (person, mut terminal) = operator::at_terminal()?;
    let signed_in = operator::sign_in(operator::server(places)?, &mut terminal)?;
    writeln!(stdout(), "Watching as {}. Agents' questions come here; Ctrl-C ends it.", person.name)?;
    let presence = Presence { id: format!("terminal-{}", std::process::id()), person, via: "terminal".to_owned() };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Beside the prompt, which waits for a person.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                // If it cannot be said now, it is said again in a moment.
                let _ = store.attend(&presence, now_ms());
                std::thread::sleep(Duration::from_millis(HEARTBEAT_MS));
            }
        });
        let watched = answer_all(places, store, &presence.person, (&signed_in, &terminal));
        over.store(true, Ordering::Relaxed);
        let _ = store.leave(&presence.id);
        watched
    })
}

fn follow(store: &Sqlite) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    loop {
        for approval in &waiting(store)? {
            if seen.insert(approval.question.id.clone()) {
                let mut out = stdout().lock();
                write!(out, "{}", json_line(approval)?)?;
                out.flush()?;
            }
        }
        std::thread::sleep(LOOK);
    }
}

/// Everything that waits, the first that was asked first: no flood of others hides one.
fn waiting(store: &Sqlite) -> Result<Vec<Approval>, Failure> {
    let which = Questions { pending: true, oldest_first: true, ..Questions::all() };
    Ok(store.questions(&which, &|_| true)?)
}

/// Tells of sessions that were stopped since.
struct Stops {
    last: Option<u64>,
}

impl Stops {
    fn tell(&mut self, store: &Sqlite) -> Result<(), Failure> {
        let kinds = vec![Kind::Limit];
        let Some(last) = self.last else {
            let newest = store.events(&Query { limit: Some(1), ..Query::default() })?;
            self.last = Some(newest.first().map_or(0, |record| record.seq));
            return Ok(());
        };
        let query = Query { kinds, after: Some(last), order: Order::OldestFirst, ..Query::default() };
        for record in store.events(&query)? {
            self.last = Some(record.seq);
            if let Event::Change(change) = &record.event
                && change.what == "stopped"
            {
                let session = change.about.as_deref().unwrap_or("unknown");
                let agent = change.actor.agent.as_deref().unwrap_or("an agent");
                let why = change.detail.get("why").and_then(serde_json::Value::as_str).unwrap_or_default();
                let text = format!("stopped: session {session} of {agent}: {why}");
                writeln!(stdout(), "\n{}", visible(&text))?;
            }
        }
        Ok(())
    }
}

fn answer_all(
    places: &Places,
    store: &Sqlite,
    person: &Person,
    (server, terminal): (&SignedIn, &File),
) -> Result<(), Failure> {
    let mut stops = Stops { last: None };
    let mut later = HashSet::new();
    let mut typed = BufReader::new(terminal).lines();
    loop {
        stops.tell(store)?;
        let waiting = waiting(store)?;
        let theirs = |approval: &&Approval| {
            !later.contains(&approval.question.id)
                && approval.question.may_be_answered_by(person)
                && !approval.answers.iter().any(|given| given.person.name == person.name)
        };
        let Some(approval) = waiting.iter().find(theirs) else {
            std::thread::sleep(LOOK);
            continue;
        };
        let mut out = stdout().lock();
        writeln!(out, "\n{}", shown::whole(approval, &previews(places, &approval.question)?))?;
        write!(
            out,
            "y once, s session, a always, p always this program, f always this folder, n no, never, l later: "
        )?;
        out.flush()?;
        let Some(Ok(word)) = typed.next() else { return Ok(()) };
        let Some(reply) = reply(word.trim()) else {
            later.insert(approval.question.id.clone());
            continue;
        };
        // Somebody else, or time, may have been faster.
        let said = match server.answer(&approval.question.id, &reply).map_err(operator::refused) {
            Ok(answered) => shown::standing(&answered),
            Err(Failure::Wrong(why)) => {
                if store.approval(&approval.question.id)?.is_some_and(|now| now.standing == Standing::Pending) {
                    later.insert(approval.question.id.clone());
                }
                why
            }
            Err(failure) => return Err(failure),
        };
        writeln!(out, "{said}")?;
    }
}

fn reply(word: &str) -> Option<Reply> {
    let yes = Reply::allow_once;
    match word {
        "y" | "yes" => Some(yes()),
        "s" => Some(yes().remembered(Remember::Session, Width::Exact)),
        "a" => Some(yes().remembered(Remember::Always, Width::Exact)),
        "p" => Some(yes().remembered(Remember::Always, Width::Program)),
        "f" => Some(yes().remembered(Remember::Always, Width::Folder)),
        "n" | "no" => Some(Reply::deny()),
        "never" => Some(Reply::deny().remembered(Remember::Always, Width::Exact)),
        _ => None,
    }
}
