//! Runs that are tried first: what they change is shown, and made only as far as it is taken.

use crate::room::{Room, can_hold, give_away};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Names, kinds, permissions and contents below a folder.
fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut seen = BTreeMap::new();
    let mut to_visit = vec![folder.to_path_buf()];
    while let Some(at) = to_visit.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            let data = entry.path().symlink_metadata().unwrap();
            let mode = data.mode() & 0o7777;
            let text = if data.is_dir() {
                to_visit.push(entry.path());
                format!("folder {mode:o}")
            } else if data.is_symlink() {
                format!("link {}", fs::read_link(entry.path()).unwrap().display())
            } else if data.is_file() {
                format!("file {mode:o} {}", String::from_utf8_lossy(&fs::read(entry.path()).unwrap()))
            } else {
                "special".to_owned()
            };
            seen.insert(entry.path().strip_prefix(folder).unwrap().to_path_buf(), text);
        }
    }
    seen
}

/// A workspace with some of everything.
fn fill(ws: &Path) {
    for folder in ["src/deep", "old/in/side", "becomes-file/x", "recreated/sub", "closed"] {
        fs::create_dir_all(ws.join(folder)).unwrap();
    }
    for (name, text) in [
        ("keep", "keep\n"),
        ("change", "one\ntwo\nthree\n"),
        ("append", "a\n"),
        ("remove", "gone\n"),
        ("move", "this moves\n"),
        ("mode", "x\n"),
        ("becomes-folder", "x\n"),
        ("becomes-link", "x\n"),
        ("touched", "x\n"),
        ("src/deep/a", "a\n"),
        ("old/in/side/1", "1\n"),
        ("old/in/2", "2\n"),
        ("becomes-file/x/y", "y\n"),
        ("recreated/stays", "same\n"),
        ("recreated/goes", "goes\n"),
        ("recreated/sub/goes", "too\n"),
        ("closed/x", "x\n"),
    ] {
        fs::write(ws.join(name), text).unwrap();
    }
    symlink("keep", ws.join("link")).unwrap();
    give_away(ws);
}

const EVERYTHING: &str = r#"set -e
sed -i s/two/TWO/ change
echo more >> append
rm remove
mv move src/moved
chmod 755 mode
rm becomes-folder; mkdir becomes-folder; echo in > becomes-folder/in
rm becomes-link; ln -s keep becomes-link
touch touched
rm -r old
rm -r becomes-file; echo now > becomes-file
rm -r recreated; mkdir recreated; echo same > recreated/stays; echo new > recreated/new
mkdir -p new/folder/deep; echo x > new/folder/deep/x
echo 'odd' > "$(printf 'new/line\nbreak \377')"
ln -sf src link
chmod 700 closed; echo y > closed/y; chmod 555 closed
printf '\0\1' > binary
: > empty
"#;

