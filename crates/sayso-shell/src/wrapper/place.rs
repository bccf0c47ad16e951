//! Wrappers that change the root folder, the namespaces or the unit in which what follows runs.

use super::{Launch, interactive, launch, transparent};
use crate::option::{Style, options};
use crate::program::{Code, Spec, View};

const LEADING: Style = Style::GNU.and(Style::LEADING);

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["chroot", "gchroot"])
        .style(LEADING)
        .options(&[options!("--groups G, --userspec SPEC, --skip-chdir, -u USER, -g GROUP, -G GROUPS, -n")])
        .judge(chroot),
    Spec::new(&["unshare"])
        .style(LEADING)
        .options(&[options!("
            -m --mount [F], -u --uts [F], -i --ipc [F], -n --net [F], -p --pid [F], -U --user [F], -C --cgroup [F], -T --time [F]
            -f --fork, --mount-proc [DIR], -r --map-root-user, -c --map-current-user, --map-user U, --map-group G, --map-users M, --map-groups M
            --map-auto, --kill-child [SIG], --propagation MODE, --setgroups V, -S --setuid U, -G --setgid G, --monotonic N, --boottime N
            --keep-caps, -h, -V, -l --load-interp F
            -R --root DIR, -w --wd DIR
            --mount-binfmt [DIR] : changes-system
        ")])
        .judge(unshare),
    Spec::new(&["nsenter"])
        .style(LEADING)
        .options(&[options!("
            -a --all, -t --target PID, -m --mount [F], -u --uts [F], -i --ipc [F], -n --net [F], -p --pid [F], -C --cgroup [F], -U --user [F], -T --time [F]
            -S --setuid U, -G --setgid G, --preserve-credentials, -r --root [DIR], -w --wd [DIR], -W --wdns DIR, -e --env, -F --no-fork, -Z --follow-context
            -c --join-cgroup, -h, -V
        ")])
        .judge(elsewhere::<0>),
    Spec::new(&["bwrap"]).style(Style::RAW).judge(bwrap),
    Spec::new(&["firejail"])
        .style(Style::EXACT.and(Style::LEADING))
        .options(&[options!("
            --noprofile, --net [N], --netfilter [F], --private [DIR], --private-dev, --private-tmp, --private-etc [L], --quiet, --seccomp [L], --caps.drop [L]
            --nonewprivs, --noroot, --read-only [P], --whitelist [P], --blacklist [P], --nosound, --no3d, --nodvd, --profile [F], --list, --tree
            --name [N], --hostname [N], --dns [N], --rlimit-as [N], --rlimit-cpu [N], --rlimit-nproc [N], --timeout [T], --shell [S]
        ")])
        .judge(elsewhere::<0>),
    Spec::new(&["proot", "fakechroot-run"])
        .style(LEADING)
        .options(&[options!("
            -r --rootfs DIR, -b --bind --mount M, -q --qemu CMD, -w --pwd --cwd DIR, --kill-on-exit, -v --verbose N, -V --version --about, -h --help --usage
            -k --kernel-release S, -0 --root-id, -i --change-id S, -R DIR, -S DIR
        ")])
        .judge(elsewhere::<0>),
    Spec::new(&["systemd-run"])
        .style(LEADING)
        .options(&[options!("
            --no-ask-password, --user, --system, -H --host HOST, -M --machine CONTAINER, --scope, -u --unit NAME, -p --property P, --description T
            --slice S, --slice-inherit, --expand-environment B, --no-block, -r --remain-after-exit, --wait, --send-sighup, --service-type T
            --uid U, --gid G, --nice N, --working-directory DIR, -d --same-dir, -E --setenv V, -t --pty, -T --pty-late, -P --pipe, -q --quiet, -G --collect
            -S --shell, --path-property P, --socket-property P, --timer-property P, --job-mode M, --ignore-failure, --background C
            --on-active N, --on-boot N, --on-startup N, --on-unit-active N, --on-unit-inactive N, --on-calendar N, --on-clock-change
            --on-timezone-change
        ")])
        .judge(systemd_run),
    Spec::new(&["systemd-inhibit"])
        .style(LEADING)
        .options(&[options!("--what W, --who W, --why W, --mode M, --list, --no-pager, --no-legend, --no-ask-password")])
        .judge(transparent::<0>),
    Spec::new(&["systemd-cat"])
        .style(LEADING)
        .options(&[options!("-h, -t --identifier S, -p --priority P, --stderr-priority P, --level-prefix B, --namespace N")])
        .judge(transparent::<0>),
];

fn elsewhere<const N: usize>(view: &mut View<'_>) {
    match view.operand_at(N) {
        Some(at) => {
            launch(view, at, Launch { elsewhere: true, ..Launch::default() });
        }
        None if !view.has_any(&["--help", "--version", "--list"]) => interactive(view, "sh", 0),
        None => {}
    }
}

fn chroot(view: &mut View<'_>) {
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
fn unshare(view: &mut View<'_>) {
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

fn bwrap(view: &mut View<'_>) {
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

fn systemd_run(view: &mut View<'_>) {
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
