//! Cases of the language: a command, and what must come of it.
//!
//! ```text
//! cases
//!   sort -o out in        => run sort, read in, write out !writes-file
//!   sort -o out in        => with --output=out -- in, run sort, read in, write out !writes-file(--output)
//!   deploy-tool ship prod => run deploy-tool, publishes
//! ```
//!
//! Effects stand in any order. A path is as it would be written in the working directory, and `/**` means all below it. Behind
//! `!` stands why an effect needs an answer of its own, and in brackets which word a rule would name; where it is no path and
//! no host, that stands alone. A case may say more than effects, and is held to what it says: `with` how the words of the
//! first program are read (subcommands, options by their names, behind `--` operands; `~` marks an option that is implied, `?`
//! one that is not known), `prints` what others may build on, `open` that a word of unknown value may be any option,
//! `only-starts` that it needs no yes of its own.

use super::{Catalogue, Code, Invocation, Knowing, Prints, describe};
use crate::effect::{Carry, Effect, HostTarget, Listing, NamedBy, PathTarget, RunId, Target};
use crate::word::{Part, Word};
use crate::{Analysis, Context, Dialect, MemoryFiles, NoEnvironment, analyze};
use std::path::Path;

const FOLDER: &str = "/work";

/// What comes of a command where these programs are known, an effect each, in the order of the words.
#[must_use]
pub fn effects(command: &str, programs: &Catalogue) -> Vec<String> {
    let whole = whole(command, programs);
    whole.into_iter().filter(|one| !is_more(one)).map(|one| plain(&one)).fold(Vec::new(), |mut all, one| {
        if !all.contains(&one) {
            all.push(one);
        }
        all
    })
}

/// The same with all that a case can say.
#[must_use]
pub fn whole(command: &str, programs: &Catalogue) -> Vec<String> {
    let mut files = MemoryFiles::new();
    files.folder(FOLDER);
    let env = Knowing { env: &NoEnvironment, programs };
    let context = Context {
        cwd: Some(Path::new(FOLDER)),
        home: Some(Path::new("/home/you")),
        workspace: Some(Path::new(FOLDER)),
        env: &env,
        files: &files,
        dialect: Dialect::Bash,
    };
    let analysis = analyze(command.as_bytes(), &context);
    let mut shown: Vec<String> = first(&analysis, &context, programs);
    for effect in &analysis.effects {
        let one = show(effect, &analysis);
        if !shown.contains(&one) {
            shown.push(one);
        }
    }
    if analysis.opaque {
        shown.push("opaque".to_owned());
    }
    shown
}

/// What of a case does not hold: effects that are missing, and those that nobody wrote.
///
/// # Errors
/// What comes of the command instead, as it would be written.
pub fn check(command: &str, wanted: &str, programs: &Catalogue) -> Result<(), String> {
    let mut wanted: Vec<&str> = wanted.split(", ").map(str::trim).filter(|one| !one.is_empty()).collect();
    let more = wanted.iter().any(|one| is_more(one));
    let by = wanted.iter().any(|one| plain(one) != *one);
    let mut found = whole(command, programs);
    found.retain(|one| more || !is_more(one));
    if !by {
        found = found.iter().map(|one| if is_more(one) { one.clone() } else { plain(one) }).collect();
    }
    let said = found.join(", ");
    // A value may hold a comma too.
    let mut found: Vec<&str> = said.split(", ").map(str::trim).collect();
    found.retain(|one| !one.is_empty());
    for all in [&mut found, &mut wanted] {
        all.sort_unstable();
        all.dedup();
    }
    if found == wanted { Ok(()) } else { Err(said) }
}

/// Whether this says more than an effect.
fn is_more(one: &str) -> bool {
    one.starts_with("with ") || one.starts_with("prints ") || one == "open" || one == "only-starts"
}

/// An effect without the word that a rule would name, and without which of the files are meant.
fn plain(one: &str) -> String {
    if let Some((before, only)) = one.split_once("/** only ") {
        let code = only.rsplit_once(" !").map(|(_, code)| format!(" !{code}")).unwrap_or_default();
        return plain(&format!("{before}/**{code}"));
    }
    match one.rsplit_once('(') {
        Some((before, by)) if !is_more(one) && by.ends_with(')') && before.contains('!') => before.to_owned(),
        Some((code, by)) if by.ends_with(')') && Code::named(code).is_some() => code.to_owned(),
        _ => one.to_owned(),
    }
}

/// How the words of the first program are read, and what it prints.
fn first(analysis: &Analysis, context: &Context<'_>, programs: &Catalogue) -> Vec<String> {
    let Some(run) = analysis.runs.first() else { return Vec::new() };
    let mut all = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let named = |at: &u16| run.argv.get(usize::from(*at)).map(word).unwrap_or_default();
    let (subcommands, operands) = run.words.split_at(usize::from(run.subcommands).min(run.words.len()));
    words.extend(subcommands.iter().map(named));
    for option in &run.options {
        let value = option.value.as_ref().map(|value| format!("={}", word(value))).unwrap_or_default();
        let implied = if option.implied { "~" } else { "" };
        let unknown = if option.known { "" } else { "?" };
        words.push(format!("{}{value}{implied}{unknown}", option.name));
    }
    if !operands.is_empty() {
        words.push("--".to_owned());
        words.extend(operands.iter().map(named));
    }
    if !words.is_empty() {
        all.push(format!("with {}", words.join(" ")));
    }
    if run.open_options {
        all.push("open".to_owned());
    }
    let Some(name) = run.program.base.as_deref() else { return all };
    let description = describe(&Invocation {
        run: RunId(0),
        name,
        argv: &run.argv,
        spans: &run.spans,
        env: &run.env,
        cwd: context.cwd,
        home: context.home,
        workspace: context.workspace,
        stdin: run.stdin,
        stdin_text: None,
        stdin_file: None,
        stdin_prints: Prints::Unknown,
        files: context.files,
        programs,
    });
    if description.transparent {
        all.push("only-starts".to_owned());
    }
    match description.prints {
        Prints::Unknown => {}
        Prints::Exact(text) => all.push(format!("prints {:?}", text.to_string_lossy())),
        Prints::Names(listing) => all.push(format!("prints names of {}", below(&listing))),
        Prints::Number => all.push("prints a number".to_owned()),
    }
    all
}

