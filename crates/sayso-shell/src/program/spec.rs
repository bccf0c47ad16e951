//! The shape of a program's table.

use super::{Code, View};
use crate::option::{Does, Style, Table, Tables, canonical};
use std::borrow::Cow;

/// A function for what data does not say.
pub type Judge = fn(&mut View<'_>);

/// A program, or one of its subcommands.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its names: things that are described alike, or, if `aliased`, one thing.
    pub names: &'static [&'static str],
    /// The first name is canonical, the others mean the same.
    pub aliased: bool,
    /// How words are read.
    pub style: Style,
    /// Options.
    pub options: &'static [&'static Table],
    /// Subcommands.
    pub subs: &'static [Self],
    /// What operands are.
    pub operands: Operands,
    /// What it does beyond its operands and options.
    pub acts: &'static [Act],
    /// What data does not say.
    pub judge: Option<Judge>,
    /// Of a program: what data does not say of any of its subcommands.
    pub always: Option<Judge>,
    /// A bit for each letter with which one of its names begins, see [`initial`].
    pub(crate) initials: u32,
}

/// The bit of a name's first letter. Most names of a long list can be left out by it.
const fn initial(name: &str) -> u32 {
    match name.as_bytes().first() {
        Some(byte) => 1 << (*byte % 32),
        None => 1,
    }
}

impl Spec {
    /// A program whose operands mean nothing to a policy, without options.
    #[must_use]
    pub const fn new(names: &'static [&'static str]) -> Self {
        Self {
            names,
            aliased: false,
            style: Style::GNU,
            options: &[],
            subs: &[],
            operands: Operands::TEXT,
            acts: &[],
            judge: None,
            always: None,
            initials: initials(names),
        }
    }

    /// All names but the first are aliases of the first (`npm i` is `npm install`).
    #[must_use]
    pub const fn aliased(mut self) -> Self {
        self.aliased = true;
        self
    }

    /// The same under these names.
    #[must_use]
    pub(super) const fn named(mut self, names: &'static [&'static str]) -> Self {
        self.names = names;
        self.initials = initials(names);
        self
    }

    /// With this style.
    #[must_use]
    pub const fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// With these options.
    #[must_use]
    pub const fn options(mut self, options: &'static [&'static Table]) -> Self {
        self.options = options;
        self
    }

    /// With these subcommands.
    #[must_use]
    pub const fn subs(mut self, subs: &'static [Self]) -> Self {
        self.subs = subs;
        self
    }

    /// With operands of this kind.
    #[must_use]
    pub const fn operands(mut self, operands: Operands) -> Self {
        self.operands = operands;
        self
    }

    /// It always does this.
    #[must_use]
    pub const fn acts(mut self, acts: &'static [Act]) -> Self {
        self.acts = acts;
        self
    }

    /// With a function for the rest.
    #[must_use]
    pub const fn judge(mut self, judge: Judge) -> Self {
        self.judge = Some(judge);
        self
    }

    /// With a function that runs whatever the subcommand is, after the subcommand's own.
    #[must_use]
    pub const fn always(mut self, judge: Judge) -> Self {
        self.always = Some(judge);
        self
    }

    /// The subcommand of this name or alias, and its canonical name.
    #[must_use]
    pub fn sub(&self, name: &str) -> Option<(&'static Self, &'static str)> {
        let initial = initial(name);
        self.subs.iter().filter(|sub| sub.initials & initial != 0).find_map(|sub| {
            let written = sub.names.iter().find(|n| **n == name)?;
            Some((sub, sub.canonical(written)))
        })
    }

    /// The canonical form of one of its names.
    #[must_use]
    pub fn canonical(&self, name: &'static str) -> &'static str {
        if self.aliased { self.names.first().copied().unwrap_or(name) } else { name }
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler; the index is below the length")]
pub(crate) const fn initials(names: &[&str]) -> u32 {
    let mut initials = 0;
    let mut at = 0;
    while at < names.len() {
        initials |= initial(names[at]);
        at += 1;
    }
    initials
}

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing to a policy: a pattern, a number, a revision.
    Text,
    /// A file that is read; `-` is standard input.
    Read,
    /// A file or folder that is read with all below it.
    ReadBelow,
    /// A file, or those files below a folder that have one of these suffixes, which stand between blanks.
    Sources(&'static str),
    /// A file that is created or changed; `-` is standard output.
    Write,
    /// A file or folder that is changed with all below it.
    WriteBelow,
    /// A file that is written by a program of which nobody expects it (`uniq in out`): only a rule for writes names it.
    WriteNamed,
    /// A file that is read and changed.
    Edit,
    /// Removed (with all below it if the command is deep).
    Delete,
    /// Read and then removed: it goes elsewhere.
    Move,
    /// A host name, address or URL that is connected to.
    Host,
}

/// What happens without operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Nothing, or standard input is read.
    Nothing,
    /// The working directory is read with all below it.
    ReadsHere,
    /// The names in the working directory are told.
    NamesHere,
    /// As `ReadsHere`, but only if the command is deep (`grep -r x`).
    ReadsHereIfDeep,
}

/// What operands are, by position.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// The first ones.
    pub first: &'static [Role],
    /// All others.
    pub rest: Role,
    /// The last one, where it differs.
    pub last: Option<Role>,
    /// What happens without any.
    pub absent: Absent,
}

