//! Bounds never hold more than the policy allows, whatever the policy is.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use sayso_policy::hold::{Found, HoldGround, Lowered, Own, lower};
use sayso_policy::shell::bounds::{Bounds, CacheView, Leave, Need};
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{
    Answer, EarlierCall, Facts, Known, Layer, Operation, Policy, PolicyText, State, ToolCall, Workspace,
};
use std::path::{Path, PathBuf};

const ROOT: &str = "/home/ann/app";
const HOME: &str = "/home/ann";

/// What is there.
const THERE: &[(&str, bool)] = &[
    ("/home/ann/app/.env", false),
    ("/home/ann/app/config/.env.local", true),
    ("/home/ann/app/deploy/server.pem", true),
    ("/home/ann/app/.envrc", true),
    ("/home/ann/app/.vscode/tasks.json", true),
    ("/home/ann/app/.github/workflows/ci.yml", true),
    ("/home/ann/app/Cargo.lock", true),
    ("/home/ann/app/data/a.csv", false),
    ("/home/ann/app/src/main.rs", true),
    ("/home/ann/app/gen/out.rs", false),
    ("/home/ann/app/.sayso.toml", true),
    ("/srv/out/log", false),
    ("/etc/profile", false),
];
const FOLDERS: &[&str] = &["/home/ann/app/data", "/home/ann/app/gen", "/home/ann/app/.vscode"];

fn ground(policy: &Policy) -> HoldGround {
    let (root, home) = (Path::new(ROOT), Path::new(HOME));
    let file = |(path, tracked): &(&str, bool)| Found { path: path.into(), folder: false, tracked: *tracked };
    let folder = |path: &&str| Found { path: path.into(), folder: true, tracked: false };
    HoldGround {
        workspace: Some(root.to_owned()),
        home: Some(home.to_owned()),
        folders: HoldGround::folders_of(policy, Some(root), Some(home)),
        own: vec![
            Own { path: "/home/ann/.config/sayso".into(), there: true, folder: true },
            Own { path: "/home/ann/.local/state/sayso".into(), there: true, folder: true },
            Own { path: "/home/ann/app/inner/sayso.key".into(), there: true, folder: false },
            Own { path: "/etc/sayso".into(), there: false, folder: true },
        ],
        registration: vec!["/home/ann/app/bin/sayso".into(), "/home/ann/.claude/settings.json".into()],
        found: THERE.iter().map(file).chain(FOLDERS.iter().map(folder)).collect(),
        git: vec!["/home/ann/app/.git/config".into(), "/home/ann/app/.git/hooks".into()],
        names: vec!["/home/ann/app/.npmrc".into(), "/home/ann/app/.claude".into(), "/home/ann/app/CLAUDE.md".into()],
        shown: vec!["/home/ann/.cargo/bin".into(), "/home/ann/.config/sayso/x".into()],
        caches: vec!["/home/ann/.cache".into(), "/home/ann/.local/state/sayso/cache".into()],
        keep: Some("/home/ann/.local/state/sayso/hold/w".into()),
        env: vec!["PATH".into(), "GITHUB_TOKEN".into(), "DB_PASSWORD".into()],
        ..HoldGround::default()
    }
}

fn file(text: &str) -> PolicyText {
    PolicyText { layer: Layer::User, name: "p.toml".into(), text: text.to_owned(), trusted: true }
}

fn lowered(texts: &[PolicyText]) -> Lowered {
    let policy = Policy::compile(texts).unwrap_or_else(|problems| panic!("{problems:#?}"));
    lower(&policy, &ground(&policy))
}

/// What a run can do with a path: read it, write it. The innermost word counts, as for the mounts of a hold.
fn can(bounds: &Bounds, path: &Path) -> (bool, bool) {
    let lists: [(&[PathBuf], (bool, bool)); 5] = [
        (&bounds.read, (true, false)),
        (&bounds.write, (true, true)),
        (&bounds.hide, (false, false)),
        (&bounds.read_only, (true, false)),
        (&bounds.refuse, (false, false)),
    ];
    let decoys: Vec<PathBuf> = bounds.decoys.iter().map(|decoy| decoy.path.clone()).collect();
    let caches: Vec<PathBuf> = bounds.caches.iter().map(|cache| cache.path.clone()).collect();
    let all = lists.into_iter().chain([(decoys.as_slice(), (false, false)), (caches.as_slice(), (true, true))]);
    let mut best: Option<(usize, (bool, bool))> = None;
    for (paths, says) in all {
        for one in paths.iter().filter(|one| path.starts_with(one)) {
            let deep = one.components().count();
            if best.is_none_or(|(known, _)| deep >= known) {
                best = Some((deep, says));
            }
        }
    }
    let (read, write) = best.map_or((true, false), |(_, says)| says);
    (read, write && !bounds.absent.iter().any(|name| path.starts_with(name)))
}

