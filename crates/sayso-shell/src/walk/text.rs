//! Texts that are read while walking: of `sh -c`, `eval`, `trap`, and of script files.
//!
//! Trees borrow from their text, and functions defined in one outlive the command that read it. Both are kept here
//! until the analysis is done.

use crate::Dialect;
use crate::effect::Span;
use crate::syntax::tree::Tree;
use crate::syntax::{self, Options, SyntaxError, Trouble};
use std::cell::{Cell, OnceCell};

/// As many texts as are read in one analysis.
const MAX_TEXTS: usize = 512;

/// Keeps what it is given for as long as itself. Costs nothing until used.
struct Shelf<T> {
    slots: OnceCell<Box<[OnceCell<T>]>>,
    used: Cell<usize>,
}

impl<T> Shelf<T> {
    fn new() -> Self {
        Self { slots: OnceCell::new(), used: Cell::new(0) }
    }

    fn keep(&self, item: T) -> Option<&T> {
        let slots = self.slots.get_or_init(|| (0..MAX_TEXTS).map(|_| OnceCell::new()).collect());
        let slot = slots.get(self.used.get())?;
        self.used.set(self.used.get() + 1);
        Some(slot.get_or_init(|| item))
    }
}

/// Keeps the bytes of texts.
pub(crate) struct Sources(Shelf<Box<[u8]>>);

impl Sources {
    pub(crate) fn new() -> Self {
        Self(Shelf::new())
    }
}

/// Keeps the trees of texts.
pub(crate) struct Trees<'t>(Shelf<Tree<'t>>);

impl<'t> Trees<'t> {
    pub(crate) fn new() -> Self {
        Self(Shelf::new())
    }

    /// Reads a text.
    pub(crate) fn read(
        &'t self,
        sources: &'t Sources,
        text: &[u8],
        dialect: Dialect,
        options: Options,
    ) -> Result<&'t Tree<'t>, SyntaxError> {
        let too_much = SyntaxError { trouble: Trouble::TooMuchWork, span: Span::default() };
        let source = sources.0.keep(text.into()).ok_or(too_much)?;
        let tree = syntax::parse(source, dialect, options)?;
        self.0.keep(tree).ok_or(too_much)
    }
}

/// A tree, and where its spans lie in the command that is analysed.
#[derive(Clone, Copy)]
pub(crate) struct Place<'t> {
    pub(crate) tree: &'t Tree<'t>,
    pub(crate) spans: Spans,
}

/// How spans of a text become spans of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spans {
    /// The text stands in the command at this offset.
    Shifted(u32),
    /// It was put together: everything points to this.
    At(Span),
}

impl Spans {
    pub(crate) fn map(self, span: Span) -> Span {
        match self {
            Self::Shifted(by) => Span { start: span.start.saturating_add(by), end: span.end.saturating_add(by) },
            Self::At(span) => span,
        }
    }
}
