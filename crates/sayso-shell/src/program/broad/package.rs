//! Package managers of systems and languages.

use super::super::pip::starts_operands;
use super::super::task::first_task;
use crate::option::{Style, options};
use crate::program::{Act, Code, Operands, Spec, View};

const ANY: Style = Style::EXACT.and(Style::HARMLESS);
const INSTALLS: &[Act] = &[Act::Named(Code::Installs), Act::Connects("package index")];

pub(crate) const SPECS: &[Spec] = &[
    Spec::new(&["gem"]).style(ANY).subs(&[
        Spec::new(&[
            "list",
            "search",
            "info",
            "contents",
            "dependency",
            "environment",
            "which",
            "help",
            "outdated",
            "specification",
            "stale",
            "check",
            "query",
        ])
        .style(ANY)
        .judge(remote_gems),
        Spec::new(&[
            "install",
            "i",
            "uninstall",
            "update",
            "fetch",
            "cleanup",
            "pristine",
            "sources",
            "unpack",
            "build",
            "exec",
            "rebuild",
            "setup",
        ])
        .style(ANY)
        .acts(INSTALLS),
        Spec::new(&["push", "yank", "owner", "signin", "signout"])
            .style(ANY)
            .acts(&[Act::Named(Code::Publishes), Act::Connects("package index")]),
    ]),
    Spec::new(&["bundle", "bundler"])
        .aliased()
        .style(ANY.and(Style::FREE))
        .subs(&[
            Spec::new(&[
                "list", "show", "info", "outdated", "check", "platform", "viz", "doctor", "env", "help", "version",
            ])
            .style(Style::EXACT)
            .options(&[options!("
                --name-only, --paths, --path, --only-group G, --without-group G, --format F, --version, --outdated, --only-explicit, --parseable
                --porcelain, --strict, --local, --pre, --source S, --group G, --groups, --filter-major, --filter-minor, --filter-patch, --dry-run, --quiet
                --verbose, -V, --no-color, --ruby, -h
                --gemfile FILE : recipe
            ")]),
            Spec::new(&["exec"]).style(Style::HARMLESS.and(Style::LEADING)).judge(starts_operands),
            Spec::new(&[
                "install", "add", "update", "remove", "lock", "package", "cache", "clean", "init", "gem", "binstubs",
                "pristine", "config", "plugin",
            ])
            .style(ANY)
            .acts(INSTALLS),
        ])
        .acts(&[Act::Named(Code::Installs), Act::Connects("package index"), Act::Project]),
    Spec::new(&["composer"])
        .style(ANY.and(Style::FREE))
        .subs(&[
            Spec::new(&[
                "show",
                "info",
                "outdated",
                "validate",
                "diagnose",
                "depends",
                "why",
                "why-not",
                "prohibits",
                "licenses",
                "search",
                "status",
                "suggests",
                "about",
                "audit",
                "check-platform-reqs",
                "help",
                "list",
            ])
            .style(ANY),
            Spec::new(&[
                "install",
                "i",
                "require",
                "r",
                "update",
                "u",
                "upgrade",
                "remove",
                "create-project",
                "global",
                "self-update",
                "dump-autoload",
                "clear-cache",
                "config",
                "init",
                "reinstall",
                "bump",
            ])
            .style(ANY)
            .acts(INSTALLS),
            Spec::new(&["run-script", "run"])
                .aliased()
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[options!("-q --quiet, -v --verbose, --dev, --no-dev, -l --list, --timeout N, --ansi, --no-ansi, -n --no-interaction")])
                .acts(&[Act::Builds])
                .judge(first_task),
            Spec::new(&["exec"]).style(Style::EXACT.and(Style::LEADING)).judge(starts_operands),
        ])
        .acts(&[Act::Named(Code::RunsCode), Act::Project])
        .judge(first_task),
    Spec::new(&["dart", "flutter", "pub"])
        .style(ANY.and(Style::FREE))
        .subs(&[
            Spec::new(&[
                "analyze",
                "test",
                "format",
                "doctor",
                "devices",
                "info",
                "doc",
                "compile",
                "build",
                "help",
                "--version",
                "logs",
                "symbolize",
            ])
            .style(ANY),
            Spec::new(&[
                "pub",
                "create",
                "upgrade",
                "downgrade",
                "channel",
                "precache",
                "config",
                "install",
                "packages",
            ])
            .style(ANY)
            .acts(INSTALLS),
            Spec::new(&["run", "attach", "drive", "fix"])
                .style(ANY.and(Style::LEADING))
                .acts(&[Act::Named(Code::RunsCode)]),
        ])
        .acts(&[Act::Named(Code::RunsCode)]),
    Spec::new(&[
        "opam",
        "luarocks",
        "rebar3",
        "shards",
        "spago",
        "elm",
        "raco",
        "cpan",
        "cpanm",
        "carton",
        "conan",
        "vcpkg",
        "zef",
        "haxelib",
        "dub",
        "esy",
        "alr",
        "swiftpm",
        "pod",
        "carthage",
        "mint",
        "tuist",
        "fastlane",
        "xcodebuild",
        "xcrun",
        "xcode-select",
        "sdkmanager",
        "adb",
        "fastboot",
        "emulator",
    ])
    .style(ANY.and(Style::FREE).and(Style::RISKY))
    .subs(&[
        Spec::new(&[
            "list",
            "info",
            "show",
            "search",
            "help",
            "--version",
            "path",
            "env",
            "describe",
            "status",
            "check",
            "outdated",
            "tree",
            "inspect",
            "devices",
            "--numeric-version",
            "outline",
            "-version",
            "-showsdks",
        ])
        .style(ANY),
        Spec::new(&["build", "test", "make", "compile", "runtest", "bench", "haddock", "format", "fmt"]).style(ANY),
        Spec::new(&[
            "install",
            "update",
            "upgrade",
            "init",
            "new",
            "add",
            "remove",
            "uninstall",
            "setup",
            "switch",
            "pin",
            "fetch",
            "get",
            "bootstrap",
        ])
        .style(ANY)
        .acts(INSTALLS),
        Spec::new(&["eval", "repl", "ghci", "ghc", "runghc", "runhaskell", "script", "shell", "utop", "top"])
            .style(ANY.and(Style::LEADING))
            .acts(&[Act::Named(Code::InlineCode)]),
        Spec::new(&["upload", "publish", "release", "push"])
            .style(ANY)
            .acts(&[Act::Named(Code::Publishes), Act::Connects("package index")]),
    ])
    .acts(&[Act::Named(Code::RunsCode)])
    .judge(crate::wrapper::may_start),
    Spec::new(&[
        "sdk",
        "rbenv",
        "nodenv",
        "goenv",
        "jenv",
        "tfenv",
        "rvm",
        "chruby",
        "proto",
        "aqua",
        "pkgx",
        "mas",
        "krew",
        "gvm",
        "kerl",
        "ghcup",
        "juliaup",
        "espup",
        "esptool",
        "platformio",
        "pio",
        "arduino-cli",
    ])
    .style(ANY.and(Style::FREE))
    .subs(&[Spec::new(&[
        "list",
        "versions",
        "version",
        "which",
        "current",
        "root",
        "prefix",
        "help",
        "--version",
        "info",
        "outdated",
        "search",
    ])
    .style(ANY)])
    .acts(INSTALLS)
    .judge(crate::wrapper::may_start),
    Spec::new(&["dpkg-query", "rpmquery", "pkginfo", "equery", "eix", "xbps-query"])
        .style(ANY)
        .operands(Operands::TEXT),
];

/// Gems that are not here are looked up.
fn remote_gems(view: &mut View<'_>) {
    let asks = matches!(view.path.last(), Some(&("search" | "outdated")));
    if asks || view.has_any(&["-r", "--remote", "-b", "--both"]) {
        view.connects_configured("package index", 0);
    }
}
