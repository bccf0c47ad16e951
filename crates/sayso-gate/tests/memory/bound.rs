//! What a yes is bound to: what asked, what would run, and the record that says so.

use super::*;
use sayso_gate::Reporter;
use sayso_gate::store::Keep;
use sayso_shell::Files;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const TICKET: Asking = Asking::Ticket { asked: false };

impl World {
    /// The question that a call puts.
    pub(crate) fn asks(&self, command: &str) -> String {
        let judged = self.judge("s", command, TICKET);
        judged.question.unwrap_or_else(|| panic!("{:?}", judged.decision.reasons))
    }

    pub(crate) fn says_yes(&self, id: &str) -> Approval {
        self.reply(id, &ann(), &Reply::allow_once()).unwrap()
    }

    /// A call that comes back.
    pub(crate) fn again(&self, command: &str) -> Judged {
        self.judge("s", command, TICKET)
    }

    pub(crate) fn distrusted(&self) -> usize {
        let events = self.store().events(&Query { kinds: vec![Kind::Chain], ..Query::default() }).unwrap();
        events.iter().filter(|it| matches!(&it.event, Event::Change(change) if change.what == "distrusted")).count()
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        std::fs::write(self.work().join(name), text).unwrap();
    }
}

pub(crate) fn codes(judged: &Judged) -> Vec<String> {
    judged.decision.reasons.iter().map(|reason| reason.code.to_string()).collect()
}

pub(crate) const ASKING: &str = "default = \"ask\"\n";

#[test]
fn letting_the_old_end_of_the_record_go_takes_what_is_over_and_keeps_what_counts() {
    let world = world(ASKING);
    let (always, once, waits, over) = (world.asks("a"), world.asks("b"), world.asks("c"), world.asks("d"));
    world.reply(&always, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Exact)).unwrap();
    world.says_yes(&once);
    world.reply(&over, &ann(), &Reply::deny()).unwrap();
    assert_eq!(world.again("a").decision.answer, Answer::Allow);
    let back = world.asks("e");
    world.reply(&back, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Exact)).unwrap();
    let given = world.store().grants(true, now()).unwrap();
    let taken_back = given.iter().find(|kept| kept.approval.as_deref() == Some(back.as_str())).unwrap();
    world.store().revoke(&taken_back.grant.id, "ann", now()).unwrap();

    assert!(world.store().prune(Keep::Last(0), "ann").unwrap().records > 0);
    assert_eq!(world.store().verify(None).unwrap().problems, vec![]);
    let mut left: Vec<String> =
        world.store().approvals(false, 10).unwrap().into_iter().map(|it| it.question.id).collect();
    left.sort();
    let mut wanted = vec![once, waits.clone()];
    wanted.extend(world.store().approval(&back).unwrap().map(|it| it.question.id));
    wanted.sort();
    assert_eq!(left, wanted);
    assert_eq!(world.store().grants(false, now()).unwrap().len(), 1);
    // And it all still means what it meant.
    for command in ["a", "b"] {
        assert_eq!(world.again(command).decision.answer, Answer::Allow, "{command}");
    }
    assert_eq!(world.distrusted(), 0);
    world.says_yes(&waits);
    assert_eq!(world.again("c").decision.answer, Answer::Allow);
    assert_eq!(world.store().verify(None).unwrap().problems, vec![]);
}

#[test]
fn a_yes_is_none_to_a_limit_that_was_reached_since() {
    let world = world(
        "default = \"allow\"\n[allow]\nrun = [\"true\"]\n[ask]\nrun = [\"make\"]\n[limits.session]\ncalls = 1\nat_limit = \"ask\"\n",
    );
    let id = world.asks("make");
    world.says_yes(&id);
    assert_eq!(world.answer_of("s", "true"), Answer::Allow);
    let judged = world.again("make");
    assert_eq!(judged.decision.answer, Answer::Ask, "{:?}", codes(&judged));
    let second = judged.question.unwrap();
    assert_ne!(second, id);
    world.says_yes(&second);
    assert_eq!(world.again("make").decision.answer, Answer::Allow);
}

