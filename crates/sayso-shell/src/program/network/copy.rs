//! Copies between hosts: scp, sftp, rsync, rclone.

use super::ssh::settings;
use crate::effect::{Carry, NamedBy, Verb};
use crate::program::{Code, View};
use crate::word::{Part, Word};

/// `host:path` or a URL, which is no local path. A colon behind a slash is part of a name.
fn is_remote(word: &Word) -> Option<bool> {
    let text = match word {
        Word::Exact(text) => text.as_bytes(),
        Word::Dynamic(shape) => match shape.parts.first() {
            Some(Part::Literal(text)) if text.as_bytes().iter().any(|byte| matches!(byte, b':' | b'/')) => {
                text.as_bytes()
            }
            _ => return None,
        },
        Word::Opaque => return None,
    };
    let stop = text.iter().position(|byte| matches!(byte, b':' | b'/'));
    Some(stop.is_some_and(|stop| text.get(stop) == Some(&b':')))
}

/// One side of a copy.
fn side(view: &mut View<'_>, word: &Word, at: usize, verb: Verb, below: bool) {
    match is_remote(word) {
        Some(true) => {
            let host = host_of(word);
            view.connects(&host, at);
            if verb == Verb::Write {
                view.named(Code::Publishes, NamedBy::Program, at);
            }
        }
        Some(false) => view.path_effect(verb, word, at, below, Carry::Plain),
        None => {
            // It may be either.
            let listed =
                matches!(word, Word::Dynamic(shape) if matches!(shape.origin, crate::word::Origin::Listing(_)));
            if !listed {
                view.connects(&Word::Opaque, at);
            }
            view.path_effect(verb, word, at, below, Carry::Plain);
        }
    }
}

/// The host of `user@host:path`, which is certain once the colon is.
fn host_of(word: &Word) -> Word {
    let text = match word {
        Word::Exact(text) => text.as_bytes(),
        Word::Dynamic(shape) => match shape.parts.first() {
            Some(Part::Literal(text)) => text.as_bytes(),
            _ => return Word::Opaque,
        },
        Word::Opaque => return Word::Opaque,
    };
    if text.windows(3).any(|three| three == b"://") {
        return word.clone();
    }
    let host = text.split(|&byte| byte == b':').next().unwrap_or_default();
    // `[::1]:path`
    if text.starts_with(b"[") || text.contains(&b'[') {
        return word.clone();
    }
    Word::Exact(host.into())
}

fn sides(view: &mut View<'_>, below: bool) {
    let operands = view.operands();
    let last = operands.len().saturating_sub(1);
    for (n, at) in operands.into_iter().enumerate() {
        let Some(word) = view.word(at) else { continue };
        let verb = if n == last && last > 0 { Verb::Write } else { Verb::Read };
        side(view, word, at, verb, below);
    }
}

pub(crate) fn scp(view: &mut View<'_>) {
    settings(view);
    let below = view.deep;
    sides(view, below);
}

/// What a batch or standard input says may run `!command` here and copy both ways.
pub(crate) fn sftp(view: &mut View<'_>) {
    settings(view);
    if let (Some(at), Some(host)) = (view.operand_at(0), view.operand(0)) {
        let host = host_of(host);
        view.connects(&host, at);
    }
    view.code("sftp", Code::RunsCode, NamedBy::Program, 0);
}

pub(crate) fn rsync(view: &mut View<'_>) {
    for (at, shell) in view.values("--rsh") {
        // A plain `ssh -p 22` is what everybody means by this.
        let plain = shell.exact_str().is_some_and(|text| {
            let mut words = text.split_ascii_whitespace();
            matches!(words.next(), Some("ssh" | "/usr/bin/ssh"))
                && !text.contains(['\'', '"', '\\', ';', '|', '&', '$', '`'])
                && !text.contains("-o")
                && !text.contains("-F")
                && !text.contains("-S")
        });
        if !plain {
            view.named_by_flag(Code::RunsCommand, "--rsh", at);
            view.starts_shell(shell, at);
        }
    }
    if view.has("--daemon") {
        return;
    }
    for (at, rule) in view.values("--filter") {
        if rule.exact().is_none_or(|text| {
            text.starts_with(b"merge")
                || text.starts_with(b".")
                || text.starts_with(b":")
                || text.starts_with(b"dir-merge")
        }) {
            view.path_effect(Verb::Read, &crate::script::unknown(), at, false, Carry::Plain);
        }
    }
    let operands = view.operands();
    let last = operands.len().saturating_sub(1);
    let dry = view.has_any(&["--dry-run", "--list-only"]) || last == 0;
    let deletes = view.seen.iter().find(|seen| seen.opt.name.starts_with("--delete")).map(|seen| seen.opt.name.clone());
    for (n, at) in operands.into_iter().enumerate() {
        let Some(word) = view.word(at) else { continue };
        let target = n == last && last > 0;
        if target && dry {
            if is_remote(word) != Some(false) {
                let host = host_of(word);
                view.connects(&host, at);
            }
            continue;
        }
        side(view, word, at, if target { Verb::Write } else { Verb::Read }, true);
        let named = |flag: &str| Carry::Named { code: Code::ChangesFiles, by: NamedBy::Flag(flag.to_owned()) };
        if target && is_remote(word) != Some(true) {
            if let Some(flag) = &deletes {
                view.path_effect(Verb::Delete, word, at, true, named(flag));
            }
        } else if !target && view.has("--remove-source-files") && !dry {
            view.path_effect(Verb::Delete, word, at, true, named("--remove-source-files"));
        }
    }
}
