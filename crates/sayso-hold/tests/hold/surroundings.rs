//! Holds where something else is in the way: no namespaces, other sandboxes, another listener, full disks, mounts.
//!
//! Whatever it is, either the run is held as much as was asked for, or nothing runs.

use crate::attempt::in_own_mounts;
use crate::room::{Room, can_hold, give_away, unprivileged};
use std::fs;
use std::process::{Command, Output, Stdio};

/// Tries to write outside, and tells what it could do.
const SCRIPT: &str = "echo ran; echo evil > ../out/new; echo fine > mine; echo pid $$";

/// Runs the hold through another command.
fn through(room: &Room, around: &[&str], options: &[&str], script: &str) -> Output {
    let mut command = Command::new(around[0]);
    command.args(&around[1..]).arg(room.path("bin/sayso-hold")).arg("--write").arg(room.path("ws"));
    command.args(options).args(["--", "sh", "-c", script]).current_dir(room.path("ws")).stdin(Stdio::null());
    unprivileged(&mut command).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// Held whole nothing runs; held files it runs, and is held.
fn only_files(room: &Room, around: &[&str]) {
    let whole = through(room, around, &["--need", "whole"], SCRIPT);
    assert_eq!(whole.status.code(), Some(126), "{}", said(&whole));
    assert!(!said(&whole).contains("ran\n") && said(&whole).contains("nothing ran"), "{}", said(&whole));
    assert!(!room.path("ws/mine").exists() && !room.path("out/new").exists());
    let files = through(room, around, &["--need", "files"], SCRIPT);
    assert!(said(&files).contains("ran\n"), "{}", said(&files));
    assert!(room.path("ws/mine").exists() && !room.path("out/new").exists(), "{}", said(&files));
}

/// Somebody with the right to make devices left one in the workspace, where everything may be written.
#[test]
fn a_device_in_the_workspace_cannot_be_opened() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let device = room.path("ws/device");
    let made = Command::new("mknod").arg(&device).args(["c", "1", "3"]).status().is_ok_and(|status| status.success());
    if !made {
        eprintln!("not run: no device can be made here");
        return;
    }
    fs::set_permissions(&device, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    give_away(&device);
    let opens = "(echo x > device) && echo opened; (: < device) && echo opened; (echo x > /dev/null) && echo fine";
    let plain = unprivileged(Command::new("sh").args(["-c", opens]).current_dir(room.path("ws"))).output().unwrap();
    let held = through(&room, &["env"], &[], opens);
    assert!(!said(&held).contains("opened") && said(&held).contains("fine"), "{}", said(&held));
    if !said(&plain).contains("opened") {
        eprintln!("not run: devices are not opened in temporary folders here anyway");
    }
}

#[test]
fn without_user_namespaces_only_files_are_held() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    // A namespace of its own has a limit of its own.
    let around = [
        "unshare",
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        "echo 0 > /proc/sys/user/max_user_namespaces || exit 99; exec \"$0\" \"$@\"",
    ];
    if through(&room, &around, &["--need", "files"], "true").status.code() == Some(99) {
        eprintln!("not run: the limit of namespaces cannot be set here");
        return;
    }
    only_files(&room, &around);
}

#[test]
fn inside_landlock_only_files_are_held() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let attempt = room.text("bin/sayso-hold-attempt");
    only_files(&room, &[&attempt, "--in-landlock"]);
}

/// The outer bounds do not let the root folder be listed, so what may be read cannot be found out.
#[test]
fn inside_a_run_that_is_held_files_no_other_hold_is_made() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let (hold, ws) = (room.text("bin/sayso-hold"), room.text("ws"));
    for need in ["whole", "files"] {
        let around = [hold.as_str(), "--level", "files", "--write", &ws, "--"];
        let output = through(&room, &around, &["--need", need], SCRIPT);
        assert_eq!(output.status.code(), Some(126), "{}", said(&output));
        assert!(!room.path("ws/mine").exists() && !room.path("out/new").exists());
    }
}

