//! Why a value is exact.
//!
//! An [`Exact`] can be made only with a reason. Each names a step that was checked against bash: whoever finds another
//! adds it here.

use std::ops::Deref;
use std::rc::Rc;

/// The bytes of a value that is certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exact(Rc<[u8]>);

/// The step that makes a value certain, given that what goes into it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// It stands in the text, quoted or without anything that is expanded.
    Written,
    /// It is put together from parts that are all certain.
    Joined,
    /// A piece of a certain value, cut by a pattern, an offset or a position that is certain too.
    Cut,
    /// A certain value of ASCII letters in capitals, or without.
    Recased,
    /// A variable or parameter that is certainly unset, or an operand that is not there.
    Absent,
    /// Arithmetic on numbers that are certain.
    Computed,
    /// How many parameters or elements there are, or how long a value is.
    Counted,
    /// Where the shell is, or where its user is at home.
    Place,
    /// What a substitution certainly prints, without the newlines at its end.
    Printed,
    /// It came with the call.
    Given,
    /// One of few values, each of which is walked in turn.
    Chosen,
    /// A name that bash gives (`COPROC`).
    Named,
}

/// Why a variable certainly holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// `unset x`, where no other of its name can be seen behind it.
    Removed,
    /// `local x`, `declare -a x`: bash knows it, but not yet a value.
    Declared,
}

impl Exact {
    pub(crate) fn new(bytes: &[u8], _why: Known) -> Self {
        Self(bytes.into())
    }

    /// The same without a copy.
    pub(crate) fn shared(bytes: Rc<[u8]>, _why: Known) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_shared(&self) -> &Rc<[u8]> {
        &self.0
    }
}

impl Deref for Exact {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
