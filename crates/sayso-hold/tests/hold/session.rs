//! A hold that several runs share.

use crate::room::{Room, can_hold};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn run(room: &Room, more: &[&str], script: &str) -> Output {
    let (ws, socket) = (room.text("ws"), room.text("aside/run/session"));
    let options = [&["--write", ws.as_str(), "--session", &socket], more].concat();
    room.held(&options, &["bash", "-c", script])
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn end(room: &Room) -> bool {
    let mut command = Command::new(room.path("bin/sayso-hold"));
    command.arg("end-session").arg(room.path("aside/run/session"));
    crate::room::unprivileged(&mut command).status().unwrap().success()
}

const SERVER: &str = r#"perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(Listen=>5,LocalAddr=>"127.0.0.1",LocalPort=>8080) or die; open F, ">up"; close F; while ($c=$s->accept) { print $c "hello\n"; close $c }' >/dev/null 2>&1 & echo started"#;

#[test]
fn a_server_that_one_run_starts_answers_the_next_and_ends_with_the_session() {
    if !can_hold() || Command::new("perl").arg("-v").output().is_err() {
        return;
    }
    let room = Room::new();
    assert_eq!(said(&run(&room, &[], SERVER)), "started\n");
    let asked = run(&room, &[], "while [ ! -e up ]; do sleep 0.05; done; exec 3<>/dev/tcp/localhost/8080 && cat <&3");
    assert_eq!(said(&asked), "hello\n");
    // Other bounds: another hold, in which there is no such server.
    let other = run(&room, &["--withhold", "X"], "exec 3<>/dev/tcp/localhost/8080");
    assert_ne!(other.status.code(), Some(0));
    assert!(end(&room));
    assert!(!end(&room), "the session is over");
    let after = run(&room, &[], "exec 3<>/dev/tcp/localhost/8080");
    assert_ne!(after.status.code(), Some(0), "a new session knows nothing of the old one");
    assert!(end(&room));
}

#[test]
fn a_run_in_a_session_has_its_own_code_folder_environment_and_mask() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    assert_eq!(run(&room, &[], "exit 7").status.code(), Some(7));
    assert_eq!(run(&room, &[], "kill -9 $$").status.code(), Some(137));
    let (ws, socket) = (room.text("ws"), room.text("aside/run/session"));
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(r#"umask 077; exec "$@""#)
        .arg("sh")
        .arg(room.path("bin/sayso-hold"))
        .args(["--write", &ws, "--session", &socket, "--", "sh", "-c", "pwd; echo $MINE; umask"])
        .env("MINE", "own")
        .current_dir(room.path("ws/conf"));
    let output = crate::room::unprivileged(&mut command).output().unwrap();
    assert_eq!(said(&output), format!("{}\nown\n0077\n", room.text("ws/conf")));
    let missing = room.held(&["--write", &ws, "--session", &socket], &["no-such-program"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(end(&room));
}

#[test]
fn a_killed_run_takes_its_program_along_and_the_session_goes_on() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    assert_eq!(run(&room, &[], "true").status.code(), Some(0));
    let (ws, socket) = (room.text("ws"), room.text("aside/run/session"));
    let script = "echo $$ > pid; while :; do echo x >> ticks; sleep 0.02; done";
    let mut child = room.command(&["--write", &ws, "--session", &socket], &["sh", "-c", script]).spawn().unwrap();
    while !room.path("ws/ticks").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let began = Instant::now();
    while run(&room, &[], "kill -0 $(cat pid) 2>/dev/null").status.success() {
        assert!(began.elapsed() < Duration::from_secs(10));
    }
    assert!(end(&room));
}

#[test]
fn a_session_without_runs_ends_by_itself_and_leaves_nothing() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    assert_eq!(said(&run(&room, &["--idle", "1"], "sleep 100 & echo ok")), "ok\n");
    let began = Instant::now();
    while room.path("aside/run/session").exists() {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_process_in_a_hold_cannot_start_anything_in_a_session() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    // A hold that was made before the session's socket: nothing covers it there.
    let (ws, socket, hold) = (room.text("ws"), room.text("aside/run/session"), room.text("bin/sayso-hold"));
    let script = format!(
        "while [ ! -S {socket} ]; do sleep 0.02; done; {hold} --write {} --session {socket} -- touch {}/got-out",
        room.text("out"),
        room.text("out")
    );
    let child = room.command(&["--write", &ws], &["sh", "-c", &script]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let out = room.text("out");
    assert_eq!(room.held(&["--write", &out, "--session", &socket], &["true"]).status.code(), Some(0));
    let output = child.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(!room.path("out/got-out").exists());
    assert!(end(&room));
}
