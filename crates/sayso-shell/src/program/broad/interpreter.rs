//! Interpreters of other languages: a script, or code in the command.

use crate::effect::{Carry, NamedBy, Stdin, Verb};
use crate::option::{Style, options};
use crate::program::{Code, Spec, View};

pub(crate) const SPECS: &[Spec] = &[
    Spec::new(&["perl", "perl5"])
        .aliased()
        .style(Style::LEADING)
        .options(&[options!("
            -0 [N], -a, -C [N], -c, -f, -F P, -l [N], -n, -p, -S, -s, -T, -t, -u, -U, -v, -V [X], -w, -W, -x [D], -X, -h
            -D [X]
            -i [EXT] : changes-files
            -I DIR : runs-code
            -d [X] : runs-code
            -m M, -M M : runs-code
            -e CODE, -E CODE : inline
        ")])
        .judge(script),
    Spec::new(&["ruby", "jruby", "truffleruby", "irb"])
        .aliased()
        .style(Style::LEADING)
        .options(&[options!("
            -a, -c, -d --debug, -E --encoding E, -F P, -h, -i [EXT], -K K, -l, -n, -p, -s, -S, -v --verbose, -w, -W [L], -x [D], --copyright, --yjit, --jit, --enable F, --disable F
            -C DIR : cd
            -I DIR : runs-code
            -r LIB : runs-code
            -e CODE : inline
        ")])
        .judge(script),
    Spec::new(&["php", "php8", "php7", "hhvm"])
        .aliased()
        .style(Style::LEADING)
        .options(&[options!("
            -a, -d K=V, -n, -e, -h, -i, -m, -q, -s, -v, -w, --ini, --rf N, --rc N, --re N, --rz N, --ri N
            -l : reads
            -c PATH : runs-code
            -z FILE : runs-code
            -r CODE, -B CODE, -R CODE, -E CODE : inline
            -f FILE, -F FILE : runs-code
            -S ADDR : serves
            -t DIR
        ")])
        .judge(script),
    Spec::new(&["lua", "luajit", "lua5.1", "lua5.3", "lua5.4", "texlua", "fennel"])
        .style(Style::LEADING)
        .options(&[options!("-i, -v, -E, -W, -b, -j C, -O [L]", "-l MOD : runs-code", "-e CODE : inline")])
        .judge(script),
    Spec::new(&["Rscript", "R", "littler"])
        .style(Style::LEADING.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("-e CODE : inline", "-f FILE, --file FILE : runs-code", "--version, --help")])
        .judge(script),
    Spec::new(&["julia"])
        .style(Style::LEADING.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("-v, -h, -q, -t --threads N, --project [P], -p --procs N", "-e --eval CODE, -E --print CODE : inline", "-L --load FILE, -J --sysimage FILE : runs-code")])
        .judge(script),
    Spec::new(&[
        "elixir", "iex", "erl", "escript", "guile", "racket", "sbcl", "clisp", "ecl", "csi", "chicken", "scheme",
        "chez", "gosh", "janet", "tclsh", "wish", "osascript", "gnuplot", "octave", "matlab", "scilab", "maxima",
        "gp", "sage", "ghci", "runghc", "runhaskell", "ocaml", "utop", "swipl", "gprolog", "pike", "rexx", "newlisp",
        "bb", "babashka", "nbb", "hy", "wasmtime", "wasmer", "node-gyp", "mono", "qjs", "d8", "jsc", "txiki",
    ])
        .style(Style::LEADING.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("--version, -version, -v, --help, -h", "-e CODE, --eval CODE, --execute CODE, -c CODE, -Command CODE : inline")])
        .judge(script),
];

/// A script file, code in the command, or code on standard input.
fn script(view: &mut View<'_>) {
    let inline = view.seen.iter().any(|s| s.does == crate::option::Does::Inline);
    if inline {
        view.hands_on(0);
        // `perl -i -pe code file` edits the files.
        if view.has("-i") {
            edits(view, 0);
        }
        return;
    }
    let asks =
        view.has_any(&["--version", "-v", "-version", "--help", "-h", "-V", "-i", "-m"]) && view.operand_count() == 0;
    if asks {
        return;
    }
    match view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) {
        Some((at, file)) if file.exact() != Some(b"-") => {
            view.path_effect(Verb::Read, file, at, false, Carry::Plain);
            if view.has("-c") && matches!(view.name, "perl" | "ruby") || view.has("-l") && view.name == "php" {
                // A syntax check; but perl runs BEGIN blocks.
                if view.name != "perl" {
                    return;
                }
            }
            view.code(view.name, Code::RunsCode, NamedBy::Program, at);
            view.hands_on(1);
        }
        _ => {
            if view.inv.stdin != Stdin::Inherited {
                view.imply("-e", None, 0);
            }
            view.code(view.name, Code::InlineCode, NamedBy::Flag("-e".to_owned()), 0);
        }
    }
}

fn edits(view: &mut View<'_>, from: usize) {
    for at in view.operands().into_iter().skip(from) {
        if let Some(word) = view.word(at) {
            view.writes(word, at);
        }
    }
}
