//! How much of this server one caller, or all of them, may take up.

use crate::error::ApiError;
use crate::who::Caller;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Most connections over one way in.
const MOST_CONNECTIONS: u64 = 8192;
/// Files that the store, the spools and the listeners need beside connections.
const OTHER_FILES: u64 = 128;
/// Most that one caller may have waiting, or watching, at the same time. All without a token are one caller.
const MOST_EACH: usize = 2048;

/// What a connection may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Connections at the same time. Each way in has its own, so that one that is full does not shut the other.
    pub(crate) connections: usize,
    /// From the first byte of a request to the end of its headers; also until the first request of a connection.
    pub(crate) head: Duration,
    /// Bytes until the end of the headers.
    pub(crate) head_bytes: usize,
    /// From the headers to the end of the body.
    pub(crate) body: Duration,
    /// Between two requests.
    pub(crate) idle: Duration,
    /// Without taking anything of what is sent.
    pub(crate) write: Duration,
}

impl Bounds {
    /// As many connections as this process may open, within reason.
    pub(crate) fn of_this_process() -> Self {
        let files = getrlimit(Resource::Nofile);
        let all = files.maximum.unwrap_or(u64::MAX).min(2 * MOST_CONNECTIONS + OTHER_FILES);
        let wanted = Rlimit { current: Some(all.max(files.current.unwrap_or(u64::MAX))), maximum: files.maximum };
        // What cannot be raised is lived with.
        let all = if setrlimit(Resource::Nofile, wanted).is_ok() { all } else { files.current.unwrap_or(all) };
        let each = (all.saturating_sub(OTHER_FILES) / 2).clamp(16, MOST_CONNECTIONS);
        Self { connections: usize::try_from(each).unwrap_or(usize::MAX), ..Self::default() }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 1024,
            head: Duration::from_secs(10),
            head_bytes: 32 * 1024,
            body: Duration::from_secs(30),
            idle: Duration::from_secs(75),
            write: Duration::from_secs(30),
        }
    }
}

/// How many places each caller takes up.
#[derive(Clone, Default)]
pub(crate) struct Crowd {
    /// By name; those without a token are together under none.
    places: Arc<Mutex<HashMap<Option<String>, usize>>>,
}

impl Crowd {
    /// Takes a place, until it is dropped.
    pub(crate) fn enter(&self, caller: &Caller) -> Result<Place, ApiError> {
        let name = caller.person.as_ref().map(|person| person.name.clone());
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = places.entry(name.clone()).or_default();
        if *taken >= MOST_EACH {
            return Err(ApiError::crowded(MOST_EACH));
        }
        *taken += 1;
        Ok(Place { crowd: self.clone(), name })
    }
}

/// A place that somebody takes up.
pub(crate) struct Place {
    crowd: Crowd,
    name: Option<String>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.crowd.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = places.get_mut(&self.name) {
            *taken = taken.saturating_sub(1);
            if *taken == 0 {
                places.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_that_is_everywhere_leaves_room_for_others() {
        let (crowd, greedy, other) =
            (Crowd::default(), Caller::anybody(), Caller::owner("alice", crate::key::Via::Page));
        let held: Vec<Place> = (0..MOST_EACH).map(|_| crowd.enter(&greedy).unwrap()).collect();
        assert!(crowd.enter(&greedy).is_err_and(|error| error.code() == "too-many-at-once"));
        assert!(crowd.enter(&other).is_ok());
        drop(held);
        assert!(crowd.enter(&greedy).is_ok());
        assert!(crowd.places.lock().unwrap().is_empty(), "nobody is remembered who left");
    }

    #[test]
    fn there_is_room_for_a_thousand_of_each() {
        let bounds = Bounds::of_this_process();
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        assert!(u64::try_from(2 * bounds.connections).unwrap() <= files.max(32), "{bounds:?} {files}");
    }
}
