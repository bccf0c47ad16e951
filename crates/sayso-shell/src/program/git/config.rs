//! Settings, repositories as such, and what git starts at times.

use super::GIT;
use crate::effect::NamedBy;
use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Operands, Role, Spec, View};
use crate::word::{Text, Word};

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
            Spec::new(&["list", "get"])
                .style(GIT)
                .options(&[WHERE, options!("--all, --show-names")])
                .judge(shows_secrets),
            Spec::new(&["set", "unset", "rename-section", "remove-section", "edit"])
                .style(GIT)
                .options(&[WHERE, options!("--all, --append")])
                .acts(&[Act::Named(Code::ChangesSettings)])
                .judge(reached_later),
        ])
        .judge(config),
    Spec::new(&["init", "init-db"])
        .aliased()
        .style(GIT)
        .options(&[options!(
            "
            -q --quiet, --object-format F, --ref-format F, -b --initial-branch B, --shared [P]
            --bare : changes-repository
            --separate-git-dir DIR : makes-below
            --template DIR : runs
        "
        )])
        .operands(Operands::all(Role::WriteBelow))
        .judge(init),
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

/// A store of another name than `.git` holds a configuration that nothing guards.
fn init(view: &mut View<'_>) {
    for (at, _) in view.values("--separate-git-dir") {
        view.named_by_flag(Code::ChangesRepository, "--separate-git-dir", at);
    }
}

/// Without an option that says what to do, `git config key` reads and `git config key value` sets.
fn config(view: &mut View<'_>) {
    shows_secrets(view);
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
        reached_later(view);
    } else if changes {
        writes_file(view);
        reached_later(view);
    }
}

/// Settings that hold a password or a token, asked for by name.
fn shows_secrets(view: &mut View<'_>) {
    const WORDS: &[&str] = &["extraheader", "token", "password", "passwd", "smtppass", "secret"];
    for at in view.operands() {
        let word = view.word(at).and_then(Word::exact_str).map(str::to_ascii_lowercase);
        if word.is_some_and(|word| WORDS.iter().any(|secret| word.contains(secret))) {
            view.named(Code::ShowsSecrets, NamedBy::Nothing, at);
        }
    }
}

/// A setting that names a repository or a proxy: git will connect there.
fn reached_later(view: &mut View<'_>) {
    let Some(at) = view.operand_at(0) else { return };
    let value = view.operand(1).cloned();
    if let Some(key) = view.operand_str(0) {
        names_host(view, key, value.as_ref(), at);
    }
}

/// What `key = value` makes git connect to.
pub(super) fn names_host(view: &mut View<'_>, key: &str, value: Option<&Word>, at: usize) {
    let lower = key.to_ascii_lowercase();
    let last = lower.rsplit('.').next().unwrap_or_default();
    if matches!(last, "insteadof" | "pushinsteadof") {
        // `url.BASE.insteadOf`: what is reached stands in the key.
        let base = key.split_once('.').and_then(|(_, rest)| rest.rsplit_once('.')).map_or("", |(base, _)| base);
        super::remote::set_to(view, &Word::Exact(Text::from(base)), at);
    } else if matches!(last, "url" | "pushurl" | "remote" | "pushremote" | "pushdefault" | "proxy" | "lfsurl")
        && let Some(value) = value
    {
        super::remote::set_to(view, value, at);
    }
}

fn writes_file(view: &mut View<'_>) {
    if let Some((at, file)) = view.values("--file").pop() {
        view.writes(&file, at);
    }
}
