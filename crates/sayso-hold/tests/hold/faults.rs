//! Faults: whatever goes wrong, nothing runs less held than it should, and nothing is left behind.

use crate::room::{Room, can_hold};
use sayso_hold::Step;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Every name below a folder.
fn listing(folder: &Path) -> BTreeSet<PathBuf> {
    let mut names = BTreeSet::new();
    let mut to_visit = vec![folder.to_path_buf()];
    while let Some(folder) = to_visit.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            // Copies of caches are meant to stay.
            if entry.file_name() == "store" {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                to_visit.push(entry.path());
            }
            names.insert(entry.path());
        }
    }
    names
}

fn mounts() -> String {
    fs::read_to_string("/proc/self/mountinfo").unwrap()
}

/// Processes that have this text among their arguments.
fn processes_with(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        if arguments.contains(text) {
            found.push(arguments);
        }
    }
    found
}

#[test]
fn a_step_that_fails_lets_nothing_run_and_leaves_nothing() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let bounds = room.bounds();
    let bounds: Vec<&str> = bounds.iter().map(String::as_str).collect();
    // Once without a fault: the copy of the cache is there from then on.
    assert!(room.held(&bounds, &["true"]).status.success());
    let (before, outside, mounted) = (listing(&room.path("")), room.outside(), mounts());
    let mut tried = 0;
    for level in ["whole", "files"] {
        for (number, step) in Step::ALL.iter().enumerate() {
            let only_whole =
                *step < Step::Init || (*step > Step::Init && *step < Step::Folder) || *step == Step::Watches;
            if level == "files" && only_whole {
                continue;
            }
            let number = number.to_string();
            let options = [bounds.as_slice(), &["--level", level, "--fail-at", &number]].concat();
            let output = room.held(&options, &["sh", "-c", "echo ran; touch ran"]);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(126), "{step:?}: {told}");
            assert!(told.contains(step.text()), "{step:?}: {told}");
            assert!(output.stdout.is_empty(), "{step:?} ran");
            tried += 1;
        }
    }
    assert!(tried >= Step::ALL.len());
    assert_eq!((listing(&room.path("")), room.outside(), mounts()), (before, outside, mounted));
    assert_eq!(processes_with(room.path("bin").to_str().unwrap()), Vec::<String>::new());
}

#[test]
fn less_than_whole_is_taken_only_where_files_are_enough() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let ws = room.text("ws");
    let number = Step::ALL.iter().position(|step| *step == Step::Namespaces).unwrap().to_string();
    let run = |need: &str| {
        let output = room.held(&["--write", &ws, "--need", need, "--fail-at", &number], &["sh", "-c", "echo $$"]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).trim().parse::<u32>().ok())
    };
    assert_eq!(run("whole"), (Some(126), None));
    let (code, pid) = run("files");
    // Without a process namespace it is a process like any other.
    assert!(code == Some(0) && pid.is_some_and(|pid| pid > 10), "{code:?} {pid:?}");
}

#[test]
fn a_runner_that_is_killed_at_any_moment_takes_everything_with_it() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let bounds = room.bounds();
    assert!(room.command(&bounds, &["true"]).status().unwrap().success());
    let (before, mounted) = (listing(&room.path("")), mounts());
    let marker = format!("2{}", std::process::id());
    for round in 0..40_u64 {
        let script = format!("setsid sleep {marker} & sleep {marker}");
        let mut child = room.command(&bounds, &["sh", "-c", &script]).spawn().unwrap();
        // Spread over making the hold and what comes after.
        std::thread::sleep(Duration::from_micros(round * round * 60));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let began = Instant::now();
    loop {
        let left = [processes_with(&marker), processes_with(room.path("bin").to_str().unwrap())].concat();
        if left.is_empty() {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!((listing(&room.path("")), mounts()), (before, mounted));
}

#[test]
fn a_hold_inside_a_hold_is_refused_and_nothing_runs() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let (ws, inner) = (room.text("ws"), room.text("bin/sayso-hold"));
    let output = room.held(&["--write", &ws], &[&inner, "--write", &ws, "--", "touch", "ran"]);
    assert_eq!(output.status.code(), Some(126), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!room.path("ws/ran").exists());
    // Held files is possible there: the outer hold counts all the same.
    let output = room.held(
        &["--write", &ws],
        &[&inner, "--write", &ws, "--need", "files", "--", "sh", "-c", "echo in; echo x > ../out/new"],
    );
    assert_eq!(output.stdout, b"in\n");
    assert!(!room.path("out/new").exists());
}

#[test]
fn bounds_that_are_not_there_let_nothing_run() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    for path in [room.text("missing"), room.text("ws/../out"), "/proc/self".to_owned(), "/dev".to_owned()] {
        let output = room.held(&["--write", &path], &["echo", "ran"]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(126), 0), "{path}");
    }
}

#[test]
fn a_working_directory_that_is_hidden_lets_nothing_run() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let mut command = room.command(&["--write", &room.text("ws"), "--hide", &room.text("home")], &["echo", "ran"]);
    let output = command.current_dir(room.path("home/private")).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(126), 0));
}