fn run(room: &Room, options: &[&str], script: &str) -> (Option<i32>, String) {
    let (ws, store) = (room.text("ws"), room.text("tried"));
    let options = [&["--write", ws.as_str(), "--try", store.as_str()], options].concat();
    let output = room.held(&options, &["sh", "-c", script]);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn room() -> Room {
    let room = Room::new();
    fs::create_dir(room.path("tried")).unwrap();
    give_away(&room.path("tried"));
    room
}

/// Nothing is left of a tried run, but the lock of the store.
fn is_clean(room: &Room) {
    let left: Vec<_> = fs::read_dir(room.path("tried")).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(left, ["lock"]);
}

#[test]
fn what_is_taken_whole_is_what_a_run_without_a_hold_does() {
    if !can_hold() {
        return;
    }
    let room = room();
    fill(&room.path("ws"));
    // The same, without a hold, in a copy.
    let plain = room.path("out/plain");
    assert!(Command::new("cp").arg("-a").arg(room.path("ws")).arg(&plain).status().unwrap().success());
    let before = tree(&room.path("ws"));

    let (code, told) = run(&room, &["--take", "none"], EVERYTHING);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(tree(&room.path("ws")), before);
    is_clean(&room);

    let (code, told) = run(&room, &["--take", "all"], EVERYTHING);
    assert_eq!(code, Some(0), "{told}");
    assert!(!told.contains("refused") && !told.contains("conflict"), "{told}");
    let mut command = Command::new("sh");
    command.arg("-c").arg(EVERYTHING).current_dir(&plain);
    assert!(crate::room::unprivileged(&mut command).status().unwrap().success());
    assert_eq!(tree(&room.path("ws")), tree(&plain), "{told}");
    is_clean(&room);
    for line in [
        r#"changed "#,
        r#"renamed "#,
        r#"mode "#,
        r#"type "#,
        r#"removed "#,
        r#"binary Some(File { bytes: 2"#,
        r#"Some(Link { target: "src" }"#,
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("/touched\"") && !told.contains("recreated/stays"), "{told}");
}

#[test]
fn only_what_is_taken_is_made() {
    if !can_hold() {
        return;
    }
    let room = room();
    let script = "echo 1 > a; mkdir d; echo 2 > d/b; echo 3 > z";
    let (_, told) = run(&room, &["--take", "none"], script);
    let number = |name: &str| {
        let path = format!("{:?}", room.path("ws").join(name));
        let line = told.lines().find(|line| line.contains(&path)).unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    };
    let (a, inner) = (number("a"), number("d/b"));
    // A file whose folder is not taken has no place.
    let (_, told) = run(&room, &["--take", &format!("{a},{inner},99")], script);
    assert!(room.path("ws/a").exists() && !room.path("ws/d").exists() && !room.path("ws/z").exists(), "{told}");
    assert!(told.contains(&format!("refused {inner}: its folder is not there")), "{told}");
    assert!(told.contains("refused 99: there is no such change"), "{told}");
}

#[test]
fn bits_and_nodes_that_give_power_are_shown_and_never_made() {
    if !can_hold() {
        return;
    }
    let room = room();
    let script = "echo x > s; chmod 4755 s; mkfifo pipe; mkdir d; chmod 2777 d; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")' || true";
    let (_, told) = run(&room, &["--take", "all"], script);
    assert!(told.contains("mode: 2541"), "shown with its bit: {told}");
    assert_eq!(fs::metadata(room.path("ws/s")).unwrap().mode() & 0o7777, 0o755);
    assert_eq!(fs::metadata(room.path("ws/d")).unwrap().mode() & 0o7777, 0o777);
    assert!(!room.path("ws/pipe").exists() && !room.path("ws/sock").exists());
    assert!(told.contains("neither a file nor a folder"), "{told}");
}

/// Starts a tried run, and waits until its script has begun or its changes are shown.
struct Slow {
    child: Child,
    go: PathBuf,
}

impl Slow {
    fn start(room: &Room, script: &str) -> Self {
        let go = room.path("out/go");
        let _ = fs::remove_file(&go);
        let (ws, store) = (room.text("ws"), room.text("tried"));
        let options =
            ["--write", &ws, "--try", &store, "--take", "all", "--take-after", go.to_str().unwrap()].map(str::to_owned);
        let child = room.command(&options, &["sh", "-c", script]).stderr(Stdio::piped()).spawn().unwrap();
        Self { child, go }
    }

    /// What the run said, after it was allowed to commit.
    fn finish(self) -> String {
        fs::write(&self.go, "").unwrap();
        String::from_utf8_lossy(&self.child.wait_with_output().unwrap().stderr).into_owned()
    }
}

