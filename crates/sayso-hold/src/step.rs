//! The steps of making a hold, by name: what failed is told by them, and tests let each fail in turn.

use crate::wire::{Reader, Wire};

macro_rules! steps {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// A step of making a hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Step {
            $(#[doc = $text] $name),*
        }

        impl Step {
            /// All of them, in the order in which they are taken.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// What the step is for.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

steps! {
    Namespaces = "leaving the machine's namespaces",
    Identity = "keeping the user's id",
    Init = "starting the first process inside",
    Network = "making a network without a way out",
    Private = "separating mounts from the machine's",
    Sources = "finding what stays visible",
    ReadOnly = "making everything read-only",
    Devices = "making a small /dev",
    Covers = "mounting the bounds",
    Processes = "mounting /proc",
    Folder = "entering the working directory",
    Watches = "watching decoys",
    Capabilities = "dropping capabilities",
    Landlock = "restricting files with Landlock",
    Seccomp = "filtering system calls",
    Descriptors = "closing descriptors",
    Check = "checking that the hold is closed",
}

impl Wire for Step {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u8).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Self::ALL.get(usize::from(u8::take(from)?)).copied()
    }
}

/// A step that failed, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) why: String,
}

impl Wire for Failure {
    fn put(&self, out: &mut Vec<u8>) {
        self.step.put(out);
        self.why.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { step: Step::take(from)?, why: String::take(from)? })
    }
}

/// Takes steps, and fails at the one that a test chose.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) fail_at: Option<Step>,
}

impl Steps {
    /// Does what a step is for.
    pub(crate) fn take<T, E: std::fmt::Display>(
        self,
        step: Step,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Failure> {
        let value = work().map_err(|error| Failure { step, why: error.to_string() })?;
        // After the work: what it left half made must not outlive the failure either.
        if self.fail_at == Some(step) {
            return Err(Failure { step, why: "told to fail".to_owned() });
        }
        Ok(value)
    }
}
