//! Edits of the presets: what they loosen is found, and what only tightens is never called looser. Whether an edit changes
//! anything is also asked of the commands that the presets are tested with, which the search does not know.

use super::*;
use crate::presets;
use crate::word::Layer;
use std::fmt::Write as _;

/// Commands by which presets are tested, a verdict and a command on each line.
const POOL: &[&str] = &[
    include_str!("../../tests/cases/developer.txt"),
    include_str!("../../tests/cases/developer-runs.txt"),
    include_str!("../../tests/cases/developer-questions.txt"),
    include_str!("../../tests/cases/read-only.txt"),
    include_str!("../../tests/cases/ci.txt"),
    include_str!("../../tests/cases/locked-down.txt"),
];

fn file(text: &str) -> PolicyText {
    PolicyText { layer: Layer::Given, name: "p.toml".to_owned(), text: text.to_owned(), trusted: true }
}

fn compiled(text: &str) -> (Policy, [PolicyText; 1]) {
    let texts = [file(text)];
    match Policy::compile(&texts) {
        Ok(policy) => (policy, texts),
        Err(problems) => panic!("{problems:#?}\n{text}"),
    }
}

fn side(compiled: &(Policy, [PolicyText; 1])) -> Side<'_> {
    Side { policy: &compiled.0, texts: &compiled.1 }
}

fn compared(old: &str, new: &str) -> Compared {
    compare(side(&compiled(old)), side(&compiled(new)))
}

fn shown(witness: &Option<Witness>) -> Option<(String, Verdict, Verdict)> {
    witness.as_ref().map(|it| (it.shown(), it.old.verdict, it.new.verdict))
}

#[test]
fn a_policy_compared_with_itself_is_the_same() {
    for name in presets::NAMES {
        // Who approves what a deployer publishes stands in the file that extends it.
        let approvals = if *name == *"deployer" { "[approvals.publishers]\nmembers = [\"ann\"]\n" } else { "" };
        let text = format!("{}{approvals}", presets::text(name).unwrap());
        let found = compared(&text, &format!("# A comment.\n{text}"));
        assert_eq!((found.proof, found.looser.is_none(), found.tried), (Proof::Same, true, 0));
    }
}

#[test]
fn the_smallest_call_that_one_allows_and_the_other_does_not_is_found() {
    let cases = [
        ("", "[allow]\nrun = [\"terraform plan\"]\n", "terraform plan"),
        ("[deny]\nrun = [\"git push --force\"]\n", "", "git push --force"),
        ("", "[allow]\nread = [\"/srv/**\"]\n", "/srv/"),
        ("", "[allow]\ntool = [\"mcp:db/get_*\"]\n", "mcp:db/get_"),
        ("", "[allow]\nconnect = [\"docs.rs\"]\n", "docs.rs"),
        (
            "[allow]\nrun = [\"curl\", \"!curl --sends\"]\n",
            "[allow]\nrun = [\"curl\"]\n",
            "curl -d a=b https://example.org/x",
        ),
        ("default = \"ask\"\n", "default = \"allow\"\n", "x"),
        (
            "[allow]\ntool = [\"mcp:*\"]\n[deny]\ntool = [\"mcp:*/delete_*\"]\n",
            "[allow]\ntool = [\"mcp:*\"]\n[deny]\ntool = [\"mcp:db/delete_*\"]\n",
            "delete_",
        ),
    ];
    for (old, new, smallest) in cases {
        let found = compared(old, new);
        let looser = found.looser.as_ref().map(Witness::shown);
        assert!(looser.as_ref().is_some_and(|it| it.contains(smallest)), "{old} -> {new}: {looser:?}");
        // The other way round it is as much stricter, and that is proven.
        let back = compared(new, old);
        assert_eq!(back.looser.as_ref().map(Witness::shown), None, "{new} -> {old}");
        assert!(matches!(back.proof, Proof::OnlyTightens | Proof::Exhausted(_)), "{new} -> {old}: {:?}", back.proof);
        assert!(back.stricter.is_some(), "{new} -> {old}");
    }
}

#[test]
fn what_an_overlap_hides_is_found() {
    // The new allow is hidden by the deny but for names that end in another way.
    let found = compared(
        "[deny]\ntool = [\"mcp:db/*_user\", \"mcp:db/get_\"]\n",
        "[deny]\ntool = [\"mcp:db/*_user\", \"mcp:db/get_\"]\n[allow]\ntool = [\"mcp:db/get_*\"]\n",
    );
    let (shown, old, new) = shown(&found.looser).unwrap();
    assert_eq!((old, new), (Verdict::Ask, Verdict::Allow), "{shown}");
    // Hidden altogether, that is proven: every overlap was tried.
    let hidden = compared(
        "[deny]\ntool = [\"mcp:db/*\"]\n",
        "[deny]\ntool = [\"mcp:db/*\"]\n[allow]\ntool = [\"mcp:db/get\"]\n",
    );
    assert_eq!((hidden.looser.is_none(), hidden.proof), (true, Proof::Exhausted(vec![Verb::Call])));
}

