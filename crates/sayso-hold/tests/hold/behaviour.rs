//! A held run behaves like one that is not: exit codes, streams, signals, folders.

use crate::room::{Room, can_hold, give_away};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn the_exit_code_is_the_programs_own() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let ws = room.text("ws");
    let code = |words: &[&str]| room.held(&["--write", &ws], words).status.code();
    for wanted in [0, 1, 42, 125, 126, 127, 255] {
        assert_eq!(code(&["sh", "-c", &format!("exit {wanted}")]), Some(wanted));
    }
    assert_eq!(code(&["sh", "-c", "kill -TERM $$"]), Some(128 + 15));
    assert_eq!(code(&["no-such-program-anywhere"]), Some(127));
    assert_eq!(code(&["/etc/passwd"]), Some(126));
    assert_eq!(room.held(&["--write", "relative"], &["true"]).status.code(), Some(126));
    assert_eq!(room.held(&["--write", "/"], &["true"]).status.code(), Some(126));
    assert_eq!(room.held(&["--unknown", "x"], &["true"]).status.code(), Some(125));
}

#[test]
fn streams_pass_through_as_they_are() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let ws = room.text("ws");
    let mut child = room
        .command(&["--write", &ws], &["sh", "-c", "cat; echo error >&2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let data: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut input = child.stdin.take().unwrap();
    let sent = data.clone();
    let writer = std::thread::spawn(move || input.write_all(&sent).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.stdout == data);
    assert_eq!(output.stderr, b"error\n");
}

#[test]
fn a_pipe_that_is_closed_ends_the_run_as_it_would_without_a_hold() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let mut child = room.command(&["--write", &room.text("ws")], &["yes"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!((line.as_str(), child.wait().unwrap().code()), ("y\n", Some(128 + 13)));
}

#[test]
fn a_signal_to_the_runner_reaches_the_program() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    for (signal, name) in [("-TERM", "TERM"), ("-INT", "INT"), ("-HUP", "HUP"), ("-USR1", "USR1")] {
        let script = format!("trap 'echo got {name}; exit 7' {name}; echo ready; while :; do sleep 0.02; done");
        let mut child = room
            .command(&["--write", &room.text("ws")], &["sh", "-c", &script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!((rest.trim(), child.wait().unwrap().code()), (format!("got {name}").as_str(), Some(7)));
    }
}

#[test]
fn what_runs_in_the_background_ends_with_the_run_and_keeps_no_pipe_open() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let began = Instant::now();
    let output = room.held(&["--write", &room.text("ws")], &["sh", "-c", "sleep 60 & (setsid sleep 60 &) ; echo done"]);
    assert_eq!(output.stdout, b"done\n");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn the_environment_arrives_without_what_is_withheld() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let output = room
        .command(&["--write", &room.text("ws"), "--withhold", "TOKEN"], &["env"])
        .env_clear()
        .env("TOKEN", "s3cret")
        .env("PATH", "/usr/bin:/bin")
        .env("ODD", "a\nb=c")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["ODD=a", "PATH=/usr/bin:/bin", "b=c"]);
}

#[test]
fn a_standard_stream_that_is_a_folder_is_refused() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let mut command = room.command(&["--write", &room.text("ws")], &["true"]);
    let output = command.stdin(fs::File::open(room.path("out")).unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(126));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard stream 0 is a folder"));
}

#[test]
fn a_protected_file_as_standard_input_can_be_read_and_not_written() {
    if !can_hold() {
        return;
    }
    for name in ["ws/.git/config", "ws/config-link", "ws/mise-real.toml"] {
        let room = Room::new();
        let bounds = room.bounds();
        let before = fs::read_to_string(room.path(name)).unwrap();
        let script = "cat; for f in /proc/self/fd/0 /dev/stdin; do echo evil > $f; echo evil >> $f; done";
        let mut command = room.command(&bounds, &["timeout", "5", "bash", "-c", script]);
        let output = command.stdin(fs::File::open(room.path(name)).unwrap()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), before, "{name}");
        assert_eq!(fs::read_to_string(room.path(name)).unwrap(), before, "{name}");
    }
}

#[test]
fn a_network_socket_as_standard_stream_is_refused() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut command = room.command(&["--write", &room.text("ws")], &["true"]);
    let output = command.stdin(std::os::fd::OwnedFd::from(stream)).output().unwrap();
    assert_eq!(output.status.code(), Some(126));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard stream 0 is a network socket"));
}

