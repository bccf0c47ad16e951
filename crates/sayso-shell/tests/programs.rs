//! The cases of the texts in `programs/`, a line each: `command => options | words | effects`. Words: `$x` is a value nobody
//! knows (quoted), `$*` one that splits, a word with `*` is a glob. The working directory is `/w`, and no file is known.
//!
//! `SAYSO_BLESS=1` rewrites the texts with what the tables say now; read the difference before you keep it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]

use sayso_shell::program::text::{self, Source, Words};
use sayso_shell::program::{Description, Invocation, Prints, Start, describe};
use sayso_shell::{
    Carry, Effect, HostTarget, NamedBy, NoFiles, Origin, Part, PathTarget, RunId, Shape, Single, Span, Stdin, Target,
    Text, Word,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn words(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    loop {
        while chars.next_if(|c| *c == ' ').is_some() {}
        if chars.peek().is_none() {
            return words;
        }
        let mut text = String::new();
        let mut quoted = false;
        while let Some(c) = chars.next_if(|c| quoted || *c != ' ') {
            match c {
                '\'' => quoted = !quoted,
                c => text.push(c),
            }
        }
        words.push(word(&text, line.contains(&format!("'{text}'"))));
    }
}

fn word(text: &str, quoted: bool) -> Word {
    if quoted || !text.contains(['$', '*']) {
        return Word::Exact(Text::from(text));
    }
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut splits = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let part = match c {
            '$' => {
                let after = chars.next();
                splits |= after == Some('*');
                Part::Hole
            }
            '*' => Part::AnyBytes,
            c => {
                literal.push(c);
                continue;
            }
        };
        if !literal.is_empty() {
            parts.push(Part::Literal(Text::from(std::mem::take(&mut literal).as_str())));
        }
        parts.push(part);
    }
    if !literal.is_empty() {
        parts.push(Part::Literal(Text::from(literal.as_str())));
    }
    Word::Dynamic(if splits {
        Shape::several(parts, Origin::Unknown)
    } else {
        Shape::single(parts, Origin::Unknown, Single::Quoted)
    })
}

fn show_word(word: &Word) -> String {
    match word {
        Word::Exact(text) => text.to_string_lossy().into_owned(),
        Word::Dynamic(shape) => shape.parts.iter().map(show_part).collect(),
        Word::Opaque => "?".into(),
    }
}

fn show_part(part: &Part) -> String {
    match part {
        Part::Literal(text) => text.to_string_lossy().into_owned(),
        Part::Hole => "$".into(),
        Part::AnyBytes => "*".into(),
        Part::AnyByte => "?".into(),
        Part::Class(text) => text.to_string_lossy().into_owned(),
    }
}

fn show_effect(effect: &Effect) -> String {
    let mut out = format!("{:?} ", effect.verb).to_lowercase();
    match &effect.target {
        Target::Path(PathTarget::Exact(path)) => write!(out, "{}", path.display()).unwrap(),
        Target::Path(PathTarget::Below(path)) => write!(out, "{}/**", path.display()).unwrap(),
        Target::Path(PathTarget::Glob { base, pattern, below }) => {
            let below = if *below { "/**" } else { "" };
            write!(out, "{}//{}{below}", base.display(), pattern.to_string_lossy()).unwrap();
        }
        Target::Path(PathTarget::Listed(listing)) => write!(out, "listed:{listing}").unwrap(),
        Target::Path(PathTarget::Sifted(listing)) => write!(out, "sifted:{listing}").unwrap(),
        Target::Path(PathTarget::Told(of)) => {
            let of = Effect { target: Target::Path((**of).clone()), ..effect.clone() };
            write!(out, "told:{}", show_effect(&of).trim_start_matches("read ")).unwrap();
        }
        Target::Path(PathTarget::Unknown(_)) => out.push('?'),
        Target::Host(HostTarget::Exact { host, port: None }) => out.push_str(host),
        Target::Host(HostTarget::Exact { host, port: Some(port) }) => write!(out, "{host}:{port}").unwrap(),
        Target::Host(HostTarget::Configured(label)) => write!(out, "({label})").unwrap(),
        Target::Host(HostTarget::Unknown) => out.push('?'),
        Target::Code { language, .. } => write!(out, "code {language}").unwrap(),
        Target::Option(_) => {
            out.clear();
        }
        other => write!(out, "{other:?}").unwrap(),
    }
    if let Carry::Named { code, by } = &effect.carry {
        let by = match by {
            NamedBy::Flag(flag) => flag.clone(),
            NamedBy::Words(words) => words.join(" "),
            NamedBy::Task(words) => format!("task {}", words.join(" ")),
            NamedBy::Env(name) => format!("{name}="),
            NamedBy::Program => "program".into(),
            NamedBy::Nothing => "nothing".into(),
        };
        if !out.is_empty() {
            out.push(' ');
        }
        write!(out, "!{code}({by})").unwrap();
    }
    if !effect.certain {
        out.push_str(" maybe");
    }
    out
}

