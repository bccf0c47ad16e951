//! Codes of what a command may do that Sayso cannot see. Those that also are reasons of a decision stand there.

use super::code;
use sayso_policy::CodeInfo;

pub(super) const CODES: &[CodeInfo] = &[
    code(
        "dynamic-text",
        "The command makes a shell run text that is only known when it runs.",
        "Write the command out, or put it in a script file that can be read.",
    ),
    code(
        "dynamic-program",
        "Which program runs is only known when the command runs.",
        "Write the program's name instead of a variable or substitution.",
    ),
    code(
        "dialect",
        "bash, zsh and other shells read this differently, or only a shell that Sayso does not follow understands it.",
        "Write it so that every shell reads it the same, or name the shell with `--shell`.",
    ),
    code(
        "other-grammar",
        "From here on the shell reads commands by different rules, such as after `set -k` or `emulate`.",
        "Leave the option out.",
    ),
    code("alias", "An alias may change what this name runs.", "Use the program's name with a backslash: `\\ls`."),
    code(
        "redirect",
        "A redirect leads to a file that is only known when the command runs.",
        "Write the file's name out.",
    ),
    code(
        "unknown-script",
        "The script's contents are not known, or it is not a shell script.",
        "Show the agent's script to Sayso as a file, or allow the interpreter by a rule that names the script.",
    ),
    code(
        "loads-code",
        "The shell loads code from elsewhere, such as a plugin or a built-in from a library.",
        "Leave it out, or allow the program by name.",
    ),
    code(
        "written-program",
        "The program may be written by this same command, so what runs is not known yet.",
        "Write the program first and run it in a second call.",
    ),
    code(
        "written-script",
        "The script may be written by this same command, so what runs is not known yet.",
        "Write the script first and run it in a second call.",
    ),
    code("unreadable-script", "The script cannot be read.", "Check the file's permissions."),
    code("missing-script", "The script does not exist.", "Check its path and the working directory."),
    code("script-loop", "The script runs itself.", "Run its steps directly."),
    code(
        "script-elsewhere",
        "The script is on another machine or in a container, where Sayso cannot read it.",
        "Allow the program that reaches it (`ssh`, `docker exec`) with a pattern that names the machine.",
    ),
    code("trap", "A trap changes more than Sayso follows.", "Leave the trap out."),
    code(
        "too-much-work",
        "The command is too large to be analysed in the time one call gets.",
        "Split it into several calls.",
    ),
    code("too-deep", "The command is nested more deeply than Sayso follows.", "Split it into several calls."),
    code(
        "expands-again",
        "The shell expands a value a second time here, and that may run commands.",
        "Use the value directly, without indirection.",
    ),
    code(
        "evaluates-again",
        "Arithmetic evaluates a value here, and an array index in it may run commands.",
        "Use a plain number.",
    ),
    code(
        "arithmetic-on-unknown",
        "Arithmetic uses a value that is only known when the command runs, and it may run commands.",
        "Use a plain number.",
    ),
    code("syntax", "This is not a valid shell command.", "Check quotes and brackets."),
    code("odd-name", "No variable or function can have this name.", "Check the spelling."),
    code("not-understood", "Sayso does not follow this construct.", "Write it more plainly."),
];
