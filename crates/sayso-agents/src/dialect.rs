//! What a dialect must say: how an agent tells an event, and how it wants to be answered. A dialect holds wire names and
//! words; what is allowed is decided elsewhere. Each stands in its agent's folder.

use crate::event::{Event, HookCall};
use crate::hook_answer::Word;
use crate::seat::Seat;
use crate::{Agent, HookOutput};
use serde_json::{Map, Value};
use std::panic::RefUnwindSafe;

/// An agent's words.
pub(crate) trait Dialect: Sync + RefUnwindSafe {
    /// Whose they are.
    fn agent(&self) -> Agent;

    /// Where the agent tells its hooks which project it was started for.
    fn project_variable(&self) -> Option<&'static str> {
        None
    }

    /// Whether another hook may be told of the same calls.
    fn told_twice(&self) -> bool {
        false
    }

    /// Whether a later event of a call is recorded only where it is answered otherwise than the first.
    fn one_record(&self) -> bool {
        false
    }

    /// What this call is known by at each event that tells of it, where name and arguments differ from one to the other.
    fn same_call(&self, _: &HookCall) -> Option<String> {
        None
    }

    /// Reads an event: what is there must have the type it always has, what is new is tolerated.
    fn read(&self, object: &Map<String, Value>) -> Result<Event, String>;

    /// Who can be asked about a call at this event.
    fn person(&self, event: &Event) -> Person;

    /// Whether another event has told of the same call before this one. Permission requests always have.
    fn comes_later(&self, _: &Event) -> bool {
        false
    }

    /// Whether an answer to this event can replace the command of this call, and the agent then runs that.
    fn rewrites(&self, _: &Event, _: &HookCall) -> bool {
        false
    }

    /// Answers an event about a call.
    fn say(&self, event: &Event, word: Word, why: &str) -> HookOutput;

    /// Answers an event at which nothing is decided.
    fn nothing(&self, _: &Event) -> HookOutput {
        HookOutput::silent()
    }

    /// Answers the news that the agent's settings changed.
    fn settings_changed(&self, event: &Event, _what: &str) -> HookOutput {
        self.nothing(event)
    }
}

/// Who can be asked where the policy says Ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Person {
    /// Whoever sits before the agent: it has a prompt of its own and shows it. The queue is not used at this event,
    /// because another event of the same call is the place for it, or because the agent does not wait.
    AtPrompt,
    /// An approver at Sayso's queue; if there is none, or none in time, whoever sits before the agent.
    InQueueOrAtPrompt,
    /// The same, if somebody sits before the agent; the hook has to find that out.
    InQueueOrSeated(&'static Seat),
    /// An approver at Sayso's queue, or nobody: the agent has no prompt that a hook can call for.
    InQueue,
}
