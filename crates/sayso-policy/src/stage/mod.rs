//! The stages of evaluation. Each has its section of a file, its judge, and its reasons.

pub(crate) mod carried;
pub(crate) mod default;
pub(crate) mod essential;
pub(crate) mod grant_key;
pub(crate) mod grants;
pub(crate) mod integrity;
pub(crate) mod limits;
pub(crate) mod mention;
pub(crate) mod mode;
pub(crate) mod patterns;
pub(crate) mod rules;
pub(crate) mod slot;
pub(crate) mod tools;

use crate::word::{Layer, Opinion, Reason, Stage, Verdict};
use std::borrow::Cow;

/// An opinion of Sayso's own.
pub(crate) fn built_in(stage: Stage, verdict: Verdict, code: &'static str, text: impl Into<String>) -> Opinion {
    Opinion {
        stage,
        verdict,
        maybe: false,
        reason: Reason { code: Cow::Borrowed(code), text: text.into(), layer: Layer::BuiltIn, source: None },
        approver: None,
        always: false,
        grant: None,
    }
}
