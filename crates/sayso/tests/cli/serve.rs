//! `sayso serve`: the process. What the API does is tested beside it, the page in `e2e/`.

use crate::person::{Person, first};
use crate::served::{JSON, Served, serve, serve_with};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn it_says_where_it_is_and_stops_when_told() {
    let person = Person::new();
    let served = serve(&person);
    let lines: Vec<&str> = served.printed.lines().collect();
    assert_eq!(lines[0], "sayso 0.1.0  enforcing preset developer  (no policy file yet; `sayso init` creates one)");
    assert!(lines[2].starts_with("  page     http://127.0.0.1:") && lines[2].contains("/#k="), "{}", lines[2]);
    assert!(lines[2].ends_with("    works once and signs this browser in"), "{}", lines[2]);
    assert!(
        lines[3].starts_with("  record   ~/.local/state/sayso ") && lines[3].ends_with("    0 decisions"),
        "{}",
        lines[3]
    );
    assert!(served.printed.contains("Next:  sayso install claude-code"));

    let health = serde_json::json!({"status": "ok", "version": "0.1.0"});
    assert_eq!(served.send("GET", "/v1/health", &[], "").body, health);
    assert_eq!(std::fs::metadata(&served.socket).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(served.send_to_socket("GET", "/v1/health", &[], "").body, health);
    // The socket tells who asks, and opens nothing: an agent's child is the same user.
    let told = served.send_to_socket("GET", "/v1/audit", &[], "");
    assert_eq!((told.status, &told.body["error"]["code"]), (401, &"signed-out".into()));

    // The key is nowhere on disk.
    let key = served.key();
    let found = std::process::Command::new("grep").args(["-r", "-l", &key]).arg(person.home()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");

    let another = person.run(&["serve", "--port", "0"]);
    assert_eq!((another.code, another.out.as_str()), (2, ""));
    assert!(first(&another.err).starts_with("error: another `sayso serve` answers at"), "{}", another.err);

    let socket = served.socket.clone();
    served.stop();
    assert!(!socket.exists());
}

#[test]
fn that_it_was_started_signed_in_to_and_stopped_stands_in_the_record_and_no_key_does() {
    let person = Person::new();
    let mut served = serve_with(&person, person.sayso(), &["--webhook", "alice=http://127.0.0.1:9/hooks/T0PS3CRET"]);
    let (pid, port, key) = (served.child.id(), served.port, served.key());
    let token = served.signed_in(&key);
    let next = served.next_key();
    let of = |served: &Served, query: &str| served.get(&token, &format!("/v1/audit?kind=server&order=oldest{query}"));
    let found = of(&served, "").body["records"].clone();
    let whats: Vec<_> = found.as_array().unwrap().iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(whats, ["started", "signed-in"], "{found}");
    let (started, detail) = (&found[0], &found[0]["detail"]);
    assert_eq!(started["about"], format!("127.0.0.1:{port}"));
    assert!(started["by"].is_string(), "{started}");
    assert_eq!(detail["process"]["pid"], pid);
    assert_eq!(detail["process"]["uid"], rustix::process::getuid().as_raw());
    assert!(detail["process"]["exe"].as_str().unwrap().ends_with("/sayso"), "{detail}");
    assert_eq!((&detail["version"], &detail["trust_store_tokens"]), (&"0.1.0".into(), &false.into()));
    assert_eq!(detail["socket"], "~/.local/state/sayso/sayso.sock");
    assert_eq!(detail["policy"], served.get(&token, "/v1/policy").body["version"]);
    let webhook = serde_json::json!({"for": "alice", "automated": false, "host": "127.0.0.1"});
    assert_eq!(detail["webhooks"], serde_json::json!([webhook]), "where, and not the address, which is a secret");
    assert_eq!(found[1]["detail"]["via"], "page");

    // Guesses are told once, not each.
    for n in 0..20 {
        let body = serde_json::json!({"key": format!("0000-{n:04}")}).to_string();
        served.send_to_socket("POST", "/v1/session", &[JSON], &body);
    }
    let guessed = of(&served, "&text=keys-refused").body["records"].clone();
    assert_eq!(guessed.as_array().unwrap().len(), 1, "{guessed}");
    assert_eq!(guessed[0]["detail"]["peer"]["pid"], std::process::id(), "who guessed");
    // The short key is not taken now, and its owner is not kept out: the terminal shows a long one.
    let body = serde_json::json!({"key": next}).to_string();
    assert_eq!(served.send("POST", "/v1/session", &[JSON], &body).status, 429);
    let long = served.next_key();
    assert_eq!(long.len(), 34, "{long}");
    let by_long = served.signed_in(&long);
    assert_eq!(served.get(&by_long, "/v1/status").status, 200);
    assert_eq!(served.get(&token, "/v1/status").status, 200, "nor is whoever was signed in");

    served.stop();
    let log = person.run(&["log", "--kind", "server"]).out;
    let said: Vec<&str> = log.lines().filter_map(|line| line.split_once("Z  ")).map(|(_, said)| said).collect();
    assert_eq!(said.len(), 5, "{log}");
    assert!(said[0].starts_with(&format!("server started  127.0.0.1:{port}  by ")), "{log}");
    assert!(said[1].starts_with("server signed-in  by "), "{log}");
    assert_eq!(said[2], "server keys-refused  by sayso");
    assert!(said[3].starts_with("server signed-in  by "), "{log}");
    assert!(said[4].starts_with(&format!("server stopped  127.0.0.1:{port}  by ")), "{log}");
    for secret in [&key, &next, &long, &token, &by_long, &"T0PS3CRET".to_owned()] {
        for written in [secret.clone(), secret.replace('-', ""), secret.to_lowercase()] {
            let args = ["-r", "-l", "-a", "-F", &written];
            let found = std::process::Command::new("grep").args(args).arg(person.home()).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{written}");
        }
    }
    assert!(person.run(&["log", "verify"]).out.starts_with("The record is intact"), "and the chain holds");
}

#[test]
fn no_key_is_written_into_a_log() {
    let person = Person::new();
    let log = person.home().join("serve.log");
    let mut serve = person.sayso();
    let mut child = serve.args(["serve", "--port", "0"]).stdout(std::fs::File::create(&log).unwrap()).spawn().unwrap();
    let printed = loop {
        let printed = std::fs::read_to_string(&log).unwrap();
        if printed.contains("Next:") || child.try_wait().unwrap().is_some() {
            break printed;
        }
        std::thread::yield_now();
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let page = printed.lines().find(|line| line.starts_with("  page ")).unwrap();
    let (address, says) = page.strip_prefix("  page     http://127.0.0.1:").unwrap().split_once("/    ").unwrap();
    assert!(address.parse::<u16>().is_ok() && !printed.contains("#k="), "{printed}");
    // Nothing that only holds for an address with a key.
    assert_eq!(says, "the key is not written to a log; run `sayso serve` in a terminal to see it");
}

#[test]
fn a_taken_port_says_what_to_do() {
    let person = Person::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let said = person.run(&["serve", "--port", &port.to_string()]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (
            2,
            format!("error: 127.0.0.1:{port} is in use by another program\n\n  Stop it, or use another port: sayso serve --port {}\n", port + 1)
                .as_str()
        )
    );
}

#[test]
fn a_broken_named_policy_refuses_to_serve() {
    let person = Person::new();
    person.file("p.toml", "nonsense = 1\n");
    let said = person.run(&["serve", "--port", "0", "--policy", "p.toml"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("p.toml:1:1"), "{}", said.err);
}

/// Runs a program of the system.
fn run(program: &str, arguments: &[&str]) -> (bool, String) {
    let output = std::process::Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

/// A certificate for this machine that signs itself, and its key.
fn certificate(person: &Person) -> (String, String) {
    let at = |name: &str| person.home().join(name).to_string_lossy().into_owned();
    let (cert, key) = (at("gate.pem"), at("gate.key"));
    let new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    let of = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", &key, "-out", &cert];
    let (made, said) = run("openssl", &[&new[..], &of].concat());
    assert!(made, "{said}");
    (cert, key)
}

#[test]
fn tls_on_the_loopback_interface_wants_a_token_for_everything_too() {
    let person = Person::new();
    let (cert, key) = certificate(&person);
    let arguments = ["--address", "127.0.0.1:0", "--tls-cert", &cert, "--tls-key", &key];
    let served = serve_with(&person, person.sayso(), &arguments);
    let curl = |path: &str, more: &[&str]| {
        let url = format!("https://localhost:{}{path}", served.port);
        let mut arguments = vec!["-s", "--max-time", "20", "--cacert", &cert, "-w", " %{http_code}", &url];
        arguments.extend(more);
        run("curl", &arguments).1
    };
    let call = ["-H", "Content-Type: application/json", "-d", "{\"command\":\"ls\"}"];
    for path in ["/v1/decisions", "/v1/try", "/v1/outcomes", "/v1/tools/filter"] {
        let said = curl(path, &call);
        assert!(said.ends_with(" 401") && said.contains("\"no-token\""), "{path}: {said}");
    }
    for path in ["/metrics", "/v1/ready", "/v1/openapi.json", "/v1/approvals/x"] {
        assert!(curl(path, &[]).ends_with(" 401"), "{path}");
    }
    assert!(curl("/v1/health", &[]).ends_with(" 200") && curl("/", &[]).ends_with(" 200"));
    // The owner's own programs have the socket.
    assert_eq!(served.send_to_socket("POST", "/v1/decisions", &[JSON], "{\"command\":\"ls\"}").status, 200);
    served.stop();
}

#[test]
fn beyond_this_machine_it_speaks_tls_and_wants_a_token_for_everything() {
    let person = Person::new();
    let (cert, key) = certificate(&person);
    let arguments = ["--address", "0.0.0.0:0", "--tls-cert", &cert, "--tls-key", &key, "--host", "localhost"];
    let served = serve_with(&person, person.sayso(), &arguments);
    assert!(served.printed.contains(&format!("https://localhost:{}/#k=", served.port)), "{}", served.printed);
    let base = format!("https://localhost:{}", served.port);
    let curl = |path: &str, more: &[&str]| {
        let url = format!("{base}{path}");
        let mut arguments = vec!["-s", "--max-time", "20", "--cacert", &cert, "-w", " %{http_code}", &url];
        arguments.extend(more);
        run("curl", &arguments)
    };
    let call = ["-H", "Content-Type: application/json", "-d", "{\"command\":\"ls\"}"];
    assert!(curl("/v1/health", &[]).1.ends_with(" 200"));
    assert!(curl("/", &[]).1.ends_with(" 200"), "the page, on which to sign in");
    for path in ["/v1/decisions", "/v1/try", "/v1/outcomes"] {
        let (_, said) = curl(path, &call);
        assert!(said.ends_with(" 401") && said.contains("\"no-token\""), "{path}: {said}");
    }
    assert!(curl("/v1/openapi.json", &[]).1.ends_with(" 401"));
    let key = served.key();
    let (_, said) =
        curl("/v1/session", &["-H", "Content-Type: application/json", "-d", &format!("{{\"key\":\"{key}\"}}")]);
    let token = said.split("\"token\":\"").nth(1).unwrap().split('"').next().unwrap();
    let token = format!("Authorization: Bearer {token}");
    let (_, said) = curl("/v1/decisions", &[&call[..], &["-H", &token]].concat());
    assert!(said.ends_with(" 200") && said.contains("\"verdict\""), "{said}");
    let (_, said) = curl("/v1/health", &["-H", "Host: evil.example"]);
    assert!(said.ends_with(" 403") && said.contains("--host"), "{said}");
    let (_, said) = curl("/v1/health", &["-H", &format!("Origin: http://localhost:{}", served.port)]);
    assert!(said.ends_with(" 403"), "plain text is another origin: {said}");
    // Nothing in plain text, and nothing for those who trust other certificates.
    assert!(!run("curl", &["-s", "--max-time", "20", &format!("http://localhost:{}/v1/health", served.port)]).0);
    assert!(!run("curl", &["-s", "--max-time", "20", &format!("{base}/v1/health")]).0);
    // The owner's own tools still have the socket.
    assert_eq!(served.send_to_socket("GET", "/v1/health", &[], "").status, 200);
    served.stop();
}

#[test]
fn an_address_beyond_this_machine_without_what_it_needs_is_refused() {
    let person = Person::new();
    let said = person.run(&["serve", "--address", "0.0.0.0:7171"]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (
            2,
            "error: 0.0.0.0:7171 is reachable from other machines, which needs TLS and a host name\n\n  \
             sayso serve --address 0.0.0.0:7171 --tls-cert FILE --tls-key FILE --host NAME\n"
        )
    );
    person.file("gate.pem", "nothing");
    let key = person.file("gate.key", "nothing");
    let with = ["serve", "--address", "0.0.0.0:0", "--host", "x", "--tls-cert", "gate.pem", "--tls-key", "gate.key"];
    let said = person.run(&with);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("everyone on this machine can read this key; run: chmod o= gate.key"), "{}", said.err);
    std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let said = person.run(&with);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(first(&said.err).starts_with("error: gate.pem: "), "{}", said.err);
    assert_eq!(person.run(&["serve", "--address", "0.0.0.0:0", "--tls-cert", "gate.pem"]).code, 2);
}

#[test]
fn a_webhook_that_others_could_read_is_refused() {
    let person = Person::new();
    let said = person.run(&["serve", "--port", "0", "--webhook", "http://chat.example/hook"]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (2, "error: http://chat.example/hook must be https: anyone who reads a link can answer with it\n")
    );
    assert_eq!(person.run(&["serve", "--port", "0", "--automated-webhook", "https://chat.example/"]).code, 2);
    let served = serve_with(&person, person.sayso(), &["--webhook", "alice=http://127.0.0.1:9/x"]);
    let line = "  webhook  http://127.0.0.1:9/x    for alice, signed with ~/.local/state/sayso/webhook-secret\n";
    assert!(served.printed.contains(line), "{}", served.printed);
    served.stop();
}

#[test]
fn a_receiver_that_cannot_be_trusted_is_told_of_with_what_to_do() {
    let (person, other) = (Person::new(), Person::new());
    let (cert, key) = certificate(&other);
    let tls = ["--address", "127.0.0.1:0", "--tls-cert", &cert, "--tls-key", &key, "--host", "localhost"];
    let receiver = serve_with(&other, other.sayso(), &tls);
    let url = format!("alice=https://localhost:{}/hooks/secret", receiver.port);
    let mut served = serve_with(&person, person.sayso(), &["--webhook", &url]);
    served.question(None, &serde_json::json!({"command": "git push", "cwd": "/", "wait": 0}));
    let said = served.says("webhook for alice");
    assert!(said.starts_with(&format!("  webhook for alice at https://localhost:{}: ", receiver.port)), "{said}");
    assert!(said.contains("certificate") && said.ends_with("sayso serve --webhook-ca FILE.\n"), "{said}");
    let doctor = person.run(&["doctor"]);
    assert!(
        doctor.out.contains("\nwebhooks wrong  Pending calls for alice cannot be sent to localhost: "),
        "{}",
        doctor.out
    );
    assert!(!doctor.out.contains("hooks/secret"), "{}", doctor.out);
    assert_eq!(doctor.code, 1);
    served.stop();
    assert!(!person.run(&["doctor"]).out.contains("webhooks"), "no server runs");
    let refused = person.run(&["serve", "--port", "0", "--webhook", &url, "--webhook-ca", "/nowhere/ca.pem"]);
    assert_eq!(
        (refused.code, first(&refused.err).starts_with("error: /nowhere/ca.pem: ")),
        (2, true),
        "{}",
        refused.err
    );
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    let (copied, said) = run("cp", &["-a", from.to_str().unwrap(), to.to_str().unwrap()]);
    assert!(copied, "{said}");
}

#[test]
fn where_heads_are_copied_to_is_nothing_that_a_call_may_touch_wherever_it_is() {
    let person = Person::new();
    std::fs::create_dir_all(person.home().join(".config/sayso")).unwrap();
    std::fs::write(person.home().join(".config/sayso/policy.toml"), "default = \"allow\"\n").unwrap();
    let (shelf, linked) = (person.home().join("shelf"), person.home().join("linked"));
    std::fs::create_dir(&shelf).unwrap();
    std::os::unix::fs::symlink(&shelf, &linked).unwrap();
    let anchor = linked.join("heads.jsonl");
    let verdict = |command: &str| person.run(&["check", command]).code;
    assert_eq!(verdict(&format!("rm {}", anchor.display())), 0, "nobody has said what it is");

    let served = serve_with(&person, person.sayso(), &["--anchor", anchor.to_str().unwrap()]);
    let touched = |folder: &Path| {
        let file = folder.join("heads.jsonl").display().to_string();
        let folder = folder.display();
        [
            format!("rm {file}"),
            format!("rm -rf {folder}"),
            format!("mv {folder} elsewhere"),
            format!("mv x {file}"),
            format!("truncate -s 0 {file}"),
            format!("echo x > {file}"),
            format!("sed -i 1d {file}"),
            format!("cp -f x {file}"),
            format!("ln -sf x {file}"),
            format!("chmod a-w {file}"),
            format!("cd {folder} && tee heads.jsonl"),
        ]
    };
    let all: Vec<String> = touched(&shelf).into_iter().chain(touched(&linked)).collect();
    for command in &all {
        let body = serde_json::json!({"command": command}).to_string();
        let told = served.send("POST", "/v1/decisions", &[JSON], &body).body;
        assert_eq!(told["verdict"], "deny", "{command}: {told}");
        assert_eq!(told["reasons"][0]["code"], "sayso-itself", "{command}: {told}");
    }
    served.stop();
    // Also when no server runs: what it said is to be compared with what it finds there.
    for command in &all {
        assert_eq!(verdict(command), 4, "{command}");
    }
    assert_eq!(verdict(&format!("rm {}", shelf.join("another").display())), 0);
}

#[test]
fn a_server_that_is_started_with_an_earlier_copy_of_the_store_says_so() {
    let person = Person::new();
    let (state, earlier) = (person.home().join(".local/state/sayso"), person.home().join("earlier"));
    let anchor = person.home().join("heads.jsonl");
    let arguments = ["--anchor", anchor.to_str().unwrap()];
    let decide = |served: &Served| {
        let told = served.send("POST", "/v1/decisions", &[JSON], "{\"command\":\"ls\"}");
        assert_eq!(told.status, 200, "{}", told.body);
    };
    let served = serve_with(&person, person.sayso(), &arguments);
    decide(&served);
    served.stop();
    copy(&state, &earlier);
    let served = serve_with(&person, person.sayso(), &arguments);
    decide(&served);
    served.stop();
    let doctor = || person.run(&["doctor", "--json"]);
    assert!(doctor().out.contains("chain ok"), "{}", doctor().out);

    std::fs::remove_dir_all(&state).unwrap();
    copy(&earlier, &state);
    assert!(
        person.run(&["log", "verify"]).out.starts_with("The record is intact"),
        "an earlier one is whole in itself"
    );
    let mut served = serve_with(&person, person.sayso(), &arguments);
    let alarm = served.says("ALARM");
    assert!(alarm.contains("heads.jsonl") || alarm.contains("has been altered"), "{alarm}");
    let deadline = Instant::now() + Duration::from_secs(60);
    let why = loop {
        let ready = served.send("GET", "/v1/ready", &[], "");
        let why = ready.body["reasons"].to_string();
        if ready.status == 503 && why.contains("chain-broken") && why.contains("anchor-fails") {
            break why;
        }
        assert!(Instant::now() < deadline, "{why}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(!why.contains("store-replaced"), "{why}");
    while !doctor().out.contains("found by a server") {
        assert!(Instant::now() < deadline, "{}", doctor().out);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_ne!(doctor().code, 0);
    served.stop();
    assert!(doctor().out.contains("found by a server"), "also when it has stopped");
}

#[test]
fn a_store_that_is_taken_away_is_told_at_the_terminal() {
    let person = Person::new();
    let mut served = serve(&person);
    std::fs::remove_file(person.home().join(".local/state/sayso/sayso.db")).unwrap();
    let alarm = served.says("ALARM");
    assert!(alarm.contains("the database is gone") && alarm.contains("sayso.db"), "{alarm}");
    assert_eq!(served.send("GET", "/v1/ready", &[], "").status, 503);
}

/// Takes a socket away as soon as a server has closed it to others, until it is told to stop. Whoever starts then finds no
/// server that answers, as one does that looks a moment before another listens.
fn take_away(socket: &Path, stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        if std::fs::symlink_metadata(socket).is_ok_and(|meta| meta.permissions().mode() & 0o777 == 0o600) {
            let _ = std::fs::remove_file(socket);
        }
    }
}

#[test]
fn of_many_processes_that_start_at_once_on_one_store_one_serves() {
    for round in 0..4 {
        let person = Person::new();
        // Half of the rounds begin with what a crash leaves behind.
        if round % 2 == 1 {
            let mut crashed = serve(&person);
            crashed.child.kill().unwrap();
            crashed.child.wait().unwrap();
        }
        let serve = || {
            let mut sayso = person.sayso();
            sayso.args(["serve", "--port", "0"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let (socket, decided) = (person.home().join(".local/state/sayso/sayso.sock"), AtomicBool::new(false));
        // Each says that it serves, or why it does not and ends.
        let serving = |mut child: Child| {
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            if line.starts_with("sayso ") {
                return Ok(child);
            }
            let output = child.wait_with_output().unwrap();
            Err((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
        };
        let all: Vec<_> = std::thread::scope(|scope| {
            scope.spawn(|| take_away(&socket, &decided));
            let waiting: Vec<_> = (0..16).map(|_| serve()).map(|child| scope.spawn(move || serving(child))).collect();
            let all = waiting.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>();
            decided.store(true, Ordering::SeqCst);
            all.into_iter().map(Result::unwrap).collect()
        });
        let (run, refused): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
        let still = run.len();
        for mut child in run.into_iter().flatten() {
            assert_eq!(child.try_wait().unwrap(), None, "round {round}: it said that it serves, and ended");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(still, 1, "round {round}");
        for (code, said) in refused.into_iter().filter_map(Result::err) {
            assert_eq!(code, Some(2), "{said}");
            assert!(first(&said).starts_with("error: another `sayso serve` answers at"), "{said}");
        }
    }
}
