//! What a hold costs, as ratios in one run: `cargo bench -p sayso-hold`.
//!
//! Times differ from machine to machine; what a held run costs beside the same run without a hold does less.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a benchmark that cannot run says so")]

use rustix::fs::{Mode, OFlags};
use sayso_hold::session::{self, Session};
use sayso_hold::{Launch, Level, Stage};
use sayso_shell::bounds::{Bounds, Leave};
use std::ffi::OsString;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HOLD: &str = env!("CARGO_BIN_EXE_sayso-hold");

fn main() {
    let room = tempfile::tempdir().unwrap();
    let room = room.path().canonicalize().unwrap();
    let ws = room.join("ws");
    fs::create_dir(&ws).unwrap();
    let bounds = Bounds { write: vec![ws.clone()], ..Bounds::default() };
    if let Err(error) = sayso_hold::run(&bounds, &launch(&["true".into()], &ws)) {
        println!("not run: this machine cannot hold a run: {error}");
        return;
    }
    spawning(&room, &bounds);
    jobs(&room, &ws, &bounds);
}

/// Starting a program that does nothing.
fn spawning(room: &Path, bounds: &Bounds) {
    let nothing = do_nothing(room);
    let ws = room.join("ws");
    let words = [nothing.clone().into_os_string()];
    let plain = || {
        Command::new(&nothing).current_dir(&ws).stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    };
    let at = |level: Level, bounds: &Bounds| {
        let _ = sayso_hold::run_at(level, bounds, &launch(&words, &ws)).unwrap();
    };
    let whole = || at(Level::Whole, bounds);
    let files = || at(Level::Files, bounds);
    let protected = Bounds { read_only: protected(&ws, 20), ..bounds.clone() };
    let with_files = || at(Level::Whole, &protected);
    let command = || {
        let mut command = Command::new(HOLD);
        command.arg("--write").arg(&ws).arg("--").arg(&nothing);
        command.current_dir(&ws).stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    };
    let program = PathBuf::from(HOLD);
    let supervisor = Stage { program, arguments: vec!["hold-supervisor".into()] };
    let session = Session { socket: room.join("run/session"), supervisor, idle: 60 };
    let in_session = Bounds { leave: Leave::Session, ..bounds.clone() };
    let joining = || {
        let _ = session::run_in(&session, &in_session, &launch(&words, &ws)).unwrap();
    };
    println!("spawning a program that does nothing, against plain (median)");
    let measured = medians(100, &[&plain, &files, &whole, &with_files, &joining, &command]);
    session::end(&session.socket);
    let [base, rest @ ..] = measured.as_slice() else { return };
    println!("  plain                                {:>6.0} µs", micros(*base));
    // On a busy machine, waiting for a turn hides the work.
    let works: [&dyn Fn(); 6] = [&plain, &files, &whole, &with_files, &plain, &command];
    let busy = works.map(|work| processor_time(&|| (0..100).for_each(|_| work())));
    let [plain_busy, busy @ ..] = busy;
    let names = [
        "held files",
        "held whole, a new hold",
        "held whole, 20 files protected",
        "joining the session's hold",
        "held whole, by a command of its own",
    ];
    for ((name, time), busy) in names.iter().zip(rest).zip(busy) {
        let ratio = busy.as_secs_f64() / plain_busy.as_secs_f64();
        // Parts of these two are not children of this process.
        let uncounted = name.starts_with("joining") || name.ends_with("of its own");
        let busy = if uncounted { String::new() } else { format!("{ratio:>6.2} x processor time") };
        println!("  {name:<36} {:>6.2} x  {busy}", time.as_secs_f64() / base.as_secs_f64());
    }
}

