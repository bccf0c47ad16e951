//! Tools and files that the files of a project name in their turn.

use super::*;

#[test]
fn a_tool_that_a_file_names_goes_by_its_own_files_too() {
    all_bound(&[
        (
            "make test",
            &[
                ("Makefile", "test:\n\tnpm test\n"),
                ("package.json", r#"{"scripts":{"test":"node t.js"}}"#),
                ("t.js", ""),
            ],
            &["package.json", "t.js"],
        ),
        // The words of the command are make's, not npm's.
        (
            "make test",
            &[
                ("Makefile", "test:\n\tnpm run build\n"),
                ("package.json", r#"{"scripts":{"test":"true","build":"sh b.sh"}}"#),
                ("b.sh", ""),
            ],
            &["b.sh"],
        ),
        (
            "make",
            &[("Makefile", "all:\n\t./gradlew build\n"), ("+gradlew", "#!/bin/sh"), ("build.gradle", "")],
            &["gradlew", "build.gradle"],
        ),
        (
            "make",
            &[("Makefile", "all:\n\tcd sub && make\n"), ("sub/Makefile", "all:\n\t./x.sh\n"), ("sub/x.sh", "")],
            &["sub/Makefile", "sub/x.sh"],
        ),
        ("make", &[("Makefile", "all:\n\tcd web && npm test\n"), ("web/package.json", "{}")], &["web/package.json"]),
        ("make", &[("Makefile", "D = web\nall:\n\tcd $(D) && ./run\n"), ("web/run", "#!/bin/sh")], &["web/run"]),
        ("make", &[("Makefile", "all:\n\t$(MAKE) -C a/b\n"), ("a/b/Makefile", "")], &["a/b/Makefile"]),
        (
            "npm test",
            &[
                ("package.json", r#"{"scripts":{"test":"make -C c"}}"#),
                ("c/Makefile", "all:\n\t./y.sh"),
                ("c/y.sh", ""),
            ],
            &["c/Makefile", "c/y.sh"],
        ),
        (
            "npm test",
            &[
                ("package.json", r#"{"scripts":{"test":"jest"}}"#),
                ("jest.config.js", "require('./setup')"),
                ("setup.js", ""),
            ],
            &["jest.config.js", "setup.js"],
        ),
        (
            "npm run x",
            &[
                ("package.json", r#"{"scripts":{"x":"cd sub && npm run y"}}"#),
                ("sub/package.json", r#"{"scripts":{"x":"true","y":"sh z.sh"}}"#),
                ("sub/z.sh", ""),
            ],
            &["sub/z.sh"],
        ),
        (
            "just x",
            &[("justfile", "x:\n  cargo build\n"), ("Cargo.toml", ""), ("build.rs", "")],
            &["Cargo.toml", "build.rs"],
        ),
        ("task x", &[("Taskfile.yml", "cmds: [pytest]"), ("t/conftest.py", "")], &["t/conftest.py"]),
        (
            "make",
            &[("Makefile", "all:\n\tbash ci/go\n"), ("ci/go", "terraform apply\n"), ("main.tf", "")],
            &["ci/go", "main.tf"],
        ),
        ("python3 a.py", &[("a.py", "subprocess.run(['make', 'x'])"), ("Makefile", "")], &["Makefile"]),
        (
            "make",
            &[
                ("Makefile", "all:\n\tgit commit\n"),
                (".git/config", "[core]\n\thooksPath=h"),
                (".git/HEAD", ""),
                ("h/pre-commit", ""),
            ],
            &[".git/config", "h/pre-commit"],
        ),
        (
            "git commit",
            &[
                (".git/HEAD", ""),
                (".git/hooks/pre-commit", "exec pre-commit run"),
                (".pre-commit-config.yaml", "entry: ./c"),
                ("+c", "1"),
            ],
            &[".pre-commit-config.yaml", "c"],
        ),
    ]);
}

#[test]
fn a_script_without_an_ending_is_followed_in_its_own_language() {
    all_bound(&[
        (
            "make",
            &[("Makefile", "all:\n\ttools/run\n"), ("tools/run", "#!/bin/sh\n. ./lib"), ("tools/lib", "1")],
            &["tools/run", "tools/lib"],
        ),
        ("make", &[("Makefile", "all:\n\ttools/run\n"), ("+tools/run", "no mark at its head")], &["tools/run"]),
        ("make", &[("Makefile", "all:\n\tsh tools/run\n"), ("tools/run", "1")], &["tools/run"]),
        (
            "make",
            &[("Makefile", "all:\n\tpython3 -u notes.txt\n"), ("notes.txt", "import x"), ("x.py", "")],
            &["notes.txt", "x.py"],
        ),
        (
            "make",
            &[
                ("Makefile", "all:\n\ttools/run\n"),
                ("tools/run", "#!/usr/bin/env ruby\nrequire_relative 'b'"),
                ("tools/b.rb", ""),
            ],
            &["tools/b.rb"],
        ),
        (
            "make",
            &[
                ("Makefile", "all:\n\ttools/run\n"),
                ("tools/run", "#!/usr/bin/perl -w\nuse lib 'l';\nuse A::B;"),
                ("tools/l/A/B.pm", ""),
            ],
            &["tools/l/A/B.pm"],
        ),
        (
            "make",
            &[
                ("Makefile", "all:\n\ttools/run\n"),
                ("tools/run", "#!/usr/bin/env -S node --x\nimport './b'"),
                ("tools/b.mjs", ""),
            ],
            &["tools/b.mjs"],
        ),
        (
            "make",
            &[
                ("Makefile", "all:\n\ttools/run\n"),
                ("tools/run", "#!/usr/bin/lua\nrequire 'a.b'"),
                ("tools/a/b.lua", ""),
            ],
            &["tools/a/b.lua"],
        ),
        (
            "make",
            &[
                ("Makefile", "all:\n\ttools/run\n"),
                ("tools/run", "#!/usr/bin/php\ninclude 'b.inc';"),
                ("tools/b.inc", ""),
            ],
            &["tools/b.inc"],
        ),
        ("./run", &[("+run", "#!/usr/bin/env python3\nimport b"), ("b.py", "")], &["b.py"]),
        ("ruby tool", &[("tool", "require './b'"), ("b.rb", "")], &["tool", "b.rb"]),
        ("php a.php", &[("a.php", "<?php require_once __DIR__ . '/b.php';"), ("b.php", "")], &["b.php"]),
    ]);
}

#[test]
fn what_a_file_takes_in_is_found_however_it_is_written() {
    all_bound(&[
        ("make", &[("Makefile", "include \\\n  a \\\n  b\n"), ("a", ""), ("b", "")], &["a", "b"]),
        ("make", &[("Makefile", "ifdef X\n  -include\\\r\n a\nendif"), ("a", "")], &["a"]),
        ("make", &[("Makefile", "include my\\ rules\n"), ("my rules", "")], &["my rules"]),
        (
            "git commit",
            &[(".git/HEAD", ""), (".git/config", "[core] hooksPath=h"), ("h/pre-commit", "")],
            &["h/pre-commit"],
        ),
        (
            "git commit",
            &[(".git/HEAD", ""), (".git/config", "[CORE]HOOKSPATH = \"my hooks\" ; x"), ("my hooks/pre-commit", "")],
            &["my hooks/pre-commit"],
        ),
        (
            "git commit",
            &[(".git/HEAD", ""), (".git/config", "[core]\n\thooksPath = \\\n h\n"), ("h/pre-commit", "")],
            &["h/pre-commit"],
        ),
        (
            "git commit",
            &[
                (".git/HEAD", ""),
                (".git/config", "[include \"x\"] path = ../more"),
                ("more", "[core]\nfsmonitor = ./w"),
                ("w", ""),
            ],
            &["more", "w"],
        ),
        (
            "git commit",
            &[(".git/HEAD", ""), (".git/config", "[includeIf \"gitdir:x\"]path=more"), (".git/more", "")],
            &[".git/more"],
        ),
        (
            "git commit",
            &[
                (".git/HEAD", ""),
                (".git/config", "[core]\n\thooksPath = .husky/_\n"),
                (".husky/_/pre-commit", ". \"${0%/*}/h\""),
                (".husky/_/h", "sh -e \"$s\""),
                (".husky/pre-commit", "npm test"),
                ("package.json", r#"{"scripts":{"test":"sh t.sh"}}"#),
                ("t.sh", ""),
            ],
            &[".husky/_/pre-commit", ".husky/_/h", ".husky/pre-commit", "package.json", "t.sh"],
        ),
        ("just x", &[("justfile", "mod a\n"), ("a.just", "")], &["a.just"]),
        ("just x", &[("justfile", "mod? a\n"), ("a/mod.just", "")], &["a/mod.just"]),
        ("just x", &[("justfile", "mod a 'b/c'\nimport? 'd'"), ("b/c", ""), ("d", "")], &["b/c", "d"]),
        ("just a::x", &[("justfile", "mod a\n"), ("a/justfile", "")], &["a/justfile"]),
        (
            "python3 a.py",
            &[("a.py", "from x import (\n  b,\n  c as d,\n)"), ("x/b.py", ""), ("x/c.py", "")],
            &["x/b.py", "x/c.py"],
        ),
        (
            "python3 a.py",
            &[("a.py", "from x import b, \\\n  c"), ("x/b.py", ""), ("x/c.py", "")],
            &["x/b.py", "x/c.py"],
        ),
        ("python3 a.py", &[("a.py", "try: import b\nexcept: pass"), ("b.py", "")], &["b.py"]),
        ("python3 a.py", &[("a.py", "x = importlib.import_module('b.c')"), ("b/c.py", "")], &["b/c.py"]),
        ("python3 a.py", &[("a.py", "x = __import__('\\x62')"), ("b.py", "")], &["b.py"]),
        ("python3 a.py", &[("a.py", "from . import (b,\n c)"), ("b.py", ""), ("c.py", "")], &["b.py", "c.py"]),
        (
            "node a.js",
            &[
                ("a.js", "const x = require(\n  './b'\n)\nimport {\n y\n} from\n'./c'"),
                ("b.js", ""),
                ("c/index.mjs", ""),
            ],
            &["b.js", "c/index.mjs"],
        ),
        ("node a.js", &[("a.js", "require('./\\u0062')"), ("b.js", "")], &["b.js"]),
        ("node a.js", &[("a.js", "require('./b c')"), ("b c.js", "")], &["b c.js"]),
        (
            "node a.js",
            &[("a.js", "require('./b')"), ("b/package.json", r#"{"main":"c.js"}"#), ("b/c.js", "")],
            &["b/package.json"],
        ),
        ("make", &[("Makefile", "all:\n\tsh ./a=b,c:d\n"), ("a=b,c:d", "")], &["a=b,c:d"]),
        ("make", &[("Makefile", "export BASH_ENV = ./x\nall:\n\ttrue\n"), ("x", "")], &["x"]),
        (
            "make",
            &[("Makefile", "SHELL := ./sh\nall:\n\tPATH=bin:$$PATH tool\n"), ("sh", ""), ("+bin/tool", "\x7fELF")],
            &["sh", "bin/tool"],
        ),
        (
            "make",
            &[("Makefile", "all:\n\tmake -frules\n\tawk -f prog in\n"), ("rules", ""), ("prog", "")],
            &["rules", "prog"],
        ),
        ("bash -c '. ./a'", &[("a", ". \"my lib.sh\""), ("my lib.sh", "")], &["a", "my lib.sh"]),
    ]);
}

#[test]
fn a_package_is_read_as_its_tools_read_it() {
    all_bound(&[
        (
            "npm test",
            &[("package.json", "{\"\\u0073cripts\":{\"t\\u0065st\":\"sh \\u0074.sh\"}}"), ("t.sh", "")],
            &["t.sh"],
        ),
        (
            "npm test",
            &[
                ("package.json", r#"{"scripts":{"test":"true","posttest":"sh p.sh","pretest":"sh q.sh"}}"#),
                ("p.sh", ""),
                ("q.sh", ""),
            ],
            &["p.sh", "q.sh"],
        ),
        ("npm t", &[("package.json", r#"{"scripts":{"test":"sh t.sh"}}"#), ("t.sh", "")], &["t.sh"]),
        (
            "npm t build",
            &[("package.json", r#"{"scripts":{"test":"sh t.sh","build":"true"}}"#), ("t.sh", "")],
            &["t.sh"],
        ),
        (
            "npm install",
            &[("package.json", r#"{"scripts":{"install":"true","prepare":"sh p.sh"}}"#), ("p.sh", "")],
            &["p.sh"],
        ),
        (
            "npm test -w a",
            &[
                ("package.json", r#"{"workspaces":["packages/*"]}"#),
                ("packages/a/package.json", r#"{"scripts":{"test":"sh t.sh"}}"#),
                ("packages/a/t.sh", ""),
            ],
            &["packages/a/package.json", "packages/a/t.sh"],
        ),
        (
            "npm test -w a",
            &[
                ("package.json", r#"{"workspaces":{"packages":["a"]}}"#),
                ("a/package.json", r#"{"scripts":{"test":"sh t.sh"}}"#),
                ("a/t.sh", ""),
            ],
            &["a/package.json", "a/t.sh"],
        ),
        (
            "npm test",
            &[("package.json", r#"{"scripts":{"test":"true"}}"#), (".npmrc", "script-shell=./sh\n"), ("sh", "\x7fELF")],
            &[".npmrc", "sh"],
        ),
        (
            "npm test",
            &[("package.json", r#"{"scripts":{"test":"jest"},"jest":{"globalSetup":"./g"}}"#), ("g.js", "")],
            &["g.js"],
        ),
        (
            "npm test",
            &[("package.json", r#"{"scripts":{"test":"eslint"},"eslintConfig":{"extends":"./e.js"}}"#), ("e.js", "")],
            &["e.js"],
        ),
        (
            "pnpm run '/^b/'",
            &[("package.json", r#"{"scripts":{"build":"sh t.sh","run":"true"}}"#), ("t.sh", "")],
            &["t.sh"],
        ),
    ]);
}

#[test]
fn what_cannot_be_told_makes_a_yes_hold_once() {
    all_once(&[
        ("make", &[("Makefile", "all:\n\tcd $(WHERE) && ./run\n")]),
        ("make -f $'a\\xff'", &[]),
        ("./run.sh", &[("+run.sh", "#!/bin/sh\ncd \"$(cat where)\" && make\n"), ("where", "x")]),
    ]);
}

#[test]
fn what_a_project_works_on_or_makes_is_not_bound() {
    none_bound(&[
        (
            "make",
            &[
                ("Makefile", "app: main.c\n\tcc -o app main.c\ntest: app\n\t./app\n"),
                ("main.c", ""),
                ("+app", "\x7fELF"),
            ],
            &["main.c", "app"],
        ),
        (
            "make",
            &[
                ("Makefile", "out.h: gen.py\n\tpython3 gen.py data.txt > out.h\n"),
                ("gen.py", ""),
                ("out.h", ""),
                ("data.txt", ""),
            ],
            &["out.h", "data.txt"],
        ),
        (
            "npm test",
            &[
                ("package.json", r#"{"main":"src/a.js","scripts":{"test":"jest"},"files":["src/b.js"]}"#),
                ("src/a.js", ""),
                ("src/b.js", ""),
            ],
            &["src/a.js", "src/b.js"],
        ),
        (
            "make",
            &[("Makefile", "all:\n\tcd src && cc main.c\n"), ("src/main.c", ""), ("src/other.py", "")],
            &["src/main.c", "src/other.py"],
        ),
        ("bash build.sh", &[("build.sh", "cd \"$(dirname \"$0\")\" && echo hi > log\n"), ("log", "")], &["log"]),
    ]);
}

#[test]
fn a_file_of_more_than_can_be_read_makes_a_yes_hold_once() {
    let mut files = MemoryFiles::new();
    files.program("/usr/bin/make", b"\x7fELF");
    for (content, once) in [
        (b"all:\n\tsh ./\xff\n".to_vec(), true),
        (vec![b'#'; 300 * 1024], true),
        ((0..40_000).map(|n| format!("w{n} ")).collect::<String>().into_bytes(), true),
        (b"include 1.mk\n".to_vec(), true),
        (b"all:\n\ttrue\n".to_vec(), false),
    ] {
        files.file("/w/Makefile", &content);
        for n in 1..40 {
            files.file(format!("/w/{n}.mk"), format!("include {}.mk\n", n + 1).as_bytes());
        }
        let found = in_files("make", &files);
        assert_eq!(found.open.is_some(), once, "{:?}: {:?}", content.get(..20), found.open);
    }
}
