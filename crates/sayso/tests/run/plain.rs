//! The same commands with and without `sayso run`: what they print, how they end and what they leave must be the same.

use crate::room::{Room, users};
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A script a line, for bash, in a fresh project.
const SCRIPTS: &[&str] = &[
    "echo out; echo err >&2; exit 3",
    "true",
    "false",
    r"printf 'a\0b\377'",
    "cat data",
    "cat",
    "cat <&-; echo $?",
    "echo x >&-; echo $?",
    "echo x 2>&- 1>&2; echo $?",
    "exec <&- ; readlink /proc/self/fd/0 || echo closed",
    "pwd; cd sub; pwd; echo $OLDPWD",
    "env | sort | grep -v '^_='",
    "umask; umask 077; touch made; stat -c %a made",
    "ulimit -n; ulimit -s",
    "kill -TERM $$",
    "kill -KILL $$",
    "kill -SEGV $$",
    "trap 'echo got; exit 5' USR1; kill -USR1 $$; echo no",
    "trap '' PIPE; yes | head -1 >/dev/null; echo ${PIPESTATUS[@]}",
    "sleep 0.1 & wait $!; echo $?; jobs",
    "(exit 7) | cat; echo $? ${PIPESTATUS[0]}",
    "set -o pipefail; false | true; echo $?",
    "seq 100000 | head -2",
    "head -c 3000000 /dev/zero | wc -c",
    "set -m; sleep 0.1 & fg >/dev/null; echo $?",
    "timeout 0.2 sleep 5; echo $?",
    "nice -n 5 nice",
    "nosuchprogram; echo $?",
    "./data; echo $?",
    "exec nosuchprogram",
    "exec 3>three; echo hi >&3; exec 3>&-; cat three",
    "for f in 0 1 2; do test -t $f && echo terminal $f; done; tty",
    "id -u; id -g",
    "ls -la --time-style=+ | awk '{print $1, $NF}'",
    "mkdir -p a/b; echo 1 > a/b/c; mv a d; rm d/b/c; rmdir d/b; find d",
    "ln -s data link; readlink link; cat link; ln data hard; stat -c %h data",
    "mkfifo pipe; echo through > pipe & cat pipe; wait",
    "cp -p data copy; touch -d @1000000000 copy; stat -c '%Y %s' copy",
    "tar cf - data sub | tar tf -",
    "cat <<END | tr a-z A-Z\nhere $((1 + 2))\nEND",
    "cat <(echo one) <(echo two)",
    "python3 -c 'import sys; print(sys.argv[1:], sys.stdin.read()); sys.exit(300)' x ''",
    "git add data && git -c user.name=a -c user.email=a@b commit -qm one && git log --format=%s && git status --short",
    "printf 'all:\\n\\t@echo made\\n\\t@exit 2\\n' > Makefile; make; echo $?",
    "echo $$ > own; kill -0 $(cat own) && echo alive",
    "printf '%s|' \"$0\" \"$@\"",
    "read line; echo \"$line\"; read line; echo $?",
    "stty 2>&1; echo $?",
    "mktemp -d -p . t.XXXX | tr -d a-zA-Z0-9",
    "date -d @0 +%Z%s; locale 2>/dev/null | head -2",
    "( trap 'echo bye' EXIT; exit 4 ); echo $?",
    "coproc cat; echo hi >&${COPROC[1]}; read -u ${COPROC[0]} it; echo $it",
];

/// Starts what follows in its place: what the policy thinks of a script is not the question here.
const LAUNCH: &str =
    "import os, signal, sys\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\nos.execvp(sys.argv[1], sys.argv[1:])\n";

/// Words after the program: long, many, odd.
fn arguments() -> Vec<Vec<OsString>> {
    let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    vec![
        vec!["".into(), " ".into(), "-c".into(), "--".into(), "--help".into(), "'\"$x`".into(), "a\nb".into()],
        vec![bytes(b"\xff\xfe"), bytes(b"a\xffb/\x80"), bytes(b"\x1b[31m")],
        // Commands above 64 KiB are opaque, and ask.
        vec!["x".repeat(60_000).into()],
        (0..3_000).map(|number| OsString::from(format!("word{number}"))).collect(),
    ]
}

fn project(folder: &Path) {
    fs::remove_dir_all(folder).unwrap();
    fs::create_dir_all(folder.join("sub")).unwrap();
    fs::write(folder.join("data"), "first\nsecond\n").unwrap();
    fs::write(folder.join("sub/inner"), "inner\n").unwrap();
    fs::write(folder.join("launch.py"), LAUNCH).unwrap();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(folder).status().unwrap().success());
}

/// What the command leaves, by names and contents.
fn left(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            // Objects and numbers of processes are others each time.
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if kind.is_file() && name != "own" {
                found.push((name, fs::read(path).unwrap()));
            } else if !name.starts_with("t.") {
                found.push((name, Vec::new()));
            }
        }
    }
    found.retain(|(name, _)| !name.starts_with("t."));
    found.sort();
    found
}

/// Runs it in a fresh project; standard input is a file.
fn go(room: &Room, held: bool, words: &[OsString]) -> (Output, Vec<(String, Vec<u8>)>) {
    let folder = room.path("project");
    project(&folder);
    fs::write(room.path("outside/input"), "line one\nline two\n").unwrap();
    room.give_away();
    let mut command = match held {
        true => room.command(&["run", "--", "python3", "launch.py"]),
        false => room.prepare(Command::new("python3")),
    };
    if !held {
        command.arg("launch.py");
    }
    command.args(words);
    command.env("LANG", "C.UTF-8").stdin(File::open(room.path("outside/input")).unwrap());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.output().unwrap();
    (output, left(&folder))
}

fn said(output: &Output) -> (Option<i32>, Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), output.status.signal(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_held_command_does_what_it_does_without_a_hold() {
    let scripts = SCRIPTS.iter().map(|script| vec!["bash", "-c", *script, "zero", "one", "t w o"]);
    let scripts = scripts.map(|words| words.into_iter().map(OsString::from).collect());
    let odd = arguments().into_iter().map(|rest| {
        let first = ["bash", "-c", "printf '%s\\n' \"$#\" \"$@\"", "zero"];
        first.into_iter().map(OsString::from).chain(rest).collect()
    });
    let all: Vec<Vec<OsString>> = scripts.chain(odd).collect();
    assert!(all.len() >= 50);
    for user in users() {
        let room = Room::new(user);
        let mut differ = Vec::new();
        for words in &all {
            let (plain, held) = (go(&room, false, words), go(&room, true, words));
            if said(&plain.0) != said(&held.0) || plain.1 != held.1 {
                let script = words.get(2).map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
                let cut = |text: String| text.chars().take(400).collect::<String>();
                differ.push(format!(
                    "{script}\n  plain {}\n  held  {}",
                    cut(format!("{plain:?}")),
                    cut(format!("{held:?}"))
                ));
            }
        }
        assert!(differ.is_empty(), "{user:?}: {} of {} differ:\n{}", differ.len(), all.len(), differ.join("\n"));
    }
}
