//! Variables beyond the well-known ones: what names a file to write, what runs code, and what nobody knows.

use super::path::is_stream;
use super::{Code, Description, Invocation, index, path_target};
use crate::effect::{Carry, Effect, NamedBy, Target, Verb};
use crate::word::{Origin, Word};
use crate::{Doubt, effect::Span};

/// Their value is a file that the program writes.
const FILES: &[&str] = &[
    "COVERAGE_FILE",
    "DEPENDENCIES_OUTPUT",
    "LCOV_OUTPUT",
    "LESSHISTFILE",
    "LLVM_PROFILE_FILE",
    "MYSQL_HISTFILE",
    "NODE_REPL_HISTORY",
    "PSQL_HISTORY",
    "PYTHON_HISTORY",
    "REDISCLI_HISTFILE",
    "SSLKEYLOGFILE",
    "SUNPRO_DEPENDENCIES",
    "TAPE",
    "TF_LOG_PATH",
];

/// Their value is a folder below which it writes.
const FOLDERS: &[&str] =
    &["GCOV_PREFIX", "GOCOVERDIR", "NODE_COMPILE_CACHE", "NODE_V8_COVERAGE", "PYTHONPYCACHEPREFIX"];

/// They make some program run other code, or read options that do.
const RUN_CODE: &[&str] = &[
    "AWKLIBPATH",
    "AWKPATH",
    "BAT_CACHE_PATH",
    "BAT_CONFIG_DIR",
    "BAT_CONFIG_PATH",
    "BAT_OPTS",
    "CARGO",
    "CARGO_ENCODED_RUSTDOCFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CCACHE_COMPILER",
    "CCACHE_CONFIGPATH",
    "CCACHE_PREFIX",
    "CCACHE_PREFIX_CPP",
    "CCC_OVERRIDE_OPTIONS",
    "CMAKE",
    "COMPOSE_FILE",
    "DELTA_PAGER",
    "ELIXIR_ERL_OPTIONS",
    "ESBUILD_BINARY_PATH",
    "GOAUTH",
    "GOCACHEPROG",
    "GOVCS",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "HOST_AR",
    "HOST_CC",
    "HOST_CFLAGS",
    "HOST_CXX",
    "JAVACMD",
    "M2_HOME",
    "MANPATH",
    "MANROFFOPT",
    "MANROFFSEQ",
    "MAVEN_CONFIG",
    "MAVEN_HOME",
    "RUBYGEMS_GEMDEPS",
    "RUSTFMT",
    "SASS_BINARY_PATH",
    "SKIM_DEFAULT_COMMAND",
    "SPEC_OPTS",
    "TARGET_AR",
    "TARGET_CC",
    "TARGET_CFLAGS",
    "TARGET_CXX",
    "TOX_OVERRIDE",
    "TS_NODE_COMPILER",
    "TS_NODE_PROJECT",
    "UNZIP",
    "UNZIPOPT",
    "ZIPINFO",
    "ZIPINFOOPT",
    "ZIPOPT",
];

/// Beginnings of names that do so: flags for the Erlang machine, a compiler for one target.
const RUN_CODE_BEGINS: &[&str] =
    &["AR_", "CC_", "CFLAGS_", "CXXFLAGS_", "CXX_", "ERL_", "GROFF_", "JUST_", "LUA_INIT_"];

/// Whether some program writes where this variable says.
#[must_use]
pub fn names_output(name: &str) -> bool {
    FILES.contains(&name) || FOLDERS.contains(&name)
}

pub(super) fn runs_code(name: &str) -> bool {
    RUN_CODE.contains(&name)
        || RUN_CODE_BEGINS.iter().any(|begin| name.starts_with(begin))
        // npm takes its settings in any case.
        || name.get(..11).is_some_and(|begin| begin.eq_ignore_ascii_case("npm_config_"))
}

/// A registry or a proxy that a variable names is connected to.
pub(super) fn connects(inv: &Invocation<'_>, value: &Word, description: &mut Description) {
    for target in value.exact_str().map_or_else(Vec::new, super::address::addresses) {
        description.effects.push(Effect {
            verb: Verb::Connect,
            target: Target::Host(target),
            span: inv.spans.first().copied().unwrap_or_default(),
            run: Some(inv.run),
            carry: Carry::Plain,
            certain: true,
        });
    }
}

/// The files that a variable tells the program to write.
pub(super) fn written(inv: &Invocation<'_>, name: &str, value: &Word, out: &mut Description) {
    let below = FOLDERS.contains(&name);
    let words: Vec<Word> = match value.exact() {
        // `DEPENDENCIES_OUTPUT="file target"`: whichever of them is the file.
        Some(bytes) => {
            let parts = bytes.split(u8::is_ascii_whitespace);
            let named = parts.filter(|part| !part.is_empty() && *part != b"-" && !is_stream(part));
            named.map(|part| Word::Exact(part.into())).collect()
        }
        None => vec![value.clone()],
    };
    for word in words {
        out.effects.push(Effect {
            verb: Verb::Write,
            target: Target::Path(path_target(&word, inv.cwd, below)),
            span: span(inv),
            run: Some(inv.run),
            carry: Carry::Named { code: Code::WritesFile.as_str(), by: NamedBy::Env(name.to_owned()) },
            certain: true,
        });
    }
}

