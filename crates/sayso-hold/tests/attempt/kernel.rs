//! Mounts, namespaces, and parts of the kernel that have their own ways to things.

use crate::{Attempt, at, through, through_if};
use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;

const NULL: *const u8 = std::ptr::null();

pub(crate) const ALL: &[Attempt] = &[
    ("mount-over-workspace", || {
        let (path, kind) = (c("WS", "sub"), c"tmpfs");
        let _ = std::fs::create_dir(at("WS").join("sub"));
        call(libc::SYS_mount, [kind.as_ptr().addr(), path.as_ptr().addr(), kind.as_ptr().addr(), 0, 0]);
    }),
    ("unmount-decoy", || {
        let path = c("WS", ".env");
        call(libc::SYS_umount2, [path.as_ptr().addr(), 2, 0, 0, 0]);
    }),
    ("remount-writable", || {
        let flags = usize::try_from(libc::MS_REMOUNT | libc::MS_BIND).unwrap();
        call(libc::SYS_mount, [c"none".as_ptr().addr(), c"/".as_ptr().addr(), NULL.addr(), flags, 0]);
    }),
    ("set-mount-attributes", || {
        let attributes = [0_u64, 1, 0, 0];
        let empty = c"";
        let root = File::open("/").unwrap();
        let file = usize::try_from(root.as_raw_fd()).unwrap();
        call(libc::SYS_mount_setattr, [file, empty.as_ptr().addr(), 0x1000, attributes.as_ptr().addr(), 32]);
    }),
    ("clone-tree", || {
        let cwd = libc::AT_FDCWD as usize;
        call(libc::SYS_open_tree, [cwd, c"/".as_ptr().addr(), 1, 0, 0]);
        call(467, [cwd, c"/".as_ptr().addr(), 1, 0, 0]);
    }),
    ("open-file-system", || call(libc::SYS_fsopen, [c"tmpfs".as_ptr().addr(), 0, 0, 0, 0])),
    ("pick-file-system", || call(libc::SYS_fspick, [libc::AT_FDCWD as usize, c"/".as_ptr().addr(), 0, 0, 0])),
    ("change-root", || {
        let path = c("WS", "");
        call(libc::SYS_chroot, [path.as_ptr().addr(), 0, 0, 0, 0]);
    }),
    ("pivot-root", || {
        let path = c("WS", "");
        call(libc::SYS_pivot_root, [path.as_ptr().addr(), path.as_ptr().addr(), 0, 0, 0]);
    }),
    ("new-user-namespace", || through_if(unsafe { libc::unshare(libc::CLONE_NEWUSER) } == 0)),
    ("new-user-namespace-with-high-bits", || {
        let flags = usize::try_from(libc::CLONE_NEWUSER).unwrap() | 1 << 32;
        call(libc::SYS_unshare, [flags, 0, 0, 0, 0]);
    }),
    ("every-new-namespace", || {
        for flag in [0x80, 0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x2000_0000, 0x4000_0000] {
            through_if(unsafe { libc::unshare(libc::CLONE_NEWUSER | flag) } == 0);
        }
    }),
    ("clone-into-user-namespace", || {
        let flags = usize::try_from(libc::CLONE_NEWUSER | libc::SIGCHLD).unwrap();
        clone(libc::SYS_clone, [flags, 0, 0, 0, 0]);
    }),
    ("clone3-into-user-namespace", || {
        let arguments = [u64::try_from(libc::CLONE_NEWUSER).unwrap(), 0, 0, 0, 17, 0, 0, 0];
        clone(libc::SYS_clone3, [arguments.as_ptr().addr(), 64, 0, 0, 0]);
    }),
    ("join-namespaces-of-first", || {
        for name in ["mnt", "user", "pid", "net"] {
            if let Ok(file) = File::open(format!("/proc/1/ns/{name}")) {
                through_if(unsafe { libc::setns(file.as_raw_fd(), 0) } == 0);
            }
        }
    }),
    ("join-own-namespace", || {
        if let Ok(file) = File::open("/proc/self/ns/user") {
            through_if(unsafe { libc::setns(file.as_raw_fd(), 0) } == 0);
        }
    }),
    ("ring", || {
        let mut parameters = [0_u8; 120];
        call(libc::SYS_io_uring_setup, [8, parameters.as_mut_ptr().addr(), 0, 0, 0]);
    }),
    ("session-keyring", || call(libc::SYS_keyctl, [0, usize::MAX - 2, 0, 0, 0])),
    ("user-keyring", || call(libc::SYS_keyctl, [0, usize::MAX - 3, 1, 0, 0])),
    ("add-key", || {
        let (kind, name) = (c"user", c"sayso-hold-test");
        let ring = usize::MAX - 1;
        call(libc::SYS_add_key, [kind.as_ptr().addr(), name.as_ptr().addr(), kind.as_ptr().addr(), 4, ring]);
    }),
    ("request-key", || {
        call(libc::SYS_request_key, [c"user".as_ptr().addr(), c"sayso-hold-key".as_ptr().addr(), 0, 0, 0]);
    }),
    ("kernel-programs", || {
        let attributes = [1_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        call(libc::SYS_bpf, [0, attributes.as_ptr().addr(), 64, 0, 0]);
    }),
    ("performance-events", || {
        let mut attributes = [0_u8; 128];
        attributes[0] = 1;
        attributes[4] = 128;
        attributes[8] = 1;
        call(libc::SYS_perf_event_open, [attributes.as_ptr().addr(), 0, usize::MAX, usize::MAX, 0]);
    }),
    ("page-faults", || call(libc::SYS_userfaultfd, [1, 0, 0, 0, 0])),
    ("file-events", || call(libc::SYS_fanotify_init, [0x200, 0, 0, 0, 0])),
    ("quota", || call(libc::SYS_quotactl_fd, [0, 0, 0, 0, 0])),
    ("compare-processes", || {
        let own = usize::try_from(std::process::id()).unwrap();
        call(libc::SYS_kcmp, [own, own, 0, 1, 1]);
    }),
    ("kernel-log", || call(libc::SYS_syslog, [10, 0, 0, 0, 0])),
    ("second-numbers-of-calls", || {
        // x32: the same calls by other numbers. Where the kernel does not have them, there is nothing to try.
        if cfg!(target_arch = "x86_64") {
            call(0x4000_0000 + libc::SYS_getpid, [0, 0, 0, 0, 0]);
            call(0x4000_0000 + libc::SYS_unshare, [usize::try_from(libc::CLONE_NEWUSER).unwrap(), 0, 0, 0, 0]);
        }
    }),
    ("calls-of-32-bit-programs", || {
        // The same kernel by another door, with other numbers: 20 is getpid there.
        #[cfg(target_arch = "x86_64")]
        {
            let answer: i64;
            unsafe {
                std::arch::asm!("int 0x80", inlateout("rax") 20_i64 => answer, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
            }
            through_if(answer > 0);
        }
    }),
    ("join-namespaces-by-process", || {
        for process in [1, unsafe { libc::getppid() }, i32::try_from(crate::number("VICTIM")).unwrap()] {
            let file = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
            for flag in [libc::CLONE_NEWNS, libc::CLONE_NEWNET, libc::CLONE_NEWPID, libc::CLONE_NEWUSER] {
                through_if(file >= 0 && unsafe { libc::setns(i32::try_from(file).unwrap(), flag) } == 0);
            }
        }
    }),
    ("own-filter-with-listener", || {
        // Whoever answers first decides: a second listener must not get in front of the supervisor's.
        let allow = [0x06_u64 | 0x7FFF_0000 << 32];
        let program = [1_usize, allow.as_ptr().addr()];
        let flags = usize::try_from(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER).unwrap();
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        // Where nobody outside answers, there is nobody to get in front of.
        if std::env::var("OWN_NETWORK").is_ok() {
            call(libc::SYS_seccomp, [1, flags, program.as_ptr().addr(), 0, 0]);
        }
    }),
    ("change-own-program-file", || {
        let file = File::open("/bin/sh").unwrap();
        let descriptor = usize::try_from(file.as_raw_fd()).unwrap();
        call(libc::SYS_prctl, [35, 13, descriptor, 0, 0]);
    }),
    ("open-devices", || {
        for name in [
            "kmsg",
            "mem",
            "port",
            "fuse",
            "net/tun",
            "kvm",
            "vsock",
            "vhost-vsock",
            "loop-control",
            "uinput",
            "console",
        ] {
            through(File::open(format!("/dev/{name}")));
        }
    }),
    ("make-device", || {
        let path = c("WS", "device");
        through_if(unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o666, libc::makedev(1, 3)) } == 0);
    }),
    ("become-another-user", || through_if(unsafe { libc::setuid(1) } == 0 || unsafe { libc::setgid(1) } == 0)),
    ("raise-capabilities", || {
        let head = [0x2008_0522_u32, 0];
        let sets = [1_u32 << 21, 1 << 21, 0, 0, 0, 0];
        call(libc::SYS_capset, [head.as_ptr().addr(), sets.as_ptr().addr(), 0, 0, 0]);
    }),
    ("write-control-groups", || {
        let mut to_visit = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
        while let Some(folder) = to_visit.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(64) {
                let (path, name) = (entry.path(), entry.file_name());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    to_visit.push(path);
                } else if ["cgroup.procs", "tasks", "release_agent", "cgroup.kill"].iter().any(|it| *it == name) {
                    // Opening is enough to see: nothing is written.
                    through(std::fs::OpenOptions::new().write(true).open(path));
                }
            }
        }
    }),
    ("drivers-of-file-systems", || {
        for path in ["/dev/fuse", "/dev/userfaultfd", "/dev/kmsg", "/dev/kvm", "/dev/net/tun", "/dev/vhost-vsock"] {
            through(std::fs::OpenOptions::new().read(true).write(true).open(path));
        }
    }),
    ("change-network-of-machine", || unsafe {
        // SIOCSIFFLAGS with no flags: takes a device down.
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        let mut request = [0_u8; 40];
        request[..3].copy_from_slice(b"lo0");
        through_if(libc::ioctl(socket, 0x8914, request.as_ptr()) == 0);
    }),
    ("write-system-settings", || {
        for path in ["/proc/sys/kernel/core_pattern", "/proc/self/uid_map", "/sys/kernel/uevent_helper"] {
            through(
                std::fs::OpenOptions::new().write(true).open(path).and_then(|_| {
                    if path.contains("uid_map") { Err(std::io::ErrorKind::Other.into()) } else { Ok(()) }
                }),
            );
        }
    }),
];

fn c(folder: &str, name: &str) -> CString {
    CString::new(at(folder).join(name).as_os_str().as_bytes()).unwrap()
}

fn call(number: i64, a: [usize; 5]) {
    through_if(unsafe { libc::syscall(number, a[0], a[1], a[2], a[3], a[4]) } >= 0);
}

fn clone(number: i64, a: [usize; 5]) {
    let child = unsafe { libc::syscall(number, a[0], a[1], a[2], a[3], a[4]) };
    if child == 0 {
        unsafe { libc::_exit(0) };
    }
    through_if(child > 0);
}
