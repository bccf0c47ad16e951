//! Descriptions in few words, for tests: a command line in, what it does out.

use crate::effect::{Carry, HostTarget, Listing, NamedBy, PathTarget, RunId, Span, Stdin, Target};
use crate::files::NoFiles;
use crate::program::{Invocation, Prints, Start, describe};
use crate::word::{Origin, Part, Shape, Single, Word};
use std::path::Path;

/// What `line` does, seen from `/w`. Words are split at blanks, `'..'` quotes, `$x` is a word of unknown value, `%x` one
/// from a listing of `/w`.
pub(crate) fn shown(line: &str) -> String {
    shown_with(line, Stdin::Inherited, None, Prints::Unknown)
}

pub(crate) fn shown_with(line: &str, stdin: Stdin, stdin_text: Option<&str>, stdin_prints: Prints) -> String {
    let argv: Vec<Word> = words(line).iter().map(|word| parsed(word)).collect();
    let spans = vec![Span::default(); argv.len()];
    let name = argv[0].exact_str().unwrap().to_owned();
    let description = describe(&Invocation {
        run: RunId(0),
        name: &name,
        argv: &argv,
        spans: &spans,
        env: &[],
        cwd: Some(Path::new("/w")),
        home: Some(Path::new("/home/u")),
        workspace: Some(Path::new("/w")),
        stdin,
        stdin_text: stdin_text.map(str::as_bytes),
        stdin_file: None,
        stdin_prints,
        files: &NoFiles,
        programs: &crate::program::BUILT_IN,
    });
    let mut shown: Vec<String> = Vec::new();
    for effect in &description.effects {
        let maybe = if effect.certain { "" } else { "maybe " };
        let what = match &effect.target {
            Target::Path(path) => format!("{:?} {}", effect.verb, path_text(path)).to_lowercase(),
            Target::Host(HostTarget::Exact { host, port }) => {
                format!("connect {host}{}", port.map_or(String::new(), |port| format!(":{port}")))
            }
            Target::Host(HostTarget::Configured(label)) => format!("connect <{label}>"),
            Target::Host(HostTarget::Unknown) => "connect ?".to_owned(),
            Target::Code { language, .. } => format!("code {language}"),
            Target::Anything => "anything".to_owned(),
            _ => "may".to_owned(),
        };
        let named = match &effect.carry {
            Carry::Plain => String::new(),
            Carry::Named { code, by } => format!(" ({code} {})", by_text(by)),
        };
        shown.push(format!("{maybe}{what}{named}"));
    }
    for start in &description.starts {
        shown.push(match start {
            Start::Argv { argv, env, elsewhere, cwd, .. } => {
                let env: String =
                    env.iter().map(|(name, value)| format!("{}={} ", name.to_string_lossy(), text(value))).collect();
                let cwd = cwd.as_ref().map_or(String::new(), |cwd| format!("in {} ", text(cwd)));
                let words: Vec<String> = argv.iter().map(text).collect();
                format!("start {}{cwd}{env}{}", if *elsewhere { "elsewhere " } else { "" }, words.join(" "))
            }
            Start::Shell { text: script, elsewhere, .. } => {
                format!("shell {}{{{}}}", if *elsewhere { "elsewhere " } else { "" }, text(script))
            }
            Start::Script { file, .. } => format!("script {}", text(file)),
        });
    }
    if description.transparent {
        shown.push("only".to_owned());
    }
    if let Prints::Names(folder) = &description.prints {
        shown.push(format!("names {folder}"));
    }
    shown.join("; ")
}

fn by_text(by: &NamedBy) -> String {
    match by {
        NamedBy::Flag(flag) => flag.clone(),
        NamedBy::Words(words) | NamedBy::Task(words) => words.join(" "),
        NamedBy::Env(name) => format!("${name}"),
        NamedBy::Program => "program".to_owned(),
        NamedBy::Nothing => "nothing".to_owned(),
    }
}

fn path_text(path: &PathTarget) -> String {
    match path {
        PathTarget::Exact(path) => path.display().to_string(),
        PathTarget::Below(path) => format!("{}/**", path.display()),
        PathTarget::Glob { base, pattern, below } => {
            format!("{}/{}{}", base.display(), pattern.to_string_lossy(), if *below { "/**" } else { "" })
        }
        PathTarget::Listed(listing) => format!("of {listing}"),
        PathTarget::Sifted(listing) => format!("sifted {listing}"),
        PathTarget::Told(of) => format!("told {}", path_text(of)),
        PathTarget::Unknown(_) => "?".to_owned(),
    }
}

fn text(word: &Word) -> String {
    match word {
        Word::Exact(text) => text.to_string_lossy().into_owned(),
        Word::Dynamic(shape) => {
            let pieces = shape.parts.iter().map(|part| match part {
                Part::Literal(text) => text.to_string_lossy().into_owned(),
                _ => "?".to_owned(),
            });
            let text: String = pieces.collect();
            match &shape.origin {
                Origin::Listing(folder) => format!("{text}<{folder}>"),
                _ => text,
            }
        }
        Word::Opaque => "??".to_owned(),
    }
}

fn parsed(word: &str) -> Word {
    let dynamic = |origin| {
        let at = word.find(['$', '%']).unwrap();
        let mut parts = Vec::new();
        if at > 0 {
            parts.push(Part::Literal(word.split_at(at).0.into()));
        }
        parts.push(Part::Hole);
        Word::Dynamic(Shape::single(parts, origin, Single::Quoted))
    };
    match word.find(['$', '%']).and_then(|at| word.as_bytes().get(at..at + 2)) {
        Some(b"$x") => dynamic(Origin::Unknown),
        Some(b"%x") => dynamic(Origin::Listing(Box::new(Listing::all("/w".into())))),
        _ => Word::Exact(word.into()),
    }
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Checks lines of `command => what it does`.
pub(crate) fn check(cases: &str) {
    let mut failed = Vec::new();
    for line in cases.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("##")) {
        let (command, expected) = line.split_once("=>").unwrap_or_else(|| panic!("no `=>` in {line}"));
        let found = shown(command.trim());
        if found != expected.trim() {
            failed.push(format!("{}\n    expected {}\n    found    {found}", command.trim(), expected.trim()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
