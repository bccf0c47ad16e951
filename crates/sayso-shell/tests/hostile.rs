//! Any bytes may come: the analysis ends, does not panic, and does not grow out of bounds.

use proptest::prelude::*;
use sayso_shell::{Context, Dialect, MemoryFiles, NoEnvironment, Report, analyze};
use std::path::Path;

fn look(command: &[u8]) -> Report {
    let mut files = MemoryFiles::new();
    files.file("/w/s.sh", b"cat x\n. ./s.sh\n");
    for dialect in [Dialect::Bash, Dialect::Zsh, Dialect::Sh, Dialect::Other] {
        let context = Context {
            cwd: Some(Path::new("/w")),
            home: None,
            workspace: Some(Path::new("/w")),
            env: &NoEnvironment,
            files: &files,
            dialect,
        };
        let analysis = analyze(command, &context);
        for effect in &analysis.effects {
            assert!(effect.run.is_none_or(|run| analysis.run(run).is_some()));
        }
        for run in &analysis.runs {
            assert_eq!(run.argv.len(), run.spans.len());
            assert!(run.words.iter().all(|at| usize::from(*at) < run.argv.len()));
            assert!(run.parent.is_none_or(|parent| analysis.run(parent).is_some()));
        }
        if dialect == Dialect::Other {
            return Report::from(&analysis);
        }
    }
    unreachable!()
}

/// Pieces of shell that mean something side by side.
fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "x",
        "git",
        "$x",
        "\"$@\"",
        "$(",
        ")",
        "`",
        "{",
        "}",
        "{a,b}",
        "((",
        "))",
        "[[",
        "]]",
        " ",
        " ",
        " ",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "&",
        ">",
        "<",
        "<<E\n",
        "\nE\n",
        "'",
        "\"",
        "\\",
        "for i in",
        "do",
        "done",
        "while",
        "if",
        "then",
        "fi",
        "case x in",
        "esac",
        "f()",
        "f",
        "cd ",
        "eval ",
        "local ",
        "export ",
        "x=",
        "x+=",
        "a[1]=",
        "=(",
        "${x:-",
        "${x#",
        "${!x}",
        "${x@P}",
        "*",
        "?",
        "[a]",
        "~",
        "1",
        "-eq",
        "set -- ",
        "trap ",
        "source ",
        "read ",
        "break",
        "return",
        "exit",
        "sudo ",
        "xargs ",
        "env ",
        "bash -c ",
        "find . -exec ",
        "\\;",
        "$((x++))",
        "unset ",
        "shift",
        "IFS=,",
    ];
    proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        look(&bytes);
    }

    #[test]
    fn pieces_of_shell_in_any_order_are_survived(pieces in proptest::collection::vec(piece(), 0..40)) {
        look(pieces.concat().as_bytes());
    }
}

#[test]
fn a_nul_and_too_long_a_text_are_opaque() {
    assert!(look(b"echo a\0b").opaque);
    assert!(look(&b"a;".repeat(40_000)).opaque);
    assert!(look(b"if").opaque);
}

#[test]
fn work_is_bounded_whatever_the_text() {
    let deep = |piece: &str, count: usize, tail: &str| format!("{}{}", piece.repeat(count), tail);
    for text in [
        deep("a;", 30_000, ""),
        deep("a|", 30_000, "a"),
        deep("x=1;", 15_000, "") + &deep("a&&", 500, "a"),
        deep("f(){ f;f; };", 4_000, "f"),
        "f0(){ :; };".to_owned()
            + &(1..60).map(|n| format!("f{n}(){{ f{0};f{0}; }};", n - 1)).collect::<String>()
            + "f59",
        deep("for i in 1 2 3 4 5 6 7 8; do ", 30, "a;") + &"done;".repeat(30),
        deep("while a; do x=$x$x; ", 40, "a;") + &"done;".repeat(40),
        "x=a;".to_owned() + &"x=$x$x$x$x;".repeat(2_000) + "$x",
        deep("{1..200}", 200, ""),
        deep("echo {a,b}", 5_000, ""),
        "eval ".repeat(200) + "a",
        "sudo ".repeat(2_000) + "a",
        "bash -c 'bash s.sh'; ".repeat(1_000),
        "cd a;".repeat(5_000),
        "echo > f; ./f;".repeat(2_000),
        "ln -s a b; cat b/x;".repeat(2_000),
        "x='".to_owned() + &"a".repeat(60_000) + "'; echo ${x//a/b} ${x%%a*}",
    ] {
        look(text.as_bytes());
    }
}

/// Work is charged for long texts in larger amounts than one step: at whatever step the limit is passed, it is said.
#[test]
fn what_is_left_out_behind_the_limit_is_said() {
    let body = ":;".repeat(8_185);
    for more in [22, 24, 26, 28, 30] {
        let text = format!("{}touch /w/out", " ".repeat(1_600));
        let command = format!("f() {{ {body} }}; f; f; f; f; f; f; {} eval '{text}'", ":;".repeat(more));
        let report = look(command.as_bytes());
        assert!(report.opaque || report.writes.iter().any(|path| path.as_deref() == Some("/w/out")), "{more}");
    }
}

#[test]
fn values_that_name_each_other_in_arithmetic_are_followed_only_so_far() {
    let chain: String = (0..200).map(|at| format!("a{at}='a{}+a{}+a{}=1'; ", at + 1, at + 2, at + 3)).collect();
    for command in [
        "n=$RANDOM; y=\"y$n\"; ((y))",
        "n=$(wc -l < f); y=\"y+=$n\"; ((y)); echo $((y + 1))",
        "a=b b=a; ((a))",
        "a='a=a+1'; ((a)); $a",
        "[ -f x ] && a='b=1' || a='a=2'; b=a; ((a + b))",
        "declare -i a b; a=b; b=a; a='b=a'; b='a=b'; ((a=b))",
        "RANDOM='SECONDS=1'; SECONDS='RANDOM=1'; ((RANDOM = SECONDS))",
        "y=(y y+1 'y=2' x); x='y=x'; ((y[x]))",
        &format!("{chain}((a0)); $a7"),
    ] {
        look(command.as_bytes());
    }
}
