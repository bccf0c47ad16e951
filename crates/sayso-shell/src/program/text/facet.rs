//! Facets: facts of a program that can be said in a word.

/// Facts about a program, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facets(u64);

/// Facets with what each says, and in which order. `exact` are those that only the very name has.
macro_rules! facets {
    ($($(#[$doc:meta])* $name:ident $($exact:ident)?;)*) => {
        #[derive(Clone, Copy)]
        #[expect(clippy::upper_case_acronyms, non_camel_case_types, reason = "they number the constants of these names")]
        enum Bit { $($name),* }

        impl Facets {
            $($(#[$doc])* pub const $name: Self = Self(1 << Bit::$name as u64);)*
            /// Every facet by its name.
            pub const ALL: &[(&str, Self)] = &[$((stringify!($name), Self::$name)),*];
            /// What makes a program harmless, or is said of one name alone: `cat9` is not `cat`, and nobody knows that
            /// `ggrep` is grep. The others hold for a program's other versions too: `python3.12` runs code as `python` does.
            pub(crate) const EXACT: Self = Self::NONE$($(.and(facets!(@$exact Self::$name)))?)*;
        }
    };
    (@exact $facet:expr) => { $facet };
}

facets! {
    /// A shell: it runs the text that it is given, or that it reads.
    SHELL;
    /// A box of many programs, a shell among them; the first word says which.
    MULTI_CALL;
    /// It runs programs of a language, from a file, its words or its input.
    INTERPRETER;
    /// Whatever its name goes on with, it is one of these: `python3.12-dbg`.
    ANY_ENDING exact;
    /// An agent: it lets a model choose what runs.
    AGENT;
    /// A process of this name, or one whose script lies in a folder of it, may be started by an agent: agents, their
    /// packages, and editors with an agent in them.
    STARTS_AGENTS exact;
    /// It runs whatever it is given, beside shells, interpreters, agents and what is there to start others
    /// (`starts_others`): editors, containers, other machines, `eval`.
    RUNS_ANYTHING;
    /// It only starts what follows.
    ONLY_STARTS;
    /// It runs a package or a script that its words name; whoever asks what runs means that one.
    RUNS_PACKAGES exact;
    /// It starts what follows, as another user of this machine.
    OTHER_USER exact;
    /// It starts others with words that it reads, which those do not find on their own input any more.
    FEEDS exact;
    /// It prints its own words.
    PRINTS_WORDS;
    /// Its words are text to print or to search for; what it writes is known.
    TEXT exact;
    /// It does nothing, whatever words stand behind it.
    IDLE exact;
    /// It only says where what follows runs.
    MOVES exact;
    /// What it prints may be another text than the one that stands in the command: it decodes. So may what an
    /// interpreter prints.
    DECODES;
    /// What it starts finds the variables that it found itself.
    HANDS_ON exact;
    /// It may make the shell print each command.
    TRACES;
    /// It copies files: nothing, where they are missing.
    COPIES exact;
    /// With some options links are copied as links.
    KEEPS_LINKS;
    /// It writes an archive where it is told to create one.
    PACKS exact;
    /// Links, or folders with links in them, may stand where it writes.
    RESHAPES;
    /// It changes permissions and times, or makes what is empty: nothing that could run.
    ATTRIBUTES exact;
    /// It changes who may reach what is there, and how.
    CLOSES;
    /// It writes compiled programs, into which no shell looks.
    COMPILES exact;
    /// After it what could be reached may not be reached any more.
    DISTURBS;
    /// It signals processes: this very shell perhaps.
    SIGNALS;
    /// It signals processes that it finds by their names.
    SIGNALS_BY_NAME;
    /// It fetches a program that is not installed, and runs it.
    FETCHES;
    /// The same, with one of the words `exec` and `x`.
    FETCHES_BY_WORD;
    /// Under it the files of this machine, or some of them, can be seen by the same names.
    OTHER_ROOT exact;
    /// It works on a git repository, by the repository's settings.
    REPOSITORY exact;
    /// Its words are paths and tests, which its table tells apart: `-name *.rs` fails where it matches twice.
    SEARCHES exact;
    /// It takes a script as the value of `-f`.
    SCRIPT_BY_OPTION exact;
    /// It runs files of commands, a line each: those of a shell, and of languages that name others as a shell does.
    READS_PLAIN exact;
    /// It runs Python.
    READS_PYTHON exact;
    /// It runs JavaScript or TypeScript.
    READS_JAVASCRIPT exact;
    /// It runs Ruby.
    READS_RUBY exact;
    /// It runs Lua.
    READS_LUA exact;
    /// It runs Perl.
    READS_PERL exact;
    /// It runs PHP.
    READS_PHP exact;
    /// Without a file it prints what it reads.
    COPIES_INPUT exact;
    /// It encodes and decodes base64.
    BASE64 exact;
    /// It passes on what it reads, changed or not; nothing else.
    FILTER exact;
    /// It reads or tells, and changes nothing that outlives the shell.
    READER exact;
    /// It compiles, formats or tests what the project holds.
    BUILDS exact;
    /// It reads a repository (of words of a program: see `part`).
    READS_REPOSITORY exact;
    /// It reads what a registry or a project says of packages (of words of a program).
    READS_PACKAGES exact;
    /// It is GNU's, and where the system has its own it is installed with a `g` before its name.
    GNU exact;
    /// It runs code of a project, or starts others, for which any variable may be meant.
    TAKES_VARIABLES exact;
    /// What its subcommand starts, it judges itself and holds to what the policy allows.
    HOLDS exact;
    /// It works through a service of this machine, or on another one: from within a hold it reaches neither.
    REACHES_OUT;
}

impl Facets {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// What owners may say of their own programs: what makes a program dangerous, and the facts that sets of policies are
    /// made of. The others say that a program is one of those whose words Sayso itself reads in its own way.
    pub const OWNERS: Self =
        Self(!Self::EXACT.0).and(Self::FILTER).and(Self::READER).and(Self::BUILDS).and(Self::READS_REPOSITORY);

    /// The facet of this name, in lower case with dashes: `runs-anything`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let same = |name: &str| {
            let spelled = name.bytes().map(|byte| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() });
            spelled.eq(word.bytes())
        };
        Self::ALL.iter().find(|(name, _)| same(name)).map(|(_, facet)| *facet)
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The facets with these bits.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// These and those.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it has one of these.
    #[must_use]
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}
