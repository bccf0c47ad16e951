//! What a program's own files may be, before they are there.

use super::*;
use sayso_shell::instruct::OwnFiles;
use sayso_shell::{PathTarget, RunId, Target, Verb};

fn project() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    for name in ["sh", "mv", "make", "npm", "docker", "docker-compose", "cargo"] {
        files.program(format!("/usr/bin/{name}"), b"\x7fELF");
    }
    files.folder("/home/me").folder("/w").file("/w/x", b"");
    files
}

/// Whether something that the last program goes by may be what a command before it writes, as it is with nothing there yet.
fn writes_its_own(command: &str, files: &MemoryFiles) -> bool {
    let analysis = analysed(command, files);
    let (work, home) = (Some(Path::new("/w")), Some(Path::new("/home/me")));
    let scene = Scene { analysis: &analysis, cwd: work, home, workspace: work, files };
    let last = RunId(u32::try_from(analysis.runs.len() - 1).unwrap());
    let Some(own) = OwnFiles::of(scene, last) else { return false };
    analysis.effects.iter().filter(|effect| effect.verb == Verb::Write && effect.run != Some(last)).any(|effect| {
        match &effect.target {
            Target::Path(PathTarget::Exact(path)) => own.includes(path) || own.leads_to(path),
            Target::Path(target) => target.place().is_some_and(|path| own.may_be_among(path, true, None)),
            _ => false,
        }
    })
}

#[test]
fn what_is_moved_to_the_name_of_an_own_file_may_be_it() {
    let files = project();
    for command in [
        "printf 'all:' > x; mv x Makefile; make",
        "mv x package.json; npm test",
        "mv x compose.yaml; docker compose up",
        "mv x build.rs; cargo build",
        "mv x mine.mk; make -f mine.mk",
    ] {
        assert!(writes_its_own(command, &files), "{command}");
    }
    for command in [
        "printf A=1 > later/.env; docker compose --project-directory later up",
        "printf A=1 > later/.env; docker-compose --project-directory=later up",
        "printf A=1 > mine.env; docker compose --env-file mine.env up",
        "mv x mine.env; docker-compose --env-file=mine.env up -d",
        "printf services: > compose.yaml; docker-compose up",
    ] {
        assert!(writes_its_own(command, &files), "{command}");
    }
    for command in ["mv x notes.txt; make", "mv x src; cargo build", "mv x other.mk; make -f mine.mk"] {
        assert!(!writes_its_own(command, &files), "{command}");
    }
}

#[test]
fn an_area_may_be_an_own_file_itself() {
    let files = project();
    let analysis = analysed("make", &files);
    let (work, home) = (Some(Path::new("/w")), Some(Path::new("/home/me")));
    let own = OwnFiles::of(Scene { analysis: &analysis, cwd: work, home, workspace: work, files: &files }, RunId(0));
    let own = own.unwrap();
    assert!(own.may_be_among(Path::new("/w/Makefile"), true, None));
    assert!(!own.may_be_among(Path::new("/w/notes.txt"), true, None));
}