#[test]
fn what_is_not_proven_is_said() {
    let found = compared("[models]\nonly = [\"a/*\"]\n", "[models]\nonly = [\"a/*\", \"b/*\"]\n");
    assert_eq!((found.looser.is_none(), found.proof), (true, Proof::Open(vec!["[models]".to_owned()])));
    let found = compared("[deny]\nrun = [\"re:^zz+top$\"]\n", "");
    assert_eq!(found.proof, Proof::Open(vec!["deny run `re:^zz+top$`".to_owned()]));
}

/// A preset without one of its patterns.
struct Edit {
    preset: &'static str,
    pattern: String,
    whole: String,
    without: String,
    /// What was taken away allows.
    allows: bool,
}

/// Every way to take one pattern from a preset.
fn edits() -> Vec<Edit> {
    let mut found = Vec::new();
    for preset in ["developer", "read-only", "ci", "locked-down"] {
        let mut table: toml::Table = presets::text(preset).unwrap().parse().unwrap();
        // Examples would refuse a file whose rule is not what it was.
        for rule in table.get_mut("rule").unwrap().as_array_mut().unwrap() {
            let rule = rule.as_table_mut().unwrap();
            rule.remove("hits");
            rule.remove("misses");
        }
        let whole = toml::to_string(&table).unwrap();
        let mut places: Vec<(Vec<String>, usize)> = Vec::new();
        for verdict in ["allow", "ask", "deny"] {
            for (verb, _) in table.get(verdict).and_then(toml::Value::as_table).into_iter().flatten() {
                places.push((vec![verdict.to_owned(), verb.clone()], 0));
            }
            for (at, rule) in table["rule"].as_array().unwrap().iter().enumerate() {
                for (verb, _) in rule.get(verdict).and_then(toml::Value::as_table).into_iter().flatten() {
                    places.push((vec!["rule".to_owned(), verdict.to_owned(), verb.clone()], at));
                }
            }
        }
        for (keys, at) in places {
            let verdict = keys[keys.len() - 2].clone();
            let list = |table: &toml::Table| -> Vec<String> {
                let holder = if keys[0] == "rule" { &table["rule"][at] } else { &toml::Value::Table(table.clone()) };
                match &holder[&verdict][keys.last().unwrap()] {
                    toml::Value::String(one) => vec![one.clone()],
                    many => many.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect(),
                }
            };
            let patterns = list(&table);
            for pattern in patterns.iter().filter(|it| !it.starts_with('!')) {
                let rest: Vec<&String> = patterns.iter().filter(|it| *it != pattern).collect();
                let mut edited = table.clone();
                if rest.iter().all(|it| it.starts_with('!')) {
                    if keys[0] == "rule" {
                        edited.get_mut("rule").unwrap().as_array_mut().unwrap().remove(at);
                    } else {
                        edited[&verdict].as_table_mut().unwrap().remove(keys.last().unwrap());
                    }
                } else {
                    let rest = toml::Value::Array(rest.into_iter().map(|it| it.clone().into()).collect());
                    let verbs = match keys[0].as_str() {
                        "rule" => &mut edited["rule"][at][&verdict],
                        _ => &mut edited[&verdict],
                    };
                    verbs.as_table_mut().unwrap().insert(keys.last().unwrap().clone(), rest);
                }
                let without = toml::to_string(&edited).unwrap();
                let allows = verdict == "allow";
                found.push(Edit { preset, pattern: pattern.clone(), whole: whole.clone(), without, allows });
            }
        }
    }
    found
}

/// Whether commands of the pool that name the program of a pattern are judged differently.
fn pool_differs(edit: &Edit, old: &Policy, new: &Policy) -> Option<String> {
    let names: Vec<String> = crate::pattern::expand_braces(&edit.pattern)
        .unwrap_or_default()
        .iter()
        .filter_map(|it| Some(it.split([' ', '|']).next()?.to_owned()))
        .collect();
    let mut trial = Trial::new(old, new, standing::plain(false));
    let lines = POOL.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once(' '));
    for (_, command) in lines.filter(|(_, command)| names.iter().any(|name| command.contains(name.as_str()))) {
        trial.judge(ToolCall::command(command.as_bytes()));
        if let Some(found) = trial.looser.first().or(trial.stricter.first()) {
            return Some(found.shown());
        }
    }
    None
}

