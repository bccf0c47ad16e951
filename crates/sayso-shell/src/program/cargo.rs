//! Rust: cargo, rustc, rustup.

use super::{Act, Code, Operands, Role, Spec, Start, View, hidden};
use crate::effect::Verb;
use crate::option::{Style, Table, options};
use crate::word::Word;

const CLAP: Style = Style::EXACT.and(Style::EQUALS);

/// Options that nearly every subcommand knows.
const COMMON: &Table = options!(
    "
    -v --verbose, -q --quiet, --color WHEN, -h --help, -V --version, --offline, --locked, --frozen, -Z FLAG, --list, --explain CODE
    --config KEY=VALUE : runs
    --manifest-path PATH : reads
    -C DIR : cd
    --lockfile-path PATH : makes
    + TOOLCHAIN : runs-path
"
);

const BUILD: &Table = options!("
    -p --package SPEC, --workspace, --all, --exclude SPEC, --lib, --bins, --bin NAME, --examples, --example NAME, --tests, --test NAME
    --benches, --bench NAME, --all-targets, --doc, -F --features F, --all-features, --no-default-features, -r --release, --debug
    --profile NAME, -j --jobs N, --keep-going, --target TRIPLE, --unit-graph, --timings [FMTS], --message-format FMT
    --ignore-rust-version, --future-incompat-report, --no-run, --no-fail-fast, --no-deps, --document-private-items, --build-plan
    --target-dir DIR : makes-below
    --artifact-dir --out-dir DIR : makes-below
    --open : runs-command
");

const REGISTRY: &Table = options!(
    "
    --registry NAME, --token TOKEN, --limit N
    --index URL : redirects
"
);

/// What `cargo hack` takes for itself; all else is cargo's.
const HACK: &Table = options!(
    "
    --each-feature, --feature-powerset, --optional-deps [DEPS], --skip --exclude-features F, --include-features F, --depth N, --group-features F
    --mutually-exclusive-features F, --at-least-one-of F, --include-deps-features, --exclude-no-default-features, --exclude-all-features
    --skip-no-default-features, --no-dev-deps, --remove-dev-deps, --no-private, --ignore-private, --ignore-unknown-features, --version-range R
    --version-step N, --rust-version, --clean-per-run, --clean-per-version, --keep-going, --partition MN, --log-group K, --print-command-list
    --no-manifest-path, --must-have-and-exclude-feature F
"
);

/// The project may name the toolchain, a folder of its own too, and a wrapper for the compiler, which `cargo tree` asks as well.
const TOOLCHAIN: &[Act] =
    &[Act::ProjectIf(&["rust-toolchain", "rust-toolchain.toml", ".cargo/config", ".cargo/config.toml"])];

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["cargo"])
        .style(CLAP.and(Style::LEADING).and(Style::GLOBAL))
        .options(&[COMMON])
        .acts(TOOLCHAIN)
        .subs(&[
            Spec::new(&["build", "b"]).aliased().style(CLAP).options(&[BUILD]).acts(&[Act::Builds]).judge(builds),
            Spec::new(&["check", "c"]).aliased().style(CLAP).options(&[BUILD]).acts(&[Act::Builds]).judge(builds),
            Spec::new(&["test", "t"]).aliased().style(CLAP).options(&[BUILD]).acts(&[Act::Builds]).judge(builds),
            Spec::new(&["bench"]).style(CLAP).options(&[BUILD]).acts(&[Act::Builds]).judge(builds),
            Spec::new(&["doc", "d"]).aliased().style(CLAP).options(&[BUILD]).acts(&[Act::Builds]).judge(builds),
            Spec::new(&["run", "r"]).aliased().style(CLAP.and(Style::LEADING)).options(&[BUILD]).acts(&[Act::Builds]).judge(run),
            Spec::new(&["clippy"])
                .style(CLAP)
                .options(&[BUILD, options!("--allow-dirty, --allow-staged, --allow-no-vcs, --broken-code", "--fix : changes-files")])
                .judge(hands_words_on),
            Spec::new(&["fix"])
                .style(CLAP)
                .options(&[BUILD, options!("--edition, --edition-idioms, --broken-code, --allow-no-vcs, --allow-dirty, --allow-staged")])
                .acts(&[Act::WritesBelow("src")])
                .judge(changes_sources),
            Spec::new(&["fmt"])
                .style(CLAP)
                .options(&[options!("--check, --all, -p --package SPEC, --message-format F")])
                .judge(hands_words_on),
            Spec::new(&["rustc", "rustdoc"])
                .style(CLAP)
                .options(&[BUILD, options!("--print INFO, --crate-type T, --output-format F")])
                .judge(compiler_flags),
            Spec::new(&["metadata"])
                .style(CLAP)
                .options(&[options!("--filter-platform T, --no-deps, --format-version V, -F --features F, --all-features, --no-default-features")]),
            Spec::new(&["tree"]).style(CLAP).options(&[options!("
                -e --edges K, -i --invert SPEC, --prune S, --depth N, --prefix P, --no-dedupe, -d --duplicates, --charset C, -f --format F
                -p --package S, --workspace, --exclude S, -F --features F, --all-features, --no-default-features, --target T, -a --all, --no-indent
                --prefix-depth, --all-targets, --no-dev-dependencies
            ")]),
            Spec::new(&["pkgid", "locate-project", "read-manifest", "verify-project", "version", "help", "report"])
                .style(CLAP)
                .options(&[options!("-p --package S, --workspace, --message-format F, --id N")]),
            Spec::new(&["config"])
                .style(CLAP)
                .subs(&[Spec::new(&["get"]).style(CLAP).options(&[options!("--format F, --show-origin, --merged V")])]),
            Spec::new(&["search", "info"]).style(CLAP).options(&[REGISTRY]).acts(&[Act::Connects("registry")]),
            Spec::new(&["fetch", "generate-lockfile"])
                .style(CLAP)
                .options(&[options!("--target T, --ignore-rust-version, --publish-time T")])
                .acts(&[Act::Connects("registry"), Act::Writes("Cargo.lock")])
                .judge(locks),
            Spec::new(&["update"])
                .style(CLAP)
                .options(&[options!("-n --dry-run, --recursive, --aggressive, --precise P, -b --breaking, -w --workspace, -p --package S, --ignore-rust-version")])
                .acts(&[Act::Connects("registry"), Act::Writes("Cargo.lock")])
                .judge(locks),
            Spec::new(&["add", "remove", "rm", "upgrade", "set-version"])
                .style(CLAP)
                .options(&[REGISTRY, options!("
                    -F --features F, --default-features, --no-default-features, --optional, --no-optional, --public, --no-public, --rename N
                    -n --dry-run, -p --package S, --base B, --branch B, --tag T, --rev R, --dev -D, --build -B, --target T
                    --ignore-rust-version, --incompatible I, --compatible C, --pinned P, --exclude S, --recursive R, --bump B
                    --path PATH : reads
                    --git URI : connects
                ")])
                .acts(&[Act::NamedUnless(Code::Installs, &["--dry-run"]), Act::Writes("Cargo.toml")]),
            Spec::new(&["install", "binstall", "install-update"])
                .style(CLAP)
                .options(&[BUILD, REGISTRY, options!("
                    --version --vers V, --branch B, --tag T, --rev R, -f --force, -n --dry-run, --no-track, -y --no-confirm, -a
                    --git URL : connects
                    --path PATH : reads
                    --root DIR : makes-below
                ")])
                .acts(&[Act::NamedUnless(Code::Installs, &["--list", "--dry-run"]), Act::Connects("registry")]),
            Spec::new(&["uninstall"])
                .style(CLAP)
                .options(&[options!("-p --package S, --bin N, --root DIR")])
                .acts(&[Act::Named(Code::Installs)]),
            Spec::new(&["new", "init"])
                .style(CLAP)
                .options(&[REGISTRY, options!("--vcs V, --bin, --lib, --edition Y, --name N")])
                .operands(Operands::all(Role::WriteBelow)),
            Spec::new(&["clean"])
                .style(CLAP)
                .options(&[options!("--doc, -n --dry-run, -p --package S, --workspace, -r --release, --profile N, --target T, --target-dir DIR")])
                .judge(clean),
            Spec::new(&["vendor"])
                .style(CLAP)
                .options(&[options!("--no-delete, --respect-source-config, --versioned-dirs, --replace", "-s --sync TOML : reads")])
                .operands(Operands::all(Role::WriteBelow))
                .acts(&[Act::Connects("registry"), Act::WritesBelow("vendor")])
                .judge(vendor),
            Spec::new(&["package"])
                .style(CLAP)
                .options(&[BUILD, REGISTRY, options!("-l, --no-verify, --no-metadata, --allow-dirty, --exclude-lockfile")]),
            Spec::new(&["publish"])
                .style(CLAP)
                .options(&[BUILD, REGISTRY, options!("-n --dry-run, --no-verify, --allow-dirty")])
                .acts(&[Act::Connects("registry"), Act::NamedUnless(Code::Publishes, &["--dry-run"])]),
            Spec::new(&["yank", "owner"])
                .style(CLAP)
                .options(&[REGISTRY, options!("--version --vers V, --undo, -a --add L, -r --remove L, -l")])
                .acts(&[Act::Connects("registry"), Act::Named(Code::Publishes)]),
            Spec::new(&["login", "logout"])
                .style(CLAP)
                .options(&[REGISTRY])
                .acts(&[Act::Named(Code::ChangesSettings)]),
            // Known guests.
            Spec::new(&["nextest"]).style(CLAP).subs(&[
                Spec::new(&[
                    "run", "r", "list", "archive", "show-config", "replay",
                ]).style(CLAP).options(&[BUILD, options!("
                    --no-pager, --build-jobs N, --cargo-profile N, --cargo-message-format F, --cargo-quiet, --cargo-verbose, -R --rerun R
                    --run-ignored W, --partition P, --platform-filter P, -E --filterset --filter-expr E, --ignore-default-filter
                    --test-threads N, --retries N, --flaky-result R, --fail-fast --ff, --no-fail-fast --nff, --max-fail N, --no-tests A
                    --failure-output W, --success-output W, --status-level L, --final-status-level L, --no-capture --nocapture, --hide-progress-bar
                    --show-progress W, --stress-count N, -P --profile P, --no-output-indent, -T --message-format F, --list-type T, --run-id I
                    --message-format-version V, --no-input-handler, --max-progress-running N, --ignored, --include-ignored, --exact, --skip P
                    --debugger D : runs
                    --tracer T : runs
                    --config-file F : runs
                    --tool-config-file F : runs
                    --archive-file F : makes
                    --binaries-metadata F : reads
                    --cargo-metadata F : reads
                    --workspace-remap D, --target-dir-remap D
                    --extract-to D : makes-below
                ")])
                .judge(builds),
                Spec::new(&["self"]).style(CLAP.and(Style::HARMLESS)).acts(&[Act::Named(Code::Installs)]),
            ]),
            Spec::new(&[
                "audit", "deny", "outdated", "machete", "udeps", "bloat", "expand", "llvm-lines", "geiger",
                "semver-checks", "tarpaulin", "llvm-cov", "miri", "msrv", "modules", "asm", "show-asm",
                "criterion", "mutants", "fuzz", "sort", "spellcheck", "public-api", "about", "license", "cyclonedx",
                "insta", "readme", "sweep", "flamegraph", "watch", "make", "xtask", "leptos", "tauri", "component",
                "ndk", "apk", "zigbuild", "chef", "dist", "release", "smart-release", "workspaces", "generate",
                "edit", "shear",
            ])
                .style(CLAP.and(Style::HARMLESS).and(Style::RISKY))
                .acts(&[Act::Named(Code::RunsCode)])
                .judge(hidden::passed_on),
            Spec::new(&["hack"])
                .style(CLAP.and(Style::HARMLESS).and(Style::RISKY))
                .options(&[HACK])
                .acts(&[Act::Named(Code::RunsCode)])
                .judge(hack),
        ]),
    Spec::new(&["rustc", "clippy-driver"])
        .style(Style::EXACT.and(Style::PASSES))
        .options(&[options!("
            -h, --cfg S, --check-cfg S, -L PATH, -l NAME, --crate-type T, --crate-name N, --edition E, -g, -O, --explain C, --test
            --target T, -A --allow L, -W --warn L, --force-warn L, -D --deny L, -F --forbid L, --cap-lints L, -V --version, -v --verbose
            --error-format F, --json C, --color C, --diagnostic-width N, --remap-path-prefix P, --remap-path-scope S, -Z FLAG
            --extern N
            --emit TYPE, --print INFO
            -o FILE : makes
            --out-dir DIR : makes-below
            --sysroot PATH : runs
            -C --codegen OPT
        ")])
        .acts(TOOLCHAIN)
        .operands(Operands::READ)
        .judge(rustc),
    Spec::new(&["rustdoc"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::PASSES))
        .options(&[options!("
            -o --out-dir --output DIR : makes-below
            --test : runs-code
            --test-runtool PROG : runs
            --test-builder PROG : runs
            --runtool PROG : runs
        ")])
        .acts(TOOLCHAIN)
        .operands(Operands::READ),
    Spec::new(&["rustfmt"])
        .style(Style::EXACT)
        .options(&[options!("
            --check, --emit W, --backup, --edition E, --color C, -q --quiet, -v --verbose, -l --files-with-diff, --config O, -h, -V, --style-edition E
            --print-config O, --file-lines J, --error-on-unformatted, --skip-children, --unstable-features
            --config-path P : reads
        ")])
        .acts(TOOLCHAIN)
        .operands(Operands::EDIT),
    Spec::new(&["rustup"])
        .style(CLAP.and(Style::LEADING).and(Style::GLOBAL))
        .options(&[options!("-v --verbose, -q --quiet, -h --help, -V --version, + TOOLCHAIN")])
        .acts(TOOLCHAIN)
        .subs(&[
            Spec::new(&["show", "check", "which", "doc", "completions", "help", "dump-testament"])
                .style(CLAP)
                .options(&[options!("--toolchain T, -v --verbose, --path, --std, --book, --installed")]),
            Spec::new(&["run"]).style(CLAP.and(Style::LEADING)).options(&[options!("--install : installs")]).judge(rustup_run),
            Spec::new(&["toolchain", "target", "component", "override", "self", "set"])
                .style(CLAP)
                .options(&[options!("--toolchain T, -v, --installed, -q --quiet")])
                .subs(&[
                    Spec::new(&["list"]).style(CLAP).options(&[options!("--toolchain T, -v --verbose, --installed, -q --quiet")]),
                    Spec::new(&[
                        "install", "uninstall", "add", "remove", "link", "set", "unset", "update", "upgrade-data",
                        "profile", "default-host", "auto-self-update", "auto-install",
                    ])
                        .style(CLAP.and(Style::HARMLESS))
                        .acts(&[Act::Named(Code::Installs)]),
                ]),
            Spec::new(&["update", "upgrade", "install", "default", "uninstall", "add", "remove"])
                .style(CLAP.and(Style::HARMLESS))
                .acts(&[Act::Named(Code::Installs)]),
            Spec::new(&["man"]).style(CLAP),
        ]),
    Spec::new(&["cross", "trunk", "wasm-pack", "dx"]).style(Style::HARMLESS.and(Style::RISKY)).acts(&[Act::Named(Code::RunsCode)]),
    Spec::new(&["rust-analyzer"]).style(Style::HARMLESS),
];

/// Behind `--` stand options of the compiler, which can name a linker or a plugin.
fn compiler_flags(view: &mut View<'_>) {
    if view.operand_count() > 0 {
        view.named_by_words(Code::RunsCommand);
    }
}

/// The folder of another project than the one that is stood in, if it is one, and the word that names it.
fn elsewhere(view: &View<'_>) -> Option<(usize, Word)> {
    if let Some((at, manifest)) = view.values("--manifest-path").pop() {
        let folder = manifest.exact_str().map(|file| match file.rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((folder, _)) => folder.to_owned(),
            None => ".".to_owned(),
        });
        return Some((at, folder.map_or(Word::Opaque, |folder| Word::Exact(folder.as_str().into()))));
    }
    view.values("-C").pop().map(|(at, _)| (at, Word::Exact(".".into())))
}

/// The output folder of a project elsewhere.
fn output(view: &View<'_>) -> Option<(usize, Word)> {
    let (at, folder) = elsewhere(view)?;
    let output = folder.exact_str().map(|folder| format!("{}/target", folder.trim_end_matches('/')));
    Some((at, output.map_or(Word::Opaque, |output| Word::Exact(output.as_str().into()))))
}

/// What is built elsewhere is written there.
fn builds(view: &mut View<'_>) {
    if let Some((at, output)) = output(view)
        && !view.has("--target-dir")
    {
        view.writes_below(&output, at);
    }
}

/// Versions are settled elsewhere.
fn locks(view: &mut View<'_>) {
    if let Some((at, folder)) = elsewhere(view) {
        let lock = folder.exact_str().map(|folder| format!("{}/Cargo.lock", folder.trim_end_matches('/')));
        view.writes(&lock.map_or(Word::Opaque, |lock| Word::Exact(lock.as_str().into())), at);
    }
}

/// Sources elsewhere are changed there.
fn changes_sources(view: &mut View<'_>) {
    let changes = view.has("--fix") || matches!(view.path.last(), Some(&("fix" | "fmt"))) && !view.has("--check");
    match elsewhere(view) {
        Some((at, folder)) if changes => view.writes_sources(&folder, at, "rs"),
        Some(_) => builds(view),
        None => {}
    }
}

/// `cargo hack X` is `cargo X`, many times over.
fn hack(view: &mut View<'_>) {
    let Some(command) = view.operand_at(0) else { return };
    let kept = |at: &usize| {
        let written = || view.seen.iter().filter(|seen| seen.at == *at);
        let operand =
            view.out.words.iter().skip(usize::from(view.out.subcommands)).any(|&word| usize::from(word) == *at);
        let own = |name: &str| HACK.does(name).is_some();
        *at != command
            && (operand || view.terminator.is_some_and(|end| *at >= end) || written().any(|seen| !own(&seen.opt.name)))
    };
    let words: Vec<usize> = std::iter::once(command).chain((2..view.inv.argv.len()).filter(kept)).collect();
    let argv = words.iter().filter_map(|&at| view.word(at).cloned());
    let argv = std::iter::once(Word::Exact("cargo".into())).chain(argv).collect();
    let spans = std::iter::once(0).chain(words).map(|at| view.span(at)).collect();
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
}

/// Behind `--` stand words of `rustfmt`, which changes the files it is given, or of the compiler.
fn hands_words_on(view: &mut View<'_>) {
    changes_sources(view);
    if let Some(end) = view.terminator {
        hidden::handed_on(view, end + 1);
    }
}

/// What is run gets the words behind `--`.
fn run(view: &mut View<'_>) {
    builds(view);
    view.hands_on(0);
}

/// It removes what it did not fetch from a folder that is there already, such as `src`.
fn vendor(view: &mut View<'_>) {
    let Some((at, folder)) = view.operand_at(0).and_then(|at| Some((at, view.word(at)?))) else { return };
    let own = folder.exact_str().is_some_and(|folder| matches!(folder.trim_end_matches('/'), "vendor" | "./vendor"));
    if !own && !view.has("--no-delete") {
        view.imply("--replace", None, at);
        view.path_effect(Verb::Delete, folder, at, true, crate::effect::Carry::Plain);
    }
}

fn clean(view: &mut View<'_>) {
    if view.has("--dry-run") {
        return;
    }
    match view.values("--target-dir").pop() {
        Some((at, folder)) => view.path_effect(Verb::Delete, &folder, at, true, crate::effect::Carry::Plain),
        None => {
            let (at, output) = output(view).unwrap_or((0, Word::Exact("target".into())));
            view.path_effect(Verb::Delete, &output, at, true, crate::effect::Carry::Plain);
        }
    }
}

/// `-C linker=prog` starts a program; `--emit x=file` writes one.
fn rustc(view: &mut View<'_>) {
    for (at, value) in view.values("--codegen") {
        let starts = value.exact_str().is_none_or(|v| {
            ["linker", "link-arg", "link-args", "pre-link", "post-link", "llvm-args", "dlltool"]
                .iter()
                .any(|key| v.starts_with(key))
        });
        if starts {
            view.named_by_flag(Code::RunsCommand, "--codegen", at);
        }
    }
    for name in ["--emit", "--print"] {
        for (at, value) in view.values(name) {
            if let Some((_, file)) = value.exact_str().and_then(|v| v.split_once('=')) {
                let file = crate::word::Word::Exact(file.into());
                view.path_effect(Verb::Write, &file, at, false, crate::effect::Carry::Plain);
            }
        }
    }
    let asks = view.has_any(&["--version", "-V", "--help", "-h", "--explain", "--print"]);
    if !asks && !view.has_any(&["-o", "--out-dir"]) && view.operand_count() > 0 {
        let stem = view.operand_str(0).and_then(|file| file.rsplit('/').next()?.strip_suffix(".rs"));
        match stem {
            Some(stem) if !view.has_any(&["--crate-type", "--emit", "--crate-name", "--codegen"]) => {
                view.touches(Verb::Write, stem, false);
            }
            _ => view.touches(Verb::Write, ".", true),
        }
    }
}

fn rustup_run(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(1) {
        view.out.transparent = view.out.effects.is_empty();
        view.starts_words(at);
    }
}
