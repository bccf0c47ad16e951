//! Copies between hosts: scp, sftp, rsync, rclone.

use super::ssh::settings;
use crate::effect::{Carry, NamedBy, Verb};
use crate::option::{Style, options};
use crate::program::{Code, Spec, View};
use crate::word::{Part, Word};

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["scp", "rcp"])
        .style(Style::EXACT)
        .options(&[options!("
            -3, -4, -6, -A, -B, -C, -O, -p, -q, -R, -s, -T, -v, -1, -2, -c CIPHER, -l LIMIT, -P PORT, -X OPTION
            -r : deep
            -i FILE : reads
            -J HOST : connects
            -D PATH, -S PROGRAM : runs
            -F FILE
            -o OPTION
        ")])
        .judge(scp),
    Spec::new(&["sftp"])
        .style(Style::EXACT)
        .options(&[options!("
            -4, -6, -A, -a, -C, -f, -N, -p, -q, -r, -v, -1, -2, -B N, -c CIPHER, -l LIMIT, -P PORT, -R N, -s SUBSYSTEM, -X OPTION
            -i FILE, -b FILE : reads
            -J HOST : connects
            -D COMMAND, -S PROGRAM : runs
            -F FILE
            -o OPTION
        ")])
        .judge(sftp),
    Spec::new(&["rsync"])
        .options(&[options!("
            -v --verbose, -q --quiet, --no-motd, -c --checksum, -a --archive, -r --recursive, -R --relative, --no-implied-dirs, -b --backup, --suffix S, -u --update, --inplace
            --append, --append-verify, -d --dirs, --old-dirs, --mkpath, -l --links, -L --copy-links, --copy-unsafe-links, --safe-links, --munge-links, -k --copy-dirlinks
            -K --keep-dirlinks, -H --hard-links, -p --perms, -E --executability, --chmod M, -A --acls, -X --xattrs, -o --owner, -g --group, --devices, --copy-devices, --specials, -D
            -t --times, -U --atimes, --open-noatime, -N --crtimes, -O --omit-dir-times, -J --omit-link-times, --super, --fake-super, -S --sparse, --preallocate, -n --dry-run
            -W --whole-file, --checksum-choice C, -x --one-file-system, -B --block-size N, --existing, --ignore-existing, --max-size N, --min-size N, --max-alloc N, --max-delete N
            --partial, --delay-updates, -m --prune-empty-dirs, --numeric-ids, --usermap M, --groupmap M, --chown O, --timeout N, --contimeout N, -I --ignore-times, --size-only
            -@ --modify-window N, -y --fuzzy, -z --compress, --compress-choice C, --compress-level N, --skip-compress L, -C --cvs-exclude, -f --filter RULE, -F, --exclude P, --include P
            -0 --from0, --old-args, -s --secluded-args --protect-args, --trust-sender, --copy-as U, --address A, --port N, --blocking-io, --outbuf M, --stats, -8 --8-bit-output
            -h --human-readable, --progress, -P, -i --itemize-changes, --out-format F, --log-file-format F, --list-only, --bwlimit N, --stop-after N, --stop-at T, --fsync, --protocol N
            --iconv C, --checksum-seed N, -4 --ipv4, -6 --ipv6, --info F, --debug F, --stderr M, -V, --ignore-errors, --force, --remove-source-files, --ignore-missing-args
            --delete-missing-args, --delete, --delete-before, --delete-during --del, --delete-delay, --delete-after, --delete-excluded, --no-OPTION
            --no-perms, --no-owner, --no-group, --no-times, --no-links, --no-recursive, --no-relative, --no-p, --no-o, --no-g, --no-t, --no-l, --no-r, --no-compress, --no-whole-file
            --no-W, --no-i-r, --no-inc-recursive, --no-D, --no-specials, --no-devices, --no-h, --no-human-readable, --no-progress, --no-v
            --exclude-from FILE, --include-from FILE, --files-from FILE, --password-file FILE, --early-input FILE : reads
            --compare-dest DIR, --copy-dest DIR, --link-dest DIR : reads-below
            -T --temp-dir DIR, --partial-dir DIR, --backup-dir DIR : makes-below
            --log-file FILE, --write-batch FILE, --only-write-batch FILE : writes
            --read-batch FILE : reads
            -e --rsh COMMAND
            --rsync-path PROGRAM, -M --remote-option OPT : runs-elsewhere
            --daemon, --config FILE, --dparam V, --no-detach : serves
            --sockopts O, --write-devices : changes-system
        ")])
        .style(Style::GNU.and(Style::RISKY))
        .judge(rsync),
    Spec::new(&["rclone"]).style(Style::EXACT.and(Style::GLOBAL).and(Style::EQUALS)).options(&[options!("
        -v --verbose, -q --quiet, -n --dry-run, -P --progress, --include P, --exclude P, --transfers N, --checkers N, --max-depth N, --fast-list, --stats T, -i --interactive
        --config FILE, --include-from FILE, --exclude-from FILE, --files-from FILE, --filter-from FILE : reads
        --log-file FILE : writes
    ")]).subs(&[
        Spec::new(&[
            "ls", "lsl", "lsd", "lsf", "lsjson", "size", "tree", "cat", "check", "about", "md5sum", "sha1sum",
            "version", "listremotes", "help",
        ]).style(Style::EXACT).acts(&[crate::program::Act::Connects("rclone remote")]),
        Spec::new(&[
            "copy", "sync", "move", "copyto", "moveto", "delete", "purge", "mkdir", "rmdir", "rmdirs", "dedupe",
            "deletefile", "rcat", "touch", "bisync", "copyurl",
        ])
            .style(Style::EXACT)
            .acts(&[crate::program::Act::Connects("rclone remote"), crate::program::Act::Named(Code::ChangesService)]),
    ]),
];

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

fn scp(view: &mut View<'_>) {
    settings(view);
    let below = view.deep;
    sides(view, below);
}

/// What a batch or standard input says may run `!command` here and copy both ways.
fn sftp(view: &mut View<'_>) {
    settings(view);
    if let (Some(at), Some(host)) = (view.operand_at(0), view.operand(0)) {
        let host = host_of(host);
        view.connects(&host, at);
    }
    view.code("sftp", Code::RunsCode, NamedBy::Program, 0);
}

fn rsync(view: &mut View<'_>) {
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
        let named = |flag: &str| Carry::Named { code: Code::ChangesFiles.as_str(), by: NamedBy::Flag(flag.to_owned()) };
        if target && is_remote(word) != Some(true) {
            if let Some(flag) = &deletes {
                view.path_effect(Verb::Delete, word, at, true, named(flag));
            }
        } else if !target && view.has("--remove-source-files") && !dry {
            view.path_effect(Verb::Delete, word, at, true, named("--remove-source-files"));
        }
    }
}