#[test]
fn what_was_held_back_is_told() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let bounds = room.bounds();
    let bounds: Vec<&str> = bounds.iter().map(String::as_str).collect();
    let output = room.held(&bounds, &["sh", "-c", "cat .env; echo x > .envrc; sleep 0.2; ls -A .envrc; true"]);
    assert_eq!(output.stdout, b"This file is held back.\n", "the file is gone while the run goes on");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(&format!("held back: read {} (1)", room.text("ws/.env"))), "{told}");
    assert!(told.contains(&format!("held back: write {}", room.text("ws/.envrc"))), "{told}");
    assert_eq!(fs::read_dir(room.path("aside")).unwrap().count(), 1);
    assert!(!room.path("ws/.envrc").exists());
}

#[test]
fn odd_names_are_held_like_others() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let odd = room.path("ws/a\nb: c,d\\e=\u{e9}");
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join(".env"), "s3cret").unwrap();
    give_away(&odd);
    let (ws, secret) = (room.text("ws"), odd.join(".env").to_str().unwrap().to_owned());
    let output = room.held(&["--write", &ws, "--decoy", &secret], &["sh", "-c", "cat */.env; cd a*; echo x > new"]);
    assert_eq!(output.stdout, b"This file is held back.\n");
    assert!(odd.join("new").exists());
}

#[test]
fn links_inside_the_bounds_do_not_lead_them_elsewhere() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    std::os::unix::fs::symlink(room.path("out"), room.path("ws/out-link")).unwrap();
    let output = room
        .held(&["--write", &room.text("ws")], &["sh", "-c", "echo evil > out-link/prize; echo evil > out-link/new"]);
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(fs::read_to_string(room.path("out/prize")).unwrap(), "canary\n");
    assert!(!room.path("out/new").exists());
}

#[test]
fn a_workspace_on_another_file_system_is_held_too() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let folder = tempfile::Builder::new().prefix("hold").tempdir_in("/dev/shm").unwrap();
    give_away(folder.path());
    let path = folder.path().to_str().unwrap();
    // The machine's own /dev is not the run's: such a workspace is refused, and nothing runs.
    let output = room.held(&["--write", path], &["true"]);
    assert_eq!(output.status.code(), Some(126));
}

#[test]
fn a_hidden_home_shows_what_is_allowed_inside_it() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    fs::create_dir_all(room.path("home/.cargo/bin")).unwrap();
    fs::create_dir_all(room.path("home/work/app")).unwrap();
    fs::write(room.path("home/.cargo/bin/tool"), "tool").unwrap();
    give_away(&room.path("home"));
    let (home, cargo, work, rc) =
        (room.text("home"), room.text("home/.cargo"), room.text("home/work/app"), room.text("home/.bashrc"));
    let options = ["--hide", &home, "--read", &cargo, "--read", &rc, "--write", &work];
    let script = format!(
        "ls -A {home}; cat {cargo}/bin/tool; echo; cat {rc}; echo ok > {work}/new; echo x > {home}/x; echo x > {cargo}/x; cat {home}/private/diary; true"
    );
    let output = room.held(&options, &["sh", "-c", &script]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, ".bashrc\n.cargo\nwork\ntool\nalias ll='ls -l'\n");
    assert_eq!(fs::read_to_string(room.path("home/work/app/new")).unwrap(), "ok\n");
    assert!(!room.path("home/x").exists() && !room.path("home/.cargo/x").exists());
}