/// What the policy says of a file tool there.
fn said(policy: &Policy, tool: &str, path: &str) -> Answer {
    let mut files = MemoryFiles::new();
    for (path, _) in THERE {
        files.file(path, b"");
    }
    let call = ToolCall {
        cwd: Some(ROOT.into()),
        workspace: Workspace::new(ROOT, Some(Path::new(HOME))),
        home: Some(HOME.into()),
        ..ToolCall::tool(tool, serde_json::json!({ "file_path": path, "content": "" }))
    };
    let facts = Facts { files: &files, env: &NoEnvironment };
    policy.evaluate(&Operation::new(call, facts), &State::default(), facts).answer
}

fn paths() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "./**",
        "./src/**",
        "./data/**",
        "./gen/**",
        "/srv/out/**",
        "/srv/**",
        "~/**",
        "/**",
        "@secrets",
        "@guarded",
        "@steers",
        "@scratch",
        "./**/*.csv",
        "./*.lock",
        "./.env",
        "./.vscode/**",
        "./.github/**",
        "/home/ann/app/data/a.csv",
        "re:out",
        "!./gen/**",
        "!./data/a.csv",
        "!@secrets",
    ])
    .prop_map(str::to_owned)
}

fn hosts() -> impl Strategy<Value = String> {
    let all = vec![
        "a.example",
        "*.a.example",
        "x.a.example",
        "*",
        "*.example",
        "127.0.0.1",
        "re:a",
        "b.example:8443",
        "!x.a.example",
    ];
    prop::sample::select(all).prop_map(str::to_owned)
}

/// A list with at least one pattern that is no exception.
fn list(of: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::collection::vec(of, 1..4).prop_map(|all| {
        let plain = all.iter().any(|one| !one.starts_with('!'));
        if plain { format!("{all:?}") } else { "['./none/**']".replace('\'', "\"") }
    })
}

fn host_list() -> impl Strategy<Value = String> {
    prop::collection::vec(hosts(), 1..3).prop_map(|all| {
        let plain = all.iter().any(|one| !one.starts_with('!'));
        if plain { format!("{all:?}") } else { "[\"none.example\"]".to_owned() }
    })
}

fn rules() -> impl Strategy<Value = String> {
    let allow = (list(paths()), list(paths()), host_list());
    let deny = (list(paths()), list(paths()), host_list(), list(paths()));
    let hold = (prop::option::of(list(paths())), prop::option::of(host_list()), any::<bool>());
    (allow, prop::option::of(deny), hold, any::<bool>()).prop_map(|((read, write, connect), deny, hold, preset)| {
        let mut text = String::new();
        if preset {
            text += "extends = [\"developer\"]\n";
        }
        text += &format!("[allow]\nread = {read}\nwrite = {write}\nconnect = {connect}\n");
        if let Some((read, write, connect, delete)) = deny {
            text += &format!("[deny]\nread = {read}\nwrite = {write}\n[ask]\nconnect = {connect}\ndelete = {delete}\n");
        }
        let (listed, hosts, whole) = hold;
        text += "[hold]\nrun = \"@scripts\"\n";
        text += &listed.map(|list| format!("write = {list}\n")).unwrap_or_default();
        text += &hosts.map(|list| format!("connect = {list}\n")).unwrap_or_default();
        text += if whole { "need = \"whole\"\n" } else { "need = \"files\"\n" };
        text
    })
}

fn stricter() -> impl Strategy<Value = String> {
    prop_oneof![
        (
            prop::sample::select(vec!["deny", "ask"]),
            prop::sample::select(vec!["read", "write", "delete"]),
            list(paths())
        )
            .prop_map(|(verdict, verb, list)| format!("[{verdict}]\n{verb} = {list}\n")),
        (prop::sample::select(vec!["deny", "ask"]), host_list())
            .prop_map(|(verdict, list)| format!("[{verdict}]\nconnect = {list}\n")),
        list(paths()).prop_map(|list| format!("[hold]\nwrite = {list}\n")),
        Just("[hold]\nneed = \"whole\"\ncaches = \"none\"\nleave = \"end\"\n".to_owned()),
    ]
}

