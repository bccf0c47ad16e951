//! Compares what a shell did in the jail with what the analysis said it would do.

use crate::jail::{self, Case, Deeds, Shell, Start};
use sayso_shell::{
    Analysis, Carry, Context, Dialect, Effect, Environment, HostTarget, MemoryFiles, NamedBy, Part, PathTarget, Run,
    Shadow, Shape, Target, Verb, Word, analyze,
};
use std::path::{Component, Path, PathBuf};

struct Jailed;

impl Environment for Jailed {
    fn get(&self, name: &str) -> Option<String> {
        match name {
            "HOME" => Some(jail::HOME.into()),
            "PATH" => Some(jail::STUBS.into()),
            _ => None,
        }
    }
}

/// The files of the jail, as the analysis sees them.
pub(crate) fn files() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    for (path, program, content) in jail::FILES {
        if *program {
            files.program(path, content.as_bytes())
        } else {
            files.file(path, content.as_bytes())
        };
    }
    files.open_folder("/tmp");
    // The system is that of the machine. What its programs hold is not looked into.
    for entry in std::fs::read_dir("/usr/bin").into_iter().flatten().flatten() {
        files.program(entry.path(), b"\x7fELF");
    }
    for folder in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"].map(|name| Path::new("/").join(name)) {
        if let Ok(target) = std::fs::read_link(&folder) {
            files.link(folder, target);
        }
    }
    files
}

pub(crate) fn analysed(case: &Case, files: &MemoryFiles) -> Analysis {
    let context = Context {
        cwd: Some(Path::new(jail::FOLDER)),
        home: Some(Path::new(jail::HOME)),
        workspace: Some(Path::new(jail::FOLDER)),
        env: &Jailed,
        files,
        dialect: match case.shell {
            Shell::Bash => Dialect::Bash,
            Shell::Zsh => Dialect::Zsh,
            Shell::Dash => Dialect::Sh,
        },
    };
    analyze(case.command.as_bytes(), &context)
}

/// Whether the analysis says itself that there may be more, so that nothing can be missing from it. A script of unknown
/// text counts as that: no pattern names it, so that a policy asks whatever it allows.
pub(crate) fn is_opaque(analysis: &Analysis) -> bool {
    let unclear = Carry::Named { code: sayso_shell::Code::UnclearScript, by: NamedBy::Nothing };
    analysis.opaque
        || analysis.effects.iter().any(|effect| match effect.target {
            Target::Anything | Target::Code { .. } => true,
            Target::Option(_) => effect.carry == unclear,
            _ => false,
        })
}

/// What was done and is not in the analysis.
pub(crate) fn misses(analysis: &Analysis, deeds: &Deeds) -> Vec<String> {
    if is_opaque(analysis) {
        return Vec::new();
    }
    let mut misses = Vec::new();
    // What a program of the workspace starts in turn is its own doing.
    let script = deeds.starts.iter().any(|start| start.path.ends_with("/evil.sh"));
    for start in &deeds.starts {
        if script && start.argv == ["pwn", "planted"] {
            continue;
        }
        // `. name` finds a stub of that name on PATH, and zsh reads the binary as a script: these are its first bytes. Outside
        // the jail no program is found by a name that is not there.
        if start.argv == ["\u{1}"] {
            continue;
        }
        if let Some(miss) = start_missed(analysis, start) {
            misses.push(miss);
        }
    }
    let started = |path: &str| deeds.starts.iter().any(|start| lexical(&start.path) == lexical(path));
    for path in &deeds.reads {
        if !started(path) && !is_told(analysis, &[Verb::Read], path) {
            misses.push(format!("read {path:?}"));
        }
    }
    // What leads to a process's own descriptors is always there: `mkdir -p` of a name in it changes nothing.
    let own = |path: &&String| path.as_str() != "/dev/fd";
    for path in deeds.writes.iter().filter(own) {
        let connects = path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
        if connects && analysis.effects.iter().any(|effect| effect.verb == Verb::Connect) {
            continue;
        }
        if !is_temporary(analysis, path) && !is_told(analysis, &[Verb::Write, Verb::Delete], path) {
            misses.push(format!("wrote {path:?}"));
        }
    }
    for path in &deeds.deletes {
        if !is_temporary(analysis, path) && !is_told(analysis, &[Verb::Write, Verb::Delete], path) {
            misses.push(format!("deleted {path:?}"));
        }
    }
    for address in &deeds.connects {
        if !analysis.effects.iter().any(|effect| connects(effect, address)) {
            misses.push(format!("connected to {address:?}"));
        }
    }
    misses.dedup();
    misses
}

