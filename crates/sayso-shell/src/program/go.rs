//! Go.

use super::{Act, Code, Operands, Role, Spec, View, hidden};
use crate::effect::{NamedBy, Verb};
use crate::option::{Style, Table, options};
use crate::word::Word;

const GO: Style = Style::WORDS.and(Style::LEADING);

const BUILD: &Table = options!("
    -a, -n, -p N, -race, -msan, -asan, -cover, -covermode M, -coverpkg P, -v, -work, -x, -asmflags F, -buildmode M, -buildvcs [V], -compiler C
    -gccgoflags F, -gcflags F, -installsuffix S, -json, -linkshared, -mod M, -modcacherw, -pgo F, -tags T, -trimpath, -h, -help
    -modfile FILE : makes
    -overlay FILE : reads
    -pkgdir DIR : makes-below
    -C DIR : cd
    -o FILE : makes
    -ldflags FLAGS
    -toolexec CMD : runs
    -exec CMD : runs
");

const TEST: &Table = options!("
    -args, -c, -i, -bench RE, -benchmem, -benchtime T, -count N, -cpu L, -failfast, -fullpath, -fuzz RE, -fuzztime T, -fuzzminimizetime T, -list RE
    -parallel N, -run RE, -short, -shuffle S, -skip RE, -timeout T, -vet L
    -coverprofile FILE : makes
    -cpuprofile FILE : makes
    -memprofile FILE : makes
    -blockprofile FILE : makes
    -mutexprofile FILE : makes
    -trace FILE : makes
    -outputdir DIR : makes-below
    -memprofilerate N, -blockprofilerate N, -mutexprofilefraction N, -artifacts
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["go"]).style(GO).options(&[options!("-C DIR : cd", "-h, -help")]).always(modules).subs(&[
        Spec::new(&["version", "help", "bug"]).style(GO).options(&[options!("-m, -v, -json")]),
        Spec::new(&["env"])
            .style(GO)
            .options(&[options!("-json, -changed", "-w : changes-settings", "-u : changes-settings")]),
        Spec::new(&["list"]).style(GO).options(&[BUILD, options!("
            -f F, -m, -u, -deps, -test, -e, -find, -export, -compiled, -retracted, -reuse F, -versions
        ")]),
        Spec::new(&["build", "install"]).style(GO).options(&[BUILD]).acts(&[Act::Builds]).judge(go_install),
        Spec::new(&["vet"])
            .style(Style::WORDS.and(Style::LEADING))
            .options(&[BUILD, options!("-vettool PROG : runs", "-c N, -fix, -diff")])
            .acts(&[Act::Builds]),
        Spec::new(&["fix"]).style(GO).options(&[BUILD, options!("-fix F, -diff")]),
        Spec::new(&["test"]).style(Style::WORDS).options(&[TEST, BUILD]).acts(&[Act::Builds]).judge(linker_flags),
        Spec::new(&["run"]).style(GO).options(&[BUILD]).acts(&[Act::Builds]).judge(go_run),
        Spec::new(&["fmt"]).style(GO).options(&[options!("-n, -x, -mod M")]).judge(go_fmt),
        Spec::new(&["doc"]).style(GO).options(&[options!("-all, -c, -cmd, -short, -src, -u, -ex", "-http : serves", "-C DIR : cd")]),
        Spec::new(&["clean"])
            .style(GO)
            .options(&[BUILD, options!("-i, -r, -cache, -testcache, -fuzzcache", "-modcache : changes-system")]),
        Spec::new(&["generate"])
            .style(GO)
            .options(&[BUILD, options!("-run RE, -skip RE")])
            .acts(&[Act::Code("go")]),
        Spec::new(&["get"])
            .style(GO)
            .options(&[BUILD, options!("-t, -u, -d, -tool, -insecure")])
            .acts(&[Act::Named(Code::Installs), Act::Connects("module proxy"), Act::Writes("go.mod")]),
        Spec::new(&["mod"]).style(GO).subs(&[
            Spec::new(&["graph", "why", "verify"]).style(GO).options(&[options!("-m, -vendor, -go V, -x")]),
            Spec::new(&["download"])
                .style(GO)
                .options(&[options!("-json, -x, -reuse F")])
                .acts(&[Act::Connects("module proxy")]),
            Spec::new(&["tidy", "vendor"])
                .style(GO)
                .options(&[options!("-e, -v, -x, -diff, -go V, -compat V", "-o DIR : makes-below")])
                .acts(&[Act::Connects("module proxy"), Act::Writes("go.mod"), Act::Writes("go.sum")]),
            Spec::new(&["init"]).style(GO).acts(&[Act::Writes("go.mod")]),
            Spec::new(&["edit"])
                .style(GO)
                .options(&[options!("
                    -fmt, -json, -print, -module M, -go V, -toolchain T, -require P, -droprequire P, -exclude P, -dropexclude P
                    -replace P, -dropreplace P, -retract V, -dropretract V, -godebug K, -dropgodebug K, -tool P, -droptool P, -ignore P, -dropignore P
                ")])
                .acts(&[Act::Writes("go.mod")]),
        ]),
        Spec::new(&["work"]).style(GO).subs(&[
            Spec::new(&["init", "use", "edit", "sync", "vendor"])
                .style(GO.and(Style::HARMLESS))
                .acts(&[Act::Writes("go.work")]),
        ]),
        Spec::new(&["tool"]).style(GO).options(&[options!("-n, -modfile F")]).judge(go_tool),
        Spec::new(&["telemetry"]).style(GO).judge(go_telemetry),
    ]),
    Spec::new(&["gofmt", "goimports", "gofumpt"])
        .style(Style::WORDS)
        .options(&[options!("
            -d, -e, -l, -s, -r RULE, -v, -local P, -format-only, -srcdir D, -extra, -lang V
            -cpuprofile FILE : writes
            -w : changes-files
        ")])
        .operands(Operands::all(Role::Read))
        .judge(gofmt),
    Spec::new(&[
        "golint", "gosec", "govulncheck", "errcheck", "ineffassign", "misspell",
    ])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("--fix : changes-files", "-w : changes-files", "-out --out FILE : writes")])
        .judge(golangci),
    Spec::new(&["gopls", "dlv", "ko", "goreleaser", "air", "mage", "buf", "wire", "mockgen", "stringer", "sqlc"])
        .style(Style::HARMLESS.and(Style::RISKY))
        .acts(&[Act::Named(Code::RunsCode)]),
];

/// `go install x@v` fetches what no module file declares.
fn go_install(view: &mut View<'_>) {
    linker_flags(view);
    if view.path.last() == Some(&"install") {
        view.named_by_words(Code::Installs);
    }
}

/// Behind the package or files are words for what is run.
fn go_run(view: &mut View<'_>) {
    linker_flags(view);
    // A version says that it is fetched, whatever the project's module file holds.
    if let Some((at, package)) = view.operand_at(0).zip(view.operand_str(0))
        && package.contains('@')
    {
        view.named(Code::Installs, NamedBy::Words(vec!["run".to_owned(), package.to_owned()]), at);
    }
    view.hands_on(0);
}

/// Flags of the linker that name another one.
fn linker_flags(view: &mut View<'_>) {
    for (at, flags) in view.values("-ldflags") {
        if flags.exact_str().is_none_or(|f| f.contains("ext") || f.contains("-I") || f.contains("plugin")) {
            view.named_by_flag(Code::RunsCommand, "-ldflags", at);
        }
    }
}

/// `path@version` is fetched: from the proxy that go is set up for, or from the host that begins the path. So is what
/// `list -m` looks up.
fn modules(view: &mut View<'_>) {
    if view.path.first() == Some(&"list") && view.has_any(&["-export", "-compiled", "-test"]) {
        // Compiled packages are built first, with the flags that their sources state.
        view.imply("--runs-project", None, 0);
    }
    let looks_up = view.has_any(&["-versions", "-u", "-retracted"]);
    if view.path.first() == Some(&"list") && (looks_up || view.has("-m")) {
        // What is known of a module is fetched where it is not at hand.
        view.connects_configured("module proxy", 0);
    }
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        let Some(text) = word.exact_str() else { continue };
        let first = text.split(['/', '@']).next().unwrap_or_default();
        if (looks_up || text.contains('@')) && first.contains('.') && !first.starts_with('.') && !text.contains("://") {
            view.connects(&Word::Exact(first.into()), at);
        }
    }
}

fn go_tool(view: &mut View<'_>) {
    let tame = matches!(
        view.operand_str(0),
        None | Some(
            "cover"
                | "nm"
                | "objdump"
                | "addr2line"
                | "buildid"
                | "covdata"
                | "test2json"
                | "pprof"
                | "trace"
                | "vet"
                | "dist"
        )
    );
    if !tame {
        let by =
            view.operand_str(0).map_or(NamedBy::Nothing, |t| NamedBy::Words(vec!["tool".to_owned(), t.to_owned()]));
        view.named(Code::RunsCommand, by, 0);
    }
    view.hands_on(1);
    if let Some(at) = view.operand_at(0) {
        hidden::handed_on(view, at + 1);
    }
    // `pprof` and `trace` open a page of their own.
    let serves = |at: &usize| {
        let word = view.word(*at).and_then(Word::exact).unwrap_or_default();
        word.strip_prefix(b"-").is_some_and(|word| word.strip_prefix(b"-").unwrap_or(word).starts_with(b"http"))
    };
    if let Some(at) = view.operands().into_iter().skip(1).find(serves) {
        view.imply("-http", Some(Code::Serves), at);
    }
}

fn go_telemetry(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.imply("--set", Some(Code::ChangesSettings), at);
    }
}

/// Packages by their folders; by another name it is one of the module's.
fn go_fmt(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        let folder = word.exact_str().map(|name| name.strip_suffix("...").unwrap_or(name));
        if folder.is_none_or(|name| name.starts_with(['/', '.', '~'])) && !view.has("-n") {
            let folder = folder.map_or(Word::Opaque, |name| Word::Exact(name.into()));
            view.writes_sources(&folder, at, "go");
        }
    }
}

/// It rewrites what it is told to look at.
fn golangci(view: &mut View<'_>) {
    if view.has_any(&["--fix", "-w"]) {
        view.operands().into_iter().skip(1).for_each(|at| {
            if let Some(word) = view.word(at) {
                view.writes_sources(word, at, "go");
            }
        });
    }
}

fn gofmt(view: &mut View<'_>) {
    if view.has("-w") {
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.path_effect(Verb::Write, word, at, true, crate::effect::Carry::Plain);
            }
        }
    }
}
