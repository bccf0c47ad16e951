//! GitHub's own command line, and those of other forges.

use super::{Act, Code, Operands, Role, Spec, View};
use crate::effect::{HostTarget, NamedBy, Target, Verb};
use crate::option::{Style, Table, options};
use crate::script::{Flavour, jq};
use crate::word::Word;

const COBRA: Style = Style::EXACT.and(Style::EQUALS);
const READS: &[Act] = &[Act::Connects("forge")];
const CHANGES: &[Act] = &[Act::Connects("forge"), Act::Named(Code::ChangesService)];
const PUBLISHES: &[Act] = &[Act::Connects("forge"), Act::Named(Code::Publishes)];

const GLOBAL: &Table = options!(
    "
    -R --repo REPO, -h
    --hostname HOST : connects
"
);

/// Options of listings and views.
const SHOW: &Table = options!("
    -L --limit N, -s --state S, -a --assignee A, -A --author A, -l --label L, -S --search Q, -B --base B, -H --head B, -d --draft, --json FIELDS
    -q --jq EXPR, -t --template T, -c --comments, --workflow W, -b --branch B, -u --user U, -e --event E, --status S, --created D, --commit C
    --log, --log-failed, -v --verbose, --exit-status, -j --job J, --attempt N, --name-only, --patch, --color W, --watch, -i --interval N, --required
    --fail-fast, --order O, --sort S, --owner O, --language L, --topic T, --visibility V, --source, --fork, --archived, --no-archived, -f --ref R, -y --yaml
    --exclude-drafts, --exclude-pre-releases, -m --milestone M, --app A, --mention M, --project P, --include-prs, --match M, --stars N
    --followers N, --filename F, --extension E, --size S, --license L, --created-at D, --updated D, --merged, --review R, --closed D, -p --pattern P, --public, --secret
    --raw, -r --raw-field F, --files, --active, -a --all, --org O, --env E, --key K, --no-color, --compact, --format F
    -w --web : runs-command
");

/// Options of commands that change something.
const WRITE: &Table = options!("
    -t --title T, -b --body B, -a --assignee A, -l --label L, -m --milestone M, -p --project P, -r --reviewer R, -B --base B, -H --head B, -d --draft, -f --fill
    --fill-first, --fill-verbose, --no-maintainer-edit, -e --editor, --dry-run, -s --squash, --rebase, -m --merge, --auto, --disable-auto, --admin
    --delete-branch, --subject S, --match-head-commit C, -A --author-email E, --undo, --approve, --request-changes, --comment C, -c, --reason R, --yes
    --add-label L, --remove-label L, --add-assignee A, --remove-assignee A, --add-reviewer R, --remove-reviewer R, --add-project P, --remove-project P
    -f --field F, --ref R, --json, --failed, -j --job J, --debug, -n --notes N, --generate-notes, --notes-from-tag, --notes-start-tag T, --prerelease
    --latest [V], --target B, --verify-tag, --discussion-category C, --clobber, --cleanup-tag, --public, --private, --internal, --description D, --template T
    --clone, --remote N, --push, --homepage U, --gitignore G, --license L, --team T, --disable-issues, --disable-wiki, --add-readme, --include-all-branches
    --fork-name N, --default-branch-only, --org O, --force, --branch B, -u --upstream-remote-name N, --color C, --env E, --repos R, --app A, --visibility V, --desc D
    --no-store, --secret, -y, --confirm, --unset, --source-repo R, --parent P, --issue I, --type T, --edit-last, --create-if-none, --delete-last, --recover F, --detach
    --recurse-submodules, --enable-issues [V], --enable-wiki [V], --default-branch B, --delete-branch-on-merge [V], --add-topic T, --remove-topic T, --no-repos-selected, --user
    -F --body-file --notes-file FILE : reads
    -S --source DIR : reads-below
    -T --template-file FILE : reads
    --env-file FILE : reads
    -w --web : runs-command
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["gh"]).style(COBRA.and(Style::GLOBAL)).options(&[GLOBAL]).always(other_forge).subs(&[
        Spec::new(&["pr"]).style(COBRA.and(Style::GLOBAL)).options(&[GLOBAL]).subs(&[
            Spec::new(&["list", "ls", "view", "diff", "checks", "status"]).style(COBRA).options(&[SHOW]).acts(READS),
            Spec::new(&["checkout", "co"])
                .aliased()
                .style(COBRA)
                .options(&[WRITE])
                .acts(&[Act::Connects("forge"), Act::Named(Code::ChangesRepository)]),
            Spec::new(&["create", "new"]).aliased().style(COBRA).options(&[WRITE]).acts(PUBLISHES),
            Spec::new(&[
                "merge", "close", "reopen", "ready", "comment", "edit", "review", "lock", "unlock", "update-branch",
                "revert",
            ])
                .style(COBRA)
                .options(&[WRITE])
                .acts(CHANGES),
        ]),
        Spec::new(&["issue"]).style(COBRA.and(Style::GLOBAL)).options(&[GLOBAL]).subs(&[
            Spec::new(&["list", "ls", "view", "status"]).style(COBRA).options(&[SHOW]).acts(READS),
            Spec::new(&["create", "new"]).aliased().style(COBRA).options(&[WRITE]).acts(PUBLISHES),
            Spec::new(&[
                "close", "reopen", "comment", "edit", "delete", "lock", "unlock", "pin", "unpin", "transfer",
                "develop",
            ])
                .style(COBRA)
                .options(&[WRITE])
                .acts(CHANGES),
        ]),
        Spec::new(&["repo"]).style(COBRA.and(Style::GLOBAL)).options(&[GLOBAL]).subs(&[
            Spec::new(&[
                "list", "ls", "view", "gitignore", "license", "autolink", "deploy-key",
            ]).style(COBRA).options(&[SHOW]).acts(READS),
            Spec::new(&["clone"])
                .style(COBRA)
                .options(&[WRITE])
                .operands(Operands::then(&[Role::Text], Role::WriteBelow))
                .acts(&[Act::Connects("forge"), Act::Named(Code::Installs)])
                .judge(clone),
            Spec::new(&["create", "fork", "delete", "edit", "rename", "archive", "unarchive", "sync", "set-default"])
                .style(COBRA)
                .options(&[WRITE])
                .acts(CHANGES),
        ]),
        Spec::new(&["run"]).style(COBRA.and(Style::GLOBAL)).options(&[GLOBAL]).subs(&[
            Spec::new(&["list", "ls"]).style(COBRA).options(&[options!("-w --workflow W"), SHOW]).acts(READS),
            Spec::new(&["view", "watch"]).style(COBRA).options(&[SHOW]).acts(READS),
            Spec::new(&["download"])
                .style(COBRA)
                .options(&[options!("-n --name N, -p --pattern P", "-D --dir DIR : makes-below")])
                .acts(&[Act::Connects("forge"), Act::WritesBelow(".")]),
            Spec::new(&["rerun", "cancel", "delete"]).style(COBRA).options(&[WRITE]).acts(CHANGES),
        ]),
        Spec::new(&["workflow"]).style(COBRA.and(Style::GLOBAL)).options(&[GLOBAL]).subs(&[
            Spec::new(&["list", "ls", "view"]).style(COBRA).options(&[SHOW]).acts(READS),
            Spec::new(&["run", "enable", "disable"]).style(COBRA).options(&[WRITE]).acts(CHANGES),
        ]),
        Spec::new(&["release"]).style(COBRA.and(Style::GLOBAL)).options(&[GLOBAL]).subs(&[
            Spec::new(&["list", "ls", "view", "verify", "verify-asset"]).style(COBRA).options(&[SHOW]).acts(READS),
            Spec::new(&["download"])
                .style(COBRA)
                .options(&[options!("-p --pattern P, -A --archive F, --clobber, --skip-existing", "-D --dir DIR : makes-below", "-O --output FILE : makes")])
                .acts(&[Act::Connects("forge"), Act::WritesBelow(".")]),
            Spec::new(&["create", "new", "upload", "edit", "delete", "delete-asset"])
                .style(COBRA)
                .options(&[WRITE])
                .acts(PUBLISHES),
        ]),
        Spec::new(&["api"])
            .style(COBRA)
            .options(&[options!("
                -X --method M, -f --raw-field F, -F --field F, -H --header H, -i --include, --paginate, --slurp, -p --preview P, -q --jq E
                --silent, -t --template T, --verbose, --cache D
                --input FILE : reads
                --hostname HOST : connects
            ")])
            .acts(READS)
            .judge(api),
        Spec::new(&["search"]).style(COBRA).subs(&[
            Spec::new(&["code", "commits", "issues", "prs", "repos"]).style(COBRA).options(&[SHOW]).acts(READS),
        ]),
        Spec::new(&["status"]).style(COBRA).options(&[SHOW, options!("-e --exclude R, -o --org O")]).acts(READS),
        Spec::new(&["auth"]).style(COBRA).subs(&[
            Spec::new(&["status"])
                .style(COBRA)
                .options(&[SHOW, options!("-t --show-token : shows-secrets")])
                .acts(READS),
            Spec::new(&["token"]).style(COBRA).options(&[options!("-u --user U")]).acts(&[Act::Named(Code::ShowsSecrets)]),
            Spec::new(&["login", "logout", "refresh", "setup-git", "switch", "git-credential"])
                .style(Style::HARMLESS)
                .acts(&[Act::Connects("forge"), Act::Named(Code::ChangesSettings)]),
        ]),
        Spec::new(&["gist"]).style(COBRA).subs(&[
            Spec::new(&["list", "ls", "view"]).style(COBRA).options(&[SHOW]).acts(READS),
            Spec::new(&["clone"]).style(COBRA).acts(&[Act::Connects("forge"), Act::Named(Code::Installs)]),
            Spec::new(&["create", "new", "edit", "delete", "rename"])
                .style(COBRA)
                .options(&[WRITE])
                .operands(Operands::READ)
                .acts(PUBLISHES),
        ]),
        Spec::new(&[
            "secret", "variable", "label", "cache", "ssh-key", "gpg-key", "ruleset", "org", "project", "codespace",
            "attestation",
        ])
            .style(COBRA.and(Style::GLOBAL))
            .options(&[GLOBAL])
            .subs(&[
                Spec::new(&["list", "ls", "view", "get", "check", "verify", "field-list", "item-list", "logs", "ports"])
                    .style(COBRA)
                    .options(&[SHOW, options!("--owner O, --repo R, --signer-workflow W, --predicate-type T")])
                    .acts(READS),
                Spec::new(&[
                    "set", "create", "edit", "delete", "remove", "add", "clone", "copy", "close", "link", "unlink",
                    "mark-template", "field-create", "field-delete", "item-add", "item-archive", "item-create",
                    "item-delete", "item-edit", "stop", "rebuild", "download",
                ])
                    .style(COBRA.and(Style::HARMLESS))
                    .acts(CHANGES),
                Spec::new(&["ssh", "code", "cp", "jupyter"]).style(Style::HARMLESS).acts(&[Act::Connects("forge"), Act::Named(Code::Remote)]),
            ]),
        Spec::new(&["config"]).style(COBRA).subs(&[
            Spec::new(&["get", "list", "ls"]).style(COBRA).options(&[options!("-h --host H")]),
            Spec::new(&["set", "clear-cache"]).style(COBRA).options(&[options!("-h --host H")]).acts(&[Act::Named(Code::ChangesSettings)]),
        ]),
        Spec::new(&["alias"]).style(COBRA).subs(&[
            Spec::new(&["list", "ls"]).style(COBRA),
            Spec::new(&["set", "delete", "import"]).style(Style::HARMLESS).acts(&[Act::Named(Code::ChangesSettings)]),
        ]),
        Spec::new(&["extension", "extensions", "ext"]).style(COBRA).subs(&[
            Spec::new(&["list", "ls", "search", "browse"]).style(COBRA).options(&[SHOW]).acts(READS),
            Spec::new(&["install", "upgrade", "remove", "create"]).style(Style::HARMLESS).acts(&[Act::Connects("forge"), Act::Named(Code::Installs)]),
            Spec::new(&["exec"]).style(Style::HARMLESS.and(Style::LEADING)).acts(&[Act::Named(Code::RunsCode)]),
        ]),
        Spec::new(&["browse", "copilot", "agent-task", "preview"]).style(Style::HARMLESS).acts(&[Act::Connects("forge"), Act::Named(Code::RunsCommand)]),
        Spec::new(&["completion", "help", "version", "licenses"]).style(Style::HARMLESS),
    ]),
    Spec::new(&["glab", "tea", "hub"]).style(COBRA.and(Style::HARMLESS).and(Style::RISKY)).acts(READS).judge(super::broad::by_verb),
];

/// The forge that gh talks to where nothing else is said.
const OWN: &str = "github.com";

/// A repository may name its forge: `-R host/owner/name`, `gh repo view host/owner/name`, a URL of anything. Its own is
/// no other, however it is written.
fn other_forge(view: &mut View<'_>) {
    let named = view.values("--repo").into_iter().chain(
        view.operands()
            .into_iter()
            .filter(|_| matches!(view.path.first(), Some(&("repo" | "release"))))
            .filter_map(|at| view.word(at).map(|word| (at, word.clone()))),
    );
    for (at, word) in named.collect::<Vec<_>>() {
        let Some(text) = word.exact_str().filter(|text| !text.contains("://")) else { continue };
        let host = match text.split_once(':') {
            Some((before, _)) if before.contains('@') => before,
            _ if text.matches('/').count() == 2 => text.split('/').next().unwrap_or_default(),
            _ => continue,
        };
        view.connects(&Word::Exact(host.into()), at);
    }
    // An expression of jq may look into the environment.
    for (at, expression) in view.values("--jq") {
        let by = NamedBy::Flag("--jq".to_owned());
        match expression.exact() {
            Some(text) => view.findings(jq(text, Flavour::Jq), &by, at),
            None => view.named(Code::UnclearScript, by, at),
        }
    }
    super::address::reached(view);
    view.out.effects.retain(|effect| {
        !matches!(&effect.target, Target::Host(HostTarget::Exact { host, .. }) if host == OWN || host == "api.github.com")
    });
}

/// GET unless a method, a field or a body says otherwise. A GraphQL query that is no mutation reads.
fn api(view: &mut View<'_>) {
    let fields = view.has_any(&["--raw-field", "--field", "--input"]);
    let method = view.value("--method").map(|m| m.exact_str().map(str::to_ascii_uppercase));
    let reads = match method {
        Some(Some(method)) => matches!(method.as_str(), "GET" | "HEAD"),
        Some(None) => false,
        None => !fields,
    };
    let query = view.operand_str(0) == Some("graphql") && !view.has("--input") && {
        let values = view.values("--raw-field").into_iter().chain(view.values("--field"));
        values.into_iter().all(|(_, v)| v.exact_str().is_some_and(|v| !v.contains("mutation") && !v.contains("=@")))
    };
    for (at, value) in view.values("--field") {
        // `-F body=@file` sends a file.
        if let Some((_, file)) = value.exact_str().and_then(|v| v.split_once("=@")) {
            view.path_effect(Verb::Read, &Word::Exact(file.into()), at, false, crate::effect::Carry::Plain);
        }
    }
    // A header can name another method than the one that is asked for.
    let tame = |header: &Word| {
        let name = header.exact_str().and_then(|header| header.split_once(':')).map(|(name, _)| name.trim());
        name.is_some_and(|name| {
            ["accept", "x-github-api-version", "cache-control", "if-none-match", "if-modified-since"]
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known))
        })
    };
    let headers = view.values("--header").iter().all(|(_, header)| tame(header));
    if !reads && !query || !headers {
        let at = 0;
        view.imply("--method", Some(Code::ChangesService), at);
    }
}

fn clone(view: &mut View<'_>) {
    if view.operand_count() == 1 {
        let name = view.operand_str(0).and_then(|r| r.trim_end_matches('/').rsplit('/').next()).unwrap_or(".");
        let name = name.strip_suffix(".git").unwrap_or(name).to_owned();
        view.touches(Verb::Write, &name, true);
    }
}
