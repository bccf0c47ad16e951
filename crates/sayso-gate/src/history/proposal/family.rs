//! Which patterns belong together in one rule, and how that rule is written.

use super::harm::EXCEPTED;
use sayso_shell::Verb;
use std::collections::{BTreeMap, BTreeSet};

/// Patterns of one kind, which stand together in one rule of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    /// Commands that only look, by their words: `kubectl rollout status`, `acmectl get`; and where.
    Looks(Where),
    /// Commands that build, check or make something: `docker build`, `buf lint`; and where.
    Work(Where),
    /// Other commands of a program.
    Run(String),
    /// Scripts and modules of the project, each by its path or name.
    Scripts,
    /// Commands that a variable steers, as it is set there; whether they are scripts of the project.
    With(String, bool),
    /// A command, to hosts.
    Fetch(String),
    /// Hosts, whatever reaches them.
    Hosts,
    /// Tools of servers, and of the agent itself.
    Tools,
    /// Paths, and folders with all below them.
    Path(Verb),
}

/// Where a command may be at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Where {
    /// In the project alone: it would reach hosts and other folders if it were given any.
    Here,
    /// Wherever its words and settings say.
    Anywhere,
}

/// Families that one proposal bundles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kin {
    Looks,
    Work,
    Web,
    With,
}

impl Family {
    fn kin(&self) -> Option<Kin> {
        match self {
            Self::Looks(_) => Some(Kin::Looks),
            Self::Work(_) => Some(Kin::Work),
            Self::Fetch(_) | Self::Hosts => Some(Kin::Web),
            Self::With(..) => Some(Kin::With),
            _ => None,
        }
    }

    /// Whether a yes to one is mostly a yes to the other: hosts by one program and by another.
    pub(super) fn is_kin(&self, other: &Self) -> bool {
        self == other || (self.kin().is_some() && self.kin() == other.kin())
    }

    /// The rule with these patterns, as a table that can stand behind whatever a file holds.
    pub(super) fn rule(&self, patterns: &[String]) -> String {
        let (verb, listed) = match self {
            Self::Looks(_) | Self::Work(_) | Self::Run(_) => ("run", compact(patterns)),
            Self::Scripts | Self::With(_, true) => ("run", [patterns.to_vec(), exceptions(patterns)].concat()),
            Self::With(_, false) => ("run", compact(patterns)),
            Self::Fetch(command) => ("run", fetching(command)),
            Self::Hosts => ("connect", patterns.to_vec()),
            Self::Tools => ("tool", compact_tools(patterns)),
            Self::Path(verb) => (verb.as_str(), patterns.to_vec()),
        };
        let mut text = format!("[[rule]]\nallow = {{ {verb} = {} }}\n", list(&listed));
        let mut when: Vec<String> = Vec::new();
        match self {
            Self::Fetch(_) => when.push(format!("host = {}", list(patterns))),
            // The path of a script means the project's own only while it runs there.
            Self::Scripts | Self::Looks(Where::Here) | Self::Work(Where::Here) => {
                when.push("within = \".\"".to_owned())
            }
            Self::With(variable, own) => {
                when.push(format!("env = {}", list(std::slice::from_ref(variable))));
                if *own {
                    when.push("within = \".\"".to_owned());
                }
            }
            _ => {}
        }
        if !when.is_empty() {
            text.push_str(&format!("when = {{ {} }}\n", when.join(", ")));
        }
        text
    }
}

/// A command that reaches hosts, and not what sends something there, where the program tells.
fn fetching(command: &str) -> Vec<String> {
    let name = command.split(' ').next().unwrap_or(command);
    match tells_what_it_sends(name) {
        true => vec![command.to_owned(), format!("!{name} --sends")],
        false => vec![command.to_owned()],
    }
}

/// Whether the table of a program tells calls that send something from those that do not.
pub(super) fn tells_what_it_sends(name: &str) -> bool {
    let operation = sayso_policy::Operation::execute(format!("{name} -d x=1 https://host.invalid/"));
    let mut runs = operation.analysis.iter().flat_map(|it| &it.runs);
    runs.any(|run| run.options.iter().any(|option| option.name == "--sends" && option.implied))
}

/// What folders of scripts, and modules, must not be: by their names, and by the word that follows them.
fn exceptions(patterns: &[String]) -> Vec<String> {
    let wide = patterns.iter().filter(|it| it.contains('*') || it.contains(" -m="));
    let heads: BTreeSet<&str> = wide.map(|it| it.split(' ').next().unwrap_or(it)).collect();
    let (own, interpreters): (Vec<&str>, Vec<&str>) = heads.into_iter().partition(|head| head.contains('*'));
    let mut found: Vec<String> = Vec::new();
    if let Some(head) = braced(&interpreters) {
        found.push(format!("!{head} *{{{EXCEPTED}}}*"));
        found.push(format!("!{head} * *{{{EXCEPTED}}}*"));
    }
    for head in own {
        let folder = head.rsplit_once('/').map_or(".", |(folder, _)| folder);
        found.push(format!("!{folder}/*{{{EXCEPTED}}}*"));
        found.push(format!("!{head} *{{{EXCEPTED}}}*"));
    }
    found
}

