use super::*;

fn built(text: &str) -> Document {
    read(&[Source { name: "t.prog", text }], Words::BuiltIn).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The mistakes of a text: line, column, and the beginning of what is said.
fn wrong(text: &str, words: Words) -> Vec<String> {
    let problems = read(&[Source { name: "t.prog", text }], words).err().unwrap_or_default();
    problems.iter().map(|problem| format!("{}:{} {}", problem.line, problem.column, problem.text)).collect()
}

#[test]
fn a_text_becomes_a_program_with_its_options_operands_and_subcommands() {
    let document = built(
        "# A comment.\n\
         options common\n  -v --verbose\n\n\
         words code js ts\n\
         program tool other\n\
         \x20 style exact leading\n\
         \x20 sub-style gnu negates\n\
         \x20 -o --output FILE, -f : writes\n\
         \x20 --arg NAME VALUE, --color [WHEN]\n\
         \x20 with common\n\
         \x20 operands text sources(@code)* write else reads-here\n\
         \x20 facets other : reader\n\
         \x20 sub install = i add \\\n\
         \x20     a : installs unless --dry-run -n, connects package index\n\
         \x20   does builds\n\
         \x20   judge here\n\
         \x20   sub deep\n\
         \x20     style exact\n\
         cases\n\
         \x20 tool -o \"a\" \\ =>  | |\n",
    );
    let [Program { command, .. }] = document.programs.as_slice() else { panic!() };
    assert_eq!(command.names, ["tool", "other"]);
    assert!(command.style.has(Style::LEADING) && !command.style.has(Style::ABBREVIATES));
    let spellings: Vec<_> = command
        .options
        .iter()
        .flat_map(|options| options.spellings.iter().map(move |s| (options.spelled(s), s)))
        .map(|(name, s)| format!("{name} {:?} {:?}", s.takes, s.does))
        .collect();
    let wanted = [
        "-o Value Writes",
        "--output Value Writes",
        "-f Nothing Writes",
        "--arg Two Nothing",
        "--color Joined Nothing",
        "-v Nothing Nothing",
        "--verbose Nothing Nothing",
    ];
    assert_eq!(spellings, wanted);
    assert_eq!(command.operands.first, [Role::Text]);
    assert_eq!(command.operands.rest, Role::Sources("js ts".to_owned()));
    assert_eq!((command.operands.last.clone(), command.operands.absent), (Some(Role::Write), Absent::ReadsHere));
    let [sub] = command.subs.as_slice() else { panic!() };
    assert!(sub.aliased && sub.names == ["install", "i", "add", "a"], "{:?}", sub.names);
    let unless = Act::NamedUnless(Code::Installs, vec!["--dry-run".to_owned(), "-n".to_owned()]);
    assert_eq!(sub.acts, [unless, Act::Connects("package index".to_owned()), Act::Builds]);
    assert!(sub.style.has(Style::NEGATES) && sub.judge.as_deref() == Some("here"));
    assert_eq!(sub.subs.first().map(|deep| deep.style), Some(Style::EXACT));
    assert_eq!(document.facets, [("other".to_owned(), Facets::READER)]);
    assert_eq!(document.cases.first().map(|case| case.command.as_str()), Some("tool -o \"a\" \\"));
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let cases = [
        ("program a\n  -o FILE : wriets\n", "2:13 `wriets` is not something"),
        ("program a\n  -o file\n", "2:6 `file` is no option"),
        ("program a\n  -o FILE -p\n", "2:11 a spelling behind"),
        ("program a\n  -o, -o\n", "2:7 `-o` stands twice"),
        ("program a\n  frobnicate\n", "2:3 `frobnicate` is no word"),
        ("program a\n  style gun\n", "2:9 a style begins with"),
        ("program a\n  with nothing\n", "2:8 nothing is called `nothing`"),
        ("program a\n  sub\n", "2:3 `sub` needs a name"),
        ("program a\n  sub b : explodes\n", "2:11 `explodes` is nothing"),
        ("program a\n  operands read* write* x\n", "2:18 one role has a star"),
        ("program a\n  operands read* else never\n", "2:18 behind `else`"),
        ("program a\n\t-x\n", "2:1 a tab"),
        ("program a\n  sub b\n -x\n", "3:2 indented differently"),
        ("program a\n  -x\n    -y\n", "3:5 nothing stands indented"),
        ("program a\nprogram a\n", "2:1 the program `a` stands twice"),
        ("program a\n  sub b\n  sub c b\n", "3:3 the subcommand `b` stands twice"),
        ("program a\n  facets red\n", "2:10 `red` is no facet"),
        ("program a\n  facets b : reader\n", "2:10 `b` is none of the names"),
        ("program a\n  facets \"\n", "2:10 a quote"),
        ("program a b = c\n", "1:1 one name"),
        ("prgram a\n", "1:1 `prgram` begins nothing"),
        ("cases\n  ls\n", "2:3 a case is"),
        ("options x\n  y\n", "2:3 here stand options alone"),
    ];
    for (text, wanted) in cases {
        let told = wrong(text, Words::BuiltIn);
        assert!(told.iter().any(|line| line.starts_with(wanted)), "{text:?}: {told:?}");
    }
}

#[test]
fn an_owner_cannot_name_functions_or_claim_what_only_sayso_knows() {
    for text in [
        "program a\n  judge git::remote::push\n",
        "program a\n  always x\n",
        "program a\n  style exact raw\n",
        "program a\n  facets idle\n",
        "program a\n  facets only-starts hands-on\n",
        "known a\n  facets agent\n",
        "family takes-data\n",
    ] {
        assert_eq!(wrong(text, Words::BuiltIn), [""; 0], "{text}");
        assert_eq!(wrong(text, Words::Owner).len(), 1, "{text}");
    }
    assert_eq!(wrong("program a\n  facets reader filter agent runs-anything\n", Words::Owner), [""; 0]);
}

#[test]
fn what_comes_of_a_text_stays_in_proportion_to_it() {
    // Each group holds the one before it twice.
    let mut text = String::from("subs g0\n  sub s\n");
    for level in 1..40 {
        text.push_str(&format!("subs g{level}\n  sub a\n    with g{0}\n  sub b\n    with g{0}\n", level - 1));
    }
    assert!(wrong(&text, Words::Owner).iter().any(|told| told.contains("too many subcommands")));
    let deep: String = (0..30).map(|depth| format!("{}sub a\n", " ".repeat(depth + 1))).collect();
    assert!(wrong(&format!("program p\n{deep}"), Words::Owner).iter().any(|told| told.contains("levels deep")));
    assert_eq!(wrong(&"x\n".repeat(30_000), Words::Owner).len(), 1);
    assert_eq!(wrong(&"#".repeat(line::MOST_BYTES + 1), Words::Owner).len(), 1);
    let long =
        format!("program p\n  {}\n", (0..20_000).map(|n| format!("--option-{n}")).collect::<Vec<_>>().join(", "));
    assert!(wrong(&long, Words::Owner).iter().any(|told| told.contains("too long")));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn no_text_breaks_the_reader(text in "(program|sub|with|-o|style|operands|facets|cases|options|subs|:|=|,|\\\\|\"|\\n|  | |a|é|\u{0}|\\t|=>){0,60}") {
        let _ = read(&[Source { name: "t", text: &text }], Words::Owner);
        let _ = crate::program::taught::read(&[Source { name: "t", text: &text }]);
    }
}
