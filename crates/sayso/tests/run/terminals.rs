//! Runs at a terminal.

use crate::room::{Room, users};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

struct Terminal {
    ours: OwnedFd,
    seen: String,
}

/// Starts `sayso run` at a terminal of its own.
fn at_terminal(room: &Room, words: &[&str]) -> (Child, Terminal) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    std::os::unix::fs::chown(&name, (room.user == crate::room::User::Nobody).then_some(65534), None).unwrap();
    let open = || File::options().read(true).write(true).open(&name).unwrap();
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(room.path("bin/sayso")).args(words);
    let mut command = room.prepare(command);
    let child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    rustix::io::ioctl_fionbio(&ours, true).unwrap();
    (child, Terminal { ours, seen: String::new() })
}

impl Terminal {
    fn shows(&mut self, wanted: &str) {
        let began = Instant::now();
        while !self.seen.contains(wanted) {
            assert!(began.elapsed() < Duration::from_secs(60), "{wanted}: {:?}", self.seen);
            let mut piece = [0; 1024];
            match rustix::io::read(&self.ours, &mut piece) {
                Ok(count) => self.seen += &String::from_utf8_lossy(&piece[..count]),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    fn types(&self, keys: &str) {
        File::from(self.ours.try_clone().unwrap()).write_all(keys.as_bytes()).unwrap();
    }
}

#[test]
fn a_command_has_the_terminal_and_hears_its_keys() {
    for user in users() {
        let room = Room::new(user);
        let script = "test -t 0 && test -t 1 && test -t 2 || exit 8; trap 'echo caught; exit 5' INT; \
                      read line; echo \"read $line\"; echo ready; while :; do sleep 0.05; done";
        let (mut child, mut terminal) = at_terminal(&room, &["run", "--", "sh", "-c", script]);
        terminal.types("typed\n");
        terminal.shows("read typed");
        terminal.shows("ready");
        terminal.types("\u{3}");
        terminal.shows("caught");
        assert_eq!(child.wait().unwrap().code(), Some(5), "{user:?}");
    }
}