fn looked_at() -> impl Iterator<Item = String> {
    let more = ["/home/ann/app/new", "/home/ann/app/.npmrc", "/home/ann/app/.claude/x", "/home/ann/app/.git/config"];
    let own =
        ["/home/ann/.config/sayso/policy.toml", "/home/ann/.local/state/sayso/db", "/home/ann/app/inner/sayso.key"];
    let home = ["/home/ann/.ssh/id_rsa", "/home/ann/notes", "/srv/out/x", "/etc/passwd", "/etc/sayso/policy.toml"];
    let all = THERE.iter().map(|(path, _)| *path).chain(FOLDERS.iter().copied()).chain(more).chain(own).chain(home);
    all.map(str::to_owned)
}

fn reach(bounds: &Bounds, name: &str, port: u16) -> bool {
    bounds.hosts.iter().any(|host| {
        let named = match host.name.strip_prefix("*.") {
            Some(below) => name.ends_with(&format!(".{below}")),
            None => host.name == name,
        };
        named && if host.ports.is_empty() { matches!(port, 80 | 443) } else { host.ports.contains(&port) }
    })
}

const HOSTS: &[&str] = &["a.example", "x.a.example", "y.x.a.example", "b.example", "c.test", "169.254.169.254"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_the_policy_denies_is_inside(text in rules()) {
        let texts = [file(&text)];
        let policy = Policy::compile(&texts).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"));
        let bounds = lower(&policy, &ground(&policy)).bounds;
        for (path, _) in THERE {
            let (read, write) = can(&bounds, Path::new(path));
            prop_assert!(!read || said(&policy, "Read", path) != Answer::Deny, "{path} can be read\n{text}\n{bounds:#?}");
            prop_assert!(!write || said(&policy, "Write", path) != Answer::Deny, "{path} can be written\n{text}\n{bounds:#?}");
        }
        for host in HOSTS {
            let call = ToolCall::tool("web_fetch", serde_json::json!({ "url": format!("https://{host}/") }));
            let facts = Facts { files: &MemoryFiles::new(), env: &NoEnvironment };
            let answer = policy.evaluate(&policy.operation(call, facts), &State::default(), facts).answer;
            let loose = text.contains("[hold]") && text.split("[hold]").nth(1).is_some_and(|hold| hold.contains("connect"));
            let least = if loose { Answer::Deny } else { Answer::Ask };
            prop_assert!(!reach(&bounds, host, 443) || answer != least && answer != Answer::Deny, "{host}\n{text}\n{bounds:#?}");
        }
    }

    #[test]
    fn a_stricter_policy_never_gives_wider_bounds(text in rules(), more in stricter(), trusted in any::<bool>()) {
        let loose = lowered(&[file(&text)]).bounds;
        let other = PolicyText { layer: Layer::Project, name: "q.toml".into(), text: more.clone(), trusted };
        let strict = lowered(&[file(&text), other]).bounds;
        for path in looked_at() {
            let ((read, write), (read_before, write_before)) = (can(&strict, Path::new(&path)), can(&loose, Path::new(&path)));
            // A read-only file in place of one that is not there is no more than before.
            prop_assert!(!read || read_before, "{path} can be read\n{text}\n+\n{more}\n{loose:#?}\n{strict:#?}");
            prop_assert!(!write || write_before, "{path} can be written\n{text}\n+\n{more}\n{loose:#?}\n{strict:#?}");
        }
        for host in HOSTS {
            for port in [80, 443, 8443] {
                prop_assert!(!reach(&strict, host, port) || reach(&loose, host, port), "{host}\n{text}\n+\n{more}");
            }
        }
        prop_assert!(strict.need >= loose.need);
        prop_assert!(loose.withhold.iter().all(|name| strict.withhold.contains(name)));
        prop_assert!(loose.leave != Leave::End || strict.leave == Leave::End);
    }

    #[test]
    fn what_is_saysos_is_never_inside(text in rules(), more in stricter()) {
        let other = PolicyText { layer: Layer::Project, name: "q.toml".into(), text: more, trusted: true };
        for bounds in [lowered(&[file(&text)]).bounds, lowered(&[file(&text), other]).bounds] {
            for own in ["/home/ann/.config/sayso/policy.toml", "/home/ann/.local/state/sayso/db", "/home/ann/app/inner/sayso.key"] {
                prop_assert_eq!(can(&bounds, Path::new(own)), (false, false), "{}\n{}\n{:#?}", own, text, bounds);
            }
            prop_assert!(!can(&bounds, Path::new("/etc/sayso/policy.toml")).1);
            for kept in ["/home/ann/app/bin/sayso", "/home/ann/.claude/settings.json", "/home/ann/app/.sayso.toml"] {
                prop_assert!(!can(&bounds, Path::new(kept)).1, "{}\n{}\n{:#?}", kept, text, bounds);
            }
        }
    }
}

