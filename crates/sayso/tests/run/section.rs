//! Each key of `[hold]`, as `sayso run` shows it.

use crate::permits::{end, issue};
use crate::room::{POLICY, Room, User, err, out, users};
use std::fs;
use std::process::Command;
use std::time::Duration;

fn policy(room: &Room, keys: &str) {
    room.policy(&format!("{POLICY}{keys}\n"));
}

#[test]
fn env_names_secrets_that_held_runs_may_see() {
    for user in users() {
        let room = Room::new(user);
        room.file(
            "a.py",
            "import os\nprint(os.environ.get('GITHUB_TOKEN'), os.environ.get('NPM_TOKEN'), os.environ.get('PLAIN'))\n",
        );
        let seen = || {
            let mut command = room.command(&["run", "--", "python3", "a.py"]);
            out(&command.env("GITHUB_TOKEN", "one").env("NPM_TOKEN", "two").env("PLAIN", "three").output().unwrap())
        };
        assert_eq!(seen(), "None None three\n");
        policy(&room, "env = [\"GITHUB_TOKEN\"]");
        assert_eq!(seen(), "one None three\n");
    }
}

#[test]
fn need_says_how_little_is_enough() {
    users().into_iter().for_each(|user| {
        let room = Room::new(user);
        room.file("a.py", "print('ran')\n");
        policy(&room, "need = \"whole\"");
        // The caller accepts less, the policy does not; where more can be had, it is.
        let output = room.sayso(&["run", "--need", "files", "--", "python3", "a.py"]);
        assert_eq!(out(&output), "ran\n", "{}", err(&output));
        assert_eq!(room.happenings().pop().unwrap().held.unwrap().level.as_deref(), Some("whole"));
    });
    if users().contains(&User::Own) {
        let room = Room::new(User::Own);
        room.file("a.py", "print('ran')\n");
        // A machine on which nobody can make user namespaces.
        let poor = || {
            let mut command = Command::new("unshare");
            let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
            command.args(["-r", "sh", "-c", script, "sh", &room.text("bin/sayso"), "run", "--", "python3", "a.py"]);
            room.prepare(command).output().unwrap()
        };
        policy(&room, "need = \"whole\"");
        let output = poor();
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(126), ""), "{}", err(&output));
        policy(&room, "need = \"files\"");
        let output = poor();
        assert_eq!(out(&output), "ran\n", "{}", err(&output));
        assert_eq!(room.happenings().pop().unwrap().held.unwrap().level.as_deref(), Some("files"));
    }
}

#[test]
fn caches_are_copied_private_or_empty() {
    for user in users() {
        for (view, first, second) in
            [("copy", "shared", "changed"), ("private", "none", "changed"), ("none", "none", "none")]
        {
            let room = Room::new(user);
            let cache = room.path("home/.npm");
            fs::create_dir_all(&cache).unwrap();
            fs::write(cache.join("file"), "shared\n").unwrap();
            policy(&room, &format!("caches = \"{view}\""));
            room.file("a.py", &format!("p = {:?} + '/file'\ntry:\n    print(open(p).read().strip())\nexcept OSError:\n    print('none')\nopen(p, 'w').write('changed')\n", cache));
            let run = || room.sayso(&["run", "--", "python3", "a.py"]);
            let (one, two) = (run(), run());
            assert_eq!(
                (out(&one).trim(), out(&two).trim()),
                (first, second),
                "{user:?} {view}: {}{}",
                err(&one),
                err(&two)
            );
            assert_eq!(fs::read_to_string(cache.join("file")).unwrap(), "shared\n", "{view}");
        }
    }
}

#[test]
fn leave_says_whether_processes_outlive_their_call() {
    for user in users() {
        for leave in ["session", "end"] {
            let room = Room::new(user);
            policy(&room, &format!("leave = \"{leave}\""));
            let script = "(while :; do date +%s%N > tick; sleep 0.1; done) >/dev/null 2>&1 & sleep 0.5";
            let id = issue(&room, script, "s", leave);
            let output = room.sayso(&["run", "--permit", &id, "--", "bash", "-c", script]);
            assert_eq!(output.status.code(), Some(0), "{}", err(&output));
            let tick = || fs::read_to_string(room.path("project/tick")).unwrap();
            std::thread::sleep(Duration::from_millis(500));
            let before = tick();
            std::thread::sleep(Duration::from_millis(1_000));
            assert_eq!(tick() != before, leave == "session", "{user:?} {leave}");
            if leave == "session" {
                end(&room, "s");
            }
        }
    }
}
