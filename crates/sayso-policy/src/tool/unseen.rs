//! Programs that take commands from whoever types into them.
//!
//! Codex keeps a command's terminal open, and what is typed into it later (`write_stdin`) is shown to no hook. There an
//! allow of `bash` or `psql` would be an allow of everything that these can be told to do.

use sayso_shell::{Analysis, Run, Stdin, Target};

/// Tools, as agents spell them, whose commands can be typed into unseen.
const TOOLS: &[&str] = &["exec_command"];

/// A program that reads commands from its terminal.
struct Listener {
    name: &'static str,
    /// With one of these it does what it is told and no more.
    told_by: &'static [&'static str],
    /// With more words than this, too.
    words: usize,
}

const fn listener(name: &'static str, told_by: &'static [&'static str], words: usize) -> Listener {
    Listener { name, told_by, words }
}

const ALWAYS: usize = usize::MAX;

/// Those that the table of programs does not already show as running code of their own.
const LISTENERS: &[Listener] = &[
    // Editors and pagers start programs from a key.
    listener("vi", &["-es", "-s"], ALWAYS),
    listener("vim", &["-es", "-s"], ALWAYS),
    listener("nvim", &["-es", "-s", "--headless"], ALWAYS),
    listener("view", &[], ALWAYS),
    listener("vimdiff", &[], ALWAYS),
    listener("ex", &[], ALWAYS),
    listener("ed", &[], ALWAYS),
    listener("red", &[], ALWAYS),
    listener("emacs", &["--batch", "-batch", "--script"], ALWAYS),
    listener("emacsclient", &[], ALWAYS),
    listener("nano", &[], ALWAYS),
    listener("pico", &[], ALWAYS),
    listener("joe", &[], ALWAYS),
    listener("micro", &[], ALWAYS),
    listener("hx", &[], ALWAYS),
    listener("helix", &[], ALWAYS),
    listener("kak", &[], ALWAYS),
    listener("mc", &[], ALWAYS),
    listener("ranger", &[], ALWAYS),
    listener("less", &[], ALWAYS),
    listener("more", &[], ALWAYS),
    listener("most", &[], ALWAYS),
    // Databases.
    listener("psql", &["-c", "--command", "-f", "--file", "-l", "--list", "--version", "--help"], ALWAYS),
    listener("mysql", &["-e", "--execute", "--version", "--help"], ALWAYS),
    listener("mariadb", &["-e", "--execute", "--version", "--help"], ALWAYS),
    listener("sqlite3", &["-version", "--version", "-help"], 1),
    listener("sqlite", &[], 1),
    listener("duckdb", &["-c", "-s", "-version"], 1),
    listener("redis-cli", &["--version", "--eval", "--stat", "--scan"], 0),
    listener("mongosh", &["--eval", "--version", "-f", "--file"], ALWAYS),
    listener("mongo", &["--eval", "--version"], ALWAYS),
    listener("cqlsh", &["-e", "--execute", "-f", "--file"], ALWAYS),
    listener("sqlplus", &[], ALWAYS),
    listener("clickhouse", &["-q", "--query"], ALWAYS),
    listener("clickhouse-client", &["-q", "--query"], ALWAYS),
    listener("influx", &["-execute"], ALWAYS),
    listener("snowsql", &["-q", "-f"], ALWAYS),
    // Other machines and other terminals.
    listener("ssh", &["-N", "-V"], 1),
    listener("mosh", &[], 1),
    listener("telnet", &[], ALWAYS),
    listener("rlogin", &[], ALWAYS),
    listener("ftp", &[], ALWAYS),
    listener("lftp", &["-c", "-f"], ALWAYS),
    listener("sftp", &["-b"], ALWAYS),
    listener("cu", &[], ALWAYS),
    listener("minicom", &[], ALWAYS),
    listener("picocom", &[], ALWAYS),
    listener("tmux", &[], 0),
    listener("screen", &["-ls", "-list"], ALWAYS),
    listener("byobu", &[], ALWAYS),
    listener("zellij", &[], ALWAYS),
    listener("script", &["-c", "--command"], ALWAYS),
    // Languages and debuggers.
    listener("gdb", &["-batch", "--batch", "--version"], ALWAYS),
    listener("lldb", &["-b", "--batch", "--version"], ALWAYS),
    listener("jshell", &[], ALWAYS),
    listener("deno", &["--version", "-V", "--help"], 0),
    listener("bun", &["--version", "-v", "--help"], 0),
    listener("pry", &["-e"], ALWAYS),
    listener("clojure", &["-M", "-X", "-T", "-e"], 0),
    listener("clj", &["-M", "-X", "-T", "-e"], ALWAYS),
    listener("swift", &["--version"], 0),
    listener("kotlin", &["-version", "-e"], 0),
    listener("scala", &["-version", "-e", "--version"], 0),
    listener("groovysh", &[], ALWAYS),
    listener("lua", &["-v", "-e"], 0),
    listener("expect", &["-c", "-f"], 0),
    listener("dc", &["-e", "--expression", "-f", "--file"], ALWAYS),
    listener("rlwrap", &[], ALWAYS),
    listener("pdb", &[], ALWAYS),
    // Shells of other families, and programs that start one.
    listener("fish", &["-c", "--command", "--version"], 0),
    listener("nu", &["-c", "--commands", "--version"], 0),
    listener("elvish", &["-c", "-version"], 0),
    listener("xonsh", &["-c", "--version"], 0),
    listener("login", &[], ALWAYS),
    listener("newgrp", &[], ALWAYS),
    listener("sg", &["-c"], 1),
    listener("visudo", &["-c"], ALWAYS),
    // Jobs and letters.
    listener("at", &["-l", "-d", "-r", "-c", "-f", "-V"], ALWAYS),
    listener("batch", &[], ALWAYS),
    listener("mail", &[], ALWAYS),
    listener("mailx", &[], ALWAYS),
    listener("mutt", &[], ALWAYS),
    listener("fdisk", &["-l"], ALWAYS),
    listener("gdisk", &["-l"], ALWAYS),
    listener("parted", &["-l", "-s", "--script"], ALWAYS),
];

/// Pagers read keys from the terminal even where their input comes through a pipe.
const READS_TERMINAL: &[&str] = &["less", "more", "most"];

/// Whether commands of this tool, as the agent spells it, can be typed into unseen.
pub(super) fn can_be_typed_into(spelled: &str) -> bool {
    TOOLS.iter().any(|tool| spelled.eq_ignore_ascii_case(tool))
}

/// Whether something in this command would take commands from whoever types into it.
pub(super) fn listens(analysis: &Analysis) -> bool {
    let by_code = analysis.effects.iter().any(|effect| match effect.target {
        // A shell without a script, whoever starts it (`bash`, `su`, `sudo -i`, `chroot d`).
        Target::Code { run, language: "sh" } => analysis
            .runs
            .get(usize::try_from(run.0).unwrap_or(usize::MAX))
            .is_none_or(|run| run.stdin == Stdin::Inherited),
        _ => false,
    });
    by_code || analysis.runs.iter().any(|run| is_listener(run) || opens_editor(run))
}

/// Git starts an editor for a message that it is not given, and for a list that is to be changed.
fn opens_editor(run: &Run) -> bool {
    const MESSAGE: &[&str] =
        &["--message", "--file", "--reuse-message", "--fixup", "--squash", "--no-edit", "--dry-run", "--help"];
    let has = |names: &[&str]| run.options.iter().any(|option| names.contains(&option.name.as_str()));
    run.program.base.as_deref() == Some("git")
        && match run.subcommand(0) {
            Some("commit") => !has(MESSAGE),
            Some("rebase") => has(&["--interactive", "--edit-todo"]),
            Some("add") => has(&["--edit"]),
            _ => false,
        }
}

fn is_listener(run: &Run) -> bool {
    let Some(base) = run.program.base.as_deref() else { return false };
    let Some(listener) = LISTENERS.iter().find(|listener| listener.name == base) else { return false };
    let told = run.options.iter().any(|option| listener.told_by.contains(&option.name.as_str()))
        || run.argv.iter().filter_map(|word| word.exact_str()).any(|word| listener.told_by.contains(&word));
    let terminal = run.stdin == Stdin::Inherited || READS_TERMINAL.contains(&base);
    let repl = run.words.first().and_then(|at| run.argv.get(usize::from(*at))?.exact_str()) == Some("repl");
    terminal && !told && (repl || run.words.len() <= listener.words)
}

#[cfg(test)]
mod tests {
    use crate::word::Operation;
    use sayso_shell::Carry;
    use serde_json::json;

    fn is_open(tool: &str, command: &str) -> bool {
        let operation = Operation::tool(tool, json!({"cmd": command}));
        operation.effects.iter().any(|e| matches!(e.carry, Carry::Named { code: "unseen-input", .. }))
    }

    #[test]
    fn what_takes_commands_from_its_terminal_is_open_where_nobody_sees_them() {
        for command in [
            "bash",
            "/bin/sh -i",
            "zsh -l",
            "sh -s",
            "env X=1 bash",
            "timeout 5 bash",
            "bash -c bash",
            "cd x && bash",
            "exec bash",
            "sudo -i",
            "su",
            "chroot /x",
            "busybox sh",
            "fish",
            "script",
            "tmux",
            "screen -S x",
            "psql mydb",
            "mysql -u root",
            "sqlite3 a.db",
            "redis-cli -h x",
            "ssh host",
            "telnet h",
            "sftp h",
            "vim x",
            "less x",
            "git log | less",
            "emacs -nw",
            "ed x",
            "gdb ./a",
            "dc",
            "at now",
            "deno repl",
            "bun repl",
            "git commit",
            "git rebase -i main",
            "true; psql",
        ] {
            assert!(is_open("exec_command", command), "{command}");
            assert!(!is_open("shell_command", command), "{command}");
        }
    }

    #[test]
    fn what_is_told_what_to_do_is_not_open() {
        for command in [
            "bash -c 'ls'",
            "bash x.sh < /dev/null",
            "echo ls | bash",
            "psql -c 'select 1'",
            "psql < x.sql",
            "mysql -e 'select 1'",
            "sqlite3 a.db 'select 1'",
            "redis-cli get x",
            "ssh host ls",
            "gdb -batch ./a",
            "emacs --batch -f x",
            "git commit -m x",
            "git commit --amend --no-edit",
            "git rebase main",
            "git log",
            "ls",
            "deno run x.ts",
            "cat x",
            "tmux ls",
        ] {
            assert!(!is_open("exec_command", command), "{command}");
        }
    }
}
