//! Warnings: a file that can be read, but in which something will never do what it seems to.
//!
//! Only what is certain from the text is said. A pattern that merely overlaps another is how the language is meant
//! to be used.

use super::cover::Claims;
use super::file::{ExampleValue, File, Text};
use super::lint_tools;
use super::{MAX_PROBLEMS, Problem, parse};
use crate::word::{Verdict, code_info};
use sayso_shell::Verb;
use std::collections::{HashMap, HashSet};

/// What is worth a warning, in the order of the file; of very many the first.
#[must_use]
pub fn lint(file: &File) -> Vec<Problem> {
    let mut warnings = Vec::new();
    never_speaks(file, &mut warnings);
    unused_sets(file, &mut warnings);
    approvers(file, &mut warnings);
    names(file, &mut warnings);
    hold(file, &mut warnings);
    lint_tools::unknown(file, &mut warnings);
    for warning in &mut warnings {
        warning.warning = true;
    }
    warnings.sort_by_key(|warning| (warning.span.start, warning.span.end));
    warnings.truncate(MAX_PROBLEMS);
    warnings
}

/// A pattern and what its file says of it.
pub(super) struct Claim<'a> {
    pub(super) verdict: Verdict,
    pub(super) verb: Verb,
    pub(super) pattern: &'a Text,
    /// It has conditions, or its list has exceptions: it speaks of less than its pattern.
    pub(super) narrowed: bool,
    /// The id of its rule.
    id: Option<&'a str>,
    /// The preset it is from, if it is not the file's own.
    preset: Option<&'a str>,
}

fn claims<'a>(file: &'a File, preset: Option<&'a str>) -> Vec<Claim<'a>> {
    let listed = file.lists.iter().map(|list| (list.verdict, list.verb.value, &list.patterns, false, None));
    let rules = file.rules.iter().map(|rule| {
        let id = rule.id.as_ref().map(|id| id.value.as_str());
        (rule.verdict.value, rule.verb.value, &rule.patterns, rule.when.is_some(), id)
    });
    let mut claims = Vec::new();
    for (verdict, verb, patterns, conditions, id) in listed.chain(rules) {
        let except = patterns.iter().any(|pattern| pattern.value.starts_with('!'));
        let positive = patterns.iter().filter(|pattern| !pattern.value.starts_with('!'));
        let narrowed = conditions || except;
        claims.extend(positive.map(|pattern| Claim { verdict, verb, pattern, narrowed, id, preset }));
    }
    claims
}

/// The presets that a file extends. Their denies stay whatever the file says, unless it switches them off.
fn presets(file: &File) -> Vec<(&str, File)> {
    let mut seen = HashSet::new();
    let names = file.extends.iter().map(|name| name.value.as_str()).filter(|name| seen.insert(*name));
    names.filter_map(|name| Some((name, parse(name, crate::presets::text(name)?).ok()?))).collect()
}

/// Patterns that a stricter one of the same file covers, and patterns that stand there twice.
fn never_speaks(file: &File, warnings: &mut Vec<Problem>) {
    let presets = presets(file);
    let disabled = |id: Option<&str>| file.disable.iter().any(|off| Some(off.value.as_str()) == id);
    let mut lasting: Vec<Claim<'_>> = presets.iter().flat_map(|(name, preset)| claims(preset, Some(name))).collect();
    lasting.retain(|claim| claim.verdict == Verdict::Deny && !disabled(claim.id));
    let claims = claims(file, None);
    let whole = Claims::new(claims.iter().chain(&lasting).filter(|claim| !claim.narrowed));
    let mut seen: HashMap<(Verdict, Verb, &str), &Text> = HashMap::new();
    for claim in &claims {
        let written = claim.pattern.value.as_str();
        if let Some(stricter) = whole.covering(claim) {
            warnings.push(hidden_by(file, claim, stricter));
        } else if claim.narrowed {
            continue;
        }
        match seen.get(&(claim.verdict, claim.verb, written)) {
            None => drop(seen.insert((claim.verdict, claim.verb, written), claim.pattern)),
            Some(first) => {
                let line = file.lines.place(first.span.start).0;
                let message = format!("`{written}` is already on line {line}");
                let mut warning = file.problem("duplicate-pattern", &claim.pattern.span, message);
                warning.suggestion = Some("remove one of them".to_owned());
                warnings.push(warning);
            }
        }
    }
}

