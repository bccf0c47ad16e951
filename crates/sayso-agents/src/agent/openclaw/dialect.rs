//! OpenClaw's words, by way of Sayso's plugin there: [`crate::plugin`] is the contract. By its documentation of 2026.9.
//!
//! Its plugin can call for a prompt (`requireApproval`), so an Ask goes there. Errors and time-outs of a plugin stop the
//! call.

use crate::dialect::{Dialect, Person};
use crate::event::Event;
use crate::hook_answer::Word;
use crate::{Agent, HookOutput, plugin};
use serde_json::{Map, Value};

pub(super) struct OpenClaw;

impl Dialect for OpenClaw {
    fn agent(&self) -> Agent {
        Agent::OPENCLAW
    }

    fn read(&self, object: &Map<String, Value>) -> Result<Event, String> {
        plugin::read(object)
    }

    fn person(&self, _: &Event) -> Person {
        Person::InQueueOrAtPrompt
    }

    fn say(&self, _: &Event, word: Word, why: &str) -> HookOutput {
        plugin::say(word, why)
    }

    fn nothing(&self, _: &Event) -> HookOutput {
        plugin::nothing()
    }
}