#[test]
fn the_preset_developer_writes_the_workspace_and_scratch_and_sees_no_secret() {
    let policy = Policy::compile(&[PolicyText::preset("developer")]).unwrap();
    let found = Lowered { ..lower(&policy, &ground(&policy)) };
    let bounds = &found.bounds;
    assert_eq!(bounds.need, Need::Whole);
    assert_eq!(bounds.leave, Leave::Session);
    assert!(bounds.write.contains(&PathBuf::from(ROOT)) && bounds.write.contains(&PathBuf::from("/tmp")));
    assert!(!bounds.write.iter().any(|folder| folder.starts_with("/dev")), "the hold arranges devices itself");
    let at = |path: &str| can(bounds, Path::new(path));
    assert_eq!(at("/home/ann/app/src/main.rs"), (true, true));
    assert_eq!(at("/home/ann/app/Cargo.lock"), (true, true));
    assert_eq!(at("/home/ann/app/.git/index"), (true, true));
    assert_eq!(at("/home/ann/app/.git/config"), (true, false));
    assert_eq!(at("/home/ann/app/.git/hooks/pre-commit"), (true, false));
    assert_eq!(at("/home/ann/app/.github/workflows/ci.yml"), (true, false));
    assert_eq!(at("/home/ann/app/.envrc"), (true, false));
    assert_eq!(at("/home/ann/app/CLAUDE.md"), (true, false));
    assert_eq!(at("/home/ann/app/.env"), (false, false));
    assert_eq!(at("/home/ann/.ssh/id_rsa"), (false, false));
    assert_eq!(at("/home/ann/.cargo/bin/cargo"), (true, false));
    assert_eq!(at("/usr/bin/env"), (true, false));
    assert_eq!(at("/etc/profile"), (true, false), "what steers the system can be read");
    // One that git tracks could be committed in its place.
    assert!(bounds.decoys.iter().any(|decoy| decoy.path.ends_with(".env") && decoy.text.contains("Sayso")));
    assert!(bounds.refuse.contains(&PathBuf::from("/home/ann/app/deploy/server.pem")));
    assert!(bounds.hosts.is_empty());
    assert_eq!(bounds.withhold, ["GITHUB_TOKEN", "DB_PASSWORD"]);
    let caches: Vec<_> = bounds.caches.iter().map(|cache| (cache.path.to_str().unwrap(), &cache.seen)).collect();
    assert!(
        matches!(caches.as_slice(), [("/home/ann/.cache", CacheView::Copy(store))]
        if store.starts_with("/home/ann/.local/state/sayso/hold/w")),
        "{caches:?}"
    );
    assert!(found.losses.is_empty(), "{:#?}", found.losses);
}

#[test]
fn what_bounds_cannot_say_is_named_with_its_place() {
    let text = "[allow]\nwrite = ['./**', './*.log', 're:x']\nconnect = ['*', 'a.example', '*.b.example']\n\
                [deny]\nwrite = ['./**/*.lock']\nconnect = 'x.b.example'\n[hold]\nrun = '@builds'\n";
    let found = lowered(&[file(text)]);
    let lines: Vec<String> = found
        .losses
        .iter()
        .map(|loss| format!("{} {}", loss.source.as_ref().map(ToString::to_string).unwrap_or_default(), loss.text))
        .collect();
    let named = |place: &str, words: &str| {
        assert!(
            lines.iter().any(|line| line.starts_with(place) && line.contains(words)),
            "{place}: {words}\n{lines:#?}"
        );
    };
    named("p.toml:2:18", "not a folder");
    named("p.toml:2:29", "not a folder");
    named("p.toml:3:12", "Only a host's name");
    named("p.toml:3:30", "*.b.example");
    named("p.toml:5:10", "new ones");
    assert_eq!(found.bounds.hosts.len(), 1);
    assert!(found.bounds.read_only.contains(&PathBuf::from("/home/ann/app/Cargo.lock")));
    assert_eq!(can(&found.bounds, Path::new("/home/ann/app/x")), (true, true));
}

