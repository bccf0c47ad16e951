//! What runs leave behind, work trees whose store is elsewhere, and settings without their secrets.

use crate::room::{Room, err, out, users};
use std::fs;

#[test]
fn new_steering_files_are_moved_aside_wherever_they_are() {
    for user in users() {
        let room = Room::new(user);
        room.repository();
        let script = "mkdir -p sub/.cargo sub/.husky node_modules/x; \
             for f in sub/CLAUDE.md sub/.npmrc sub/.cargo/config.toml sub/x.pth sub/b.code-workspace sub/.husky/pre-commit; \
             do echo evil > $f; done; echo fine > sub/main.c; echo fine > node_modules/x/CLAUDE.md; \
             git init -q other; git -C other config core.fsmonitor evil; git init -q plain";
        let output = room.unseen(script);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let project = room.path("project");
        for gone in ["CLAUDE.md", ".npmrc", ".cargo/config.toml", "x.pth", "b.code-workspace", ".husky"] {
            assert!(!project.join("sub").join(gone).exists(), "{gone}: {}", err(&output));
        }
        assert!(!project.join("other/.git").exists() && project.join("plain/.git/config").exists());
        assert!(project.join("sub/main.c").exists() && project.join("node_modules/x/CLAUDE.md").exists());
        let line = err(&output).lines().last().unwrap().to_owned();
        assert!(line.contains("writing ./sub/CLAUDE.md (moved to "), "{line}");
        let back = room.happenings().pop().unwrap().held.unwrap().back;
        assert!(back.iter().any(|it| it.verb == "write" && it.target.contains("sub/x.pth")), "{back:?}");
        assert_eq!(fs::read_dir(room.path("home/.local/state/sayso/hold/open")).unwrap().count(), 0);
    }
}

/// An editor looks for repositories there too, and asks git what has changed in them.
#[test]
fn repositories_in_folders_that_builds_fill_are_looked_at() {
    for user in users() {
        let room = Room::new(user);
        room.repository();
        let fetched = room.path("project/build/fetched");
        fs::create_dir_all(&fetched).unwrap();
        room.give_away();
        let mut init = room.prepare(std::process::Command::new("git"));
        assert!(init.args(["init", "-q"]).arg(&fetched).status().unwrap().success());
        let script = "git -C build/fetched config core.fsmonitor evil; mkdir -p dist build; git init -q dist/plain; \
             for d in dist build/sub; do git init -q $d; git -C $d config core.fsmonitor evil; done; \
             git init -q --bare build/bare.git; git -C build/bare.git config core.fsmonitor evil";
        let output = room.unseen(script);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let project = room.path("project");
        for gone in ["dist/.git", "build/sub/.git", "build/bare.git", "build/fetched/.git"] {
            assert!(!project.join(gone).exists(), "{gone}: {}", err(&output));
        }
        assert!(project.join("dist/plain/.git/config").exists());
    }
}

#[test]
fn a_work_tree_whose_store_is_elsewhere_can_be_worked_in() {
    for user in users() {
        let room = Room::new(user);
        // The project is a work tree of a repository outside.
        fs::remove_dir(room.path("project")).unwrap();
        fs::create_dir(room.path("outside/main")).unwrap();
        room.give_away();
        let main = room.text("outside/main");
        let git = |words: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.args(["-C", &main, "-c", "user.name=a", "-c", "user.email=a@b.example"]).args(words);
            let mut command = room.prepare(command);
            command.current_dir(&main);
            let done = command.output().unwrap();
            assert!(done.status.success(), "{}", err(&done));
            out(&done)
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["config", "user.name", "a"]);
        git(&["config", "user.email", "a@b.example"]);
        fs::write(room.path("outside/main/file"), "one\n").unwrap();
        room.give_away();
        git(&["add", "file"]);
        git(&["commit", "-qm", "one"]);
        fs::create_dir(room.path("project")).unwrap();
        room.give_away();
        git(&["worktree", "add", "-q", "-b", "topic", &room.text("project")]);
        let script = "set -e; echo two > two; git add two; git commit -qm two; git switch -qc other HEAD~1; \
             echo three > three; git add three; git commit -qm three; git rebase -q topic; \
             echo dirty >> file; git stash -q; git stash pop -q; git checkout -q file; git gc -q; git tag t; \
             git log --oneline | wc -l; git status --porcelain -- two three file; \
             git config core.fsmonitor evil && exit 9; \
             echo evil > $(git rev-parse --git-common-dir)/hooks/pre-commit && exit 9; \
             echo evil > $(git rev-parse --git-common-dir)/../new && exit 9; true";
        let output = room.unseen(script);
        assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
        assert_eq!(out(&output).trim(), "3", "{}", err(&output));
        assert_eq!(git(&["log", "--oneline", "other"]).lines().count(), 3);
        assert!(!fs::read_to_string(room.path("outside/main/.git/config")).unwrap().contains("evil"));
        assert!(!room.path("outside/main/.git/hooks/pre-commit").exists() && !room.path("outside/main/new").exists());
        // What git would go on with, unheld.
        let output = room.unseen(
            "d=$(git rev-parse --git-dir); mkdir -p $d/rebase-merge; echo 'exec evil' > $d/rebase-merge/git-rebase-todo; \
             echo '[core]' > $d/config.worktree; true",
        );
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let own = room.path("outside/main/.git/worktrees/project");
        assert!(!own.join("rebase-merge").exists() && !own.join("config.worktree").exists(), "{}", err(&output));
        // A file that only says that the store is there gives nothing.
        fs::create_dir_all(room.path("outside/secret/.git/worktrees/x")).unwrap();
        fs::write(room.path("project/.git"), format!("gitdir: {}\n", room.text("outside/secret/.git"))).unwrap();
        room.give_away();
        let output = room.unseen(&format!("echo evil > {}", room.text("outside/secret/.git/x")));
        assert_ne!(output.status.code(), Some(0));
        assert!(!room.path("outside/secret/.git/x").exists());
    }
}