/// Variables that nobody fears, whatever they hold.
fn is_ordinary(name: &str) -> bool {
    const EXACT: &[&str] = &[
        "ARGS",
        "CI",
        "COLORTERM",
        "COLUMNS",
        "DATABASE_URL",
        "DEBUG",
        "DISPLAY",
        "HOSTNAME",
        "LANG",
        "LANGUAGE",
        "LINES",
        "LOGNAME",
        "LS_COLORS",
        "MSG",
        "NODE_ENV",
        "OLDPWD",
        "PWD",
        "RUST_LOG",
        "TEMP",
        "TERM",
        "TMP",
        "TMPDIR",
        "TZ",
        "TZDIR",
        "USER",
    ];
    const BEGINS: &[&str] = &["LC_", "PG", "AWS_", "CLICOLOR", "GIT_", "GREP_COLOR"];
    EXACT.contains(&name)
        || BEGINS.iter().any(|begin| name.starts_with(begin))
        || ["_LOG", "_LOG_LEVEL", "_COLORS", "_COLOR", "_URL", "_TOKEN", "_KEY"].iter().any(|end| name.ends_with(end))
}

/// Programs that run a project's own code, for which any variable may be meant, and those that only start others.
fn runs_project(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "ant",
        "bash",
        "bazel",
        "bun",
        "bundle",
        "cargo",
        "cmake",
        "composer",
        "ctest",
        "dash",
        "deno",
        "docker",
        "dotnet",
        "env",
        "export",
        "fish",
        "flutter",
        "go",
        "gradle",
        "gradlew",
        "java",
        "jest",
        "julia",
        "just",
        "ksh",
        "lein",
        "make",
        "gmake",
        "meson",
        "mix",
        "mocha",
        "mvn",
        "mvnw",
        "ninja",
        "node",
        "npm",
        "npx",
        "nox",
        "perl",
        "php",
        "pip",
        "playwright",
        "pnpm",
        "poetry",
        "pytest",
        "rake",
        "rspec",
        "ruby",
        "rustc",
        "sbt",
        "sh",
        "stack",
        "cabal",
        "swift",
        "task",
        "terraform",
        "tox",
        "ts-node",
        "tsx",
        "turbo",
        "uv",
        "uvx",
        "vite",
        "vitest",
        "yarn",
        "zig",
        "zsh",
    ];
    NAMES.contains(&name) || name.starts_with("python")
}

/// Whether a value may name a program, options or a file that can be chosen by whoever wrote the command.
fn is_telling(value: &Word, inv: &Invocation<'_>) -> bool {
    let Some(text) = value.exact() else {
        return !matches!(value, Word::Dynamic(shape) if shape.origin == Origin::Number);
    };
    let signs = text.iter().any(|b| b";|&$`<>!\n".contains(b));
    let url = text.windows(3).any(|three| three == b"://");
    // `-3` is a number.
    let options = matches!(text, [b'-', next, ..] if !next.is_ascii_digit());
    let system = [&b"/usr/"[..], b"/etc/", b"/opt/", b"/bin/", b"/lib/", b"/dev/"];
    let path = text.contains(&b'/') && !system.iter().any(|folder| text.starts_with(folder));
    let exists = || {
        let found = inv.cwd.map(|cwd| inv.files.kind(&super::join(Some(cwd), text)));
        found.is_some_and(|kind| !matches!(kind, crate::files::Kind::Missing | crate::files::Kind::Unknown))
    };
    !text.is_empty() && !url && (signs || options || path || text.len() < 256 && exists())
}

/// A variable that nobody knows, before a program that runs no code of the project: why is it set?
pub(super) fn is_strange(inv: &Invocation<'_>, name: &str, value: &Word, description: &Description) -> bool {
    !description.transparent
        && description.starts.is_empty()
        && !is_ordinary(name)
        && !runs_project(inv.name)
        && index::find(inv.name).is_some()
        && is_telling(value, inv)
}

/// Whether a recipe that uses the variable would run its value: make expands `$(shell ..)` in it, and puts it into the
/// text of a command as `just` and `task` do.
pub(super) fn is_recipe(inv: &Invocation<'_>, value: &Word) -> bool {
    pastes_variables(inv.name) && value.exact().is_some_and(holds_command)
}

/// Whether the program puts variables of its environment into the text of commands.
pub(crate) fn pastes_variables(program: &str) -> bool {
    matches!(program, "make" | "gmake" | "just" | "task")
}

/// Whether text is a command of its own where it is put between the words of another. A lone `&` is part of an address.
pub(crate) fn holds_command(text: &[u8]) -> bool {
    let spaced = text.iter().any(u8::is_ascii_whitespace);
    text.iter().any(|b| b"$`;|<>\n".contains(b) || *b == b'&' && spaced)
}

/// Something about a variable needs a yes of its own.
pub(super) fn needs_yes(inv: &Invocation<'_>, name: &str, text: String, out: &mut Description) {
    let span = span(inv);
    out.effects.push(Effect {
        verb: Verb::Run,
        target: Target::Option(inv.run),
        span,
        run: Some(inv.run),
        carry: Carry::Named { code: Code::Environment.as_str(), by: NamedBy::Env(name.to_owned()) },
        certain: true,
    });
    out.doubts.push(Doubt { code: Code::Environment.as_str(), text, span });
}

fn span(inv: &Invocation<'_>) -> Span {
    inv.spans.first().copied().unwrap_or_default()
}
