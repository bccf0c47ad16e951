//! Programs of which only the main things are known: what is harmless in all its forms, what always writes, what always
//! runs code. The rest of each is a doubt.

pub(crate) mod editor;
pub(crate) mod interpreter;
pub(crate) mod media;
pub(crate) mod package;
pub(crate) mod secret;
pub(crate) mod system;

use super::{Code, View};
use crate::effect::NamedBy;
use crate::word::Word;

/// Words that read wherever a program has verbs.
const READING: &[&str] = &[
    "list",
    "ls",
    "get",
    "describe",
    "show",
    "status",
    "info",
    "version",
    "versions",
    "whoami",
    "help",
    "log",
    "logs",
    "diff",
    "view",
    "inspect",
    "search",
    "history",
    "query",
    "check",
    "validate",
    "verify",
    "top",
    "events",
    "explain",
    "cat",
    "tree",
    "outdated",
    "doctor",
    "env",
    "config-get",
    "blame",
    "annotate",
    "summary",
    "heads",
    "branches",
    "tags",
    "bookmarks",
    "paths",
    "root",
    "id",
    "identify",
    "parents",
    "manifest",
    "files",
    "grep",
    "st",
    "stat",
    "plan",
    "preview",
    "--version",
    "-v",
    "about",
    "why",
    "deps",
    "lint",
    "template",
    "dry-run",
    "count",
    "print",
];

/// Words that change something wherever a program has verbs: what stands behind them is a name, even if it reads `list`.
const CHANGING: &[&str] = &[
    "add",
    "apply",
    "approve",
    "attach",
    "auth",
    "backout",
    "backup",
    "bind",
    "build",
    "bump",
    "cancel",
    "cherry",
    "clean",
    "clear",
    "clone",
    "commit",
    "ci",
    "config",
    "connect",
    "copy",
    "cp",
    "create",
    "delete",
    "del",
    "deploy",
    "destroy",
    "detach",
    "disable",
    "down",
    "download",
    "drain",
    "drop",
    "edit",
    "enable",
    "env-set",
    "eval",
    "exec",
    "export",
    "fetch",
    "force",
    "fork",
    "import",
    "init",
    "install",
    "invoke",
    "kill",
    "link",
    "lock",
    "login",
    "logout",
    "merge",
    "migrate",
    "mirror",
    "mkdir",
    "move",
    "mv",
    "new",
    "patch",
    "pause",
    "pin",
    "promote",
    "publish",
    "pull",
    "purge",
    "push",
    "put",
    "rebase",
    "reboot",
    "recover",
    "refresh",
    "register",
    "release",
    "remove",
    "rename",
    "repair",
    "replace",
    "reset",
    "resize",
    "restart",
    "restore",
    "resume",
    "revert",
    "rm",
    "rollback",
    "rollout",
    "rotate",
    "run",
    "save",
    "scale",
    "send",
    "serve",
    "set",
    "shell",
    "sign",
    "ssh",
    "start",
    "stop",
    "strip",
    "submit",
    "sync",
    "tag",
    "terminate",
    "transfer",
    "trigger",
    "tunnel",
    "undo",
    "uninstall",
    "unlink",
    "unlock",
    "unset",
    "up",
    "update",
    "upgrade",
    "upload",
    "use",
    "write",
];

/// For programs with verbs: the first word that is a verb decides. One that is not known to read needs a yes of its own.
pub(crate) fn by_verb(view: &mut View<'_>) {
    let mut leading = Vec::new();
    for at in view.operands().into_iter().take(4) {
        let Some(word) = view.word(at).and_then(Word::exact_str) else {
            view.named(Code::DynamicOption, NamedBy::Nothing, at);
            return;
        };
        let verb = word.split(['-', ':']).next().unwrap_or(word);
        leading.push(word.to_owned());
        if CHANGING.contains(&verb) {
            break;
        }
        if READING.contains(&word) || READING.contains(&verb) {
            return;
        }
    }
    let Some(last) = leading.last() else { return };
    let verb = last.split(['-', ':']).next().unwrap_or(last);
    if !CHANGING.contains(&verb) {
        leading.truncate(1);
    }
    view.named(Code::ChangesService, NamedBy::Words(leading), 0);
}
