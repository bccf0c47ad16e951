//! The straight line: what it says, what it hands out, and that no failure is a yes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::audit::{Order, Query};
use sayso_gate::policy::{InForce, Live};
use sayso_gate::store;
use sayso_gate::{
    Aside, Asking, Circumstances, Draft, Error, Expected, FactsOf, Gate, Judged, Memory, Once, Otherwise, Places,
    RealFiles, Record, Recorded, Recorder, Unrecorded, Unsaid, digest,
};
use sayso_policy::shell::{Files, Kind, NoEnvironment};
use sayso_policy::{Answer, CanHold, Layer, PolicyText, ToolCall, Verdict, Workspace};
use std::path::Path;
use std::sync::Arc;

fn given(text: &str) -> InForce {
    let text = PolicyText { layer: Layer::Given, name: "t.toml".into(), text: text.into(), trusted: true };
    InForce::given(vec![text]).unwrap()
}

fn gate(text: &str) -> Gate {
    Gate::new(given(text), Box::new(Unrecorded))
}

fn circumstances(asking: Asking) -> Circumstances {
    Circumstances {
        way_in: "test".into(),
        peer: None,
        event: None,
        call_id: None,
        asking,
        expected: Expected::default(),
        findings: Vec::new(),
        can_hold: sayso_policy::CanHold::No,
    }
}

/// A call that reads one file of a workspace that is not there.
fn read(path: &str) -> ToolCall {
    let folder = Path::new("/nonexistent/app");
    let mut call = ToolCall::tool("Read", serde_json::json!({"file_path": folder.join(path)}));
    call.cwd = Some(folder.into());
    call.workspace = Workspace::new(folder, None);
    call
}

fn judge(gate: &Gate, path: &str) -> Judged {
    gate.judge(read(path), circumstances(Asking::OwnPrompt), FactsOf::Gate).settle().record()
}

const POLICY: &str = "[allow]\nread = [\"./a/**\"]\n[deny]\nread = [\"./a/secret/**\"]\n";

#[test]
fn only_an_allow_comes_with_a_permit() {
    let gate = gate(POLICY);
    for (path, verdict) in [("a/x", Verdict::Allow), ("b", Verdict::Ask), ("a/secret/x", Verdict::Deny)] {
        let judged = judge(&gate, path);
        assert_eq!(judged.decision.verdict, verdict, "{path}: {:?}", judged.decision.reasons);
        assert_eq!(judged.permit.is_some(), verdict == Verdict::Allow);
        assert_eq!(judged.record.verdict, verdict);
    }
}

#[test]
fn what_is_taken_out_of_a_call_stands_in_none_of_its_effects_and_reasons() {
    let folder = Path::new("/nonexistent/app");
    let record = |mut call: ToolCall| {
        call.cwd = Some(folder.into());
        call.workspace = Workspace::new(folder, None);
        let judged = gate(POLICY).judge(call, circumstances(Asking::Nobody), FactsOf::Gate).settle().record();
        serde_json::to_string(&judged.record).unwrap()
    };
    for command in [
        "yt-dlp --username ann --password hunter2 https://video.example",
        "swaks --auth-user ann --auth-password hunter2",
        "keytool -genkey -storepass hunter2 -keypass hunter2 -alias a",
        "restic -r s3:x backup . --password-command 'echo hunter2'",
        "openssl passwd -6 hunter2",
        "xfreerdp /u:ann /p:hunter2 /v:h",
        "cosign login r -u ann -p hunter2",
        "borg create ssh://ann:hunter2@h/./r::a .",
        "smbclient //h/s hunter2 -U ann",
        "PASSWORD=hunter2 terraform apply -var x=hunter2",
        "curl -H 'Authorization: Bearer hunter2' https://x.example/hunter2",
    ] {
        let kept = record(ToolCall::command(command));
        assert!(!kept.contains("hunter2"), "{command}: {kept}");
    }
    for arguments in [
        serde_json::json!({"password": "hunter2", "path": "/srv/hunter2/a"}),
        serde_json::json!({"args": ["login", "--token", "hunter2"], "file": "hunter2"}),
        serde_json::json!({"name": "API_KEY", "value": "hunter2", "url": "https://hunter2.example"}),
    ] {
        let kept = record(ToolCall::tool("mcp__x__y", arguments.clone()));
        let effects = kept.split("\"effects\"").nth(1).unwrap();
        assert!(!effects.contains("hunter2"), "{arguments}: {kept}");
    }
    // What is no secret stays.
    let kept = record(ToolCall::command("mysql --password=abc -h db.example abc"));
    assert!(kept.contains("db.example"), "{kept}");
}

