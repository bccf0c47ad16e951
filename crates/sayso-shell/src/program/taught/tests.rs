use super::super::text::{self, Source, Words};
use super::super::{Catalogue, Facets, Lesson, Spec, case, spec as built_in};
use super::{is_known, read, spec};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

fn lesson(rank: u8, text: &str) -> Lesson {
    Lesson { name: format!("{rank}.prog"), text: text.to_owned(), rank, of_project: rank == 2 }
}

fn taught(text: &str) -> Catalogue {
    Catalogue::read(vec![lesson(1, text)]).unwrap()
}

fn refused(text: &str) -> String {
    Catalogue::read(vec![lesson(1, text)]).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn said(command: &str, programs: &Catalogue) -> String {
    case::effects(command, programs).join(", ")
}

const SHIP: &str = "
program ship = shp
  style exact global
  -n --dry-run, -v --verbose
  --config FILE : reads
  sub status
  sub deploy : publishes
    --force : changes-service
    operands text read*
  facets interpreter

cases
  ship status                 => run ship
  ship deploy prod plan.json  => run ship, publishes, read plan.json
  shp deploy --force prod     => run shp, publishes, changes-service
  ship deploy --what prod     => run ship, publishes, unknown-option
";

#[test]
fn an_owners_program_is_described_by_its_text() {
    let programs = taught(SHIP);
    let cases = programs.cases();
    assert_eq!(cases.len(), 4);
    for (_, one) in cases {
        assert_eq!(case::check(&one.command, &one.wanted, &programs), Ok(()), "{}", one.command);
    }
    assert!(case::check("ship status", "run ship, publishes", &programs).is_err());
    assert!(programs.facets("ship").has(Facets::INTERPRETER));
    assert!(!programs.facets("other").has(Facets::INTERPRETER));
}

#[test]
fn without_its_text_the_program_is_unknown() {
    assert_ne!(
        said("ship deploy prod plan.json", &taught(SHIP)),
        said("ship deploy prod plan.json", &super::super::BUILT_IN)
    );
}

#[test]
fn a_program_that_sayso_knows_is_made_stricter() {
    let programs = taught("program git\n  sub push\n    -q --quiet : publishes\n  sub fetch : changes-service\n");
    assert!(said("git push -q", &programs).contains("publishes"), "{}", said("git push -q", &programs));
    assert!(said("git push --quiet", &programs).contains("publishes"));
    assert!(!said("git push", &programs).contains("publishes --quiet"));
    assert!(said("git fetch", &programs).contains("changes-service"));
    // What its own table says stays.
    for command in ["git push -f", "git -c alias.x='!ls' x", "git status", "git diff --output=x"] {
        for effect in case::effects(command, &super::super::BUILT_IN) {
            assert!(case::effects(command, &programs).contains(&effect), "{command}: {effect}");
        }
    }
}

#[test]
fn a_subcommand_that_shares_its_description_gets_one_of_its_own() {
    let programs = taught("program cargo\n  sub search : publishes\n");
    assert!(said("cargo search x", &programs).contains("publishes"));
    assert!(!said("cargo info x", &programs).contains("publishes"));
    assert_eq!(said("cargo info x", &programs), said("cargo info x", &super::super::BUILT_IN));
}

#[test]
fn nothing_that_sayso_knows_becomes_looser() {
    for (text, why) in [
        ("program sort\n  -o --output FILE\n", "1.prog:1:"),
        ("program sort\n  -o --output FILE : reads\n", "1.prog:1:"),
        ("program sort\n  --brand-new\n", "1.prog:1:"),
        ("program sort\n  -r --reverse FILE : publishes\n", "another value"),
        ("program sort\n  operands write*\n", "operands"),
        ("program git\n  sub brand-new\n", "brand-new"),
        ("program bash\n  facets filter\n", "harmless"),
        ("program rm\n  facets reader\n", "harmless"),
        ("program python3.12\n  style exact\n  -c CODE\n", "python3.12"),
        ("program rm ship\n", "on its own"),
        ("program grm\n  facets shell\n", "rm"),
        ("program git\n  sub push : publishes unless --dry-run\n", "does"),
    ] {
        let said = refused(text);
        assert!(said.contains(why), "{text:?}: {said}");
    }
}

#[test]
fn of_two_texts_the_machines_counts_and_one_owner_says_a_thing_once() {
    let managed = lesson(0, "program ship\n  sub deploy : publishes\n");
    let user = lesson(1, "program ship\n  sub deploy\n");
    let programs = Catalogue::read(vec![user.clone(), managed]).unwrap();
    assert!(said("ship deploy", &programs).contains("publishes"));
    let twice = Catalogue::read(vec![user.clone(), Lesson { name: "2nd.prog".to_owned(), ..user }]).unwrap_err();
    assert!(twice[0].to_string().starts_with("2nd.prog:1:"), "{}", twice[0]);
}

#[test]
fn a_project_cannot_call_its_programs_harmless() {
    let text = "program ship\n  facets filter interpreter\n";
    let programs = Catalogue::read(vec![lesson(2, text)]).unwrap();
    assert!(!programs.facets("ship").has(Facets::FILTER));
    assert!(programs.facets("ship").has(Facets::INTERPRETER));
    assert!(taught(text).facets("ship").has(Facets::FILTER));
}

#[test]
fn variables_and_files_of_an_owners_program_count() {
    let text = "program ship = shp\n  goes-by ship.toml home .shiprc\n  env SHIP_HOST : changes-what-runs\n  env SHIP_LOG : writes\n";
    let programs = taught(text);
    for command in ["SHIP_HOST=x ship", "SHIP_HOST=x shp"] {
        assert!(said(command, &programs).contains("environment"), "{command}");
    }
    assert!(said("SHIP_LOG=/etc/x ship", &programs).contains("/etc/x"));
    assert!(!said("SHIP_HOST=x cat", &programs).contains("environment"));
    assert!(!said("OTHER=x ship", &programs).contains("environment"));
    let files = programs.taught("ship").unwrap().goes_by().unwrap();
    assert_eq!((files.names, files.home), (&["ship.toml"][..], &[".shiprc"][..]));
    assert!(refused("program ship\n  env SHIP_HOST : ordinary\n").contains("harmless"));
    assert!(refused("program ship\n  env PATH_* : changes-what-runs\n").contains("each variable"));
    assert!(refused("env X : writes\nprogram ship\n").contains("own texts"));
}

#[test]
fn what_was_read_before_is_read_again_when_it_is_asked_for() {
    let first = taught(SHIP);
    let (lessons, names) = first.lessons();
    let again = Catalogue::again(lessons.to_vec(), names.to_vec());
    assert_eq!(said("ship deploy prod", &again), said("ship deploy prod", &first));
    let broken = Catalogue::again(vec![lesson(1, "program git\n  judge x\n")], vec!["git".to_owned()]);
    assert!(broken.facets("git").has(Facets::RUNS_ANYTHING));
    assert!(broken.spec("git").is_none());
}

fn texts(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, found);
        } else {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// All that a table says but for functions, which no text read at run time has.
fn shown(spec: &Spec, out: &mut String) {
    writeln!(out, "{:?} {} {:?}", spec.names, spec.aliased, spec.style).unwrap();
    writeln!(out, "{:?} {:?} {:?}", spec.operands, spec.acts, spec.initials).unwrap();
    for table in spec.options {
        writeln!(out, "{table:?}").unwrap();
    }
    spec.subs.iter().for_each(|sub| shown(sub, out));
}

#[test]
fn a_text_says_the_same_when_sayso_is_built_and_while_it_runs() {
    let mut found = Vec::new();
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"), &mut found);
    found.sort();
    let sources: Vec<Source<'_>> = found.iter().map(|(name, text)| Source { name, text }).collect();
    let programs = text::read(&sources, Words::BuiltIn).unwrap().programs;
    assert!(programs.len() > 400);
    let mut tables = HashMap::new();
    for program in &programs {
        let (mut built, mut read) = (String::new(), String::new());
        shown(built_in(&program.command.names[0]).unwrap(), &mut built);
        shown(&spec(&program.command, &mut tables), &mut read);
        assert_eq!(built, read);
    }
}

#[test]
fn a_text_that_was_read_before_gives_the_same_tables() {
    let source = [Source { name: "in-house.prog", text: "program in-house\n  facets reader\n  sub a\n" }];
    let (one, two) = (read(&source).unwrap(), read(&source).unwrap());
    assert!(std::ptr::eq(one.programs[0].spec, two.programs[0].spec));
    assert_eq!(one.programs[0].facets, [("in-house".to_owned(), Facets::READER)]);
    assert!(is_known("git") && is_known("auggie") && !is_known("in-house"));
}
