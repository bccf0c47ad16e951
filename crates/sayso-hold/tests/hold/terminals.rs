//! Runs at a terminal.

use crate::room::{Room, can_hold, terminal, unprivileged};
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn a_terminal_can_be_opened_inside() {
    if !can_hold() || Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let room = Room::new();
    let output = room.held(&["--write", &room.text("ws")], &["script", "-qec", "tty; test -t 1", "/dev/null"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("/dev/pts/"));
}

/// Reads what a terminal shows until it shows this.
fn shows(master: &impl std::os::fd::AsFd, wanted: &str) -> bool {
    let mut seen = String::new();
    let began = Instant::now();
    rustix::io::ioctl_fionbio(master, true).unwrap();
    while began.elapsed() < Duration::from_secs(10) {
        let mut piece = [0; 1024];
        if let Ok(count) = rustix::io::read(master, &mut piece) {
            seen += &String::from_utf8_lossy(&piece[..count]);
        }
        if seen.contains(wanted) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    eprintln!("the terminal showed {seen:?}");
    false
}

#[test]
fn keys_at_the_terminal_interrupt_the_program_once_and_not_its_runner() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let (master, path) = terminal();
    let open = || fs::File::options().read(true).write(true).open(&path).unwrap();
    let held = room.command(
        &["--write", &room.text("ws")],
        &["sh", "-c", "trap 'echo caught; count=$((count+1))' INT; echo ready; while [ ! -e stop ]; do sleep 0.05; done; echo count=$count; exit 9"],
    );
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(held.get_program()).args(held.get_args()).current_dir(room.path("ws"));
    let mut child = unprivileged(&mut command).stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    assert!(shows(&master, "ready"));
    rustix::io::write(&master, b"\x03").unwrap();
    assert!(shows(&master, "caught"));
    fs::write(room.path("ws/stop"), "").unwrap();
    assert!(shows(&master, "count=1"));
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn a_run_at_the_terminal_can_be_stopped_and_continued() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let (master, path) = terminal();
    let open = || fs::File::options().read(true).write(true).open(&path).unwrap();
    let held = room.command(
        &["--write", &room.text("ws")],
        &["sh", "-c", "echo ready; while [ ! -e stop ]; do sleep 0.05; done; echo over"],
    );
    // An interactive shell around it, as a person has one.
    let words: Vec<String> = std::iter::once(held.get_program())
        .chain(held.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''")))
        .collect();
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait", "bash", "--norc", "-i"]).env("PS1", "prompt$ ").current_dir(room.path("ws"));
    let mut child = unprivileged(&mut command).stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    let key = |text: &str| assert!(rustix::io::write(&master, text.as_bytes()).is_ok());
    assert!(shows(&master, "prompt$ "));
    key(&format!("{}\n", words.join(" ")));
    assert!(shows(&master, "ready\r\n"));
    key("\x1a");
    assert!(shows(&master, "Stopped"));
    key("fg\n");
    fs::write(room.path("ws/stop"), "").unwrap();
    assert!(shows(&master, "over\r\n"));
    key("exit 3\n");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}
