//! Package managers of the machine: what asks is harmless, what installs runs code as root.

use crate::effect::{Carry, NamedBy, Verb};
use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Operands, Spec, View};
use crate::word::Word;

const INSTALLS: &[Act] = &[Act::Named(Code::Installs), Act::Connects("package mirror")];

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["apt", "apt-get", "aptitude", "nala"]).style(Style::GNU.and(Style::GLOBAL)).options(&[APT]).subs(&[
        Spec::new(&["list", "show", "search", "policy", "depends", "rdepends", "showsrc", "check", "moo", "help", "why", "why-not", "versions", "history", "indextargets"]).style(Style::GNU).options(&[APT_ASK]),
        Spec::new(&["changelog"]).style(Style::GNU).options(&[APT_ASK]).acts(&[Act::Connects("package mirror")]),
        Spec::new(&["download", "source"]).style(Style::GNU).acts(&[Act::Connects("package mirror"), Act::WritesBelow("."), Act::Named(Code::Installs)]),
        Spec::new(&["install", "remove", "purge", "autoremove", "autopurge", "update", "upgrade", "full-upgrade", "dist-upgrade", "reinstall", "build-dep", "satisfy", "dselect-upgrade", "edit-sources", "clean", "autoclean", "distclean", "safe-upgrade", "markauto", "unmarkauto", "hold", "unhold"])
            .style(Style::GNU)
            .acts(&[Act::NamedUnless(Code::Installs, &["--simulate", "--print-uris"]), Act::Connects("package mirror")]),
    ]),
    Spec::new(&["apt-cache", "apt-file", "apt-config", "dpkg-architecture", "apt-rdepends"])
        .style(Style::GNU.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("-o --option V, -c --config-file FILE : runs-command")]),
    Spec::new(&["apt-mark", "apt-key", "add-apt-repository", "apt-add-repository", "apt-ftparchive", "dpkg-reconfigure", "dpkg-divert", "dpkg-statoverride", "do-release-upgrade", "unattended-upgrade", "tasksel"])
        .style(Style::HARMLESS)
        .acts(&[Act::Named(Code::ChangesSystem)]),
    Spec::new(&["dpkg"])
        .style(Style::GNU)
        .options(&[options!("
            -l --list, -L --listfiles, -s --status, -S --search, -p --print-avail, --get-selections, --print-architecture, --print-foreign-architectures, --compare-versions, -C --audit, -V --verify, --yet-to-unpack
            -c --contents, -I --info, -f --field, -W --show, -D --debug N, --no-pager, -n --no-act --dry-run --simulate, --assert-support-predepends, -?
            -x --extract, -X --vextract, -e --control, --fsys-tarfile, -R --raw-extract
            -i --install, --unpack, --configure, --triggers-only, -r --remove, -P --purge, --set-selections, --clear-selections, --update-avail, --merge-avail, --clear-avail, --add-architecture, --remove-architecture : installs
            --root DIR, --instdir DIR, --admindir DIR, -b --build : changes-files
            --pre-invoke CMD, --post-invoke CMD, --status-logger CMD : runs
            --status-fd N, --log FILE, -a --pending, -E --skip-same-version, -O --selected-only, -G --refuse-downgrade, --force-all, --no-triggers
        ")])
        .judge(dpkg),
    Spec::new(&["brew"]).style(Style::EXACT.and(Style::GLOBAL)).options(&[options!("-v --verbose, -q --quiet, -d --debug, --formula --formulae, --cask --casks")]).subs(&[
        Spec::new(&["list", "ls", "info", "abv", "search", "config", "doctor", "dr", "deps", "uses", "outdated", "leaves", "desc", "cat", "log", "options", "missing", "commands", "formulae", "casks", "shellenv", "help", "--prefix", "--cellar", "--version", "--repository", "home"])
            .style(Style::EXACT)
            .options(&[options!("
                -1, -l, -r, -t, --versions, --full-name, --pinned, --multiple, --json [V], --installed, --tree, --all, --recursive, --include-build, --include-optional, --include-test, --eval-all, -n, -s, --desc
                --analytics, --github, --greedy, --installed-on-request, --direct, --for-each, --union, --topological
                --from-path : runs-code
            ")])
            .judge(formulae),
        Spec::new(&["install", "reinstall", "upgrade", "update", "up", "uninstall", "remove", "rm", "tap", "untap", "pin", "unpin", "link", "unlink", "cleanup", "autoremove", "fetch", "bundle", "postinstall", "switch", "migrate", "extract", "create", "edit", "test", "audit", "style", "developer", "analytics"])
            .style(Style::EXACT.and(Style::HARMLESS))
            .acts(INSTALLS),
        Spec::new(&["services"]).style(Style::EXACT.and(Style::FREE)).subs(&[
            Spec::new(&["list", "info"]).style(Style::EXACT.and(Style::HARMLESS)),
            Spec::new(&["start", "stop", "restart", "run", "kill", "cleanup"]).style(Style::EXACT.and(Style::HARMLESS)).acts(&[Act::Named(Code::ChangesSystem)]),
        ]),
    ]),
    Spec::new(&["yum", "dnf", "dnf5", "microdnf", "tdnf", "zypper", "rpm-ostree", "urpmi"]).style(Style::EXACT.and(Style::GLOBAL)).options(&[options!("
        -y --assumeyes, -q --quiet, -v --verbose, -C --cacheonly, --enablerepo R, --disablerepo R, --repo R, --refresh, --nogpgcheck, -n --non-interactive, --best, --allowerasing, -x --exclude P, --installed, --available
        --showduplicates, --all, -d N, -e N, -l, -i, -R, --requires, --whatprovides P, --qf F, --queryformat F, --releasever V, --skip-broken, --no-refresh, --obsoletes, --assumeno, --security
        --installroot DIR, -c --config FILE, --setopt O, --root DIR, -D DIR, --downloadonly, --downloaddir DIR : changes-system
    ")]).subs(&[
        Spec::new(&["list", "info", "search", "se", "provides", "whatprovides", "repolist", "repoquery", "history", "check-update", "updateinfo", "deplist", "repoinfo", "lr", "if", "lu", "pa", "packages", "status", "help", "wp"])
            .style(Style::EXACT)
            .acts(&[Act::Connects("package mirror")]),
        Spec::new(&["install", "in", "remove", "rm", "erase", "update", "up", "upgrade", "dup", "dist-upgrade", "downgrade", "reinstall", "localinstall", "group", "groupinstall", "module", "clean", "makecache", "autoremove", "swap", "distro-sync", "config-manager", "copr", "ar", "rr", "ref", "refresh", "patch", "download", "builddep", "mark", "rebase", "override"])
            .style(Style::EXACT)
            .acts(INSTALLS),
    ]),
    Spec::new(&["rpm"])
        .style(Style::GNU)
        .options(&[options!("
            -q --query, -a --all, -i --info, -l --list, -f --file, -p --package, -R --requires, --provides, --changelog, --scripts, --whatrequires, --whatprovides, --queryformat --qf F, -V --verify, -d --docfiles, -c --configfiles
            -s --state, --last, -v --verbose, --quiet, -K --checksig, --showrc, --eval E, -E E, --nodeps, --force, -h --hash, --percent, --test, --conflicts, --obsoletes, --triggers, --dump
            -U --upgrade, -F --freshen, -e --erase, --install, --reinstall, --import, --initdb, --rebuilddb, --setperms, --setugids : installs
            --root DIR, --dbpath DIR, --define D, -D D, --load FILE, --rcfile FILE, --macros FILE, --pipe CMD : runs
        ")])
        .judge(rpm),
    Spec::new(&["apk"]).style(Style::EXACT.and(Style::GLOBAL)).options(&[options!("
        -q --quiet, -v --verbose, -f --force, --no-cache, --no-progress, -a --all, -e --installed, -I, -d --description, -L --contents, -R --depends, -W --who-owns, -s --simulate, -i, -x, --purge, -U --update-cache
        -t --virtual NAME, -u --upgrade, -l --latest, --no-network, -w, -P --provides, -r --rdepends, -z --size, -O, --available, --upgradable
        -X --repository URL, -p --root DIR, --keys-dir DIR, --repositories-file FILE, --allow-untrusted, --initdb : changes-system
    ")]).subs(&[
        Spec::new(&["info", "search", "list", "policy", "stats", "version", "dot", "manifest", "verify", "audit"]).style(Style::EXACT),
        Spec::new(&["add", "del", "update", "upgrade", "fix", "fetch", "cache", "index"]).style(Style::EXACT).acts(INSTALLS),
    ]),
    Spec::new(&["pacman", "yay", "paru", "pamac"]).style(Style::RAW).judge(pacman),
    Spec::new(&["snap", "flatpak", "port", "pkg", "pkgin", "pkg_add", "emerge", "xbps-install", "eopkg", "guix", "nix", "nix-env", "nix-store", "nix-channel", "nix-collect-garbage", "swupd", "opkg", "choco", "scoop", "winget", "slackpkg", "installpkg"])
        .style(Style::RAW)
        .judge(other),
    Spec::new(&["nix-shell", "nix-build", "nix-instantiate"])
        .style(Style::EXACT.and(Style::RISKY))
        .options(&[options!("-p --packages, --pure, -A --attr A, -Q, -v, -j N, --show-trace, --no-out-link, -E --expr E, --arg N V, --argstr N V, -I P, --eval, --strict, --json
            --run TEXT, --command TEXT : shell
            -o --out-link P : makes")])
        .operands(Operands::TEXT)
        .acts(&[Act::Named(Code::Installs), Act::Code("nix")]),
];

const APT: &Table = options!("
    -y --yes --assume-yes, -q --quiet, -qq, -s --simulate --just-print --dry-run --recon --no-act, -d --download-only, -f --fix-broken, -m --ignore-missing --fix-missing, --no-install-recommends, --install-recommends
    --install-suggests, --no-install-suggests, --reinstall, --only-upgrade, --no-upgrade, --allow-downgrades, --allow-remove-essential, --allow-change-held-packages, --allow-unauthenticated, --force-yes, --purge
    --auto-remove --autoremove, -V --verbose-versions, -u --show-upgraded, --print-uris, -t --target-release --default-release R, --no-remove, --trivial-only, -a --host-architecture A, --installed, --upgradable
    --manual-installed, -v, -h, --no-download, --allow-releaseinfo-change, --allow-insecure-repositories, -P --build-profiles P, --show-progress, -F --display-format F, -b --build --compile, --with-source F
    -o --option V, -c --config-file FILE : runs-command
");
const APT_ASK: &Table = options!(
    "-a --all-versions, -n --names-only, -f --full, -i --important, --no-all-versions, --all-names, --recurse, --generate, --no-pre-depends, --no-depends, --no-recommends, --no-suggests, -w N"
);

/// Operands are names of packages, or files for the actions on archives.
fn dpkg(view: &mut View<'_>) {
    let archive = view.has_any(&["--contents", "--info", "--field", "--fsys-tarfile"]);
    let extracts = view.has_any(&["--extract", "--vextract", "--control", "--raw-extract"]);
    let installs = view.has_any(&["--install", "--unpack"]);
    for (n, at) in view.operands().into_iter().enumerate() {
        let Some(word) = view.word(at) else { continue };
        if (archive || extracts) && n == 0 || installs {
            view.reads(word, at);
        } else if extracts && n == 1 {
            view.writes_below(word, at);
        }
    }
    for (at, file) in view.values("--log") {
        view.path_effect(
            Verb::Write,
            &file,
            at,
            false,
            Carry::Named { code: Code::WritesFile.as_str(), by: NamedBy::Flag("--log".to_owned()) },
        );
    }
}

/// `-i` alone installs, behind `-q` it informs. Macros may run commands.
/// A formula is Ruby, and is run to be shown. By a path or an address it is anybody's, and so is one of a tap that is
/// fetched when it is named.
fn formulae(view: &mut View<'_>) {
    if view.path.last() == Some(&"search") {
        return;
    }
    for at in view.operands() {
        let plain = view.word(at).and_then(Word::exact).is_some_and(|name| {
            !name.contains(&b'/') && !name.to_ascii_lowercase().ends_with(b".rb") && !name.ends_with(b".json")
        });
        if !plain {
            view.imply("--from-path", Some(Code::RunsCode), at);
        }
    }
}

fn rpm(view: &mut View<'_>) {
    let asks = view.has_any(&["--query", "--verify", "--checksig", "--showrc", "--version", "--help"]);
    if view.has("--info") && !asks {
        view.named_by_flag(Code::Installs, "--install", 0);
    }
    for name in ["--eval", "-E"] {
        for (at, macros) in view.values(name) {
            if macros.exact().is_none_or(|text| text.windows(2).any(|two| matches!(two, b"%(" | b"%{"))) {
                view.named_by_flag(Code::RunsCommand, name, at);
            }
        }
    }
    if view.has_any(&["--package", "--file", "--checksig"]) {
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.reads(word, at);
            }
        }
    }
}

/// The first capital letter is the operation: `-Q` asks, `-Ss` and `-Si` search, the rest changes.
fn pacman(view: &mut View<'_>) {
    view.out.words = (1..view.inv.argv.len())
        .filter(|&at| !view.word(at).is_some_and(Word::may_be_option))
        .filter_map(|at| u16::try_from(at).ok())
        .collect();
    let option = view.inv.argv.iter().skip(1).find_map(|word| word.exact().filter(|word| word.starts_with(b"-")));
    let asks = match option {
        Some(b"-h" | b"--help" | b"-V" | b"--version") => true,
        Some(option) if option.starts_with(b"-Q") || option.starts_with(b"--query") || option.starts_with(b"-T") => {
            true
        }
        Some(option) if option.starts_with(b"-S") && !option.starts_with(b"--") => {
            option.iter().any(|byte| matches!(byte, b's' | b'i' | b'l' | b'g' | b'p'))
                && !option.iter().any(|byte| matches!(byte, b'y' | b'u' | b'c' | b'w'))
        }
        Some(option) if option.starts_with(b"-F") => !option.contains(&b'y'),
        _ => false,
    };
    let unknown = view.inv.argv.iter().skip(1).any(|word| word.exact().is_none() && word.may_be_option());
    if !asks || unknown {
        view.named(Code::Installs, NamedBy::Program, 0);
    }
}

fn other(view: &mut View<'_>) {
    let reads = [
        "list",
        "info",
        "search",
        "show",
        "find",
        "version",
        "help",
        "contents",
        "deps",
        "outdated",
        "status",
        "which",
        "query",
        "eval-only",
        "log",
        "remotes",
        "history",
        "--version",
        "--help",
        "-V",
    ];
    let first = (1..view.inv.argv.len()).find(|&at| {
        view.word(at)
            .and_then(Word::exact)
            .is_none_or(|word| !word.starts_with(b"-") || reads.iter().any(|known| known.as_bytes() == word))
    });
    view.out.words = (first.unwrap_or(1)..view.inv.argv.len()).filter_map(|at| u16::try_from(at).ok()).collect();
    let verb = first.and_then(|at| view.word(at)).and_then(Word::exact_str);
    let letters_only = view.inv.name.starts_with("nix-") || view.inv.name == "emerge";
    match verb {
        Some(verb) if reads.contains(&verb) && !letters_only => {}
        Some(verb) => view.named(Code::Installs, NamedBy::Words(vec![verb.to_owned()]), 0),
        None => view.named(Code::Installs, NamedBy::Program, 0),
    }
}
