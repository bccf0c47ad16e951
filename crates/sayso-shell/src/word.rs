//! What a word of a command is once the shell has expanded it, as far as that is certain.

pub use crate::certain::word::Single;
use std::fmt;

/// Bytes as the shell sees them. Usually UTF-8, never required to be.
#[derive(Clone)]
pub struct Text(Kept);

/// Most words of a command are short, and there are many copies of them: those lie where the word lies.
#[derive(Clone)]
enum Kept {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<[u8]>),
}

/// As many bytes as fit without a word growing.
const SHORT: usize = 22;

impl Text {
    /// The raw bytes.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Kept::Short { len, bytes } => bytes.get(..usize::from(*len)).unwrap_or(bytes),
            Kept::Long(bytes) => bytes,
        }
    }

    /// The text, if it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()).ok()
    }

    /// The text with invalid UTF-8 replaced; for display, never for a comparison that allows something.
    #[must_use]
    pub fn to_string_lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.as_bytes())
    }

    fn short(bytes: &[u8]) -> Option<Self> {
        let mut kept = [0; SHORT];
        kept.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self(Kept::Short { len: u8::try_from(bytes.len()).ok()?, bytes: kept }))
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Self::short(bytes).unwrap_or_else(|| Self(Kept::Long(bytes.into())))
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Self::short(&bytes).unwrap_or_else(|| Self(Kept::Long(bytes.into_boxed_slice())))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::from(text.as_bytes())
    }
}

// Two texts are the same if their bytes are, wherever those lie.

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Text {}

impl std::hash::Hash for Text {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::from(&b""[..])
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string_lossy())
    }
}

/// A word after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Exactly these bytes, one word.
    Exact(Text),
    /// The shape is known, the value is not.
    Dynamic(Shape),
    /// Nothing is known: it may be no word, one or many, and anything.
    Opaque,
}

impl Word {
    /// The bytes, if they are certain.
    #[must_use]
    pub fn exact(&self) -> Option<&[u8]> {
        match self {
            Self::Exact(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// The text, if it is certain and UTF-8.
    #[must_use]
    pub fn exact_str(&self) -> Option<&str> {
        match self {
            Self::Exact(text) => text.as_str(),
            _ => None,
        }
    }

    /// The word as a pattern that a program matches itself, unless a part of it is unknown. What the shell expands first
    /// (`--include=*.rs` without quotes) is one of the names that the pattern matches, or the pattern.
    #[must_use]
    pub(crate) fn as_pattern(&self) -> Option<Text> {
        let shape = match self {
            Self::Exact(text) => return Some(text.clone()),
            Self::Dynamic(shape) => shape,
            Self::Opaque => return None,
        };
        let mut pattern = Vec::new();
        for part in &shape.parts {
            match part {
                Part::Literal(text) | Part::Class(text) => pattern.extend_from_slice(text.as_bytes()),
                Part::AnyBytes => pattern.push(b'*'),
                Part::AnyByte => pattern.push(b'?'),
                Part::Hole => return None,
            }
        }
        Some(Text::from(pattern))
    }

    /// Whether the word may begin with `-`, so that a program would take it for an option.
    #[must_use]
    pub fn may_be_option(&self) -> bool {
        match self {
            Self::Exact(text) => text.as_bytes().first() == Some(&b'-'),
            Self::Dynamic(shape) => shape.may_start_with(b'-'),
            Self::Opaque => true,
        }
    }
}

/// A word of known shape: literal text with holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The pieces, in order. Two literals never stand side by side.
    pub parts: Vec<Part>,
    /// An unquoted expansion: the word may become none or several words.
    splits: bool,
    /// Where the unknown part comes from, if that bounds it.
    pub origin: Origin,
}

impl Shape {
    /// One word, for this reason.
    #[must_use]
    pub const fn single(parts: Vec<Part>, origin: Origin, _why: Single) -> Self {
        Self { parts, splits: false, origin }
    }

    /// None, one or several words.
    #[must_use]
    pub const fn several(parts: Vec<Part>, origin: Origin) -> Self {
        Self { parts, splits: true, origin }
    }

    /// Other pieces in place of these: as many words as before.
    #[must_use]
    pub fn with_parts(&self, parts: Vec<Part>) -> Self {
        Self { parts, splits: self.splits, origin: self.origin.clone() }
    }

    /// Whether it may become none or several words.
    #[must_use]
    pub const fn splits(&self) -> bool {
        self.splits
    }

    /// Whether some value of this shape begins with `byte`.
    #[must_use]
    pub fn may_start_with(&self, byte: u8) -> bool {
        // A split word may begin anew at any blank inside its hole.
        if self.splits && self.parts.iter().any(|p| matches!(p, Part::Hole)) && self.origin == Origin::Unknown {
            return true;
        }
        match self.parts.first() {
            Some(Part::Literal(text)) => text.as_bytes().first() == Some(&byte),
            // INVARIANT: names that come from a listing of `.` begin with what the lister printed, never with an
            // option: listers print `./-x` or the walker marks the origin unknown.
            Some(Part::Hole) => match self.origin {
                Origin::Listing(_) => false,
                Origin::Job => byte.is_ascii_digit(),
                Origin::Number | Origin::Unknown => true,
            },
            Some(Part::AnyByte | Part::AnyBytes | Part::Class(_)) => true,
            None => false,
        }
    }
}

/// One piece of a [`Shape`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// These bytes.
    Literal(Text),
    /// Anything at all: a variable, a command's output.
    Hole,
    /// An unquoted `*`: a glob, matched against names that exist.
    AnyBytes,
    /// An unquoted `?`.
    AnyByte,
    /// An unquoted `[...]`, its text with brackets.
    Class(Text),
}

/// What bounds an unknown value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nothing does.
    Unknown,
    /// A name printed by listing this folder (`find`, `git ls-files`, `rg -l`, a glob); absolute where the working
    /// directory is known, else relative.
    Listing(Box<crate::effect::Listing>),
    /// A number: `$?`, `$#`, `$((..))`, `$RANDOM`, `$(wc -l < f)`.
    Number,
    /// The number of a process that this very shell began: `$!` behind `&`. Only as a whole: a part of it, or it with
    /// something before it, is any number.
    Job,
}

impl Origin {
    /// Whether digits fill the hole.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number | Self::Job)
    }
}