#[test]
fn what_a_hold_names_is_handed_over_and_what_files_disagree_on_is_not() {
    let text = "extends = ['developer']\n[hold]\nenv = ['GITHUB_*']\nconnect = ['*.corp.example', 'b.example']\ncaches = 'private'\n";
    let alone = lowered(&[file(text)]).bounds;
    assert_eq!(alone.withhold, ["DB_PASSWORD"]);
    assert!(reach(&alone, "x.corp.example", 443) && reach(&alone, "b.example", 80));
    assert!(matches!(alone.caches.first().unwrap().seen, CacheView::Private(_)));
    let other = |text: &str| PolicyText { layer: Layer::Project, name: "q".into(), text: text.into(), trusted: true };
    let both = lowered(&[file(text), other("[hold]\nconnect = ['b.example']\n")]).bounds;
    assert_eq!(both.withhold, ["GITHUB_TOKEN", "DB_PASSWORD"]);
    assert!(!reach(&both, "x.corp.example", 443) && reach(&both, "b.example", 80));
}

#[test]
fn hosts_are_out_of_reach_once_the_workspace_has_done_what_a_rule_asks_about() {
    let text = "extends = ['developer']\n[hold]\nconnect = ['*.corp.example', 'b.example']\n";
    let policy = Policy::compile(&[file(text)]).unwrap();
    let reached = |past: Known| {
        let bounds = lower(&policy, &HoldGround { past, ..ground(&policy) }).bounds;
        [reach(&bounds, "x.corp.example", 443), reach(&bounds, "b.example", 443)]
    };
    assert_eq!(reached(Known::default()), [true, true]);
    assert_eq!(reached(Known { lost: true, ..Known::default() }), [false, false]);
    let files = MemoryFiles::new();
    let facts = Facts { files: &files, env: &NoEnvironment };
    let read = ToolCall::tool("file_read", serde_json::json!({ "file_path": "/home/ann/app/.env" }));
    let deeds = policy.deeds(&Operation::new(read, facts), facts);
    let after = deeds.after.into_iter().map(|(key, surely)| (key, (surely, EarlierCall::default()))).collect();
    assert_eq!(reached(Known { after, ..Known::default() }), [false, false]);
}

/// The bounds of a workspace with these files, after it was looked at.
fn seen(root: &str, text: &PolicyText, there: &[&str], shown: &[&str]) -> Bounds {
    let policy = Policy::compile(std::slice::from_ref(text)).unwrap();
    let mut files = MemoryFiles::new();
    for path in there {
        files.file(path, b"");
    }
    let (root, home) = (PathBuf::from(root), PathBuf::from(HOME));
    let ground = HoldGround {
        folders: HoldGround::folders_of(&policy, Some(&root), Some(&home)),
        workspace: Some(root),
        home: Some(home),
        shown: shown.iter().map(PathBuf::from).collect(),
        ..HoldGround::default()
    };
    lower(&policy, &ground.looked_at(&policy, &files)).bounds
}

#[test]
fn a_project_that_is_kept_in_a_folder_named_like_output_is_guarded_all_the_same() {
    for root in ["/home/ann/app", "/home/ann/build/app", "/srv/out/app", "/home/ann/target"] {
        let there = [format!("{root}/CLAUDE.md"), format!("{root}/sub/.vscode/tasks.json")];
        let there: Vec<&str> = there.iter().map(String::as_str).collect();
        let bounds = seen(root, &PolicyText::preset("developer"), &there, &[]);
        for path in there.iter().map(Path::new).chain([Path::new(root).join(".envrc").as_path()]) {
            assert_eq!(can(&bounds, path), (true, false), "{}", path.display());
        }
        // Only what lies below is a build's.
        let made = format!("{root}/build/CLAUDE.md");
        let bounds = seen(root, &PolicyText::preset("developer"), &[&made], &[]);
        assert_eq!(can(&bounds, Path::new(&made)), (true, true), "{made}");
    }
}

#[test]
fn what_may_not_be_read_is_kept_back_in_the_folders_of_tools_too() {
    let text = file("extends = [\"developer\"]\n[deny]\nread = [\"~/.cargo/config.toml\"]\n");
    let there = ["/home/ann/.cargo/config.toml", "/home/ann/.local/share/uv/credentials/x", "/home/ann/.gitconfig"];
    let shown = ["/home/ann/.cargo/config.toml", "/home/ann/.local/share/uv", "/home/ann/.gitconfig"];
    let bounds = seen(ROOT, &text, &there, &shown);
    let reads = there.map(|path| can(&bounds, Path::new(path)).0);
    assert_eq!(reads, [false, false, true], "{bounds:#?}");
}
