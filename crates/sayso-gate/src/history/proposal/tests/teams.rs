//! What five proposals are worth to teams with different habits, each a file of calls: how often each is made, and what no
//! proposal may ever let pass.

use super::*;
use sayso_policy::Request;

/// A team, and how many of its prompts at most are left with the first five proposals, in percent.
const TEAMS: &[(&str, &str, usize)] = &[
    ("web", include_str!("../teams/web.txt"), 35),
    ("infra", include_str!("../teams/infra.txt"), 35),
    ("science", include_str!("../teams/science.txt"), 35),
    ("backend", include_str!("../teams/backend.txt"), 50),
];

/// Every text that `<a|b>` stands for.
fn forms(text: &str) -> Vec<String> {
    let choice = text.split_once('<').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('>')?;
        inside.contains('|').then_some((before, inside, after))
    });
    let Some((before, inside, after)) = choice else { return vec![text.to_owned()] };
    let rest = forms(after);
    inside.split('|').flat_map(|one| rest.iter().map(move |rest| format!("{before}{one}{rest}"))).collect()
}

fn call(text: &str, number: usize) -> ToolCall {
    let call = match text.strip_prefix("tool ") {
        Some(rest) => {
            let (name, arguments) = rest.split_once(' ').unwrap();
            ToolCall::tool(name, serde_json::from_str(arguments).unwrap())
        }
        // What is written into the command is another each time.
        None if text.ends_with("<<'P'") => ToolCall::command(format!("{text}\nprint({number})\nP").into_bytes()),
        None => ToolCall::command(text.as_bytes()),
    };
    ToolCall {
        cwd: Some(WORKSPACE.into()),
        workspace: Workspace::new(WORKSPACE, Some(Path::new(HOME))),
        home: Some(HOME.into()),
        ..call
    }
}

struct Team {
    /// Calls with how often each is made.
    made: Vec<(ToolCall, usize)>,
    never: Vec<ToolCall>,
}

fn team(text: &str) -> Team {
    let mut team = Team { made: Vec::new(), never: Vec::new() };
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (often, text) = line.split_once(' ').unwrap();
        let forms = forms(text);
        match often.parse::<usize>() {
            Err(_) => team.never.extend(forms.iter().map(|form| call(form, 0))),
            Ok(often) => {
                for (at, form) in forms.iter().enumerate() {
                    let share = often / forms.len() + usize::from(at < often % forms.len());
                    match form.ends_with("<<'P'") {
                        true => team.made.extend((0..share).map(|number| (call(form, number), 1))),
                        false if share > 0 => team.made.push((call(form, 0), share)),
                        false => {}
                    }
                }
            }
        }
    }
    team
}

fn shown(call: &ToolCall) -> String {
    match &call.request {
        Request::Command(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Request::Tool { name, arguments, .. } => format!("{name} {arguments}"),
    }
}

#[test]
fn five_proposals_spare_most_prompts_of_each_team_and_let_nothing_pass_that_loses_something() {
    let dir = tempfile::tempdir().unwrap();
    let places = Places::find(Home::At(dir.path())).unwrap();
    let mut files = MemoryFiles::new();
    files.folder(WORKSPACE);
    let facts = Facts { files: &files, env: &NoEnvironment };
    for (name, text, most) in TEAMS {
        let text_of = |rules: &str| PolicyText {
            layer: sayso_policy::Layer::User,
            name: "p.toml".to_owned(),
            text: format!("extends = [\"developer\"]\n\n{rules}"),
            trusted: true,
        };
        let in_force = Arc::new(InForce::given(vec![text_of("")]).unwrap());
        let team = team(text);
        let mut asks = Vec::new();
        for (call, calls) in &team.made {
            let past = PastCall { outcome: Outcome::Ran, ..PastCall::new(call.clone()) };
            let (operation, decision) = past.judge(&in_force.policy, facts);
            if decision.verdict == Verdict::Ask {
                asks.push(Ask { past, operation, decision, policy: 0, calls: *calls, refused: 0 });
            }
        }
        let before: usize = asks.iter().map(|ask| ask.calls).sum();
        let found = proposals(&asks, &Rulebook::new(&places, vec![Arc::clone(&in_force)]), 10, facts);

        // By judging again with the rules as they would be written.
        let written = |found: &[Proposal]| {
            let rules: Vec<&str> = found.iter().map(|it| it.rule.as_str()).collect();
            InForce::given(vec![text_of(&rules.join("\n"))]).unwrap()
        };
        let after = |with: &InForce| -> usize {
            let asks_still = |ask: &&Ask| ask.past.judge(&with.policy, facts).1.verdict != Verdict::Allow;
            asks.iter().filter(asks_still).map(|ask| ask.calls).sum()
        };
        let all = written(&found);
        assert_eq!(found.iter().map(|it| it.saved).sum::<usize>(), before - after(&all), "{name}: {found:#?}");
        let left = after(&written(found.get(..5).unwrap_or(&found)));
        println!("{name}: {before} prompts, {left} with five proposals, {} with all", after(&all));
        assert!(left * 100 <= before * most, "{name}: {before} -> {left}: {found:#?}");

        for call in &team.never {
            let past = PastCall::new(call.clone());
            let (old, new) = (past.judge(&in_force.policy, facts).1, past.judge(&all.policy, facts).1);
            assert!(new.verdict > Verdict::Allow || old.verdict == Verdict::Allow, "{name} lets pass: {}", shown(call));
            // Even where it was made, and nobody refused it.
            let was_made = |call: &ToolCall| {
                let past = PastCall { outcome: Outcome::Ran, ..PastCall::new(call.clone()) };
                let (operation, decision) = past.judge(&in_force.policy, facts);
                Ask { past, operation, decision, policy: 0, calls: 50, refused: 0 }
            };
            let ask = was_made(call);
            if ask.decision.verdict == Verdict::Ask && harm::call_loses(&ask) {
                assert_eq!(need::needs(&ask, Width::Effects, facts), None, "{name}: {}", shown(call));
            }
        }
    }
}

#[test]
fn what_loses_something_takes_back_the_rule_that_would_let_it_pass() {
    // Half of the calls say nothing; the others use the same pattern to lose something.
    let (found, ..) = proposed(
        "extends = [\"developer\"]\n",
        &[
            ("acmectl sync web", 20, 0),
            ("acmectl sync --delete web", 3, 0),
            ("acmectl get web", 20, 0),
            ("./tools/a.sh", 5, 0),
            ("./tools/b.sh", 5, 0),
            ("./tools/c.sh", 5, 0),
            ("./tools/nuke-all.sh", 5, 0),
        ],
    );
    let rules = rules(&found);
    assert!(rules.contains("acmectl get") && !rules.contains("sync"), "{rules}");
    assert!(!rules.contains("./tools/*\""), "{rules}");
}
