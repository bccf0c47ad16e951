//! Editors: they change files, and most can be told to run commands.

use crate::effect::NamedBy;
use crate::option::{Style, options};
use crate::program::{Act, Code, Operands, Spec, View};
use crate::script;
use crate::word::Word;

pub(crate) const SPECS: &[Spec] = &[
    Spec::new(&["vim", "vi", "nvim", "view", "ex", "rvim", "gvim", "nvi", "elvis", "vile"])
        .style(Style::EXACT)
        .options(&[options!("
            -v, -e, -E, -s [FILE], -d, -y, -R, -Z, -m, -M, -b, -l, -C, -N, -V [N], -D, -n, -r [FILE], -L, -A, -H, -T TERM, -o [N], -O [N], -p [N], --noplugin, --clean
            --not-a-term, --headless, --embed, --startuptime FILE, -h, --serverlist, --literal, -X, -f, -g, --nofork, -q FILE, -t TAG, -P P
            + CMD
            -c CMD
            --cmd CMD
            -u FILE, -U FILE, -S FILE, --remote-expr E, --remote-send K, -i FILE : runs-code
            -w FILE, -W FILE : writes
            --listen A, --servername N : serves
        ")])
        .operands(Operands::EDIT)
        .judge(vim),
    Spec::new(&[
        "nano", "pico", "micro", "kak", "hx", "helix", "joe", "jed", "mg", "ne", "gedit", "kate", "mousepad",
        "pluma", "xed", "leafpad",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .options(&[options!("-s --speller PROG : runs", "-e E : runs-code", "-c --config F : runs-code")])
        .operands(Operands::EDIT),
    Spec::new(&["emacs", "emacsclient", "xemacs"])
        .style(Style::HARMLESS.and(Style::RISKY))
        .options(&[options!("
            --eval --execute E, -eval E : inline
            -l --load FILE, -f --funcall F, --script FILE, --batch : runs-code
        ")])
        .operands(Operands::EDIT),
    Spec::new(&["ed", "red"]).options(&[options!("-G --traditional, -l --loose-exit-status, -p --prompt S, -r --restricted, -s --quiet --silent, -v --verbose, -E")])
        .operands(Operands::EDIT)
        .judge(ed),
    Spec::new(&[
        "code", "code-insiders", "codium", "cursor", "zed", "subl", "atom", "idea", "pycharm", "webstorm", "goland",
        "clion", "rustrover", "fleet", "windsurf", "xcode", "eclipse",
    ])
        .style(Style::EXACT.and(Style::HARMLESS))
        .options(&[options!("
            --install-extension E, --uninstall-extension E : installs
            --list-extensions, --version, -v, --status, -h, --help
        ")])
        .acts(&[Act::NamedUnless(Code::RunsCommand, &["--version", "-v", "--list-extensions", "--status", "--help", "-h"])])
        .operands(Operands::READ),
];

/// `+cmd`, `-c cmd` and `--cmd cmd` are Ex commands.
fn vim(view: &mut View<'_>) {
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
fn ed(view: &mut View<'_>) {
    view.named(Code::UnclearScript, NamedBy::Program, 0);
    if let Some(command) = view.operand(0).and_then(Word::exact).and_then(|w| w.strip_prefix(b"!")) {
        let at = view.operand_at(0).unwrap_or_default();
        view.starts_shell(Word::Exact(command.into()), at);
    }
}
