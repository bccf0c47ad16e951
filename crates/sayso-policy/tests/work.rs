//! How much a decision looks at, counted: in a project of a hundred thousand files, on a machine whose home folder has no
//! end, and for commands that are made to take long.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

mod machine;

use machine::{Machine, command_in_app};
use proptest::prelude::*;
use sayso_policy::{Decision, Facts, Operation, Policy, PolicyText, State, Verdict};
use sayso_shell::{Files, Kind, Mark, Stands, Visit};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Areas of the project, parts of an area, modules of a part: 100,000 modules in 2,550 folders.
const AREAS: usize = 50;
const PARTS: usize = 50;
const MODULES: usize = 40;

/// A decision looks at no more than this, whatever it is about.
const MOST: usize = 300_000;

/// The project at `/app`, and a home folder in which every folder holds a hundred others.
#[derive(Default)]
struct Large {
    /// Files that are there besides.
    more: RefCell<BTreeMap<PathBuf, Vec<String>>>,
    kinds: Cell<usize>,
    names: Cell<usize>,
    marks: Cell<usize>,
    reads: Cell<usize>,
    kept: RefCell<HashMap<Vec<u8>, Vec<u8>>>,
}

impl Large {
    fn looked(&self) -> usize {
        self.kinds.get() + self.names.get() + self.marks.get() + self.reads.get()
    }

    fn reset(&self) {
        [&self.kinds, &self.names, &self.marks, &self.reads].iter().for_each(|count| count.set(0));
    }

    /// The names in a folder, and whether they are folders; `None`: there is no such folder.
    fn inside(path: &Path) -> Option<(Vec<String>, bool)> {
        let parts: Vec<&str> = path.to_str()?.split('/').filter(|part| !part.is_empty()).collect();
        let made = |prefix: &str, count: usize, ending: &str| -> Vec<String> {
            (0..count).map(|at| format!("{prefix}{at:02}{ending}")).collect()
        };
        let is = |name: &str, prefix: &str, count: usize| made(prefix, count, "").iter().any(|known| known == name);
        match parts.as_slice() {
            [] => Some((["app", "home", "usr"].map(str::to_owned).to_vec(), true)),
            ["app"] => Some((vec!["src".to_owned()], true)),
            ["app", "src"] => Some((made("area", AREAS, ""), true)),
            ["app", "src", area] if is(area, "area", AREAS) => Some((made("part", PARTS, ""), true)),
            ["app", "src", area, part] if is(area, "area", AREAS) && is(part, "part", PARTS) => {
                Some((made("module", MODULES, ".ts"), false))
            }
            ["usr"] => Some((vec!["bin".to_owned()], true)),
            ["usr", "bin"] => Some((Vec::new(), false)),
            ["home"] => Some((vec!["ann".to_owned()], true)),
            ["home", "ann", ..] => Some((made("folder", 100, ""), true)),
            _ => None,
        }
    }
}

impl Files for Large {
    fn kind(&self, path: &Path) -> Kind {
        self.kinds.set(self.kinds.get() + 1);
        if Self::inside(path).is_some() {
            return Kind::Folder { world_writable: false };
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return Kind::Missing;
        };
        let more = self.more.borrow();
        let added = more.get(folder).is_some_and(|names| names.iter().any(|known| known == name));
        let made = || Self::inside(folder).is_some_and(|(names, _)| names.iter().any(|known| known == name));
        match folder.to_str() {
            Some("/usr/bin") => Kind::File { executable: true },
            _ if added || made() => Kind::File { executable: false },
            _ => Kind::Missing,
        }
    }

    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        let mut names = Vec::new();
        let visit = self.visit(folder, limit, &mut |name, _| {
            names.push(OsString::from(String::from_utf8(name.to_vec()).unwrap()));
        });
        (visit == Visit::Whole).then_some(names)
    }

    fn visit(&self, folder: &Path, limit: usize, each: &mut dyn FnMut(&[u8], Stands)) -> Visit {
        let Some((mut names, folders)) = Self::inside(folder) else { return Visit::NoFolder };
        let made = names.len();
        names.extend(self.more.borrow().get(folder).into_iter().flatten().cloned());
        for (at, name) in names.iter().enumerate() {
            if at == limit {
                return Visit::TooMany;
            }
            self.names.set(self.names.get() + 1);
            each(name.as_bytes(), if folders && at < made { Stands::Folder } else { Stands::File });
        }
        Visit::Whole
    }

    fn mark(&self, folder: &Path) -> Option<Mark> {
        self.marks.set(self.marks.get() + 1);
        let added = self.more.borrow().get(folder).map_or(0, Vec::len);
        let inode = folder.as_os_str().len() as u64;
        Some(Mark { device: 1, inode, changed: (i64::try_from(added).unwrap(), 0) })
    }

    fn kept(&self, label: &[u8]) -> Option<Vec<u8>> {
        self.kept.borrow().get(label).cloned()
    }

    fn keep(&self, label: &[u8], bytes: &[u8]) {
        self.kept.borrow_mut().insert(label.to_vec(), bytes.to_vec());
    }

    fn read(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
        self.reads.set(self.reads.get() + 1);
        None
    }

    fn stamp(&self, _: &Path) -> Option<String> {
        None
    }

    fn identity(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }

    fn changeable(&self, _: &Path) -> bool {
        true
    }
}

