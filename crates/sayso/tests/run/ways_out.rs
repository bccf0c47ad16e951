//! Ways around the bounds that a policy gives, which only show with real bounds: what a repository's settings name, stores that
//! files are linked from, the folders around everybody's temporary files, another home.
//!
//! Each is tried held. What it is tried with has to work without a hold, or it would show nothing.

use crate::room::{Room, User, err, out, users};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const WITH_SCRATCH: &str = r#"
default = "allow"
[allow]
write = ["./**", "@scratch"]
[deny]
read = ["@secrets"]
[hold]
run = ["@builds", "@scripts", "@code"]
"#;

#[test]
fn what_the_settings_of_a_repository_name_stays_as_it_is() {
    for user in users() {
        let room = Room::new(user);
        room.repository();
        let files =
            ["tools/hooks/pre-commit", "tools/fsmonitor", "shared.gitconfig", "tools/filter.sh", "tools/of-user"];
        for name in files {
            let path = room.file(name, "#!/bin/sh\nexit 0\n");
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        room.file("shared.gitconfig", "[filter \"x\"]\n\tclean = sh ./tools/filter.sh\n");
        let config = room.path("project/.git/config");
        let text = fs::read_to_string(&config).unwrap();
        let more = "[core]\n\thooksPath = tools/hooks\n\tfsmonitor = ./tools/fsmonitor\n[include]\n\tpath = ../shared.gitconfig\n";
        fs::write(&config, format!("{text}{more}")).unwrap();
        fs::write(room.path("home/.gitconfig"), "[core]\n\teditor = tools/of-user\n").unwrap();
        room.give_away();
        let tries: String = files
            .iter()
            .map(|name| format!("echo evil >> {name} && echo THROUGH {name}; rm -f {name} && echo THROUGH {name};"))
            .collect();
        let script = format!(
            "{tries} echo evil > tools/hooks/post-merge; mv tools other && echo THROUGH mv; echo fine > tools/other; \
             rm -rf tools/hooks"
        );
        let output = room.unseen(&script);
        assert!(!out(&output).contains("THROUGH"), "{}{}", out(&output), err(&output));
        for name in files {
            assert!(!fs::read_to_string(room.path("project").join(name)).unwrap().contains("evil"), "{name}");
        }
        assert!(!room.path("project/tools/hooks/post-merge").exists());
        assert!(room.path("project/tools/other").exists(), "nothing else is kept: {}", err(&output));
    }
}

#[test]
fn a_store_that_files_are_linked_from_is_not_written_through_them() {
    for user in users() {
        let room = Room::new(user);
        fs::create_dir_all(room.path("outside/store")).unwrap();
        for (name, place) in [
            ("one", "node_modules/a/index.js"),
            ("two", ".venv/lib/x.py"),
            ("three", "src/shared.c"),
            ("four", "packages/b/node_modules/c/index.js"),
        ] {
            let (stored, linked) = (room.path("outside/store").join(name), room.path("project").join(place));
            fs::write(&stored, name).unwrap();
            fs::create_dir_all(linked.parent().unwrap()).unwrap();
            fs::hard_link(&stored, &linked).unwrap();
        }
        room.file("src/main.c", "int main;\n");
        room.give_away();
        let script = "for f in node_modules/a/index.js .venv/lib/x.py src/shared.c packages/b/node_modules/c/index.js; do \
             echo evil >> $f; chmod 777 $f; ln $f $f.again; echo evil >> $f.again; truncate -s 1 $f; done; \
             cat node_modules/a/index.js; echo more >> src/main.c; true";
        let output = room.unseen(script);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        for name in ["one", "two", "three", "four"] {
            let path = room.path("outside/store").join(name);
            assert_eq!(fs::read_to_string(&path).unwrap(), name, "{}", err(&output));
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644, "{name}");
        }
        assert!(fs::read_to_string(room.path("project/src/main.c")).unwrap().contains("more"));
        // What a held run changed is there for the next one.
        let again = room.unseen("wc -c < node_modules/a/index.js");
        assert_eq!(out(&again).trim(), "1", "{}", err(&again));
    }
}

#[test]
fn nothing_that_steers_is_left_around_everybodys_temporary_files() {
    for user in users() {
        let room = Room::new(user);
        // The room, and so its home, is in the other one, which is too wide to be written then.
        room.policy(WITH_SCRATCH);
        let names = [".git", ".cargo/config.toml", "CLAUDE.md", ".npmrc", ".envrc"];
        // Somebody else's are nobody's business.
        let free: Vec<&str> = names
            .into_iter()
            .filter(|name| !Path::new("/tmp").join(name.split('/').next().unwrap()).exists())
            .collect();
        let makes: String = free
            .iter()
            .map(|name| format!("mkdir -p $(dirname /tmp/{name}); echo evil > /tmp/{name} && echo made;"))
            .collect();
        let output = room.unseen(&makes);
        assert_eq!(out(&output).matches("made").count(), free.len(), "{}{}", out(&output), err(&output));
        for name in free {
            let path = Path::new("/tmp").join(name);
            let left = path.exists();
            if name.contains('/') {
                let _ = fs::remove_dir_all(path.parent().unwrap());
            }
            assert!(!left, "{name}: {}", err(&output));
        }
    }
}

#[test]
fn the_home_of_the_user_database_is_as_empty_as_the_one_of_the_environment() {
    // The environment of these tests names another home than root's own.
    if !users().contains(&User::Own) || !rustix::process::geteuid().is_root() || !Path::new("/root").is_dir() {
        eprintln!("not run: root's home is not there");
        return;
    }
    let room = Room::new(User::Own);
    let mark = tempfile::Builder::new().prefix(".sayso-test-").tempdir_in("/root").unwrap();
    fs::write(mark.path().join("diary"), "s3cret").unwrap();
    let shown = mark.path().display();
    let output =
        room.unseen(&format!("cat {shown}/diary; ls -a /root; echo evil > {shown}/new; echo evil > /root/.evil"));
    let said = out(&output);
    assert!(!said.contains("s3cret") && !said.contains(".sayso-test-") && !said.contains(".bashrc"), "{said}");
    assert!(!mark.path().join("new").exists() && !Path::new("/root/.evil").exists());
}

#[test]
fn a_download_that_is_held_back_says_what_would_open_it() {
    for user in users() {
        let room = Room::new(user);
        let look_up =
            |host: &str| room.unseen(&format!("python3 -c \"import socket; socket.getaddrinfo('{host}', 443)\""));
        let last = |output: std::process::Output| err(&output).lines().last().unwrap_or_default().to_owned();
        let line = last(look_up("index.crates.io"));
        assert!(line.contains("index.crates.io") && line.contains("connect = [\"@registries\"]"), "{line}");
        let line = last(look_up("strange.example"));
        assert!(line.contains("strange.example") && !line.contains("@registries"), "{line}");
    }
}
