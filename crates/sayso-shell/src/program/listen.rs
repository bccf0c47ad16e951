//! Programs that take commands from whoever types into them.

use crate::effect::{Run, Stdin};

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

/// Whether a program would take commands from whoever types into its terminal.
#[must_use]
pub fn listens_to_terminal(run: &Run) -> bool {
    is_listener(run) || opens_editor(run)
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
