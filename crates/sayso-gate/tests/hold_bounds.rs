//! Bounds of a real workspace: what is found there, and what is Sayso's.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

use sayso_gate::hold::bounds;
use sayso_gate::{InForce, Places};
use sayso_policy::hold::Lowered;
use sayso_policy::{Actor, PolicyText};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

struct World {
    _dir: tempfile::TempDir,
    home: PathBuf,
    app: PathBuf,
    places: Places,
}

fn world() -> World {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (home, app) = (base.join("ann"), base.join("ann/src/app"));
    fs::create_dir_all(app.join("src")).unwrap();
    let places = Places::below(&home, &base);
    World { _dir: dir, home, app, places }
}

impl World {
    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.app.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn git(&self, folder: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        let done = git.output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    fn bounds(&self, text: &str) -> Lowered {
        let file =
            PolicyText { layer: sayso_policy::Layer::User, name: "p.toml".into(), text: text.into(), trusted: true };
        let in_force = InForce::given(vec![file]).unwrap();
        bounds(
            &self.places,
            &in_force,
            &self.app,
            Some(&self.home),
            (&Actor::default(), &["AWS_SECRET_ACCESS_KEY".into(), "PATH".into()]),
        )
        .unwrap()
    }
}

const DEVELOPER: &str = "extends = ['developer']";

#[test]
fn secrets_steering_files_and_stores_are_found() {
    let world = world();
    let w = |path: &str, text: &str| world.write(path, text);
    world.git(&world.app, &["init", "-q"]);
    let (env, key, local) = (w(".env", "A=1"), w("deploy/tls.key", "k"), w("sub/.env.local", "B=2"));
    let (rc, flow) = (w(".envrc", "x"), w(".github/workflows/ci.yml", "y"));
    w(".gitignore", "node_modules/\ntarget/\n.env\n");
    w("node_modules/x/test.pem", "p");
    w("node_modules/.bin/tool", "t");
    w("target/debug/y.key", "z");
    w("src/main.rs", "fn main() {}");
    world.git(&world.app, &["add", "-f", "deploy/tls.key", "src/main.rs"]);
    let inner = world.app.join("vendored/lib");
    fs::create_dir_all(&inner).unwrap();
    world.git(&inner, &["init", "-q"]);
    // A name that leads to a secret elsewhere.
    fs::write(world.home.join("outside.pem"), "q").unwrap();
    symlink(world.home.join("outside.pem"), world.app.join("linked.pem")).unwrap();

    let found = world.bounds(DEVELOPER).bounds;
    assert!(found.write.contains(&world.app), "{found:#?}");
    let decoys: Vec<&PathBuf> = found.decoys.iter().map(|decoy| &decoy.path).collect();
    assert!(decoys.contains(&&env) && decoys.contains(&&local), "{found:#?}");
    assert!(decoys.contains(&&world.app.join("linked.pem")), "{found:#?}");
    assert!(found.refuse.contains(&key), "git tracks it: {found:#?}");
    assert!(found.read_only.contains(&rc) && found.read_only.contains(&flow), "{found:#?}");
    for git in [world.app.join(".git"), inner.join(".git")] {
        assert!(
            found.read_only.contains(&git.join("config")) && found.read_only.contains(&git.join("hooks")),
            "{found:#?}"
        );
        assert!(!found.read_only.contains(&git.join("index")));
    }
    let made =
        |path: &Path| path.starts_with(world.app.join("node_modules")) || path.starts_with(world.app.join("target"));
    let all = found.read_only.iter().chain(&found.absent).chain(&found.refuse).chain(decoys);
    assert!(!all.into_iter().any(|path| made(path)), "what tools made is left alone: {found:#?}");
    for name in [".npmrc", "CLAUDE.md", ".vscode", ".sayso.toml"] {
        assert!(found.absent.contains(&world.app.join(name)), "{name}: {found:#?}");
    }
    assert_eq!(found.withhold, ["AWS_SECRET_ACCESS_KEY"]);
}

#[test]
fn the_home_is_empty_but_for_tools_and_what_is_saysos_is_out_of_reach() {
    let world = world();
    for folder in [".cargo/bin", ".cargo/registry", ".ssh", ".cache/x", ".config/sayso", "Documents"] {
        fs::create_dir_all(world.home.join(folder)).unwrap();
    }
    fs::write(world.home.join(".gitconfig"), "").unwrap();
    fs::write(world.home.join(".cargo/credentials.toml"), "").unwrap();
    // Behind a link is another folder.
    symlink(world.home.join("Documents"), world.home.join(".rustup")).unwrap();
    let found =
        world.bounds("extends = ['developer']\n[allow]\nwrite = ['~/**', '~/.config/**', '/**']\nread = '/**'").bounds;
    assert!(found.hide.contains(&world.home));
    assert!(found.read.contains(&world.home.join(".cargo/bin")) && found.read.contains(&world.home.join(".gitconfig")));
    assert!(
        // This user's own toolchains are elsewhere.
        !found.read.iter().any(|path| *path == world.home.join(".rustup") || path.ends_with("credentials.toml")),
        "{found:#?}"
    );
    let caches: Vec<&Path> = found.caches.iter().map(|cache| cache.path.as_path()).collect();
    assert!(
        caches.contains(&world.home.join(".cache").as_path())
            && caches.contains(&world.home.join(".cargo/registry").as_path())
    );
    assert!(!found.write.contains(&world.home) && !found.write.contains(&PathBuf::from("/")), "{found:#?}");
    for own in [&world.places.state, &world.home.join(".config/sayso")] {
        assert!(found.hide.contains(own), "{own:?}: {found:#?}");
        assert!(!found.write.iter().chain(&found.read).any(|path| path.starts_with(own)), "{found:#?}");
    }
}

#[test]
fn a_workspace_that_is_a_home_is_not_written() {
    let world = world();
    let in_force = InForce::given(vec![PolicyText::preset("developer")]).unwrap();
    let found =
        bounds(&world.places, &in_force, &world.home, Some(&world.home), (&Actor::default(), &[])).unwrap().bounds;
    assert!(!found.write.contains(&world.home), "{found:#?}");
    assert!(bounds(&world.places, &in_force, &world.app.join("gone"), None, (&Actor::default(), &[])).is_err());
}

#[test]
fn a_compiled_copy_gives_the_same_bounds() {
    let world = world();
    world.write(".env", "A=1");
    world.write("a.lock", "");
    // Without temporary folders, in which others make files meanwhile.
    let text = "[allow]\nread = './**'\nwrite = './**'\n[deny]\nwrite = './**/*.lock'\n[hold]\nrun = '@builds'\nconnect = 'a.example'\nenv = 'AWS_*'\n";
    let file = PolicyText { layer: sayso_policy::Layer::User, name: "p.toml".into(), text: text.into(), trusted: true };
    let policy = sayso_policy::Policy::compile(std::slice::from_ref(&file)).unwrap();
    let bytes = sayso_policy::image::write(&policy, b"l", b"").unwrap();
    let (imaged, _) = sayso_policy::image::open(Box::new(bytes), b"l").unwrap();
    let of = |in_force: &InForce| {
        bounds(&world.places, in_force, &world.app, Some(&world.home), (&Actor::default(), &["AWS_TOKEN".into()]))
            .unwrap()
    };
    let (one, other) = (of(&InForce::of(policy, vec![file])), of(&InForce::of(imaged, Vec::new())));
    assert_eq!(one.losses, other.losses);
    assert_eq!(one.bounds.decoys, other.bounds.decoys);
    assert_eq!(one.bounds.hide, other.bounds.hide);
    assert_eq!(one.bounds.absent, other.bounds.absent);
    assert_eq!(one, other);
    assert!(one.bounds.read_only.contains(&world.app.join("a.lock")) && one.bounds.withhold.is_empty());
    assert_eq!(one.losses.len(), 1, "{:#?}", one.losses);
}

#[test]
fn a_kind_of_agent_has_the_bounds_of_its_own_presets() {
    let world = world();
    let text = "extends = ['developer']\n[allow]\nconnect = ['docs.example']\n[for.'agent:reviewer']\nextends = ['reviewer']\n";
    let file = PolicyText { layer: sayso_policy::Layer::User, name: "p.toml".into(), text: text.into(), trusted: true };
    let in_force = InForce::given(vec![file]).unwrap();
    let of = |agent: &str| {
        let actor = Actor { agent: Some(agent.into()), ..Actor::default() };
        bounds(&world.places, &in_force, &world.app, Some(&world.home), (&actor, &[])).unwrap().bounds
    };
    let reaches = |agent: &str| of(agent).hosts.iter().any(|host| host.name == "docs.example");
    assert!(reaches("claude-code"), "{:?}", of("claude-code").hosts);
    assert!(!reaches("reviewer"), "a reviewer connects nowhere, and neither do its builds");
}