#[test]
fn a_permit_is_for_one_operation() {
    let gate = gate(POLICY);
    let (one, two) = (judge(&gate, "a/x"), judge(&gate, "a/y"));
    let in_force = gate.in_force();
    let digest = |judged: &Judged| digest(judged.operation.as_ref().unwrap(), in_force.policy.version());
    let (first, second) = (digest(&one), digest(&two));
    assert_ne!(first, second);
    let (one, two) = (one.permit.unwrap(), two.permit.unwrap());
    assert_eq!((one.digest(), two.digest()), (first.as_str(), second.as_str()));
    assert_eq!(two.spend(|| 7), 7);
}

#[test]
fn an_ask_is_a_permit_once_a_person_has_said_yes_at_a_prompt_that_is_there() {
    let gate = gate(POLICY);
    let prompt = |path: &str, asking| {
        let judged = gate.judge(read(path), circumstances(asking), FactsOf::Gate).settle().record();
        (judged.prompt, judged.record.digest)
    };
    let (asked, digest) = prompt("b", Asking::OwnPrompt);
    assert_eq!(Some(asked.unwrap().yes().digest()), digest.as_deref());
    assert!(prompt("b", Asking::Nobody).0.is_none());
    assert!(prompt("a/x", Asking::OwnPrompt).0.is_none(), "it is allowed");
    assert!(prompt("a/secret/x", Asking::OwnPrompt).0.is_none(), "it is denied");
}

#[test]
fn where_nobody_can_be_asked_an_ask_is_a_denial() {
    let gate = gate(POLICY);
    let judged = gate.judge(read("b"), circumstances(Asking::Nobody), FactsOf::Gate).settle().record();
    assert_eq!(judged.decision.answer, Answer::Deny);
    assert_eq!(judged.decision.reasons[0].code.as_str(), "unanswered");
}

#[test]
fn a_queue_that_nobody_looks_at_leaves_the_callers_prompt_or_nobody() {
    let gate = gate(POLICY);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    for (otherwise, answer) in [(Otherwise::OwnPrompt, Answer::Ask), (Otherwise::Nobody, Answer::Deny)] {
        let judged =
            gate.judge(read("b"), circumstances(Asking::Queue { until, otherwise }), FactsOf::Gate).settle().record();
        assert_eq!(judged.decision.answer, answer);
    }
}

#[test]
fn unanswered_deny_takes_the_prompt_away() {
    let gate = gate(&format!("unanswered = \"deny\"\n{POLICY}"));
    let judged = judge(&gate, "b");
    assert_eq!(judged.decision.answer, Answer::Deny, "{:?}", judged.decision.reasons);
}

/// Facts that break whoever looks at them.
struct Broken;

impl Files for Broken {
    fn kind(&self, _: &Path) -> Kind {
        panic!("a bug")
    }
    fn list(&self, _: &Path, _: usize) -> Option<Vec<std::ffi::OsString>> {
        panic!("a bug")
    }
    fn read(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
        panic!("a bug")
    }
    fn stamp(&self, _: &Path) -> Option<String> {
        panic!("a bug")
    }
    fn identity(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }

    fn changeable(&self, _: &Path) -> bool {
        panic!("a bug")
    }
}

