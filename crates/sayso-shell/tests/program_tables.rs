//! What holds for every table: patterns and commands meet in canonical names, hostile words do not break anything, and
//! the tables know the options that the programs installed here name themselves.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]

use proptest::prelude::*;
use sayso_shell::option::Does;
use sayso_shell::program::{
    Description, Invocation, Prints, Spec, all, canonical_flag, canonical_words, describe, spec, subcommand_depth,
};
use sayso_shell::{Carry, NoFiles, Origin, Part, RunId, Shape, Single, Span, Stdin, Text, Word};
use std::path::Path;
use std::process::Command;

fn described(name: &str, argv: &[Word]) -> Description {
    let spans = vec![Span::default(); argv.len()];
    describe(&Invocation {
        run: RunId(0),
        name,
        argv,
        spans: &spans,
        env: &[],
        cwd: Some(Path::new("/w")),
        home: None,
        workspace: Some(Path::new("/w")),
        stdin: Stdin::Inherited,
        stdin_text: None,
        stdin_file: None,
        stdin_prints: Prints::Unknown,
        files: &NoFiles,
        programs: &sayso_shell::program::BUILT_IN,
    })
}

fn exact(line: &str) -> Vec<Word> {
    line.split(' ').map(|w| Word::Exact(Text::from(w))).collect()
}

#[test]
fn a_flag_of_a_pattern_gets_the_names_that_commands_get() {
    let cases = [
        ("git push", "-f", "--force"),
        ("git push", "--force", "--force"),
        ("git push", "--force-with-lease", "--force-with-lease"),
        ("git branch", "-D", "-D"),
        ("git branch", "--create", "--create"),
        ("git log", "--output", "--output"),
        ("git log", "--output=x", "--output"),
        ("git", "-c", "-c"),
        ("git commit", "--no-verify", "--no-verify"),
        ("git push", "--no-verify", "--no-verify"),
        ("rm", "-rf", "--recursive --force"),
        ("rm", "-R", "--recursive"),
        ("rm", "-xyz", "-x -y -z"),
        ("npm install", "-D", "--save-dev"),
        ("npm i", "-g", "--global"),
        ("sort", "-o", "--output"),
        ("sort", "--compress-p", "--compress-program"),
        ("go build", "-o", "-o"),
        ("go build", "--toolexec", "-toolexec"),
        ("gcc", "-fplugin", "-fplugin"),
        ("python3", "-c", "-c"),
        ("node", "-e", "--eval"),
        ("cargo build", "--config", "--config"),
        ("sed", "-i", "--in-place"),
        ("ls", "--frobnicate", "--frobnicate"),
    ];
    for (line, flag, wanted) in cases {
        let mut words = line.split(' ');
        let table = spec(words.next().unwrap()).unwrap();
        let words: Vec<&str> = words.collect();
        assert_eq!(canonical_flag(table, &words, flag).join(" "), wanted, "{line} {flag}");
    }
}

#[test]
fn leading_words_are_counted_and_spelled_canonically() {
    let cases = [
        ("git log main", 1, "log main"),
        ("git stash list", 2, "stash list"),
        ("git stash", 1, "stash"),
        ("git remote add origin", 2, "remote add origin"),
        ("npm i left-pad", 1, "install left-pad"),
        ("npm run i", 1, "run i"),
        ("cargo t foo", 1, "test foo"),
        ("cargo frob", 0, "frob"),
        ("ls src", 0, "src"),
        ("gh pr co 12", 2, "pr checkout 12"),
    ];
    for (line, depth, wanted) in cases {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let table = spec(name).unwrap();
        let words: Vec<&str> = words.collect();
        assert_eq!(subcommand_depth(table, &words), depth, "{line}");
        assert_eq!(canonical_words(table, &words).join(" "), wanted, "{line}");
        assert_eq!(usize::from(described(name, &exact(line)).subcommands), depth, "{line}");
    }
}

