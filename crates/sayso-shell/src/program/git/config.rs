//! Settings, repositories as such, and what git starts at times.

use super::GIT;
use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Operands, Role, Spec, View};

const WHERE: &Table = options!("
    --global, --system, --local, --worktree, --blob ID, -t --type T, --bool, --int, --bool-or-int, --bool-or-str, --path
    --expiry-date, --no-type, -z --null, --name-only, --show-names, --show-origin, --show-scope, --includes, --default V, --fixed-value
    --value P, --regexp, --url U, --comment M
    -f --file FILE : reads
");

pub(super) const SUBS: &[Spec] = &[
    Spec::new(&["config"])
        .style(GIT.and(Style::FREE))
        .options(&[
            WHERE,
            options!(
                "
            --get, --get-all, --get-regexp, --get-urlmatch, -l --list, --get-color, --get-colorbool, --all
            --set : changes-settings
            --replace-all : changes-settings
            --add : changes-settings
            --unset : changes-settings
            --unset-all : changes-settings
            --rename-section : changes-settings
            --remove-section : changes-settings
            -e --edit : changes-settings
        "
            ),
        ])
        .subs(&[
            Spec::new(&["list", "get"]).style(GIT).options(&[WHERE, options!("--all, --show-names")]),
            Spec::new(&["set", "unset", "rename-section", "remove-section", "edit"])
                .style(GIT)
                .options(&[WHERE, options!("--all, --append")])
                .acts(&[Act::Named(Code::ChangesSettings)]),
        ])
        .judge(config),
    Spec::new(&["init", "init-db"])
        .aliased()
        .style(GIT)
        .options(&[options!(
            "
            -q --quiet, --bare, --object-format F, --ref-format F, -b --initial-branch B, --shared [P]
            --separate-git-dir DIR : makes-below
            --template DIR : runs
        "
        )])
        .operands(Operands::all(Role::WriteBelow)),
    Spec::new(&["credential", "credential-store", "credential-cache"])
        .style(GIT.and(Style::HARMLESS))
        .acts(&[Act::Named(Code::ShowsSecrets)]),
    Spec::new(&["hook"]).style(GIT).subs(&[Spec::new(&["run"])
        .style(GIT)
        .options(&[options!("--ignore-missing, --to-stdin F")])
        .acts(&[Act::Code("shell")])]),
    Spec::new(&["maintenance"]).style(GIT).subs(&[
        Spec::new(&["run"])
            .style(GIT)
            .options(&[options!("--auto, --detach, --schedule [F], -q --quiet, --task T")])
            .acts(&[Act::Named(Code::ChangesRepository)]),
        Spec::new(&["start", "stop", "register", "unregister"])
            .style(GIT.and(Style::HARMLESS))
            .acts(&[Act::Named(Code::ChangesSettings)]),
        Spec::new(&["is-needed"]).style(GIT.and(Style::HARMLESS)),
    ]),
    Spec::new(&["for-each-repo"])
        .style(Style::LEADING)
        .options(&[options!("--config K, --keep-going")])
        .acts(&[Act::Named(Code::RunsCommand)]),
    Spec::new(&["lfs"]).style(Style::EXACT).subs(&[
        Spec::new(&["ls-files", "status", "env", "version", "logs", "locks", "pointer"]).style(Style::HARMLESS),
        Spec::new(&["pull", "fetch", "push", "clone", "lock", "unlock"])
            .style(Style::HARMLESS)
            .acts(&[Act::Connects("lfs server"), Act::Named(Code::ChangesRepository)]),
        Spec::new(&[
            "track",
            "untrack",
            "install",
            "uninstall",
            "update",
            "migrate",
            "prune",
            "checkout",
            "dedup",
            "fsck",
        ])
        .style(Style::HARMLESS)
        .acts(&[Act::Named(Code::ChangesRepository)]),
    ]),
    Spec::new(&["flow"]).style(GIT.and(Style::HARMLESS)).acts(&[Act::Named(Code::ChangesRepository)]),
];

/// Without an option that says what to do, `git config key` reads and `git config key value` sets.
fn config(view: &mut View<'_>) {
    const SAYS: &[&str] = &[
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "--get-color",
        "--get-colorbool",
        "--replace-all",
        "--add",
        "--unset",
        "--unset-all",
        "--rename-section",
        "--remove-section",
        "--edit",
    ];
    let changes = view.has_any(&[
        "--replace-all",
        "--add",
        "--unset",
        "--unset-all",
        "--rename-section",
        "--remove-section",
        "--edit",
    ]);
    if !view.has_any(SAYS)
        && let Some(at) = view.operand_at(1)
    {
        view.imply("--set", Some(Code::ChangesSettings), at);
        writes_file(view);
    } else if changes {
        writes_file(view);
    }
}

fn writes_file(view: &mut View<'_>) {
    if let Some((at, file)) = view.values("--file").pop() {
        view.writes(&file, at);
    }
}
