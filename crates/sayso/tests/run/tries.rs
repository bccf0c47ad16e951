//! `sayso run --try`: changes are made if the policy allows them.

use crate::room::{Room, err, users};
use std::fs;

#[test]
fn allowed_changes_are_made() {
    for user in users() {
        let room = Room::new(user);
        room.file("old", "one\n");
        room.file("gone", "to be removed\n");
        let script = "echo two > old; echo new > new; rm gone; mkdir d; echo x > d/f";
        let output = room.sayso(&["run", "--try", "--", "sh", "-c", script]);
        assert_eq!(output.status.code(), Some(0), "{user:?}: {}", err(&output));
        assert_eq!(fs::read_to_string(room.path("project/old")).unwrap(), "two\n");
        assert_eq!(fs::read_to_string(room.path("project/d/f")).unwrap(), "x\n");
        assert!(room.path("project/new").exists() && !room.path("project/gone").exists());
        assert!(err(&output).contains("5 changes made, 0 thrown away"), "{}", err(&output));
        assert!(err(&output).contains("changed ./old") && err(&output).contains("removed ./gone"), "{}", err(&output));
        let failed = room.sayso(&["run", "--try", "--", "sh", "-c", "echo x > x; exit 3"]);
        assert_eq!((failed.status.code(), room.path("project/x").exists()), (Some(3), true));
    }
}

#[test]
fn a_change_that_asks_is_not_made_where_nobody_answers() {
    for user in users() {
        let room = Room::new(user);
        room.policy(&crate::room::POLICY.replace("[deny]", "[ask]\nwrite = [\"./*.lock\"]\n[deny]"));
        room.file(
            "script.py",
            "import os\nopen('a', 'w').write('a')\nopen('b.lock', 'w').write('b')\nos.symlink('/etc/passwd', 'out')\n",
        );
        let output = room.sayso(&["run", "--try", "--", "python3", "script.py"]);
        assert_eq!(output.status.code(), Some(125), "{user:?}: {}", err(&output));
        assert!(room.path("project/a").exists(), "{}", err(&output));
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
