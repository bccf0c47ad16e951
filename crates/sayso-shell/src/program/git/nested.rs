//! Stores besides the project's own: of repositories in its folders, or elsewhere.
//!
//! What they say is not known to be the owner's, for a program that was held may have made them. So git is asked about there
//! if the store names programs. INVARIANT: what is read here may say more than git would see in it, never less.

use super::store::plain;
use crate::files::Kind;
use crate::program::{View, join};
use std::path::{Path, PathBuf};

/// Settings whose value is a program, or leads to one; the last part of their names.
const KEYS: &[&str] = &[
    "allow",
    "alternaterefscommand",
    "askpass",
    "cccmd",
    "clean",
    "cmd",
    "command",
    "defaultkeycommand",
    "difffilter",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "hookspath",
    "packobjectshook",
    "pager",
    "path",
    "process",
    "program",
    "receivepack",
    "sendmailcmd",
    "smtpserver",
    "smudge",
    "sshcommand",
    "textconv",
    "tocmd",
    "update",
    "uploadpack",
    "vcs",
    // Files are changed there, whatever folder the command names.
    "worktree",
];
/// Sections of which every setting is one.
const SECTIONS: &[&str] = &["[alias", "[include", "[pager", "[protocol"];
/// Values that are no programs.
const PLAIN: &[&str] = &["", "true", "false", "yes", "no", "on", "off", "1", "0"];
/// Commands that change neither commits nor branches, and the hooks that even those start.
const READS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "grep",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "rev-list",
    "describe",
    "cat-file",
    "shortlog",
    "show-ref",
    "for-each-ref",
    "name-rev",
    "merge-base",
    "count-objects",
    "check-ignore",
];
const ALWAYS: &[&str] = &["post-index-change", "reference-transaction"];
/// The largest file that is read, and how many hooks are looked at.
const LARGEST: usize = 1 << 20;
const MANY: usize = 1000;

/// Whether this store is not the project's own, and names programs that git would start.
pub(super) fn names_programs(view: &View<'_>, store: &Path) -> bool {
    if is_own(view, store) {
        return false;
    }
    let files = view.inv.files;
    let led = files.read(&store.join("commondir"), 4096);
    let common = match led.as_deref().and_then(|text| text.split(|byte| *byte == b'\n').next()) {
        Some(to) => plain(&join(Some(store), to.trim_ascii())).into_owned(),
        None => store.to_owned(),
    };
    let says = |path: PathBuf| match files.read(&path, LARGEST) {
        Some(text) => sets_program(&text),
        // It is there and cannot be read.
        None => files.kind(&path) != Kind::Missing,
    };
    says(store.join("config.worktree"))
        || !is_own(view, &common) && (says(common.join("config")) || has_hooks(view, &common))
}

/// The store of the workspace, or of a repository that the workspace lies in: its settings are guarded.
fn is_own(view: &View<'_>, store: &Path) -> bool {
    let Some(root) = view.inv.workspace else { return false };
    root.ancestors().any(|top| {
        let own = top.join(".git");
        store == own || store.starts_with(own.join("modules"))
    })
}

fn has_hooks(view: &View<'_>, common: &Path) -> bool {
    let reads = view.path.first().is_some_and(|sub| READS.contains(sub));
    let Some(names) = view.inv.files.list(&common.join("hooks"), MANY) else { return false };
    names.iter().filter_map(|name| name.to_str()).any(|name| match reads {
        true => ALWAYS.contains(&name),
        false => !name.ends_with(".sample"),
    })
}

/// Whether a file of settings sets one that is a program.
fn sets_program(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    text.lines().any(|line| {
        // A subsection's name may hold `=`, so every one of them may be the one that counts.
        let sets = line.match_indices('=').any(|(at, _)| {
            let (key, value) = (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default());
            let key = key.trim_end();
            let key = key.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default();
            KEYS.contains(&key) && !PLAIN.contains(&value.trim().trim_matches('"'))
        });
        sets || SECTIONS.iter().any(|section| line.contains(section))
    })
}

#[cfg(test)]
mod tests {
    use super::sets_program;

    #[test]
    fn settings_that_are_programs_are_found_however_they_are_written() {
        for text in [
            "[core]\n\tfsmonitor = ./x",
            "[core]fsmonitor=./x",
            "[CORE]\r\n FsMonitor = ./x\r\n",
            "[a][core] fsmonitor = x",
            "[diff \"a=b\"] command = x",
            "[filter \"x\"]\n\tclean = x",
            "[include]\n\tpath = x",
            "[includeIf \"gitdir:x\"]path=x",
            "[alias]\n\tst = !x",
            "[pager]\n\tlog = x",
            "[core]\n\tworktree = /home",
            "\u{feff}[core]\n\thooksPath = x",
        ] {
            assert!(sets_program(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
            "[remote \"origin\"]\n\turl = https://example.org/a?b=c\n\tfetch = +refs/heads/*:refs/remotes/origin/*",
            "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[core]\n\tfsmonitor = true",
        ] {
            assert!(!sets_program(text.as_bytes()), "{text}");
        }
    }
}