fn show(argv: &[Word], description: &Description) -> String {
    let options: Vec<String> = description
        .options
        .iter()
        .map(|o| {
            let mut text = o.name.clone();
            if let Some(value) = &o.value {
                write!(text, "={}", show_word(value)).unwrap();
            }
            if o.implied {
                text.push('~');
            }
            if !o.known {
                text.push('?');
            }
            text
        })
        .collect();
    let mut names: Vec<String> = description.words.iter().map(|&at| show_word(&argv[usize::from(at)])).collect();
    if description.subcommands > 0 {
        names.insert(usize::from(description.subcommands), "/".into());
    }
    let mut effects: Vec<String> = description.effects.iter().map(show_effect).collect();
    for start in &description.starts {
        effects.push(match start {
            Start::Argv { argv, elsewhere, .. } => {
                let words: Vec<String> = argv.iter().map(show_word).collect();
                format!("start{} {}", if *elsewhere { " elsewhere" } else { "" }, words.join(" "))
            }
            Start::Shell { text, .. } => format!("shell {}", show_word(text)),
            Start::Script { file, .. } => format!("script {}", show_word(file)),
        });
    }
    if description.open_options {
        effects.push("open".into());
    }
    if description.transparent {
        effects.push("transparent".into());
    }
    match &description.prints {
        Prints::Unknown => {}
        Prints::Exact(text) => effects.push(format!("prints {:?}", text.to_string_lossy())),
        Prints::Names(path) => effects.push(format!("names {path}")),
        Prints::Number => effects.push("number".into()),
    }
    format!("{} | {} | {}", options.join(" "), names.join(" "), effects.join("; "))
        .replace("  ", " ")
        .trim_end()
        .to_owned()
}

fn answer(line: &str) -> String {
    let all = words(line);
    let mut env = Vec::new();
    let mut argv = all.as_slice();
    while let Some((first, rest)) = argv.split_first()
        && let Some((name, value)) = first.exact_str().and_then(|t| t.split_once('='))
        && !rest.is_empty()
    {
        env.push((Text::from(name), Word::Exact(Text::from(value))));
        argv = rest;
    }
    let spans = vec![Span::default(); argv.len()];
    let name = argv[0].exact_str().unwrap().rsplit('/').next().unwrap();
    let description = describe(&Invocation {
        run: RunId(0),
        name,
        argv,
        spans: &spans,
        env: &env,
        cwd: Some(Path::new("/w")),
        home: Some(Path::new("/home/u")),
        workspace: Some(Path::new("/w")),
        stdin: Stdin::Inherited,
        stdin_text: None,
        stdin_file: None,
        stdin_prints: Prints::Unknown,
        files: &NoFiles,
        programs: &sayso_shell::program::BUILT_IN,
    });
    show(argv, &description)
}

#[test]
fn every_case_of_the_texts_holds() {
    let bless = std::env::var_os("SAYSO_BLESS").is_some();
    let paths = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"));
    let texts: Vec<(String, String)> =
        paths.iter().map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect();
    let sources: Vec<Source<'_>> = texts.iter().map(|(name, text)| Source { name, text }).collect();
    let document = text::read(&sources, Words::BuiltIn).unwrap();
    let mut wrong = String::new();
    for case in &document.cases {
        let got = answer(&case.command);
        if got.trim() == case.wanted {
            continue;
        }
        let name = &texts[case.at.file].0;
        if bless {
            let line = format!("  {} => {}", case.command, got.trim());
            let text = std::fs::read_to_string(name).unwrap();
            let lines =
                text.lines().enumerate().map(|(at, old)| if at + 1 == case.at.line { line.as_str() } else { old });
            std::fs::write(name, lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
            continue;
        }
        writeln!(wrong, "{name}:{}\n  {}\n  wanted {}\n  got    {got}", case.at.line, case.command, case.wanted)
            .unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(document.cases.len() > 1000, "the cases are missing");
}

fn texts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(texts(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn no_line_of_a_table_is_wider_than_120_columns() {
    for path in texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let tables = text.split("\ncases\n").next().unwrap();
        for (at, line) in tables.lines().enumerate() {
            assert!(line.chars().count() <= 120, "{}:{}", path.display(), at + 1);
        }
    }
}
