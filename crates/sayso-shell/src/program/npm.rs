//! JavaScript's package managers.

use super::task::{self, Naming};
use super::{Act, Code, Spec, View};
use crate::effect::{NamedBy, Verb};
use crate::option::{Style, Table, options};

const NPM_STYLE: Style = Style::EXACT.and(Style::NEGATES);
const BUILDS: &[Act] = &[Act::Builds];
const INSTALLS: &[Act] = &[Act::Named(Code::Installs), Act::Connects("registry")];

/// Settings that every subcommand takes.
const NPM: &Table = options!("
    -a --all, --access A, --also A, --allow-same-version, --audit, --audit-level L, --auth-type T, --before D, --bin-links, --color [W], --commit-hooks
    --cpu C, --depth N, --description, --dev, --diff S, --diff-ignore-all-space, --diff-name-only, --diff-no-prefix, --diff-text, --diff-unified N
    --dry-run, --engine-strict, --expect-result-count N, --expect-results, -f --force, --foreground-scripts, --format-package-lock, --fund
    --git-tag-version, -g --global, --global-style, -h, --heading S, --if-present, --ignore-scripts, --include T, --include-staged
    --include-workspace-root, --install-links, --install-strategy S, --json, -L --location L, --legacy-bundling, --legacy-peer-deps, --libc L
    --link, --lockfile-version N, --loglevel L, --logs-max N, -l --long, --maxsockets N, -m --message M, --offline, --omit T, --omit-lockfile-registry-resolved
    --only T, --optional, --os O, --otp O, --package-lock, --package-lock-only, -p --parseable --porcelain, --prefer-dedupe
    --prefer-offline, --prefer-online, --preid P, -P --save-prod, --production, --progress, --provenance, --provenance-file F, -q --quiet, -s --silent, --read-only
    --rebuild-bundle, --replace-registry-host H, -S --save, -B --save-bundle, -D --save-dev, -E --save-exact, -O --save-optional, --save-peer
    --save-prefix P, --sbom-format F, --sbom-type T, --scope S, --searchexclude S, --searchlimit N, --searchopts S, --searchstaleness N, --sign-git-commit
    --sign-git-tag, --strict-peer-deps, --strict-ssl, --tag T, --tag-version-prefix P, --timing, --unicode, --update-notifier, --usage, -v --version, -d, --verbose
    -w --workspace N, --workspaces -ws, --workspaces-update, -y --yes, -n --no, --expect R, --fetch-retries N, --fetch-timeout N, --no-save, --no-audit, --no-fund
    --ignore-existing, --keep-git, --versions, --init-license L, --init-version V, --init-author-name N, --init-author-email E
    --registry URL : redirects
    --proxy URL, --https-proxy URL, --noproxy H : redirects
    --prefix DIR : makes-below
    -C DIR : cd
    --cache DIR : writes-below
    --logs-dir DIR : writes-below
    --ca C, --cafile FILE : reads
    --userconfig FILE, --globalconfig FILE : runs
    --script-shell PROG, --shell PROG, --git PROG, --editor PROG, --viewer PROG, --browser PROG, --node-options O, --init-module FILE, --node-gyp FILE, --python PROG, --nodedir DIR, --onload-script FILE : runs
    --pack-destination DIR : makes-below
    --package PKG : installs
    -c --call CMD : shell
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["npm"]).style(NPM_STYLE.and(Style::GLOBAL)).options(&[NPM]).subs(&[
        Spec::new(&["ls", "list", "la", "ll"]).aliased().style(NPM_STYLE),
        Spec::new(&[
            "outdated",
            "explain",
            "why",
            "fund",
            "root",
            "prefix",
            "bin",
            "query",
            "help",
            "help-search",
            "find-dupes",
            "completion",
            "sbom",
        ])
        .style(NPM_STYLE),
        Spec::new(&["view", "info", "show", "v"]).aliased().style(NPM_STYLE).acts(&[Act::Connects("registry")]),
        Spec::new(&[
            "search", "s", "se", "find", "ping", "whoami", "doctor", "docs", "home", "bugs", "issues", "repo", "stars",
        ])
        .style(NPM_STYLE)
        .acts(&[Act::Connects("registry")]),
        Spec::new(&["audit"]).style(NPM_STYLE.and(Style::FREE)).acts(&[Act::Connects("registry")]).subs(&[
            Spec::new(&["signatures"]).style(NPM_STYLE).acts(&[Act::Connects("registry")]),
            Spec::new(&["fix"]).style(NPM_STYLE).acts(INSTALLS),
        ]),
        Spec::new(&[
            "install", "i", "add", "in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "isntall",
        ])
        .aliased()
        .style(NPM_STYLE)
        .acts(INSTALLS),
        Spec::new(&["ci", "clean-install", "ic", "install-clean", "isntall-clean"])
            .aliased()
            .style(NPM_STYLE)
            .acts(INSTALLS),
        Spec::new(&["install-test", "it", "install-ci-test", "cit", "clean-install-test", "sit"])
            .style(NPM_STYLE)
            .acts(INSTALLS),
        Spec::new(&["uninstall", "un", "unlink", "remove", "rm", "r"]).aliased().style(NPM_STYLE).acts(INSTALLS),
        Spec::new(&["update", "up", "upgrade", "udpate"]).aliased().style(NPM_STYLE).acts(INSTALLS),
        Spec::new(&[
            "link",
            "ln",
            "dedupe",
            "ddp",
            "prune",
            "rebuild",
            "rb",
            "approve-scripts",
            "deny-scripts",
            "install-scripts",
        ])
        .style(NPM_STYLE)
        .acts(INSTALLS),
        Spec::new(&["init", "create", "innit"]).aliased().style(NPM_STYLE).judge(npm_init),
        Spec::new(&["run", "run-script", "rum", "urn"]).aliased().style(NPM_STYLE).acts(BUILDS).judge(run),
        Spec::new(&["test", "t", "tst"]).aliased().style(NPM_STYLE).acts(BUILDS).judge(run),
        Spec::new(&["start", "stop", "restart"]).style(NPM_STYLE).acts(&[Act::Named(Code::Serves), Act::Builds]),
        Spec::new(&["exec", "x"]).aliased().style(NPM_STYLE).acts(BUILDS).judge(crate::wrapper::npx),
        Spec::new(&["explore"]).style(NPM_STYLE).acts(&[Act::Named(Code::RunsCommand)]),
        Spec::new(&["edit"]).style(NPM_STYLE).acts(&[Act::Named(Code::RunsCommand)]),
        Spec::new(&["diff"]).style(NPM_STYLE).acts(&[Act::Connects("registry")]),
        Spec::new(&["pack"]).style(NPM_STYLE).acts(&[Act::WritesBelow(".")]),
        Spec::new(&["version"]).style(NPM_STYLE).judge(npm_version),
        Spec::new(&["pkg"]).style(NPM_STYLE).subs(&[
            Spec::new(&["get"]).style(NPM_STYLE),
            Spec::new(&["set", "delete", "fix"])
                .style(NPM_STYLE)
                .acts(&[Act::Writes("package.json"), Act::Named(Code::ChangesFiles)]),
        ]),
        Spec::new(&["config", "c"]).aliased().style(NPM_STYLE).subs(&[
            Spec::new(&["list", "ls", "get"]).style(NPM_STYLE),
            Spec::new(&["set", "delete", "rm", "edit", "fix"])
                .style(NPM_STYLE)
                .acts(&[Act::Named(Code::ChangesSettings)]),
        ]),
        Spec::new(&["get"]).style(NPM_STYLE),
        Spec::new(&["set"]).style(NPM_STYLE).acts(&[Act::Named(Code::ChangesSettings)]),
        Spec::new(&["cache"]).style(NPM_STYLE).subs(&[
            Spec::new(&["ls", "verify"]).style(NPM_STYLE),
            Spec::new(&["add", "clean", "clear", "rm", "npx"])
                .style(NPM_STYLE)
                .acts(&[Act::Named(Code::ChangesSystem)]),
        ]),
        Spec::new(&["shrinkwrap"]).style(NPM_STYLE).acts(&[Act::Writes("npm-shrinkwrap.json")]),
        Spec::new(&[
            "publish",
            "unpublish",
            "deprecate",
            "undeprecate",
            "dist-tag",
            "access",
            "owner",
            "team",
            "org",
            "star",
            "unstar",
            "stage",
            "trust",
        ])
        .style(NPM_STYLE)
        .acts(&[Act::Named(Code::Publishes), Act::Connects("registry")]),
        Spec::new(&["login", "logout", "adduser", "add-user", "token", "profile", "hook"])
            .style(NPM_STYLE)
            .acts(&[Act::Named(Code::ShowsSecrets), Act::Connects("registry")]),
    ]),
    Spec::new(&["pnpm"])
        .style(NPM_STYLE.and(Style::GLOBAL).and(Style::FREE))
        .options(&[NPM, MORE])
        .subs(&[
            Spec::new(&[
                "ls",
                "list",
                "la",
                "ll",
                "why",
                "outdated",
                "licenses",
                "root",
                "bin",
                "help",
                "doctor",
                "store-status",
                "cat-file",
                "cat-index",
                "find-hash",
            ])
            .style(NPM_STYLE),
            Spec::new(&["audit", "view", "info", "search", "ping", "whoami"])
                .style(NPM_STYLE)
                .acts(&[Act::Connects("registry")]),
            Spec::new(&["install", "i"]).aliased().style(NPM_STYLE).acts(INSTALLS),
            Spec::new(&[
                "add",
                "remove",
                "rm",
                "uninstall",
                "un",
                "update",
                "up",
                "upgrade",
                "link",
                "ln",
                "unlink",
                "import",
                "rebuild",
                "rb",
                "prune",
                "fetch",
                "dedupe",
                "patch",
                "patch-commit",
                "patch-remove",
                "install-test",
                "it",
                "deploy",
                "approve-builds",
                "self-update",
                "setup",
                "env",
                "create",
                "init",
                "ci",
            ])
            .style(NPM_STYLE)
            .acts(INSTALLS),
            Spec::new(&["run", "run-script"]).aliased().style(NPM_STYLE.and(Style::LEADING)).acts(BUILDS).judge(run),
            Spec::new(&["test", "t", "tst"]).aliased().style(NPM_STYLE.and(Style::LEADING)).acts(BUILDS).judge(run),
            Spec::new(&["start", "dev", "serve", "preview"])
                .style(NPM_STYLE.and(Style::LEADING))
                .acts(&[Act::Named(Code::Serves), Act::Builds]),
            Spec::new(&["exec"]).style(NPM_STYLE.and(Style::LEADING)).acts(BUILDS).judge(super::pip::starts_operands),
            Spec::new(&["dlx"])
                .style(NPM_STYLE.and(Style::LEADING))
                .acts(&[Act::Named(Code::Installs)])
                .judge(super::pip::starts_operands),
            Spec::new(&["store"]).style(NPM_STYLE).subs(&[
                Spec::new(&["path", "status"]).style(NPM_STYLE),
                Spec::new(&["prune", "add"]).style(NPM_STYLE).acts(&[Act::Named(Code::ChangesSystem)]),
            ]),
            Spec::new(&["config", "c"]).aliased().style(NPM_STYLE).subs(&[
                Spec::new(&["list", "get"]).style(NPM_STYLE),
                Spec::new(&["set", "delete"]).style(NPM_STYLE).acts(&[Act::Named(Code::ChangesSettings)]),
            ]),
            Spec::new(&["pack"]).style(NPM_STYLE).acts(&[Act::WritesBelow(".")]),
            Spec::new(&["publish"]).style(NPM_STYLE).acts(&[Act::Named(Code::Publishes), Act::Connects("registry")]),
            Spec::new(&["server", "login", "logout"]).style(NPM_STYLE).acts(&[Act::Named(Code::Serves)]),
        ])
        .acts(&[Act::Builds])
        .judge(script_by_name),
    Spec::new(&["yarn", "yarnpkg"])
        .aliased()
        .style(NPM_STYLE.and(Style::GLOBAL).and(Style::FREE))
        .options(&[NPM, MORE])
        .subs(&[
            Spec::new(&[
                "list",
                "why",
                "info",
                "outdated",
                "licenses",
                "help",
                "versions",
                "bin",
                "check",
                "constraints",
                "explain",
                "search",
            ])
            .style(NPM_STYLE),
            Spec::new(&["audit"]).style(NPM_STYLE).acts(&[Act::Connects("registry")]),
            Spec::new(&["npm"]).style(NPM_STYLE).subs(&[
                Spec::new(&["info", "audit", "whoami"]).style(NPM_STYLE).acts(&[Act::Connects("registry")]),
                Spec::new(&["publish", "tag", "login", "logout"])
                    .style(NPM_STYLE)
                    .acts(&[Act::Named(Code::Publishes), Act::Connects("registry")]),
            ]),
            Spec::new(&["install"]).style(NPM_STYLE).acts(INSTALLS),
            Spec::new(&[
                "add",
                "remove",
                "up",
                "upgrade",
                "upgrade-interactive",
                "link",
                "unlink",
                "import",
                "autoclean",
                "dedupe",
                "patch",
                "patch-commit",
                "rebuild",
                "set",
                "plugin",
                "create",
                "init",
                "global",
                "unplug",
                "self-update",
                "generate-lock-entry",
                "policies",
            ])
            .style(NPM_STYLE)
            .acts(INSTALLS),
            Spec::new(&["run"]).style(NPM_STYLE.and(Style::LEADING)).acts(BUILDS).judge(run),
            Spec::new(&["test"]).style(NPM_STYLE.and(Style::LEADING)).acts(BUILDS).judge(run),
            Spec::new(&["start", "dev", "serve", "preview"])
                .style(NPM_STYLE.and(Style::LEADING))
                .acts(&[Act::Named(Code::Serves), Act::Builds]),
            Spec::new(&["node"]).style(NPM_STYLE.and(Style::LEADING)).judge(yarn_node),
            Spec::new(&["exec"]).style(NPM_STYLE.and(Style::LEADING)).acts(BUILDS).judge(super::pip::starts_operands),
            Spec::new(&["dlx"])
                .style(NPM_STYLE.and(Style::LEADING))
                .acts(&[Act::Named(Code::Installs)])
                .judge(super::pip::starts_operands),
            Spec::new(&["workspaces"]).style(NPM_STYLE).subs(&[
                Spec::new(&["info", "list"]).style(NPM_STYLE),
                Spec::new(&["run", "foreach", "focus"])
                    .style(NPM_STYLE.and(Style::HARMLESS))
                    .acts(&[Act::Named(Code::RunsCode)]),
            ]),
            Spec::new(&["workspace"]).style(NPM_STYLE.and(Style::LEADING)).judge(yarn_workspace),
            Spec::new(&["config"]).style(NPM_STYLE.and(Style::FREE)).subs(&[
                Spec::new(&["list", "get"]).style(NPM_STYLE),
                Spec::new(&["set", "delete", "unset"]).style(NPM_STYLE).acts(&[Act::Named(Code::ChangesSettings)]),
            ]),
            Spec::new(&["cache"]).style(NPM_STYLE).subs(&[
                Spec::new(&["list", "dir"]).style(NPM_STYLE),
                Spec::new(&["clean", "clear"]).style(NPM_STYLE).acts(&[Act::Named(Code::ChangesSystem)]),
            ]),
            Spec::new(&["pack"]).style(NPM_STYLE).acts(&[Act::WritesBelow(".")]),
            Spec::new(&["publish", "tag", "owner", "team", "login", "logout", "version"])
                .style(NPM_STYLE)
                .acts(&[Act::Named(Code::Publishes), Act::Connects("registry")]),
        ])
        .acts(&[Act::Project])
        .judge(script_by_name),
    Spec::new(&["rush", "ni", "nr", "nlx", "corepack", "n"])
        .style(Style::HARMLESS.and(Style::RISKY).and(Style::FREE))
        .subs(&[Spec::new(&["list", "ls", "current", "which", "graph", "show", "report", "--version"])
            .style(Style::HARMLESS)])
        .acts(&[Act::Named(Code::RunsCode), Act::Project])
        .judge(crate::wrapper::may_start),
    Spec::new(&["volta", "fnm", "nvm"])
        .style(Style::HARMLESS.and(Style::RISKY).and(Style::FREE))
        .subs(&[
            Spec::new(&["list", "ls", "current", "which", "graph", "show", "report", "--version"])
                .style(Style::HARMLESS),
            Spec::new(&["add", "import", "init", "install", "migrate", "pin", "uninstall", "connect", "upgrade"])
                .style(Style::HARMLESS)
                .acts(INSTALLS),
        ])
        .acts(&[Act::Named(Code::RunsCode), Act::Project])
        .judge(crate::wrapper::started_behind),
];

