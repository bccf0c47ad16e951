//! A yes is one to what the call runs by: the agent gets it, and then changes a file.

use super::sqlite::bound::ASKING;
use super::sqlite::*;
use proptest::prelude::*;
use sayso_gate::approval::{Remember, Reply, Width};
use sayso_policy::Answer;

impl World {
    fn put(&self, name: &str, text: &str) {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Has a call answered for good, and sees that it passes as long as nothing changes.
    fn remembered(&self, command: &str) {
        let id = self.asks(command);
        self.reply(&id, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Exact))
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        for _ in 0..2 {
            assert_eq!(self.again(command).decision.answer, Answer::Allow, "{command}");
        }
    }
}

/// Names, and what stands in them.
type Files = &'static [(&'static str, &'static str)];

/// A command, the files of its project, and those of them that a yes to the command is bound to.
const STEERED: &[(&str, Files, &[&str])] = &[
    ("make -fo.mk", &[("o.mk", "all:\n\tsh s.sh\n"), ("s.sh", "1")], &["o.mk", "s.sh"]),
    ("make --file=o.mk", &[("o.mk", "1")], &["o.mk"]),
    ("make --makef o.mk", &[("o.mk", "1")], &["o.mk"]),
    ("make -skfo.mk", &[("o.mk", "1")], &["o.mk"]),
    ("make -C d -f o.mk", &[("d/o.mk", "1")], &["d/o.mk"]),
    ("make --directory=d", &[("d/Makefile", "include ../common\n"), ("common", "1")], &["d/Makefile", "common"]),
    ("make -I inc", &[("Makefile", "include x\n"), ("inc/x", "1")], &["Makefile", "inc/x"]),
    (
        "make",
        &[("Makefile", "-include mk/*.mk\nall:\n\t$(MAKE) -C sub\n"), ("mk/a.mk", "1"), ("sub/Makefile", "1")],
        &["mk/a.mk", "sub/Makefile"],
    ),
    ("cat x.sh | bash", &[("x.sh", "make a")], &["x.sh"]),
    ("cat x.sh y.sh | tee log | sh -s", &[("x.sh", "make a"), ("y.sh", "make b")], &["x.sh", "y.sh"]),
    ("(cat x.sh) | bash", &[("x.sh", "make a")], &["x.sh"]),
    ("head -5 x.py | python3 -", &[("x.py", "1")], &["x.py"]),
    ("bash < x.sh", &[("x.sh", "make a")], &["x.sh"]),
    ("python3 < x.py", &[("x.py", "1")], &["x.py"]),
    ("bash -c \"$(cat x.sh)\"", &[("x.sh", "make a")], &["x.sh"]),
    ("eval \"$(cat x.sh)\"", &[("x.sh", "make a")], &["x.sh"]),
    ("bash <(cat x.sh)", &[("x.sh", "make a")], &["x.sh"]),
    ("source x.sh", &[("x.sh", "make a\n. ./y.sh"), ("y.sh", "make b")], &["x.sh", "y.sh"]),
    (". ./x.sh", &[("x.sh", "make a")], &["x.sh"]),
    (
        "python3 -m pkg",
        &[("pkg/__main__.py", "from . import other"), ("pkg/__init__.py", ""), ("pkg/other.py", "1")],
        &["pkg/__main__.py", "pkg/__init__.py", "pkg/other.py"],
    ),
    ("python3 -mtool.sub", &[("tool/sub.py", "1")], &["tool/sub.py"]),
    ("python3 dir/", &[("dir/__main__.py", "1")], &["dir/__main__.py"]),
    (
        "python3 a.py",
        &[("a.py", "import helper\nfrom lib.x import y"), ("helper.py", "1"), ("lib/x.py", "1")],
        &["a.py", "helper.py", "lib/x.py"],
    ),
    (
        "node .",
        &[("package.json", "{}"), ("index.js", "require('./lib/a')"), ("lib/a.js", "1")],
        &["package.json", "index.js", "lib/a.js"],
    ),
    ("node -r ./pre.js a.js", &[("pre.js", "1"), ("a.js", "1")], &["pre.js", "a.js"]),
    (
        "npm run x",
        &[("package.json", r#"{"scripts":{"x":"npm run y","y":"node tools/y.js"}}"#), ("tools/y.js", "1")],
        &["package.json", "tools/y.js"],
    ),
    (
        "npm --prefix sub test",
        &[("sub/package.json", r#"{"scripts":{"test":"sh t.sh"}}"#), ("sub/t.sh", "1")],
        &["sub/package.json", "sub/t.sh"],
    ),
    ("yarn build", &[("package.json", r#"{"scripts":{"prebuild":"sh p.sh","build":"x"}}"#), ("p.sh", "1")], &["p.sh"]),
    ("just -f o.just deploy", &[("o.just", "import 'more.just'\n"), ("more.just", "1")], &["o.just", "more.just"]),
    (
        "task deploy",
        &[("Taskfile.yml", "includes:\n  x: ./sub\n"), ("sub/Taskfile.yml", "1")],
        &["Taskfile.yml", "sub/Taskfile.yml"],
    ),
    (
        "cargo build",
        &[
            ("Cargo.toml", "build = \"b.rs\"\nmembers = [\"crates/*\"]"),
            ("b.rs", "mod c;"),
            ("c.rs", "1"),
            ("crates/m/build.rs", "1"),
            (".cargo/config.toml", "1"),
        ],
        &["Cargo.toml", "b.rs", "c.rs", "crates/m/build.rs", ".cargo/config.toml"],
    ),
    (
        "cargo test --manifest-path=sub/Cargo.toml",
        &[("sub/Cargo.toml", "1"), ("sub/build.rs", "1")],
        &["sub/Cargo.toml", "sub/build.rs"],
    ),
    (
        "git commit -m x",
        &[
            (".git/hooks/pre-commit", "sh tools/check.sh"),
            ("tools/check.sh", "1"),
            (".git/config", "[core]\n\thooksPath = hooks\n"),
            ("hooks/commit-msg", "1"),
        ],
        &[".git/hooks/pre-commit", "tools/check.sh", ".git/config", "hooks/commit-msg"],
    ),
    (
        "git -C sub push",
        &[("sub/.git/config", "[include]\n\tpath = more\n"), ("sub/.git/more", "1")],
        &["sub/.git/config", "sub/.git/more"],
    ),
    (
        "pre-commit run",
        &[(".pre-commit-config.yaml", "entry: ./check\n"), ("check", "#!/bin/sh\n1")],
        &[".pre-commit-config.yaml", "check"],
    ),
    ("pytest", &[("tests/unit/conftest.py", "1"), ("pytest.ini", "1")], &["tests/unit/conftest.py", "pytest.ini"]),
    (
        "pytest -c other.ini --rootdir=sub",
        &[("other.ini", "1"), ("sub/conftest.py", "1")],
        &["other.ini", "sub/conftest.py"],
    ),
    ("tox -c other.ini", &[("other.ini", "commands = bash run.sh"), ("run.sh", "1")], &["other.ini", "run.sh"]),
    (
        "docker build -fother.Dockerfile ctx",
        &[("other.Dockerfile", "COPY start.sh /"), ("ctx/start.sh", "1")],
        &["other.Dockerfile", "ctx/start.sh"],
    ),
    ("docker compose -f c.yml up", &[("c.yml", "build: ./svc"), ("svc/Dockerfile", "1")], &["c.yml", "svc/Dockerfile"]),
    (
        "terraform -chdir=infra apply",
        &[("infra/main.tf", "source = \"./mod\""), ("infra/mod/x.tf", "1"), ("infra/a.tfvars", "1")],
        &["infra/main.tf", "infra/mod/x.tf", "infra/a.tfvars"],
    ),
    (
        "ansible-playbook -i inv site.yml",
        &[("site.yml", "- import_playbook: web.yml"), ("web.yml", "1"), ("inv", "1")],
        &["site.yml", "web.yml", "inv"],
    ),
    ("kubectl apply -fk.yaml", &[("k.yaml", "1")], &["k.yaml"]),
    ("psql -f x.sql", &[("x.sql", "1")], &["x.sql"]),
    ("sqlite3 a.db < x.sql", &[("x.sql", "1")], &["x.sql"]),
    ("ruby -I lib a.rb", &[("a.rb", "require_relative 'b'"), ("b.rb", "1")], &["a.rb", "b.rb"]),
    ("perl a.pl", &[("a.pl", "require './b.pl';"), ("b.pl", "1")], &["a.pl", "b.pl"]),
    ("lua a.lua", &[("a.lua", "require 'm.n'"), ("m/n.lua", "1")], &["a.lua", "m/n.lua"]),
    ("Rscript a.R", &[("a.R", "1"), (".Rprofile", "1")], &["a.R", ".Rprofile"]),
    ("frob --recipe=r.frob", &[("r.frob", "1")], &["r.frob"]),
    ("frob -rr.frob @args", &[("r.frob", "1"), ("args", "1")], &["r.frob", "args"]),
    ("./run.sh", &[("run.sh", "#!/bin/sh\n. ./lib.sh"), ("lib.sh", "1")], &["run.sh", "lib.sh"]),
    (
        "./tool",
        &[("tool", "#!/usr/bin/env python3\nimport subprocess\nsubprocess.run(['sub/x.sh'])"), ("sub/x.sh", "1")],
        &["tool", "sub/x.sh"],
    ),
    ("sed -f s.sed in", &[("s.sed", "1"), ("in", "1")], &["s.sed"]),
    ("awk -f p.awk in", &[("p.awk", "{print}"), ("in", "1")], &["p.awk"]),
    (
        "gradle -b other.gradle x",
        &[("other.gradle", "apply from: 'more.gradle'"), ("more.gradle", "1")],
        &["other.gradle", "more.gradle"],
    ),
    ("cmake -P x.cmake", &[("x.cmake", "include(y.cmake)"), ("y.cmake", "1")], &["x.cmake", "y.cmake"]),
    (
        "ninja -C out -f my.ninja",
        &[("out/my.ninja", "subninja more"), ("out/more", "1")],
        &["out/my.ninja", "out/more"],
    ),
    ("gdb -x cmds -batch", &[("cmds", "1")], &["cmds"]),
    ("ssh -F conf host true", &[("conf", "1")], &["conf"]),
    ("curl -K conf https://example.org", &[("conf", "1")], &["conf"]),
    (
        "bundle exec rake x",
        &[("Rakefile", "load 'tasks/a.rake'"), ("tasks/a.rake", "1"), ("Gemfile", "1")],
        &["Rakefile", "tasks/a.rake", "Gemfile"],
    ),
    ("BASH_ENV=x bash -c 'make a'", &[("x", "1")], &["x"]),
    ("MAKEFILES=x make", &[("x", "1"), ("Makefile", "1")], &["x", "Makefile"]),
    ("NODE_OPTIONS='--require ./x' node a.js", &[("x.js", "1"), ("a.js", "1")], &["x.js", "a.js"]),
    ("git -c core.hooksPath=h commit", &[("h/pre-commit", "1")], &["h/pre-commit"]),
    (
        "make test",
        &[
            ("Makefile", "test:\n\tcd web && npm run all\n"),
            ("web/package.json", r#"{"scripts":{"test":"true","all":"python3 tools/t"}}"#),
            ("web/tools/t", "from lib import (\n  a,\n)\n"),
            ("web/tools/lib/a.py", "1"),
        ],
        &["Makefile", "web/package.json", "web/tools/t", "web/tools/lib/a.py"],
    ),
];

#[test]
fn a_yes_is_void_once_a_file_changes_that_the_call_runs_by() {
    for (command, files, bound) in STEERED {
        let w = world(ASKING);
        let write = |changed: Option<&str>| {
            for (name, text) in *files {
                let more = if changed == Some(*name) { "\n# evil\n" } else { "" };
                w.put(name, &format!("{text}{more}"));
            }
            for script in
                ["run.sh", "tool", "check"].map(|name| w.work().join(name)).iter().filter(|path| path.exists())
            {
                use std::os::unix::fs::PermissionsExt;
                std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        };
        write(None);
        w.remembered(command);
        for name in *bound {
            write(Some(name));
            assert_eq!(w.again(command).decision.answer, Answer::Ask, "{command}: {name} changed");
            write(None);
            assert_eq!(w.again(command).decision.answer, Answer::Allow, "{command}: {name} as it was");
        }
    }
}

/// A command, a file that it works on or makes, and its project.
const UNCONCERNED: &[(&str, &str, Files)] = &[
    ("make", "app", &[("Makefile", "app: main.c\n\tcc -o app main.c\ntest: app\n\t./app\n")]),
    ("make", "main.c", &[("Makefile", "app: main.c\n\tcc -o app main.c\n"), ("main.c", "1")]),
    ("make build", "build/out", &[("Makefile", "build:\n\tmkdir build\n")]),
    ("cargo test", "src/lib.rs", &[("Cargo.toml", "[lib]\npath = \"src/lib.rs\"\n"), ("src/lib.rs", "1")]),
    ("cargo build", "target/debug/x", &[("Cargo.toml", "1")]),
    (
        "npm run build",
        "dist/index.js",
        &[("package.json", r#"{"scripts":{"build":"tsc","start":"node dist/index.js"}}"#)],
    ),
    (
        "npm test",
        "src/a.js",
        &[("package.json", r#"{"main":"src/a.js","scripts":{"test":"jest"}}"#), ("src/a.js", "1")],
    ),
    ("git commit -m x", "src/a.rs", &[(".git/config", "1"), ("src/a.rs", "1")]),
    ("git add src/a.rs", "src/a.rs", &[("src/a.rs", "1")]),
    ("cp a /nonexistent/b", "a", &[("a", "1")]),
    ("grep x data > out", "data", &[("data", "1")]),
    ("pytest", ".pytest_cache/x", &[("pytest.ini", "1")]),
    ("gcc -o app main.c", "app", &[("main.c", "1")]),
    ("frob -o out in", "out", &[("in", "1")]),
    ("terraform plan", "terraform.tfstate", &[("main.tf", "1")]),
];

#[test]
fn a_yes_holds_while_only_what_the_call_works_on_changes() {
    for (command, changed, files) in UNCONCERNED {
        let w = world(ASKING);
        files.iter().for_each(|(name, text)| w.put(name, text));
        w.remembered(command);
        for text in ["two", "\x7fELF\0three"] {
            w.put(changed, text);
            assert_eq!(
                w.again(command).decision.answer,
                Answer::Allow,
                "{command}: {changed} is none of its instructions"
            );
        }
    }
}

#[test]
fn a_yes_to_more_files_than_can_be_looked_at_holds_once_and_says_so() {
    let w = world(ASKING);
    for n in 0..600 {
        w.put(&format!("d/{n}.sh"), "true");
    }
    let command = "cat d/*.sh | bash";
    let id = w.asks(command);
    let question = w.store().approval(&id).unwrap().unwrap().question;
    assert!(question.offers.is_empty() && question.only_once.is_some(), "{question:?}");
    let always = Reply::allow_once().remembered(Remember::Always, Width::Exact);
    let refused = w.reply(&id, &ann(), &always).unwrap_err();
    assert!(refused.to_string().contains("applies once"), "{refused}");
    w.says_yes(&id);
    assert_eq!(w.again(command).decision.answer, Answer::Allow);
    assert_eq!(w.again(command).decision.answer, Answer::Ask);
    // What is looked at counts all the same.
    let id = w.asks(command);
    w.says_yes(&id);
    w.put("d/0.sh", "evil");
    assert_eq!(w.again(command).decision.answer, Answer::Ask);
}

#[test]
fn files_that_name_each_other_come_to_an_end() {
    let w = world(ASKING);
    w.put("a.mk", "include b.mk a.mk\n");
    w.put("b.mk", "include a.mk /dev/zero ../../../../../../etc/passwd .\n");
    std::os::unix::fs::symlink("loop", w.work().join("loop")).unwrap();
    std::os::unix::fs::symlink(".", w.work().join("here")).unwrap();
    w.remembered("make -f a.mk loop here");
    w.put("b.mk", "include a.mk\n");
    assert_eq!(w.again("make -f a.mk loop here").decision.answer, Answer::Ask);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However the option is written, with whatever around it: a yes to the command is one to the file.
    #[test]
    fn no_spelling_of_an_option_hides_its_file(
        program in prop::sample::select(vec!["make", "gmake", "just", "ninja", "docker build", "ansible-playbook", "frob", "kubectl apply"]),
        form in prop::sample::select(vec!["-f F", "-fF", "-f=F", "--file F", "--file=F", "-kfF", "--f=F", "F", "X=F", "-f ./F", "--file=./F", "@F", "-f F,G", "--file=G:F"]),
        before in prop::sample::select(vec!["", "-k", "a", "--", "-j4", "-n -k"]),
        after in prop::sample::select(vec!["", "all", "-k", "b=c"]),
        name in "[a-z]{1,6}[.][a-z]{1,4}",
    ) {
        let w = world(ASKING);
        w.put(&name, "one");
        w.put("G", "one");
        let command = format!("{program} {before} {} {after}", form.replace('F', &name));
        let id = w.asks(&command);
        w.says_yes(&id);
        w.put(&name, "two");
        prop_assert_eq!(w.again(&command).decision.answer, Answer::Ask, "{}", command);
    }

    /// Whatever stands in the files: an answer comes, and the same one while nothing changes.
    #[test]
    fn whatever_the_files_hold_the_same_call_is_the_same(text in prop::collection::vec(any::<u8>(), 0..600), words in "[ -~\\n]{0,300}") {
        let w = world(ASKING);
        for name in ["Makefile", "package.json", "a.py", ".gitconfig"] {
            std::fs::write(w.work().join(name), [words.as_bytes(), &text].concat()).unwrap();
        }
        for command in ["make x", "npm run x", "python3 a.py", "git -c x=y commit"] {
            let id = w.asks(command);
            w.says_yes(&id);
            prop_assert_eq!(w.again(command).decision.answer, Answer::Allow, "{}", command);
        }
    }
}
