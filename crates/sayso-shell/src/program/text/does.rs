//! What options do, in the words of the language.

use super::Code;

/// What an option does beyond tuning its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Nothing that a policy speaks of.
    Nothing,
    /// `reads`: its value is a file that is read; `-` is standard input.
    Reads,
    /// `reads-below`: its value is a folder of which everything may be read.
    ReadsBelow,
    /// `makes`: its value is a file that is written, as everybody expects of this program (`cc -o`). Plain.
    Makes,
    /// `makes-below`: its value is a folder below which files are written. Plain.
    MakesBelow,
    /// `writes`: its value is a file that is written by a program of which nobody expects it (`sort -o`). Named.
    Writes,
    /// `writes-below`: the same for a folder.
    WritesBelow,
    /// `wipes`: its value is a folder that is emptied before it is written to. Named.
    Wipes,
    /// `cd`: its value is the folder in which the rest happens.
    Cd,
    /// `deep`: operands are taken with all below them.
    Deep,
    /// `connects`: its value is a host or URL.
    Connects,
    /// `redirects`: its value is a host or URL that is talked to instead of the one that the program is set up for. Named.
    Redirects,
    /// `runs-path`: its value is a version or a name, or the path of a program that would be started. Named if a path.
    RunsPath,
    /// `recipe`: its value is a file that says what runs. Read; named if it is an address or not the project's.
    Recipe,
    /// `runs`: its value is a program that would be started with words nobody sees. Named.
    Runs,
    /// `shell`: its value is a command for a shell, which is analysed in its own right.
    Shell,
    /// `inline`: its value is code of the program's language. Named.
    Inline,
    /// `command`: its value and all words behind it are a command, which is analysed in its own right.
    Command,
    /// `last`: no option follows its value (`python -m`); what it does is up to the judge.
    Last,
    /// `implied`: no option of the program, but a fact that its judge finds and patterns name. Whoever writes it is not
    /// believed.
    Implied,
    /// A code: it needs a yes of its own, see [`Code`].
    Named(Code),
}

impl Does {
    /// The words that stand behind the colon of an option, beside those of [`Code`].
    pub const WORDS: &[(&str, Self)] = &[
        ("reads", Self::Reads),
        ("reads-below", Self::ReadsBelow),
        ("makes", Self::Makes),
        ("makes-below", Self::MakesBelow),
        ("writes", Self::Writes),
        ("writes-below", Self::WritesBelow),
        ("wipes", Self::Wipes),
        ("cd", Self::Cd),
        ("deep", Self::Deep),
        ("connects", Self::Connects),
        ("redirects", Self::Redirects),
        ("runs-path", Self::RunsPath),
        ("recipe", Self::Recipe),
        ("runs", Self::Runs),
        ("shell", Self::Shell),
        ("inline", Self::Inline),
        ("command", Self::Command),
        ("last", Self::Last),
        ("implied", Self::Implied),
    ];

    /// What a word behind the colon of an option means.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let own = Self::WORDS.iter().find(|(name, _)| *name == word).map(|(_, does)| *does);
        own.or_else(|| Code::named(word).map(Self::Named))
    }

    /// Whether a word of unknown value that might be this option is a danger.
    pub(crate) const fn risky(self) -> bool {
        !matches!(self, Self::Nothing | Self::Implied | Self::Reads | Self::ReadsBelow | Self::Deep | Self::Cd)
    }
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// No.
    Nothing,
    /// Joined or in the next word.
    Value,
    /// Only joined.
    Joined,
    /// The next two words (`jq --arg name value`); the second counts as its value.
    Two,
}
