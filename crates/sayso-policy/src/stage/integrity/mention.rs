//! Sayso's own places, named anywhere in a command's words.
//!
//! No table knows every option and variable by which a program can be told where to write. So a word that holds one
//! of Sayso's own places is taken for a change of it, whatever the program makes of the word.
//!
//! Words are searched for paths in all the shapes that programs accept (`--out=PATH`, `-oPATH`, `k=v:PATH`, URLs). A
//! path that stands alone is certain, so it denies; one in a sentence (`-m "see ~/.config/sayso"`) or behind an unknown
//! value only may be meant, so it asks. Links are followed, but for a bounded number of paths: a command of thousands
//! of words must not cost thousands of looks at the disk.

use super::{Protected, is_own};
use crate::judging::Judging;
use crate::stage::built_in;
use crate::word::{Code, Opinion, Stage, Verdict};
use sayso_shell::canonical::lexical;
use sayso_shell::program::{Facets, paths_within};
use sayso_shell::word::Part;
use sayso_shell::{Analysis, Run, Word, canonical};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Links are followed for so many paths of a call: each costs a look at the disk.
const FOLLOWED: usize = 64;

/// How surely a word holds a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    /// In a sentence, or behind something of unknown value.
    Perhaps,
    Surely,
}

/// The opinion on all words of a call.
pub(super) fn judge(judging: &Judging<'_>, protected: &Protected, analysis: &Analysis) -> Option<Opinion> {
    let mut search = Search { judging, protected, left: FOLLOWED };
    let held = analysis.runs.iter().filter_map(|run| search.run(run)).max()?;
    let text = "This command names one of Sayso's own files, which only their owner may change.";
    Some(match held {
        Held::Surely => built_in(Stage::Integrity, Verdict::Deny, Code::SaysoItself, text),
        Held::Perhaps => Opinion { maybe: true, ..built_in(Stage::Integrity, Verdict::Ask, Code::SaysoItself, text) },
    })
}

struct Search<'a, 'j> {
    judging: &'a Judging<'j>,
    protected: &'a Protected,
    left: usize,
}

impl Search<'_, '_> {
    fn run(&mut self, run: &Run) -> Option<Held> {
        let prints = run.program.facets().has(Facets::TEXT);
        let words = run.argv.iter().skip(1).filter(|_| !prints);
        let values = run.env.iter().map(|(_, value)| value);
        words.chain(values).filter_map(|word| self.word(word, run)).max()
    }

    fn word(&mut self, word: &Word, run: &Run) -> Option<Held> {
        match word {
            Word::Exact(text) => {
                let bytes = text.as_bytes();
                let found = paths_within(bytes).into_iter().any(|path| self.is_own(path, bytes, run.cwd.as_deref()));
                let sentence = bytes.iter().any(u8::is_ascii_whitespace);
                found.then_some(if sentence && !run.env.iter().any(|(_, value)| value == word) {
                    Held::Perhaps
                } else {
                    Held::Surely
                })
            }
            Word::Dynamic(shape) => {
                let names = |text: &[u8]| OWN_ENDS.iter().any(|end| contains(text, end.as_bytes()));
                let literal = |part: &Part| matches!(part, Part::Literal(text) if names(text.as_bytes()));
                shape.parts.iter().any(literal).then_some(Held::Perhaps)
            }
            Word::Opaque => None,
        }
    }

    fn is_own(&mut self, path: &[u8], word: &[u8], cwd: Option<&Path>) -> bool {
        let Some(path) = self.placed(path, cwd) else { return false };
        if is_own(self.judging, self.protected, &lexical(&path)) {
            return true;
        }
        // Asked first: what follows reads the whole word again, which may hold thousands of paths.
        if self.left == 0 {
            return false;
        }
        // A whole word that is a path is an effect of its own, or leads nowhere by a link; one within a word is not.
        let whole = word.starts_with(b"/") && path.as_os_str().as_bytes() == word;
        if whole && !contains(word, b"..") && !contains(word, b"/proc/") {
            return false;
        }
        self.left -= 1;
        is_own(self.judging, self.protected, &canonical(self.judging.facts.files, &path).path)
    }

    /// The path from the root on; `None` where nobody knows it.
    fn placed(&self, path: &[u8], cwd: Option<&Path>) -> Option<PathBuf> {
        let home = self.judging.operation.home.as_deref();
        let (base, rest) = match path.strip_prefix(b"~/") {
            Some(rest) => (home, rest),
            None => (cwd, path),
        };
        let rest = Path::new(OsStr::from_bytes(rest));
        if rest.is_absolute() { Some(rest.to_owned()) } else { Some(base?.join(rest)) }
    }
}

/// How Sayso's places end, whatever stands before.
const OWN_ENDS: &[&str] = &[".config/sayso", "/state/sayso", "/share/sayso", ".cache/sayso", "etc/sayso", "lib/sayso"];

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
