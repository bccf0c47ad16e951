//! What variables hold, as far as that is certain, and what expansions make of it.

pub(crate) mod arithmetic;
pub(crate) mod brace;
pub(crate) mod field;
pub(crate) mod parameter;
pub(crate) mod pattern;
pub(crate) mod scope;

use crate::certain::value::{Exact, Known};
use crate::word::{Origin, Part, Shape, Single, Text, Word};
use std::rc::Rc;

/// One string value, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    /// Exactly these bytes.
    Exact(Exact),
    /// Text with holes.
    Shaped(Rc<Shaped>),
}

/// A value of which only the shape is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shaped {
    /// Literal text, holes, and glob parts for the name that a glob found.
    pub(crate) parts: Vec<Part>,
    /// What bounds the holes.
    pub(crate) origin: Origin,
    /// Somebody may have chosen the value so that arithmetic runs it: it is made of the command's own text
    /// (`$(echo ..)`, a here-document), or comes from a file or another program (`$(cat f)`, `read`).
    pub(crate) crafted: bool,
    /// Though a number, it may be none at all, or several: what a program prints (`$(seq 3)`).
    pub(crate) loose: bool,
    /// If not empty, it is one of these.
    pub(crate) either: Vec<Rc<[u8]>>,
}

impl Shaped {
    /// Whether somebody may have chosen what fills the holes. A file can be named `a[$(id)]`.
    pub(crate) fn is_chosen(&self) -> bool {
        self.crafted
            || matches!(self.origin, Origin::Listing(_))
                && self.parts.iter().any(|part| matches!(part, Part::Hole | Part::AnyBytes))
    }
}

/// More alternatives than these are no knowledge.
const MAX_EITHER: usize = 8;

impl Scalar {
    /// Exactly these bytes, for this reason.
    pub(crate) fn exact(bytes: &[u8], why: Known) -> Self {
        Self::Exact(Exact::new(bytes, why))
    }

    /// Anything at all.
    pub(crate) fn unknown() -> Self {
        Self::hole(Origin::Unknown, false)
    }

    /// Anything at all, and perhaps chosen by the text of the command.
    pub(crate) fn crafted() -> Self {
        Self::hole(Origin::Unknown, true)
    }

    /// Some number.
    pub(crate) fn number() -> Self {
        Self::hole(Origin::Number, false)
    }

    /// What a program prints that prints numbers: none, one or several.
    pub(crate) fn numbers() -> Self {
        let (parts, origin) = (vec![Part::Hole], Origin::Number);
        Self::Shaped(Rc::new(Shaped { parts, origin, crafted: false, loose: true, either: Vec::new() }))
    }

    fn is_loose(&self) -> bool {
        matches!(self, Self::Shaped(shaped) if shaped.loose)
    }