/// Whether a run did this: `ran NAME`, `in FOLDER` (`p1` started there), `read PATH`, `wrote PATH`.
pub(crate) fn did(deeds: &Deeds, what: &str) -> bool {
    let (verb, object) = what.split_once(' ').unwrap();
    let names = |path: &String| lexical(path) == Path::new(object);
    match verb {
        "ran" => deeds.starts.iter().any(|start| start.path.rsplit('/').next() == Some(object)),
        "in" => deeds.starts.iter().any(|start| start.argv[0] == "p1" && start.cwd == object),
        "read" => deeds.reads.iter().any(names),
        "wrote" => deeds.writes.iter().any(names),
        _ => panic!("no deed {verb}"),
    }
}

/// `sed` and `awk` have a shell start what their scripts name. What that shell does is compared like all else.
fn is_between(analysis: &Analysis, start: &Start) -> bool {
    let asks = |run: &Run| run.argv.first().and_then(Word::exact_str).is_some_and(|name| matches!(name, "sed" | "awk"));
    start.argv.first().is_some_and(|name| name == "sh")
        && start.argv.get(1).is_some_and(|word| word == "-c")
        && analysis.runs.iter().any(asks)
}

fn start_missed(analysis: &Analysis, start: &Start) -> Option<String> {
    if is_between(analysis, start) {
        return None;
    }
    let words = start.argv.get(1..).unwrap_or_default();
    let mut elsewhere = None;
    for run in analysis.runs.iter().filter(|run| !run.guessed) {
        let Some((name, rest)) = run.argv.split_first() else { continue };
        if !is_name(name, run, start) || !are_words(rest, words) {
            continue;
        }
        match &run.cwd {
            Some(cwd) if lexical(cwd) != Path::new(&start.cwd) => elsewhere = Some(cwd.clone()),
            _ => return None,
        }
    }
    Some(match elsewhere {
        Some(cwd) => format!("ran {:?} in {:?}, not in {cwd:?}", start.argv, start.cwd),
        None => format!("ran {:?} as {:?}", start.argv, start.path),
    })
}

fn is_name(name: &Word, run: &Run, start: &Start) -> bool {
    // The analysis says itself that the name leads to another program, nobody knows which.
    if run.program.shadow == Some(Shadow::Path) && name.exact_str() == start.argv.first().map(String::as_str) {
        return true;
    }
    let base = start.path.rsplit('/').next().unwrap_or_default();
    match name {
        Word::Exact(text) => match text.as_str() {
            Some(text) if text.contains('/') => {
                let cwd = run.cwd.as_deref().unwrap_or(Path::new(&start.cwd));
                lexical(cwd.join(text)) == lexical(&start.path)
            }
            Some(text) => text == base,
            None => text.to_string_lossy() == base,
        },
        Word::Dynamic(shape) => shape.splits() || fits(shape, base) || fits(shape, &start.path),
        Word::Opaque => true,
    }
}

/// A word that may become none or several words stands for any number of them.
fn are_words(argv: &[Word], words: &[String]) -> bool {
    let Some((word, rest)) = argv.split_first() else { return words.is_empty() };
    if is_any_number(word) {
        // A few words at most: trying them all is quick enough.
        return (0..=words.len()).any(|taken| are_words(rest, &words[taken..]));
    }
    let Some((first, tail)) = words.split_first() else { return false };
    let same = match word {
        Word::Exact(text) => text.to_string_lossy() == first.as_str(),
        Word::Dynamic(shape) => fits(shape, first),
        Word::Opaque => true,
    };
    same && are_words(rest, tail)
}

fn is_any_number(word: &Word) -> bool {
    match word {
        Word::Exact(_) => false,
        Word::Dynamic(shape) => {
            shape.splits() || shape.parts.iter().any(|part| !matches!(part, Part::Literal(_) | Part::Hole))
        }
        Word::Opaque => true,
    }
}

/// Whether a word can have come from this shape.
fn fits(shape: &Shape, word: &str) -> bool {
    fn rest(parts: &[Part], word: &[u8]) -> bool {
        match parts.split_first() {
            None => word.is_empty(),
            Some((Part::Literal(text), tail)) => {
                word.strip_prefix(text.as_bytes()).is_some_and(|word| rest(tail, word))
            }
            Some((_, tail)) => (0..=word.len()).any(|taken| rest(tail, &word[taken..])),
        }
    }
    rest(&shape.parts, word.as_bytes())
}

