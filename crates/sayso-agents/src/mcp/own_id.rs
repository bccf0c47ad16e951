//! Ids of requests that the gateway itself sends, and who waits for their answers.

use crate::pipe::Id;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Sixteen random digits. What nobody can guess, nobody can answer in another's place.
pub(crate) fn random() -> String {
    let mut bytes = [0_u8; 8];
    if getrandom::fill(&mut bytes).is_err() {
        // The standard library has randomness of its own, from the same system, for its tables.
        use std::hash::BuildHasher as _;
        bytes = std::hash::RandomState::new().hash_one(std::time::SystemTime::now()).to_le_bytes();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An answer to a request of our own: the raw JSON of its result; an error has none.
pub(crate) type Reply = Option<Vec<u8>>;

/// Who waits for the answer to a request of our own.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    by_id: Mutex<HashMap<Id, Sender<Reply>>>,
}

/// A request of our own, whose answer is awaited.
pub(crate) struct Awaited<'a> {
    waiting: &'a Waiting,
    /// The raw JSON of the id.
    pub(crate) id: Vec<u8>,
    key: Id,
    answer: Receiver<Reply>,
}

impl Waiting {
    /// A new id, whose answer is awaited from now on.
    pub(crate) fn expect(&self) -> Awaited<'_> {
        let text = format!("sayso:{}", random());
        let (sender, answer) = channel();
        let key = Id::Text(text.clone().into_bytes());
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), sender);
        Awaited { waiting: self, id: format!("\"{text}\"").into_bytes(), key, answer }
    }

    /// Whether an answer is to one of our own; then it has been handed over.
    pub(crate) fn takes(&self, id: &Id, result: Option<&[u8]>) -> bool {
        let Id::Text(text) = id else { return false };
        if !text.starts_with(b"sayso:") {
            return false;
        }
        let sender = self.by_id.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        match sender {
            Some(sender) => {
                let _ = sender.send(result.map(<[u8]>::to_vec));
                true
            }
            None => false,
        }
    }

    /// Nobody will answer any more.
    pub(crate) fn give_up(&self) {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Awaited<'_> {
    /// Waits. `None` if nobody answered in time.
    pub(crate) fn answer(&self, patience: Duration) -> Option<Reply> {
        self.answer.recv_timeout(patience).ok()
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.waiting.by_id.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
