//! A record of the chain, as it is told.

use sayso_gate::audit::{Chained, Change, Event, Happening, Kind, Record};
use serde::Serialize;
use utoipa::ToSchema;

/// A record of the chain, with its number.
#[derive(Serialize, ToSchema)]
#[schema(as = ChainRecord)]
pub(super) struct Recorded {
    #[serde(flatten)]
    event: Of,
    /// Its number in the chain, without gaps.
    seq: u64,
    /// Its hash, in hexadecimal.
    hash: String,
}

/// What a record is about, told apart by `kind`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = AnyRecord)]
enum Of {
    Decision(Box<Decided>),
    Happening(Box<Happened>),
    Change(Box<Change>),
}

/// A decision.
#[derive(Serialize, ToSchema)]
#[schema(as = DecisionRecord)]
struct Decided {
    /// `decision`.
    kind: Kind,
    #[serde(flatten)]
    record: Record,
}

/// What happened around a call.
#[derive(Serialize, ToSchema)]
#[schema(as = HappeningRecord)]
struct Happened {
    /// `happening`.
    kind: Kind,
    #[serde(flatten)]
    happening: Happening,
}

impl From<Chained> for Recorded {
    fn from(chained: Chained) -> Self {
        let kind = chained.event.kind();
        let event = match chained.event {
            Event::Decision(record) => Of::Decision(Box::new(Decided { kind, record: *record })),
            Event::Happening(it) => Of::Happening(Box::new(Happened { kind, happening: *it })),
            Event::Change(change) => Of::Change(change),
        };
        Self { event, seq: chained.seq, hash: chained.hash }
    }
}
