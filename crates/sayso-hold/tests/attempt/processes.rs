//! Processes, signals, terminals and shared memory.

use crate::{Attempt, at, number, through, through_if};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;

pub(crate) const ALL: &[Attempt] = &[
    ("kill-victim", || through_if(unsafe { libc::kill(victim(), libc::SIGTERM) } == 0)),
    ("look-for-victim", || through_if(unsafe { libc::kill(victim(), 0) } == 0)),
    ("tgkill-victim", || {
        through_if(unsafe { libc::syscall(libc::SYS_tgkill, victim(), victim(), libc::SIGTERM) } == 0);
    }),
    ("queue-signal-to-victim", || {
        let mut info = [0_i32; 32];
        info[0] = libc::SIGTERM;
        info[2] = -1;
        through_if(unsafe { libc::syscall(libc::SYS_rt_sigqueueinfo, victim(), libc::SIGTERM, info.as_ptr()) } == 0);
    }),
    ("pidfd-signal-victim", || {
        let file = unsafe { libc::syscall(libc::SYS_pidfd_open, victim(), 0) };
        if file >= 0 {
            let none: *const u8 = std::ptr::null();
            through_if(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, file, libc::SIGTERM, none, 0) } == 0);
        }
    }),
    ("signal-victim-by-pipe", || {
        // A pipe can be told whom to signal when it has something to read.
        let mut pipe = [0; 2];
        unsafe {
            libc::pipe(pipe.as_mut_ptr());
            libc::fcntl(pipe[0], libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK);
            libc::fcntl(pipe[0], 10, libc::SIGKILL);
            libc::fcntl(pipe[0], libc::F_SETOWN, victim());
            libc::write(pipe[1], b"x".as_ptr().cast(), 1);
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }),
    ("trace-victim", || {
        let none = std::ptr::null_mut::<libc::c_void>();
        through_if(unsafe { libc::ptrace(libc::PTRACE_SEIZE, victim(), none, none) } == 0);
    }),
    ("trace-own-parent", || {
        let none = std::ptr::null_mut::<libc::c_void>();
        through_if(unsafe { libc::ptrace(libc::PTRACE_SEIZE, libc::getppid(), none, none) } == 0);
    }),
    ("read-memory-of-victim", || memory(victim())),
    ("read-memory-of-own-parent", || memory(unsafe { libc::getppid() })),
    ("open-memory-of-victim", || through(OpenOptions::new().read(true).open(of_victim("mem")))),
    ("open-memory-of-first", || {
        through(File::open("/proc/1/mem").and_then(|file| file.read_at(&mut [0; 1], 0x40_0000)));
    }),
    ("take-descriptor-of-victim", || descriptor(victim())),
    ("take-descriptor-of-first", || descriptor(1)),
    ("open-descriptors-of-first", || {
        for number in 0..32 {
            through(fs::read_link(format!("/proc/1/fd/{number}")));
            through(File::open(format!("/proc/1/fd/{number}")));
        }
    }),
    ("read-environment-of-victim", || {
        println!("{}", fs::read_to_string(of_victim("environ")).unwrap_or_default());
    }),
    ("read-arguments-of-victim", || through_if(!fs::read(of_victim("cmdline")).unwrap_or_default().is_empty())),
    ("write-by-victims-folder", || {
        through(fs::write(format!("{}/from-victim", of_victim("cwd")), "evil"));
    }),
    ("limit-victim", || {
        let limit = libc::rlimit { rlim_cur: 32, rlim_max: 4096 };
        through_if(unsafe { libc::prlimit(victim(), libc::RLIMIT_NOFILE, &limit, std::ptr::null_mut()) } == 0);
    }),
    ("renice-victim", || {
        through_if(unsafe { libc::setpriority(libc::PRIO_PROCESS, victim().cast_unsigned(), 10) } == 0);
    }),
    ("pin-victim", || {
        let mask = 1_u64;
        through_if(unsafe { libc::syscall(libc::SYS_sched_setaffinity, victim(), 8, &mask) } == 0);
    }),
    ("leave-a-daemon", || {
        let path = at("WS").join("daemon");
        unsafe {
            if libc::fork() == 0 {
                libc::setsid();
                if libc::fork() == 0 {
                    for stream in 0..3 {
                        libc::close(stream);
                    }
                    for round in 0..200 {
                        let _ = fs::write(&path, format!("{} {round}", std::process::id()));
                        std::thread::sleep(std::time::Duration::from_millis(50));
                    }
                    libc::_exit(0);
                }
                libc::_exit(0);
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(150));
    }),
    ("leave-a-daemon-beside-its-parent", || {
        // A child of the parent, not of this process.
        let flags = usize::try_from(libc::CLONE_PARENT | libc::SIGCHLD).unwrap();
        if unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } == 0 {
            unsafe { libc::setsid() };
            for round in 0..200 {
                let _ = fs::write(at("WS").join("daemon"), format!("beside {round}"));
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            unsafe { libc::_exit(0) };
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }),
    ("leave-a-daemon-that-is-always-another-process", || {
        unsafe {
            if libc::fork() == 0 {
                libc::setsid();
                for round in 0..2_000 {
                    let _ = fs::write(at("WS").join("daemon"), format!("{} {round}", std::process::id()));
                    if libc::fork() != 0 {
                        libc::_exit(0);
                    }
                }
                libc::_exit(0);
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }),
    ("kill-own-group", || {
        unsafe { libc::kill(0, libc::SIGTERM) };
    }),
    ("kill-own-group-by-number", || {
        let group = unsafe { libc::getpgrp() };
        let group = if group > 1 { group } else { victim() };
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }),
    ("signal-own-group-by-pipe", || {
        let mut pipe = [0; 2];
        unsafe {
            libc::pipe(pipe.as_mut_ptr());
            libc::fcntl(pipe[0], libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK);
            libc::fcntl(pipe[0], 10, libc::SIGKILL);
            libc::fcntl(pipe[0], libc::F_SETOWN, -libc::getpgrp().max(1));
            libc::write(pipe[1], b"x".as_ptr().cast(), 1);
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }),
    ("write-memory-of-first", || {
        let mut buffer = [0_u8; 8];
        let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: 8 };
        let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(0x40_0000), iov_len: 8 };
        through_if(unsafe { libc::process_vm_writev(1, &local, 1, &remote, 1, 0) } > 0);
        through(OpenOptions::new().write(true).open("/proc/1/mem").and_then(|it| it.write_at(&[0], 0x40_0000)));
    }),
    ("read-environment-of-first", || {
        println!("{}", String::from_utf8_lossy(&fs::read("/proc/1/environ").unwrap_or_default()));
    }),
    ("leave-a-daemon-and-stop-its-keeper", || {
        let path = at("WS").join("daemon");
        unsafe {
            if libc::fork() == 0 {
                libc::setsid();
                for round in 0..200 {
                    let _ = fs::write(&path, format!("kept {round}"));
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                libc::_exit(0);
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            libc::kill(libc::getppid(), libc::SIGSTOP);
        }
    }),
    ("type-into-terminal", || {
        let byte = b"x";
        through_if(unsafe { libc::ioctl(0, libc::TIOCSTI, byte.as_ptr()) } == 0);
    }),
    ("type-into-terminal-with-high-bits", || {
        let byte = b"x";
        let request = libc::TIOCSTI | 0xFFFF_FFFF_0000_0000;
        through_if(unsafe { libc::syscall(libc::SYS_ioctl, 0, request, byte.as_ptr()) } == 0);
    }),
    ("paste-into-console", || {
        let request = [3_u8; 16];
        through_if(unsafe { libc::ioctl(0, libc::TIOCLINUX, request.as_ptr()) } == 0);
    }),
    ("write-to-other-terminal", || {
        through(
            OpenOptions::new()
                .write(true)
                .custom_no_terminal()
                .open(at("TERMINAL"))
                .and_then(|mut it| it.write_all(b"evil\n")),
        );
    }),
    ("attach-shared-memory", || {
        let key = i32::try_from(number("SHM_KEY")).unwrap();
        let id = unsafe { libc::shmget(key, 64, 0) };
        if id >= 0 {
            let place = unsafe { libc::shmat(id, std::ptr::null(), 0) }.cast::<u8>();
            if place.addr() != usize::MAX {
                unsafe { place.write(b'e') };
                println!("THROUGH");
            }
        }
    }),
    ("open-shared-memory-file", || through(OpenOptions::new().write(true).open(at("SHM_FILE")))),
    ("open-message-queue", || {
        let name = queue();
        through_if(unsafe { libc::syscall(libc::SYS_mq_open, name.as_ptr(), libc::O_WRONLY, 0, 0) } >= 0);
    }),
];

/// Makes what the two attempts on shared things look for.
pub(crate) fn share(remove: bool) {
    let key = i32::try_from(number("SHM_KEY")).unwrap();
    let queue = queue();
    unsafe {
        if remove {
            libc::shmctl(libc::shmget(key, 64, 0), libc::IPC_RMID, std::ptr::null_mut());
            libc::syscall(libc::SYS_mq_unlink, queue.as_ptr());
        } else {
            assert!(libc::shmget(key, 64, libc::IPC_CREAT | 0o600) >= 0);
            libc::syscall(libc::SYS_mq_open, queue.as_ptr(), libc::O_CREAT | libc::O_RDWR, 0o600, 0);
        }
    }
}

fn queue() -> std::ffi::CString {
    std::ffi::CString::new(std::env::var("QUEUE").unwrap_or_default()).unwrap()
}

trait NoTerminal {
    fn custom_no_terminal(&mut self) -> &mut Self;
}

impl NoTerminal for OpenOptions {
    fn custom_no_terminal(&mut self) -> &mut Self {
        use std::os::unix::fs::OpenOptionsExt as _;
        self.custom_flags(libc::O_NOCTTY)
    }
}

fn victim() -> i32 {
    i32::try_from(number("VICTIM")).unwrap()
}

fn of_victim(name: &str) -> String {
    format!("/proc/{}/{name}", victim())
}

fn memory(pid: i32) {
    // Any place will do that is mapped in a program without address randomisation, or in this one.
    let mut buffer = [0_u8; 8];
    let own = std::ptr::from_ref(&ALL).addr();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let first = maps.split('-').next().and_then(|text| usize::from_str_radix(text, 16).ok()).unwrap_or(own);
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: 8 };
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(first), iov_len: 8 };
    through_if(unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) } > 0);
}

fn descriptor(pid: i32) {
    let file = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    for number in 0..16 {
        through_if(file >= 0 && unsafe { libc::syscall(libc::SYS_pidfd_getfd, file, number, 0) } >= 0);
    }
    let _ = std::io::stdout().flush();
    let _ = std::io::stdout().as_raw_fd();
}
