//! A yes to a program in a workspace: what it carries, and what asks again.

use super::*;
use sayso_policy::shell::Environment;
use std::os::unix::fs::PermissionsExt;

/// Only what runs is asked about.
const ASKING: &str =
    "default = { read = \"allow\", write = \"allow\", delete = \"allow\", connect = \"allow\", run = \"ask\" }\n";

/// An environment with this PATH and nothing else.
struct Path(String);

impl Environment for Path {
    fn get(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| self.0.clone())
    }
}

impl World {
    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.dir.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Has a program answered for at the width of the program, always and here.
    fn program_wide(&self, command: &str) {
        let id = self.asks(command);
        self.reply(&id, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Program))
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(self.again(command).decision.answer, Answer::Allow, "{command}");
        assert_eq!(self.again(command).decision.answer, Answer::Allow, "{command}");
    }

    fn in_path(&self, command: &str, path: &str) -> Judged {
        let gate = self.gate().with_facts(Box::new(RealFiles), Box::new(Path(path.to_owned())));
        gate.judge(self.call("s", command), circumstances(Asking::Ticket { asked: false }), FactsOf::Gate)
            .settle()
            .record()
    }
}

#[test]
fn a_yes_to_a_program_in_the_workspace_is_none_to_it_elsewhere() {
    for (command, inside, elsewhere) in [
        ("make", "make -C sub", "make -C OTHER"),
        ("make", "make -j2 all", "make -COTHER"),
        ("make", "make sub", "make --directory=OTHER"),
        ("make", "make sub", "make --direc OTHER all"),
        ("make", "make sub", "make -f OTHER/Makefile"),
        ("make", "make sub", "cd OTHER && make"),
        ("make", "make sub", "env -C OTHER make"),
        ("make", "make sub", "make -C $HOME/x"),
        ("make", "make sub", "make -C ../other"),
        ("make", "make sub", "make -C sub/../link"),
        ("npm test", "npm test --silent", "npm --prefix OTHER test"),
        ("npm test", "npm --prefix sub test", "npm -C OTHER test"),
        ("git push", "git -C sub push", "git -C OTHER push"),
        ("git push", "git push", "git -C link push"),
        ("cargo build", "cargo build --release", "cargo build --manifest-path OTHER/Cargo.toml"),
        ("cargo build", "cargo build", "cargo build --manifest-path=../other/Cargo.toml"),
        ("pytest", "pytest sub", "pytest --rootdir OTHER"),
        ("pytest", "pytest -q", "pytest --rootdir=OTHER"),
        ("pytest", "pytest", "pytest OTHER"),
        ("go test", "go test ./...", "go test -C OTHER"),
        ("just x", "just x", "just -d OTHER -f OTHER/justfile x"),
        ("terraform plan", "terraform plan", "terraform -chdir=OTHER plan"),
        ("frob x", "frob y", "frob --dir=OTHER"),
        ("frob x", "frob y", "frob -dOTHER"),
    ] {
        let w = world(ASKING);
        w.folder("work/sub");
        let other = w.folder("other");
        for name in ["Makefile", "Cargo.toml", "justfile"] {
            std::fs::write(other.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink(&other, w.work().join("link")).unwrap();
        w.program_wide(command);
        let answer = |command: &str| w.again(&command.replace("OTHER", other.to_str().unwrap())).decision;
        let carried = answer(inside);
        assert_eq!(carried.answer, Answer::Allow, "{command}: {inside}: {:?}", carried.reasons);
        assert_eq!(answer(elsewhere).answer, Answer::Ask, "{command}: {elsewhere}");
    }
}

#[test]
fn a_yes_to_a_program_is_none_to_options_that_make_it_run_or_write_something_else() {
    for (command, also, not) in [
        ("eslint src", "eslint -f json src", "eslint -f ./evil.js src"),
        ("eslint src", "eslint --format stylish src", "eslint --format=evil-formatter src"),
        ("eslint src", "eslint --quiet src", "eslint -c evil.js src"),
        ("jest", "jest --verbose", "jest --reporters ./evil.js"),
        ("jest", "jest --reporters=default", "jest --reporters=evil-reporter"),
        ("vitest run", "vitest run", "vitest run --reporter=./evil.js"),
        ("rubocop src", "rubocop src", "rubocop -c evil.yml src"),
        ("rubocop src", "rubocop src", "rubocop --config=evil.yml src"),
        ("rubocop src", "rubocop src", "rubocop --require ./evil.js src"),
        ("rubocop src", "rubocop --only Style/A src", "rubocop -r ./later src"),
        ("rubocop -c good.yml src", "rubocop -c good.yml", "rubocop -c evil.yml src"),
        ("rubocop -c good.yml src", "rubocop --config=good.yml src", "rubocop -c good.yml -c evil.yml src"),
        ("jest --env=good", "jest --env good --verbose", "jest --env=good --env=evil"),
        ("jest", "jest --env jsdom", "jest --env evil"),
        ("vitest run", "vitest run", "vitest run --globalSetup ./later.ts"),
        ("vitest run", "vitest run", "vitest run --config=later.ts"),
        ("mocha", "mocha --ui tdd", "mocha --ui evil"),
        ("gradle test", "gradle test --info", "gradle -b evil.mk test"),
        ("gradle test", "gradle test", "gradle -I later.gradle test"),
        ("mvn test", "mvn -q test", "mvn -f src test"),
        ("mvn test", "mvn test", "mvn -s later/settings.xml test"),
        ("frob x", "frob -v y", "frob --plugin ./later"),
        ("frob x", "frob y", "frob --plugins=src"),
        ("golangci-lint run", "golangci-lint run", "golangci-lint run -c evil.yml"),
        ("mypy src", "mypy src", "mypy --config-file evil.yml src"),
        ("pylint src", "pylint src", "pylint --rcfile=evil.yml src"),
        ("pytest", "pytest -q", "pytest -c evil.yml"),
        ("tsc --noEmit", "tsc --noEmit --strict", "tsc"),
        ("tsc --noEmit", "tsc --noEmit", "tsc -p evil.json"),
        ("black --check src", "black --check src", "black src"),
        ("cargo fmt --check", "cargo fmt --check", "cargo fmt"),
        ("make -n", "make -n all", "make"),
        ("prettier --check src", "prettier --check src", "prettier --write src"),
        ("git config user.name", "git config user.name", "git config core.pager evil"),
        ("make", "make all", "make -f evil.mk"),
        ("make", "make -k", "make --eval='x:;evil'"),
        ("git log", "git log -3", "git -c core.pager=evil log"),
        ("terraform plan", "terraform plan", "terraform apply"),
        ("docker-compose ps", "docker-compose ps", "docker-compose -f evil.yml ps"),
    ] {
        let w = world(ASKING);
        w.folder("work/src");
        for name in ["evil.js", "evil.yml", "evil.json", "evil.mk", "good.yml"] {
            w.file(name, "text");
        }
        let id = w.asks(command);
        let wide = Reply::allow_once().remembered(Remember::Always, Width::Program);
        if w.reply(&id, &ann(), &wide).is_err() {
            // Not offered: then it carries to nothing.
            w.says_yes(&id);
            assert_eq!(w.again(command).decision.answer, Answer::Allow, "{command}");
            assert_eq!(w.again(not).decision.answer, Answer::Ask, "{command}: {not}");
            continue;
        }
        assert_eq!(w.again(command).decision.answer, Answer::Allow, "{command}");
        let carried = w.again(also).decision;
        assert_eq!(carried.answer, Answer::Allow, "{command}: {also}: {:?}", carried.reasons);
        assert_eq!(w.again(not).decision.answer, Answer::Ask, "{command}: {not}");
    }
}

#[test]
fn a_yes_to_a_program_is_one_to_its_file() {
    let w = world(ASKING);
    let (one, two) = (w.folder("one"), w.folder("two"));
    let program = |folder: &PathBuf, text: &str| {
        let path = folder.join("frob");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    program(&one, "#!/bin/sh\n");
    let path = format!("{}:{}", two.display(), one.display());
    let give = |path: &str| {
        let id = w.in_path("frob a", path).question.unwrap();
        w.reply(&id, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Program)).unwrap();
        // The call itself runs on the yes.
        assert_eq!(w.in_path("frob a", path).decision.answer, Answer::Allow);
    };
    let answer = |command: &str, path: &str| w.in_path(command, path).decision.answer;
    give(&path);
    for command in ["frob b", "frob c"] {
        assert_eq!(answer(command, &path), Answer::Allow, "{command}");
    }
    // The same file in a shorter PATH is the same program.
    assert_eq!(answer("frob d", one.to_str().unwrap()), Answer::Allow);
    // A function, an alias, another PATH in the call itself.
    for command in ["frob() { evil; }; frob b", "shopt -s expand_aliases\nalias frob=evil\nfrob b", "PATH=/tmp frob b"]
    {
        assert_eq!(answer(command, &path), Answer::Ask, "{command}");
    }
    // One of the same name that comes first.
    program(&two, "#!/bin/sh\nevil\n");
    assert_eq!(answer("frob b", &path), Answer::Ask);
    std::fs::remove_file(two.join("frob")).unwrap();
    assert_eq!(answer("frob b", &path), Answer::Allow);
    // A link that leads elsewhere.
    let three = w.folder("three");
    program(&three, "#!/bin/sh\nevil\n");
    std::fs::rename(one.join("frob"), one.join("real")).unwrap();
    std::os::unix::fs::symlink(three.join("frob"), one.join("frob")).unwrap();
    assert_eq!(answer("frob b", &path), Answer::Ask);
    std::fs::remove_file(one.join("frob")).unwrap();
    // It is gone: nobody said yes to whatever comes.
    assert_eq!(answer("frob b", &path), Answer::Ask);
    // Written over.
    program(&one, "#!/bin/sh\n");
    give(&path);
    assert_eq!(answer("frob b", &path), Answer::Allow);
    program(&one, "#!/bin/sh\nevil\n");
    assert_eq!(answer("frob b", &path), Answer::Ask);
}
