//! What the gate remembers beside the record: questions and their answers, remembered answers, and what was used.

use crate::Error;
use crate::approval::{Approval, Presence, Question, Refused, Reply};
use crate::grant::{GrantUse, Kept};
use crate::limit::{Outcome, Reservation, Used, Which};
use sayso_policy::{Actor, Counting, Facts, Grant, GrantKeys, Person, RecentCall, Scope, Usage};
use std::collections::BTreeMap;
use std::time::Duration;

/// Whom and what a call is about, as far as memory is concerned.
pub struct Subject<'a> {
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// Who asks.
    pub actor: &'a Actor,
    /// The name under which grants know the workspace.
    pub site: Option<&'a str>,
    /// What a question about this very call is bound to.
    pub digest: &'a str,
    /// What answers are looked up by that may have been given to it. `None`: no answer is in play, and none is looked for.
    pub grants: Option<&'a GrantKeys>,
    /// What the limits in force count.
    pub counting: &'a Counting,
    /// The hosts it contacts.
    pub hosts: &'a [String],
    /// Names the call, to see it repeated.
    pub call: &'a str,
}

/// What is remembered of that.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    /// What was used so far, what is reserved included.
    pub usage: BTreeMap<Scope, Usage>,
    /// How many of the call's hosts are new in each scope.
    pub new_hosts: BTreeMap<Scope, u64>,
    /// Calls within the stretches of time that rates are about.
    pub rates: BTreeMap<(Scope, Duration), u64>,
    /// Denied calls within the stretches of time that `blocked` is about.
    pub blocked: BTreeMap<(Scope, Duration), u64>,
    /// Single calls of the session.
    pub recent: Vec<RecentCall>,
    /// Remembered answers that may apply.
    pub grants: Vec<Grant>,
    /// Questions about this very call that wait, or whose answer still counts; the latest first.
    pub approvals: Vec<Approval>,
    /// Questions of this session that wait.
    pub pending: usize,
    /// Some question of this session waits or has an answer that still counts, or an answer to one very call is
    /// remembered here. Whether it is about this very call only what a yes to it is bound to can tell.
    pub answerable: bool,
}

/// What is to be remembered of a call.
#[derive(Clone, Debug, Default)]
pub struct Memo {
    /// What it takes from the budgets.
    pub(crate) reserve: Option<Reservation>,
    /// A rule or a person denied it.
    pub(crate) blocked: bool,
    /// That stopped the session: what is said about it.
    pub(crate) stopped: Option<String>,
    /// The grants that answered it.
    pub(crate) uses: Vec<GrantUse>,
    /// The question whose yes lets it run: no second call runs on it.
    pub(crate) spend: Option<String>,
    /// A question to be asked.
    pub(crate) ask: Option<Box<Question>>,
}

impl Memo {
    /// A call that a rule or a person denied.
    #[must_use]
    pub fn denied() -> Self {
        Self { blocked: true, ..Self::default() }
    }
}

/// What was used, by scope, and what is reserved.
pub trait Ledger {
    /// One call's turn: what is remembered is read, `judge` says what is to be remembered, and that is written, all in
    /// one step that no other call comes between. It is synced to disk when this returns.
    ///
    /// # Errors
    /// If the store refuses, or a grant was used up or a yes spent: then nothing is written.
    fn turn(&self, subject: &Subject<'_>, judge: &mut dyn FnMut(Remembered) -> Memo) -> Result<(), Error>;

    /// What became of a call. Gives back what was reserved and not used. Tells whether the call was known.
    ///
    /// # Errors
    /// If the store refuses.
    fn settle(&self, which: &Which, outcome: &Outcome, now_ms: u64) -> Result<bool, Error> {
        self.settle_in(None, which, outcome, now_ms)
    }

    /// The same for somebody of this tenant: calls of others are not known.
    ///
    /// # Errors
    /// If the store refuses.
    fn settle_in(&self, tenant: Option<&str>, which: &Which, outcome: &Outcome, now_ms: u64) -> Result<bool, Error>;

    /// Has the counts of a session begin anew; its age stays. Tells how many scopes that were.
    ///
    /// # Errors
    /// If the store refuses.
    fn reset_session(&self, session: &str, by: &str, now_ms: u64) -> Result<usize, Error>;

    /// Whether the session of an actor is on its fallback: it was before, or one of these is reached, how many denied calls
    /// in which stretch of time. Then, once, the count of denied calls begins anew.
    ///
    /// # Errors
    /// If the store refuses.
    fn fall_back(&self, actor: &Actor, limits: &[(u64, Option<Duration>)], now_ms: u64) -> Result<bool, Error>;

    /// What was used, the latest first.
    ///
    /// # Errors
    /// If the store refuses.
    fn used(&self, now_ms: u64) -> Result<Vec<Used>, Error> {
        self.used_in(None, None, &Counting::default(), usize::MAX, now_ms)
    }

    /// The same of one tenant and of scopes of one kind, at most this many, with the calls in the stretches of time that are counted.
    ///
    /// # Errors
    /// If the store refuses.
    fn used_in(
        &self,
        tenant: Option<&str>,
        scope: Option<Scope>,
        counting: &Counting,
        limit: usize,
        now_ms: u64,
    ) -> Result<Vec<Used>, Error>;
}

/// Questions that wait for a person, and their answers.
pub trait Approvals {
    /// One question.
    ///
    /// # Errors
    /// If the store refuses.
    fn approval(&self, id: &str) -> Result<Option<Approval>, Error>;