fn policy() -> Policy {
    Policy::compile(&[PolicyText::preset("developer")]).unwrap()
}

fn judge(policy: &Policy, files: &Large, command: &str) -> Decision {
    let environment = Machine(&[]);
    let facts = Facts { files, env: &environment };
    policy.evaluate(&Operation::new(command_in_app(command), facts), &State::default(), facts)
}

fn says(decision: &Decision, code: &str) -> bool {
    decision.reasons.iter().any(|reason| reason.code.as_str() == code)
}

/// As many different words as fit into 4 KiB.
fn words(command: &str, word: impl Fn(usize) -> String) -> String {
    let mut text = command.to_owned();
    for at in 0.. {
        let word = word(at);
        if text.len() + word.len() + 1 > 4096 {
            break;
        }
        text.push(' ');
        text.push_str(&word);
    }
    text
}

#[test]
fn no_command_of_four_kibibytes_makes_a_decision_look_at_everything() {
    let policy = policy();
    let long = [
        words("cat", |at| format!("*/*{at}*/*/*")),
        words("cat", |at| format!("src/*/*/*{at}.ts")),
        words("sed -i s/a/b/", |at| format!("src/*{at}*/part*/*")),
        words("rm -rf", |at| format!("src/area*/*{at}/**")),
        words("cp", |at| format!("~/*/*/*{at}")),
        words("ls", |at| format!("/*/*/*/*{at}")),
        words("grep -r x", |at| format!("~/folder{:02}", at % 100)),
        words("tar cf a.tar", |at| format!("src/area{:02}", at % 50)),
        words("cat", |at| format!("src/**/module{at:02}.ts")),
    ];
    let short = [
        "ln -s / x",
        "cppcheck --plist-output=/home/ann src",
        "rg foo",
        "rg foo ~",
        "grep -r foo / ~ .",
        "sed -i s/a/b/ src/*/*/*.ts",
        "rm -rf src/*/*/*.ts",
        "cat **/*.ts",
        "find . -name '*.ts' | xargs cat",
        "find ~ -name '*.ts' -exec cat {} +",
        "for f in src/*/*/*.ts; do cat \"$f\"; done",
        "tar cf x.tar . ~ /",
        "cp -r / x",
        "chmod -R go+r ~",
        "git add -A",
        "rsync -a / x",
    ];
    for command in short.iter().copied().chain(long.iter().map(String::as_str)) {
        let files = Large::default();
        let _ = judge(&policy, &files, command);
        assert!(files.looked() <= MOST, "{} looks for {:.80}", files.looked(), command);
    }
}

#[test]
fn what_is_too_much_to_look_at_is_asked_about_and_says_so() {
    let policy = policy();
    for command in ["grep -r foo ~", "cp -r / x", "cat ~/*/*/*/*"] {
        let decision = judge(&policy, &Large::default(), command);
        assert!(decision.verdict >= Verdict::Ask, "{command:.80}");
        assert!(says(&decision, "too-many-files"), "{command:.80}: {:?}", decision.reasons);
    }
}

#[test]
fn a_search_through_a_large_project_is_no_question() {
    let (policy, files) = (policy(), Large::default());
    for command in ["rg foo", "grep -rn foo src", "cat src/*/*/*.ts", "find . -name '*.ts' | xargs wc -l", "ls src/*"] {
        let decision = judge(&policy, &files, command);
        assert_eq!(decision.verdict, Verdict::Allow, "{command}: {:?}", decision.reasons);
    }
}

#[test]
fn a_folder_that_did_not_change_is_not_listed_again() {
    let (policy, files) = (policy(), Large::default());
    let first = judge(&policy, &files, "rg foo");
    assert!(files.names.get() >= AREAS * PARTS * MODULES);
    for command in ["rg foo", "grep -rn foo src", "cat src/*/*/*.ts"] {
        files.reset();
        assert_eq!(judge(&policy, &files, command).verdict, first.verdict);
        assert_eq!(files.names.get(), 0, "{command}");
        assert!(files.looked() < 2 * AREAS * PARTS, "{} looks for {command}", files.looked());
    }
}

#[test]
fn what_is_remembered_of_a_search_is_found_in_the_walk_that_judged_it() {
    let (policy, files, environment) = (policy(), Large::default(), Machine(&[]));
    let facts = Facts { files: &files, env: &environment };
    files.more.borrow_mut().insert(PathBuf::from("/app/src/area07/part07"), vec!["server.pem".to_owned()]);
    for command in ["rg foo", "grep -rn foo src", "cat src/*/*/*", "find . -name '*.ts' | xargs wc -l", "cp -r src x"] {
        let operation = Operation::new(command_in_app(command), facts);
        let _ = policy.evaluate(&operation, &State::default(), facts);
        files.reset();
        let decision = policy.evaluate(&operation, &State::default(), facts);
        let judged = files.looked();
        files.reset();
        let alone = policy.deeds(&operation, facts);
        assert_eq!(decision.deeds.unwrap(), alone, "{command}");
        // Whoever asks for it alone pays for a walk of its own; with the decision it costs none.
        assert!(files.looked() >= AREAS * PARTS, "{} looks alone for {command}", files.looked());
        assert!(judged < 2 * AREAS * PARTS, "{judged} looks for {command}");
    }
    let operation = Operation::new(command_in_app("grep -rn foo src"), facts);
    assert_eq!(policy.deeds(&operation, facts).after.len(), 1, "a key was among what it read");
}