/// Every spelling of every option of every table, met alone, is known and has the name that a pattern gets.
#[test]
fn every_option_is_found_by_each_of_its_spellings() {
    fn check(name: &str, root: &Spec, words: &[&str], node: &Spec, seen: &mut usize) {
        for table in node.options {
            for (spelling, _, does) in table.spellings() {
                if spelling.starts_with('+') || spelling == "-#" {
                    continue;
                }
                *seen += 1;
                let names = canonical_flag(root, words, spelling);
                let line = format!("{name} {} {spelling} 1 2", words.join(" "));
                let argv: Vec<Word> = line.split_whitespace().map(|w| Word::Exact(Text::from(w))).collect();
                let without: Vec<Word> =
                    argv.iter().filter(|word| word.exact_str() != Some(spelling)).cloned().collect();
                let unwritten = self::described(name, &without);
                let described = described(name, &argv);
                if described.options.is_empty() && described.words.len() <= words.len() {
                    continue; // a judge that reads the words itself
                }
                if does == Does::Implied {
                    // A fact that a judge finds: whoever types it is not believed, unless it is one anyway.
                    let holds = |options: &[sayso_shell::Opt]| {
                        options.iter().any(|o| o.known && names.iter().any(|n| *n == o.name))
                    };
                    assert!(!holds(&described.options) || holds(&unwritten.options), "{line}");
                    continue;
                }
                assert!(
                    described.options.iter().any(|o| o.known && names.iter().any(|n| *n == o.name)),
                    "{line}: {names:?} against {:?}",
                    described.options
                );
            }
        }
        for sub in node.subs {
            let inner: Vec<&str> = words.iter().copied().chain([sub.names[0]]).collect();
            if inner.len() < 3 {
                check(name, root, &inner, sub, seen);
            }
        }
    }
    let mut seen = 0;
    for (name, table) in all() {
        if table.names[0] == name && !table.style.has(sayso_shell::option::Style::RAW) {
            check(name, table, &[], table, &mut seen);
        }
    }
    assert!(seen > 5000, "only {seen} spellings");
}