#[test]
fn a_panic_inside_is_a_denial_on_record() {
    let gate =
        gate("[allow]\nrun = [\"cat\"]\nread = [\"/**\"]\n").with_facts(Box::new(Broken), Box::new(NoEnvironment));
    let judged = judge(&gate, "a/x");
    assert_eq!(judged.decision.answer, Answer::Deny);
    assert_eq!(judged.decision.reasons[0].code.as_str(), "internal-error");
    assert_eq!(judged.record.arguments.unwrap()["file_path"], "/nonexistent/app/a/x");
    assert!(judged.permit.is_none() && judged.operation.is_none());
}

struct Full;

impl Recorder for Full {
    fn record(&self, _: &Record) -> Result<(), Error> {
        Err(Error::Io { doing: "write", path: "/full".into(), source: std::io::ErrorKind::StorageFull.into() })
    }
}

#[test]
fn what_cannot_be_recorded_does_not_run() {
    let gate = Gate::new(given(POLICY), Box::new(Full));
    let judged = judge(&gate, "a/x");
    assert_eq!(judged.decision.answer, Answer::Deny);
    assert_eq!(judged.decision.reasons[0].code.as_str(), "record-failed");
    assert!(judged.permit.is_none());
}

fn ahead(gate: &Gate, path: &str) -> Option<Unsaid> {
    let looked = Once::over(&RealFiles);
    let facts = FactsOf::Shared(&looked, &NoEnvironment);
    gate.judge(read(path), circumstances(Asking::OwnPrompt), facts).at_once().ok().map(Draft::together)
}

#[test]
fn what_several_gates_would_say_is_recorded_together_and_told_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let store = store::open(&Places::below(dir.path(), dir.path())).unwrap();
    let over = |text: &str| Gate::sharing(Live::fixed(given(text)), Arc::clone(&store) as _);
    let (one, two) = (over(POLICY), over("[deny]\nread = [\"**\"]\n"));
    let alone = Gate::new(given(POLICY), Box::new(Full));
    let all: Vec<Unsaid> = [(&one, "a/x"), (&two, "a/x"), (&alone, "a/x"), (&one, "a/y"), (&two, "a/z")]
        .into_iter()
        .map(|(gate, path)| ahead(gate, path).unwrap())
        .collect();
    let judged: Vec<Recorded> = Unsaid::record_all(all).collect();
    let answers: Vec<Answer> = judged.iter().map(|judged| judged.decision.answer).collect();
    assert_eq!(answers, [Answer::Allow, Answer::Deny, Answer::Deny, Answer::Allow, Answer::Deny]);
    assert_eq!(judged[2].decision.reasons[0].code.as_str(), "record-failed");
    assert!(judged.iter().all(|judged| judged.permit.is_some() == (judged.decision.answer == Answer::Allow)));
    let kept = store.query(&Query { order: Order::OldestFirst, ..Query::default() }).unwrap();
    let kept: Vec<&str> = kept.iter().map(|stored| stored.record.id.as_str()).collect();
    let said: Vec<&str> = [0, 1, 3, 4].iter().map(|at| judged[*at].id.as_str()).collect();
    assert_eq!(kept, said);
}

#[test]
fn what_needs_memory_or_people_is_not_judged_ahead() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::of(&Places::below(dir.path(), dir.path()));
    let with = |text: &str| gate(text).with_memory(memory.clone());
    assert!(ahead(&with(POLICY), "a/x").is_some());
    assert!(ahead(&with("[ask]\nread = [\"**\"]\n"), "a/x").is_none(), "an answer may be remembered");
    assert!(ahead(&with(&format!("{POLICY}[limits.session]\ncalls = 5\n")), "a/x").is_none());
}

