//! Wrappers that change the user or what it may do: they need a yes of their own.

use super::environment::assignment;
use super::{Launch, interactive, joined, launch, opaque_wrapper};
use crate::Dialect;
use crate::option::{Style, options};
use crate::program::{Code, Spec, Start, View};
use crate::word::Word;

const LEADING: Style = Style::GNU.and(Style::LEADING);

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["sudo", "sudo-rs"])
        .style(LEADING)
        .options(&[options!("
            -A --askpass, -b --background, -B --bell, -C --close-from N, -E, --preserve-env [LIST], -g --group GROUP
            -H --set-home, -i --login, -K --remove-timestamp, -k --reset-timestamp, -l --list, -n --non-interactive
            -P --preserve-groups, -p --prompt PROMPT, -S --stdin, -s --shell, -V --version
            -T --command-timeout N, -U --other-user USER, -u --user USER, -v --validate, -N --no-update, -a --auth-type T, -c --login-class C
            -e --edit, -h --host HOST, -D --chdir DIR, -R --chroot DIR, -r --role ROLE, -t --type TYPE
        ")])
        .judge(sudo),
    Spec::new(&["sudoedit"])
        .style(LEADING)
        .options(&[options!("-A --askpass, -n --non-interactive, -u --user USER, -g --group GROUP, -k, -S --stdin, -p --prompt P")])
        .operands(crate::program::Operands::EDIT)
        .judge(edits),
    Spec::new(&["doas"])
        .style(LEADING)
        .options(&[options!("-L, -n, -s, -u USER, -a STYLE
            -C FILE : reads")])
        .judge(doas),
    Spec::new(&["su", "runuser"])
        .style(Style::GNU)
        .options(&[options!("
            -f --fast, -g --group GROUP, -G --supp-group GROUP, -l --login, -m -p --preserve-environment, -P --pty, -T --no-pty, -h, -V
            -w --whitelist-environment LIST, -u --user USER
            -c --command TEXT, --session-command TEXT : shell
            -s --shell SHELL : runs
        ")])
        .judge(su),
    // `sg group command` and `sg group -c text`; `newgrp group` alone starts a shell.
    Spec::new(&["sg", "newgrp"]).style(Style::RAW.and(Style::RISKY)).judge(other_group),
    Spec::new(&["gosu", "su-exec", "setuidgid", "s6-setuidgid"]).style(LEADING).judge(opaque_wrapper::<1>),
    Spec::new(&["pkexec"])
        .style(LEADING)
        .options(&[options!("--user USER, --disable-internal-agent, --keep-cwd")])
        .judge(opaque_wrapper::<0>),
    Spec::new(&["setpriv"])
        .style(LEADING)
        .options(&[options!("
            --ambient-caps CAPS, --apparmor-profile P, --bounding-set CAPS, --clear-groups, -d --dump, --groups G, --inh-caps CAPS, --init-groups
            --keep-groups, --list-caps, --no-new-privs --nnp, --rgid G, --egid G, --regid G, --ruid U, --euid U, --reuid U, --reset-env
            --securebits B, --selinux-label L, --pdeathsig S, --ptracer P, -h, -V
        ")])
        .judge(opaque_wrapper::<0>),
    Spec::new(&["capsh"])
        .style(Style::EXACT)
        .options(&[options!("--print, --decode [N], --supports [CAP], --has-p [CAP], --has-i [CAP], --has-a [CAP], --modes, --explain [CAP]")])
        .judge(capsh),
    Spec::new(&["chpst", "softlimit", "envuidgid"])
        .style(LEADING)
        .options(&[options!("
            -u USER, -U USER, -b ARGV0, -n N, -m N, -d N, -o N, -p N, -f N, -c N, -t N, -r N, -P, -0, -1, -2, -v, -V, -a N, -s N, -l N
            -e DIR : reads-below
            -/ DIR : changes-system
            -L FILE, -x FILE : writes
        ")])
        .judge(opaque_wrapper::<0>),
    Spec::new(&["fakeroot", "fakechroot", "pseudo"])
        .style(LEADING)
        .options(&[options!("-u --unknown-is-real, -b --fd-base N, -h, -v
            -l --lib LIB, --faked F : runs
            -i FILE : reads
            -s FILE : writes")])
        .judge(fakeroot),
];

fn sudo(view: &mut View<'_>) {
    if view.has("--edit") {
        edits(view);
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.reads(word, at);
                view.writes(word, at);
            }
        }
        return;
    }
    if view.has_any(&["--list", "--validate", "--version", "--help"]) {
        return;
    }
    let mut env = Vec::new();
    let mut n = 0;
    while let Some(assignment) = view.operand(n).and_then(assignment) {
        env.push(assignment);
        n += 1;
    }
    let elsewhere = view.has_any(&["--host", "--chroot"]);
    let cwd = view.value("--chdir").cloned();
    match view.operand_at(n) {
        Some(at) => {
            launch(view, at, Launch { env, cwd, elsewhere });
        }
        None if view.has_any(&["--login", "--shell"]) => interactive(view, "sh", 0),
        None => {}
    }
}

/// An editor of the user's choice is started on a copy.
fn edits(view: &mut View<'_>) {
    view.named_by_flag(Code::RunsCommand, "--edit", 0);
}

/// The group stands first, behind a dash for a login; the words behind it are text for a shell, behind `-c` or not.
fn other_group(view: &mut View<'_>) {
    let is = |at: usize, text: &str| view.word(at).and_then(Word::exact_str) == Some(text);
    let group = 1 + usize::from(is(1, "-") || is(1, "-l"));
    let at = group + 1 + usize::from(is(group + 1, "-c"));
    view.out.words = (1..view.inv.argv.len()).filter_map(|at| u16::try_from(at).ok()).collect();
    match joined(view, at) {
        Some(text) => {
            let (span, parameters) = (view.span(at), Vec::new());
            view.out.starts.push(Start::Shell { text, span, dialect: Dialect::Other, elsewhere: false, parameters });
        }
        None => interactive(view, "sh", 0),
    }
}

fn doas(view: &mut View<'_>) {
    match view.operand_at(0) {
        Some(at) => {
            launch(view, at, Launch::default());
        }
        None if view.has("-s") => interactive(view, "sh", 0),
        None => {}
    }
}

/// `su [-] [user [args]]`; with `runuser -u user`, a command stands behind.
fn su(view: &mut View<'_>) {
    if view.has_any(&["--command", "--session-command", "--help", "--version"]) {
        return;
    }
    match view.operand_at(0) {
        Some(at) if view.has("--user") => {
            launch(view, at, Launch::default());
        }
        _ => interactive(view, "sh", 0),
    }
}

/// `capsh --drop=.. -- -c 'text'`: what follows `--` is for a shell.
fn capsh(view: &mut View<'_>) {
    let Some(end) = view.terminator.or_else(|| view.inv.argv.iter().position(|word| word.exact() == Some(b"==")))
    else {
        return;
    };
    let mut argv = vec![Word::Exact("bash".into())];
    argv.extend_from_slice(view.inv.argv.get(end + 1..).unwrap_or_default());
    let spans = (end..view.inv.argv.len()).map(|at| view.span(at)).collect();
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
}

fn fakeroot(view: &mut View<'_>) {
    match view.operand_at(0) {
        Some(at) => {
            view.out.transparent = launch(view, at, Launch::default());
        }
        None if !view.has_any(&["--help", "--version", "-h", "-v"]) => interactive(view, "sh", 0),
        None => {}
    }
}

/// The words from operand `n` on, joined, as text for a shell somewhere.
pub(super) fn shell_behind(view: &mut View<'_>, n: usize, elsewhere: bool) -> bool {
    let Some(at) = view.operand_at(n) else { return false };
    let Some(text) = joined(view, at) else { return false };
    let span = view.span(at);
    view.out.starts.push(Start::Shell { text, span, dialect: Dialect::Other, elsewhere, parameters: Vec::new() });
    true
}