    /// Questions, the latest first unless told otherwise. What `theirs` refuses is not found, and does not count towards the limit: nobody
    /// else's questions push theirs out of sight.
    ///
    /// # Errors
    /// If the store refuses.
    fn questions(&self, which: &Questions<'_>, theirs: &dyn Fn(&Question) -> bool) -> Result<Vec<Approval>, Error>;

    /// Questions of everybody, the latest first; only those that wait, or all.
    ///
    /// # Errors
    /// If the store refuses.
    fn approvals(&self, pending: bool, limit: usize) -> Result<Vec<Approval>, Error> {
        self.questions(&Questions { pending, limit, ..Questions::default() }, &|_| true)
    }

    /// Answers a question. The first valid answer for each addressee counts; what is to be remembered is given as
    /// grants in the same step. `policy` is the version in force now, where it is known, and `facts` what the files
    /// are now: a question about something else is void.
    ///
    /// # Errors
    /// [`Error::Refused`] if the answer does not count, or if the store refuses.
    fn answer(&self, answer: &Answering<'_>) -> Result<Approval, Error>;

    /// How many questions stand how, by the word.
    ///
    /// # Errors
    /// If the store refuses.
    fn standings(&self) -> Result<Vec<(String, u64)>, Error>;

    /// Ends a question that waits. `false`: it did not wait any more.
    ///
    /// # Errors
    /// If the store refuses.
    fn cancel(&self, id: &str, why: &str, now_ms: u64) -> Result<bool, Error>;

    /// Has a question that waits reach the next higher group now. `None`: it does not wait, or there is none.
    ///
    /// # Errors
    /// If the store refuses.
    fn escalate(&self, id: &str, by: &str, now_ms: u64) -> Result<Option<Approval>, Error>;

    /// Says that somebody waits for questions; to be said again every few seconds.
    ///
    /// # Errors
    /// If the store refuses.
    fn attend(&self, presence: &Presence, now_ms: u64) -> Result<(), Error>;

    /// Says that somebody does not wait any more.
    ///
    /// # Errors
    /// If the store refuses.
    fn leave(&self, id: &str) -> Result<(), Error>;

    /// Who waits for questions.
    ///
    /// # Errors
    /// If the store refuses.
    fn present(&self, now_ms: u64) -> Result<Vec<Presence>, Error>;
}

/// Which questions are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Questions<'a> {
    /// Only those that wait.
    pub pending: bool,
    /// Only of this tenant.
    pub tenant: Option<&'a str>,
    /// Only of this session.
    pub session: Option<&'a str>,
    /// Only of this agent.
    pub agent: Option<&'a str>,
    /// The first that was asked comes first, not the latest.
    pub oldest_first: bool,
    /// Only those that come behind this one in that order, to page on. Behind one that is not there comes nothing.
    pub after: Option<&'a str>,
    /// At most this many.
    pub limit: usize,
}

impl Questions<'_> {
    /// All there are, however many.
    #[must_use]
    pub fn all() -> Self {
        Self { limit: usize::MAX, ..Self::default() }
    }
}

/// An answer to a question.
pub struct Answering<'a> {
    /// Which question.
    pub id: &'a str,
    /// Who answers, vouched for by the way they come in.
    pub person: &'a Person,
    /// How: `terminal`, `page`, `webhook`.
    pub via: &'a str,
    /// What they say.
    pub reply: &'a Reply,
    /// The policy in force for the question's workspace now; `None`: whoever answers does not know.
    pub policy: Option<&'a str>,
    /// What files are now.
    pub facts: Facts<'a>,
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
}

/// Which remembered answers are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrantsWanted<'a> {
    /// Only those in force.
    pub in_force: bool,
    /// Only this one.
    pub id: Option<&'a str>,
    /// Only of this tenant.
    pub tenant: Option<&'a str>,
    /// Only for this session.
    pub session: Option<&'a str>,
    /// At most this many; `None`: all.
    pub limit: Option<usize>,
}

/// Remembered answers, and each use of one.
pub trait Grants {
    /// Those that are wanted, the latest first.
    ///
    /// # Errors
    /// If the store refuses.
    fn remembered(&self, which: &GrantsWanted<'_>, now_ms: u64) -> Result<Vec<Kept>, Error>;

    /// Everybody's, the latest first; only those in force, or all.
    ///
    /// # Errors
    /// If the store refuses.
    fn grants(&self, in_force: bool, now_ms: u64) -> Result<Vec<Kept>, Error> {
        self.remembered(&GrantsWanted { in_force, ..GrantsWanted::default() }, now_ms)
    }

    /// Takes one back. `false`: there is none in force with this id.
    ///
    /// # Errors
    /// If the store refuses.
    fn revoke(&self, id: &str, by: &str, now_ms: u64) -> Result<bool, Error>;

    /// Lets one end at this time, or earlier if it ends earlier. `false`: there is none in force with this id.
    ///
    /// # Errors
    /// If the store refuses.
    fn expire(&self, id: &str, at_ms: u64, by: &str, now_ms: u64) -> Result<bool, Error>;

    /// The uses of one, the latest first.
    ///
    /// # Errors
    /// If the store refuses.
    fn uses(&self, id: &str, limit: usize) -> Result<Vec<GrantUse>, Error>;
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}
