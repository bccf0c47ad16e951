//! What the supervisor outside and the first process inside tell each other.

use crate::plan::Plan;
use crate::step::Failure;
use crate::wire::{Reader, Wire};
use std::ffi::OsString;
use std::path::PathBuf;

/// To the inside.
#[derive(Debug)]
pub(crate) enum Order {
    /// Comes first: make the hold.
    Make(Plan),
    /// Start a program, with the three streams that come with this.
    Run(Program),
    /// Pass a signal to a program.
    Signal { run: u32, signal: i32 },
}

/// A program to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) run: u32,
    pub(crate) words: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) folder: PathBuf,
    /// The mask for files that it makes, where it is not inherited.
    pub(crate) mask: Option<u32>,
}

/// From the inside.
#[derive(Debug)]
pub(crate) enum News {
    /// The hold could not be made; nothing ran.
    Failed(Failure),
    /// It is made. The name server, the watch on decoys, the list of sockets, the connections that are asked for (if they
    /// are `brokered`) and the listeners come with this, in this order.
    Ready { brokered: bool },
    /// The program runs.
    Started { run: u32 },
    /// The program could not be started, for this error of the system.
    NotStarted { run: u32, error: i32 },
    /// The program ended: its exit code, or the negative number of the signal that killed it. Whether any process is left.
    Ended { run: u32, status: i32, left: bool },
}

impl Wire for Order {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Make(plan) => {
                0_u8.put(out);
                plan.put(out);
            }
            Self::Run(program) => {
                1_u8.put(out);
                program.put(out);
            }
            Self::Signal { run, signal } => {
                2_u8.put(out);
                run.put(out);
                signal.put(out);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Make(Plan::take(from)?),
            1 => Self::Run(Program::take(from)?),
            2 => Self::Signal { run: u32::take(from)?, signal: i32::take(from)? },
            _ => return None,
        })
    }
}

impl Wire for Program {
    fn put(&self, out: &mut Vec<u8>) {
        self.run.put(out);
        self.words.put(out);
        self.environment.put(out);
        self.folder.put(out);
        self.mask.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            run: u32::take(from)?,
            words: Vec::take(from)?,
            environment: Vec::take(from)?,
            folder: PathBuf::take(from)?,
            mask: <Option<u32> as Wire>::take(from)?,
        })
    }
}

impl Wire for News {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Failed(failure) => {
                0_u8.put(out);
                failure.put(out);
            }
            Self::Ready { brokered } => {
                1_u8.put(out);
                brokered.put(out);
            }
            Self::Started { run } => {
                2_u8.put(out);
                run.put(out);
            }
            Self::NotStarted { run, error } => {
                3_u8.put(out);
                run.put(out);
                error.put(out);
            }
            Self::Ended { run, status, left } => {
                4_u8.put(out);
                run.put(out);
                status.put(out);
                left.put(out);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Failed(Failure::take(from)?),
            1 => Self::Ready { brokered: bool::take(from)? },
            2 => Self::Started { run: u32::take(from)? },
            3 => Self::NotStarted { run: u32::take(from)?, error: i32::take(from)? },
            4 => Self::Ended { run: u32::take(from)?, status: i32::take(from)?, left: bool::take(from)? },
            _ => return None,
        })
    }
}
