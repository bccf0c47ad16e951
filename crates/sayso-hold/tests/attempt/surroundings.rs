//! Surroundings in which a hold may have to be made: something else has bounded the process before.

use std::os::unix::process::CommandExt as _;

/// What to do for an argument, before the words that follow it are executed.
pub(crate) fn named(argument: &str) -> Option<fn()> {
    match argument {
        "--in-landlock" => Some(|| {
            landlock();
            go_on();
        }),
        "--with-listener" => Some(|| {
            listener();
            go_on();
        }),
        _ => None,
    }
}

fn go_on() {
    let mut words = std::env::args_os().skip(2);
    let error = std::process::Command::new(words.next().unwrap()).args(words).exec();
    panic!("{error}");
}

/// Everything may be read and written, and nothing be mounted.
fn landlock() {
    use landlock::{
        ABI, Access as _, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    };
    let all = AccessFs::from_all(ABI::V3);
    let created = Ruleset::default().handle_access(all).unwrap().create().unwrap();
    created.add_rule(PathBeneath::new(PathFd::new("/").unwrap(), all)).unwrap().restrict_self().unwrap();
}

/// A filter that lets everything through, with somebody who would be asked.
fn listener() {
    let allow = [0x06_u64 | 0x7FFF_0000 << 32];
    let program = [1_usize, allow.as_ptr().addr()];
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        let file = libc::syscall(libc::SYS_seccomp, 1, flags, program.as_ptr());
        assert!(file >= 0);
        libc::fcntl(i32::try_from(file).unwrap(), libc::F_SETFD, 0);
    }
}
