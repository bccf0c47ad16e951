//! A command behaves as without Sayso, but for what it may not do.

use crate::room::{Room, err, out, until, users};
use sayso_gate::audit::What;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

#[test]
fn exit_codes_are_the_commands_own_or_say_why_nothing_ran() {
    for user in users() {
        let room = Room::new(user);
        for (words, code) in [
            (&["run", "--", "true"][..], 0),
            (&["run", "--", "sh", "-c", "exit 7"], 7),
            (&["run", "--", "sh", "-c", "exit 126"], 126),
            (&["run", "--need", "files", "--", "true"], 0),
            (&["run", "--", "no-such-program"], 127),
            (&["run", "--", "./no-such-program"], 127),
            (&["run", "--", "export", "A=b"], 127),
            (&["run", "--", "git", "push", "--force"], 125),
            (&["run"], 125),
            (&["run", "--need", "everything", "--", "true"], 125),
            (&["run", "--home", "/", "--", "true"], 125),
            (&["run", "--permit", "00000000000000000000000000000000", "--", "true"], 125),
            (&["run", "--help"], 0),
        ] {
            let output = room.sayso(words);
            assert_eq!(output.status.code(), Some(code), "{user:?} {words:?}: {}", err(&output));
        }
        let denied = room.sayso(&["run", "--", "git", "push", "--force"]);
        assert!(err(&denied).starts_with("sayso: not run, denied: "), "{}", err(&denied));
    }
}

#[test]
fn what_asks_does_not_run_where_nobody_answers() {
    for user in users() {
        let room = Room::new(user);
        room.policy("default = \"ask\"\n");
        let output = room.sayso(&["run", "--", "touch", "ran"]);
        assert_eq!(output.status.code(), Some(125), "{}", err(&output));
        assert!(err(&output).contains("not run"), "{}", err(&output));
        assert!(!room.path("project/ran").exists());
    }
}

#[test]
fn a_caller_names_no_policy_and_no_actor() {
    for user in users() {
        let room = Room::new(user);
        for option in ["--policy", "--agent", "--session", "--workspace", "--cwd", "--team", "--tenant"] {
            let output = room.sayso(&["run", option, "x", "--", "touch", "ran"]);
            assert_eq!(output.status.code(), Some(125), "{option}");
        }
        assert!(!room.path("project/ran").exists());
        assert_eq!(room.sh("true").status.code(), Some(0));
        let record = room.decisions().pop().unwrap();
        assert_eq!((record.way_in.as_str(), &record.actor.agent, &record.actor.session), ("run", &None, &None));
    }
}

#[test]
fn pipes_reach_the_command_byte_for_byte() {
    for user in users() {
        let room = Room::new(user);
        let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        let output = room.with_input(&["run", "--", "cat"], &bytes);
        assert!(output.status.success() && output.stdout == bytes && output.stderr.is_empty(), "{}", err(&output));
        // Whoever reads has had enough.
        let script = format!("{} run -- yes | head -n 1; echo ${{PIPESTATUS[0]}}", room.text("bin/sayso"));
        let mut command = Command::new("bash");
        command.arg("-c").arg(script);
        let output = room.prepare(command).output().unwrap();
        assert_eq!(out(&output), "y\n141\n", "{}", err(&output));
    }
}

#[test]
fn folder_environment_and_mask_are_those_of_the_caller() {
    for user in users() {
        let room = Room::new(user);
        fs::create_dir(room.path("project/a\nb 'c'")).unwrap();
        room.give_away();
        let script =
            format!("umask 027; exec {} run -- sh -c 'pwd; echo \"$MINE\"; umask; : > new'", room.text("bin/sayso"));
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        let mut command = room.prepare(command);
        let output = command.env("MINE", "a\nb").current_dir(room.path("project/a\nb 'c'")).output().unwrap();
        assert_eq!(out(&output), format!("{}\na\nb\n0027\n", room.text("project/a\nb 'c'")), "{}", err(&output));
        assert!(room.path("project/a\nb 'c'/new").exists());
    }
}