fn braced(words: &[&str]) -> Option<String> {
    match words {
        [] => None,
        [one] => Some((*one).to_owned()),
        many => Some(format!("{{{}}}", many.join(","))),
    }
}

/// Commands that differ in their last word as one pattern: `acmectl {get,status}`.
fn compact(patterns: &[String]) -> Vec<String> {
    grouped(patterns, ' ')
}

/// Tools of one server as one pattern: `mcp:linear/{create_comment,update_issue}`.
fn compact_tools(patterns: &[String]) -> Vec<String> {
    grouped(patterns, '/')
}

fn grouped(patterns: &[String], separator: char) -> Vec<String> {
    let mut groups: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
    for pattern in patterns {
        let parted = pattern.rsplit_once(separator).filter(|(_, last)| !last.contains(['{', '}', ',', '=']));
        // A flag asks for its own place; words do not.
        let parted =
            parted.filter(|(before, last)| separator != ' ' || !(last.starts_with('-') || before.contains(" -")));
        match parted {
            Some((before, last)) => match groups.iter_mut().find(|(known, _)| *known == Some(before)) {
                Some((_, lasts)) => lasts.push(last),
                None => groups.push((Some(before), vec![last])),
            },
            None => groups.push((None, vec![pattern])),
        }
    }
    let text = |(before, lasts): &(Option<&str>, Vec<&str>)| match (before, braced(lasts)) {
        (Some(before), Some(lasts)) => format!("{before}{separator}{lasts}"),
        (_, lasts) => lasts.unwrap_or_default(),
    };
    groups.iter().map(text).collect()
}

/// One pattern as a string, several as a list; a long list over several lines.
pub(super) fn list(patterns: &[String]) -> String {
    let quoted: Vec<String> = patterns.iter().map(|it| serde_json::Value::String(it.clone()).to_string()).collect();
    match quoted.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// Where many scripts of one folder are run, whoever says yes to those says it to the folder.
pub(super) fn in_folders(all: &mut [BTreeSet<(Family, String)>]) {
    /// Scripts of one folder by which the folder is proposed instead.
    const MANY_SCRIPTS: usize = 3;
    /// What runs it, and the folder, of a script without a word behind it; at the top of the project, those of one type.
    fn folder((family, pattern): &(Family, String)) -> Option<String> {
        if !matches!(family, Family::Scripts | Family::With(_, true)) {
            return None;
        }
        let (head, script) = match pattern.split_once(' ') {
            Some((head, script)) => (format!("{head} "), script),
            None => (String::new(), pattern.as_str()),
        };
        if script.contains([' ', '=', '*']) {
            return None;
        }
        let at_the_top = match script.rsplit_once('/') {
            None => Some(script),
            Some((".", name)) => Some(name),
            Some(_) => None,
        };
        let wide = match at_the_top {
            Some(name) => {
                let (_, kind) = name.rsplit_once('.').filter(|(before, _)| !before.is_empty())?;
                format!("{}*.{kind}", if head.is_empty() { "./" } else { "" })
            }
            None => format!("{}/*", script.rsplit_once('/')?.0),
        };
        Some(format!("{head}{wide}"))
    }
    let mut scripts: BTreeMap<(Family, String), BTreeSet<String>> = BTreeMap::new();
    for need in all.iter().flatten() {
        if let Some(folder) = folder(need) {
            scripts.entry((need.0.clone(), folder)).or_default().insert(need.1.clone());
        }
    }
    scripts.retain(|_, names| names.len() >= MANY_SCRIPTS);
    for needs in all {
        let wider = |need: (Family, String)| match folder(&need) {
            Some(folder) if scripts.contains_key(&(need.0.clone(), folder.clone())) => (need.0, folder),
            _ => need,
        };
        *needs = std::mem::take(needs).into_iter().map(wider).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn commands_that_differ_in_their_last_word_are_one_pattern() {
        let patterns = strings(&["aws s3 ls", "acmectl get", "acmectl status", "tflint", "curl --output", "npx tsc"]);
        let wanted = ["aws s3 ls", "acmectl {get,status}", "tflint", "curl --output", "npx tsc"];
        assert_eq!(compact(&patterns), wanted);
        assert_eq!(compact_tools(&strings(&["mcp:a/x", "mcp:b/y", "mcp:a/z"])), ["mcp:a/{x,z}", "mcp:b/y"]);
    }

    #[test]
    fn what_loses_something_is_excepted_from_many_scripts() {
        let rule = Family::Scripts.rule(&strings(&["python3 scripts/*", "./tools/*", "./bin/rails test"]));
        assert!(rule.contains("\"!python3 *{delete,") && rule.contains("\"!python3 * *{delete,"), "{rule}");
        assert!(rule.contains("\"!./tools/*{delete,") && !rule.contains("!./bin/rails"), "{rule}");
        assert!(rule.ends_with("when = { within = \".\" }\n"), "{rule}");
    }

    #[test]
    fn a_program_tells_what_it_sends_by_its_table() {
        assert!(tells_what_it_sends("curl") && !tells_what_it_sends("git") && !tells_what_it_sends("acmectl"));
    }
}
