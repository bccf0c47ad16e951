//! Waiting for questions at a terminal.

use super::{previews, shown};
use crate::command::log::time::now_ms;
use crate::failure::Failure;
use crate::operator;
use rustix::termios::{QueueSelector, tcflush};
use sayso_gate::Places;
use sayso_gate::approval::{Approval, HEARTBEAT_MS, Presence, Remember, Reply, Standing, Width};
use sayso_gate::audit::export::json_line;
use sayso_gate::audit::{Event, Kind, Order, Query};
use sayso_gate::store::{Questions, Store};
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
pub(super) fn run(places: &Places, store: &dyn Store, json: bool) -> Result<(), Failure> {
    if json {
        return follow(store);
    }
    let (person, mut terminal) = operator::at_terminal()?;
    let signed_in = operator::sign_in(operator::server(places)?, &mut terminal)?;
    writeln!(stdout(), "Watching as {}. Agents now ask here; press `q` or Ctrl-C to stop.", person.name)?;
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

fn follow(store: &dyn Store) -> Result<(), Failure> {
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
fn waiting(store: &dyn Store) -> Result<Vec<Approval>, Failure> {
    let which = Questions { pending: true, oldest_first: true, ..Questions::all() };
    Ok(store.questions(&which, &|_| true)?)
}

/// Tells of sessions that were stopped since.
struct Stops {
    last: Option<u64>,
}

impl Stops {
    fn tell(&mut self, store: &dyn Store) -> Result<(), Failure> {
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
    store: &dyn Store,
    person: &Person,
    (server, terminal): (&SignedIn, &File),
) -> Result<(), Failure> {
    let mut stops = Stops { last: None };
    let mut later = HashSet::new();
    let mut prompt = Prompt(BufReader::new(terminal));
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
        let question = shown::whole(approval, &previews(places, &approval.question)?);
        let reply = match prompt.ask(&question)? {
            Typed::Reply(reply) => reply,
            Typed::Later => {
                later.insert(approval.question.id.clone());
                continue;
            }
            // A step is over before an answer comes back.
            Typed::Quit | Typed::Step(_) => return Ok(()),
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
        writeln!(stdout(), "{said}")?;
    }
}

/// What a person says to a question.
enum Typed {
    Reply(Reply),
    Later,
    Quit,
    /// Something else is to be chosen first.
    Step(Step),
}

/// What is asked of a person. The keys are those of the page: `a` allows this call and nothing else, and an answer that
/// lasts takes a second step.
#[derive(Clone, Copy)]
enum Step {
    Once,
    Lasting,
}

/// Where a person answers.
struct Prompt<'a>(BufReader<&'a File>);

impl Prompt<'_> {
    /// Shows a question, and takes what is typed from then on until it is an answer.
    fn ask(&mut self, question: &str) -> Result<Typed, Failure> {
        let mut first = format!("\n{question}\n");
        let mut step = Step::Once;
        loop {
            let words = step.words();
            // INVARIANT: before anything is shown, never after it: who has seen the question may type at once.
            self.forget_typed()?;
            let mut out = stdout().lock();
            write!(out, "{first}{words}")?;
            out.flush()?;
            drop(out);
            let mut line = Vec::new();
            if self.0.read_until(b'\n', &mut line)? == 0 {
                return Ok(Typed::Quit);
            }
            let line = String::from_utf8_lossy(&line);
            match step.said(line.trim()) {
                Some(Typed::Step(next)) => (first, step) = (String::new(), next),
                Some(said) => return Ok(said),
                None => first = format!("`{}` is not one of these.\n", visible(line.trim())),
            }
        }
    }

    /// What was typed before a question is shown is no answer to it: a `y` for the one before, or a paste.
    fn forget_typed(&mut self) -> Result<(), Failure> {
        let held = self.0.buffer().len();
        self.0.consume(held);
        tcflush(self.0.get_ref(), QueueSelector::IFlush).map_err(std::io::Error::from)?;
        Ok(())
    }
}

impl Step {
    const fn words(self) -> &'static str {
        match self {
            Self::Once => "a allow once, d deny, m more (for the session, or always), l later, q quit: ",
            Self::Lasting => {
                "s allow for this session, always allow: e exactly this, p this program, f this folder; never allow: n; b back: "
            }
        }
    }

    fn said(self, word: &str) -> Option<Typed> {
        let yes = Reply::allow_once;
        Some(match (self, word) {
            (_, "q" | "quit") => Typed::Quit,
            (Self::Once, "a" | "allow" | "y" | "yes") => Typed::Reply(yes()),
            (Self::Once, "d" | "deny" | "n" | "no") => Typed::Reply(Reply::deny()),
            (Self::Once, "m" | "more") => Typed::Step(Self::Lasting),
            (Self::Once, "l" | "later") => Typed::Later,
            (Self::Lasting, "s") => Typed::Reply(yes().remembered(Remember::Session, Width::Exact)),
            (Self::Lasting, "e") => Typed::Reply(yes().remembered(Remember::Always, Width::Exact)),
            (Self::Lasting, "p") => Typed::Reply(yes().remembered(Remember::Always, Width::Program)),
            (Self::Lasting, "f") => Typed::Reply(yes().remembered(Remember::Always, Width::Folder)),
            (Self::Lasting, "n") => Typed::Reply(Reply::deny().remembered(Remember::Always, Width::Exact)),
            (Self::Lasting, "b" | "") => Typed::Step(Self::Once),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_single_key_of_the_first_step_gives_an_answer_that_lasts() {
        for key in (0_u8..=127).map(char::from) {
            if let Some(Typed::Reply(reply)) = Step::Once.said(&key.to_string()) {
                assert_eq!(reply.remember, Remember::Once, "{key}");
            }
        }
        assert!(matches!(Step::Once.said("a"), Some(Typed::Reply(reply)) if reply == Reply::allow_once()));
    }
}
