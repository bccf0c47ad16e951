//! What is denied in every mode, by what a command does and not by what its text happens to hold.

use sayso_policy::shell::{PathTarget, Run, Target, Verb, Word};
use sayso_policy::{Code, Operation};
use std::path::Path;

/// What a command would destroy, if it would.
pub(super) fn found(operation: &Operation) -> Option<&'static str> {
    let analysis = operation.analysis.as_ref()?;
    if analysis.doubts.iter().any(|doubt| Code::of(doubt.code) == Some(Code::ForkBomb)) || spells_fork_bomb(operation) {
        return Some("start copies of itself without end");
    }
    analysis.runs.iter().find_map(program).or_else(|| {
        operation.effects.iter().enumerate().find_map(|(at, effect)| {
            let Target::Path(target) = &effect.target else { return None };
            let resolved = operation.resolved.get(at)?;
            let path = resolved.lexical.as_deref().or(resolved.canonical.as_deref())?;
            match effect.verb {
                Verb::Delete if whole(target) && is_everything(path, operation.home.as_deref()) => {
                    Some("delete the whole system or a home folder")
                }
                Verb::Write if is_disk(path) => Some("overwrite a disk"),
                _ => None,
            }
        })
    })
}

/// Spelled without its blanks bash does not even read it, but some shell may.
fn spells_fork_bomb(operation: &Operation) -> bool {
    let text = operation.command.as_deref().unwrap_or_default();
    let compact: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    compact.starts_with(b":(){:|:&};:")
}

fn program(run: &Run) -> Option<&'static str> {
    let name = run.program.base.as_deref()?;
    let words: Vec<&str> = run.argv.iter().skip(1).filter_map(Word::exact_str).collect();
    let recursive = words
        .iter()
        .any(|word| *word == "--recursive" || (word.starts_with('-') && !word.starts_with("--") && word.contains('R')));
    match name {
        "shutdown" | "reboot" | "halt" | "poweroff" => Some("stop the machine"),
        "init" | "telinit" if matches!(words.first(), Some(&"0" | &"6")) => Some("stop the machine"),
        "dd" if words.iter().any(|word| matches!(*word, "if=/dev/zero" | "if=/dev/random" | "if=/dev/urandom")) => {
            Some("overwrite existing data")
        }
        "chmod" if recursive && words.contains(&"777") && words.contains(&"/") => {
            Some("make the whole system writable")
        }
        "chown" if recursive => Some("change the owner of these files"),
        name if name == "mkfs" || name.starts_with("mkfs.") => Some("create a new file system"),
        _ => None,
    }
}

fn whole(target: &PathTarget) -> bool {
    match target {
        PathTarget::Below(_) => true,
        PathTarget::Glob { pattern, .. } => matches!(pattern.as_bytes(), b"*" | b"**" | b".*" | b"*/"),
        _ => false,
    }
}

fn is_everything(path: &Path, home: Option<&Path>) -> bool {
    path.parent().is_none()
        || home.is_some_and(|home| home.starts_with(path))
        || matches!(path.to_str(), Some("/home" | "/root" | "/Users"))
}

fn is_disk(path: &Path) -> bool {
    let Some(name) = path.to_str().and_then(|path| path.strip_prefix("/dev/")) else { return false };
    ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "mapper/"].iter().any(|prefix| name.starts_with(prefix))
}