#[test]
fn what_was_kept_hides_nothing_that_came_since() {
    let (policy, files) = (policy(), Large::default());
    let search = "grep -rn foo src";
    assert_eq!(judge(&policy, &files, search).verdict, Verdict::Allow);
    let part = PathBuf::from("/app/src/area07/part07");
    files.more.borrow_mut().insert(part, vec![".env".to_owned()]);
    files.reset();
    assert!(judge(&policy, &files, search).verdict >= Verdict::Ask);
    assert!(judge(&policy, &files, "cat src/*/*/.e*").verdict >= Verdict::Ask);
    assert!(judge(&policy, &files, "rg foo").verdict == Verdict::Allow, "it is hidden");
    assert!(files.names.get() <= 4 * MODULES, "{} names", files.names.get());
    // Bytes that are no listing are none.
    for damage in [vec![], vec![0xff; 4096], b"\x02\0\0\0\x01\0\0\0\x01\0\0\0".to_vec()] {
        files.kept.borrow_mut().values_mut().for_each(|bytes| bytes.clone_from(&damage));
        assert!(judge(&policy, &files, search).verdict >= Verdict::Ask);
    }
}

#[test]
fn of_the_names_that_are_kept_only_those_are_left_that_matter() {
    let (policy, files) = (policy(), Large::default());
    let kept = |name: &str| {
        let kept = files.kept.borrow();
        kept.values().any(|bytes| bytes.windows(name.len()).any(|part| part == name.as_bytes()))
    };
    assert_eq!(judge(&policy, &files, "rg foo").verdict, Verdict::Allow);
    assert!(kept("part07") && !kept("module07.ts"));
    // Wherever a walk begins, a file that matters is found by what it left too.
    for area in ["area00", "area49"] {
        let files = Large::default();
        files.more.borrow_mut().insert(Path::new("/app/src").join(area).join("part07"), vec![".env".to_owned()]);
        for _ in 0..2 {
            assert!(judge(&policy, &files, "grep -rn foo src").verdict >= Verdict::Ask, "{area}");
        }
        assert!(files.names.get() <= AREAS * PARTS * (MODULES + 2), "listed once");
    }
}

#[test]
fn what_one_policy_left_another_does_not_use() {
    let files = Large::default();
    let strict = |text: &str| {
        let text = format!("extends = [\"developer\"]\n[deny]\nread = [\"{text}\"]\n");
        let layer = sayso_policy::Layer::User;
        Policy::compile(&[PolicyText { layer, name: "test".into(), text, trusted: true }]).unwrap()
    };
    let search = "grep -rn foo src";
    assert_eq!(judge(&policy(), &files, search).verdict, Verdict::Allow);
    for pattern in ["/**/module07.ts", "./src/area01/**", "/**/part03/*.ts", "re:area01/part01/mod"] {
        for _ in 0..2 {
            let decision = judge(&strict(pattern), &files, search);
            assert!(decision.verdict >= Verdict::Ask, "{pattern}");
            assert!(judge(&strict(pattern), &files, "cat src/*/*/*.ts").verdict >= Verdict::Ask, "{pattern}");
        }
    }
    assert_eq!(judge(&strict("/**/module99.ts"), &files, search).verdict, Verdict::Allow);
}

#[test]
fn a_rule_about_files_in_a_folder_finds_it_wherever_a_walk_comes_by() {
    for area in ["area00", "area25", "area49"] {
        let text = format!("extends = [\"developer\"]\n[deny]\nread = [\"/app/src/{area}/part07/*.ts\"]\n");
        let layer = sayso_policy::Layer::User;
        let policy = Policy::compile(&[PolicyText { layer, name: "test".into(), text, trusted: true }]).unwrap();
        let decision = judge(&policy, &Large::default(), "grep -rn foo src");
        assert!(decision.verdict >= Verdict::Ask, "{area}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_mixture_makes_a_decision_look_at_everything(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "cat ", "rm -rf ", "grep -r x ", "find ", "rg x ", "cp -r ", "*", "**", "/", "~", "~/", "src", "/*", "*/", "..",
                "area*", "part0?", "[a-m]*", ".ts", " ", " ", " ", "; ", " | xargs ", "{a,b,*}", "$(ls *)", " > ", "for f in ",
                "; do ", "; done", "./", ".*", "-exec cat {} +", "--include=*.ts", "x", "$f", "&& ",
            ]),
            1..160,
        ),
    ) {
        let (files, command) = (Large::default(), parts.concat());
        let _ = judge(&policy(), &files, &command);
        prop_assert!(files.looked() <= MOST, "{} looks for {}", files.looked(), command);
    }
}
