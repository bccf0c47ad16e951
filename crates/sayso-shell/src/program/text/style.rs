//! How programs read their words, in the words of the language.

/// How a program reads its words. A set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style(u16);

impl Style {
    /// getopt_long as GNU programs use it: clusters, abbreviations, options after operands.
    pub const GNU: Self = Self(Self::ABBREVIATES.0);
    /// Clusters and options after operands, long options only as they are (clap, argparse without abbreviations).
    pub const EXACT: Self = Self(0);
    /// Long options may be abbreviated to a unique beginning.
    pub const ABBREVIATES: Self = Self(1);
    /// The first operand ends the options (`env`, `python`, POSIX programs).
    pub const LEADING: Self = Self(1 << 1);
    /// `-name` is one option, never a cluster; `--name` means the same (go, terraform, java).
    pub const WORDS: Self = Self(1 << 2);
    /// `--no-x` for every `--x`, and the reverse (git, npm).
    pub const NEGATES: Self = Self(1 << 3);
    /// An unknown option is an operand (`echo`).
    pub const LENIENT: Self = Self(1 << 4);
    /// Options that the table does not hold are harmless too: the program is harmless in all its forms.
    pub const HARMLESS: Self = Self(1 << 5);
    /// Options of the program are known to its subcommands too.
    pub const GLOBAL: Self = Self(1 << 6);
    /// A word of unknown value may be an option that matters, though no option of the table says so.
    pub const RISKY: Self = Self(1 << 7);
    /// A first operand that is no known subcommand is an operand, not a doubt.
    pub const FREE: Self = Self(1 << 8);
    /// `-o=f` means the value `f` (clap, cobra).
    pub const EQUALS: Self = Self(1 << 9);

    /// The judge reads the words itself; the table serves patterns alone.
    pub const RAW: Self = Self(1 << 10);
    /// Its words may name files that it, or a program it hands them to, writes: what the table does not account for
    /// counts so.
    pub const PASSES: Self = Self(1 << 11);
    /// An option of several letters and one dash may have its value joined (`-MFfile`).
    pub const JOINS: Self = Self(1 << 12);
    /// The value of an option may be joined by a colon (`--loader:.ts=tsx`, `-p:Name=value`).
    pub const COLON: Self = Self(1 << 13);

    /// The words of the language. `exact` stands for none of the others, so that a style is never empty.
    pub const NAMES: &[(&str, Self)] = &[
        ("exact", Self::EXACT),
        ("gnu", Self::GNU),
        ("leading", Self::LEADING),
        ("words", Self::WORDS),
        ("negates", Self::NEGATES),
        ("lenient", Self::LENIENT),
        ("harmless", Self::HARMLESS),
        ("global", Self::GLOBAL),
        ("risky", Self::RISKY),
        ("free", Self::FREE),
        ("equals", Self::EQUALS),
        ("raw", Self::RAW),
        ("passes", Self::PASSES),
        ("joins", Self::JOINS),
        ("colon", Self::COLON),
    ];

    /// What a word of the language means.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == word).map(|(_, style)| *style)
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The style with these bits.
    pub(crate) const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