fn word(word: &Word) -> String {
    match word {
        Word::Exact(text) => text.to_string_lossy().into_owned(),
        Word::Dynamic(shape) => shape.parts.iter().map(part).collect(),
        Word::Opaque => "?".to_owned(),
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Literal(text) | Part::Class(text) => text.to_string_lossy().into_owned(),
        Part::Hole => "$".to_owned(),
        Part::AnyBytes => "*".to_owned(),
        Part::AnyByte => "?".to_owned(),
    }
}

/// The word that a rule would name.
fn by(named: &NamedBy) -> String {
    match named {
        NamedBy::Flag(flag) => flag.clone(),
        NamedBy::Words(words) => words.join(" "),
        NamedBy::Task(words) => format!("task {}", words.join(" ")),
        NamedBy::Env(name) => format!("{name}="),
        NamedBy::Program => "program".to_owned(),
        NamedBy::Nothing => "nothing".to_owned(),
    }
}

fn show(effect: &Effect, analysis: &Analysis) -> String {
    let code = match &effect.carry {
        Carry::Plain => None,
        Carry::Named { code, by: named } => Some(format!("{code}({})", by(named))),
    };
    let name = |run| analysis.run(run).and_then(|run| run.program.base.clone()).unwrap_or_else(|| "?".to_owned());
    let verb = effect.verb.as_str();
    let what = match &effect.target {
        Target::Program(run) | Target::Wrapper(run) => name(*run),
        Target::Code { language, .. } => format!("{language} code"),
        Target::Option(_) => return code.unwrap_or_else(|| "option".to_owned()),
        Target::Anything => "anything".to_owned(),
        Target::Path(target) => path(target),
        Target::Host(target) => host(target),
        Target::Tool => "tool".to_owned(),
    };
    let maybe = if effect.certain { "" } else { "perhaps " };
    match code {
        Some(code) => format!("{maybe}{verb} {what} !{code}"),
        None => format!("{maybe}{verb} {what}"),
    }
}

/// A path as it would be written in the working directory.
fn near(path: &Path) -> String {
    match path.strip_prefix(FOLDER) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// The folder of a listing, and which of the files below it are meant.
fn below(listing: &Listing) -> String {
    let shown = listing.to_string();
    let sieve = shown.strip_prefix(&listing.folder.display().to_string()).unwrap_or_default();
    let only = if sieve.is_empty() { "" } else { " only" };
    format!("{}/**{only}{sieve}", near(&listing.folder))
}

fn path(target: &PathTarget) -> String {
    match target {
        PathTarget::Exact(path) => near(path),
        PathTarget::Below(path) => format!("{}/**", near(path)),
        PathTarget::Glob { base, pattern, below } => {
            let base = if base == Path::new(FOLDER) { String::new() } else { format!("{}/", near(base)) };
            format!("{base}{}{}", pattern.to_string_lossy(), if *below { "/**" } else { "" })
        }
        PathTarget::Sifted(listing) | PathTarget::Listed(listing) => format!("some of {}", below(listing)),
        PathTarget::Told(of) => format!("the name of {}", path(of)),
        PathTarget::Unknown(_) => "?".to_owned(),
    }
}

fn host(target: &HostTarget) -> String {
    match target {
        HostTarget::Exact { host, port: None } => host.clone(),
        HostTarget::Exact { host, port: Some(port) } => format!("{host}:{port}"),
        HostTarget::Configured(label) => format!("({label})"),
        HostTarget::Unknown => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::BUILT_IN;

    fn holds(command: &str, wanted: &str) -> bool {
        check(command, wanted, &BUILT_IN).is_ok()
    }

    #[test]
    fn a_case_is_held_to_as_much_as_it_says() {
        for wanted in [
            "run sort, read in, write out !writes-file",
            "write out !writes-file, read in, run sort",
            "run sort, read in, write out !writes-file(--output)",
            "with --output=out -- in, run sort, read in, write out !writes-file(--output)",
        ] {
            assert!(holds("sort -o out in", wanted), "{wanted}");
        }
        for wanted in [
            "",
            "run sort, read in",
            "run sort, read in, write out",
            "run sort, read in, write out !writes-file(--other)",
            "with --output=out, run sort, read in, write out !writes-file(--output)",
            "run sort, read in, write out !writes-file, publishes",
        ] {
            assert!(!holds("sort -o out in", wanted), "{wanted}");
        }
    }

    #[test]
    fn which_files_are_read_may_be_said_or_not() {
        assert!(holds("ruff check src", "run ruff, read some of src/**"));
        assert!(holds(
            "ruff check src",
            "with check -- src, run ruff, read some of src/** only *.py *.pyi *.pyw *.ipynb"
        ));
        assert!(!holds("ruff check src", "with check -- src, run ruff, read some of src/** only *.py"));
    }
}