#[test]
fn a_changed_project_file_voids_a_yes_to_the_tool_that_reads_it() {
    for (command, file, appears) in [
        ("make", "Makefile", "GNUmakefile"),
        ("npm test", "package.json", ".npmrc"),
        ("cargo build", "build.rs", ".cargo/config.toml"),
        ("pytest", "pyproject.toml", "conftest.py"),
        ("make -C sub", "sub/Makefile", "sub/GNUmakefile"),
        ("cd sub && make", "sub/Makefile", "Makefile"),
        ("make -f other.mk", "other.mk", "Makefile"),
    ] {
        let world = world(ASKING);
        std::fs::create_dir_all(world.work().join("sub")).unwrap();
        std::fs::create_dir_all(world.work().join(".cargo")).unwrap();
        world.file(file, "one");
        let asked = || world.again(command).decision.answer;
        let id = world.asks(command);
        world.says_yes(&id);
        world.file(file, "two");
        assert_eq!(asked(), Answer::Ask, "{command}: {file} changed");
        let id = world.asks(command);
        assert!(world.store().approval(&id).unwrap().unwrap().question.files.iter().any(|it| it.path.ends_with(file)));
        world.file(file, "three");
        let refused = world.reply(&id, &ann(), &Reply::allow_once());
        assert!(matches!(refused, Err(Error::Refused(Refused::Changed(_)))), "{command}: {refused:?}");
        let id = world.asks(command);
        world.says_yes(&id);
        world.file(appears, "new");
        assert_eq!(asked(), Answer::Ask, "{command}: {appears} came");
        let id = world.asks(command);
        world.says_yes(&id);
        assert_eq!(asked(), Answer::Allow, "{command}");
    }
}

#[test]
fn a_file_too_large_to_be_read_is_bound_too() {
    let world = world(ASKING);
    let path = world.work().join("big.sh");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(65 * 1024 * 1024).unwrap();
    let id = world.asks("bash big.sh");
    world.says_yes(&id);
    assert_eq!(world.again("bash big.sh").decision.answer, Answer::Allow);
    let id = world.asks("bash big.sh");
    world.says_yes(&id);
    std::os::unix::fs::FileExt::write_all_at(&file, b"evil", 32 * 1024 * 1024).unwrap();
    // Somebody sets the time back.
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(world.again("bash big.sh").decision.answer, Answer::Ask);
}

#[test]
fn files_beyond_those_that_are_read_are_bound_too() {
    let world = world(ASKING);
    for n in 0..70 {
        world.file(&format!("s{n:02}.sh"), "one");
    }
    let command: Vec<String> = (0..70).map(|n| format!("bash s{n:02}.sh")).collect();
    let command = command.join("; ");
    let id = world.asks(&command);
    world.says_yes(&id);
    world.file("s69.sh", "two");
    assert_eq!(world.again(&command).decision.answer, Answer::Ask);
    let id = world.asks(&command);
    world.says_yes(&id);
    assert_eq!(world.again(&command).decision.answer, Answer::Allow);
}

const LIMITED: &str = "default = \"allow\"\n[allow]\nrun = [\"*\"]\n[limits.session]\ncalls = 2\n";

#[test]
fn what_became_of_a_call_is_told_by_whoever_asked_for_it() {
    let world = world(LIMITED);
    let asked = |agent: &str, tenant: Option<&str>| {
        let mut call = world.call("s", "true");
        (call.actor.agent, call.actor.tenant) = (Some(agent.to_owned()), tenant.map(str::to_owned));
        let circumstances = Circumstances { call_id: Some("c".to_owned()), ..circumstances(NOW) };
        world.gate().judge(call, circumstances.clone(), FactsOf::Gate).settle().record()
    };
    let judged = asked("coder", Some("a"));
    assert_eq!(judged.decision.answer, Answer::Allow);
    let settle =
        |which: &Which| world.store().settle(which, &Outcome { not_run: true, ..Outcome::default() }, now()).unwrap();
    let by = |agent: &str, tenant: &str, way_in: &str| Reporter {
        way_in: way_in.to_owned(),
        tenant: Some(tenant.to_owned()),
        agent: Some(agent.to_owned()),
        asker: None,
    };
    let claimed = Reporter { asker: Some("anybody".to_owned()), ..by("coder", "a", "test") };
    for by in
        [claimed, by("other", "a", "test"), by("coder", "b", "test"), by("coder", "a", "http"), Reporter::default()]
    {
        let call = Which::Call { by: by.clone(), session: Some("s".to_owned()), call_id: "c".to_owned() };
        assert!(!settle(&call), "{call:?}");
        assert!(!settle(&Which::Reported { record: judged.record.id.clone(), by }));
    }
    let own = by("coder", "a", "test");
    assert!(settle(&Which::Call { by: own.clone(), session: Some("s".to_owned()), call_id: "c".to_owned() }));
    let judged = asked("coder", Some("a"));
    assert!(settle(&Which::Reported { record: judged.record.id, by: own }));
}