#[test]
fn a_server_inside_is_reached_inside() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let script = r#"exec 3<>/dev/tcp/127.0.0.1/1 2>/dev/null; ( perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(Listen=>1,LocalAddr=>"127.0.0.1",LocalPort=>8080) or die; print "up\n"; $|=1; $c=$s->accept; print $c "hello\n";' & ); for i in $(seq 100); do exec 4<>/dev/tcp/localhost/8080 && break; sleep 0.05; done 2>/dev/null; head -1 <&4"#;
    if Command::new("perl").arg("-v").output().is_err() {
        return;
    }
    let output = room.held(&["--write", &room.text("ws")], &["bash", "-c", script]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("hello"), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_unix_socket_is_reached_if_something_inside_listens_or_the_bounds_name_it() {
    if !can_hold() || Command::new("perl").arg("-v").output().is_err() {
        return;
    }
    let room = Room::new();
    let ws = room.text("ws");
    let ask = r#"perl -MIO::Socket::UNIX -e '$c=IO::Socket::UNIX->new(Peer=>$ARGV[0]) or die "no: $!\n"; print <$c>' "#;
    let server = r#"perl -MIO::Socket::UNIX -e '$s=IO::Socket::UNIX->new(Listen=>5,Local=>"own.sock") or die; while ($c=$s->accept) { print $c "hello\n"; close $c }' & while [ ! -S own.sock ]; do sleep 0.02; done; "#;
    // By a path, by a relative one, and by a link.
    let script = format!("{server}{ask} own.sock; {ask} {ws}/own.sock; ln -s own.sock link; {ask} link; kill %1");
    let output = room.held(&["--write", &ws], &["bash", "-c", &script]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, "hello\nhello\nhello\n", "{}", String::from_utf8_lossy(&output.stderr));

    let outside = std::os::unix::net::UnixListener::bind(room.path("out/own.sock")).unwrap();
    fs::set_permissions(room.path("out/own.sock"), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = outside.accept() {
            let _ = stream.write_all(b"from outside\n");
        }
    });
    let socket = room.text("out/own.sock");
    let script = format!("{ask} {socket}");
    let refused = room.held(&["--write", &ws], &["bash", "-c", &script]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.stdout.is_empty() && told.contains("Connection refused"), "{told}");
    assert!(told.contains(&format!("held back: socket {socket} (1)")), "{told}");
    let allowed = room.held(&["--write", &ws, "--socket", &socket], &["bash", "-c", &script]);
    assert_eq!(
        String::from_utf8_lossy(&allowed.stdout),
        "from outside\n",
        "{}",
        String::from_utf8_lossy(&allowed.stderr)
    );
}

#[test]
fn a_write_outside_is_told_where_that_is_asked_for() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let bounds = room.bounds();
    let script = "echo x > ../out/new; echo x > mine; echo x >> .git/config; ln -s ../out l; echo x > l/linked; \
                  cat ../out/prize > /dev/null; cd ..; echo x > home/y; true";
    let told = |more: &[&str]| {
        let options: Vec<&str> = bounds.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let output = room.held(&options, &["sh", "-c", script]);
        assert_eq!(output.status.code(), Some(0));
        let _ = std::fs::remove_file(room.path("ws/l"));
        let lines = String::from_utf8_lossy(&output.stderr).into_owned();
        lines.lines().filter_map(|line| line.strip_prefix("held back: write ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told(&[]), Vec::<String>::new());
    let wanted = ["home/y", "out/linked", "out/new", "ws/.git/config"].map(|name| format!("{} (1)", room.text(name)));
    assert_eq!(told(&["--report", "writes"]), wanted);
    assert!(!room.path("out/new").exists() && room.path("ws/mine").exists());
}

#[test]
fn a_write_that_is_asked_about_is_opened_after_a_yes_and_refused_after_a_no() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let bounds = room.bounds();
    std::fs::write(room.path("out/old"), "old and long\n").unwrap();
    crate::room::give_away(&room.path("out"));
    std::os::unix::fs::symlink(room.path("out/prize"), room.path("out/link")).unwrap();
    // New, truncated, appended to, through a link, hidden, a secret, and one that was asked about before.
    let script = "echo new > ../out/new; echo short > ../out/old; echo more >> ../out/old; echo x > ../out/link; \
                  echo x > ../home/.bashrc; echo x > .env; echo x > ../out/new; true";
    let run = |answer: &str| {
        let more = ["--report", "writes", "--answer", answer];
        let options: Vec<&str> = bounds.iter().map(String::as_str).chain(more).collect();
        let output = room.held(&options, &["sh", "-c", script]);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let before = room.outside();
    let told = run("no");
    assert_eq!(room.outside(), before, "{told}");
    assert_eq!(told.matches("asked: Write").count(), 3, "{told}");
    assert!(told.contains(&format!("held back: write {} (2)", room.text("out/new"))), "{told}");
    let told = run("yes");
    let text = |name: &str| std::fs::read_to_string(room.path(name)).unwrap_or_default();
    assert_eq!((text("out/new"), text("out/old")), ("x\n".into(), "short\nmore\n".into()), "{told}");
    // What a link leads to is what was asked about.
    assert!(told.contains(&format!("{:?}", room.path("out/prize"))) && text("out/prize") == "x\n", "{told}");
    assert_eq!(told.matches("asked: Write").count(), 3, "{told}");
    assert!(text("home/.bashrc").contains("alias") && text("ws/.env").contains("s3cret"), "{told}");
}