#[test]
fn what_lay_aside_for_long_is_judged_by_what_is_there_now() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap().join("app");
    std::fs::create_dir_all(folder.join("secret")).unwrap();
    std::fs::write(folder.join("secret/x"), "").unwrap();
    std::fs::write(folder.join("x"), "").unwrap();
    let memory = Memory::of(&Places::below(&dir.path().join("home"), dir.path()));
    let gate = gate("[ask]\nread = [\"./x\"]\n[deny]\nread = [\"./secret/**\"]\n").with_memory(memory);
    let aside = || {
        let mut call = ToolCall::tool("Read", serde_json::json!({"file_path": folder.join("x")}));
        call.cwd = Some(folder.clone());
        call.workspace = Workspace::new(&folder, None);
        gate.judge(call, circumstances(Asking::OwnPrompt), FactsOf::Gate).at_once().err().unwrap()
    };
    let said = |aside: Box<Aside>| aside.take_up(&gate, FactsOf::Gate).settle().record().decision.answer;
    assert_eq!(said(aside()), Answer::Ask);
    let lies = aside();
    std::fs::remove_file(folder.join("x")).unwrap();
    std::os::unix::fs::symlink("secret/x", folder.join("x")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert_eq!(said(lies), Answer::Deny);
}

#[test]
fn limits_without_a_memory_let_nothing_pass() {
    let judged = judge(&gate(&format!("{POLICY}[limits.session]\ncalls = 5\n")), "a/x");
    assert_eq!(judged.decision.answer, Answer::Deny);
    assert_eq!(judged.decision.reasons[0].code.as_str(), "store-failed");
}

struct Machine {
    dir: tempfile::TempDir,
    places: Places,
}

fn machine() -> Machine {
    let dir = tempfile::tempdir().unwrap();
    let places = Places::below(&dir.path().join("home"), dir.path());
    Machine { dir, places }
}

impl Machine {
    fn write(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// What is said to reading this file of the project.
    fn verdict(&self, path: &str) -> (Verdict, String) {
        let project = self.dir.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let in_force = InForce::load(&self.places, Some(&project)).unwrap();
        let gate = Gate::new(in_force, Box::new(Unrecorded));
        let mut call = ToolCall::tool("Read", serde_json::json!({"file_path": project.join(path)}));
        call.cwd = Some(project.clone());
        call.workspace = Workspace::new(project, None);
        let decision = gate.judge(call, circumstances(Asking::OwnPrompt), FactsOf::Gate).settle().record().decision;
        (decision.verdict, decision.reasons.first().map(|r| r.code.to_string()).unwrap_or_default())
    }
}

#[test]
fn without_any_file_the_developer_preset_speaks() {
    let m = machine();
    assert_eq!(m.verdict("b").0, Verdict::Allow);
    assert_eq!(m.verdict(".env").0, Verdict::Deny);
}

#[test]
fn no_allow_reaches_the_server_of_sayso() {
    let m = machine();
    m.write(&m.places.user, "[allow]\nconnect = [\"*\", \"localhost\", \"127.0.0.1\"]\n");
    let in_force = InForce::load(&m.places, None).unwrap();
    let gate = Gate::new(in_force, Box::new(Unrecorded));
    let fetch = |url: &str| {
        let call = ToolCall::tool("WebFetch", serde_json::json!({"url": url, "prompt": "x"}));
        gate.judge(call, circumstances(Asking::OwnPrompt), FactsOf::Gate).settle().record().decision.verdict
    };
    for url in
        ["http://localhost:7171/v1/approvals", "http://127.0.0.1:7171/", "http://[::1]:7171/", "http://0x7f.1:7171/"]
    {
        assert_eq!(fetch(url), Verdict::Deny, "{url}");
    }
    assert_eq!(fetch("http://localhost:3000/"), Verdict::Allow);
}

#[test]
fn a_broken_user_file_leaves_its_last_good_version_in_force() {
    let m = machine();
    m.write(&m.places.user.clone(), POLICY);
    assert_eq!(m.verdict("a/x").0, Verdict::Allow);
    m.write(&m.places.user.clone(), "[alow]\nread = [\"x\"]\n");
    assert_eq!(m.verdict("a/x").0, Verdict::Allow);
    assert_eq!(m.verdict("a/secret/x").0, Verdict::Deny);
    let notices = InForce::load(&m.places, None).unwrap().notices;
    assert_eq!(notices[0].reason.code.as_str(), "last-good-policy");
    assert!(!notices[0].problems.is_empty());
}

#[test]
fn a_broken_new_file_asks_for_everything() {
    let m = machine();
    m.write(&m.places.user.clone(), "nonsense = \n");
    assert_eq!(m.verdict("b"), (Verdict::Ask, "policy-refused".into()));
    let m = machine();
    m.write(&m.dir.path().join("project/.sayso.toml"), "nonsense = \n");
    assert_eq!(m.verdict("b"), (Verdict::Ask, "policy-refused".into()));
    assert_eq!(m.verdict(".env").0, Verdict::Deny);
    let m = machine();
    m.write(&m.places.managed.clone(), "nonsense = \n");
    assert_eq!(m.verdict("b"), (Verdict::Deny, "policy-refused".into()));
}

#[test]
fn files_that_others_could_have_written_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let open = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let m = machine();
    m.write(&m.places.user.clone(), POLICY);
    open(&m.places.user, 0o666);
    assert_eq!(m.verdict("a/x"), (Verdict::Ask, "policy-refused".into()));
    let m = machine();
    m.write(&m.places.managed.clone(), POLICY);
    assert_eq!(m.verdict("a/x").0, Verdict::Allow);
    open(&m.places.managed, 0o664);
    assert_eq!(m.verdict("a/x"), (Verdict::Deny, "policy-refused".into()));
    open(&m.places.managed, 0o644);
    open(m.places.managed.parent().unwrap(), 0o777);
    assert_eq!(m.verdict("a/x"), (Verdict::Deny, "policy-refused".into()));
}