#[test]
fn what_an_agent_starts_uses_the_agents_budget() {
    let world = world(LIMITED);
    let started = |run: &str| {
        let mut call = world.call("s", "true");
        let parent = call.actor.clone();
        call.actor.subagent = true;
        (call.actor.agent, call.actor.run) = (Some(format!("helper-{run}")), Some(run.to_owned()));
        call.actor.parent = Some(Box::new(parent));
        world.gate().judge(call, circumstances(NOW), FactsOf::Gate).settle().record().decision.answer
    };
    // Each of them is new; the one who starts them has two calls.
    assert_eq!([started("1"), started("2"), started("3")], [Answer::Allow, Answer::Allow, Answer::Deny]);
    assert_eq!(world.answer_of("s", "true"), Answer::Deny);
    assert_eq!(world.answer_of("another", "true"), Answer::Allow);
}

#[test]
fn a_width_says_that_it_lets_an_unknown_program_do_whatever_it_does() {
    let world = world(ASKING);
    let words = |command: &str| {
        let id = world.asks(command);
        let offers = world.store().approval(&id).unwrap().unwrap().question.offers;
        offers.into_iter().find(|offer| offer.width == Width::Program).map(|offer| offer.words)
    };
    assert!(words("frobnicate apply").is_some_and(|words| words.contains("doesn't know this program")));
    assert!(words("cargo build").is_some_and(|words| words == "`cargo build` with any ordinary operands"));
    // What it goes by is part of it.
    let said = words("jest --env=good");
    assert_eq!(said.as_deref(), Some("`jest --env=good` with any ordinary operands"));
    let said = words("jest --env=good --config='a b.js'");
    assert_eq!(said, None, "a value that no pattern can hold");
}

/// The real files, with every file counted of which the content is looked at to bind a yes to it.
struct Counted(Arc<AtomicUsize>);

impl Files for Counted {
    fn kind(&self, path: &Path) -> sayso_shell::Kind {
        RealFiles.kind(path)
    }
    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<std::ffi::OsString>> {
        RealFiles.list(folder, limit)
    }
    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        RealFiles.read(path, limit)
    }
    fn read_through(&self, path: &Path, limit: usize, each: &mut dyn FnMut(&[u8])) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        RealFiles.read_through(path, limit, each)
    }
    fn stamp(&self, path: &Path) -> Option<String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        RealFiles.stamp(path)
    }
    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        RealFiles.identity(path)
    }

    fn changeable(&self, path: &Path) -> bool {
        RealFiles.changeable(path)
    }
}

#[test]
fn files_are_read_only_for_a_question_that_is_put_or_an_answer_that_is_kept() {
    let world = world(ASKING);
    world.file("Makefile", "x:\n\t./run.sh\n");
    world.file("run.sh", "one");
    let read = Arc::new(AtomicUsize::new(0));
    let gate = world.gate().with_facts(Box::new(Counted(read.clone())), Box::new(ProcessEnvironment));
    let judge = |asking| {
        read.store(0, Ordering::Relaxed);
        let judged = gate.judge(world.call("s", "make x"), circumstances(asking), FactsOf::Gate).settle().record();
        (judged.decision.answer, read.load(Ordering::Relaxed) > 0)
    };
    // The agent's own prompt decides, or nobody can: nothing of the answer is kept here.
    assert_eq!(judge(NOW), (Answer::Ask, false));
    assert_eq!(judge(Asking::Nobody), (Answer::Deny, false));
    // The question is put: it is bound to files as they are now, not as they are once it is answered.
    assert_eq!(judge(held(1)), (Answer::Deny, true));
    let question = world.store().approvals(true, 10).unwrap().remove(0).question;
    assert!(question.files.iter().any(|file| file.path.ends_with("run.sh") && file.hash.is_some()));
    world.says_yes(&question.id);
    world.file("run.sh", "two");
    assert_eq!(judge(NOW), (Answer::Ask, true));
    world.file("run.sh", "one");
    assert_eq!(judge(NOW), (Answer::Allow, true));
    assert_eq!(judge(NOW), (Answer::Ask, false), "a yes is used once, and nothing is kept any more");
}