    pub(crate) fn hole(origin: Origin, crafted: bool) -> Self {
        Self::Shaped(Rc::new(Shaped { parts: vec![Part::Hole], origin, crafted, loose: false, either: Vec::new() }))
    }

    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Exact(bytes) => Some(bytes),
            Self::Shaped(_) => None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes().is_some_and(<[u8]>::is_empty)
    }

    /// Whether it can never be empty.
    pub(crate) fn is_certainly_full(&self) -> bool {
        match self {
            Self::Exact(bytes) => !bytes.is_empty(),
            // A number may be missing: `$(seq 1 0)` prints none.
            Self::Shaped(shaped) => shaped.parts.iter().any(|part| !matches!(part, Part::Hole)),
        }
    }

    /// Whether it is a number, or nothing that arithmetic would evaluate any further.
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Self::Exact(bytes) => bytes.iter().all(u8::is_ascii_digit),
            Self::Shaped(shaped) => {
                shaped.origin.is_number()
                    && shaped.parts.iter().all(|part| match part {
                        Part::Literal(text) => text.as_bytes().iter().all(u8::is_ascii_digit),
                        _ => true,
                    })
            }
        }
    }

    /// Whether somebody may have put something into it that arithmetic would run.
    pub(crate) fn may_run_in_arithmetic(&self) -> bool {
        let runs = |bytes: &[u8]| bytes.iter().any(|b| b"[$`".contains(b));
        match self {
            Self::Exact(bytes) => runs(bytes),
            Self::Shaped(shaped) => {
                shaped.is_chosen()
                    || shaped.parts.iter().any(|part| matches!(part, Part::Literal(text) if runs(text.as_bytes())))
            }
        }
    }

    /// What holds of either.
    pub(crate) fn merge(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        if self.is_number() && other.is_number() && !self.is_empty() && !other.is_empty() {
            return if self.is_loose() || other.is_loose() { Self::numbers() } else { Self::number() };
        }
        let crafted = self.may_run_in_arithmetic() || other.may_run_in_arithmetic();
        let origin = match (self.listing(), other.listing()) {
            (Some(one), Some(two)) if one == two => Origin::Listing(Box::new(one.clone())),
            _ => Origin::Unknown,
        };
        let either = self.alternatives(other);
        Self::Shaped(Rc::new(Shaped { parts: vec![Part::Hole], origin, crafted, loose: true, either }))
    }

    /// One of these.
    pub(crate) fn one_of(either: Vec<Rc<[u8]>>) -> Self {
        let (parts, origin) = (vec![Part::Hole], Origin::Unknown);
        Self::Shaped(Rc::new(Shaped { parts, origin, crafted: false, loose: true, either }))
    }

    /// What it may be, if that is a short list.
    pub(crate) fn either(&self) -> &[Rc<[u8]>] {
        match self {
            Self::Exact(bytes) => std::slice::from_ref(bytes.as_shared()),
            Self::Shaped(shaped) => &shaped.either,
        }
    }

    fn alternatives(&self, other: &Self) -> Vec<Rc<[u8]>> {
        let (one, two) = (self.either(), other.either());
        if one.is_empty() || two.is_empty() {
            return Vec::new();
        }
        let mut all = one.to_vec();
        all.extend(two.iter().filter(|value| !one.contains(value)).cloned());
        if all.len() > MAX_EITHER { Vec::new() } else { all }
    }

    fn listing(&self) -> Option<&crate::effect::Listing> {
        match self {
            Self::Shaped(shaped) => match &shaped.origin {
                Origin::Listing(folder) => Some(folder),
                _ => None,
            },
            Self::Exact(_) => None,
        }
    }

    /// As one word, which is not split.
    pub(crate) fn to_word(&self) -> Word {
        match self {
            Self::Exact(bytes) => Word::Exact(Text::from(&**bytes)),
            Self::Shaped(shaped) => {
                Word::Dynamic(Shape::single(shaped.parts.clone(), shaped.origin.clone(), Single::Unsplit))
            }
        }
    }

    /// The value that a word has when it is assigned. `armed`: values that arithmetic would run exist.
    pub(crate) fn from_word(word: &Word, armed: bool) -> Self {
        match word {
            Word::Exact(text) => Self::exact(text.as_bytes(), Known::Joined),
            Word::Dynamic(shape) => Self::Shaped(Rc::new(Shaped {
                parts: shape.parts.clone(),
                origin: shape.origin.clone(),
                crafted: armed && shape.origin == Origin::Unknown,
                loose: shape.splits(),
                either: Vec::new(),
            })),
            Word::Opaque => Self::crafted(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_only_what_both_say() {
        let one = Scalar::exact(b"1", Known::Joined);
        assert_eq!(one.merge(&one), one);
        assert_eq!(one.merge(&Scalar::exact(b"22", Known::Joined)), Scalar::number());
        assert_eq!(
            one.merge(&Scalar::exact(b"git", Known::Joined)),
            Scalar::one_of(vec![(*b"1").into(), (*b"git").into()])
        );
        assert!(one.merge(&Scalar::exact(b"a[$(x)]", Known::Joined)).may_run_in_arithmetic());
    }
}
