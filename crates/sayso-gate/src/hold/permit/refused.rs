//! Permits that are not honoured.

use super::Terms;
use crate::Error;

/// A permit that is not honoured. Nothing runs.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// Why.
    pub why: Why,
    /// What the permit was for, where it is one.
    pub terms: Option<Box<Terms>>,
}

/// Why a permit is not honoured.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// There is none with this number.
    #[error("there is no such permit; it may have been used, or have expired")]
    Unknown,
    /// It was redeemed before.
    #[error("the permit has been used already; each is good for one run")]
    Used,
    /// Its time is over.
    #[error("the permit has expired")]
    Expired,
    /// It is for another command.
    #[error("the permit is for another command")]
    OtherWords,
    /// It is for another folder.
    #[error("the permit is for another folder")]
    OtherFolder,
    /// Somebody else may have written it.
    #[error("the permit's file is not safe to use: {0}")]
    NotSafe(&'static str),
    /// It does not carry Sayso's seal.
    #[error("the permit was not made by Sayso")]
    Forged,
    /// The system refused.
    #[error("the permit cannot be read: {0}")]
    Failed(#[from] Error),
}

impl Why {
    /// A stable word for it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Used => "used",
            Self::Expired => "expired",
            Self::OtherWords => "other-words",
            Self::OtherFolder => "other-folder",
            Self::NotSafe(_) => "not-safe",
            Self::Forged => "forged",
            Self::Failed(_) => "failed",
        }
    }
}

impl From<Why> for Refused {
    fn from(why: Why) -> Self {
        Self { why, terms: None }
    }
}