const MORE: &Table = options!("
    -r --recursive, --filter F, --filter-prod F, --parallel, --stream, --aggregate-output, --reporter R, --frozen-lockfile, --no-frozen-lockfile
    --lockfile-only, --fix-lockfile, --shamefully-hoist, --ignore-workspace, -W --ignore-workspace-root-check, --latest, -i --interactive, --prod
    --immutable, --immutable-cache, --check-cache, --inline-builds, --mode M, --check-files, --ignore-engines, --ignore-optional, --ignore-platform
    --non-interactive, --pure-lockfile, --no-lockfile, --network-timeout N, --network-concurrency N, --flat, --har, --exact, --tilde, --caret, --peer
    --resume-from R, --sort, --no-sort, --no-bail, --bail, --reverse, --workspace-root, --changed-files-ignore-pattern P, --test-pattern P, --level L
    --groups G, --pattern P, --top-level, -R, -A, -T --topological-only, --since [R], --no-color, --emoji, --only-built
    --dir DIR : cd
    --cwd DIR : cd
    --modules-folder DIR, --virtual-store-dir DIR, --store-dir DIR, --cache-folder DIR, --offline-mirror DIR : makes-below
    --shell-mode : runs-command
    --use-yarnrc FILE : runs
    --link-folder DIR : makes-below
");

/// Words behind a script's name go to the script.
fn run(view: &mut View<'_>) {
    let named = view.path.last() == Some(&"run");
    if let Some(at) = view.operand_at(0).filter(|_| named) {
        task::task(view, at, Naming::Whole);
    }
    view.hands_on(usize::from(named));
}

/// `yarn build`, `pnpm lint`: a script of the project, or a program that it depends on.
fn script_by_name(view: &mut View<'_>) {
    match view.operand(0) {
        None if view.name == "yarn" && !view.has_any(&["--version", "-v", "--help", "-h"]) => {
            view.named(Code::Installs, NamedBy::Words(vec!["install".to_owned()]), 0);
            view.connects_configured("registry", 0);
        }
        None => {}
        Some(word) => {
            let by = word.exact_str().map_or(NamedBy::Nothing, |name| NamedBy::Words(vec![name.to_owned()]));
            let at = view.operand_at(0).unwrap_or_default();
            view.named(Code::RunsCode, by, at);
            task::task(view, at, Naming::Whole);
            view.hands_on(1);
        }
    }
}

/// `npm init` asks and writes `package.json`; `npm init x` fetches and runs `create-x`.
fn npm_init(view: &mut View<'_>) {
    view.touches(Verb::Write, "package.json", false);
    if view.operand_count() > 0 {
        view.named_by_words(Code::Installs);
    }
}

/// Without an operand `npm version` tells versions; with one it changes files and commits.
fn npm_version(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.imply("--set", Some(Code::ChangesRepository), at);
        view.touches(Verb::Write, "package.json", false);
    }
}

fn yarn_node(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.starts_as("node", at, at);
    }
}

/// `yarn workspace name command ...` is `yarn command ...` in that folder.
fn yarn_workspace(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(1) {
        view.starts_as("yarn", at, at);
    }
}