/// `sed -i` writes beside the file, and puts that in its place.
fn is_temporary(analysis: &Analysis, path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    // `sort` puts what it cannot hold into files of its own.
    let sorts = |run: &Run| run.program.base.as_deref() == Some("sort");
    if folder == "/tmp" && name.len() == 10 && name.starts_with("sort") && analysis.runs.iter().any(sorts) {
        return true;
    }
    name.len() == 9
        && name.starts_with("sed")
        && analysis.effects.iter().any(|effect| match &effect.target {
            Target::Path(target) if effect.verb == Verb::Write => {
                target
                    .place()
                    .is_none_or(|place| place.parent().is_none_or(|parent| lexical(parent) == lexical(folder)))
                    || !matches!(target, PathTarget::Exact(_))
            }
            _ => false,
        })
}

fn is_told(analysis: &Analysis, verbs: &[Verb], path: &str) -> bool {
    let raw = Path::new(path);
    let path = lexical(path);
    analysis.effects.iter().any(|effect| match &effect.target {
        Target::Path(target) => verbs.contains(&effect.verb) && covers(target, raw, &path, effect.verb),
        _ => false,
    })
}

fn covers(target: &PathTarget, raw: &Path, path: &Path, verb: Verb) -> bool {
    match target {
        PathTarget::Exact(told) => {
            let told = lexical(told);
            let writes = verb != Verb::Read;
            !told.is_absolute()
                || told == path
                // `mkdir -p a/b` makes `a` too, and `cp f d` makes `d/f`.
                || (writes && (told.starts_with(path) || path.parent() == Some(&told)))
        }
        PathTarget::Below(told) => !told.is_absolute() || path.starts_with(lexical(told)),
        PathTarget::Glob { base, pattern, below } => {
            // A pattern that matches nothing stays as it is.
            if !base.is_absolute() || base.join(&*pattern.to_string_lossy()) == raw {
                return true;
            }
            let Ok(rest) = path.strip_prefix(lexical(base)) else { return false };
            let pattern = pattern.to_string_lossy();
            matches_glob(&pattern, rest, *below)
        }
        PathTarget::Sifted(listing) | PathTarget::Listed(listing) => {
            !listing.folder.is_absolute() || path.starts_with(lexical(&listing.folder))
        }
        // What a file holds is more than its folder tells of it.
        PathTarget::Told(_) => false,
        PathTarget::Unknown(_) => true,
    }
}

/// Component by component: what was opened lies where the pattern says. `..` in a pattern leads out of what it matches,
/// so that nothing the pattern names is what is opened.
fn matches_glob(pattern: &str, path: &Path, below: bool) -> bool {
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let names: Vec<_> = path.components().map(|name| name.as_os_str().to_string_lossy().into_owned()).collect();
    if parts.contains(&"..") || names.len() < parts.len() || (!below && names.len() > parts.len()) {
        return false;
    }
    parts.iter().zip(&names).all(|(part, name)| glob(part.as_bytes(), name.as_bytes()))
}

fn glob(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|taken| glob(rest, &name[taken..])),
        Some((b'?', rest)) => !name.is_empty() && glob(rest, &name[1..]),
        // Which bytes a class takes is bash's business: any one here.
        Some((b'[', rest)) => match rest.iter().skip(1).position(|byte| *byte == b']') {
            Some(end) => !name.is_empty() && glob(&rest[end + 2..], &name[1..]),
            None => name.first() == Some(&b'[') && glob(rest, &name[1..]),
        },
        Some((b'\\', rest)) if !rest.is_empty() => name.first() == rest.first() && glob(&rest[1..], &name[1..]),
        Some((byte, rest)) => name.first() == Some(byte) && glob(rest, &name[1..]),
    }
}

fn connects(effect: &Effect, address: &str) -> bool {
    match (&effect.verb, &effect.target) {
        // A name is asked for at the machine itself: the jail has no other server.
        (Verb::Connect, Target::Host(HostTarget::Exact { host, .. })) => {
            host == address || (address == "127.0.0.1" && host.parse::<std::net::IpAddr>().is_err())
        }
        (Verb::Connect, Target::Host(_)) => true,
        _ => false,
    }
}

/// Without `.` and `..`. There are no links in the jail but those that a command makes, after which paths are unknown.
fn lexical(path: impl AsRef<Path>) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.as_ref().components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if out != Path::new("/") {
                    out.pop();
                }
            }
            other => out.push(other),
        }
    }
    out
}
