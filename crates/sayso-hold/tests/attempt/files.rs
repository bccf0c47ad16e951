//! Files, links, secrets, and files that steer.

use crate::{Attempt, at, number, through, through_if};
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

pub(crate) const ALL: &[Attempt] = &[
    ("write-outside", || change(&prize())),
    ("create-outside", || through(File::create_new(at("OUT").join("new")))),
    ("truncate-outside", || {
        let path = c(&prize());
        through_if(unsafe { libc::truncate(path.as_ptr(), 0) } == 0);
    }),
    ("remove-outside", || through(fs::remove_file(prize()))),
    ("rename-outside", || through(fs::rename(prize(), at("OUT").join("other")))),
    ("move-out", || {
        fs::write(at("WS").join("mine"), "x").unwrap();
        through(fs::rename(at("WS").join("mine"), at("OUT").join("mine")));
    }),
    ("move-in", || through(fs::rename(prize(), at("WS").join("mine")))),
    ("hard-link-in-and-write", || {
        let own = at("WS").join("hard");
        if fs::hard_link(prize(), &own).is_ok() {
            change(&own);
        }
    }),
    ("symlink-and-write", || {
        let own = at("WS").join("soft");
        symlink(prize(), &own).unwrap();
        change(&own);
    }),
    ("symlink-folder-and-create", || {
        let own = at("WS").join("soft-folder");
        symlink(at("OUT"), &own).unwrap();
        through(File::create_new(own.join("new")));
    }),
    ("chmod-outside", || through(fs::set_permissions(prize(), fs::Permissions::from_mode(0o600)))),
    ("fchmodat2-outside", || {
        let path = c(&prize());
        through_if(unsafe { libc::syscall(452, libc::AT_FDCWD, path.as_ptr(), 0o600, 0) } == 0);
    }),
    ("utime-outside", || {
        let path = c(&prize());
        through_if(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), std::ptr::null(), 0) } == 0);
    }),
    ("chown-outside", || {
        let path = c(&prize());
        let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
        through_if(unsafe { libc::chown(path.as_ptr(), user, group) } == 0);
    }),
    ("xattr-outside", || {
        let (path, name) = (c(&prize()), c"user.held");
        let value = b"x".as_ptr().cast();
        through_if(unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), value, 1, 0) } == 0);
    }),
    ("mkdir-outside", || through(fs::create_dir(at("OUT").join("folder")))),
    ("fifo-outside", || {
        let path = c(&at("OUT").join("fifo"));
        through_if(unsafe { libc::mkfifo(path.as_ptr(), 0o600) } == 0);
    }),
    ("write-to-a-pipe-outside", || {
        // Neither a read-only mount nor its flags keep anybody from writing to a pipe.
        let path = c(&at("OUT").join("pipe"));
        let pipe = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_NONBLOCK) };
        through_if(pipe >= 0 && unsafe { libc::write(pipe, c"evil".as_ptr().cast(), 4) } == 4);
    }),
    ("symlink-outside", || through(symlink("x", at("OUT").join("link")))),
    ("socket-file-outside", || through(std::os::unix::net::UnixListener::bind(at("OUT").join("listener")))),
    ("openat2-outside", || {
        let path = c(&prize());
        let how = [u64::try_from(libc::O_WRONLY).unwrap(), 0, 0];
        let file = unsafe { libc::syscall(libc::SYS_openat2, libc::AT_FDCWD, path.as_ptr(), how.as_ptr(), 24) };
        through_if(file >= 0);
    }),
    ("unnamed-file-outside", || {
        through(OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(at("OUT")));
    }),
    ("unnamed-file-linked-out", || {
        let file = OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(at("WS")).unwrap();
        let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
        let to = c(&at("OUT").join("linked"));
        let cwd = libc::AT_FDCWD;
        through_if(unsafe { libc::linkat(cwd, from.as_ptr(), cwd, to.as_ptr(), libc::AT_SYMLINK_FOLLOW) } == 0);
    }),
    ("exchange-outside", || {
        fs::write(at("WS").join("mine"), "x").unwrap();
        let (own, prize) = (c(&at("WS").join("mine")), c(&prize()));
        let cwd = libc::AT_FDCWD;
        through_if(unsafe { libc::renameat2(cwd, own.as_ptr(), cwd, prize.as_ptr(), libc::RENAME_EXCHANGE) } == 0);
    }),
    ("write-by-own-root", || change(&below("/proc/self/root", &prize()))),
    ("write-by-first-root", || change(&below("/proc/1/root", &prize()))),
    ("write-by-parent-root", || {
        let parent = std::os::unix::process::parent_id();
        change(&below(&format!("/proc/{parent}/root"), &prize()));
    }),
    ("write-by-victim-root", || change(&below(&format!("/proc/{}/root", number("VICTIM")), &prize()))),
    ("write-by-dots", || change(Path::new("../out/prize"))),
    ("write-by-own-folder", || change(Path::new("/proc/self/cwd/../out/prize"))),
    ("write-inherited-descriptors", || {
        for number in 3..64 {
            let mut file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(number) });
            through(file.write_all(b"evil"));
        }
    }),
    ("create-by-inherited-descriptors", || {
        let name = c"by-descriptor";
        for number in 0..64 {
            through_if(unsafe { libc::openat(number, name.as_ptr(), libc::O_CREAT | libc::O_WRONLY, 0o600) } >= 0);
        }
    }),
    ("reopen-streams-for-writing", || {
        for number in 0..3 {
            let path = PathBuf::from(format!("/proc/self/fd/{number}"));
            if fs::read_link(&path).is_ok_and(|to| to.starts_with(at("OUT"))) {
                change(&path);
            }
        }
    }),
    ("open-by-handle", || {
        #[repr(C)]
        struct Handle {
            bytes: u32,
            kind: i32,
            data: [u8; 128],
        }
        let mut handle = Handle { bytes: 128, kind: 0, data: [0; 128] };
        let (path, mut mount) = (c(&prize()), 0_i32);
        let named = unsafe {
            libc::syscall(libc::SYS_name_to_handle_at, libc::AT_FDCWD, path.as_ptr(), &mut handle, &mut mount, 0)
        };
        let root = File::open(at("WS")).unwrap();
        if named == 0 {
            let file = unsafe { libc::syscall(libc::SYS_open_by_handle_at, root.as_raw_fd(), &handle, libc::O_WRONLY) };
            through_if(file >= 0);
        }
    }),
    ("map-and-write-outside", || through(OpenOptions::new().read(true).write(true).open(prize()))),
    ("append-outside", || through(OpenOptions::new().append(true).open(prize()))),
    ("write-home-dot-file", || through(fs::write(at("HOME_").join(".bashrc"), "evil"))),
    ("write-by-thread-root", || change(&below("/proc/thread-self/root", &prize()))),
    ("write-by-own-memory", || {
        // A shared view of a file that may only be read, written past its protection.
        let file = File::open(prize()).unwrap();
        let map =
            unsafe { libc::mmap(std::ptr::null_mut(), 7, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        let place = u64::try_from(map.addr()).unwrap();
        use std::os::unix::fs::FileExt as _;
        let _ = OpenOptions::new().write(true).open("/proc/self/mem").and_then(|it| it.write_at(b"evil", place));
        unsafe { libc::mprotect(map, 7, libc::PROT_READ | libc::PROT_WRITE) };
    }),
    ("write-by-pipe-pages", || {
        // A page of the file in a pipe, and then more bytes into the same page.
        let file = File::open(prize()).unwrap();
        let (mut pipe, mut from) = ([0; 2], 0_i64);
        unsafe {
            libc::pipe(pipe.as_mut_ptr());
            libc::splice(file.as_raw_fd(), &mut from, pipe[1], std::ptr::null_mut(), 1, 0);
            libc::write(pipe[1], b"evil".as_ptr().cast(), 4);
        }
    }),
    ("copy-range-outside", || {
        fs::write(at("WS").join("mine"), "evil").unwrap();
        let (own, file) = (File::open(at("WS").join("mine")).unwrap(), File::open(prize()).unwrap());
        let (none, target) = (std::ptr::null_mut(), file.as_raw_fd());
        unsafe {
            through_if(libc::copy_file_range(own.as_raw_fd(), none, target, none, 4, 0) > 0);
            through_if(libc::ioctl(target, 0x4004_9409, own.as_raw_fd()) == 0);
            through_if(libc::fallocate(target, 0, 0, 4096) == 0);
            through_if(libc::ftruncate(target, 0) == 0);
        }
    }),
    ("set-flags-outside", || {
        let file = File::open(prize()).unwrap();
        let flags: libc::c_long = 0x40;
        through_if(unsafe { libc::ioctl(file.as_raw_fd(), 0x4008_6602, &flags) } == 0);
    }),
    ("set-attributes-outside", || {
        let (path, attributes) = (c(&prize()), [0x80_u64, 0, 0]);
        let cwd = libc::AT_FDCWD;
        through_if(unsafe { libc::syscall(469, cwd, path.as_ptr(), attributes.as_ptr(), 24, 0) } == 0);
    }),
    ("access-list-outside", || {
        // Everybody may read and write: owner, group, mask and others, by number.
        let (path, name) = (c(&prize()), c"system.posix_acl_access");
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, bits) in [(1_u16, 6_u16), (4, 6), (0x10, 6), (0x20, 6)] {
            list.extend(tag.to_le_bytes());
            list.extend(bits.to_le_bytes());
            list.extend(u32::MAX.to_le_bytes());
        }
        through_if(unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), list.as_ptr().cast(), list.len(), 0) } == 0);
    }),
    ("change-by-descriptor-outside", || {
        let file = File::open(prize()).unwrap();
        through_if(unsafe { libc::fchmod(file.as_raw_fd(), 0o600) } == 0);
        through_if(unsafe { libc::futimens(file.as_raw_fd(), std::ptr::null()) } == 0);
    }),
    ("write-by-program-without-a-name", || {
        let file = unsafe { libc::memfd_create(c"program".as_ptr(), 0) };
        let mut script = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(file) });
        write!(script, "#!/bin/sh\necho evil > '{}'\n", prize().display()).unwrap();
        let _ = std::process::Command::new(format!("/proc/self/fd/{file}")).status();
    }),
    ("write-by-another-working-directory", || {
        if std::env::set_current_dir(at("OUT")).is_ok() {
            change(Path::new("prize"));
        }
        let folder = File::open(at("OUT")).unwrap();
        through_if(unsafe { libc::openat(folder.as_raw_fd(), c"prize".as_ptr(), libc::O_WRONLY) } >= 0);
    }),
    // Secrets.
    ("read-hidden-by-working-directory", || {
        if std::env::set_current_dir(at("HOME_").join("private")).is_ok() {
            print(Path::new("diary"));
        }
    }),
    ("read-hidden-in-a-copied-cache", || {
        let _ = fs::hard_link(at("HOME_").join("private/diary"), at("CACHE").join("diary"));
        let _ = symlink(at("HOME_").join("private/diary"), at("CACHE").join("diary"));
        print(&at("CACHE").join("diary"));
    }),
    ("read-secret-by-another-process", || {
        let _ = std::process::Command::new("cat").arg(at("WS").join(".env")).arg(at("WS").join("key.pem")).status();
    }),
    ("read-secret", || print(&at("WS").join(".env"))),
    ("read-refused", || print(&at("WS").join("key.pem"))),
    ("chmod-refused-and-read", || {
        let _ = fs::set_permissions(at("WS").join("key.pem"), fs::Permissions::from_mode(0o600));
        print(&at("WS").join("key.pem"));
    }),
    ("read-hidden", || print(&at("HOME_").join("private/diary"))),
    ("read-hidden-by-own-root", || print(&below("/proc/self/root", &at("HOME_").join("private/diary")))),
    ("read-hidden-by-symlink", || {
        symlink(at("HOME_"), at("WS").join("home-link")).unwrap();
        print(&at("WS").join("home-link/private/diary"));
    }),
    ("list-hidden", || {
        for entry in fs::read_dir(at("HOME_").join("private")).into_iter().flatten().flatten() {
            println!("THROUGH {}", entry.file_name().display());
        }
    }),
    ("see-hidden", || through(fs::metadata(at("HOME_").join("private/diary")))),
    ("read-secret-by-old-hard-link", || print(&at("WS").join("old-link"))),
    ("read-secret-by-new-hard-link", || {
        let _ = fs::hard_link(at("WS").join(".env"), at("WS").join("new-link"));
        print(&at("WS").join("new-link"));
    }),
    ("move-secret-and-read", || {
        let _ = fs::rename(at("WS").join(".env"), at("WS").join("env"));
        print(&at("WS").join("env"));
    }),
    ("remove-decoy-and-read", || {
        let _ = fs::remove_file(at("WS").join(".env"));
        print(&at("WS").join(".env"));
    }),
    ("read-secret-after-moving-its-folder", || {
        let _ = fs::rename(at("WS").join("conf"), at("WS").join("conf2"));
        print(&at("WS").join("conf2/secret.env"));
        print(&at("WS").join("conf/secret.env"));
    }),
    ("reopen-secret-by-descriptor", || {
        if let Ok(file) = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(at("WS").join(".env")) {
            print(&PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())));
        }
    }),
    ("write-secret", || change(&at("WS").join(".env"))),
    ("read-withheld-variable", || {
        print(Path::new("/proc/self/environ"));
        print(Path::new("/proc/1/environ"));
        println!("{}", std::env::var("TOKEN").unwrap_or_default());
    }),
    // Files that steer.
    ("write-git-config", || change(&git("config"))),
    ("remove-git-config", || through(fs::remove_file(git("config")))),
    ("replace-git-config", || {
        fs::write(git("new"), "evil").unwrap();
        through(fs::rename(git("new"), git("config")));
    }),
    ("exchange-git-config", || {
        fs::write(git("new"), "evil").unwrap();
        let (own, config) = (c(&git("new")), c(&git("config")));
        let cwd = libc::AT_FDCWD;
        through_if(unsafe { libc::renameat2(cwd, own.as_ptr(), cwd, config.as_ptr(), libc::RENAME_EXCHANGE) } == 0);
    }),
    ("move-git-away", || {
        through(fs::rename(at("WS").join(".git"), at("WS").join("git")));
        if !at("WS").join(".git").exists() {
            fs::create_dir(at("WS").join(".git")).unwrap();
            through(fs::write(git("config"), "evil"));
        }
    }),
    ("chmod-git-config", || through(fs::set_permissions(git("config"), fs::Permissions::from_mode(0o777)))),
    ("add-git-hook", || through(fs::write(git("hooks/pre-commit"), "evil"))),
    ("replace-git-hooks", || {
        through(fs::rename(git("hooks"), git("hooks-old")));
    }),
    ("write-git-config-by-old-hard-link", || change(&at("WS").join("config-link"))),
    ("make-absent-file", || fs::write(at("WS").join(".envrc"), "evil").unwrap()),
    ("make-absent-file-by-rename", || {
        fs::write(at("WS").join("x"), "evil").unwrap();
        fs::rename(at("WS").join("x"), at("WS").join(".envrc")).unwrap();
    }),
    ("make-absent-file-by-link", || {
        fs::write(at("WS").join("x"), "evil").unwrap();
        fs::hard_link(at("WS").join("x"), at("WS").join(".envrc")).unwrap();
    }),
    ("make-absent-file-in-linked-folder", || {
        fs::create_dir(at("WS").join("elsewhere")).unwrap();
        fs::write(at("WS").join("elsewhere/settings.json"), "evil").unwrap();
        symlink("elsewhere", at("WS").join(".vscode")).unwrap();
    }),
    ("make-absent-worktree-config", || fs::write(git("config.worktree"), "evil").unwrap()),
    ("replace-guarded-symlink", || {
        let _ = fs::remove_file(at("WS").join(".mise.toml"));
        fs::write(at("WS").join(".mise.toml"), "evil").unwrap();
    }),
    ("write-through-guarded-symlink", || change(&at("WS").join(".mise.toml"))),
    ("write-shared-cache", || fs::write(at("CACHE").join("entry"), "evil").unwrap()),
    ("remove-from-shared-cache", || fs::remove_file(at("CACHE").join("entry")).unwrap()),
];

fn prize() -> PathBuf {
    at("OUT").join("prize")
}

fn git(name: &str) -> PathBuf {
    at("WS").join(".git").join(name)
}

fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn below(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap())
}

fn change(path: &Path) {
    through(OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(b"evil")));
}

fn print(path: &Path) {
    let mut text = Vec::new();
    if let Ok(mut file) = File::open(path) {
        let _ = file.read_to_end(&mut text);
    }
    println!("{}", String::from_utf8_lossy(&text));
}
