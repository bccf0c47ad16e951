//! Permits that a hook hands out, and the hold of a session.

use crate::room::{Room, err, out, until, users};
use sayso_gate::audit::{Happening, What};
use sayso_gate::hold::permit::{HoldPermits, Redemption, Terms};
use sayso_gate::hold::session::{Whose, sockets};
use sayso_gate::{Asking, Circumstances, FactsOf, Gate, InForce, Unrecorded};
use sayso_policy::shell::bounds::Need;
use sayso_policy::{ToolCall, Workspace};
use std::process::{Command, Output};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const AGENT: Option<&str> = Some("claude-code");

/// What a hook does: judges a command, and spends its permit.
pub(crate) fn issue(room: &Room, script: &str, session: &str, call: &str) -> String {
    room.as_tester(|| issued(room, script, session, call))
}

fn issued(room: &Room, script: &str, session: &str, call: &str) -> String {
    let (places, project) = (room.places(), room.path("project"));
    let in_force = InForce::load(&places, Some(&project)).unwrap();
    let policy_version = in_force.policy.version().to_owned();
    let gate = Gate::new(in_force, Box::new(Unrecorded));
    let mut tool_call = ToolCall::command("true");
    tool_call.cwd = Some(project.clone());
    tool_call.workspace = Workspace::new(project.clone(), Some(&room.path("home")));
    let circumstances = Circumstances::of("hook claude-code".to_owned(), Asking::Nobody);
    let judged = gate.judge(tool_call, circumstances, FactsOf::Gate).settle().record();
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let terms = Terms {
        actor: None,
        words: ["bash", "-c", script].map(Into::into).to_vec(),
        folder: project.clone(),
        session: Some(session.to_owned()),
        agent: AGENT.map(str::to_owned),
        call_id: Some(call.to_owned()),
        workspace: project,
        home: Some(room.path("home")),
        policy_version,
        record: judged.record.id,
        need: Need::Whole,
        required: true,
        expires_ms: now + 60_000,
    };
    HoldPermits::at(&places).issue(judged.permit.expect("the command is allowed"), terms).unwrap()
}

fn redeem(room: &Room, id: &str, script: &str) -> Output {
    room.sayso(&["run", "--permit", id, "--", "bash", "-c", script])
}

fn last(room: &Room) -> Happening {
    room.happenings().pop().unwrap()
}

fn outcome(room: &Room, session: &str, call: &str) -> Option<Redemption> {
    room.as_tester(|| HoldPermits::at(&room.places()).outcome(AGENT, Some(session), call))
}

fn held(room: &Room, session: &str, script: &str) -> Output {
    redeem(room, &issue(room, script, session, script), script)
}

/// Ends a session as a hook does, and waits for it.
pub(crate) fn end(room: &Room, session: &str) {
    let whose = Whose { agent: AGENT, session };
    let all = sockets(&room.places(), whose);
    assert!(!all.is_empty());
    let mut command = Command::new(room.path("bin/sayso"));
    command.arg("hold-end").args(all);
    assert!(room.prepare(command).status().unwrap().success());
    assert!(sockets(&room.places(), whose).is_empty());
}

#[test]
fn a_permit_runs_its_command_once() {
    for user in users() {
        let room = Room::new(user);
        let script = "echo ran >> ran; python3 -c 'print(6 * 7)'";
        let id = issue(&room, script, "s", "c");
        let output = redeem(&room, &id, script);
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(0), "42\n"), "{}", err(&output));
        let happened = last(&room);
        assert_eq!((happened.what, happened.call_id.as_deref()), (What::HeldRun, Some("c")));
        assert_eq!((happened.actor.agent.as_deref(), happened.actor.session.as_deref()), (AGENT, Some("s")));
        assert!(happened.held.unwrap().record.is_some());

        let again = redeem(&room, &id, script);
        assert_eq!(again.status.code(), Some(125));
        let refused = last(&room);
        assert_eq!((refused.what, refused.event.as_deref()), (What::PermitRefused, Some("used")));
        assert_eq!(std::fs::read_to_string(room.path("project/ran")).unwrap(), "ran\n");
        assert_eq!(outcome(&room, "s", "c"), Some(Redemption::Redeemed));
        end(&room, "s");
    }
}

