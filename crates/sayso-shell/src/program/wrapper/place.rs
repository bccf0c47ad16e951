//! Wrappers that change the root folder, the namespaces or the unit in which what follows runs.

use super::{Launch, interactive, launch};
use crate::program::{Code, View};

pub(crate) fn elsewhere_first(view: &mut View<'_>) {
    match view.operand_at(0) {
        Some(at) => {
            launch(view, at, Launch { elsewhere: true, ..Launch::default() });
        }
        None if !view.has_any(&["--help", "--version", "--list"]) => interactive(view, "sh", 0),
        None => {}
    }
}

pub(crate) fn chroot(view: &mut View<'_>) {
    // What follows starts in the new root.
    let cwd = view.operand(0).cloned().filter(|_| !view.has("--skip-chdir"));
    match view.operand_at(1) {
        Some(at) => {
            launch(view, at, Launch { elsewhere: true, cwd, ..Launch::default() });
        }
        None if view.operand_at(0).is_some() => interactive(view, "sh", 0),
        None => {}
    }
}

/// New namespaces see the same files unless the root folder changes.
pub(crate) fn unshare(view: &mut View<'_>) {
    let moved = view.has("--root");
    let cwd = view.value("--wd").cloned();
    match view.operand_at(0) {
        Some(at) => {
            launch(view, at, Launch { elsewhere: moved, cwd, ..Launch::default() });
        }
        None if !view.has_any(&["--help", "--version"]) => interactive(view, "sh", 0),
        None => {}
    }
}

/// Options of `bwrap` and how many words each takes.
fn bwrap_takes(option: &[u8]) -> Option<usize> {
    Some(match option {
        b"--unshare-all"
        | b"--share-net"
        | b"--unshare-user"
        | b"--unshare-user-try"
        | b"--unshare-ipc"
        | b"--unshare-pid"
        | b"--unshare-net"
        | b"--unshare-uts"
        | b"--unshare-cgroup"
        | b"--unshare-cgroup-try"
        | b"--disable-userns"
        | b"--assert-userns-disabled"
        | b"--new-session"
        | b"--die-with-parent"
        | b"--as-pid-1"
        | b"--clearenv"
        | b"--level-prefix" => 0,
        b"--uid" | b"--gid" | b"--hostname" | b"--chdir" | b"--unsetenv" | b"--lock-file" | b"--sync-fd"
        | b"--remount-ro" | b"--exec-label" | b"--file-label" | b"--proc" | b"--dev" | b"--tmpfs" | b"--mqueue"
        | b"--dir" | b"--seccomp" | b"--add-seccomp-fd" | b"--block-fd" | b"--userns-block-fd" | b"--info-fd"
        | b"--json-status-fd" | b"--cap-add" | b"--cap-drop" | b"--perms" | b"--size" | b"--userns" | b"--userns2"
        | b"--pidns" | b"--argv0" => 1,
        b"--setenv" | b"--bind" | b"--bind-try" | b"--dev-bind" | b"--dev-bind-try" | b"--ro-bind"
        | b"--ro-bind-try" | b"--bind-fd" | b"--ro-bind-fd" | b"--file" | b"--bind-data" | b"--ro-bind-data"
        | b"--symlink" | b"--chmod" => 2,
        _ => return None,
    })
}

pub(crate) fn bwrap(view: &mut View<'_>) {
    let mut at = 1;
    while let Some(word) = view.word(at) {
        let Some(bytes) = word.exact() else { break };
        if bytes == b"--" {
            at += 1;
            break;
        }
        if !bytes.starts_with(b"-") {
            break;
        }
        match bwrap_takes(bytes) {
            Some(takes) => at += 1 + takes,
            None => {
                let name = String::from_utf8_lossy(bytes).into_owned();
                view.named_by_flag(Code::UnknownOption, &name, at);
                view.doubt(Code::UnknownOption, format!("bwrap has no option {name} that is known here"), at);
                at += 1;
            }
        }
    }
    view.out.words = (at..view.inv.argv.len()).filter_map(|at| u16::try_from(at).ok()).collect();
    launch(view, at, Launch { elsewhere: true, ..Launch::default() });
}

pub(crate) fn systemd_run(view: &mut View<'_>) {
    let elsewhere = view.has_any(&["--host", "--machine"]);
    let cwd = view.value("--working-directory").cloned();
    let timed = view.seen.iter().any(|seen| seen.opt.name.starts_with("--on-"));
    if timed {
        view.named_by_words(Code::ChangesSystem);
    }
    match view.operand_at(0) {
        Some(at) => {
            launch(view, at, Launch { elsewhere, cwd, ..Launch::default() });
        }
        None if view.has("--shell") => interactive(view, "sh", 0),
        None => {}
    }
}
