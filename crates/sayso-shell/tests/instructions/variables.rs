//! Files that a command names by a variable or by a setting.

use super::*;

#[test]
fn a_variable_that_changes_what_runs_binds_the_files_it_names() {
    all_bound(&[
        ("BASH_ENV=x bash -c true", &[("x", "1")], &["x"]),
        ("BASH_ENV=./x make", &[("x", "1"), ("Makefile", "")], &["x", "Makefile"]),
        ("export BASH_ENV=x; bash -c true", &[("x", "1")], &["x"]),
        ("env ENV=conf/x sh -c true", &[("conf/x", ". ./y"), ("y", "1")], &["conf/x", "y"]),
        (
            "PYTHONSTARTUP=x.py python3 a.py",
            &[("x.py", "import z"), ("z.py", ""), ("a.py", "")],
            &["x.py", "z.py", "a.py"],
        ),
        ("MAKEFILES='x y' make", &[("x", "include z"), ("y", ""), ("z", "")], &["x", "y", "z"]),
        ("MAKEFLAGS='-f x -C sub' make", &[("x", ""), ("sub/Makefile", "")], &["x", "sub/Makefile"]),
        (
            "GIT_CONFIG_GLOBAL=c git commit",
            &[("c", "[core] hooksPath=h"), ("h/pre-commit", "1")],
            &["c", "h/pre-commit"],
        ),
        (
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=h git commit",
            &[("h/pre-commit", "1")],
            &["h/pre-commit"],
        ),
        ("GIT_CONFIG_PARAMETERS=\"'core.hooksPath=h'\" git commit", &[("h/pre-commit", "1")], &["h/pre-commit"]),
        ("GIT_SSH_COMMAND='sh ./tunnel -F conf' git push", &[("tunnel", "1"), ("conf", "1")], &["tunnel", "conf"]),
        ("git -c core.hooksPath=h commit", &[("h/pre-commit", "1")], &["h/pre-commit"]),
        ("git -c core.hooksPath=h/ commit -m x", &[("h/pre-commit", "1")], &["h/pre-commit"]),
        ("git -c include.path=x status", &[("x", "[alias]\n\ty = !./z\n"), ("+z", "1")], &["x", "z"]),
        ("git -c core.sshCommand=./x push", &[("x", "1")], &["x"]),
        ("git -c alias.y='!sh x' y", &[("x", "1")], &["x"]),
        ("git --exec-path=lib status", &[("lib/git-x", "1")], &["lib/git-x"]),
        (
            "NODE_OPTIONS='--require ./x' node a.js",
            &[("x.js", "require('./y')"), ("y.js", ""), ("a.js", "")],
            &["x.js", "y.js"],
        ),
        ("NODE_OPTIONS=--require=./x.cjs npm test", &[("x.cjs", ""), ("package.json", "{}")], &["x.cjs"]),
        ("NODE_OPTIONS='--import=./x.mjs' npx jest", &[("x.mjs", "")], &["x.mjs"]),
        ("RUBYOPT=-r./x ruby a.rb", &[("x.rb", ""), ("a.rb", "")], &["x.rb"]),
        ("RUBYOPT='-Ilib -rx' ruby a.rb", &[("lib/x.rb", ""), ("a.rb", "")], &["lib/x.rb"]),
        ("PERL5LIB=lib PERL5OPT=-Mx perl a.pl", &[("lib/x.pm", ""), ("a.pl", "")], &["lib/x.pm"]),
        ("PERL5OPT=-Mlib=p,-MA::B perl a.pl", &[("p/A/B.pm", ""), ("a.pl", "")], &["p/A/B.pm"]),
        ("LD_PRELOAD=./x.so make", &[("x.so", "\x7fELF")], &["x.so"]),
        ("LD_PRELOAD=/w/x.so:lib/y.so ls", &[("x.so", "\x7fELF"), ("lib/y.so", "\x7fELF")], &["x.so", "lib/y.so"]),
        ("LD_LIBRARY_PATH=lib make", &[("lib/y.so.1", "\x7fELF")], &["lib/y.so.1"]),
        ("LESSOPEN='|./pre %s' less a", &[("pre", "1"), ("a", "")], &["pre"]),
        ("JAVA_TOOL_OPTIONS=-javaagent:x.jar gradle test", &[("x.jar", "1")], &["x.jar"]),
        ("PYTEST_ADDOPTS='-p plug.in' pytest", &[("plug/in.py", "")], &["plug/in.py"]),
        (
            "PYTHONPATH=lib python3 a.py",
            &[("a.py", "import b"), ("lib/b.py", ""), ("lib/sitecustomize.py", "")],
            &["lib/b.py", "lib/sitecustomize.py"],
        ),
        ("LUA_INIT=@x.lua lua a.lua", &[("x.lua", ""), ("a.lua", "")], &["x.lua"]),
        ("CC=./cc make", &[("+cc", "\x7fELF")], &["cc"]),
        ("GOFLAGS=-toolexec=./t go build", &[("+t", "\x7fELF")], &["t"]),
        (
            "XDG_CONFIG_HOME=conf git commit",
            &[("conf/git/config", "[core]\n hooksPath = h"), ("h/pre-commit", "")],
            &["conf/git/config", "h/pre-commit"],
        ),
        ("HOME=me git commit", &[("me/.gitconfig", "")], &["me/.gitconfig"]),
        ("DOTENV=./x.sh frob", &[("x.sh", "")], &["x.sh"]),
        ("bash --rcfile x -ic true", &[("x", "1")], &["x"]),
        ("bash --init-file x -ic true", &[("x", "1")], &["x"]),
        ("sudo BASH_ENV=x bash -c true", &[("x", "1")], &["x"]),
        ("node -r ./pre a.js", &[("pre.js", ""), ("a.js", "")], &["pre.js"]),
        ("mocha --require ./pre", &[("pre/index.js", "")], &["pre/index.js"]),
        ("poetry run pytest", &[("tests/conftest.py", ""), ("pyproject.toml", "")], &["tests/conftest.py"]),
        ("python3 -m pytest", &[("tests/conftest.py", "")], &["tests/conftest.py"]),
    ]);
}

#[test]
fn a_variable_whose_files_cannot_be_told_makes_a_yes_hold_once() {
    all_once(&[
        ("BASH_ENV=$X bash -c true", &[]),
        ("LD_PRELOAD=\"$(cat x)\" make", &[("x", "")]),
        ("PATH=. make", &[]),
        ("HOME=/w git commit", &[]),
        ("GIT_CONFIG_VALUE_0=.. git commit", &[]),
        ("git -c core.hooksPath=$X commit", &[]),
        ("git -c core.hooksPath=. commit", &[]),
        ("RUBYOPT=-r$X ruby a.rb", &[("a.rb", "")]),
    ]);
}

#[test]
fn variables_and_settings_that_name_no_instructions_bind_nothing() {
    none_bound(&[
        ("PYTHONPATH=src pytest", &[("src/app.py", "")], &["src/app.py"]),
        ("CFLAGS='-O2 -Iinclude' make", &[("include/a.h", "")], &["include/a.h"]),
        ("OUT=out.txt make", &[("out.txt", "")], &["out.txt"]),
        ("GIT_PAGER=cat git log", &[("a", "")], &["a"]),
        ("RUST_LOG=debug cargo test", &[("debug/x", "")], &["debug/x"]),
        ("git commit -F msg", &[("msg", "")], &["msg"]),
        ("git -c user.name=src commit", &[("src.txt", "")], &["src.txt"]),
    ]);
}
