//! Commands into which somebody may type more.
//!
//! Codex keeps a command's terminal open, and what is typed into it later (`write_stdin`) is shown to no hook. There an
//! allow of `bash` or `psql` would be an allow of everything that these can be told to do.

use sayso_shell::program::listens_to_terminal;
use sayso_shell::{Analysis, SHELL_CODE, Stdin, Target};

/// Tools, as agents spell them, whose commands can be typed into unseen.
const TOOLS: &[&str] = &["exec_command"];

/// Whether commands of this tool, as the agent spells it, can be typed into unseen.
pub(super) fn can_be_typed_into(spelled: &str) -> bool {
    TOOLS.iter().any(|tool| spelled.eq_ignore_ascii_case(tool))
}

/// Whether something in this command would take commands from whoever types into it.
pub(super) fn listens(analysis: &Analysis) -> bool {
    let by_code = analysis.effects.iter().any(|effect| match effect.target {
        // A shell without a script, whoever starts it (`bash`, `su`, `sudo -i`, `chroot d`).
        Target::Code { run, language: SHELL_CODE } => analysis
            .runs
            .get(usize::try_from(run.0).unwrap_or(usize::MAX))
            .is_none_or(|run| run.stdin == Stdin::Inherited),
        _ => false,
    });
    by_code || analysis.runs.iter().any(listens_to_terminal)
}

#[cfg(test)]
mod tests {
    use crate::word::Operation;
    use sayso_shell::Carry;
    use serde_json::json;

    fn is_open(tool: &str, command: &str) -> bool {
        let operation = Operation::tool(tool, json!({"cmd": command}));
        operation.effects.iter().any(|e| matches!(e.carry, Carry::Named { code: sayso_shell::Code::UnseenInput, .. }))
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