#[test]
fn an_untrusted_project_file_may_only_tighten() {
    let m = machine();
    m.write(
        &m.dir.path().join("project/.sayso.toml"),
        "[allow]\nread = [\"~/outside\", \"/outside/**\"]\n[deny]\nread = [\"./b\"]\n",
    );
    assert_eq!(m.verdict("/outside/x").0, Verdict::Ask);
    assert_eq!(m.verdict("b").0, Verdict::Deny);
    assert_eq!(m.verdict("c").0, Verdict::Allow);
    sayso_gate::policy::trust(&m.places, &m.dir.path().join("project"), "ann").unwrap();
    assert_eq!(m.verdict("/outside/x").0, Verdict::Allow);
}

#[test]
fn whether_a_call_can_be_held_may_be_found_out_after_the_policy_has_spoken() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap();
    std::fs::write(folder.join("Makefile"), "all:\n\techo x\n").unwrap();
    let policies = [
        "extends = [\"developer\"]\n",
        "extends = [\"developer\"]\nmode = { run = \"shadow\" }\n",
        "default = \"ask\"\n[hold]\nrun = [\"@builds\", \"@code\"]\nneed = \"files\"\n",
        "default = \"deny\"\n[allow]\nrun = [\"make\"]\n",
    ];
    let commands = [
        "git log -n 1",
        "make",
        "make && terraform apply",
        "python3 -c 'print(1)'",
        "node x.js | sort",
        "sudo make install",
        "git push --force origin main",
        "./nobody-knows --x",
        "ls; npm run build",
    ];
    let (mut depended, mut lifted) = (0, 0);
    for text in policies {
        let gate = gate(text);
        for command in commands {
            let call = || ToolCall {
                cwd: Some(folder.clone()),
                workspace: Workspace::new(folder.clone(), None),
                ..ToolCall::command(command)
            };
            for can_hold in [CanHold::No, CanHold::Files, CanHold::Whole] {
                let known = Circumstances { can_hold, ..circumstances(Asking::OwnPrompt) };
                let (_, at_first) = gate.judge(call(), known, FactsOf::Gate).rehearsed();
                let judgement = gate.judge(call(), circumstances(Asking::OwnPrompt), FactsOf::Gate);
                let depends = judgement.depends_on_hold();
                depended += usize::from(depends);
                lifted += usize::from(judgement.alone().answer != at_first.answer);
                // A caller looks only where it is told that this counts.
                let later = if depends { judgement.can_hold(can_hold) } else { judgement };
                assert_eq!(*later.alone(), at_first, "{text} {command} {can_hold:?}");
            }
        }
    }
    assert!(depended > 10 && lifted > 5, "{depended} {lifted}");
}