#[test]
fn a_permit_is_for_its_command_in_its_folder() {
    for user in users() {
        let room = Room::new(user);
        let id = issue(&room, "echo one", "s", "c");
        let output = redeem(&room, &id, "touch ran");
        assert_eq!(output.status.code(), Some(125));
        assert_eq!(last(&room).event.as_deref(), Some("other-words"));
        assert!(last(&room).held.unwrap().record.is_some(), "the refusal names the decision");

        let id = issue(&room, "touch ran", "s", "c");
        let mut command = room.command(&["run", "--permit", &id, "--", "bash", "-c", "touch ran"]);
        assert_eq!(command.current_dir(room.path("outside")).output().unwrap().status.code(), Some(125));
        assert_eq!(last(&room).event.as_deref(), Some("other-folder"));
        assert_eq!(redeem(&room, &id, "touch ran").status.code(), Some(125), "it is gone");
        assert!(!room.path("project/ran").exists() && !room.path("outside/ran").exists());
    }
}

#[test]
fn a_permit_of_another_policy_is_judged_again() {
    for user in users() {
        let room = Room::new(user);
        let id = issue(&room, "touch ran", "s", "c");
        room.policy("default = \"allow\"\n[deny]\nrun = [\"touch\"]\n");
        let output = redeem(&room, &id, "touch ran");
        assert_eq!(output.status.code(), Some(125), "{}", err(&output));
        assert!(err(&output).contains("denied"), "{}", err(&output));
        assert!(!room.path("project/ran").exists());
    }
}

#[test]
fn who_comes_late_for_a_permit_gets_nothing() {
    for user in users() {
        let room = Room::new(user);
        let id = issue(&room, "touch ran", "s", "c");
        assert_eq!(outcome(&room, "s", "c"), Some(Redemption::NotRedeemed));
        assert_eq!(redeem(&room, &id, "touch ran").status.code(), Some(125));
        assert!(!room.path("project/ran").exists());
    }
}

#[test]
fn a_killed_run_does_not_give_its_permit_back() {
    for user in users() {
        let room = Room::new(user);
        for round in 0..12_u64 {
            let script = "echo ran >> ran; sleep 60";
            let id = issue(&room, script, "s", "c");
            let mut child = room.command(&["run", "--permit", &id, "--", "bash", "-c", script]).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(round * 5));
            child.kill().unwrap();
            child.wait().unwrap();
            // Whoever comes after it: at most one of both has run.
            let mut second = room.command(&["run", "--permit", &id, "--", "bash", "-c", script]).spawn().unwrap();
            let ran = || std::fs::read_to_string(room.path("project/ran")).unwrap_or_default();
            let began = Instant::now();
            while second.try_wait().unwrap().is_none() {
                assert!(began.elapsed() < Duration::from_secs(30), "it neither runs nor is refused");
                if !ran().is_empty() && began.elapsed() > Duration::from_millis(500) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = second.kill();
            second.wait().unwrap();
            assert!(ran().len() <= "ran\n".len(), "{}", ran());
            let _ = std::fs::remove_file(room.path("project/ran"));
            let _ = outcome(&room, "s", "c");
        }
        if !sockets(&room.places(), Whose { agent: AGENT, session: "s" }).is_empty() {
            end(&room, "s");
        }
    }
}

const SERVER: &str = r#"python3 -c 'import http.server as h, socketserver as s
class H(h.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"hello\n")
    def log_message(self, *a): pass
s.TCPServer.allow_reuse_address = True
t = s.TCPServer(("127.0.0.1", 8123), H); open("up", "w").close(); t.serve_forever()' > /dev/null 2>&1 & echo started"#;

#[test]
fn a_server_that_one_call_starts_answers_the_next_of_its_session() {
    let asks =
        r#"python3 -c 'import urllib.request as u; print(u.urlopen("http://localhost:8123").read().decode(), end="")'"#;
    for user in users() {
        let room = Room::new(user);
        assert_eq!(out(&held(&room, "s", SERVER)), "started\n");
        until("the server is up", || room.path("project/up").exists());
        let output = held(&room, "s", asks);
        assert_eq!(out(&output), "hello\n", "{}", err(&output));
        let other = held(&room, "t", asks);
        assert_ne!(other.status.code(), Some(0), "another session has another hold");
        end(&room, "s");
        end(&room, "t");
        let after = held(&room, "s", asks);
        assert_ne!(after.status.code(), Some(0), "it ended with its session");
        end(&room, "s");
    }
}

#[test]
fn calls_of_a_session_keep_their_own_streams_codes_and_signals() {
    for user in users() {
        let room = Room::new(user);
        assert_eq!(held(&room, "s", "exit 9").status.code(), Some(9));
        let id = issue(&room, "cat; exit 4", "s", "c");
        let output = room.with_input(&["run", "--permit", &id, "--", "bash", "-c", "cat; exit 4"], b"through\n");
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(4), "through\n"), "{}", err(&output));
        end(&room, "s");
    }
}
