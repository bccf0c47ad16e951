//! What the analysis is not sure of, and why: stable codes with a sentence each.

use crate::effect::Span;
use crate::program::Code;

/// Something that is not understood, or needs a yes of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Why.
    pub code: Code,
    /// A sentence for people, about this case.
    pub text: String,
    /// Where.
    pub span: Span,
}