impl Operands {
    /// All of one kind.
    #[must_use]
    pub const fn all(rest: Role) -> Self {
        Self { first: &[], rest, last: None, absent: Absent::Nothing }
    }

    /// The first ones are of these kinds, all others of that.
    #[must_use]
    pub const fn then(first: &'static [Role], rest: Role) -> Self {
        Self { first, rest, last: None, absent: Absent::Nothing }
    }

    /// The last one is of another kind.
    #[must_use]
    pub const fn last(mut self, last: Role) -> Self {
        self.last = Some(last);
        self
    }

    /// Without operands this happens.
    #[must_use]
    pub const fn absent(mut self, absent: Absent) -> Self {
        self.absent = absent;
        self
    }

    /// Nothing to a policy.
    pub const TEXT: Self = Self::all(Role::Text);
    /// Files that are read; standard input without.
    pub const READ: Self = Self::all(Role::Read);
    /// Folders or files that are read with all below them; the working directory without.
    pub const READ_BELOW: Self = Self::all(Role::ReadBelow).absent(Absent::ReadsHere);
    /// Folders or files of which names and sizes are told, not what they hold; the working directory without.
    pub const NAMES: Self = Self::all(Role::Read).absent(Absent::NamesHere);
    /// Files that are written.
    pub const WRITE: Self = Self::all(Role::Write);
    /// Files that are read and changed.
    pub const EDIT: Self = Self::all(Role::Edit);
    /// Files that are removed.
    pub const DELETE: Self = Self::all(Role::Delete);
    /// Hosts that are connected to.
    pub const HOSTS: Self = Self::all(Role::Host);
    /// First something that is no file (a pattern, a mode), then files that are read.
    pub const PATTERN_READ: Self = Self::then(&[Role::Text], Role::Read).absent(Absent::ReadsHereIfDeep);
    /// Files that are read, and the last is written.
    pub const READ_WRITE: Self = Self::all(Role::Read).last(Role::Write);
}

/// What a (sub)command always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Something that needs a yes of its own, named by the words that lead here (or by the program, if none do).
    Named(Code),
    /// As `Named`, unless one of these options is there (`--dry-run`).
    NamedUnless(Code, &'static [&'static str]),
    /// It connects to a host that its configuration names; the label is for people.
    Connects(&'static str),
    /// It reads this path, relative to the working directory.
    Reads(&'static str),
    /// It writes this path, relative to the working directory.
    Writes(&'static str),
    /// It writes below this path, relative to the working directory.
    WritesBelow(&'static str),
    /// It runs code of the workspace or of a file: `Target::Code` in this language, named by the words.
    Code(&'static str),
    /// It runs code of the project, as is expected of it: recipes, tests, plugins, configuration that is code. Not where
    /// it is only asked for its version. A fact for rules (`--runs-project`), no effect of its own.
    Builds,
    /// As `Builds`, of a program and all its subcommands, even where it is only asked for its version: the project chooses
    /// the program itself, its plugins or its options.
    Project,
    /// As `Project`, if one of these files is here or in a folder above.
    ProjectIf(&'static [&'static str]),
}

/// The canonical options that `flag`, as a person writes it in a pattern behind `words`, stands for: `git push -f` is
/// `--force`, `rm -rf` is `--recursive` and `--force`. What the table does not know comes back as written, clusters
/// letter by letter.
#[must_use]
pub fn canonical_flag(spec: &Spec, words: &[&str], flag: &str) -> Vec<Cow<'static, str>> {
    let (depth, node, outer) = descend(spec, words);
    let (far, root): (&'static [&'static Table], &'static [&'static Table]) = match depth {
        0 => (&[], &[]),
        1 => (&[], spec.options),
        _ => (outer.options, spec.options),
    };
    canonical(flag, Tables { near: node.options, far, root }, node.style)
}

/// What an option of a program does, by its canonical name; `None`: the table does not hold it.
#[must_use]
pub fn does(run: &crate::Run, option: &str) -> Option<Does> {
    let mut node = run.program.spec()?;
    let mut tables = vec![node.options];
    for index in run.words.iter().take(usize::from(run.subcommands)) {
        let word = run.argv.get(usize::from(*index)).and_then(crate::Word::exact_str);
        let Some((sub, _)) = word.and_then(|word| node.sub(word)) else { break };
        node = sub;
        tables.push(node.options);
    }
    tables.into_iter().rev().flatten().find_map(|table| table.does(option))
}

/// The leading words in canonical spelling as far as the table knows them: `npm i x` gives `install`, `x`.
#[must_use]
pub fn canonical_words<'w>(spec: &Spec, words: &[&'w str]) -> Vec<&'w str>
where
    'static: 'w,
{
    let mut node = *spec;
    let mut known = true;
    words
        .iter()
        .map(|word| match node.sub(word) {
            Some((sub, name)) if known => {
                node = *sub;
                name
            }
            _ => {
                known = false;
                *word
            }
        })
        .collect()
}

/// How many of the leading words are subcommands.
#[must_use]
pub fn subcommand_depth(spec: &Spec, words: &[&str]) -> usize {
    descend(spec, words).0
}

fn descend(spec: &Spec, words: &[&str]) -> (usize, Spec, Spec) {
    let (mut node, mut outer) = (*spec, *spec);
    let mut depth = 0;
    for word in words {
        let Some((sub, _)) = node.sub(word) else { break };
        outer = node;
        node = *sub;
        depth += 1;
    }
    (depth, node, outer)
}
