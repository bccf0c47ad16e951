//! Caches that runs share.

use crate::room::{Room, can_hold};
use std::fs;

#[test]
fn a_copied_cache_keeps_changes_for_later_runs_and_the_shared_one_stays_as_it_is() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let (ws, cache) = (room.text("ws"), room.text("cache"));
    let copy = format!("{cache}={}", room.text("store"));
    let before = room.outside();
    let script =
        format!("cd {cache} && cat entry && echo mine > entry && echo new > new && mkdir d && echo x > d/x && rm d/x");
    let first = room.held(&["--write", &ws, "--copy", &copy], &["sh", "-c", &script]);
    assert_eq!(
        (first.status.code(), first.stdout.as_slice()),
        (Some(0), b"cached\n".as_slice()),
        "{}",
        String::from_utf8_lossy(&first.stderr)
    );
    let second =
        room.held(&["--write", &ws, "--copy", &copy], &["sh", "-c", &format!("cat {cache}/entry {cache}/new")]);
    assert_eq!(second.stdout, b"mine\nnew\n");
    assert_eq!(room.outside(), before);
}

#[test]
fn two_runs_at_a_time_have_a_copy_each() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let (ws, cache) = (room.text("ws"), room.text("cache"));
    let copy = format!("{cache}={}", room.text("store"));
    let options = ["--write", &ws, "--copy", &copy];
    let script = format!("echo a > {cache}/a; sleep 0.5; ls {cache}");
    let first = room.command(&options, &["sh", "-c", &script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(250));
    let second = room.held(&options, &["sh", "-c", &format!("ls {cache}")]);
    let first = first.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&first.stdout), "a\nentry\n");
    assert_eq!(String::from_utf8_lossy(&second.stdout), "entry\n");
}

#[test]
fn private_and_empty_caches_show_nothing_of_the_shared_one() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let (ws, cache) = (room.text("ws"), room.text("cache"));
    let before = room.outside();
    let private = format!("{cache}={}", room.text("store/private"));
    let script = format!("ls {cache}; echo x >> {cache}/mine");
    for (wanted, options) in [
        ("", ["--private", &private]),
        ("mine\n", ["--private", &private]),
        ("", ["--empty", &cache]),
        ("", ["--empty", &cache]),
    ] {
        let output = room.held(&[&["--write", ws.as_str()], options.as_slice()].concat(), &["sh", "-c", &script]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(fs::read_to_string(room.path("store/private/mine")).unwrap(), "x\nx\n");
    assert_eq!(room.outside(), before);
}
