//! Editors: they change files, and most can be told to run commands.

use crate::effect::NamedBy;
use crate::program::{Code, View};
use crate::script;
use crate::word::Word;

/// `+cmd`, `-c cmd` and `--cmd cmd` are Ex commands.
pub(crate) fn vim(view: &mut View<'_>) {
    for name in ["+", "-c", "--cmd"] {
        for (at, command) in view.values(name) {
            match command.exact() {
                Some(text) => {
                    let findings = script::ex(text);
                    view.findings(findings, &NamedBy::Flag(name.to_owned()), at);
                }
                None => view.named(Code::DynamicOption, NamedBy::Nothing, at),
            }
        }
    }
    // `-s` reads commands as if typed; `ex -s` reads them from standard input.
    if view.has("-s") || view.name == "ex" {
        view.named_by_flag(Code::UnclearScript, "-s", 0);
    }
}

/// Commands come on standard input; `!` runs, and an operand that begins with `!` is a command.
pub(crate) fn ed(view: &mut View<'_>) {
    view.named(Code::UnclearScript, NamedBy::Program, 0);
    if let Some(command) = view.operand(0).and_then(Word::exact).and_then(|w| w.strip_prefix(b"!")) {
        let at = view.operand_at(0).unwrap_or_default();
        view.starts_shell(Word::Exact(command.into()), at);
    }
}