#[test]
fn signals_reach_the_command_and_its_end_is_told() {
    for user in users() {
        let room = Room::new(user);
        for signal in ["TERM", "INT", "HUP", "USR1"] {
            let script = format!("trap 'echo got; exit 3' {signal}; echo ready > ready; while :; do sleep 0.05; done");
            let child = room
                .command(&["run", "--", "sh", "-c", &script])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            until("the command is ready", || room.path("project/ready").exists());
            Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!((output.status.code(), out(&output).as_str()), (Some(3), "got\n"), "{signal}: {}", err(&output));
            fs::remove_file(room.path("project/ready")).unwrap();
        }
        for (name, number) in [("TERM", 15), ("KILL", 9), ("SEGV", 11)] {
            let script = format!("import os, signal; os.kill(os.getpid(), signal.SIG{name})");
            let output = room.sayso(&["run", "--", "python3", "-c", &script]);
            assert_eq!(output.status.signal(), Some(number), "{name}: {}", err(&output));
        }
    }
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    for user in users() {
        let room = Room::new(user);
        let output = room.sh("(sleep 1; echo late > late) & echo started");
        assert_eq!(out(&output), "started\n", "{}", err(&output));
        std::thread::sleep(std::time::Duration::from_millis(1500));
        assert!(!room.path("project/late").exists());
    }
}

#[test]
fn a_command_is_held_and_what_was_held_back_is_told_and_recorded() {
    for user in users() {
        let room = Room::new(user);
        room.repository();
        room.file(".env", "PASSWORD=hunter2\n");
        fs::write(room.path("home/diary"), "dear diary\n").unwrap();
        room.give_away();
        let script =
            "echo in > in; echo out > ../outside/out; cat ../home/diary; cat .env; getent hosts evil.example; true";
        let output = room.unseen(script);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        assert!(room.path("project/in").exists() && !room.path("outside/out").exists());
        assert!(!out(&output).contains("hunter2") && !out(&output).contains("dear diary"), "{}", out(&output));
        let line = err(&output).lines().last().unwrap().to_owned();
        assert!(line.starts_with("sayso: held back: "), "{}", err(&output));
        assert!(line.contains("evil.example") && line.contains("./.env"), "{line}");

        let happened = room.happenings().pop().unwrap();
        let decision = room.decisions().pop().unwrap();
        let held = happened.held.unwrap();
        assert_eq!((happened.what, held.level.as_deref(), held.code), (What::HeldRun, Some("whole"), Some(0)));
        assert_eq!(held.record.as_deref(), Some(decision.id.as_str()));
        assert!(held.back.iter().any(|back| back.verb == "connect" && back.target.starts_with("evil.example")));
        assert!(held.back.iter().any(|back| back.verb == "read" && back.target.ends_with("/.env")));
        let log = out(&room.sayso(&["log", "--kind", "happening"]));
        assert!(log.contains("held-run") && log.contains("evil.example"), "{log}");
    }
}

#[test]
fn what_the_run_calls_things_is_made_visible() {
    for user in users() {
        let room = Room::new(user);
        room.repository();
        room.file("a\u{1b}[2J\n.env", "X=1\n");
        let host = "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example";
        let read = "import os, socket\nfor name in os.listdir('.'):\n  if os.path.isfile(name): open(name).read()\n";
        room.file("script.py", &format!("{read}try: socket.getaddrinfo('{host}', 80)\nexcept OSError: pass\n"));
        let output = room.sayso(&["run", "--", "python3", "script.py"]);
        assert_eq!(output.status.code(), Some(0), "{user:?}: {}", err(&output));
        let told = err(&output);
        assert!(told.starts_with("sayso: held back: "), "{told:?}");
        assert!(!told.contains('\u{1b}') && told.lines().count() == 1 && !told.contains("ghp_aaaa"), "{told:?}");
        let text = format!("{:?}", room.happenings().pop().unwrap());
        assert!(!text.contains("ghp_aaaa"), "{text}");
    }
}

