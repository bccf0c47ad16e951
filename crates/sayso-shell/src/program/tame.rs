//! Values that make a variable harmless whatever it could do otherwise: `GIT_PAGER=cat`, `RUSTFLAGS=-Dwarnings`.
//!
//! A variable that holds options of a program is harmless where the program's own table knows each of them and says that
//! they do nothing that a policy speaks of. So a table is the one place that knows what an option does.

use super::{BUILT_IN, Description, Facets, Invocation, Prints, describe, facets};
use crate::effect::{RunId, Span};
use crate::word::{Text, Word};
use crate::{NoFiles, Stdin};

/// Variables that hold options, and the command that takes them as if they were typed there.
const OPTIONS_OF: &[(&str, &[&str])] = &[
    ("NODE_OPTIONS", &["node"]),
    ("GOFLAGS", &["go", "test"]),
    ("MAKEFLAGS", &["make"]),
    ("PYTEST_ADDOPTS", &["pytest"]),
    ("CFLAGS", &["cc", "-c", "x.c"]),
    ("CXXFLAGS", &["c++", "-c", "x.cc"]),
    ("CPPFLAGS", &["cc", "-c", "x.c"]),
];

/// Whether this value makes the variable harmless.
pub(super) fn is_tame(name: &str, value: &Word) -> bool {
    let Some(text) = value.exact_str() else { return false };
    match name {
        "PAGER" | "GIT_PAGER" | "MANPAGER" | "SYSTEMD_PAGER" | "GH_PAGER" | "BAT_PAGER" => {
            matches!(text, "" | "cat" | "/bin/cat" | "/usr/bin/cat")
        }
        // The text that is to be edited stays as it is.
        "EDITOR" | "VISUAL" | "GIT_EDITOR" | "GIT_SEQUENCE_EDITOR" => {
            matches!(text, ":" | "true" | "/bin/true" | "/usr/bin/true" | "cat" | "/bin/cat" | "/usr/bin/cat")
        }
        "RUSTFLAGS" | "RUSTDOCFLAGS" => only_tunes_rustc(text),
        "RUSTUP_TOOLCHAIN" => is_plain(text, b"-._") && !text.is_empty(),
        "PGHOST" => text == "localhost" || text.starts_with('/'),
        "CARGO_TARGET_DIR" => is_output_folder(text),
        "LESS" => !text.contains(['+', '!', 'k', 'o', 'O']),
        "CC" | "CXX" | "HOSTCC" => is_plain(text, b"+-.") && facets(text).has(Facets::COMPILES),
        "JAVA_TOOL_OPTIONS" | "JDK_JAVA_OPTIONS" | "_JAVA_OPTIONS" | "JAVA_OPTS" | "MAVEN_OPTS" | "GRADLE_OPTS"
        | "SBT_OPTS" => text.split_ascii_whitespace().all(only_sizes_java),
        name => {
            let tunes = OPTIONS_OF.iter().any(|(of, command)| *of == name && only_tunes(command, text));
            tunes && !leads_away(text) && (!name.ends_with("FLAGS") || only_tunes_tools(text))
        }
    }
}

/// Letters and digits, and these.
fn is_plain(text: &str, others: &[u8]) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
}

/// Whether a command does with these options what it does without them, and knows each.
fn only_tunes(command: &[&str], options: &str) -> bool {
    // Nothing in which a shell or a recipe would see more than words.
    if !is_plain(options, b" -_=+.,:/") || options.split_ascii_whitespace().any(|word| matches!(word, "-" | "--")) {
        return false;
    }
    let plain = described(command.iter().copied());
    let (first, rest) = command.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
    let leading = rest.iter().take_while(|word| !word.starts_with('-')).count().min(usize::from(plain.subcommands));
    let (subcommands, rest) = rest.split_at(leading);
    let words = std::iter::once(first).chain(subcommands.iter().copied());
    let with = described(words.chain(options.split_ascii_whitespace()).chain(rest.iter().copied()));
    // Whatever the environment says then goes before the Makefile.
    let believes = |name: &str| matches!(name, "-e" | "--environment-overrides");
    let known = with.options.iter().all(|option| option.known && !(first == "make" && believes(&option.name)));
    known
        && !with.open_options
        && with.words.len() == plain.words.len()
        && with.effects == plain.effects
        && with.doubts == plain.doubts
        && with.starts == plain.starts
        && with.guesses == plain.guesses
}

