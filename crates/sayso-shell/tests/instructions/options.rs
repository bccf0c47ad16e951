//! Options that name what a program goes by: a yes to the program does not carry to them.

use super::*;
use sayso_shell::instruct::options_with_files;
use sayso_shell::{Carry, NamedBy};

/// Whether a yes to the program alone would not carry to this: an option that names files, or one that needs a yes of its own.
fn needs_its_own(command: &str) -> bool {
    let mut files = MemoryFiles::new();
    files.folder("/w/dir").folder("/w/app").file("/w/x", b"").file("/w/x.js", b"").file("/w/dir/y", b"");
    let analysis = analysed(command, &files);
    let named =
        analysis.effects.iter().any(|effect| matches!(&effect.carry, Carry::Named { by: NamedBy::Flag(_), .. }));
    named || analysis.runs.iter().any(|run| !options_with_files(run, &files).is_empty())
}

#[test]
fn an_option_that_names_what_a_program_goes_by_needs_a_yes_of_its_own() {
    let carried: Vec<&str> = [
        "rubocop -r ./x src",
        "rubocop -r./later src",
        "rubocop --require later src",
        "rubocop -r later src",
        "rubocop --plugin later",
        "rubocop -f Later::Formatter src",
        "rubocop -c dir/later.yml",
        "vitest --config x",
        "vitest run --config=later.ts",
        "vitest --globalSetup ./x",
        "vitest --root dir",
        "vitest --environment ./x",
        "gradle -I x build",
        "gradle --init-script later.gradle build",
        "gradle -b x build",
        "gradle -b ./later build",
        "gradle --build-file dir/later build",
        "gradle -c x build",
        "mvn -f x test",
        "mvn -f dir test",
        "mvn --file=dir/later.xml test",
        "mvn -s x test",
        "mvn -s ./later test",
        "mvn --settings dir/later.xml test",
        "mocha --ui ./x",
        "mocha --ui=later",
        "mocha --ui later",
        "mocha --reporter ./x",
        "mocha --reporter later",
        "mocha --require later",
        "jest --env ./x",
        "jest --env=later",
        "jest --testEnvironment later",
        "jest --config x",
        "jest --config=later.js",
        "eslint --rulesdir dir src",
        "eslint --resolve-plugins-relative-to dir src",
        "eslint --parser ./x src",
        "frob --plugin ./later",
        "frob --plugin=dir",
        "frob --plugin dir",
        "frob -p dir/later",
        "frob -I./later",
        "frob --load=../later",
        "frob --load ~/later",
        "frob --load=@dir/args",
        "pytest -p later --rootdir dir",
        "pytest -c later/x.ini",
        "stylelint --custom-syntax ./x src",
        "stylelint --config-basedir dir src",
        "phpstan analyse -a dir/later.php",
        "playwright test -c later",
    ]
    .into_iter()
    .filter(|command| !needs_its_own(command))
    .collect();
    assert!(carried.is_empty(), "carried: {carried:#?}");
}

#[test]
fn options_that_name_nothing_to_go_by_are_carried() {
    let asked: Vec<&str> = [
        "go test -run TestA/b ./...",
        "cargo test -p app",
        "cargo test --target-dir out/x",
        "make -C dir",
        "npm --prefix dir test",
        "jest --verbose",
        "jest -t 'a/b'",
        "jest --coverageDirectory ./out",
        "jest --env jsdom",
        "jest --env=node",
        "mocha --ui tdd",
        "mocha --ui bdd",
        "vitest --ui",
        "tsc --outDir ./out",
        "rubocop src",
        "rubocop --only Style/Foo src",
        "rubocop --format json src",
        "frob x",
        "frob -v",
        "frob --url https://example.org/a",
        "gradle build --info",
        "mvn -q test",
    ]
    .into_iter()
    .filter(|command| needs_its_own(command))
    .collect();
    assert!(asked.is_empty(), "asked about: {asked:#?}");
}
