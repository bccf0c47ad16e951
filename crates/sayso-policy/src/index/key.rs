//! What numbers are looked up by: a part of the index and a text, as one number.
//!
//! Two texts with the same number only make a rule a candidate that is none: whether a rule speaks is decided by its
//! pattern. So the texts themselves need not be kept.

/// A part of the index. Those of paths exist once for each [`PathVerb`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// `run` rules that must always be tried; by program, those that name several.
    RunAny,
    /// All other `run` rules.
    RunNamed,
    /// By program, where no first word is fixed.
    ProgramRest,
    /// By program, all that fix a first word.
    ProgramWords,
    /// By program and first word.
    ProgramWord,
    /// By host, or what a `*.host` ends in.
    Host,
    HostAny,
    HostAll,
    /// By tool.
    Tool,
    /// By what a tool's name begins with.
    ToolPrefix,
    /// The lengths that occur there.
    ToolLengths,
    /// By the folder that a path begins with.
    Under(PathVerb),
    /// By a name somewhere in it.
    Holds(PathVerb),
    /// By what its last name ends in.
    Ends(PathVerb),
    /// By the names that it begins with behind `/**`, for folders from which it goes on.
    Leads(PathVerb),
    PathAny(PathVerb),
    /// Those that name a place and not just a name: they may be about what does not exist yet.
    Placed(PathVerb),
    PathAll(PathVerb),
}

/// Whose paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathVerb {
    Read,
    Write,
    Delete,
}

impl Part {
    /// Below 32.
    pub(super) fn code(self) -> u8 {
        let path = |first: u8, verb: PathVerb| {
            first
                + 7 * match verb {
                    PathVerb::Read => 0,
                    PathVerb::Write => 1,
                    PathVerb::Delete => 2,
                }
        };
        match self {
            Self::RunAny => 0,
            Self::RunNamed => 1,
            Self::ProgramRest => 2,
            Self::ProgramWords => 3,
            Self::ProgramWord => 4,
            Self::Host => 5,
            Self::HostAny => 6,
            Self::HostAll => 7,
            Self::Tool => 8,
            Self::ToolPrefix => 9,
            Self::ToolLengths => 10,
            Self::Under(verb) => path(11, verb),
            Self::Holds(verb) => path(12, verb),
            Self::Ends(verb) => path(13, verb),
            Self::Leads(verb) => path(14, verb),
            Self::PathAny(verb) => path(15, verb),
            Self::Placed(verb) => path(16, verb),
            Self::PathAll(verb) => path(17, verb),
        }
    }
}

/// A number that grows byte by byte, so that all beginnings of a path are had in one pass. ASCII case does not count unless
/// it is said to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key(u64);

impl Key {
    pub(crate) fn new(part: Part) -> Self {
        Self(0xcbf2_9ce4_8422_2325 ^ (u64::from(part.code()) << 56)).with(part.code())
    }

    #[must_use]
    pub(crate) fn with(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3))
    }

    #[must_use]
    pub(crate) fn with_all(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |key, byte| key.with(*byte))
    }

    /// A text of which case counts.
    #[must_use]
    pub(crate) fn with_exactly(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |key, byte| Self((key.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)))
    }

    /// Mixed, so that the low bits depend on all others.
    pub(crate) fn number(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_code_of_its_own() {
        let mut parts = vec![
            Part::RunAny,
            Part::RunNamed,
            Part::ProgramRest,
            Part::ProgramWords,
            Part::ProgramWord,
            Part::Host,
            Part::HostAny,
            Part::HostAll,
            Part::Tool,
            Part::ToolPrefix,
            Part::ToolLengths,
        ];
        for verb in [PathVerb::Read, PathVerb::Write, PathVerb::Delete] {
            parts.extend([
                Part::Under(verb),
                Part::Holds(verb),
                Part::Ends(verb),
                Part::Leads(verb),
                Part::PathAny(verb),
                Part::Placed(verb),
                Part::PathAll(verb),
            ]);
        }
        let mut codes: Vec<u8> = parts.iter().map(|part| part.code()).collect();
        codes.sort_unstable();
        assert_eq!(codes, (0..32).collect::<Vec<u8>>());
    }

    #[test]
    fn a_key_grows_with_its_text_and_does_not_see_case() {
        let key = |text: &[u8]| Key::new(Part::Host).with_all(text).number();
        assert_eq!(key(b"ab"), Key::new(Part::Host).with(b'a').with(b'B').number());
        assert_ne!(key(b"ab"), key(b"ba"));
        assert_ne!(key(b""), Key::new(Part::Tool).number());
    }
}