fn any_word() -> impl Strategy<Value = Word> {
    let hole = |splits: bool, origin: Origin| {
        move |(head, tail): (String, String)| {
            let mut parts = Vec::new();
            if !head.is_empty() {
                parts.push(Part::Literal(Text::from(head.as_str())));
            }
            parts.push(Part::Hole);
            if !tail.is_empty() {
                parts.push(Part::Literal(Text::from(tail.as_str())));
            }
            Word::Dynamic(if splits {
                Shape::several(parts, origin.clone())
            } else {
                Shape::single(parts, origin.clone(), Single::Quoted)
            })
        }
    };
    prop_oneof![
        4 => "[-+]{0,2}[a-zA-Z0-9=./:,@{}-]{0,8}".prop_map(|s| Word::Exact(Text::from(s.as_str()))),
        2 => prop::sample::select(vec![
            "-", "--", "-c", "-C", "--output", "-e", "-f", "-o", "install", "log", "run", "list", "add", "pr", "view", "-m", "--exec", "+x", "a=b", "-9",
        ]).prop_map(|s| Word::Exact(Text::from(s))),
        1 => prop::collection::vec(any::<u8>(), 0..8).prop_map(|b| Word::Exact(Text::from(b))),
        1 => ("-{0,2}[a-z=]{0,4}", "[a-z]{0,3}").prop_map(hole(false, Origin::Unknown)),
        1 => ("-{0,2}[a-z=]{0,4}", "[a-z]{0,3}").prop_map(hole(true, Origin::Unknown)),
        1 => Just(Word::Dynamic(Shape::single(vec![Part::AnyBytes], Origin::Unknown, Single::Quoted))),
        1 => Just(Word::Opaque),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// No words break a table, every word it reports exists, and what nobody sees through stays visible.
    #[test]
    fn no_words_break_any_table(pick in any::<prop::sample::Index>(), rest in prop::collection::vec(any_word(), 0..7)) {
        let names: Vec<&str> = all().map(|(name, _)| name).collect();
        let name = names[pick.index(names.len())];
        let mut argv = vec![Word::Exact(Text::from(name))];
        argv.extend(rest);
        let described = described(name, &argv);
        prop_assert!(described.words.iter().all(|&at| usize::from(at) < argv.len()));
        prop_assert!(usize::from(described.subcommands) <= described.words.len());
        let unknown = described.options.iter().filter(|o| !o.known).count();
        let named = described
            .effects
            .iter()
            .filter(|e| matches!(e.carry, Carry::Named { code: sayso_shell::Code::UnknownOption, .. }))
            .count();
        prop_assert!(named >= unknown, "{name}: {unknown} unknown options, {named} effects");
    }
}

/// Commands whose own help names their options.
const HELPS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "wc",
    "sort",
    "uniq",
    "cut",
    "tr",
    "ls",
    "cp",
    "mv",
    "rm",
    "mkdir",
    "touch",
    "chmod",
    "chown",
    "ln",
    "df",
    "du",
    "stat",
    "grep",
    "diff",
    "patch",
    "od",
    "nl",
    "tac",
    "paste",
    "join",
    "comm",
    "fold",
    "fmt",
    "base64",
    "sha256sum",
    "tee",
    "split",
    "shuf",
    "readlink",
    "realpath",
    "date",
    "truncate",
    "shred",
    "column",
    "file",
    "make",
    "cmp",
    "node",
    "git status",
    "git diff",
    "git add",
    "git commit",
    "git branch",
    "git tag",
    "git checkout",
    "git switch",
    "git restore",
    "git reset",
    "git merge",
    "git rebase",
    "git cherry-pick",
    "git revert",
    "git fetch",
    "git pull",
    "git push",
    "git clone",
    "git init",
    "git clean",
    "git rm",
    "git mv",
    "git stash push",
    "git ls-files",
    "git ls-tree",
    "git ls-remote",
    "git grep",
    "git blame",
    "git describe",
    "git for-each-ref",
    "git show-ref",
    "git apply",
    "git am",
    "git config",
    "git archive",
    "git format-patch",
    "git cat-file",
    "git worktree add",
    "git remote add",
    "git shortlog",
    "git gc",
    "cargo build",
    "cargo test",
    "cargo run",
    "cargo add",
    "cargo install",
    "cargo tree",
    "cargo metadata",
    "cargo publish",
    "cargo update",
    "pip install",
    "tar",
    "sed",
    "curl",
    "wget",
    "gzip",
    "xz",
    "env",
    "timeout",
    "nice",
    "nohup",
    "stdbuf",
    "xargs",
    "man",
    "psql",
    "pg_dump",
    "systemctl",
    "flock",
    "script",
    "setsid",
    "taskset",
    "ionice",
    "chrt",
    "unshare",
    "nsenter",
    "setpriv",
    "prlimit",
    "setarch",
    "strace",
    "ssh-keygen",
    "watch",
    "su",
    "runuser",
    "cpio",
    "kubectl get",
    "kubectl apply",
    "kubectl logs",
    "kubectl exec",
    "docker ps",
    "docker run",
    "docker exec",
    "docker build",
    "docker logs",
    "docker images",
    "docker cp",
    "helm list",
    "dpkg",
    "apt-get",
    "systemd-run",
    "sudo",
    "zip",
];

/// Long options that a help text names and the table does not. Versions differ, so only a table that has lost touch
/// fails.
#[test]
fn tables_know_most_options_that_installed_programs_name_themselves() {
    let mut report = String::new();
    let (mut total, mut missing) = (0, 0);
    for &line in HELPS {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let help = if name == "git" { "-h" } else { "--help" };
        let Ok(output) = Command::new(name).args(words.clone()).arg(help).env("LC_ALL", "C").output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        for long in long_options(&text) {
            total += 1;
            let known = described(name, &exact(&format!("{line} {long}=x"))).options.iter().all(|o| o.known);
            if !known {
                missing += 1;
                report.push_str(&format!("{line} {long}\n"));
            }
        }
    }
    println!("{missing} of {total} options are not known:\n{report}");
    assert!(missing * 20 <= total, "{missing} of {total} options are not known:\n{report}");
}

fn long_options(help: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in help.lines().filter(|l| l.starts_with(' ') && l.trim_start().starts_with('-')) {
        let line = line.replace("[no-]", "");
        let Some(at) = line.find("--") else { continue };
        let long: String =
            line.chars().skip(at).take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')).collect();
        if long.len() > 3 && !long.contains("TYPE-") && !long.ends_with('.') {
            found.push(long);
        }
    }
    found
}
