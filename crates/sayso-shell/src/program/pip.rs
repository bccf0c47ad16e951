//! Python's package managers.

use super::{Act, Code, Operands, Role, Spec, View};
use crate::option::{Style, Table, options};
use crate::word::Word;

const PIP: &Table = options!("
    -h, --debug, --isolated, --require-virtualenv, -v --verbose, -V --version, -q --quiet, --no-input, --keyring-provider P, --retries N
    --timeout S, --exists-action A, --trusted-host H, --no-cache-dir, --disable-pip-version-check, --no-color, --use-feature F
    --no-python-version-warning, --use-deprecated F, --resume-retries N
    --python PATH : runs
    --log PATH : writes
    --proxy URL : redirects
    --cert PATH : reads
    --client-cert PATH : reads
    --cache-dir DIR : writes-below
");

const INDEX: &Table = options!("
    -i --index-url --pypi-url URL : redirects
    --extra-index-url URL : redirects
    -f --find-links URL : redirects
    --no-index, --pre, --no-binary F, --only-binary F, --prefer-binary, --require-hashes, --progress-bar P, --no-build-isolation
    --use-pep517, --no-use-pep517, --check-build-dependencies, -C --config-settings S, --global-option O, --no-deps, --ignore-requires-python
    --platform P, --python-version V, --implementation I, --abi A, --no-clean, --build-option O, --no-verify, --group G
    --src DIR : makes-below
    -r --requirement FILE : reads
    -c --constraint FILE : reads
    --build-constraint FILE : reads
");

const PIP_SUBS: &[Spec] = &[
    Spec::new(&["install"])
        .options(&[INDEX, options!("
            -e --editable PATH, --dry-run, --user, -U --upgrade, --upgrade-strategy S, --force-reinstall, -I --ignore-installed, --compile
            --no-compile, --no-warn-script-location, --no-warn-conflicts, --break-system-packages, --root-user-action A, --system, --reinstall, --link-mode M, --exact, --strict, --all-extras, --extra E, --torch-backend B, -p --python-exe P
            -t --target DIR : makes-below
            --root DIR : makes-below
            --prefix DIR : makes-below
            --report FILE : writes
        ")])
        .acts(&[Act::NamedUnless(Code::Installs, &["--dry-run"]), Act::Connects("package index")])
        .judge(local_projects),
    Spec::new(&["download", "wheel", "lock"])
        .options(&[INDEX, options!("-e --editable PATH", "-d --dest DIR : makes-below", "-w --wheel-dir DIR : makes-below", "-o --output FILE : makes")])
        .acts(&[Act::Named(Code::Installs), Act::Connects("package index"), Act::WritesBelow(".")]),
    Spec::new(&["uninstall"])
        .options(&[options!("-y --yes, --root-user-action A, --break-system-packages, --system", "-r --requirement FILE : reads")])
        .acts(&[Act::Named(Code::Installs)]),
    Spec::new(&["sync", "compile"])
        .options(&[INDEX, options!("-U --upgrade, -P --upgrade-package P, --generate-hashes, --all-extras, --extra E, --system, -q", "-o --output-file FILE : makes")])
        .acts(&[Act::Named(Code::Installs), Act::Connects("package index")]),
    Spec::new(&["freeze", "inspect", "check", "debug", "hash", "help", "completion", "tree"])
        .style(Style::GNU.and(Style::HARMLESS))
        .operands(Operands::READ),
    Spec::new(&["list"]).options(&[options!("
        -o --outdated, -u --uptodate, -e --editable, -l --local, --user, --pre, --format F, --not-required, --exclude-editable
        --include-editable, --exclude P, --path P, --system, --strict
        -i --index-url URL : redirects
        --extra-index-url URL : redirects
        -f --find-links URL : redirects
        --no-index
    ")])
    .judge(newer_versions),
    Spec::new(&["show"]).options(&[options!("-f --files, --system")]),
    Spec::new(&["search"]).options(&[options!("-i --index URL : redirects")]).acts(&[Act::Connects("package index")]),
    Spec::new(&["index"])
        .subs(&[Spec::new(&["versions"]).options(&[INDEX, options!("--json")]).acts(&[Act::Connects("package index")])]),
    Spec::new(&["config"]).options(&[CONFIG]).subs(&[
        Spec::new(&["list", "get", "debug"]).options(&[CONFIG]),
        Spec::new(&["set", "unset", "edit"]).options(&[CONFIG]).acts(&[Act::Named(Code::ChangesSettings)]),
    ]),
    Spec::new(&["cache"]).options(&[options!("--format F, --abspath")]).subs(&[
        Spec::new(&["dir", "info", "list"]).options(&[options!("--format F")]),
        Spec::new(&["remove", "purge"]).acts(&[Act::Named(Code::ChangesSystem)]),
    ]),
];

const CONFIG: &Table = options!("--global, --user, --site", "--editor PROG : runs");

const UV: &Table = options!("
    -q --quiet, -v --verbose, --color W, --native-tls, --offline, --allow-insecure-host H, --no-progress, --no-config, -h --help, -V --version, --managed-python
    --no-managed-python, --no-python-downloads, -n --no-cache, --preview, --no-preview, --preview-features F, --system-certs
    --cache-dir DIR : writes-below
    --directory DIR : cd
    --project DIR : cd
    --config-file FILE : runs
");

const UV_PROJECT: &Table = options!("
    --extra E, --all-extras, --no-extra E, --no-dev, --dev, --only-dev, --group G, --no-group G, --no-default-groups, --only-group G, --all-groups
    --no-editable, --inexact, --exact, --locked, --frozen, --no-sync, -U --upgrade, -P --upgrade-package P, --reinstall
    --reinstall-package P, --no-install-project, --no-install-workspace, --no-install-package P, --active, --package P, --all-packages
    --isolated, --no-project, --index-strategy S, --keyring-provider K, --resolution R, --prerelease P, --fork-strategy S, --exclude-newer D
    --link-mode M, -C --config-setting S, --no-build-isolation, --compile-bytecode, --no-sources, --no-index, --no-build, --no-binary, --only-binary P
    --no-build-package P, --no-binary-package P, --refresh, --refresh-package P, --check, --dry-run, --script, --no-env-file
    --no-deps, --depth N, --prune P, --no-dedupe, --invert, --outdated, --universal, --format F, --no-hashes, --no-header, --no-annotate
    --no-emit-project, --no-emit-workspace, --no-emit-package P, --bump B, --short, --output-format F, --seed, --clear, --prompt P, --system-site-packages
    --allow-existing, --relocatable, --app, --lib, --bare, --name N, --no-readme, --no-pin-python, --no-workspace, --vcs V, --build-backend B
    --author-from A, --description D, --no-description, --virtual, --package-mode, --optional O, --editable, --raw, --raw-sources, --rev R, --tag T, --branch B, --bounds B
    --marker M, -m --module, --gui-script, --sdist, --wheel, --all, --force-pep517, -b --build-constraint F
    -p --python P : runs-path
    --env-file FILE : reads
    -r --requirements FILE : reads
    -c --constraints FILE : reads
    -o --output-file --out-dir FILE : makes
    -i --index-url URL : redirects
    --default-index URL : redirects
    --index URL : redirects
    --extra-index-url URL : redirects
    -f --find-links URL : redirects
    -w --with PKG : installs
    --with-editable PATH : installs
    --with-requirements FILE : installs
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["pip", "pip3", "pip2", "pip3.8", "pip3.9", "pip3.10", "pip3.11", "pip3.12", "pip3.13"])
        .aliased()
        .style(Style::GNU.and(Style::GLOBAL))
        .options(&[PIP])
        .subs(PIP_SUBS),
    Spec::new(&["uv"])
        .style(Style::EXACT.and(Style::EQUALS).and(Style::GLOBAL))
        .options(&[UV])
        // It asks the interpreter of the project's environment, which is a program there.
        .acts(&[Act::ProjectIf(&[".venv"])])
        .subs(&[
            Spec::new(&["run"]).style(Style::EXACT.and(Style::EQUALS).and(Style::LEADING)).options(&[UV_PROJECT]).acts(&[Act::Builds]).judge(uv_run),
            Spec::new(&["sync", "lock", "add", "remove"])
                .style(Style::EXACT.and(Style::EQUALS))
                .options(&[UV_PROJECT])
                .acts(&[Act::NamedUnless(Code::Installs, &["--dry-run", "--check"]), Act::Connects("package index")]),
            Spec::new(&["pip"]).style(Style::EXACT.and(Style::GLOBAL)).options(&[UV_PROJECT]).subs(PIP_SUBS),
            Spec::new(&["tree", "export", "version", "format", "build"])
                .style(Style::EXACT.and(Style::EQUALS))
                .acts(&[Act::Builds])
                .options(&[UV_PROJECT]),
            Spec::new(&["init"]).style(Style::EXACT).options(&[UV_PROJECT]).operands(Operands::all(Role::WriteBelow)),
            Spec::new(&["venv"])
                .style(Style::EXACT)
                .options(&[UV_PROJECT])
                .operands(Operands::all(Role::WriteBelow))
                .acts(&[Act::Named(Code::Installs)]),
            Spec::new(&["python"]).style(Style::EXACT).subs(&[
                Spec::new(&["list", "find", "dir"]).style(Style::HARMLESS),
                Spec::new(&["install", "uninstall", "pin", "upgrade", "update-shell"])
                    .style(Style::HARMLESS)
                    .acts(&[Act::Named(Code::Installs)]),
            ]),
            Spec::new(&["tool"]).style(Style::EXACT).subs(&[
                Spec::new(&["list", "dir"]).style(Style::HARMLESS),
                Spec::new(&["run"])
                    .style(Style::EXACT.and(Style::EQUALS).and(Style::LEADING))
                    .options(&[UV_PROJECT, options!("--from PKG : installs")])
                    .acts(&[Act::Named(Code::Installs)])
                    .judge(starts_operands),
                Spec::new(&["install", "uninstall", "upgrade", "update-shell"])
                    .style(Style::HARMLESS)
                    .acts(&[Act::Named(Code::Installs)]),
            ]),
            Spec::new(&["cache"]).style(Style::EXACT).subs(&[
                Spec::new(&["dir", "size"]).style(Style::HARMLESS),
                Spec::new(&["clean", "prune"]).style(Style::HARMLESS).acts(&[Act::Named(Code::ChangesSystem)]),
            ]),
            Spec::new(&["publish"])
                .style(Style::HARMLESS)
                .acts(&[Act::Named(Code::Publishes), Act::Connects("package index")]),
            Spec::new(&["self"]).style(Style::EXACT).subs(&[
                Spec::new(&["version"]).style(Style::HARMLESS),
                Spec::new(&["update"]).style(Style::HARMLESS).acts(&[Act::Named(Code::Installs)]),
            ]),
            Spec::new(&["auth"]).style(Style::HARMLESS).acts(&[Act::Named(Code::ShowsSecrets)]),
            Spec::new(&["help", "generate-shell-completion"]).style(Style::HARMLESS),
        ]),
    Spec::new(&["poetry", "pdm", "hatch", "pipenv", "rye", "pixi"])
        .style(Style::EXACT.and(Style::GLOBAL).and(Style::NEGATES))
        .options(&[options!("
            -q --quiet, -v --verbose, --ansi, --no-ansi, -n --no-interaction, --no-plugins, --no-cache, -h, -V
            -C --directory DIR : cd
            -P --project DIR : cd
        ")])
        .acts(&[Act::Project])
        .subs(&[
            Spec::new(&[
                "show", "check", "list", "about", "search", "graph", "where", "info", "version", "dep", "status",
                "help",
            ])
                .style(Style::HARMLESS),
            Spec::new(&["run", "shell"]).style(Style::EXACT.and(Style::LEADING).and(Style::HARMLESS)).judge(starts_operands),
            Spec::new(&["env", "config", "cache", "self", "source"])
                .style(Style::HARMLESS)
                .subs(&[Spec::new(&["list", "info", "show", "--list"]).style(Style::HARMLESS)])
                .acts(&[Act::Named(Code::ChangesSettings)]),
            Spec::new(&[
                "install", "add", "remove", "update", "lock", "sync", "uninstall", "use", "upgrade", "clean", "init",
                "new",
            ])
                .style(Style::HARMLESS)
                .acts(&[Act::Named(Code::Installs), Act::Connects("package index")]),
            Spec::new(&["build"]).style(Style::HARMLESS),
            Spec::new(&["publish"]).style(Style::HARMLESS).acts(&[Act::Named(Code::Publishes), Act::Connects("package index")]),
        ]),
    Spec::new(&["conda", "mamba", "micromamba"])
        .style(Style::GNU.and(Style::GLOBAL))
        .options(&[options!("-h, -V, -v --verbose, -q --quiet, --json, --debug, --no-plugins, -n --name ENV, -p --prefix PATH, --no-rc, -y --yes")])
        .subs(&[
            Spec::new(&["list", "info", "search", "compare", "doctor", "help"]).style(Style::HARMLESS),
            Spec::new(&["env"]).style(Style::GNU).subs(&[
                Spec::new(&["list", "export"])
                    .style(Style::HARMLESS)
                    .options(&[options!("-f --file FILE : writes")]),
                Spec::new(&["create", "update", "remove", "config"]).style(Style::HARMLESS).acts(&[Act::Named(Code::Installs)]),
            ]),
            Spec::new(&["config"])
                .options(&[options!("
                    --show [KEYS], --show-sources, --describe [KEYS], --get [KEYS], --env, --system, --validate
                    --set KEY VALUE : changes-settings
                    --add KEY VALUE : changes-settings
                    --append KEY VALUE : changes-settings
                    --prepend KEY VALUE : changes-settings
                    --remove KEY VALUE : changes-settings
                    --remove-key KEY : changes-settings
                    --write-default : changes-settings
                    --file FILE : writes
                ")]),
            Spec::new(&["run"]).style(Style::LEADING).options(&[options!("
                -n --name ENV, -p --prefix PATH, -v --verbose, --dev, --debug-wrapper-scripts, --cwd DIR, --no-capture-output, --live-stream
            ")]).judge(starts_operands),
            Spec::new(&["activate", "deactivate", "shell", "init", "notices"]).style(Style::HARMLESS).acts(&[Act::Named(Code::ChangesSettings)]),
            Spec::new(&[
                "create", "install", "update", "upgrade", "remove", "uninstall", "clean", "rename", "package",
                "build",
            ])
                .style(Style::HARMLESS)
                .acts(&[Act::Named(Code::Installs), Act::Connects("package index")]),
        ]),
    Spec::new(&["pipdeptree", "pip-audit", "safety", "pip-licenses", "johnnydep"])
        .style(Style::HARMLESS.and(Style::RISKY))
        .options(&[options!("--fix : installs", "-o --output FILE : writes", "-r --requirement FILE : reads")]),
    Spec::new(&["pip-compile", "pip-sync", "easy_install"])
        .style(Style::HARMLESS)
        .acts(&[Act::Named(Code::Installs), Act::Connects("package index")]),
    Spec::new(&["pyenv"]).style(Style::EXACT).subs(&[
        Spec::new(&[
            "versions", "version", "which", "whence", "root", "prefix", "commands", "shims", "completions", "help",
            "--version",
        ])
            .style(Style::HARMLESS),
        Spec::new(&["exec"]).style(Style::LEADING).judge(starts_operands),
        Spec::new(&["install", "uninstall", "global", "local", "shell", "rehash", "init", "update", "virtualenv"])
            .style(Style::HARMLESS)
            .acts(&[Act::Named(Code::Installs)]),
    ]),
    Spec::new(&["twine", "flit", "maturin", "build", "setuptools-scm"])
        .style(Style::EXACT)
        .options(&[options!("-h, -V, -n --no-isolation, -w --wheel, -s --sdist, -x --skip-dependency-check, -C --config-setting S, --installer I, -v --verbose", "-o --outdir DIR : makes-below")])
        .subs(&[
            Spec::new(&["check", "build", "develop", "list-python", "sdist"]).style(Style::HARMLESS),
            Spec::new(&["upload", "publish", "register"])
                .style(Style::HARMLESS)
                .acts(&[Act::Named(Code::Publishes), Act::Connects("package index")]),
            Spec::new(&["install", "init", "new"]).style(Style::HARMLESS).acts(&[Act::Named(Code::Installs)]),
        ]),
];

/// What is newer, only the index knows.
fn newer_versions(view: &mut View<'_>) {
    if view.has_any(&["--outdated", "--uptodate"]) && !view.has("--no-index") {
        view.connects_configured("package index", 0);
    }
}

/// `pip install .` and `-e path` run the project's own build.
fn local_projects(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(word) = view.word(at)
            && word.exact().is_some_and(|b| b.starts_with(b".") || b.starts_with(b"/"))
        {
            view.reads_below(word, at);
        }
    }
    for (at, path) in view.values("--editable") {
        view.reads_below(&path, at);
    }
}

/// The first operand begins the command that is run in the environment. Unless an option or the subcommand itself does
/// more, it only starts what follows.
pub(super) fn starts_operands(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.out.transparent = view.out.effects.is_empty();
        view.starts_words(at);
    }
}

/// `uv run prog ...`: a program; `uv run x.py`: Python with that script. It only starts what follows, but for what the
/// project declares, which it may fetch.
fn uv_run(view: &mut View<'_>) {
    let Some((at, word)) = view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) else { return };
    view.out.transparent = view.out.effects.is_empty();
    if view.has("--module") {
        let python_m = [Word::Exact("python".into()), Word::Exact("-m".into())];
        starts_after(view, &python_m, at);
    } else if word.exact().is_some_and(|b| b.ends_with(b".py") || b.starts_with(b"http") || b == b"-")
        || view.has("--script")
    {
        starts_after(view, &[Word::Exact("python".into())], at);
    } else {
        view.starts_words(at);
    }
}

fn starts_after(view: &mut View<'_>, leading: &[Word], at: usize) {
    let rest = view.inv.argv.get(at..).unwrap_or_default();
    let argv: Vec<Word> = leading.iter().chain(rest).cloned().collect();
    let spans = std::iter::repeat_n(at, leading.len()).chain(at..view.inv.argv.len()).map(|i| view.span(i)).collect();
    view.out.starts.push(super::Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
}