fn wait_for(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The upper layer of the one run that goes on.
fn upper(room: &Room) -> PathBuf {
    let mut found = fs::read_dir(room.path("tried")).unwrap().flatten().filter(|it| it.path().is_dir());
    found.next().unwrap().path().join("0/changes")
}

/// Until the run itself is over, and its changes have been read.
fn shown(room: &Room, name: &str) {
    wait_for(|| fs::read_dir(room.path("tried")).unwrap().flatten().any(|it| it.path().is_dir()));
    wait_for(|| upper(room).join(name).symlink_metadata().is_ok());
    // Reading a few small files takes no time beside this.
    std::thread::sleep(Duration::from_millis(700));
}

#[test]
fn what_changes_underneath_is_a_conflict_whether_during_the_run_or_after_it() {
    if !can_hold() {
        return;
    }
    let room = room();
    let ws = room.path("ws");
    for name in ["during", "after", "gone", "removed", "appears-not", "fine"] {
        fs::write(ws.join(name), "old\n").unwrap();
    }
    give_away(&ws);
    let script = "for f in during after gone fine; do echo run > $f; done; rm removed; echo run > appears; : > ready; \
                  while [ ! -e ../out/during ] && [ $((i=i+1)) -lt 2000 ]; do sleep 0.01; done; echo done > last";
    let slow = Slow::start(&room, script);
    wait_for(|| {
        fs::read_dir(room.path("tried")).unwrap().flatten().any(|it| it.path().join("0/changes/ready").exists())
    });
    fs::write(ws.join("during"), "theirs\n").unwrap();
    fs::remove_file(ws.join("gone")).unwrap();
    fs::write(ws.join("removed"), "theirs\n").unwrap();
    fs::write(room.path("out/during"), "").unwrap();
    shown(&room, "last");
    fs::write(ws.join("after"), "theirs\n").unwrap();
    fs::write(ws.join("appears"), "theirs\n").unwrap();
    let told = slow.finish();
    let text = |name: &str| fs::read_to_string(ws.join(name)).unwrap_or_default();
    for name in ["during", "after", "appears", "removed"] {
        assert_eq!(text(name), "theirs\n", "{name}: {told}");
    }
    assert!(!ws.join("gone").exists(), "{told}");
    assert_eq!((text("fine"), text("last")), ("run\n".into(), "done\n".into()), "{told}");
    assert_eq!(told.matches("it changed in the meantime").count(), 5, "{told}");
    is_clean(&room);
}

#[test]
fn what_was_shown_is_what_is_made_and_nothing_is_written_through_a_link() {
    if !can_hold() {
        return;
    }
    let room = room();
    let ws = room.path("ws");
    fs::create_dir(ws.join("d")).unwrap();
    fs::create_dir(room.path("out/d")).unwrap();
    give_away(&ws);
    give_away(&room.path("out"));
    let slow = Slow::start(&room, "echo shown > x; echo shown > y; echo in > d/f; ln -s ../out l; echo last > z");
    shown(&room, "z");
    // Somebody exchanges what the run left, and a folder of the workspace.
    fs::write(upper(&room).join("x"), "evil!\n").unwrap();
    fs::remove_file(upper(&room).join("y")).unwrap();
    symlink(room.path("out/prize"), upper(&room).join("y")).unwrap();
    fs::rename(ws.join("d"), ws.join("d2")).unwrap();
    symlink(room.path("out/d"), ws.join("d")).unwrap();
    let told = slow.finish();
    assert!(!ws.join("x").exists() && ws.join("y").symlink_metadata().is_err(), "{told}");
    assert_eq!(fs::read_dir(room.path("out/d")).unwrap().count(), 0, "{told}");
    assert_eq!(fs::read_dir(ws.join("d2")).unwrap().count(), 0, "{told}");
    assert_eq!(fs::read_link(ws.join("l")).unwrap(), Path::new("../out"));
    assert_eq!(told.matches("not those that were shown").count(), 2, "{told}");
}

#[test]
fn guarded_files_stay_and_guarded_names_are_told() {
    if !can_hold() {
        return;
    }
    let room = room();
    let before = room.steering();
    let bounds = room.bounds();
    let store = room.text("tried");
    let options: Vec<&str> = bounds.iter().map(String::as_str).chain(["--try", &store, "--take", "none"]).collect();
    let script = "echo evil >> .git/config; mv .git git; echo x > .git/new; mkdir .vscode; echo x > .vscode/settings.json; \
                  echo x > .envrc; cat .env; echo evil > .env; ls .git";
    let output = room.held(&options, &["sh", "-c", script]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(room.steering(), before, "{told}");
    assert!(!room.path("ws/.git/new").exists(), "nothing is written through to the workspace: {told}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("This file is held back.") && said.contains("new"), "{said}{told}");
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("try:") && line.contains("guarded")).collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert!(
        lines.iter().any(|line| line.contains(".envrc")) && lines.iter().any(|line| line.contains("settings.json"))
    );
    assert!(!told.contains(".git/config\""), "{told}");
}

#[test]
fn a_run_that_is_killed_has_changed_nothing_and_the_next_one_cleans_up() {
    if !can_hold() {
        return;
    }
    let room = room();
    fill(&room.path("ws"));
    let old: BTreeMap<PathBuf, String> = tree(&room.path("ws"));
    let (ws, store) = (room.text("ws"), room.text("tried"));
    let script = "for i in $(seq 60); do echo $i$i$i > new$i; echo $i > change; done; chmod 000 new1";
    let options = ["--write", &ws, "--try", &store, "--take", "all"].map(str::to_owned);
    let mut whole = 0;
    for round in 0..40_u64 {
        let mut child = room.command(&options, &["sh", "-c", script]).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(round * round * 120));
        let _ = child.kill();
        child.wait().unwrap();
        let now = tree(&room.path("ws"));
        for (name, text) in &now {
            let is_old = old.get(name) == Some(text);
            let number = name.to_str().and_then(|name| name.strip_prefix("new")).map(str::to_owned);
            let is_new = number.is_some_and(|it| text.ends_with(&format!(" {it}{it}{it}\n")));
            let is_changed = name == Path::new("change") && text.ends_with(" 60\n");
            assert!(is_old || is_new || is_changed, "round {round}: {name:?} {text:?}");
        }
        assert!(now.len() >= old.len(), "round {round}");
        whole += usize::from(now.len() == old.len() + 60);
        for number in 1..=60 {
            let _ = fs::remove_file(room.path(&format!("ws/new{number}")));
        }
        fs::write(room.path("ws/change"), "one\ntwo\nthree\n").unwrap();
    }
    eprintln!("{whole} of 40 runs were through before they were killed");
    // Everything inside has ended when the lock is free; the next run removes what it finds then.
    wait_for(|| {
        let (code, _) = run(&room, &["--take", "none"], "true");
        assert_eq!(code, Some(0));
        fs::read_dir(room.path("tried")).unwrap().count() == 1
    });
    is_clean(&room);
}

/// A command in a mount namespace where `prepare` has mounted things; `None`: this machine has none for users.
pub(crate) fn in_own_mounts(
    room: &Room,
    prepare: &str,
    options: &[&str],
    script: &str,
) -> Option<(Option<i32>, String)> {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-current-user", "--mount", "--keep-caps", "sh", "-c"]);
    let look = "code=$?; find . -type f ! -path './.*' | sort | xargs -d '\\n' head -n 1; exit $code";
    command.arg(format!("{prepare} || exit 99; \"$0\" \"$@\"; {look}")).arg(room.path("bin/sayso-hold"));
    command.args(options).args(["--", "sh", "-c", script]).current_dir(room.path("")).stdin(Stdio::null());
    let output = crate::room::unprivileged(&mut command).output().ok()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(99) {
        eprintln!("not run: nothing can be mounted here: {told}");
        return None;
    }
    Some((output.status.code(), format!("{}{told}", String::from_utf8_lossy(&output.stdout))))
}

#[test]
fn a_workspace_on_another_file_system_than_the_store_is_committed_too() {
    if !can_hold() {
        return;
    }
    let room = room();
    let (ws, store) = (room.text("ws"), room.text("tried"));
    // On a file system of its own, filled inside, and copied out again at the end.
    let prepare = format!(
        "mount -t tmpfs none {ws} && cd {ws} && echo old > change && echo old > remove && mkdir d && echo x > d/x"
    );
    let options = ["--write", &ws, "--try", &store, "--take", "all"];
    let script = "echo new > change; rm remove; mv d/x y; rmdir d; mkdir -p a/b; echo 1 > a/b/c; ln -s c a/b/l";
    let Some((code, told)) = in_own_mounts(&room, &prepare, &options, script) else { return };
    assert_eq!(code, Some(0), "{told}");
    let files = "==> ./a/b/c <==\n1\n\n==> ./change <==\nnew\n\n==> ./y <==\nx\n";
    assert!(told.starts_with(files) && !told.contains("refused"), "{told}");
    is_clean(&room);
}

#[test]
fn a_workspace_with_mounts_inside_is_not_tried() {
    if !can_hold() {
        return;
    }
    let room = room();
    let (ws, store) = (room.text("ws"), room.text("tried"));
    fs::create_dir(room.path("ws/a b")).unwrap();
    give_away(&room.path("ws"));
    let prepare = format!("mount -t tmpfs none '{ws}/a b' && cd {ws}");
    let options = ["--write", &ws, "--try", &store, "--take", "all"];
    let Some((code, told)) = in_own_mounts(&room, &prepare, &options, "echo ran; echo y > h") else { return };
    assert_eq!(code, Some(126), "{told}");
    assert!(told.contains("a b: something is mounted here") && !told.contains("ran\n"), "{told}");
    assert!(!room.path("ws/h").exists());
    is_clean(&room);
}

#[test]
fn a_store_that_the_run_could_write_is_refused() {
    if !can_hold() {
        return;
    }
    let room = room();
    let ws = room.text("ws");
    let output = room.held(&["--write", &ws, "--try", &room.text("ws/store")], &["echo", "ran"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(126), 0));
    fs::remove_dir_all(room.path("ws/store")).unwrap();
}

#[test]
fn permissions_that_shut_out_their_owner_are_no_obstacle() {
    if !can_hold() {
        return;
    }
    let room = room();
    fs::create_dir(room.path("ws/d")).unwrap();
    fs::write(room.path("ws/d/f"), "x\n").unwrap();
    give_away(&room.path("ws"));
    let script = "echo y > d/f; chmod 000 d/f; chmod 000 d; mkdir e; echo x > e/x; chmod 000 e/x; chmod 111 e";
    let (code, told) = run(&room, &["--take", "all"], script);
    assert_eq!(code, Some(0), "{told}");
    assert!(!told.contains("refused"), "{told}");
    assert_eq!(fs::metadata(room.path("ws/d")).unwrap().mode() & 0o777, 0, "{told}");
    assert_eq!(fs::metadata(room.path("ws/e")).unwrap().mode() & 0o777, 0o111, "{told}");
    fs::set_permissions(room.path("ws/d"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(fs::metadata(room.path("ws/d/f")).unwrap().mode() & 0o777, 0, "{told}");
    is_clean(&room);
}