/// Whether options name places outside the project, which may hold anything: `-I/tmp/x`, `--sysroot=..`.
fn leads_away(options: &str) -> bool {
    options.split_ascii_whitespace().flat_map(|word| word.split(['=', ',', ':'])).any(|part| {
        let inside = match part.strip_prefix("-I") {
            Some(folder) => !folder.starts_with('/'),
            None => !part.starts_with(['/', '-']),
        };
        part.contains("..") || part.contains('/') && !inside
    })
}

/// Of flags of compilers and make: none that choose what else is linked, loaded or believed, whatever a table says.
fn only_tunes_tools(flags: &str) -> bool {
    const LINKS: &[&str] = &["-Wl,--as-needed", "-Wl,--gc-sections", "-Wl,-O1", "-Wl,-z,relro", "-Wl,-z,now"];
    flags.split_ascii_whitespace().all(|word| {
        let handed_on = ["-Wl,", "-Wa,", "-Wp,"].iter().any(|begin| word.starts_with(begin));
        !["sysroot", "rpath"].iter().any(|name| word.contains(name)) && (!handed_on || LINKS.contains(&word))
    })
}

/// What a command does, wherever it stands in a line.
fn described<'a>(words: impl Iterator<Item = &'a str>) -> Description {
    let argv: Vec<Word> = words.map(|word| Word::Exact(Text::from(word))).collect();
    let spans = vec![Span::default(); argv.len()];
    describe::describe(&Invocation {
        run: RunId(0),
        name: argv.first().and_then(Word::exact_str).unwrap_or_default(),
        argv: &argv,
        spans: &spans,
        env: &[],
        cwd: None,
        home: None,
        workspace: None,
        stdin: Stdin::Inherited,
        stdin_text: None,
        stdin_file: None,
        stdin_prints: Prints::default(),
        files: &NoFiles,
        programs: &BUILT_IN,
    })
}

/// Sizes of memory, collectors, and properties that no code reads as a name of code.
fn only_sizes_java(option: &str) -> bool {
    let size = |text: &str| {
        let digits = text.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', '%']);
        !digits.is_empty() && text.len() <= digits.len() + 1 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let sized = ["-Xmx", "-Xms", "-Xss", "-Xmn", "-XX:MaxMetaspaceSize=", "-XX:MetaspaceSize=", "-XX:MaxPermSize="];
    let counted =
        ["-XX:ParallelGCThreads=", "-XX:ActiveProcessorCount=", "-XX:MaxRAMPercentage=", "-XX:TieredStopAtLevel="];
    let property = ["-Dfile.encoding=", "-Duser.language=", "-Duser.timezone=", "-Djava.awt.headless="];
    sized.iter().chain(&counted).any(|begin| option.strip_prefix(begin).is_some_and(size))
        || property.iter().any(|begin| option.strip_prefix(begin).is_some_and(|value| is_plain(value, b"-_/")))
        || option.strip_prefix("-XX:+Use").is_some_and(|name| name.ends_with("GC") && is_plain(name, b""))
}

/// Whether flags of rustc set lints and how code is made, and name no program, library or file.
fn only_tunes_rustc(flags: &str) -> bool {
    const TUNES: &[&str] = &[
        "codegen-units",
        "debug-assertions",
        "debuginfo",
        "embed-bitcode",
        "force-frame-pointers",
        "instrument-coverage",
        "link-dead-code",
        "lto",
        "opt-level",
        "overflow-checks",
        "panic",
        "strip",
        "symbol-mangling-version",
        "target-cpu",
        "target-feature",
    ];
    let codegen = |option: &str| TUNES.contains(&option.split('=').next().unwrap_or(option));
    let mut words = flags.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let known = match word {
            "-D" | "-W" | "-A" | "-F" | "--cfg" | "--check-cfg" | "--cap-lints" => {
                words.next().is_some_and(|value| !value.starts_with(['-', '@']))
            }
            "-C" => words.next().is_some_and(codegen),
            "-g" | "-O" => true,
            word => {
                let lint = |letter: &str| word.strip_prefix(letter).is_some_and(|name| !name.contains(['/', '@']));
                ["-D", "-W", "-A", "-F", "--cap-lints=", "--cfg="].into_iter().any(lint)
                    || word.strip_prefix("-C").is_some_and(codegen)
            }
        };
        if !known {
            return false;
        }
    }
    true
}

