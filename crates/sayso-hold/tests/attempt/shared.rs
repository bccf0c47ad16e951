//! What others have in a folder that everybody uses, settings without their secrets, and other people's processes.

use crate::{Attempt, at, number, through, through_if};
use std::ffi::CString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

pub(crate) const ALL: &[Attempt] = &[
    // Temporary files of others.
    ("read-scratch-of-others", || show(&tmp("private/note"))),
    ("read-scratch-of-others-by-own-root", || show(&in_root(&tmp("private/note")))),
    ("read-scratch-of-others-by-dots", || show(&at("WS").join("../tmp/private/note"))),
    ("read-scratch-of-others-by-link", || {
        symlink(tmp("private"), at("WS").join("scratch-link")).unwrap();
        show(&at("WS").join("scratch-link/note"));
    }),
    ("read-scratch-file-of-others", || show(&tmp("key"))),
    ("read-scratch-after-renaming-it", || {
        let _ = fs::rename(tmp("private"), tmp("mine"));
        show(&tmp("mine/note"));
    }),
    ("read-scratch-after-giving-rights", || {
        let _ = fs::set_permissions(tmp("private"), Permissions::from_mode(0o777));
        show(&tmp("private/note"));
    }),
    ("read-scratch-by-hard-link", || {
        let _ = fs::hard_link(tmp("key"), at("WS").join("hard-key"));
        show(&at("WS").join("hard-key"));
    }),
    ("write-scratch-of-others", || change(&tmp("script.sh"))),
    ("append-to-scratch-of-others", || {
        through(OpenOptions::new().append(true).open(tmp("script.sh")).and_then(|mut it| it.write_all(b"evil")));
    }),
    ("truncate-scratch-of-others", || {
        let path = c(&tmp("script.sh"));
        through_if(unsafe { libc::truncate(path.as_ptr(), 0) } == 0);
    }),
    ("remove-scratch-of-others", || through(fs::remove_file(tmp("script.sh")))),
    ("replace-scratch-of-others", || {
        fs::write(tmp("new"), "evil").unwrap();
        through(fs::rename(tmp("new"), tmp("script.sh")));
    }),
    ("exchange-scratch-of-others", || {
        fs::write(tmp("new"), "evil").unwrap();
        let (one, other) = (c(&tmp("new")), c(&tmp("script.sh")));
        let (cwd, flags) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
        through_if(unsafe { libc::renameat2(cwd, one.as_ptr(), cwd, other.as_ptr(), flags) } == 0);
    }),
    ("move-scratch-of-others", || through(fs::rename(tmp("script.sh"), tmp("moved")))),
    ("move-scratch-folder-of-others", || through(fs::rename(tmp("public"), tmp("moved")))),
    ("add-to-scratch-folder-of-others", || through(File::create_new(tmp("public/new")))),
    ("write-in-scratch-folder-of-others", || change(&tmp("public/run"))),
    ("chmod-scratch-of-others", || through(fs::set_permissions(tmp("script.sh"), Permissions::from_mode(0o777)))),
    ("write-scratch-of-others-by-hard-link", || {
        let own = tmp("linked");
        if fs::hard_link(tmp("script.sh"), &own).is_ok() {
            change(&own);
        }
    }),
    ("listen-in-place-of-others", || {
        if fs::remove_file(tmp("agent/s.sock")).is_ok() {
            through(UnixListener::bind(tmp("agent/s.sock")));
        }
    }),
    ("listen-in-a-folder-in-place-of-others", || {
        let _ = fs::rename(tmp("agent"), tmp("agent-old"));
        let _ = fs::create_dir(tmp("agent"));
        // Inside, such a name may be made; what counts is whether somebody outside meets it.
        if fs::metadata(tmp("agent-old/s.sock")).is_ok() {
            through(UnixListener::bind(tmp("agent/s.sock")));
        }
    }),
    ("listen-in-place-of-a-bare-socket", || {
        if fs::remove_file(tmp("bare.sock")).is_ok() {
            through(UnixListener::bind(tmp("bare.sock")));
        }
    }),
    ("move-a-bare-socket", || through(fs::rename(tmp("bare.sock"), tmp("moved.sock")))),
    ("connect-to-a-socket-in-scratch", || through(UnixStream::connect(tmp("agent/s.sock")))),
    ("connect-to-a-bare-socket-in-scratch", || through(UnixStream::connect(tmp("bare.sock")))),
    ("rename-scratch-itself", || through(fs::rename(at("TMP"), at("TMP").with_extension("old")))),
    // Settings, and variables with other values.
    ("read-settings-whole", || show(&at("HOME_").join(".gitconfig"))),
    ("read-settings-by-own-root", || show(&in_root(&at("HOME_").join(".gitconfig")))),
    ("read-settings-by-old-hard-link", || show(&at("WS").join("settings-link"))),
    ("write-settings", || change(&at("HOME_").join(".gitconfig"))),
    ("replace-settings", || {
        fs::write(at("WS").join("new"), "evil").unwrap();
        through(fs::rename(at("WS").join("new"), at("HOME_").join(".gitconfig")));
    }),
    ("read-replaced-variable", || println!("{:?}", std::env::var_os("PROXY"))),
    ("read-replaced-variable-of-parent", || {
        let parent = unsafe { libc::getppid() };
        let text = fs::read(format!("/proc/{parent}/environ")).unwrap_or_default();
        println!("{}", String::from_utf8_lossy(&text));
    }),
    // Files outside, by other calls.
    ("chmod-by-descriptor-outside", || {
        let file = by_path(&prize());
        let own = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        through(fs::set_permissions(own, Permissions::from_mode(0o600)));
    }),
    ("utime-by-descriptor-outside", || {
        let file = File::open(prize()).unwrap();
        through_if(unsafe { libc::futimens(file.as_raw_fd(), std::ptr::null()) } == 0);
    }),
    ("link-by-descriptor-and-write", || {
        let file = by_path(&prize());
        let (from, to) =
            (c(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd()))), c(&at("WS").join("by-descriptor")));
        let (cwd, flags) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        if unsafe { libc::linkat(cwd, from.as_ptr(), cwd, to.as_ptr(), flags) } == 0 {
            change(&at("WS").join("by-descriptor"));
        }
    }),
    ("rename-leaving-a-whiteout", || {
        let (one, other) = (c(&prize()), c(&at("OUT").join("gone")));
        let (cwd, flags) = (libc::AT_FDCWD, libc::RENAME_NOREPLACE);
        through_if(unsafe { libc::renameat2(cwd, one.as_ptr(), cwd, other.as_ptr(), flags) } == 0);
    }),
    ("lease-outside", || {
        let file = File::open(prize()).unwrap();
        let lease = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) };
        if lease == 0 {
            change(&prize());
        }
    }),
    ("rename-workspace-itself", || through(fs::rename(at("WS"), at("WS").with_extension("old")))),
    ("watch-hidden", || {
        let path = c(&at("HOME_").join("private/diary"));
        unsafe {
            let watch = libc::inotify_init1(0);
            through_if(libc::inotify_add_watch(watch, path.as_ptr(), libc::IN_OPEN) >= 0);
        }
    }),
    // Other people's processes.
    ("make-victim-idle", || {
        let parameters = libc::sched_param { sched_priority: 0 };
        through_if(unsafe { libc::sched_setscheduler(victim(), libc::SCHED_IDLE, &raw const parameters) } == 0);
    }),
    ("delay-files-of-victim", || {
        through_if(unsafe { libc::syscall(libc::SYS_ioprio_set, 1, victim(), 3 << 13) } == 0);
    }),
    ("move-pages-of-victim", || {
        let answer = unsafe { libc::syscall(libc::SYS_move_pages, victim(), 0_usize, 0_usize, 0_usize, 0_usize, 0) };
        through_if(answer == 0);
    }),
    ("locks-of-victim", || {
        let (mut head, mut length) = (0_usize, 0_usize);
        let answer = unsafe { libc::syscall(libc::SYS_get_robust_list, victim(), &raw mut head, &raw mut length) };
        through_if(answer == 0);
    }),
    ("read-maps-of-victim", || through(fs::read_to_string(of_victim("maps")).and_then(not_empty))),
    ("read-folder-of-victim", || through(fs::read_link(of_victim("cwd")))),
    ("read-program-of-victim", || through(fs::read_link(of_victim("exe")))),
    ("list-descriptors-of-victim", || through(fs::read_dir(of_victim("fd")))),
    ("let-victim-be-killed-first", || through(fs::write(of_victim("oom_score_adj"), "1000"))),
    ("dump-more-of-victim", || through(fs::write(of_victim("coredump_filter"), "0x7f"))),
];

fn tmp(name: &str) -> PathBuf {
    at("TMP").join(name)
}

fn prize() -> PathBuf {
    at("OUT").join("prize")
}

fn in_root(path: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/self/root{}", path.display()))
}

fn show(path: &Path) {
    println!("{}", fs::read_to_string(path).unwrap_or_default());
}

fn change(path: &Path) {
    through(OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(b"evil")));
}

fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn by_path(path: &Path) -> File {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path).unwrap()
}

fn victim() -> i32 {
    i32::try_from(number("VICTIM")).unwrap()
}

fn of_victim(name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{}/{name}", victim()))
}

fn not_empty(text: String) -> std::io::Result<()> {
    if text.is_empty() { Err(std::io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
