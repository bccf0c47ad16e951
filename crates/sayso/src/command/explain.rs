//! `sayso explain`: what a code means, a rule's own included.

use crate::choice::read;
use crate::codes::{SOURCES, known, near};
use crate::completing::Completes;
use crate::failure::{Failure, Outcome};
use crate::judge::refused;
use crate::show::paint::Paint;
use sayso_gate::{Home, InForce, Places};
use sayso_policy::explain::visible;
use sayso_policy::text::{File, RuleText, slug};
use sayso_policy::{CodeInfo, PolicyText, presets};
use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Explain a code, the word in brackets after a decision. Without a code, list all of them.
///
/// Explains the codes of decisions, of what a command does, of policy files, of `sayso doctor` and of the API. The `id`
/// of a rule is a code too: for one of a policy in force here, or of a preset, the rule is shown with its place.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso explain default
  sayso explain no-force-push            a rule of a preset, and where it is
  sayso explain my-rule --policy p.toml  a rule of that file
  sayso explain")]
pub(crate) struct Explain {
    /// The code
    #[arg(value_parser = Completes::codes(), hide_possible_values = true)]
    code: Option<String>,
    /// Look for rules in these policies instead of those in force here; repeatable
    #[arg(long, value_name = "FILE|preset:NAME", value_parser = Completes::policies(), hide_possible_values = true)]
    policy: Vec<String>,
    /// Print JSON: one object for a code, or one object per line for the list
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(crate) fn run(explain: &Explain) -> Outcome {
    let text = match &explain.code {
        None => all(explain.json)?,
        Some(code) => one(code, explain)?,
    };
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn all(json: bool) -> Result<String, Failure> {
    let mut out = String::new();
    for (at, (source, codes)) in SOURCES.iter().enumerate() {
        let width = codes.iter().map(|info| info.code.len()).max().unwrap_or(0);
        if !json {
            let gap = if at == 0 { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{}", Paint::for_stdout().bold(&format!("Codes of {source}")));
        }
        for CodeInfo { code, title, advice } in *codes {
            let _ = match json {
                true => {
                    let line = serde_json::json!({"code": code, "of": source, "means": title, "do": advice});
                    writeln!(out, "{line}")
                }
                false => writeln!(out, "  {code:<width$}  {title}"),
            };
        }
    }
    Ok(out)
}

/// A rule that has the code.
struct Rule {
    verdict: String,
    place: String,
    text: String,
    because: Option<String>,
}

fn one(code: &str, explain: &Explain) -> Result<String, Failure> {
    let code = code.trim_matches(['[', ']']);
    let own = known(code);
    let rules = rules(code, explain)?;
    if own.is_empty() && rules.is_empty() {
        let shown = visible(code);
        let near = near(code).map(|near| format!("\n  Did you mean `{near}`?")).unwrap_or_default();
        return Err(Failure::wrong(format!(
            "error: {shown} is neither one of Sayso's own codes nor a rule of the policy in force here{near}\n\n  \
             The decision that showed it names the file: sayso explain {shown} --policy FILE\n  `sayso explain` lists all \
             codes."
        )));
    }
    if explain.json {
        let own = own.iter().map(|(of, info)| serde_json::json!({"of": of, "means": info.title, "do": info.advice}));
        let rules = rules.iter().map(|rule| {
            serde_json::json!({"verdict": rule.verdict, "source": rule.place, "text": rule.text, "because": rule.because})
        });
        let object = serde_json::json!({
            "code": code, "meanings": own.collect::<Vec<_>>(), "rules": rules.collect::<Vec<_>>(),
        });
        return Ok(format!("{object:#}\n"));
    }
    let mut out = format!("{}\n", Paint::for_stdout().bold(code));
    for (of, info) in &own {
        let of = if own.len() > 1 { format!("  As a code of {of}:\n") } else { String::new() };
        let _ = write!(out, "\n{of}  {}\n  {}\n", info.title, info.advice);
    }
    for rule in &rules {
        let _ = write!(out, "\n  A rule that says {}, at {}", rule.verdict, visible(&rule.place));
        out.push('\n');
        if let Some(because) = &rule.because {
            let _ = writeln!(out, "  {}", visible(because));
        }
        out.push('\n');
        rule.text.lines().for_each(|line| {
            let _ = writeln!(out, "    {}", visible(line));
        });
    }
    Ok(out)
}

/// The rules with this `id` in the policies that were named or are in force here, and in every preset.
fn rules(code: &str, explain: &Explain) -> Result<Vec<Rule>, Failure> {
    let mut texts: Vec<PolicyText> = Vec::new();
    for name in explain.policy.iter().filter(|name| !name.starts_with("preset:")) {
        texts.push(PolicyText {
            layer: sayso_policy::Layer::Given,
            name: name.clone(),
            text: read(name)?,
            trusted: true,
        });
    }
    if explain.policy.is_empty() {
        let places = Places::find(Home::Environment)?;
        // A policy that cannot be loaded must not keep people from reading what a code means.
        match InForce::load(&places, Some(&std::env::current_dir()?)).map_err(refused) {
            Ok(in_force) => texts.extend(in_force.files),
            Err(failure) => eprintln!("note: the policy in force was not searched: {failure}"),
        }
    }
    let mut found = Vec::new();
    let mut extended: Vec<String> =
        explain.policy.iter().filter_map(|name| name.strip_prefix("preset:")).map(str::to_owned).collect();
    for text in texts.iter().filter(|text| !text.teaches()) {
        let Ok(file) = sayso_policy::text::parse(&text.name, &text.text) else { continue };
        extended.extend(file.extends.iter().chain(&file.enforce).map(|name| name.value.clone()));
        if !text.name.starts_with("preset:") {
            found.extend(of_file(code, &file, &text.text));
        }
    }
    let of_presets = |names: &mut dyn Iterator<Item = &str>| -> Vec<Rule> {
        let texts = names.filter_map(|name| Some((format!("preset:{name}"), presets::text(name)?)));
        let parsed = texts.filter_map(|(name, text)| Some((sayso_policy::text::parse(&name, text).ok()?, text)));
        parsed.flat_map(|(file, text)| of_file(code, &file, text)).collect()
    };
    found.extend(of_presets(&mut presets::NAMES.into_iter().filter(|name| extended.iter().any(|it| it == name))));
    if found.is_empty() {
        found = of_presets(&mut presets::NAMES.into_iter());
    }
    Ok(found)
}

fn of_file(code: &str, file: &File, text: &str) -> Vec<Rule> {
    let is = |rule: &&RuleText| rule.id.as_ref().is_some_and(|id| id.value == code);
    let one = |rule: &RuleText| Rule {
        verdict: rule.verdict.value.to_string(),
        place: rule.id.as_ref().map(|id| file.source(&id.span).to_string()).unwrap_or_default(),
        text: rule.id.as_ref().map(|id| table_around(text, id.span.start)).unwrap_or_default(),
        because: rule.because.as_ref().map(|because| because.value.clone()),
    };
    // A pattern in a list has no id; its code is made from its text.
    let listed = file.lists.iter().flat_map(|list| {
        let is = |pattern: &&sayso_policy::text::Text| !pattern.value.starts_with('!') && slug(&pattern.value) == code;
        list.patterns.iter().filter(is).map(move |pattern| Rule {
            verdict: list.verdict.to_string(),
            place: file.source(&pattern.span).to_string(),
            text: format!("[{}]\n{} = [\"{}\"]", list.verdict, verb(list.verb.value), pattern.value),
            because: None,
        })
    });
    file.rules.iter().filter(is).map(one).chain(listed).collect()
}

/// The key under which a verb's patterns stand.
fn verb(verb: sayso_policy::shell::Verb) -> String {
    match verb {
        sayso_policy::shell::Verb::Call => "tool".to_owned(),
        verb => format!("{verb:?}").to_lowercase(),
    }
}

/// The `[[rule]]` table around a place of the text.
fn table_around(text: &str, at: usize) -> String {
    let start = text.get(..at).and_then(|before| before.rfind("[[rule]]")).unwrap_or(at);
    let rest = text.get(start..).unwrap_or_default();
    // The next table begins on a line of its own.
    let end = rest
        .char_indices()
        .skip(1)
        .find(|(index, c)| *c == '[' && rest.get(..*index).is_some_and(|before| before.ends_with('\n')));
    let table = rest.get(..end.map_or(rest.len(), |(index, _)| index)).unwrap_or(rest);
    let mut lines: Vec<&str> = table.lines().collect();
    // What stands before the next table belongs to it.
    while lines.last().is_some_and(|line| line.trim().is_empty() || line.starts_with('#')) {
        lines.pop();
    }
    lines.join("\n")
}
