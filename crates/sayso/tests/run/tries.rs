//! `sayso run --try`: changes are made if the policy allows them.

use crate::room::{Room, err, users};
use std::fs;

#[test]
fn allowed_changes_are_made_and_others_thrown_away() {
    for user in users() {
        let room = Room::new(user);
        room.policy("default = \"allow\"\n[allow]\nwrite = [\"./**\"]\n[deny]\nwrite = [\"./keep/**\"]\n");
        room.file("old", "one\n");
        room.file("gone", "x\n");
        let output = room.sayso(&[
            "run",
            "--try",
            "--",
            "sh",
            "-c",
            "echo two > old; echo new > new; rm gone; mkdir d; echo x > d/f",
        ]);
        assert_eq!(output.status.code(), Some(0), "{user:?}: {}", err(&output));
        assert_eq!(fs::read_to_string(room.path("project/old")).unwrap(), "two\n");
        assert_eq!(fs::read_to_string(room.path("project/d/f")).unwrap(), "x\n");
        assert!(room.path("project/new").exists() && !room.path("project/gone").exists());
        assert!(err(&output).contains("changes made, 0 thrown away"), "{}", err(&output));
        assert!(err(&output).contains("changed ./old") && err(&output).contains("removed ./gone"), "{}", err(&output));
    }
}

#[test]
fn a_change_that_the_policy_denies_is_not_made() {
    for user in users() {
        let room = Room::new(user);
        room.policy("default = \"allow\"\n[allow]\nwrite = [\"./**\"]\n[ask]\nwrite = [\"./*.lock\"]\n");
        let output =
            room.sayso(&["run", "--try", "--", "sh", "-c", "echo a > a; echo b > b.lock; ln -s /etc/passwd out"]);
        assert_eq!(output.status.code(), Some(125), "{user:?}: {}", err(&output));
        assert!(room.path("project/a").exists());
        assert!(!room.path("project/b.lock").exists() && !room.path("project/out").is_symlink(), "{}", err(&output));
        assert!(err(&output).contains("1 changes made, 2 thrown away"), "{}", err(&output));
    }
}

#[test]
fn a_command_that_may_not_run_is_not_tried() {
    for user in users() {
        let room = Room::new(user);
        let output = room.sayso(&["run", "--try", "--", "git", "push", "--force"]);
        assert_eq!(output.status.code(), Some(125));
        assert!(err(&output).contains("denied"), "{}", err(&output));
    }
}
