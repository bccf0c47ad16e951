//! Cases of the language: a command, and what must come of it.
//!
//! ```text
//! cases
//!   sort -o out in        => run sort, read in, write out !writes-file
//!   deploy-tool ship prod => run deploy-tool, publishes
//! ```
//!
//! Effects stand in any order. A path is as it would be written in the working directory, and `/**` means all below it. Behind
//! `!` stands why an effect needs an answer of its own; where it is no path and no host, that stands alone.

use super::Code;
use super::{Catalogue, Knowing};
use crate::effect::{Carry, Effect, HostTarget, PathTarget, Target};
use crate::{Analysis, Context, Dialect, MemoryFiles, NoEnvironment, analyze};
use std::path::Path;

const FOLDER: &str = "/work";

/// What comes of a command where these programs are known, an effect each, in the order of the words.
#[must_use]
pub fn effects(command: &str, programs: &Catalogue) -> Vec<String> {
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
    let mut shown: Vec<String> = Vec::new();
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
    let mut found = effects(command, programs);
    let said = found.join(", ");
    let mut wanted: Vec<&str> = wanted.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    found.sort_unstable();
    wanted.sort_unstable();
    wanted.dedup();
    if found == wanted { Ok(()) } else { Err(said) }
}

fn show(effect: &Effect, analysis: &Analysis) -> String {
    let code = match &effect.carry {
        Carry::Plain => None,
        Carry::Named { code, .. } => Some(*code),
    };
    let name = |run| analysis.run(run).and_then(|run| run.program.base.clone()).unwrap_or_else(|| "?".to_owned());
    let verb = effect.verb.as_str();
    let what = match &effect.target {
        Target::Program(run) | Target::Wrapper(run) => name(*run),
        Target::Code { language, .. } => format!("{language} code"),
        Target::Option(_) => return code.map_or("option", Code::as_str).to_owned(),
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

fn path(target: &PathTarget) -> String {
    let near = |path: &Path| match path.strip_prefix(FOLDER) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.display().to_string(),
        Err(_) => path.display().to_string(),
    };
    match target {
        PathTarget::Exact(path) => near(path),
        PathTarget::Below(path) => format!("{}/**", near(path)),
        PathTarget::Glob { base, pattern, below } => {
            let base = if base == Path::new(FOLDER) { String::new() } else { format!("{}/", near(base)) };
            format!("{base}{}{}", pattern.to_string_lossy(), if *below { "/**" } else { "" })
        }
        PathTarget::Sifted(listing) | PathTarget::Listed(listing) => format!("some of {}/**", near(&listing.folder)),
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