#[test]
fn a_hundred_edits_of_the_presets_that_loosen_are_found_and_a_hundred_that_tighten_are_proven() {
    let all = edits();
    assert!(all.len() >= 200, "{}", all.len());
    let (mut loosened, mut tightened, mut changing, mut missed, mut unseen) = (0, 0, 0, Vec::new(), Vec::new());
    for edit in all.iter().step_by(2) {
        // What takes an allow away tightens; what puts it back loosens. Of restrictions it is the reverse.
        let (loose, tight) = if edit.allows { (&edit.whole, &edit.without) } else { (&edit.without, &edit.whole) };
        let (loose, tight) = (compiled(loose), compiled(tight));
        let stricter = compare(side(&loose), side(&tight));
        assert!(stricter.looser.is_none(), "{} {}: {:?}", edit.preset, edit.pattern, shown(&stricter.looser));
        assert!(matches!(stricter.proof, Proof::OnlyTightens | Proof::Same), "{} {}", edit.preset, edit.pattern);
        tightened += 1;
        let looser = compare(side(&tight), side(&loose));
        assert!(looser.stricter.is_none(), "{} {}: {:?}", edit.preset, edit.pattern, shown(&looser.stricter));
        if looser.looser.is_some() {
            loosened += 1;
            changing += 1;
            continue;
        }
        match pool_differs(edit, &tight.0, &loose.0) {
            Some(command) => {
                changing += 1;
                missed.push(format!("{} {}: {command}", edit.preset, edit.pattern));
            }
            None => unseen.push(format!("{} {}", edit.preset, edit.pattern)),
        }
    }
    println!("no visible change:\n{}", unseen.join("\n"));
    let mut report = String::new();
    missed.iter().for_each(|it| writeln!(report, "{it}").unwrap());
    println!("{loosened} loosened, {tightened} tightened, {changing} changed a verdict; not found:\n{report}");
    assert!(loosened >= 100 && tightened >= 100, "{loosened} {tightened}");
    assert!(missed.len() * 50 <= changing, "{report}");
}

/// Two texts, the first of which is the milder one in a way that some call shows.
fn kinds_of_edits() -> Vec<(String, String, String)> {
    let mut found: Vec<(String, String, String)> = Vec::new();
    let mut add = |kind: &str, loose: String, tight: String| found.push((kind.to_owned(), loose, tight));
    for base in ["", "extends = [\"locked-down\"]\n"] {
        for (verb, pattern, except) in [
            ("run", "acmectl", "acmectl wipe"),
            ("connect", "*.example.org", "a.example.org"),
            ("tool", "mcp:zz/*", "mcp:zz/x"),
        ] {
            let rule = |except: &str| format!("{base}[allow]\n{verb} = [\"{pattern}\"{except}]\n");
            add("exception removed", rule(""), rule(&format!(", \"!{except}\"")));
        }
        let set = |more: &str| format!("{base}[set]\nmine = [\"acmectl get\"{more}]\n[allow]\nrun = [\"@mine\"]\n");
        add("set widened", set(", \"acmectl list\""), set(""));
        let hide = |more: &str| format!("{base}[tools]\nhide = [\"web_fetch\"{more}]\n");
        add("hidden removed", hide(""), hide(", \"file_read\""));
        let only = |more: &str| format!("{base}[tools]\nonly = [\"file_read\"{more}]\n");
        add("tool listed", only(", \"bash_execute\""), only(""));
        for key in ["calls", "tokens", "deletes"] {
            let limit = |most: u32| format!("{base}[limits.session]\n{key} = {most}\n");
            add("limit raised", limit(50), limit(5));
        }
    }
    found
}

#[test]
fn larger_limits_and_sets_and_fewer_exceptions_and_hidden_tools_are_found_and_the_way_back_is_proven() {
    for (kind, loose, tight) in &kinds_of_edits() {
        let (loose_side, tight_side) = (compiled(loose), compiled(tight));
        let found = compare(side(&tight_side), side(&loose_side));
        assert!(found.looser.is_some(), "{kind}:\n{loose}---\n{tight}");
        let back = compare(side(&loose_side), side(&tight_side));
        assert!(
            back.looser.is_none() && !matches!(back.proof, Proof::Open(_)),
            "{kind}: {:?}\n{loose}---\n{tight}",
            back.proof
        );
    }
}
