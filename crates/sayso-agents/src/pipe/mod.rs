//! What stands in a pipe between two programs that speak JSON-RPC, a message a line.
//!
//! Bytes that nothing is said about are passed on as they came. To be sure of that, every line is read by a strict
//! scanner of our own ([`Message`]) before anything else is decided: what two readers could understand differently
//! (duplicate keys, batches, invalid UTF-8, keys that differ in case alone) is refused with an error and never passed.
//!
//! An attacker would hide a governed method from the guard and show it to the other side: with escapes in the name,
//! a second `method`, a second message behind a carriage return, or a line too long to be looked at.

mod child;
mod frame;
mod id;
mod message;
mod peek;
mod reply;
mod scan;
mod sink;
mod skim;
mod splice;

pub(crate) use child::Agent;
pub(crate) use frame::{Frame, Frames, LONGEST_LINE};
pub(crate) use id::Id;
pub(crate) use message::{Message, Reader, Refused, folds_to, folds_together};
pub(crate) use peek::{text_member, value_at};
pub(crate) use reply::{error_line, message_line, result_line};
pub(crate) use sink::{Sink, Stopped};
pub(crate) use skim::{Skimmed, skim};
pub(crate) use splice::replaced;