/// Processor time of jobs.
fn jobs(room: &Path, ws: &Path, bounds: &Bounds) {
    project(ws);
    let tar = room.join("project.tar");
    sh(ws, &format!("tar cf {} --exclude=.git .", tar.display()));
    let jobs = [
        ("compile 8 files", "for i in $(seq 8); do cc -O1 -c one.c -o one.o || exit 1; done".to_owned()),
        ("untar", format!("rm -rf out && mkdir out && tar xf {} -C out", tar.display())),
        ("git status", "for i in $(seq 5); do git status --porcelain >/dev/null || exit 1; done".to_owned()),
        ("grep -r", "for i in $(seq 3); do grep -r nowhere . >/dev/null; done; true".to_owned()),
    ];
    println!("processor time of jobs, held whole against plain (median of 5)");
    for (name, script) in jobs {
        let words: [OsString; 3] = ["sh".into(), "-c".into(), script.clone().into()];
        let plain = || {
            let mut command = Command::new("sh");
            command.arg("-c").arg(&script).current_dir(ws).stdin(Stdio::null()).stdout(Stdio::null());
            assert!(command.stderr(Stdio::null()).status().unwrap().success(), "{name}");
        };
        let held = || {
            let ended = sayso_hold::run_at(Level::Whole, bounds, &launch(&words, ws)).unwrap();
            assert_eq!(ended.status.exit_code(), 0, "{name}");
        };
        let mut ratios = [Vec::new(), Vec::new()];
        for _ in 0..5 {
            ratios[0].push(processor_time(&plain));
            ratios[1].push(processor_time(&held));
        }
        let [plain, held] = ratios.map(median);
        println!("  {name:<36} {:>6.2} x", held.as_secs_f64() / plain.as_secs_f64());
    }
}

fn launch(words: &[OsString], folder: &Path) -> Launch {
    let nothing =
        || -> OwnedFd { rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).unwrap() };
    let stage = Stage { program: HOLD.into(), arguments: vec!["hold-stage".into()] };
    let mut launch = Launch::here(words.to_vec(), stage).unwrap();
    launch.folder = folder.to_path_buf();
    launch.streams = Some([nothing(), nothing(), nothing()]);
    launch.forward_signals = false;
    launch
}

/// A static program, where there is a compiler: a dynamic one would hide what a hold costs.
fn do_nothing(room: &Path) -> PathBuf {
    let (source, program) = (room.join("nothing.c"), room.join("nothing"));
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let built = Command::new("cc").arg("-static").arg("-o").arg(&program).arg(&source).status();
    if built.is_ok_and(|status| status.success()) { program } else { PathBuf::from("/bin/true") }
}

fn protected(ws: &Path, count: usize) -> Vec<PathBuf> {
    let names: Vec<PathBuf> = (0..count).map(|number| ws.join(format!("protected-{number}"))).collect();
    for name in &names {
        fs::write(name, "x").unwrap();
    }
    names
}

fn project(ws: &Path) {
    for folder in 0..60 {
        let folder = ws.join(format!("src/{folder}"));
        fs::create_dir_all(&folder).unwrap();
        for file in 0..50 {
            fs::write(folder.join(format!("{file}.txt")), format!("line {file}\n").repeat(100)).unwrap();
        }
    }
    let mut source = String::from("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n");
    for number in 0..200 {
        source += &format!("int f{number}(int x) {{ return x > {number} ? x * {number} : printf(\"%d\", x); }}\n");
    }
    fs::write(ws.join("one.c"), source).unwrap();
    sh(
        ws,
        "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm one && printf 'out/\\n*.o\\n' > .git/info/exclude",
    );
}

fn sh(folder: &Path, script: &str) {
    assert!(Command::new("sh").arg("-c").arg(script).current_dir(folder).status().unwrap().success(), "{script}");
}

/// The medians of these, taken in turn so that what disturbs one disturbs all.
fn medians(rounds: usize, work: &[&dyn Fn()]) -> Vec<Duration> {
    let mut times = vec![Vec::new(); work.len()];
    for _ in 0..rounds {
        for (times, work) in times.iter_mut().zip(work) {
            let began = Instant::now();
            work();
            times.push(began.elapsed());
        }
    }
    times.into_iter().map(median).collect()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The time that this process and its children spent on processors.
fn processor_time(work: &dyn Fn()) -> Duration {
    use nix::sys::resource::UsageWho::{RUSAGE_CHILDREN, RUSAGE_SELF};
    let before = spent(RUSAGE_CHILDREN) + spent(RUSAGE_SELF);
    work();
    wait_for_children();
    (spent(RUSAGE_CHILDREN) + spent(RUSAGE_SELF)).saturating_sub(before)
}

/// A run is over before the kernel has taken its mounts apart; that counts too.
fn wait_for_children() {
    let left = || {
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        tasks.map(|task| fs::read(task.path().join("children")).unwrap_or_default().len()).sum::<usize>()
    };
    let began = Instant::now();
    while left() > 0 && began.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn spent(who: nix::sys::resource::UsageWho) -> Duration {
    let usage = nix::sys::resource::getrusage(who).unwrap();
    let time = |it: nix::sys::time::TimeVal| {
        Duration::from_micros(u64::try_from(it.tv_sec() * 1_000_000 + it.tv_usec()).unwrap())
    };
    time(usage.user_time()) + time(usage.system_time())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
