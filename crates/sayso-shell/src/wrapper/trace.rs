//! Debuggers, tracers and profilers: they start the program they look at.

use super::{Launch, interactive, launch, transparent};
use crate::effect::NamedBy;
use crate::option::{Style, options};
use crate::program::{Code, Spec, View};
use crate::script::{self, Finding};
use crate::word::Word;

const LEADING: Style = Style::GNU.and(Style::LEADING);

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["strace", "ltrace"])
        .style(LEADING)
        .options(&[options!("
            -a --columns N, -A --output-append-mode, -b --detach-on E, -c --summary-only, -C --summary, -d --debug, -D --daemonize, -e --trace EXPR, -E --env V
            -f --follow-forks, -ff --output-separately, -F, -h, -i --instruction-pointer, -I --interruptible N, -k --stack-traces, -n --syscall-number, -O --summary-syscall-overhead N, -P --trace-path P, -q --quiet [L]
            -qq, -r --relative-timestamps, -s --string-limit N, -S --summary-sort-by C, -t, -tt, -ttt, --absolute-timestamps [F], -T --syscall-times, -u --user USER, -U --summary-columns COLS, -v --no-abbrev, -V
            -w --summary-wall-clock, -x, -xx, --strings-in-hex [W], -X --const-print-style FORMAT, -y --decode-fds [L], -yy, -Y --decode-pids [L], -z --successful-only, -Z --failed-only, --seccomp-bpf
            --tips [F], --kill-on-exit, --signal S, --status S, --abbrev S, --verbose S, --raw S, --read S, --write S, --kvm M
            --inject S, --fault S, -l L, -L, -N
            -o --output FILE : writes
            -p --attach PID : signals
        ")])
        .judge(strace),
    Spec::new(&["valgrind"])
        .style(Style::EXACT.and(Style::LEADING))
        .options(&[options!("
            --tool [T], --leak-check [V], --show-leak-kinds [V], --track-origins [V], --error-exitcode [N], -q --quiet, -v --verbose, -h, --trace-children [V]
            --num-callers [N], --errors-for-leak-kinds [V], --show-reachable [V], --undef-value-errors [V], --gen-suppressions [V], --track-fds [V]
            --xml [V], --read-var-info [V], --child-silent-after-fork [V], --fair-sched [V], --exit-on-first-error [V], --branch-sim [V], --cache-sim [V]
            --dump-instr [V], --collect-jumps [V], --stacks [V], --time-unit [V], --freelist-vol [N], --malloc-fill [V], --free-fill [V], --vgdb [V]
            --suppressions [FILE] : reads
            --log-file [FILE], --xml-file [FILE], --callgrind-out-file [FILE], --cachegrind-out-file [FILE], --massif-out-file [FILE], --dhat-out-file [FILE] : writes
            --log-socket [HOST] : connects
        ")])
        .judge(transparent::<0>),
    Spec::new(&["gdb", "lldb", "cgdb", "rust-gdb", "rust-lldb"])
        .style(Style::WORDS)
        .options(&[options!("
            -batch, -batch-silent, -q -quiet -silent, -nx -n, -nh, -nw, -h, -v, -tty T, -b N, -l N, -ex -eval-command CMD, -iex -init-eval-command CMD
            --args -args, -return-child-result, -readnow, -readnever, -write, -interpreter I, -i I, -tui, -ui I, -o -one-line CMD, -O CMD, -k CMD
            -x -command FILE, -ix -init-command FILE, -s -source FILE : reads
            -c -core FILE, -symbols FILE, -e -exec FILE, -se FILE, -d -directory DIR : reads
            -cd DIR, -f -file FILE
            -p -pid PID : signals
        ")])
        .judge(debugger),
    Spec::new(&["perf"]).style(LEADING).options(&[options!("-v --version, -h --help, --no-pager, --buildid-dir DIR, --debugfs-dir DIR")]).subs(&[
        Spec::new(&["stat"])
            .style(LEADING)
            .options(&[options!("
                -e --event E, -a --all-cpus, -C --cpu L, -d --detailed, -r --repeat N, -x --field-separator S, -v, -B --big-num, -A --no-aggr, -I --interval-print N
                --per-core, --per-socket, --per-thread, -M --metrics M, --timeout N, -D --delay N, -n --null, -S --sync, --topdown, -j --json-output
                -p --pid PID, -t --tid TID : signals
                -o --output FILE, --append : writes
                --pre CMD, --post CMD : shell
            ")])
            .judge(transparent::<0>),
        Spec::new(&["record"])
            .style(LEADING)
            .options(&[options!("
                -e --event E, -a --all-cpus, -C --cpu L, -F --freq N, -c --count N, -g, --call-graph M, -q --quiet, -v, -s --stat, -d --data, -T --timestamp, -n --no-samples
                -z --compression-level [N], -D --delay N, -m --mmap-pages N, -b --branch-any, -j --branch-filter F, --user-callchains, --kernel-callchains
                -p --pid PID, -t --tid TID : signals
                -o --output FILE : makes
            ")])
            .judge(perf_record),
        Spec::new(&["report", "annotate", "script", "list", "diff", "buildid-list", "evlist"]).style(Style::GNU).options(&[options!("
            -i --input FILE : reads
            --stdio, -n --show-nr-samples, -s --sort K, -g --call-graph [M], -F --fields F, --no-children, --children, --percent-limit N, -v, -q, -U, -G, -M S, -f
        ")]),
    ]),
    Spec::new(&["heaptrack", "samply", "uftrace", "rr"]).style(LEADING).options(&[options!("-o --output FILE : writes
        -d --debug, -r --raw, -q, -h")]).judge(profiler),
];

fn strace(view: &mut View<'_>) {
    for (at, value) in view.values("--output") {
        // `-o '|cmd'` and `-o '!cmd'` pipe into a command.
        if let Some(command) = value.exact().and_then(|v| v.strip_prefix(b"|").or_else(|| v.strip_prefix(b"!"))) {
            view.starts_shell(Word::Exact(command.into()), at);
        }
    }
    for (_, value) in view.values("--env") {
        if let Some(name) = value.exact_str().and_then(|v| v.split('=').next())
            && crate::program::changes_what_runs(name)
        {
            view.named(Code::Environment, NamedBy::Env(name.to_owned()), 0);
        }
    }
    transparent::<0>(view);
}

fn perf_record(view: &mut View<'_>) {
    if !view.has("--output") {
        view.touches(crate::Verb::Write, "perf.data", false);
    }
    transparent::<0>(view);
}

/// They leave a file of their own name in the working directory.
fn profiler(view: &mut View<'_>) {
    view.touches(crate::Verb::Write, ".", true);
    let skip = usize::from(matches!(view.operand_str(0), Some("record" | "run" | "replay" | "report")));
    if let Some(at) = view.operand_at(skip) {
        launch(view, at, Launch::default());
    }
}

/// Every command is read. Without `-batch` a person, or standard input, gives more.
fn debugger(view: &mut View<'_>) {
    let mut runs = false;
    for name in ["-ex", "-iex", "-o", "-O", "-k"] {
        for (at, command) in view.values(name) {
            let Some(text) = script::text_of(&command) else {
                view.code("gdb", Code::InlineCode, NamedBy::Flag(name.to_owned()), at);
                continue;
            };
            for finding in script::gdb(&text) {
                match finding {
                    Finding::Shell(text) => view.starts_shell(text, at),
                    Finding::Load(file) => {
                        view.reads(&file, at);
                        view.code("gdb", Code::RunsCode, NamedBy::Flag(name.to_owned()), at);
                    }
                    _ => {
                        runs = true;
                        view.code("gdb", Code::InlineCode, NamedBy::Flag(name.to_owned()), at);
                    }
                }
            }
        }
    }
    for name in ["-x", "-ix", "-s"] {
        for (at, _) in view.values(name) {
            view.code("gdb", Code::RunsCode, NamedBy::Flag(name.to_owned()), at);
        }
    }
    let args = view.has("--args");
    if let (Some(at), Some(program)) = (view.operand_at(0), view.operand(0)) {
        view.reads(program, at);
        if args && (runs || !view.has("-batch")) {
            launch(view, at, Launch::default());
        }
    }
    if !view.has_any(&["-batch", "-batch-silent", "--help", "--version", "-h", "-v"]) {
        interactive(view, "gdb", 0);
    }
}