#[test]
fn settings_and_variables_come_without_their_secrets() {
    for user in users() {
        let room = Room::new(user);
        let home = room.path("home");
        for folder in [".cargo", ".config/pip"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for (name, text) in [
            (
                ".gitconfig",
                "[user]\n\tname = Ann\n[url \"https://hunter2@git.example/\"]\n\tinsteadOf = https://git.example/\n",
            ),
            (".cargo/config.toml", "[registries.corp]\nindex = \"https://r.example/\"\ntoken = \"hunter2\"\n"),
            (".config/pip/pip.conf", "[global]\nindex-url = https://ann:hunter2@pypi.example/simple\n"),
            (".npmrc", "registry=https://r.example/\n//r.example/:_authToken=hunter2\n"),
        ] {
            fs::write(home.join(name), text).unwrap();
        }
        room.give_away();
        room.file("s.py", "import subprocess, sys\nsys.exit(subprocess.call(['sh', '-c', 'cat ~/.gitconfig ~/.cargo/config.toml ~/.config/pip/pip.conf ~/.npmrc; git config user.name; env']))\n");
        let mut command = room.command(&["run", "--", "python3", "s.py"]);
        command.env("HTTPS_PROXY", "http://ann:hunter2@proxy.example:3128");
        command.env("HARMLESS", format!("ghp_{}", "hunter2a".repeat(5)));
        let output = command.output().unwrap();
        let text = out(&output);
        assert_eq!(output.status.code(), Some(0), "{text}{}", err(&output));
        assert!(!text.contains("hunter2"), "{text}");
        for kept in ["\nAnn\n", "pypi.example/simple", "https://git.example/", "registry=https://r.example/"] {
            assert!(text.contains(kept), "{kept} is gone: {text}");
        }
        assert!(text.contains("HTTPS_PROXY=http://proxy.example:3128\n") && !text.contains("HARMLESS"), "{text}");
        assert!(!err(&output).contains(".gitconfig"), "{}", err(&output));
    }
}

#[test]
fn where_nobody_can_look_for_what_a_run_left_calls_ask() {
    for user in users().into_iter().take(1) {
        let room = Room::new(user);
        room.repository();
        let script = "mkdir -p sub && echo evil > sub/CLAUDE.md && python3 -c '\
             import os; os.mkdir(\"many\"); [os.mkdir(\"many/%d\" % n) for n in range(50100)]'";
        let output = room.unseen(script);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        assert!(err(&output).contains("held back"), "{}", err(&output));
        assert!(room.path("project/sub/CLAUDE.md").exists(), "a run that is not too large would show nothing");
        // Whatever the policy allows, until somebody can look.
        let asked = room.sh("echo unseen");
        assert_eq!((asked.status.code(), out(&asked).as_str()), (Some(125), ""), "{}", err(&asked));
        assert!(err(&asked).contains("cannot be listed"), "{}", err(&asked));
        let call = format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","cwd":"{}","tool_name":"Bash","tool_input":{{"command":"git log"}}}}"#,
            room.text("project")
        );
        let hooked = room.with_input(&["hook", "claude-code"], call.as_bytes());
        assert!(!out(&hooked).contains(r#""allow""#) && out(&hooked).contains("cannot be listed"), "{}", out(&hooked));
        // Elsewhere nothing has changed.
        let mut elsewhere = room.command(&["run", "--", "echo", "hello"]);
        let elsewhere = elsewhere.current_dir(room.path("outside")).output().unwrap();
        assert_eq!((elsewhere.status.code(), out(&elsewhere).as_str()), (Some(0), "hello\n"), "{}", err(&elsewhere));
        fs::remove_dir_all(room.path("project/many")).unwrap();
        let again = room.sh("echo seen");
        assert_eq!((again.status.code(), out(&again).as_str()), (Some(0), "seen\n"), "{}", err(&again));
        assert!(!room.path("project/sub/CLAUDE.md").exists());
        assert_eq!(fs::read_dir(room.path("home/.local/state/sayso/hold/open")).unwrap().count(), 0);
    }
}
