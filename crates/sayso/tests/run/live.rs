//! What a held run wants beyond its bounds, answered while it waits: a real server, somebody at its page, real programs.

use crate::desk::Desk;
use crate::permits::{end, issue};
use crate::room::{POLICY, Room, User, err, out, until, users};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket};
use std::process::{Child, Command, Output, Stdio};

/// The policy asks about what it does not know; ports of this one are asked about.
fn policy(port: u16) -> String {
    let more = format!(
        "connect = [\"denied.example\"]\n[hold]\nconnect = [\"known.example:{port}\"]\nrun = [\"@builds\", \"@scripts\", \"@code\"]\n"
    );
    let asks = POLICY.replace("default = \"allow\"", "default = \"ask\"");
    let asks = asks.replace("[allow]\n", "[allow]\nread = [\"./**\"]\nrun = [\"true\"]\n");
    asks.split_once("[hold]").unwrap().0.to_owned() + &more
}

/// A server outside, and names that lead to it.
struct Outside {
    port: u16,
    /// Who answers for names.
    settings: String,
}

impl Outside {
    /// `None`: this machine has no address but its own loopback.
    fn open(room: &Room) -> Option<Self> {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        let address = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()).ok().map(|it| it.ip());
        let Some(address) = address.filter(|it| !it.is_loopback()) else {
            eprintln!("not run: this machine has no address");
            return None;
        };
        let IpAddr::V4(address) = address else { return None };
        let listener = TcpListener::bind((address, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut space = [0; 1024];
                let _ = stream.read(&mut space);
                let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nreached\n");
            }
        });
        // Asked outside only: inside, names have addresses of their own.
        let own = format!("127.{}.{}.53", std::process::id() % 250 + 1, port % 250 + 1);
        let Ok(names) = UdpSocket::bind((own.as_str(), 53)) else {
            eprintln!("not run: only root can answer for names");
            return None;
        };
        std::thread::spawn(move || answer_names(&names, address));
        let settings = room.path("resolv.conf");
        std::fs::write(&settings, format!("nameserver {own}\n")).unwrap();
        Some(Self { port, settings: settings.to_str().unwrap().to_owned() })
    }

    /// A command of Sayso that finds these names.
    fn command(&self, room: &Room, words: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.arg(if rustix::process::geteuid().is_root() { "-m" } else { "-rm" });
        let script = format!("mount --bind {} /etc/resolv.conf && exec \"$@\"", self.settings);
        command.args(["sh", "-c", &script, "sh", &room.text("bin/sayso")]).args(words);
        let mut command = room.prepare(command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn fetch(&self, host: &str) -> String {
        format!(
            "import urllib.request as u\nopener = u.build_opener(u.ProxyHandler({{}}))\nprint(opener.open('http://{host}:{}/', timeout=90).read().decode())\n",
            self.port
        )
    }
}

/// Every name has this address.
fn answer_names(socket: &UdpSocket, address: Ipv4Addr) {
    let mut query = [0; 512];
    while let Ok((count, from)) = socket.recv_from(&mut query) {
        let end = 12 + query[12..count].iter().position(|byte| *byte == 0).unwrap_or(0) + 5;
        let is_a = query[end - 4..end - 2] == [0, 1];
        let mut answer = query[..2].to_vec();
        answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
        answer.extend(&query[12..end]);
        if is_a {
            answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]);
            answer.extend(address.octets());
        }
        let _ = socket.send_to(&answer, from);
    }
}

fn room() -> Option<(Room, Outside)> {
    users().into_iter().find(|user| *user == User::Own)?;
    let room = Room::new(User::Own);
    let outside = Outside::open(&room)?;
    room.policy(&policy(outside.port));
    Some((room, outside))
}

fn wait(child: Child) -> Output {
    child.wait_with_output().unwrap()
}

fn yes() -> Value {
    json!({"verdict": "allow"})
}