/// Whether a folder is one that cargo may fill and empty: `target` or its like in the project, or a temporary one.
/// `cargo clean` removes all of it.
fn is_output_folder(path: &str) -> bool {
    let mut parts = path.strip_prefix("./").unwrap_or(path).split('/');
    let scratch =
        ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|folder| path.len() > folder.len() && path.starts_with(folder));
    let target = parts.next().is_some_and(|first| {
        first.strip_prefix("target").is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', '.']))
    });
    (scratch || target) && !path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tame(assignment: &str) -> bool {
        let (name, value) = assignment.split_once('=').unwrap();
        is_tame(name, &Word::Exact(Text::from(value)))
    }

    #[test]
    fn options_are_what_the_table_of_their_program_says() {
        for line in [
            "NODE_OPTIONS=--max-old-space-size=4096",
            "NODE_OPTIONS=--experimental-vm-modules --no-warnings",
            "GOFLAGS=-mod=mod",
            "GOFLAGS=-count=1 -race",
            "GOFLAGS=-buildvcs=false -tags=x,y",
            "MAKEFLAGS=-j4",
            "PYTEST_ADDOPTS=-x --tb=short",
            "CFLAGS=-O2 -g -Wall",
            "CFLAGS=-Iinclude/x -DX=1",
            "CFLAGS=-fuse-ld=lld",
            "CXXFLAGS=-std=c++20",
            "NODE_OPTIONS=--test-reporter=spec",
            "CC=clang",
            "CXX=g++",
            "GIT_EDITOR=true",
            "GIT_SEQUENCE_EDITOR=:",
            "MAVEN_OPTS=-Xmx2g -XX:+UseG1GC",
            "RUSTUP_TOOLCHAIN=nightly-2026-01-01",
        ] {
            assert!(tame(line), "{line}");
        }
    }

    #[test]
    fn what_runs_writes_or_is_not_known_is_not_harmless() {
        for line in [
            "NODE_OPTIONS=--require ./x.js",
            "NODE_OPTIONS=-r ./x.js",
            "NODE_OPTIONS=--inspect",
            "NODE_OPTIONS=--nobody-knows",
            "NODE_OPTIONS=x.js",
            "NODE_OPTIONS=--max-old-space-size=1 --import=x",
            "NODE_OPTIONS=--report-filename=x",
            "NODE_OPTIONS=--env-file=.env",
            "GOFLAGS=-toolexec=evil",
            "GOFLAGS=-toolexec evil",
            "GOFLAGS=-o=x",
            "GOFLAGS=-overlay=x.json",
            "GOFLAGS=-modfile=/tmp/x",
            "MAKEFLAGS=-f evil",
            "MAKEFLAGS=--eval=x",
            "MAKEFLAGS=X=1",
            "MAKEFLAGS=j4",
            "MAKEFLAGS=-- CC=evil",
            "PYTEST_ADDOPTS=-p evil",
            "PYTEST_ADDOPTS=-c evil.ini",
            "NODE_OPTIONS=--test-reporter=x.js",
            "NODE_OPTIONS=--test-reporter ./x.js",
            "NODE_OPTIONS=--icu-data-dir=/tmp/x",
            "MAKEFLAGS=-e",
            "MAKEFLAGS=-ke",
            "MAKEFLAGS=--environment-overrides",
            "MAKEFLAGS=-I/tmp/x",
            "CFLAGS=-fmodule-mapper=h:1",
            "CFLAGS=-fmodule-mapper=x",
            "CFLAGS=-fuse-ld=/tmp/ld",
            "CFLAGS=-fuse-ld=sub/ld",
            "CFLAGS=-serialize-diagnostics x",
            "CFLAGS=--serialize-diagnostics x",
            "CFLAGS=-Wl,-T,/tmp/x",
            "CFLAGS=-Wl,-T,x",
            "CFLAGS=-Wl,-rpath,x",
            "CFLAGS=-rpath x",
            "CFLAGS=-L/tmp",
            "CFLAGS=-L../x",
            "CFLAGS=-I/tmp/x",
            "CFLAGS=-I ../x",
            "CFLAGS=-I /x",
            "CFLAGS=-isystem/x",
            "CFLAGS=--sysroot=/x",
            "CFLAGS=--sysroot x",
            "CFLAGS=-fplugin=x.so",
            "CFLAGS=-B/tmp",
            "CFLAGS=-wrapper evil",
            "CFLAGS=-O2;evil",
            "CFLAGS=$(evil)",
            "CFLAGS=@args",
            "CC=./evil",
            "CC=evil",
            "CC=gcc -wrapper evil",
            "EDITOR=vim",
            "GIT_EDITOR=true; evil",
            "MAVEN_OPTS=-javaagent:x.jar",
            "MAVEN_OPTS=-XX:OnOutOfMemoryError=evil",
            "MAVEN_OPTS=-Xmx",
            "JAVA_TOOL_OPTIONS=@x",
            "RUSTUP_TOOLCHAIN=/tmp/evil",
            "RUSTUP_TOOLCHAIN=",
        ] {
            assert!(!tame(line), "{line}");
        }
    }
}
