//! Why a list holds just these words, in these places: an array's elements, a shell's parameters.
//!
//! A [`Items`] begins with words each of which is certainly one, and changes only by the ways that stand here.

use crate::value::Scalar;
use crate::word::Word;
use std::ops::Deref;
use std::rc::Rc;

/// Words of certain number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Items(Rc<[Scalar]>);

impl Items {
    /// These words, if each of them is one: one that may vanish or split moves those behind it.
    pub(crate) fn of_words(words: &[Word], armed: bool) -> Option<Self> {
        let certain = words.iter().all(|word| match word {
            Word::Exact(_) => true,
            Word::Dynamic(shape) => !shape.splits(),
            Word::Opaque => false,
        });
        certain.then(|| Self(words.iter().map(|word| Scalar::from_word(word, armed)).collect()))
    }

    /// The first element of what held nothing.
    pub(crate) fn of_one(value: Scalar) -> Self {
        Self([value].into())
    }

    /// `a+=(...)`.
    pub(crate) fn and(&self, more: &Self) -> Self {
        Self(self.iter().chain(more.iter()).cloned().collect())
    }

    /// `a[1]=x`, where that leaves no gap.
    pub(crate) fn with(&self, at: usize, value: Scalar) -> Option<Self> {
        let before = self.get(..at)?.iter().cloned();
        let after = self.get(at + 1..).unwrap_or_default().iter().cloned();
        Some(Self(before.chain([value]).chain(after).collect()))
    }

    /// `shift 2`; where there are fewer, it fails and all stay.
    pub(crate) fn shifted(&self, by: usize) -> Self {
        self.get(by..).map_or_else(|| self.clone(), |rest| Self(rest.into()))
    }

    pub(crate) fn as_shared(&self) -> &Rc<[Scalar]> {
        &self.0
    }
}

impl Deref for Items {
    type Target = [Scalar];

    fn deref(&self) -> &[Scalar] {
        &self.0
    }
}
