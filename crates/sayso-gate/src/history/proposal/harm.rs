//! Words by which a call says that it loses something, or acts where others see it. No rule is proposed from such calls,
//! and a rule that would let one pass is not proposed either.

use super::Ask;
use sayso_policy::{Operation, Request, Verdict};
use sayso_shell::{Carry, Code, NamedBy, RunId, Target, Verb};

/// What loses something that may exist nowhere else.
const LOSES: &[&str] = &[
    "delete",
    "destroy",
    "drop",
    "purge",
    "wipe",
    "erase",
    "truncate",
    "nuke",
    "remove",
    "rm",
    "rmi",
    "rb",
    "rmdir",
    "rimraf",
    "unlink",
    "shred",
    "prune",
    "kill",
    "killall",
    "pkill",
    "terminate",
    "uninstall",
    "unpublish",
    "revoke",
    "reset",
    "rollback",
    "downgrade",
    "down",
    "fresh",
    "teardown",
    "expunge",
    "evict",
    "drain",
    "flush",
    "flushall",
    "flushdb",
    "overwrite",
    "mkfs",
    "undo",
    "del",
    "cleanup",
    "decommission",
    "deprovision",
];

/// What others see, what stays, or what runs whatever it is given.
const ACTS: &[&str] = &[
    "deploy",
    "publish",
    "release",
    "push",
    "upload",
    "apply",
    "upgrade",
    "promote",
    "merge",
    "approve",
    "exec",
    "execute",
    "eval",
    "evaluate",
    "invoke",
    "ssh",
    "sudo",
    "login",
    "logout",
    "auth",
    "token",
    "tokens",
    "secret",
    "secrets",
    "password",
    "passwords",
    "credential",
    "credentials",
    "shell",
    "proxy",
    "tunnel",
    "forward",
    "transfer",
    "pay",
    "charge",
    "refund",
    "invite",
    "grant",
    "chmod",
    "chown",
    "scale",
    "force",
];

/// What a tool is called that runs what it is given.
const RUNS: &[&str] = &["code", "script", "command", "sql", "call", "terminal", "process"];

/// Those that a rule for many scripts or modules names as exceptions.
pub(super) const EXCEPTED: &str = "delete,deploy,destroy,drop,publish,purge,release,remove,reset,teardown,wipe";

/// Arguments of tools that hold code, or a command.
const FREE_ARGUMENTS: &[&str] = &[
    "sql",
    "command",
    "cmd",
    "cli_command",
    "code",
    "script",
    "function",
    "expression",
    "shell",
    "program",
    "statement",
];

/// What a database is told that changes it.
const CHANGES: &[&str] = &[
    "drop ",
    "delete from",
    "delete ",
    "truncate",
    "update ",
    "insert ",
    "alter ",
    "grant ",
    "create ",
    "replace into",
];