fn hidden_by(file: &File, claim: &Claim<'_>, stricter: &Claim<'_>) -> Problem {
    let place = match stricter.preset {
        Some(preset) => format!("preset {preset}"),
        None => format!("line {}", file.lines.place(stricter.pattern.span.start).0),
    };
    let message = format!(
        "this {} never applies: {place} has `{}` under {}, and the stricter one wins",
        claim.verdict, stricter.pattern.value, stricter.verdict
    );
    let mut warning = file.problem("never-speaks", &claim.pattern.span, message);
    warning.suggestion = Some(match (stricter.preset, stricter.id) {
        (Some(_), Some(id)) => format!("write disable = [\"{id}\"] at the top of the file, or remove this"),
        _ => "remove one of them, or narrow the stricter one".to_owned(),
    });
    warning
}

/// Sets that nothing uses: often the use is a typing error of another set's name.
fn unused_sets(file: &File, warnings: &mut Vec<Problem>) {
    if file.sets.is_empty() {
        return;
    }
    let mut used: HashSet<&str> = HashSet::new();
    for text in pattern_texts(file) {
        for (at, _) in text.match_indices('@') {
            let name = text.get(at + 1..).unwrap_or_default();
            let end = name.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(name.len());
            used.extend(name.get(..end));
        }
    }
    for set in file.sets.iter().filter(|set| !used.contains(set.name.value.as_str())) {
        let message = format!("nothing in this file uses `@{}`", set.name.value);
        let mut warning = file.problem("unused-set", &set.name.span, message);
        warning.suggestion = Some("sets apply only within their own file; use it or remove it".to_owned());
        warnings.push(warning);
    }
}

/// Every text in which `@name` may stand.
fn pattern_texts(file: &File) -> impl Iterator<Item = &str> {
    let lists = file.lists.iter().flat_map(|list| &list.patterns);
    let rules = file.rules.iter().flat_map(|rule| {
        let when = rule.when.iter().flat_map(|when| {
            let lists = [&when.within, &when.flag, &when.env, &when.operand, &when.piped_to];
            lists.into_iter().flatten().chain(when.args.iter().flat_map(|arg| &arg.patterns))
        });
        rule.patterns.iter().chain(when)
    });
    let layers = std::iter::once(&file.tools.base).chain(file.tools.layers.iter().map(|layer| &layer.layer));
    let tools = layers.flat_map(|layer| layer.also.iter().chain(&layer.only).chain(&layer.hide));
    let sets = file.sets.iter().flat_map(|set| &set.members);
    let patterns = file.patterns.iter().map(|patterns| &patterns.tool);
    let hold = file.hold.iter().flat_map(|hold| hold.run.iter().chain(&hold.write).chain(&hold.connect));
    lists.chain(rules).chain(tools).chain(sets).chain(patterns).chain(hold).map(|text| text.value.as_str())
}

/// `[hold]` and `held` where they change nothing.
fn hold(file: &File, warnings: &mut Vec<Problem>) {
    let mut warn = |code, span, message: &str, suggestion: &str| {
        let mut warning = file.problem(code, span, message);
        warning.suggestion = Some(suggestion.to_owned());
        warnings.push(warning);
    };
    let of_presets = || presets(file).iter().any(|(_, preset)| preset.hold.is_some());
    for rule in &file.rules {
        let Some(held) = &rule.held else { continue };
        if rule.verb.value != Verb::Run {
            let message = "a hold answers only questions about `run`; what else it may do is set by `[hold]`";
            warn("held-nothing", held, message, "remove `held`");
        } else if rule.always {
            warn("held-nothing", held, "`always = true` asks whether the run is held or not", "remove one of the two");
        } else if file.hold.is_none() && !of_presets() {
            let message = "there is no `[hold]`, so nothing is held and the rule always asks";
            warn("held-nothing", held, message, "add a `[hold]` section");
        }
    }
    let Some(section) = &file.hold else { return };
    let held = file.rules.iter().any(|rule| rule.held.is_some());
    if section.run.is_empty() && !held && !of_presets() {
        let message = "this names nothing under `run`, and no rule says `held`, so no question is lifted";
        warn("hold-nothing", &section.span, message, "add run = [\"@builds\", \"@scripts\", \"@code\"]");
    }
    for text in &section.write {
        let written = text.value.trim_start_matches('!');
        // What an exception leaves out may be of any shape; a set says what it says.
        let folder = written.ends_with("/**") && !written.trim_end_matches("/**").contains(['*', '?']);
        if !text.value.starts_with('!') && !written.starts_with('@') && !folder {
            let message =
                format!("`{written}` is not a folder with everything below it: a held run may not write there");
            warn("hold-write-pattern", &text.span, &message, "write a folder and `/**`, as in `./target/**`");
        }
    }
}

