//! How a command came to be allowed: by a judgement of its own, or by a permit that a hook handed out.

use super::{NOT_FOUND, Stop};
use sayso_gate::audit::{Happening, Held, Spool, What};
use sayso_gate::hold::permit::{HoldPermits, Refused, Terms, Why};
use sayso_gate::wire::workspace_at;
use sayso_gate::{
    Asking, Circumstances, FactsOf, Gate, Home, InForce, Judged, Live, Memory, Otherwise, Permit, Places, mode,
};
use sayso_policy::explain::visible;
use sayso_policy::shell::bounds::Need;
use sayso_policy::shell::resolve::is_builtin;
use sayso_policy::{Actor, Answer, CanHold, Decision, Holding, Request, ToolCall};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long a question waits for a person, where one is connected.
pub(super) const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// The name of this way in.
pub(super) const WAY_IN: &str = "run";

/// A command that may run, held.
pub(super) struct Cleared {
    pub(super) places: Places,
    pub(super) words: Vec<OsString>,
    pub(super) folder: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) home: Option<PathBuf>,
    /// For whom.
    pub(super) actor: Actor,
    pub(super) call_id: Option<String>,
    /// The id of the decision's record.
    pub(super) record: String,
    /// How much of the bounds the decision wants kept.
    pub(super) need: Option<Need>,
    /// The policy that the bounds are made from.
    pub(super) in_force: Arc<InForce>,
    /// `None`: it was spent on the permit that was redeemed.
    permit: Option<Permit>,
}

impl Cleared {
    /// Lets the command run.
    pub(super) fn spend<T>(mut self, go_on: impl FnOnce(&Self) -> T) -> (Self, T) {
        let done = match self.permit.take() {
            Some(permit) => permit.spend(|| go_on(&self)),
            None => go_on(&self),
        };
        (self, done)
    }
}

/// Judges a command by the policy in force for the current folder, which is its workspace: whoever starts it can neither
/// name another one nor say who asks.
pub(super) fn by_judgement(places: Places, words: &[OsString]) -> Result<Cleared, Stop> {
    let folder = std::env::current_dir()?.canonicalize()?;
    let question = Question {
        words,
        home: Some(places.home.clone()),
        workspace: folder.clone(),
        folder,
        actor: Actor::default(),
        call_id: None,
    };
    question.clear(places)
}

/// Redeems a permit. What it says is judged anew if the policy, or the mode, is not the one by which it was issued.
pub(super) fn by_permit(places: Places, also_elsewhere: bool, id: &str, words: &[OsString]) -> Result<Cleared, Stop> {
    let folder = std::env::current_dir()?;
    let (places, redeemed) = redeem(places, also_elsewhere, id, words, &folder);
    let terms = redeemed.map_err(|refused| not_honoured(&places, &refused))?;
    let live = live(&places, &terms.workspace)?;
    let switched = mode::in_force(&places, now_ms()).is_some();
    // Its asker is whoever redeems the permit, which is this user.
    let actor = match terms.actor.as_deref() {
        Some(actor) => actor.clone(),
        None => Actor { agent: terms.agent.clone(), session: terms.session.clone(), ..Actor::default() },
    };
    let in_force = live.current();
    if in_force.policy.version() != terms.policy_version || in_force.floor.is_some() || switched {
        let Terms { words, folder, workspace, home, call_id, need, .. } = terms;
        let question = Question { words: &words, folder, workspace, home, actor, call_id };
        let mut cleared = question.clear(places)?;
        // INVARIANT: never less than what the first record says.
        cleared.need = cleared.need.max(Some(need));
        return Ok(cleared);
    }
    let actor = in_force.policy.owned(actor, false);
    Ok(Cleared {
        places,
        words: terms.words,
        folder: terms.folder,
        workspace: terms.workspace,
        home: terms.home,
        actor,
        call_id: terms.call_id,
        record: terms.record,
        need: Some(terms.need),
        in_force,
        permit: None,
    })
}

/// An agent may have given its tools another `HOME` than its hook has: then the permit is with the user's own.
fn redeem(
    places: Places,
    also_elsewhere: bool,
    id: &str,
    words: &[OsString],
    folder: &Path,
) -> (Places, Result<Terms, Refused>) {
    let first = HoldPermits::at(&places).redeem(id, words, folder);
    if !matches!(&first, Err(Refused { why: Why::Unknown, .. })) || !also_elsewhere {
        return (places, first);
    }
    match Places::find(Home::Database) {
        Ok(other) if other != places => {
            let second = HoldPermits::at(&other).redeem(id, words, folder);
            match second {
                Err(Refused { why: Why::Unknown, .. }) => (places, first),
                second => (other, second),
            }
        }
        _ => (places, first),
    }
}

/// A permit that is not honoured is a record: somebody tried.
fn not_honoured(places: &Places, refused: &Refused) -> Stop {
    let terms = refused.terms.as_deref();
    let actor = Actor {
        agent: terms.and_then(|terms| terms.agent.clone()),
        session: terms.and_then(|terms| terms.session.clone()),
        ..Actor::default()
    };
    let mut happening = Happening::new(What::PermitRefused, WAY_IN, actor);
    happening.event = Some(refused.why.code().to_owned());
    happening.call_id = terms.and_then(|terms| terms.call_id.clone());
    happening.held = Some(Held { record: terms.map(|terms| terms.record.clone()), ..Held::default() });
    happening.text = Some(refused.why.to_string());
    // It makes it no stricter.
    let _ = Spool::open(places).and_then(|spool| spool.note(&happening));
    Stop::not_allowed(format!("not run: {}", refused.why))
}