#[test]
fn nothing_is_left_in_the_project() {
    for user in users() {
        let room = Room::new(user);
        room.file("Makefile", "all:\n\techo built > out.txt\n");
        room.unseen("true");
        room.repository();
        room.file(".env", "A=b\n");
        let output = room.unseen("echo built > out.txt; cat .env > /dev/null; echo x > .git/hooks/pre-commit; true");
        assert!(output.status.success(), "{}", err(&output));
        assert_eq!(out(&room.git(&["status", "--porcelain", "--", ":!script.py"])), "");
        assert!(!room.path("project/.git/hooks/pre-commit").exists());
        assert_eq!(fs::read_to_string(room.path("project/out.txt")).unwrap(), "built\n");
        let mut names: Vec<String> = fs::read_dir(room.path("project"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [".env", ".git", ".gitignore", "Makefile", "out.txt", "script.py"]);
    }
}

#[test]
fn a_hold_in_a_hold_is_the_outer_one() {
    for user in users() {
        let room = Room::new(user);
        let sayso = room.text("bin/sayso");
        let inner =
            format!("{sayso} run -- sh -c 'echo hi; echo x > ../outside/out'; {sayso} run -- no-such-program; echo $?");
        let output = room.sh(&inner);
        assert_eq!(out(&output), "hi\n127\n", "{}", err(&output));
        assert!(!room.path("outside/out").exists());
    }
}

#[test]
fn without_user_namespaces_nothing_runs() {
    for user in users() {
        let room = Room::new(user);
        // In a user namespace of its own, root may switch further ones off.
        let run = |words: &str| {
            let sayso = room.text("bin/sayso");
            let script = format!("echo 0 > /proc/sys/user/max_user_namespaces || exit 99; exec {sayso} {words}");
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "sh", "-c", &script]);
            room.prepare(command).output().unwrap()
        };
        let output = run("run -- touch ran");
        if output.status.code() == Some(99) || err(&output).starts_with("unshare:") {
            eprintln!("not run: {}", err(&output));
            continue;
        }
        assert_eq!(output.status.code(), Some(126), "{user:?}: {}", err(&output));
        assert!(err(&output).contains("nothing ran") && err(&output).contains("doctor --hold"), "{}", err(&output));
        assert!(!room.path("project/ran").exists());
        let output = run("doctor --hold");
        assert_eq!(output.status.code(), Some(1));
        assert!(out(&output).contains("sysctl -w user.max_user_namespaces"), "{}", out(&output));
    }
}

#[test]
fn the_doctor_says_what_can_be_held() {
    for user in users() {
        let room = Room::new(user);
        let output = room.sayso(&["doctor", "--hold", "--json"]);
        let said: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
        assert_eq!((&said["level"], &said["whole"]["ok"]), (&"whole".into(), &true.into()), "{said}");
        let whole: serde_json::Value = serde_json::from_str(&out(&room.sayso(&["doctor", "--json"]))).unwrap();
        assert_eq!(whole["hold"]["level"], "whole");
        assert!(out(&room.sayso(&["doctor"])).contains("\nhold     ok     commands can be held whole\n"));
    }
}

#[test]
fn a_hook_lets_sayso_run_pass_where_it_would_ask_for_the_command_alone() {
    for user in users() {
        let room = Room::new(user);
        let sayso = room.text("bin/sayso");
        let hook = |command: &str| {
            let event = serde_json::json!({"session_id": "s", "cwd": room.path("project"), "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": {"command": command}});
            let output = room.with_input(&["hook", "claude-code"], event.to_string().as_bytes());
            let said: serde_json::Value = serde_json::from_str(&out(&output)).unwrap_or_default();
            said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none").to_owned()
        };
        room.policy("extends = [\"developer\"]\n");
        room.file("x.py", "print(1)\n");
        room.file("sub/x.py", "print(1)\n");
        assert_eq!(hook("python3 x.py"), "ask");
        assert_eq!(hook(&format!("{sayso} run -- python3 x.py")), "allow");
        assert_eq!(hook(&format!("{sayso} run -- python3 x.py 2>&1 | tail -5")), "allow");
        for other in [
            format!("HOME=/tmp/x {sayso} run -- python3 x.py"),
            format!("HOME=/tmp/x; {sayso} run -- python3 x.py"),
            format!("export HOME=/tmp/x; {sayso} run -- python3 x.py"),
            format!("env HOME=/tmp/x {sayso} run -- python3 x.py"),
            format!("cd / && {sayso} run -- python3 x.py"),
            // There `.` means another folder in every rule.
            format!("cd sub && {sayso} run -- python3 x.py"),
            format!("{sayso} run --need files -- python3 x.py"),
            format!("{sayso} run -- python3 x.py; python3 x.py"),
            format!("{sayso} run --permit 1234 -- python3 x.py"),
            format!("{sayso} run --home / --permit 1234 -- python3 x.py"),
            "./sayso run -- python3 x.py".to_owned(),
            "sayso run -- python3 x.py".to_owned(),
        ] {
            assert_eq!(hook(&other), "ask", "{other}");
        }
        assert_eq!(hook(&format!("{sayso} run -- git push --force")), "deny");
        assert_eq!(hook(&format!("{sayso} run -- cat .env")), "deny");
        assert_eq!(hook(&format!("{sayso} approvals list")), "deny");
    }
}
