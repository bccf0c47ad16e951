//! Programs that change the machine, and the few of their kind that only tell.

use crate::option::{Style, options};
use crate::program::{Act, Code, Operands, Role, Spec, View};

pub(crate) const SPECS: &[Spec] = &[
    Spec::new(&[
        "shutdown", "reboot", "poweroff", "halt", "init", "telinit", "mkfs", "mkfs.ext4", "mkfs.ext3", "mkfs.ext2", "mkfs.xfs", "mkfs.btrfs", "mkfs.vfat", "mkfs.fat", "mke2fs", "mkswap", "swapon", "swapoff", "fdisk", "sfdisk",
        "gdisk", "sgdisk", "cfdisk", "parted", "partprobe", "wipefs", "blkdiscard", "hdparm", "tune2fs", "resize2fs", "e2fsck", "fsck", "fsck.ext4", "xfs_repair", "btrfs", "zfs", "zpool", "mdadm", "losetup",
        "dmsetup", "cryptsetup", "lvcreate", "lvremove", "lvextend", "vgcreate", "vgremove", "pvcreate", "pvremove", "umount", "eject", "modprobe", "insmod", "rmmod", "depmod", "kexec", "useradd", "userdel", "usermod",
        "adduser", "deluser", "groupadd", "groupdel", "groupmod", "addgroup", "delgroup", "gpasswd", "passwd", "chpasswd", "newusers", "chsh", "chfn", "chage", "vipw", "visudo", "pwconv", "grpconv", "setenforce", "setsebool", "semanage", "restorecon",
        "aa-enforce", "aa-complain", "apparmor_parser", "auditctl", "update-grub", "grub-install", "grub-mkconfig", "efibootmgr", "bootctl", "dracut", "mkinitcpio", "update-initramfs", "ldconfig", "update-alternatives", "alternatives",
        "update-rc.d", "chkconfig", "rc-update", "rc-service", "invoke-rc.d", "initctl", "start-stop-daemon", "launchctl", "sv", "s6-svc", "runsv", "nvram", "csrutil", "spctl", "dscl", "diskutil", "hdiutil", "scutil", "pmset", "systemsetup", "softwareupdate", "tmutil",
        "hwclock", "ntpdate", "loadkeys", "setfont", "renice", "swaplabel", "quotaon", "setquota", "edquota", "nvme", "smartctl", "flashrom", "fwupdmgr", "mcelog", "isolate", "debugfs", "badblocks", "fstrim", "cgcreate", "cgset",
        "sysrq", "rtcwake", "wipe", "srm", "scrub", "testdisk", "photorec", "ddrescue", "partimage", "clonezilla",
    ])
    .style(Style::HARMLESS)
    .acts(&[Act::Named(Code::ChangesSystem)]),
    Spec::new(&["mount"]).style(Style::HARMLESS).judge(mount),
    Spec::new(&["sysctl"])
        .style(Style::EXACT)
        .options(&[options!("
            -a --all, -A, -X, -b --binary, -e --ignore, -N --names, -n --values, -q --quiet, -r --pattern P, --deprecated, --dry-run, -h, -V
            -w --write : changes-system
            -p --load [FILE] : changes-system
            --system : changes-system
        ")])
        .judge(sysctl),
    Spec::new(&["journalctl"])
        .style(Style::GNU)
        .options(&[options!("
            -u --unit U, --user-unit U, -f --follow, -n --lines [N], -e --pager-end, -r --reverse, -o --output F, --output-fields L, -x --catalog, -q --quiet, -m --merge, -b --boot [ID], --list-boots, -k --dmesg
            -S --since T, -U --until T, -p --priority P, -g --grep P, --case-sensitive [V], -t --identifier I, -T --exclude-identifier I, -c --cursor C, --after-cursor C, --show-cursor, --no-pager, --no-full, -a --all, --no-hostname, --no-tail, --utc
            --system, --user, -N --fields, -F --field F, --disk-usage, --header, --verify, -M --machine M, --facility F, --truncate-newline, -h, --list-catalog, --dump-catalog, --list-namespaces, --namespace N, -I, -l --full
            -D --directory DIR, --file GLOB, --root DIR, --image F : reads
            --cursor-file FILE : writes
            --vacuum-size S, --vacuum-time T, --vacuum-files N, --rotate, --flush, --sync, --relinquish-var, --setup-keys, --update-catalog : changes-system
        ")]),
    Spec::new(&[
        "timedatectl", "hostnamectl", "localectl", "loginctl", "networkctl", "resolvectl", "coredumpctl",
        "machinectl", "busctl", "portablectl", "userdbctl", "homectl", "nmcli", "iw", "rfkill", "bluetoothctl",
        "pactl", "amixer", "xrandr", "gsettings", "dconf", "defaults", "plutil", "xattr", "powerprofilesctl",
        "tuned-adm", "udevadm", "varlinkctl",
    ])
        .style(Style::HARMLESS.and(Style::FREE))
        .subs(&[
            Spec::new(&[
                "status", "show", "list", "list-sessions", "list-users", "list-timezones", "get-default",
                "session-status", "user-status", "query", "info", "read", "get", "dump", "list-schemas", "list-keys",
                "device", "con", "general", "radio", "dev", "tree", "introspect", "monitor",
            ])
                .style(Style::HARMLESS),
        ])
        .judge(ctl),
    Spec::new(&["service"]).style(Style::HARMLESS).judge(service),
    Spec::new(&[
        "systemd-analyze", "systemd-detect-virt", "systemd-path", "systemd-cgls", "systemd-cgtop", "systemd-delta",
        "systemd-escape", "systemd-id128",
    ]).style(Style::HARMLESS),
    Spec::new(&[
        "mail", "mailx", "mutt", "sendmail", "msmtp", "swaks", "lpr", "lp", "wall", "write", "xmpp", "slackcat",
        "ntfy", "pushover", "gist", "pastebinit", "transfer", "ix", "croc", "wormhole", "magic-wormhole",
        "syncthing", "rslsync", "gdrive", "dropbox", "s3cmd", "s5cmd", "mc", "b2", "restic", "borg", "duplicity",
        "kopia",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .operands(Operands::READ)
        .acts(&[Act::Named(Code::Publishes), Act::Connects("service")]),
    Spec::new(&[
        "xdg-open", "open", "gnome-open", "start", "sensible-browser", "x-www-browser", "firefox", "google-chrome",
        "chromium", "chrome", "safari", "brave", "lynx", "links", "w3m", "elinks", "browsh",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .acts(&[Act::Named(Code::RunsCommand), Act::Connects("web")]),
    Spec::new(&[
        "xclip", "xsel", "pbcopy", "wl-copy", "clip", "pbpaste", "wl-paste", "notify-send", "say", "espeak", "beep",
        "zenity", "kdialog", "dialog", "whiptail", "gum", "logger", "scrot", "import", "screencapture", "maim",
        "grim",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .operands(Operands::all(Role::Read)),
    Spec::new(&["fzf", "sk", "peco", "percol"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("
            --preview CMD, --bind B, --become C, --with-shell S, --listen [A] : runs-command
            -f --filter STR, -q --query STR, -1, -0, -m, -i, +i, -x, -e, --height H, --reverse, --header H, --ansi, -d S, -n N, --with-nth N
        ")]),
    Spec::new(&[
        "ts", "pee", "vipe", "vidir", "combine", "mispipe", "zrun", "errno", "isutf8", "lckdo", "ifdata",
        "zeitgeist",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .acts(&[Act::Named(Code::RunsCommand)]),
    Spec::new(&[
        "pv", "progress", "units", "qalc", "bcal", "dateutils", "dateadd", "datediff", "gdate", "jo", "ansi2html",
        "aha", "ansifilter", "recode", "uconv", "enca", "chardet", "uchardet", "dust", "duf", "eza", "exa", "lsd",
        "erd", "procs", "pstack", "bandwhich", "gping", "dirdiff", "lsdvd", "lsinitrd", "lsscsi", "lscgroup",
        "lsclocks", "ldapwhoami", "hostinfo", "gethostip",
    ])
        .style(Style::HARMLESS)
        .operands(Operands::READ),
    Spec::new(&["envsubst"]).options(&[options!("-v --variables, -h, -V")]),
    Spec::new(&[
        "ncdu", "ranger", "nnn", "lf", "vifm", "broot", "yazi", "fdupes", "jdupes", "rdfind", "rmlint", "czkawka",
        "detox", "bleachbit",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .operands(Operands::all(Role::WriteBelow))
        .acts(&[Act::Named(Code::ChangesFiles)]),
    Spec::new(&[
        "mkisofs", "genisoimage", "xorriso", "mksquashfs", "unsquashfs", "debootstrap", "dpkg-deb", "rpmbuild",
        "dpkg-buildpackage", "debuild", "fpm", "makepkg", "alien", "appimagetool", "snapcraft", "flatpak-builder",
        "createrepo", "reprepro",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .acts(&[Act::WritesBelow("."), Act::Named(Code::RunsCode)]),
    Spec::new(&["screen", "zellij", "byobu", "dtach", "abduco", "dvtm", "asciinema", "ttyrec", "reptyr"])
        .style(Style::HARMLESS.and(Style::RISKY))
        .acts(&[Act::NamedUnless(Code::RunsCommand, &["-ls", "-list", "--version", "-v", "--help"])]),
];

/// Without operands it lists.
fn mount(view: &mut View<'_>) {
    let lists = view.operand_count() == 0 && !view.has_any(&["-a", "--all"]);
    if !lists {
        view.imply("--mount", Some(Code::ChangesSystem), 0);
    }
}

/// `key=value` sets.
fn sysctl(view: &mut View<'_>) {
    for at in view.operands() {
        if view.word(at).and_then(crate::word::Word::exact).is_none_or(|w| w.contains(&b'=')) {
            view.imply("--write", Some(Code::ChangesSystem), at);
        }
    }
}

/// Words that are not known to tell only.
fn ctl(view: &mut View<'_>) {
    if let Some(word) = view.operand_str(0) {
        let by = crate::effect::NamedBy::Words(vec![word.to_owned()]);
        view.named(Code::ChangesSystem, by, 0);
    } else if view.operand_count() > 0 {
        view.named(Code::DynamicOption, crate::effect::NamedBy::Nothing, 0);
    }
}

/// `service x status` tells.
fn service(view: &mut View<'_>) {
    let tells = view.operand_str(1) == Some("status") || view.has_any(&["--status-all", "--version", "--help"]);
    if !tells {
        view.named_by_words(Code::ChangesSystem);
    }
}
