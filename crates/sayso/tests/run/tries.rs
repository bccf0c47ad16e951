//! `sayso run --try`: changes are made if the policy allows them.

use crate::desk::Desk;
use crate::room::{Room, err, out, users};
use serde_json::{Value, json};
use std::fs;
use std::process::{Child, Stdio};

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

/// The default asks about all files but those in `made`; the run may write all of them.
const ASKS: &str = "default = 'ask'\n[allow]\nread = ['./**']\nwrite = ['./made/**']\n[hold]\nwrite = ['./**']\nrun = ['@scripts', '@code']\n";

/// Changes what the policy asks about in every way.
const SCRIPT: &str = "
import os, socket
open('one.lock', 'w').write('first\\nSECOND\\n')
open('two.lock', 'w').write('new\\n')
open('blob.lock', 'wb').write(bytes(range(256)))
os.remove('gone.lock')
open('made/plain', 'w').write('allowed')
open('big.lock', 'w').write('x' * 400000)
try:
    socket.create_connection(('strange.example', 443), 5)
except OSError:
    pass
";

fn try_it(room: &Room) -> Child {
    room.policy(ASKS);
    room.file("made/old", "");
    room.file("one.lock", "first\nsecond\n");
    room.file("gone.lock", "old\n");
    for name in ["two.lock", "blob.lock", "big.lock", "made/plain"] {
        let _ = fs::remove_file(room.path("project").join(name));
    }
    room.file("script.py", SCRIPT);
    let mut command = room.command(&["run", "--try", "--", "python3", "script.py"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn number(question: &Value, name: &str) -> usize {
    let changes = question["arguments"]["changes"].as_array().unwrap();
    let name = &format!("/{name}");
    changes.iter().position(|it| it["path"].as_str().unwrap().ends_with(name)).unwrap_or_else(|| panic!("{changes:?}"))
}

#[test]
fn all_that_asks_is_one_question_and_what_was_chosen_is_made() {
    for user in users() {
        let room = Room::new(user);
        let mut desk = Desk::open(&room);
        desk.sit();

        let run = try_it(&room);
        let question = desk.next();
        assert_eq!(
            (question["tool"].as_str(), question["held"]["lasts"].as_str()),
            (Some("held_changes"), Some("changes"))
        );
        let changes = question["arguments"]["changes"].as_array().unwrap();
        assert_eq!(changes.len(), 5, "{changes:?}");
        let one = &changes[number(&question, "one.lock")];
        assert_eq!(
            (one["change"].as_str(), one["diff"].as_str()),
            (Some("changed"), Some("@@ -1,2 +1,2 @@\n first\n-second\n+SECOND\n"))
        );
        let [gone, blob, big] = ["gone.lock", "blob.lock", "big.lock"].map(|name| &changes[number(&question, name)]);
        assert_eq!(gone["change"], "removed");
        assert_eq!((blob["contents"].as_str(), blob["bytes"].as_u64()), (Some("binary"), Some(256)));
        assert_eq!((big["contents"].as_str(), big["bytes"].as_u64()), (Some("large"), Some(400_000)));
        assert_eq!(question["arguments"]["hosts"], json!(["strange.example, held back"]), "{question}");
        // The terminal shows the same.
        let shown = out(&room.sayso(&["approvals", "show", question["id"].as_str().unwrap()]));
        assert!(
            shown.contains("+SECOND") && shown.contains("contents: binary") && shown.contains("strange.example"),
            "{shown}"
        );
        // Nothing is made before the answer, and not what does not exist.
        assert_eq!(fs::read_to_string(room.path("project/one.lock")).unwrap(), "first\nsecond\n");
        for parts in [json!([]), json!([5]), json!([-1])] {
            let refused = desk.answer(&question, &json!({"verdict": "allow", "parts": parts}));
            assert!(refused["standing"].is_null(), "{refused}");
        }
        let parts = [number(&question, "one.lock"), number(&question, "blob.lock")];
        let answered = desk.answer(&question, &json!({"verdict": "allow", "parts": parts}));
        assert_eq!(answered["standing"], "approved", "{answered}");
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{user:?}: {}", err(&output));
        assert!(err(&output).contains("3 changes made, 3 thrown away"), "{}", err(&output));
        assert_eq!(fs::read_to_string(room.path("project/one.lock")).unwrap(), "first\nSECOND\n");
        assert_eq!(fs::read(room.path("project/blob.lock")).unwrap(), (0..=255).collect::<Vec<u8>>());
        let exists = |name: &str| room.path("project").join(name).exists();
        assert!(exists("made/plain") && exists("gone.lock") && !exists("two.lock") && !exists("big.lock"));

        let run = try_it(&room);
        desk.answer(&desk.next(), &json!({"verdict": "deny"}));
        let output = run.wait_with_output().unwrap();
        assert!(err(&output).contains("1 changes made, 5 thrown away"), "{}", err(&output));
        assert_eq!(fs::read_to_string(room.path("project/one.lock")).unwrap(), "first\nsecond\n");
    }
}
