//! Programs that tell about the machine, its users and its processes, and those that signal them.

use crate::effect::{NamedBy, Verb};
use crate::option::{Style, options};
use crate::program::{Act, Code, Operands, Spec, View};
use crate::word::Word;

pub(crate) const SPECS: &[Spec] = &[
    Spec::new(&[
        "whoami", "id", "groups", "logname", "users", "who", "w", "last", "lastlog", "uname", "uptime", "free",
        "vmstat", "iostat", "mpstat", "lscpu", "lsmem", "lspci", "lsusb", "lsmod", "lsns", "lsipc", "lslocks",
        "lslogins", "hostid", "getconf", "locale", "pidof", "pgrep", "pstree", "pmap", "pwdx", 
        "sw_vers", "system_profiler", "lsb_release", "ulimit", "times", "umask", "tload",
        "slabtop", "ipcs", "cpuid", "acpi", "vm_stat", "jps",
        "runlevel", "infocmp", "toe", "lsfd", "uuidgen",
    ])
    .style(Style::HARMLESS),
    Spec::new(&["getent"])
        .style(Style::HARMLESS)
        .options(&[options!("-A --no-addrconfig, -i --no-idn, -s --service CONFIG")])
        .judge(getent),
    Spec::new(&["which", "whereis", "type", "whatis", "apropos"]).style(Style::HARMLESS),
    Spec::new(&["hostname"])
        .options(&[options!("
            -a --alias, -A --all-fqdns, -d --domain, -f --fqdn --long, -i --ip-address, -I --all-ip-addresses, -s --short
            -y --yp --nis, -h, -V
            -F --file FILE : changes-system
            -b --boot : changes-system
        ")])
        .judge(hostname),
    // Old spellings without a dash are operands here: nothing that `ps` understands does harm.
    Spec::new(&["ps"]).style(Style::HARMLESS).judge(ps),
    Spec::new(&["top", "htop", "btop", "iotop"]).style(Style::HARMLESS),
    Spec::new(&["lsof"]).style(Style::HARMLESS),
    Spec::new(&["kill"]).style(Style::HARMLESS).acts(&[Act::NamedUnless(Code::Signals, &["-l", "--list"])])
        .options(&[options!("-l --list [SIGNAL], -L --table, -s --signal SIGNAL, -n SIGNUM, -q --queue VALUE, -a --all, -p --pid, --timeout MS")]),
    Spec::new(&["pkill", "killall", "skill", "snice", "xkill", "killall5"])
        .style(Style::HARMLESS)
        .acts(&[Act::Named(Code::Signals)]),
    Spec::new(&["fuser"])
        .options(&[options!("
            -a --all, -c, -f, -l --list-signals, -i --interactive, -I --inode, -m --mount, -M --ismountpoint, -n --namespace SPACE
            -s --silent, -u --user, -v --verbose, -4 --ipv4, -6 --ipv6, -w, -V
            -k --kill : signals
        ")]),
    Spec::new(&["dmesg"])
        .options(&[options!("
            -d --show-delta, -e --reltime, -f --facility LIST, -H --human, -k --kernel, -l --level LIST, -L --color [WHEN]
            -P --nopager, -p --force-prefix, -r --raw, -s --buffer-size N, -T --ctime, -t --notime, --time-format FMT, -u --userspace
            -w --follow, -W --follow-new, -x --decode, -J --json, -S --syslog, --since T, --until T, --noescape, -h, -V
            -F --file FILE : reads
            -K --kmsg-file FILE : reads
            -C --clear : changes-system
            -c --read-clear : changes-system
            -D --console-off : changes-system
            -E --console-on : changes-system
            -n --console-level N : changes-system
        ")]),
    Spec::new(&["stty"]).style(Style::HARMLESS),
    Spec::new(&["crontab"])
        .options(&[options!("
            -l, -u USER, -V, -n
            -e : changes-settings
            -r : changes-settings
            -i, -s, -T FILE
        ")])
        .operands(Operands::READ)
        .judge(crontab),
];

/// `ps e` and `ps auxe` show the environment of every process; `ps -e` does not.
fn ps(view: &mut View<'_>) {
    for at in view.operands() {
        let letters = view.word(at).and_then(Word::exact);
        if letters.is_some_and(|w| w.iter().all(u8::is_ascii_alphabetic) && w.contains(&b'e')) {
            view.imply("--environment", Some(Code::ShowsSecrets), at);
        }
    }
}

/// `hostname NAME` sets the name.
fn hostname(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.imply("--set", Some(Code::ChangesSystem), at);
    }
}

/// `crontab FILE` and `crontab -` install a table that runs later.
fn crontab(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0).filter(|&at| view.word(at).and_then(Word::exact) != Some(b"")) {
        view.imply("--install", Some(Code::ChangesSettings), at);
    }
}

/// Entries of the system's databases: hosts are looked up in the network, and passwords are secrets.
fn getent(view: &mut View<'_>) {
    match view.operand_str(0) {
        Some(kind @ ("hosts" | "ahosts" | "ahostsv4" | "ahostsv6")) => {
            let by = NamedBy::Words(vec![kind.to_owned()]);
            for at in view.operands().into_iter().skip(1) {
                // A name of one label leaves for nobody's zone; a longer one can carry what was read to its owner.
                if view.word(at).and_then(Word::exact).is_none_or(|name| name.contains(&b'.')) {
                    view.named(Code::OtherHost, by.clone(), at);
                }
            }
        }
        Some("shadow") => view.touches(Verb::Read, "/etc/shadow", false),
        Some("gshadow") => view.touches(Verb::Read, "/etc/gshadow", false),
        Some(_) | None => {}
    }
}