#[test]
fn a_connection_waits_for_a_yes_and_goes_on_without_a_rerun() {
    let Some((room, outside)) = room() else { return };
    let mut desk = Desk::open(&room);
    desk.sit();
    room.file("a.py", &(outside.fetch("wanted.example") + &outside.fetch("wanted.example")));
    let run = outside.command(&room, &["run", "--", "python3", "a.py"]).spawn().unwrap();
    let question = desk.next();
    assert_eq!(question["tool"], "held_connect", "{question}");
    assert_eq!(question["arguments"], json!({"host": "wanted.example", "port": outside.port}));
    assert_eq!(question["held"]["lasts"], "run");
    assert_eq!(question["held"]["command"], "python3 a.py");
    let record = question["held"]["record"].as_str().unwrap().to_owned();
    assert!(room.decisions().iter().any(|it| it.id == record));
    desk.answer(&question, &yes());
    let output = wait(run);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    // Twice, by one answer.
    assert_eq!(out(&output).matches("reached").count(), 2, "{}", out(&output));
    assert!(desk.pending().is_empty());
    let said = room.decisions().into_iter().find(|it| it.tool == "held_connect").unwrap();
    assert_eq!(said.reasons[0].code, "approved");
    // A yes lasts as long as the hold: the next run asks again.
    let run = outside.command(&room, &["run", "--", "python3", "a.py"]).spawn().unwrap();
    let again = desk.next();
    assert_ne!(again["id"], question["id"]);
    desk.answer(&again, &json!({"verdict": "deny"}));
    let output = wait(run);
    assert_eq!(output.status.code(), Some(1), "{}", out(&output));
    assert!(err(&output).contains("held back: connecting to wanted.example"), "{}", err(&output));
    // A no is not asked for again.
    let output = outside.command(&room, &["run", "--", "python3", "a.py"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(desk.pending().is_empty());
}

#[test]
fn what_a_rule_denies_is_never_asked() {
    let Some((room, outside)) = room() else { return };
    let mut desk = Desk::open(&room);
    desk.sit();
    room.file("a.py", &outside.fetch("denied.example"));
    let output = outside.command(&room, &["run", "--", "python3", "a.py"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", out(&output));
    assert!(err(&output).contains("held back: connecting to denied.example"), "{}", err(&output));
    assert!(desk.pending().is_empty());
}

#[test]
fn a_saved_yes_is_a_grant_of_that_host_and_needs_nobody() {
    let Some((room, outside)) = room() else { return };
    let mut desk = Desk::open(&room);
    desk.sit();
    room.file("a.py", &outside.fetch("wanted.example"));
    room.file("b.py", &outside.fetch("other.example"));
    let run = outside.command(&room, &["run", "--", "python3", "a.py"]).spawn().unwrap();
    let question = desk.next();
    let answered = desk.answer(&question, &json!({"verdict": "allow", "remember": "always", "width": "program"}));
    assert_eq!(answered["standing"], "approved", "{answered}");
    assert_eq!(wait(run).status.code(), Some(0));
    drop(desk);
    let gone = std::time::Instant::now();
    until("the server is gone", || gone.elapsed().as_secs() > 7);
    let output = outside.command(&room, &["run", "--", "python3", "a.py"]).output().unwrap();
    assert_eq!(out(&output).trim(), "reached", "{}", err(&output));
    let output = outside.command(&room, &["run", "--", "python3", "b.py"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", out(&output));
}

#[test]
fn where_nobody_is_there_nothing_waits_and_a_question_follows_a_failure() {
    let Some((room, outside)) = room() else { return };
    let desk = Desk::open(&room);
    room.file("a.py", &outside.fetch("wanted.example"));
    let output = outside.command(&room, &["run", "--", "python3", "a.py"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let pending = desk.pending();
    assert_eq!(pending.len(), 1, "{}", err(&output));
    assert_eq!(pending[0]["held"]["lasts"], "next");
    assert!(err(&output).contains(pending[0]["id"].as_str().unwrap()), "{}", err(&output));
    // Not twice.
    let _ = outside.command(&room, &["run", "--", "python3", "a.py"]).output().unwrap();
    assert_eq!(desk.pending().len(), 1);
    desk.answer(&pending[0], &yes());
    let output = outside.command(&room, &["run", "--", "python3", "a.py"]).output().unwrap();
    assert_eq!(out(&output).trim(), "reached", "{}", err(&output));
    // Once.
    let output = outside.command(&room, &["run", "--", "python3", "a.py"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    // A command that went on without it asks nobody.
    room.file(
        "b.py",
        &format!("try:\n    {}\nexcept Exception:\n    pass\n", outside.fetch("other.example").replace('\n', "\n    ")),
    );
    let before = desk.pending().len();
    let output = outside.command(&room, &["run", "--", "python3", "b.py"]).output().unwrap();
    assert_eq!((output.status.code(), desk.pending().len()), (Some(0), before), "{}", err(&output));
}

#[test]
fn a_write_outside_waits_for_its_answer() {
    for user in users() {
        let room = Room::new(user);
        room.policy(&policy(8080));
        let mut desk = Desk::open(&room);
        desk.sit();
        for (reply, code) in [(yes(), 0), (json!({"verdict": "deny"}), 1)] {
            let name = format!("outside/{code}\u{202e}\n.txt");
            let quoted = serde_json::to_string(&room.text(&name)).unwrap();
            room.file("a.py", &format!("open({quoted}, 'w').write('written\\n')\nprint('on')\n"));
            let run =
                room.command(&["run", "--", "python3", "a.py"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let question = desk.next();
            assert_eq!(question["tool"], "held_write", "{question}");
            assert_eq!(question["arguments"]["path"], room.text(&name));
            desk.answer(&question, &reply);
            let output = wait(run.unwrap());
            assert_eq!(output.status.code(), Some(code), "{user:?}: {}", err(&output));
            assert_eq!(room.path(&name).exists(), code == 0);
            if code == 0 {
                assert_eq!(std::fs::read_to_string(room.path(&name)).unwrap(), "written\n");
                assert_eq!(out(&output), "on\n");
            } else {
                // What comes from the run is made visible.
                let said = err(&output).split("sayso: ").last().unwrap().to_owned();
                assert!(said.starts_with("held back: writing") && !said.contains('\u{202e}'), "{said}");
            }
        }
        // Secrets and what is Sayso's own are refused without a word.
        let own = room.text("home/.config/sayso/policy.toml");
        let output = room.unseen(&format!("echo x >> {own}; echo done"));
        assert_eq!(out(&output), "done\n");
        assert!(desk.pending().is_empty() && std::fs::read_to_string(own).unwrap() == policy(8080));
    }
}

#[test]
fn a_run_that_is_killed_while_it_waits_leaves_nothing_that_a_yes_could_open() {
    for user in users() {
        let room = Room::new(user);
        room.policy(&policy(8080));
        let mut desk = Desk::open(&room);
        desk.sit();
        let target = room.text("outside/late");
        room.file("a.py", &format!("open({target:?}, 'w').write('x')\n"));
        let mut run = room.command(&["run", "--", "python3", "a.py"]).spawn().unwrap();
        let question = desk.next();
        run.kill().unwrap();
        run.wait().unwrap();
        desk.answer(&question, &yes());
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert!(!room.path("outside/late").exists());
        // One that ends by itself takes its question along.
        room.file("b.py", &format!("import subprocess\ntry:\n    subprocess.run(['sh', '-c', 'echo x > {target}2'], timeout=2)\nexcept subprocess.TimeoutExpired:\n    pass\n"));
        let run = room.command(&["run", "--", "python3", "b.py"]).spawn().unwrap();
        let question = desk.next();
        assert_eq!(wait(run).status.code(), Some(0));
        assert_eq!(desk.standing(&question), "cancelled");
        assert!(!room.path("outside/late2").exists());
    }
}

#[test]
fn the_runs_of_a_session_have_an_answer_together() {
    let Some((room, outside)) = room() else { return };
    let mut desk = Desk::open(&room);
    desk.sit();
    room.file("a.py", &outside.fetch("wanted.example"));
    let script = "python3 a.py";
    let go = || {
        let id = issue(&room, script, "live", "c1");
        outside.command(&room, &["run", "--permit", &id, "--", "bash", "-c", script]).spawn().unwrap()
    };
    let run = go();
    let question = desk.next();
    assert_eq!(
        (question["held"]["lasts"].as_str(), question["actor"]["session"].as_str()),
        (Some("session"), Some("live"))
    );
    desk.answer(&question, &yes());
    let output = wait(run);
    assert_eq!(out(&output).trim(), "reached", "{}", err(&output));
    // Asked once in the session's hold.
    let output = wait(go());
    assert_eq!(out(&output).trim(), "reached", "{}", err(&output));
    assert!(desk.pending().is_empty());
    end(&room, "live");
}
