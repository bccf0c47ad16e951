//! Searches in a project that holds secrets: what does not open them is not asked about, and nothing that opens them
//! slips through.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

mod imaged;
mod machine;

use imaged::Both;
use machine::{Machine, command_in_app};
use sayso_policy::{Facts, Operation, Policy, PolicyText, State};
use sayso_shell::MemoryFiles;

/// A project with secrets in two places, one of them hidden.
fn project() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    for path in ["/app/src/main.rs", "/app/src/lib.py", "/app/web/index.ts", "/app/README.md", "/app/.git/HEAD"] {
        files.file(path, b"x");
    }
    files.file("/app/.env", b"KEY=1").file("/app/sub/.env", b"KEY=1").file("/home/ann/.ssh/id_ed25519", b"key");
    for program in [
        "rg",
        "fd",
        "grep",
        "find",
        "cat",
        "ls",
        "git",
        "ruff",
        "eslint",
        "xargs",
        "sed",
        "du",
        "black",
        "flake8",
        "prettier",
        "stylelint",
        "wc",
    ] {
        files.program(format!("/usr/bin/{program}"), b"");
    }
    files
}

fn verdict(files: &MemoryFiles, command: &str) -> String {
    let policy = Both::new(Policy::compile(&[PolicyText::preset("developer")]).unwrap());
    let environment = Machine(&[]);
    let facts = Facts { files, env: &environment };
    let call = command_in_app(command);
    policy.evaluate(&Operation::new(call, facts), &State::default(), facts).verdict.to_string()
}

#[track_caller]
fn check(files: &MemoryFiles, expected: &str, commands: &[&str]) {
    for command in commands {
        assert_eq!(verdict(files, command), expected, "{command}");
    }
}

#[test]
fn a_search_that_opens_no_secret_is_not_asked_about() {
    check(
        &project(),
        "allow",
        &[
            "rg foo",
            "rg -n foo .",
            "rg -g '*.rs' foo",
            "rg -t rust foo",
            "rg --files",
            "rg -l foo | xargs sed -i s/a/b/",
            "fd foo",
            "fd -x cat",
            "fd -e rs -x cat",
            "ls -R",
            "du -sh .",
            "find . -name '*.rs' | xargs grep foo",
            "find . -name *.rs | xargs grep foo",
            "find . \\( -name '*.ts' -o -name '*.py' \\) -exec cat {} +",
            "find . -path ./web -prune -o -name '*.rs' -print | xargs cat",
            "grep -rn foo --include='*.rs' .",
            "grep -rn foo --include=*.py .",
            "grep -rn foo src",
            "cat *",
            "cat src/*",
            "ruff check .",
            "ruff check",
            "eslint .",
        ],
    );
}

#[test]
fn a_search_that_may_open_a_secret_is_asked_about() {
    check(
        &project(),
        "ask",
        &[
            "rg --hidden foo",
            "rg -uu foo",
            "rg -g '.env' foo",
            "rg -g '*' foo",
            "rg -L foo",
            "rg -t rust --type-add 'rust:*' foo",
            "RIPGREP_CONFIG_PATH=x rg foo",
            "fd -H -x cat",
            "fd -e env -x cat",
            "find . -type f | xargs cat",
            "find . -not -wholename -name -print | xargs cat",
            "find . -name '*.rs' -o -type f | xargs cat",
            "grep -rn foo .",
            "grep -rn foo --exclude=x --include='*.rs' .",
            "grep -rn foo --include='*.rs' --include='.e*' .",
            // A class of characters, however it is written.
            "cat .e[[:alpha:]]v",
            "cat sub/.e[]n]v",
            "cat .e[!]]v",
            "find . -name '[[:punct:]]env' -exec cat {} +",
            "grep -rn foo --include='[[:punct:]]env' .",
            // A name that is found may be a folder's.
            "find . -name sub | xargs grep -r foo",
            "find . -name . -exec grep -r foo {} +",
            "find src ../home/ann -type f | xargs cat",
            "rg --files --hidden src ../home | xargs cat",
            "fd -H . /home/ann -X cat",
            "fd -e rs -x grep -r foo {//}",
            "cloc --vcs='evil x' .",
            "git grep --untracked foo",
            "git grep --no-index foo",
            "git stash -u",
            "cd src && git add -A",
            "git add --pathspec-from-file=list",
            "git cat-file --batch",
            "sort --files0-from=list",
            "echo x | grep -rl --include='*.rs' --label=.env x - | xargs cat",
            // What a pattern of the shell names is gone into.
            "grep -r foo *",
            "grep -r foo s*",
            "cp -r s* /tmp/x",
            "tar cf /tmp/x s*",
        ],
    );
    check(&project(), "deny", &["rg foo .env", "cat .env", "fd . .env", "git add sub/.env", "git log -L1,1:.env"]);
}