/// Approvals that no rule uses.
fn approvers(file: &File, warnings: &mut Vec<Problem>) {
    let extended = file.extends.iter().chain(file.roles.iter().flat_map(|role| &role.extends));
    let presets: Vec<File> =
        extended.filter_map(|name| parse(&name.value, crate::presets::text(&name.value)?).ok()).collect();
    let rules = file.rules.iter().chain(presets.iter().flat_map(|preset| &preset.rules));
    let used: HashSet<&str> = rules.filter_map(|rule| rule.approver.as_ref()).map(|text| text.value.as_str()).collect();
    for approval in file.approvals.iter().filter(|approval| !used.contains(approval.name.value.as_str())) {
        let message = format!("no rule has `{}` as its approver", approval.name.value);
        let mut warning = file.problem("unused-approver", &approval.name.span, message);
        warning.suggestion = Some("add approver = ... to the rules they should answer".to_owned());
        warnings.push(warning);
    }
}

/// Ids that read as something else, and examples that say the same thing of one call.
fn names(file: &File, warnings: &mut Vec<Problem>) {
    for rule in &file.rules {
        if let Some(id) = rule.id.as_ref().filter(|id| code_info(&id.value).is_some()) {
            let message = format!(
                "`{}` is one of Sayso's own reason codes, so decisions by this rule would be misread",
                id.value
            );
            let mut warning = file.problem("built-in-code", &id.span, message);
            warning.suggestion = Some("give the rule a different id".to_owned());
            warnings.push(warning);
        }
        let hits: HashSet<&ExampleValue> = rule.hits.iter().map(|hit| &hit.value).collect();
        for miss in rule.misses.iter().filter(|miss| hits.contains(&miss.value)) {
            let shown = match &miss.value {
                ExampleValue::Text(text) => text.clone(),
                ExampleValue::Arguments(arguments) => arguments.to_string(),
            };
            let mut warning = file.problem("hit-and-miss", &miss.span, format!("`{shown}` is also listed in `hits`"));
            warning.suggestion = Some("no rule can satisfy both".to_owned());
            warnings.push(warning);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The warnings as `line: code`, and the file is read.
    fn warned(text: &str) -> Vec<String> {
        let file = parse("p.toml", text).unwrap();
        let warnings = lint(&file);
        assert!(warnings.iter().all(|warning| warning.warning && warning.suggestion.is_some()));
        assert!(warnings.iter().all(|warning| crate::text::problem_info(warning.code).is_some()));
        warnings.iter().map(|warning| format!("{}: {}", warning.source.line, warning.code)).collect()
    }

    /// Whether an allow of the first never speaks beside a deny of the second.
    fn hidden(verb: &str, allow: &str, deny: &str) -> bool {
        let text = format!("[allow]\n{verb} = {allow:?}\n[deny]\n{verb} = {deny:?}\n");
        !warned(&text).is_empty()
    }

    #[test]
    fn an_allow_that_a_deny_covers_never_speaks() {
        for (verb, allow, deny) in [
            ("run", "sudo", "sudo"),
            ("run", "git push --tags", "git push"),
            ("run", "git push origin --force --tags", "git push --force"),
            ("run", "git {push,pull}", "git"),
            ("run", "git push", "{git,hg} {push,pull}"),
            ("run", "make", "*"),
            ("read", "./a/b", "./a/**"),
            ("read", "./a", "./a/**"),
            ("read", "a/b/**", "./a/**"),
            ("read", "src/x.rs", "**"),
            ("write", "~/.ssh/config", "~/.ssh/**"),
            ("connect", "a.example.org", "*.example.org"),
            ("connect", "*.a.example.org", "*.example.org"),
            ("tool", "mcp:github/create_issue", "mcp:github/*"),
            ("tool", "mcp:github/create_*", "mcp:github/*"),
            ("tool", "file_write", "*"),
        ] {
            assert!(hidden(verb, allow, deny), "{verb}: {allow} under {deny}");
        }
    }

    #[test]
    fn an_allow_that_still_has_something_to_say_is_not_warned_of() {
        for (verb, allow, deny) in [
            ("run", "git push", "git push --force"),
            ("run", "git", "git push"),
            ("run", "git {push,status}", "git push"),
            ("run", "gitk", "git"),
            ("run", "curl", "curl | @shells"),
            ("run", "@filters", "*x"),
            ("read", "./ab/c", "./a/**"),
            ("read", "/etc/hosts", "**"),
            ("read", "./**", "@secrets"),
            ("read", "./*", "./a/*"),
            ("connect", "example.org", "*.example.org"),
            ("connect", "badexample.org", "*.example.org"),
            ("tool", "mcp:git/x", "mcp:github/*"),
            ("tool", "mcp:a_b", "mcp:a*_c"),
        ] {
            assert!(!hidden(verb, allow, deny), "{verb}: {allow} under {deny}");
        }
    }

    #[test]
    fn a_hostile_pattern_buys_no_more_work_than_its_length() {
        for long in ["a".repeat(1 << 19), "a/".repeat(1 << 18), "a.".repeat(1 << 18), "{a,b}".repeat(1 << 16)] {
            let lines = ["run", "read", "connect", "tool"].map(|verb| format!("{verb} = {long:?}\n")).concat();
            assert!(warned(&format!("[deny]\n{lines}")).is_empty());
        }
        let long = "a/".repeat(1 << 19);
        assert!(hidden("read", &long, &long), "what is the same is still seen");
    }

    #[test]
    fn conditions_and_exceptions_narrow_the_stricter_word() {
        assert_eq!(warned("[allow]\nrun = 'x'\n[[rule]]\ndeny = { run = 'x' }\nwhen.flag = '-f'"), [""; 0]);
        assert_eq!(warned("[allow]\nwrite = 'a/b'\n[deny]\nwrite = ['a/**', '!a/b']"), [""; 0]);
        assert_eq!(warned("[[rule]]\nask = { run = 'x' }\nwhen.flag = '-f'\n[deny]\nrun = 'x'"), ["2: never-speaks"]);
        assert_eq!(warned("[ask]\nrun = 'x'\n[allow]\nrun = 'x'"), ["4: never-speaks"]);
    }

    #[test]
    fn a_deny_of_a_preset_stays_unless_it_is_switched_off() {
        let text = "extends = 'developer'\n[allow]\nrun = 'git push --force'";
        assert_eq!(warned(text), ["3: never-speaks"]);
        let warning = lint(&parse("p.toml", text).unwrap()).remove(0);
        assert!(warning.message.contains("preset developer has `git push --force` under deny"), "{}", warning.message);
        assert!(warning.suggestion.unwrap().contains("disable = [\"no-force-push\"]"));
        assert_eq!(warned(&format!("disable = 'no-force-push'\n{text}")), [""; 0]);
        assert_eq!(warned("extends = 'developer'\n[allow]\nrun = 'git push'"), [""; 0], "its asks are only defaults");
    }

    #[test]
    fn presets_have_nothing_to_be_warned_of() {
        for name in crate::presets::NAMES {
            assert_eq!(warned(crate::presets::text(name).unwrap()), [""; 0], "{name}");
        }
    }

    #[test]
    fn holds_that_change_nothing_are_named() {
        let held = "[[rule]]\nask = { run = 'x' }\nheld = 'allow'";
        assert_eq!(warned(held), ["3: held-nothing"]);
        assert_eq!(warned(&format!("[hold]\nneed = 'files'\n{held}")), [""; 0]);
        assert_eq!(warned(&format!("extends = 'developer'\n{held}")), [""; 0], "its preset has one");
        assert_eq!(warned(&format!("[hold]\nrun = 'x'\n{held}\nalways = true")), ["5: held-nothing"]);
        assert_eq!(warned("[hold]\nrun = 'x'\n[[rule]]\nask = { connect = 'x' }\nheld = 'allow'"), ["5: held-nothing"]);
        assert_eq!(warned("[hold]\nneed = 'whole'"), ["1: hold-nothing"]);
        assert_eq!(
            warned("[hold]\nrun = '@builds'\nwrite = ['./**', '@scratch', './*.log', '!./x*']"),
            ["3: hold-write-pattern"]
        );
    }

    #[test]
    fn what_stands_there_twice_or_for_nothing_is_named() {
        assert_eq!(warned("[deny]\nrun = ['a', 'b', 'a']"), ["2: duplicate-pattern"]);
        assert_eq!(warned("[set]\nmine = 'x'\nyours = ['@mine']\n[deny]\nrun = '{a,b} | @yours'"), [""; 0]);
        assert_eq!(warned("[set]\nmine = 'x'\n[deny]\nrun = '@min'"), ["2: unused-set"]);
        assert_eq!(warned("[approvals.leads]\nmembers = 'a'"), ["1: unused-approver"]);
        assert_eq!(warned("[[rule]]\nid = 'halted'\ndeny = { run = 'x' }"), ["2: built-in-code"]);
        assert_eq!(warned("[[rule]]\ndeny = { run = 'x' }\nhits = 'x'\nmisses = ['y', 'x']"), ["4: hit-and-miss"]);
    }
}