/// The parts of a name: `db:dropAll` is `db`, `drop`, `all`.
fn parts(word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut lower = false;
    for c in word.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && lower) {
            parts.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(last) = parts.last_mut()
        {
            last.push(c.to_ascii_lowercase());
        }
        lower = c.is_ascii_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn says(word: &str, words: &[&str]) -> bool {
    parts(word).iter().any(|part| words.contains(&part.as_str()))
}

/// Whether a name says that it loses something.
pub(super) fn loses(word: &str) -> bool {
    says(word, LOSES)
}

/// Whether a name says that it loses something, or acts where others see it.
pub(super) fn acts(word: &str) -> bool {
    says(word, LOSES) || says(word, ACTS)
}

/// Whether a call says that it loses something: the words of its commands, what its tool is called, what it tells a database.
pub(super) fn call_loses(ask: &Ask) -> bool {
    call_says(ask, &loses)
}

/// Whether a call says that it loses something or acts where others see it.
pub(super) fn call_acts(ask: &Ask) -> bool {
    call_says(ask, &acts) || named_only_freely(&ask.operation)
}

fn call_says(ask: &Ask, says: &dyn Fn(&str) -> bool) -> bool {
    let (operation, decision) = (&ask.operation, &ask.decision);
    let deletes = operation.effects.iter().enumerate().any(|(at, effect)| {
        let asked = decision.effects.iter().any(|it| it.effect == Some(at) && it.verdict != Verdict::Allow);
        effect.verb == Verb::Delete && asked
    });
    if deletes {
        return true;
    }
    if let Request::Tool { arguments, .. } = &ask.past.call.request
        && operation.analysis.is_none()
    {
        let free = arguments.as_object().is_some_and(|all| {
            all.iter().any(|(key, value)| {
                FREE_ARGUMENTS.contains(&key.to_ascii_lowercase().as_str()) && value.as_str().is_some_and(changes)
            })
        });
        let name = operation.tool.canonical.rsplit('/').next().unwrap_or_default();
        return free || (!operation.known && says(name));
    }
    let Some(analysis) = &operation.analysis else { return false };
    let mut numbers = (0_u32..).map(RunId);
    analysis.runs.iter().any(|run| {
        let Some(id) = numbers.next() else { return false };
        let is_asked = decision.effects.iter().filter(|it| it.verdict != Verdict::Allow).any(|it| {
            let effect = it.effect.and_then(|at| operation.effects.get(at));
            effect.is_some_and(|it| matches!(it.target, Target::Program(own) | Target::Option(own) if own == id))
        });
        // What decides what it does stands at the front; a name further on is what it is done to.
        let script = run.words.first().map(|at| usize::from(*at));
        is_asked
            && run.argv.iter().enumerate().filter_map(|(at, word)| Some((at, word.exact_str()?))).any(|(at, word)| {
                if word.contains(char::is_whitespace) {
                    return changes(word);
                }
                let names_what_runs = at == 0 || script == Some(at);
                let plain = !word.contains(['/', '.']);
                match word.starts_with('-') {
                    // `--release` is a way to build; `--force` is not.
                    true => loses(word) || word == "--force",
                    false => (names_what_runs || plain) && says(word),
                }
            })
    })
}

/// Whether a text for a database, or code, changes something.
fn changes(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    CHANGES.iter().any(|word| text.contains(word))
}

/// Whether what it does is decided by a text that no pattern could bound: SQL behind `-c`, a signal to a process.
fn named_only_freely(operation: &Operation) -> bool {
    let steers = |code: Code| {
        matches!(
            code,
            Code::ChangesService
                | Code::ChangesSystem
                | Code::Publishes
                | Code::Signals
                | Code::ShowsSecrets
                | Code::SecretVariable
                | Code::Remote
                | Code::OtherHost
        )
    };
    operation.effects.iter().any(|effect| match &effect.carry {
        Carry::Named { by, code } => {
            steers(*code) && !matches!(by, NamedBy::Words(_)) || matches!(code, Code::ShowsSecrets | Code::Publishes)
        }
        _ => false,
    })
}

/// Whether tools take code or a command as an argument: a yes to one would be a yes to all that it might be given.
pub(super) fn takes_anything(ask: &Ask) -> bool {
    let Request::Tool { arguments, .. } = &ask.past.call.request else { return false };
    let named = |key: &String| FREE_ARGUMENTS.contains(&key.to_ascii_lowercase().as_str());
    let name = ask.operation.tool.canonical.rsplit('/').next().unwrap_or_default();
    says(name, RUNS) || arguments.as_object().is_some_and(|all| all.keys().any(named))
}

/// Whether a path is the system's, or holds settings, so that writing there is decided each time.
pub(super) fn is_foreign(pattern: &str) -> bool {
    const SYSTEM: &[&str] = &[
        "/etc",
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/lib64",
        "/boot",
        "/var",
        "/opt",
        "/sys",
        "/proc",
        "/dev",
        "/root",
        "/run",
        "/srv",
        "/Library",
        "/System",
        "/Applications",
    ];
    SYSTEM.iter().any(|root| pattern.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        || pattern.split('/').any(|part| part.starts_with('.') && part.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_do_in_any_spelling() {
        for word in ["db:drop", "dropTables", "DROP_ALL", "delete-me", "s3_rm", "ns/wipe.py", "flushall", "DELETE"] {
            assert!(loses(word), "{word}");
        }
        for word in ["backdrop", "get_user", "deleted", "format", "resettle", "lint"] {
            assert!(!loses(word), "{word}");
        }
        assert!(acts("deploy:prod") && acts("spotlessApply") && !acts("redeployed"));
    }

    #[test]
    fn what_changes_a_database_is_seen_in_its_text() {
        assert!(changes("DROP TABLE users") && changes("update users set x = 1") && !changes("select updated from t"));
    }
}