/// What is to be judged.
struct Question<'a> {
    words: &'a [OsString],
    folder: PathBuf,
    workspace: PathBuf,
    home: Option<PathBuf>,
    actor: Actor,
    call_id: Option<String>,
}

impl Question<'_> {
    fn clear(self, places: Places) -> Result<Cleared, Stop> {
        let text = as_text(self.words)?;
        let spool = Box::new(Spool::open(&places)?);
        let gate = Gate::over(live(&places, &self.workspace)?, spool).with_memory(Memory::of(&places));
        let call = ToolCall {
            request: Request::Command(text),
            actor: self.actor.clone(),
            cwd: Some(self.folder.clone()),
            workspace: workspace_at(&self.workspace, self.home.as_deref()),
            home: self.home.clone(),
            reported_kind: None,
        };
        let judged = gate.judge(call, circumstances(self.call_id.clone()), FactsOf::Gate).settle().record();
        let Judged { decision, permit, record, .. } = judged;
        let Some(permit) = permit else { return Err(not_allowed(&decision)) };
        Ok(Cleared {
            places,
            words: self.words.to_vec(),
            folder: self.folder,
            workspace: self.workspace,
            home: self.home,
            actor: gate.owned(self.actor),
            call_id: self.call_id,
            record: record.id,
            need: match decision.hold {
                Some(Holding::Required(need) | Holding::Wanted(need) | Holding::WouldAllow(need)) => Some(need),
                None => None,
            },
            in_force: gate.in_force(),
            permit: Some(permit),
        })
    }
}

fn circumstances(call_id: Option<String>) -> Circumstances {
    let asking = match Instant::now().checked_add(PATIENCE) {
        Some(until) => Asking::Queue { until, otherwise: Otherwise::Nobody },
        None => Asking::Nobody,
    };
    // What cannot be held does not run: if the machine can do less than the decision needs, the run fails.
    Circumstances { call_id, can_hold: CanHold::Whole, ..Circumstances::of(WAY_IN.to_owned(), asking) }
}

pub(super) fn live(places: &Places, workspace: &Path) -> Result<Live, Stop> {
    let in_force = InForce::load_compiled(places, Some(workspace))?;
    Ok(Live::loaded(in_force, places, Some(workspace)))
}

fn not_allowed(decision: &Decision) -> Stop {
    let verdict = match decision.answer {
        Answer::Deny => "denied",
        Answer::Ask => "needs approval",
        Answer::Allow | Answer::DryRun => "not recorded",
    };
    let reasons = decision.reasons.iter().take(2).map(|reason| format!("{} [{}]", reason.text.trim_end(), reason.code));
    Stop::not_allowed(format!("not run, {verdict}: {}", reasons.collect::<Vec<_>>().join(" ")))
}

/// Words as the text of a shell that means exactly these. No shell sees it: the first word is looked for on `PATH` even if a
/// shell has a builtin of that name, so the file that is found stands in its place.
fn as_text(words: &[OsString]) -> Result<Vec<u8>, Stop> {
    let Some((program, rest)) = words.split_first() else { return Err(Stop::not_allowed("no command given")) };
    let not_found = || Stop { code: NOT_FOUND, text: format!("{}: not found", visible(&program.to_string_lossy())) };
    let mut text = Vec::new();
    if program.as_bytes().contains(&b'/') {
        quote(program, &mut text);
    } else {
        let found = on_path(program, std::env::var_os("PATH").as_deref()).ok_or_else(not_found)?;
        let shadowed = program.to_str().is_none_or(is_builtin);
        quote(if shadowed { found.as_os_str() } else { program }, &mut text);
    }
    for word in rest {
        text.push(b' ');
        quote(word, &mut text);
    }
    Ok(text)
}

fn on_path(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path?).filter(|_| !name.is_empty()).map(|folder| folder.join(name)).find(runs)
}

/// A word that needs no quotes is written without, for whoever reads the record.
fn quote(word: &OsStr, text: &mut Vec<u8>) {
    let bytes = word.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:,@+%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return text.extend_from_slice(bytes);
    }
    text.push(b'\'');
    for byte in bytes {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            byte => text.push(*byte),
        }
    }
    text.push(b'\'');
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        String::from_utf8(as_text(&words).unwrap()).unwrap()
    }

    #[test]
    fn words_become_a_text_that_means_them() {
        assert_eq!(text(&["/bin/make", "test"]), "/bin/make test");
        assert_eq!(
            text(&["/bin/sh", "-c", "a 'b' $(c)\nd", ""]),
            r"/bin/sh -c 'a '\''b'\'' $(c)".to_owned() + "\nd' ''"
        );
        assert_eq!(text(&["/x/a=b", "~", "*", "#", "{a,b}"]), "'/x/a=b' '~' '*' '#' '{a,b}'");
    }

    #[test]
    fn a_builtin_of_a_shell_is_the_program_that_is_started() {
        assert!(text(&["echo", "x"]).ends_with("/echo x"));
        assert_eq!(text(&["ls"]), "ls");
        let none = as_text(&["no-such-program-here".into()]).unwrap_err();
        assert_eq!(none.code, NOT_FOUND);
        assert_eq!(as_text(&["export".into(), "A=b".into()]).unwrap_err().code, NOT_FOUND);
        assert_eq!(as_text(&["".into()]).unwrap_err().code, NOT_FOUND);
    }
}
