//! systemctl.

use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Spec};

pub(super) const SPECS: &[Spec] =
    &[Spec::new(&["systemctl"]).style(Style::GNU.and(Style::GLOBAL)).options(&[OPTIONS]).subs(&[
        Spec::new(&[
            "status",
            "show",
            "cat",
            "help",
            "list-units",
            "list-unit-files",
            "list-sockets",
            "list-timers",
            "list-automounts",
            "list-paths",
            "list-dependencies",
            "list-jobs",
            "list-machines",
            "is-active",
            "is-enabled",
            "is-failed",
            "is-system-running",
            "get-default",
            "show-environment",
            "whoami",
        ])
        .style(Style::GNU),
        Spec::new(&["edit", "revert"])
            .style(Style::GNU)
            .options(&[options!("--stdin, --drop-in N")])
            .acts(&[Act::Named(Code::ChangesSystem)]),
        Spec::new(&[
            "start",
            "stop",
            "restart",
            "reload",
            "try-restart",
            "reload-or-restart",
            "try-reload-or-restart",
            "isolate",
            "kill",
            "clean",
            "freeze",
            "thaw",
            "set-property",
            "bind",
            "mount-image",
            "service-log-level",
            "service-log-target",
            "reset-failed",
            "enable",
            "disable",
            "reenable",
            "preset",
            "preset-all",
            "mask",
            "unmask",
            "link",
            "add-wants",
            "add-requires",
            "set-default",
            "cancel",
            "set-environment",
            "unset-environment",
            "import-environment",
            "daemon-reload",
            "daemon-reexec",
            "log-level",
            "log-target",
            "default",
            "rescue",
            "emergency",
            "halt",
            "poweroff",
            "reboot",
            "kexec",
            "soft-reboot",
            "exit",
            "switch-root",
            "suspend",
            "hibernate",
            "hybrid-sleep",
            "suspend-then-hibernate",
            "sleep",
        ])
        .style(Style::GNU)
        .acts(&[Act::Named(Code::ChangesSystem)]),
    ])];

const OPTIONS: &Table = options!("
    --system, --user, -t --type T, --state S, --failed, -p --property N, -P N, -a --all, -l --full, -r --recursive, --reverse, --with-dependencies, --job-mode M, -T --show-transaction, --show-types
    --value, --check-inhibitors M, -i, --kill-whom W, --kill-who W, --kill-value N, -s --signal S, --what R, --now, --dry-run, -q --quiet, --wait, --no-block, --no-wall, --no-reload, --legend B
    --no-legend, --no-pager, --no-ask-password, --global, --runtime, -f --force, --preset-mode M, -n --lines N, -o --output F, --firmware-setup, --boot-loader-menu T, --boot-loader-entry N, --plain
    --timestamp F, --read-only, --mkdir, --marked, --after, --before, -h, --no-warn, --message M
    -H --host HOST, -M --machine C, --root PATH, --image PATH : runs-elsewhere
");
