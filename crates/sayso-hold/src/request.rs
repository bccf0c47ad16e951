//! What a run and the supervisor of its session tell each other.

use crate::held_back::Record;
use crate::message::Program;
use crate::step::Failure;
use crate::wire::{Reader, Wire};
use sayso_shell::bounds::Bounds;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a run asks of a session's supervisor.
pub(crate) enum Request {
    /// The first words to a new supervisor.
    Serve { bounds: Bounds, folder: PathBuf, socket: PathBuf, stage: PathBuf, arguments: Vec<OsString>, idle: u32 },
    /// Run this, if the bounds are the same; the streams come with it.
    Join { bounds: Bounds, program: Program },
    /// Pass on a signal.
    Signal(i32),
    /// End the session.
    End,
}

/// What the supervisor answers.
pub(crate) enum Reply {
    /// The hold is made.
    Ready,
    /// It could not be made.
    Failed(Failure),
    /// The bounds are others.
    Differs,
    /// The program could not be started.
    NotStarted(i32),
    /// The program ended; whether processes are left in the hold.
    Ended(i32, Record, bool),
}

impl Wire for Request {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Serve { bounds, folder, socket, stage, arguments, idle } => {
                0_u8.put(out);
                bounds.put(out);
                folder.put(out);
                socket.put(out);
                stage.put(out);
                arguments.put(out);
                idle.put(out);
            }
            Self::Join { bounds, program } => {
                1_u8.put(out);
                bounds.put(out);
                program.put(out);
            }
            Self::Signal(signal) => {
                2_u8.put(out);
                signal.put(out);
            }
            Self::End => 3_u8.put(out),
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Serve {
                bounds: Bounds::take(from)?,
                folder: PathBuf::take(from)?,
                socket: PathBuf::take(from)?,
                stage: PathBuf::take(from)?,
                arguments: Vec::take(from)?,
                idle: u32::take(from)?,
            },
            1 => Self::Join { bounds: Bounds::take(from)?, program: Program::take(from)? },
            2 => Self::Signal(i32::take(from)?),
            3 => Self::End,
            _ => return None,
        })
    }
}

impl Wire for Reply {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Ready => 0_u8.put(out),
            Self::Failed(failure) => {
                1_u8.put(out);
                failure.put(out);
            }
            Self::Differs => 2_u8.put(out),
            Self::NotStarted(error) => {
                3_u8.put(out);
                error.put(out);
            }
            Self::Ended(status, record, left) => {
                4_u8.put(out);
                status.put(out);
                record.put(out);
                left.put(out);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Ready,
            1 => Self::Failed(Failure::take(from)?),
            2 => Self::Differs,
            3 => Self::NotStarted(i32::take(from)?),
            4 => Self::Ended(i32::take(from)?, Record::take(from)?, bool::take(from)?),
            _ => return None,
        })
    }
}
