//! Names that must not come into being, and ways to keep them from being moved aside.

use crate::{Attempt, at, through};
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) const ALL: &[Attempt] = &[
    ("make-absent-file-in-a-folder-that-cannot-be-written", || {
        settings();
        mode(".vscode", 0o555);
    }),
    ("make-absent-file-in-a-folder-that-cannot-be-entered", || {
        settings();
        mode(".vscode", 0o000);
    }),
    ("make-absent-file-in-a-workspace-that-cannot-be-written", || {
        fs::write(at("WS").join(".envrc"), "evil").unwrap();
        mode("", 0o555);
    }),
    ("make-absent-folder-that-cannot-be-entered", || {
        fs::create_dir(at("WS").join(".envrc")).unwrap();
        fs::write(at("WS").join(".envrc/x"), "evil").unwrap();
        mode(".envrc", 0o000);
    }),
    ("make-absent-file-by-renaming-its-folder", || {
        fs::create_dir(at("WS").join("x")).unwrap();
        fs::write(at("WS").join("x/settings.json"), "evil").unwrap();
        fs::rename(at("WS").join("x"), at("WS").join(".vscode")).unwrap();
    }),
    ("make-absent-file-by-exchange", || {
        fs::write(at("WS").join("x"), "evil").unwrap();
        let _ = fs::create_dir(at("WS").join(".envrc"));
        exchange(&at("WS").join("x"), &at("WS").join(".envrc"));
    }),
    ("make-absent-file-again-and-again", || {
        let (path, began) = (at("WS").join(".envrc"), Instant::now());
        while began.elapsed() < Duration::from_secs(1) {
            let _ = fs::File::create_new(&path);
        }
        let _ = fs::write(&path, "evil");
    }),
    ("make-absent-file-by-the-last-process", || {
        unsafe {
            if libc::fork() == 0 {
                libc::setsid();
                let began = Instant::now();
                while began.elapsed() < Duration::from_secs(3) {
                    let _ = fs::write(at("WS").join(".envrc"), "evil");
                }
                libc::_exit(0);
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }),
    ("make-absent-file-with-a-long-way", || {
        // What is moved aside must fit beside it.
        let _ = fs::remove_dir_all(at("ASIDE"));
        fs::write(at("WS").join(".envrc"), "evil").unwrap();
    }),
    ("make-absent-link-to-a-secret-place", || {
        symlink(at("OUT").join("prize"), at("WS").join(".envrc")).unwrap();
    }),
    ("exchange-link-on-the-way", || {
        fs::write(at("WS").join("evil.toml"), "evil").unwrap();
        symlink("evil.toml", at("WS").join("new-link")).unwrap();
        exchange(&at("WS").join("new-link"), &at("WS").join(".mise.toml"));
    }),
    ("write-what-was-moved-aside", || {
        for entry in fs::read_dir(at("ASIDE")).into_iter().flatten().flatten() {
            through(fs::write(entry.path(), "evil"));
        }
        through(fs::write(at("ASIDE").join("new"), "evil"));
    }),
    ("write-changes-of-a-copied-cache", || {
        through(fs::write(at("STORE").join("new"), "evil"));
        for entry in fs::read_dir(at("STORE")).into_iter().flatten().flatten() {
            through(fs::write(entry.path().join("changes/new"), "evil"));
            through(fs::write(entry.path().join("work/new"), "evil"));
        }
    }),
    ("exchange-git-folder", || {
        fs::create_dir(at("WS").join("other")).unwrap();
        fs::write(at("WS").join("other/config"), "evil").unwrap();
        exchange(&at("WS").join("other"), &at("WS").join(".git"));
    }),
    ("write-git-config-by-lock-file", || {
        // As git itself does it.
        let lock = at("WS").join(".git/config.lock");
        fs::write(&lock, "[core]\n\tfsmonitor = evil\n").unwrap();
        through(fs::rename(&lock, at("WS").join(".git/config")));
    }),
    ("make-git-attributes", || {
        let _ = fs::create_dir(at("WS").join(".git/info"));
        fs::write(at("WS").join(".git/info/attributes"), "* filter=evil\n").unwrap();
    }),
    ("make-git-alternates", || {
        fs::create_dir_all(at("WS").join(".git/objects/info")).unwrap();
        fs::write(at("WS").join(".git/objects/info/alternates"), "/evil\n").unwrap();
    }),
    ("make-git-common-folder", || fs::write(at("WS").join(".git/commondir"), "../evil\n").unwrap()),
    ("make-git-modules", || {
        fs::create_dir_all(at("WS").join(".git/modules/sub")).unwrap();
        fs::write(at("WS").join(".git/modules/sub/config"), "evil").unwrap();
    }),
    ("link-git-hooks", || {
        let _ = fs::remove_dir_all(at("WS").join(".git/hooks"));
        fs::create_dir(at("WS").join("hooks")).unwrap();
        through(symlink("../hooks", at("WS").join(".git/hooks")));
    }),
];

fn settings() {
    fs::create_dir(at("WS").join(".vscode")).unwrap();
    fs::write(at("WS").join(".vscode/settings.json"), "evil").unwrap();
}

fn mode(name: &str, mode: u32) {
    let path: PathBuf = if name.is_empty() { at("WS") } else { at("WS").join(name) };
    let _ = fs::set_permissions(path, Permissions::from_mode(mode));
}

fn exchange(one: &Path, other: &Path) {
    let [one, other] = [one, other].map(|path| std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap());
    let cwd = libc::AT_FDCWD;
    unsafe { libc::renameat2(cwd, one.as_ptr(), cwd, other.as_ptr(), libc::RENAME_EXCHANGE) };
}