#[test]
fn where_somebody_else_takes_notifications_there_are_no_unix_sockets() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let attempt = room.text("bin/sayso-hold-attempt");
    let script = format!("{SCRIPT}; python3 -c 'import socket; socket.socket(socket.AF_UNIX)'");
    let output = through(&room, &[&attempt, "--with-listener"], &["--need", "whole"], &script);
    assert!(said(&output).contains("ran\n") && said(&output).contains("pid 2\n"), "{}", said(&output));
    assert!(room.path("ws/mine").exists() && !room.path("out/new").exists());
    assert!(said(&output).contains("PermissionError") || said(&output).contains("not found"), "{}", said(&output));
}

#[test]
fn inside_bwrap_a_run_is_held_whole_or_not_run() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let root = room.text("");
    let around =
        ["bwrap", "--ro-bind", "/", "/", "--bind", &root, &root, "--dev", "/dev", "--proc", "/proc", "--unshare-pid"];
    let mut probe = Command::new("bwrap");
    probe.args(&around[1..]).arg("true").stderr(Stdio::null());
    if !unprivileged(&mut probe).status().is_ok_and(|status| status.success()) {
        eprintln!("not run: there is no bwrap, or it does not work here");
        return;
    }
    let output = through(&room, &around, &["--need", "whole"], SCRIPT);
    let ran = said(&output).contains("ran\n");
    eprintln!("inside bwrap: {}", if ran { "held whole" } else { "nothing ran" });
    assert!(!room.path("out/new").exists(), "{}", said(&output));
    if ran {
        assert!(said(&output).contains("pid 2\n"), "{}", said(&output));
    } else {
        assert_eq!(output.status.code(), Some(126), "{}", said(&output));
    }
}

#[test]
fn a_disk_that_is_full_is_the_programs_own_trouble_and_leaves_nothing_half_made() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    fs::create_dir(room.path("tried")).unwrap();
    give_away(&room.path("tried"));
    let (ws, store) = (room.text("ws"), room.text("tried"));
    let prepare = format!("mount -t tmpfs -o size=128k none {ws} && cd {ws} && echo old > change");
    let fill = "head -c 400000 /dev/zero > big; code=$?; echo new > change; exit $code";
    let Some((code, told)) = in_own_mounts(&room, &prepare, &["--write", &ws], fill) else { return };
    assert_eq!(code, Some(1), "{told}");
    // Tried, there is room; committed, there is not.
    let options = ["--write", &ws, "--try", &store, "--take", "all"];
    let Some((code, told)) = in_own_mounts(&room, &prepare, &options, fill) else { return };
    assert_eq!(code, Some(0), "{told}");
    assert!(told.starts_with("new\n"), "the small file is there, and nothing else: {told}");
    assert!(told.contains("No space left"), "{told}");
    // No room for what a tried run changes: nothing is changed.
    let prepare = format!("mount -t tmpfs -o size=64k none {store} && cd {ws}");
    let Some((_, told)) = in_own_mounts(&room, &prepare, &options, "head -c 400000 /dev/zero > big") else { return };
    let length = fs::metadata(room.path("ws/big")).map(|it| it.len()).unwrap_or(0);
    assert!(length < 64 << 10, "{told}");
}

#[test]
fn what_is_mounted_inside_a_workspace_is_written_and_what_is_mounted_elsewhere_is_not() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let (ws, out) = (room.text("ws"), room.text("out"));
    fs::create_dir(room.path("ws/in\nside")).unwrap();
    fs::create_dir(room.path("out/mounted")).unwrap();
    give_away(&room.path("ws"));
    give_away(&room.path("out"));
    let prepare =
        format!("mount -t tmpfs none '{ws}/in\nside' && mount -t tmpfs none '{out}/mounted' && cd '{ws}/in\nside'");
    let script = format!("echo x > here; echo y > '{out}/mounted/there'; ls '{out}/mounted'; echo done");
    let Some((code, told)) = in_own_mounts(&room, &prepare, &["--write", &ws], &script) else { return };
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("done\n") && told.contains("x\n") && !told.contains("there\n"), "{told}");
}
