//! Wrappers that only start what follows.

use super::{Launch, launch, transparent};
use crate::option::{Style, options};
use crate::program::{Code, Spec, View};
use crate::word::Word;

const LEADING: Style = Style::GNU.and(Style::LEADING);

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["nice", "gnice"])
        .style(LEADING)
        .options(&[options!("-n --adjustment N, -#, -a")])
        .judge(transparent::<0>),
    Spec::new(&["ionice"])
        .style(LEADING)
        .options(&[options!("-c --class CLASS, -n --classdata N, -t --ignore, -h, -V, -p --pid PID, -P --pgid PID, -u --uid UID")])
        .judge(unless_about_a_process::<0>),
    Spec::new(&["chrt"])
        .style(LEADING)
        .options(&[options!("
            -b --batch, -d --deadline, -e --ext, -f --fifo, -i --idle, -o --other, -r --rr, -R --reset-on-fork
            -T --sched-runtime N, -P --sched-period N, -D --sched-deadline N
            -a --all-tasks, -m --max, -v --verbose, -h, -V
            -p --pid : signals
        ")])
        .judge(unless_about_a_process::<1>),
    Spec::new(&["taskset"])
        .style(LEADING)
        .options(&[options!("-a --all-tasks, -c --cpu-list, -h, -V
            -p --pid : signals")])
        .judge(unless_about_a_process::<1>),
    Spec::new(&["nohup", "gnohup"]).style(LEADING).judge(transparent::<0>),
    Spec::new(&["timeout", "gtimeout"])
        .style(LEADING)
        .options(&[options!("
            -f --foreground, -k --kill-after DURATION, -p --preserve-status, -s --signal SIGNAL, -v --verbose
        ")])
        .judge(transparent::<1>),
    Spec::new(&["stdbuf", "gstdbuf"])
        .style(LEADING)
        .options(&[options!("-i --input MODE, -o --output MODE, -e --error MODE")])
        .judge(transparent::<0>),
    Spec::new(&["setsid"])
        .style(LEADING)
        .options(&[options!("-c --ctty, -f --fork, -w --wait, -h, -V")])
        .judge(transparent::<0>),
    Spec::new(&["time", "gtime"])
        .style(LEADING)
        .options(&[options!("
            -a --append, -f --format FORMAT, -p --portability, -q --quiet, -v --verbose, -V, -l, -h
            -o --output FILE : writes
        ")])
        .judge(transparent::<0>),
    Spec::new(&["command"])
        .style(LEADING)
        .options(&[options!("-p, -v, -V")])
        .judge(command),
    Spec::new(&["builtin"]).style(LEADING).judge(transparent::<0>),
    Spec::new(&["exec"])
        .style(LEADING)
        .options(&[options!("-c, -l, -a NAME")])
        .judge(transparent::<0>),
    Spec::new(&["unbuffer"]).style(LEADING).options(&[options!("-p")]).judge(transparent::<0>),
    Spec::new(&["chronic"]).style(LEADING).options(&[options!("-v, -e")]).judge(transparent::<0>),
    Spec::new(&["caffeinate"])
        .style(LEADING)
        .options(&[options!("-d, -i, -m, -s, -u, -t N, -w PID")])
        .judge(transparent::<0>),
    Spec::new(&["dbus-run-session"])
        .style(LEADING)
        .options(&[options!("--dbus-daemon PROGRAM : runs
            --config-file FILE : reads")])
        .judge(transparent::<0>),
    Spec::new(&["xvfb-run"])
        .style(LEADING)
        .options(&[options!("
            -a --auto-servernum, -h, -l --listen-tcp, -n --server-num N, -p --xauth-protocol NAME, -w --wait N
            -s --server-args ARGS
            -e --error-file FILE, -f --auth-file FILE : writes
        ")])
        .judge(transparent::<0>),
    Spec::new(&["cpulimit"])
        .style(LEADING)
        .options(&[options!("-l --limit N, -v --verbose, -z --lazy, -i --include-children, -h, -f --foreground
            -p --pid PID, -e --exe NAME, -P --path PATH, -m --monitor-forks : signals")])
        .judge(transparent::<0>),
    Spec::new(&["faketime"])
        .style(LEADING)
        .options(&[options!("-m, -f, -p PID, -h, -v, --exclude-monotonic")])
        .judge(transparent::<1>),
    Spec::new(&["tini"])
        .style(LEADING)
        .options(&[options!("-s, -v, -w, -g, -e N, -p SIGNAL, -l, -h")])
        .judge(transparent::<0>),
    Spec::new(&["dumb-init"])
        .style(LEADING)
        .options(&[options!("-c --single-child, -r --rewrite S, -v --verbose, -h, -V")])
        .judge(transparent::<0>),
    Spec::new(&["setarch", "linux32", "linux64", "i386", "x86_64"])
        .style(LEADING)
        .options(&[options!("
            -B --32bit, -F --fdpic-funcptrs, -I --short-inode, -L --addr-compat-layout, -R --addr-no-randomize
            -S --whole-seconds, -T --sticky-timeouts, -X --read-implies-exec, -Z --mmap-page-zero, -3 --3gb, --4gb
            --uname-2.6, -v --verbose, -h, -V, --list, --show [S]
        ")])
        .judge(setarch),
    Spec::new(&["prlimit"])
        .style(LEADING)
        .options(&[options!("
            -c --core [N], -d --data [N], -e --nice [N], -f --fsize [N], -i --sigpending [N], -l --memlock [N], -m --rss [N]
            -n --nofile [N], -q --msgqueue [N], -r --rtprio [N], -s --stack [N], -t --cpu [N], -u --nproc [N], -v --as [N]
            -x --locks [N], -y --rttime [N], --noheadings, -o --output LIST, --raw, --verbose, -h, -V
            -p --pid PID : signals
        ")])
        .judge(transparent::<0>),
    Spec::new(&["rlwrap"])
        .style(LEADING)
        .options(&[options!("
            -a --always-readline, -A --ansi-colour-aware, -b --break-chars C, -c --complete-filenames, -C --command-name N, -D --history-no-dupes N
            -e --extra-char-after-completion C, -i --case-insensitive, -I --pass-sigint-as-sigterm, -m --multi-line, -M --multi-line-ext EXT
            -n --no-warnings, -N --no-children, -o --one-shot, -O --only-cook REGEX, -p --prompt-colour [C], -P --pre-given TEXT
            -q --quote-characters C, -r --remember, -R --renice, -s --histsize N, -S --substitute-prompt P, -t --set-term-name N, -v, -w --wait-before-prompt N
            -W --polling, -h, -V, -X --skip-setctty
            -f --file FILE : reads
            -H --history-filename FILE, -l --logfile FILE : writes
            -z --filter COMMAND : runs
        ")])
        .judge(transparent::<0>),
    // With no words behind it prints what machine this is.
    Spec::new(&["arch"])
        .style(Style::EXACT.and(Style::LEADING))
        .options(&[options!("-x86_64, -x86_64h, -arm64, -arm64e, -i386, -32, -64, -c, -h, -arch NAME, -d NAME, -e ASSIGNMENT, --help, --version")])
        .judge(transparent::<0>),
    Spec::new(&["choom"])
        .style(LEADING)
        .options(&[options!("-n --adjust N, -h, -V
            -p --pid PID : signals")])
        .judge(transparent::<0>),
    Spec::new(&["uclampset"])
        .style(LEADING)
        .options(&[options!("-m N, -M N, -a --all-tasks, -R --reset-on-fork, -v --verbose, -h, -V
            -s --system : changes-system
            -p --pid PID : signals")])
        .judge(transparent::<0>),
    Spec::new(&["numactl"])
        .style(LEADING)
        .options(&[options!("
            -a --all, -b --balancing, -i --interleave N, -w --weighted-interleave N, -p --preferred N, -P --preferred-many N, -m --membind N, -N --cpunodebind N
            -C --physcpubind N, -l --localalloc, -s --show, -H --hardware
            -S --shm FILE, -f --file FILE : writes
        ")])
        .judge(transparent::<0>),
    Spec::new(&["ifne"]).style(LEADING).options(&[options!("-n")]).judge(transparent::<0>),
    Spec::new(&["cgexec"])
        .style(LEADING)
        .options(&[options!("-g GROUPS, --sticky, -h, -b")])
        .judge(super::opaque_wrapper::<0>),
    Spec::new(&["runcon"])
        .style(LEADING)
        .options(&[options!("-c --compute, -t --type T, -u --user U, -r --role R, -l --range R")])
        .judge(runcon),
    Spec::new(&["eatmydata", "nocache", "catchsegv", "catatonit", "run-one", "uname26", "ppc", "ppc64", "s390x", "aarch64"])
        .style(LEADING)
        .judge(transparent::<0>),
    // The loader starts what it is given, with libraries of the caller's choice.
    Spec::new(&[
        "ld.so", "ld.so.1", "ld-linux.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-linux-armhf.so.3", "ld-linux.so.3",
        "ld-linux-riscv64-lp64d.so.1", "ld64.so.1", "ld64.so.2", "ld-musl-x86_64.so.1", "ld-musl-aarch64.so.1", "ld-musl-armhf.so.1", "ld-musl-i386.so.1",
    ])
        .style(LEADING.and(Style::EXACT))
        .options(&[options!("
            --list, --verify, --inhibit-cache, --inhibit-rpath L, --argv0 NAME, --glibc-hwcaps-prepend L, --glibc-hwcaps-mask L, --list-tunables, --list-diagnostics
            --library-path PATH, --preload L, --audit L : runs-code
        ")])
        .judge(super::opaque_wrapper::<0>),
    // What follows goes through another host, or gets a password: a yes of its own.
    Spec::new(&["sshpass"])
        .style(LEADING)
        .options(&[options!("-d N, -p PASSWORD, -e [NAME], -P PROMPT, -v, -h, -V
            -f FILE : reads")])
        .judge(super::opaque_wrapper::<0>),
    Spec::new(&["proxychains", "proxychains4", "torsocks", "torify", "tsocks"])
        .style(LEADING)
        .options(&[options!("-q, -a ADDR, -P PORT, -i, -p N, -u USER, -f FILE")])
        .judge(super::opaque_wrapper::<0>),
    // Rust and C programs that time or repeat another.
    Spec::new(&["hyperfine"])
        .style(Style::EXACT)
        .options(&[options!("
            -w --warmup N, -m --min-runs N, -M --max-runs N, -r --runs N, -n --command-name NAME, -i --ignore-failure, -N
            --style TYPE, --time-unit UNIT, -u UNIT, --sort METHOD, -P --parameter-scan V, -D --parameter-step-size N
            -L --parameter-list V, --show-output, --output WHERE
            -s --setup CMD, -p --prepare CMD, -c --cleanup CMD, --conclude CMD, --reference CMD : shell
            -S --shell SHELL : runs
            --input FILE : reads
            --export-csv FILE, --export-json FILE, --export-markdown FILE, --export-asciidoc FILE, --export-orgmode FILE : writes
        ")])
        .judge(each_operand_is_shell_text),
    Spec::new(&["concurrently"])
        .style(Style::EXACT)
        .options(&[options!("
            -m --max-processes N, -n --names NAMES, -s --success S, -r --raw, --no-color, --hide H, -g --group, -k --kill-others
            --kill-others-on-fail, -p --prefix P, -c --prefix-colors C, -l --prefix-length N, -t --timestamp-format F
            -i --handle-input, --restart-tries N, --restart-after N, --timings
            -P --passthrough-arguments : runs-command
        ")])
        .judge(each_operand_is_shell_text),
];

/// `command -v git` asks what a name means and starts nothing.
fn command(view: &mut View<'_>) {
    if !view.has_any(&["-v", "-V"]) {
        transparent::<0>(view);
    }
}

/// With `-p` these change a process that runs already.
fn unless_about_a_process<const N: usize>(view: &mut View<'_>) {
    if view.has_any(&["--pid", "--pgid", "--uid"]) {
        view.named_by_flag(Code::Signals, "--pid", 0);
    } else {
        transparent::<N>(view);
    }
}

/// `setarch` itself takes an architecture first, which is optional where an option stands before.
fn setarch(view: &mut View<'_>) {
    let named = view.inv.name == "setarch"
        && view.operand_str(0).is_some_and(|arch| {
            [
                "i386", "i486", "i586", "i686", "x86_64", "linux32", "linux64", "uname26", "aarch64", "arm64", "ppc",
                "s390",
            ]
            .iter()
            .any(|known| arch.starts_with(known))
        });
    if let Some(at) = view.operand_at(usize::from(named)) {
        view.out.transparent = launch(view, at, Launch::default());
    }
}

/// `runcon CONTEXT command`, or its parts as options.
fn runcon(view: &mut View<'_>) {
    if view.has_any(&["--compute", "--type", "--user", "--role", "--range"]) {
        super::opaque_wrapper::<0>(view);
    } else {
        super::opaque_wrapper::<1>(view);
    }
}

fn each_operand_is_shell_text(view: &mut View<'_>) {
    for at in view.operands() {
        let text = view.word(at).cloned().unwrap_or(Word::Opaque);
        view.starts_shell(text, at);
    }
    view.out.transparent = true;
}
