//! Whoever follows the record: told what they may know, in order and without a gap, however slow they are.
//!
//! INVARIANT: what a follower keeps in memory is bounded. Who is too slow for what comes reads it from the record.

use crate::app::App;
use crate::attendance::{self, Seat};
use crate::bounds::Place;
use crate::error::ApiError;
use crate::tail;
use crate::told::Told;
use crate::who::{Bearer, Caller, Role};
use axum::extract::ws::Utf8Bytes;
use serde::Deserialize;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::broadcast;
use utoipa::IntoParams;

/// Records read at a time for what came before.
const MOST_BEFORE: usize = 64;

/// Where to begin, and what is wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct FollowQuery {
    /// Begin behind this number; without it, with what comes from now on. `Last-Event-ID` means the same and wins.
    pub(crate) after: Option<u64>,
    /// Only what belongs to this session.
    session: Option<String>,
    /// Whoever follows is there to answer: agents' questions wait.
    #[serde(default)]
    #[param(default = false)]
    attend: bool,
}

impl FollowQuery {
    /// Everything behind a number.
    pub(crate) fn behind(after: Option<u64>) -> Self {
        Self { after, ..Self::default() }
    }
}

/// One record, in the words that this follower may read.
pub(crate) struct Telling {
    pub(crate) seq: u64,
    pub(crate) name: &'static str,
    /// The question that it is about.
    pub(crate) question: Option<String>,
    pub(crate) json: Utf8Bytes,
}

/// Somebody who follows the record.
pub(crate) struct Follower {
    app: Arc<App>,
    caller: Caller,
    bearer: Bearer,
    session: Option<String>,
    before: VecDeque<Arc<Told>>,
    live: broadcast::Receiver<Arc<Told>>,
    /// The number of the last record that was handed out or is none of the follower's business.
    seen: u64,
    /// The record may hold more than was read.
    behind: bool,
    _seat: Option<Seat>,
    _place: Place,
}

impl Follower {
    /// Begins behind what was seen.
    pub(crate) async fn begin(
        app: Arc<App>,
        caller: Caller,
        bearer: Bearer,
        asked: FollowQuery,
    ) -> Result<Self, ApiError> {
        let place = app.watchers.enter(&caller)?;
        let person = caller.person.as_ref().ok_or_else(ApiError::signed_out)?;
        if asked.attend && caller.role < Role::Approver {
            return Err(ApiError::not_yours());
        }
        let seat = if asked.attend { Some(attendance::sit(&app, person).await) } else { None };
        let reader = Arc::clone(&app);
        let found = tokio::task::spawn_blocking(move || tail::follow(&reader)).await;
        let (live, newest) = found.map_err(|error| ApiError::internal(&error))??;
        if asked.after.is_some_and(|after| after > newest) {
            return Err(ApiError::ahead_of_the_record());
        }
        // Followed first, read then: what comes in between is there twice, and handed out once.
        let (seen, behind) = asked.after.map_or((newest, false), |after| (after, after < newest));
        let (session, before) = (asked.session, VecDeque::new());
        Ok(Self { app, caller, bearer, session, before, live, seen, behind, _seat: seat, _place: place })
    }

    /// The next record for whoever follows; `None` ends the stream, and they come back. May be dropped while it waits
    /// without losing anything.
    pub(crate) async fn next(&mut self) -> Option<Telling> {
        loop {
            while let Some(told) = self.before.pop_front() {
                self.seen = told.seq;
                if let Some(telling) = self.tell(&told) {
                    return Some(telling);
                }
            }
            if self.behind {
                self.catch_up().await.ok()?;
                continue;
            }
            match self.live.recv().await {
                Ok(told) if told.seq <= self.seen => {}
                Ok(told) if told.seq == self.seen.saturating_add(1) => {
                    self.seen = told.seq;
                    if let Some(telling) = self.tell(&told) {
                        return Some(telling);
                    }
                }
                // Numbers have no gaps: what is between was missed, and the record has it.
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => self.behind = true,
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// Whether their token is still good: one that was taken back or has ended ends the stream too.
    pub(crate) fn is_welcome(&self) -> bool {
        self.app.caller(&self.bearer.0, Instant::now()).is_ok_and(|caller| {
            // The process is known of the connection alone.
            self.caller == Caller { peer: self.caller.peer.clone(), ..caller }
        })
    }

    /// Reads what the record has behind what was seen.
    async fn catch_up(&mut self) -> Result<(), ApiError> {
        // A thousand that fell behind at once take turns.
        let turn = Arc::clone(&self.app.tail.turns).acquire_owned().await;
        let turn = turn.map_err(|error| ApiError::internal(&error))?;
        let (app, after) = (Arc::clone(&self.app), self.seen);
        let found = tokio::task::spawn_blocking(move || {
            let found = tail::read(&app, after, MOST_BEFORE);
            drop(turn);
            found
        });
        let found = found.await.map_err(|error| ApiError::internal(&error))?;
        let found = found.ok_or_else(|| ApiError::internal(&"The record cannot be read."))?;
        self.behind = found.len() == MOST_BEFORE;
        self.before.extend(found.into_iter().map(Arc::new));
        Ok(())
    }

    /// `None`: it is none of their business, or not what they asked for.
    fn tell(&self, told: &Told) -> Option<Telling> {
        let wanted = self.session.as_deref().is_none_or(|session| told.is_of(session));
        let json = told.words_for(&self.caller).filter(|_| wanted)?;
        Some(Telling { seq: told.seq, name: told.name, question: told.question.clone(), json })
    }
}
