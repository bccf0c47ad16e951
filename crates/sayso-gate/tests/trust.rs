//! Trust in a project's file: by content, for all worktrees, until renewed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_gate::policy::{InForce, Standing, distrust, standing, trust};
use sayso_gate::{Error, Places};
use std::path::{Path, PathBuf};
use std::process::Command;

struct Setting {
    _dir: tempfile::TempDir,
    places: Places,
    project: PathBuf,
}

fn setting() -> Setting {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (home, project) = (base.join("home"), base.join("project"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir_all(project.join("sub")).unwrap();
    git(&project, &["init", "-q"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "x"]);
    Setting { places: Places::below(&home, &base), project, _dir: dir }
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn write(folder: &Path, text: &str) {
    std::fs::write(folder.join(".sayso.toml"), text).unwrap();
}

/// Name's end, trusted or not, of each project file in force.
fn in_force(s: &Setting, workspace: &Path) -> Vec<(String, bool)> {
    let in_force = InForce::load(&s.places, Some(workspace)).unwrap();
    assert_eq!(in_force.floor, None);
    in_force
        .files
        .iter()
        .map(|f| (f.text.trim().to_owned(), f.trusted))
        .filter(|(text, _)| text.starts_with("default"))
        .collect()
}

const ONE: &str = "default = \"ask\"\n";
const TWO: &str = "default = \"deny\"\n";

#[test]
fn a_file_is_trusted_by_its_content() {
    let s = setting();
    let file = s.project.join(".sayso.toml");
    assert!(matches!(trust(&s.places, &s.project, "ann"), Err(Error::NoProjectFile(_))));
    write(&s.project, ONE);
    assert_eq!(standing(&s.places, &s.project).unwrap(), Standing::Untrusted(file.clone()));
    assert_eq!(in_force(&s, &s.project.join("sub")), [(ONE.trim().to_owned(), false)]);
    trust(&s.places, &s.project.join("sub"), "ann").unwrap();
    assert_eq!(standing(&s.places, &s.project).unwrap(), Standing::Trusted(file.clone()));
    assert_eq!(in_force(&s, &s.project.join("sub")), [(ONE.trim().to_owned(), true)]);

    write(&s.project, TWO);
    assert_eq!(standing(&s.places, &s.project).unwrap(), Standing::Changed(file));
    assert_eq!(in_force(&s, &s.project), [(ONE.trim().to_owned(), true), (TWO.trim().to_owned(), false)]);
    trust(&s.places, &s.project, "ann").unwrap();
    assert_eq!(in_force(&s, &s.project), [(TWO.trim().to_owned(), true)]);
    assert!(distrust(&s.places, &s.project, "ann").unwrap());
    assert_eq!(in_force(&s, &s.project), [(TWO.trim().to_owned(), false)]);
}

#[test]
fn a_trusted_file_that_is_gone_stays_in_force_until_trust_is_renewed() {
    let s = setting();
    write(&s.project, ONE);
    trust(&s.places, &s.project, "ann").unwrap();
    std::fs::remove_file(s.project.join(".sayso.toml")).unwrap();
    assert_eq!(in_force(&s, &s.project), [(ONE.trim().to_owned(), true)]);
    assert!(matches!(standing(&s.places, &s.project).unwrap(), Standing::Gone(_)));
    assert_eq!(trust(&s.places, &s.project, "ann").unwrap(), Standing::Nothing);
    assert_eq!(in_force(&s, &s.project), []);
}

#[test]
fn a_nearer_file_does_not_take_a_trusted_one_out_of_force() {
    let s = setting();
    write(&s.project, TWO);
    trust(&s.places, &s.project, "ann").unwrap();
    write(&s.project.join("sub"), ONE);
    assert_eq!(in_force(&s, &s.project.join("sub")), [(TWO.trim().to_owned(), true), (ONE.trim().to_owned(), false)]);
}

#[test]
fn worktrees_share_trust_and_forged_ones_do_not() {
    let s = setting();
    write(&s.project, ONE);
    trust(&s.places, &s.project, "ann").unwrap();
    let tree = s.project.with_file_name("tree");
    git(&s.project, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    write(&tree, ONE);
    assert_eq!(in_force(&s, &tree), [(ONE.trim().to_owned(), true)]);
    let forged = s.project.with_file_name("forged");
    std::fs::create_dir(&forged).unwrap();
    std::fs::copy(tree.join(".git"), forged.join(".git")).unwrap();
    write(&forged, ONE);
    assert_eq!(in_force(&s, &forged), [(ONE.trim().to_owned(), false)]);
}

#[test]
fn a_damaged_book_of_trust_is_an_error_and_not_an_empty_one() {
    let s = setting();
    write(&s.project, ONE);
    trust(&s.places, &s.project, "ann").unwrap();
    let book = std::fs::read_dir(s.places.state.join("trust")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&book).unwrap().replace("ask", "allow");
    std::fs::write(&book, text).unwrap();
    assert!(InForce::load(&s.places, Some(&s.project)).is_err());
    std::fs::write(&book, "{").unwrap();
    assert!(InForce::load(&s.places, Some(&s.project)).is_err());
}

#[test]
fn a_link_or_a_pipe_in_place_of_the_file_is_refused_and_everything_asks() {
    let s = setting();
    std::os::unix::fs::symlink("/etc/passwd", s.project.join(".sayso.toml")).unwrap();
    let in_force = InForce::load(&s.places, Some(&s.project)).unwrap();
    assert_eq!(in_force.floor.unwrap().1.code.as_str(), "policy-refused");
}