#[test]
fn a_linter_looks_at_what_its_options_and_patterns_choose() {
    check(
        &project(),
        "ask",
        &[
            "black --include '.*' .",
            "flake8 --filename='*' .",
            "eslint --ext .env .",
            "prettier '**/*'",
            "prettier '**/.e*'",
            "prettier --parser yaml '*'",
            "stylelint 'sub/*'",
        ],
    );
    check(
        &project(),
        "allow",
        &[
            "black .",
            "flake8 src",
            "prettier '**/*.{ts,tsx}'",
            "prettier 'src/**'",
            "stylelint '**/*.css'",
            "eslint 'web/**/*.ts'",
        ],
    );
}

#[test]
fn a_name_means_another_file_in_another_folder() {
    let mut files = project();
    files.file("/app/names/config", b"").file("/home/ann/.ssh/config", b"key");
    check(
        &files,
        "ask",
        &[
            "ls names | (cd /home/ann/.ssh && xargs cat)",
            "cd names; f=$(ls); cd /home/ann/.ssh; cat $f",
            "cd names; for f in *; do (cd /home/ann/.ssh; cat $f); done",
            "find names -type f | (cd /home/ann/.ssh; xargs cat)",
            "(cd names; ls) | (cd /home/ann/.ssh; xargs cat)",
        ],
    );
    check(
        &files,
        "allow",
        &[
            "cd names && ls | xargs cat",
            "ls names | (cd names && xargs cat)",
            "find names -type f | xargs cat",
            "find /app/names -type f | xargs cat",
            "ls src/*.rs | xargs wc -l",
            "cd names; for f in *; do cat $f; done",
        ],
    );
}

#[test]
fn an_ignore_file_can_make_a_search_look_into_what_is_hidden() {
    for (name, line) in [
        (".ignore", "!.env"),
        (".gitignore", "!.env*"),
        (".rgignore", "!*"),
        ("sub/.ignore", "\u{feff}!.env\r"),
        (".ignore", "!sub/**"),
        (".git/info/exclude", "!/sub/.e?v"),
    ] {
        let mut files = project();
        files.file(format!("/app/{name}"), format!("{line}\ntarget\n").as_bytes());
        check(&files, "ask", &["rg foo", "rg -l foo | xargs cat"]);
    }
    let mut files = project();
    files.file("/app/.gitignore", b"*\n!.env.example\n!.gitkeep\n!src/\n");
    check(&files, "allow", &["rg foo"]);
    // One that cannot be read whole may say anything.
    files.file("/app/.ignore", &vec![b'#'; 300 * 1024]);
    check(&files, "ask", &["rg foo"]);
}

#[test]
fn git_adds_what_is_not_ignored() {
    let mut files = project();
    check(&files, "ask", &["git add .", "git add -A", "git add sub", "git add ':/'"]);
    files.file("/app/.gitignore", b".env\n");
    check(&files, "allow", &["git add .", "git add -A", "git add sub", "git status ."]);
    check(&files, "ask", &["git add -f .", "git add --force sub"]);
    for taken_back in ["!.env", "!sub/.env", "!*"] {
        files.file("/app/sub/.gitignore", taken_back.as_bytes());
        check(&files, "ask", &["git add ."]);
    }
}

#[test]
fn git_ignores_by_its_own_files_only() {
    for (name, text) in [("/.gitignore", "*"), ("/app/.gitignore", ".env\t")] {
        let mut files = project();
        files.file(name, text.as_bytes());
        check(&files, "ask", &["git add ."]);
    }
    let mut files = project();
    files.file("/app/rules", b".env\n").link("/app/.gitignore", "rules");
    check(&files, "ask", &["git add ."]);
}

#[test]
fn a_name_that_others_read_as_two_is_not_passed_on_unseen() {
    for odd in ["/app/src/.env .rs", "/app/src/a\n.env\n.rs", "/app/src/x /home.rs"] {
        let mut files = project();
        files.file(odd, b"");
        check(&files, "ask", &["find . -name '*.rs' | xargs cat"]);
        check(&files, "allow", &["rg foo"]);
    }
}

#[test]
fn a_link_is_what_it_leads_to() {
    let mut files = project();
    files.link("/app/src/key.rs", "../.env");
    check(
        &files,
        "ask",
        &["cat src/*.rs", "cat src/*", "cat **/*.rs", "find . -name '*.rs' | xargs cat", "cp -rL src /tmp/x"],
    );
    files.link("/app/src/key.py", "../.env").link("/app/web/key.ts", "../.env");
    check(&files, "ask", &["black src", "ruff check .", "eslint web", "prettier 'web/**/*.ts'", "flake8"]);
    check(&files, "allow", &["eslint src", "prettier 'web/**/*.css'"]);
    // A search does not go through links.
    check(&files, "allow", &["rg foo", "grep -rn foo --include='*.rs' ."]);
    let mut files = project();
    files.link("/app/src/keys", "/home/ann");
    check(&files, "ask", &["grep -R foo src", "cat src/*/.ssh/*", "cp -rL src /tmp/x", "grep -R foo s*"]);
    check(&files, "ask", &["find -L src -name 'id_*' -exec cat {} +"]);
    check(&files, "allow", &["rg foo src"]);
}
