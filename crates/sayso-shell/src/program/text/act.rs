//! What operands are, and what a command always does, in the words of the language.

use super::Code;
use super::line::Token;
use super::problem::{Place, Problems, shown};
use std::collections::HashMap;

/// What an operand is. The crate's `Role` says what each means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// `text`
    #[default]
    Text,
    /// `read`
    Read,
    /// `read-below`
    ReadBelow,
    /// `sources(py,pyi)`, or `sources(@NAME)` of a list of `words`.
    Sources(String),
    /// `write`
    Write,
    /// `write-below`
    WriteBelow,
    /// `write-named`
    WriteNamed,
    /// `edit`
    Edit,
    /// `delete`
    Delete,
    /// `move`
    Move,
    /// `host`
    Host,
}

/// What happens without operands. The crate's `Absent` says what each means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absent {
    /// Not written.
    #[default]
    Nothing,
    /// `else reads-here`
    ReadsHere,
    /// `else names-here`
    NamesHere,
    /// `else reads-here-if-deep`
    ReadsHereIfDeep,
}

/// What operands are, by position: `operands text read* write else reads-here`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// The first ones.
    pub first: Vec<Role>,
    /// All others, marked with a star.
    pub rest: Role,
    /// The last one, where it differs.
    pub last: Option<Role>,
    /// What happens without any.
    pub absent: Absent,
}

/// What a (sub)command always does. The crate's `Act` says what each means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A code: `installs`
    Named(Code),
    /// `installs unless --dry-run -n`
    NamedUnless(Code, Vec<String>),
    /// `connects package index`
    Connects(String),
    /// `reads PATH`
    Reads(String),
    /// `writes PATH`
    Writes(String),
    /// `writes-below PATH`
    WritesBelow(String),
    /// `code LANGUAGE`
    Code(String),
    /// `builds`
    Builds,
    /// `project`
    Project,
    /// `project if FILE...`
    ProjectIf(Vec<String>),
}

pub(super) fn operands(tokens: &[Token], lists: &HashMap<String, Vec<String>>, problems: &mut Problems) -> Operands {
    let mut out = Operands::default();
    let mut starred = false;
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        if token.is("else") {
            out.absent = match tokens.next().map(|token| token.text.as_str()) {
                Some("reads-here") => Absent::ReadsHere,
                Some("names-here") => Absent::NamesHere,
                Some("reads-here-if-deep") => Absent::ReadsHereIfDeep,
                _ => {
                    problems.add(token.at, "behind `else`: reads-here, names-here or reads-here-if-deep");
                    Absent::Nothing
                }
            };
            if let Some(more) = tokens.next() {
                problems.add(more.at, "nothing stands behind what happens without operands");
            }
            break;
        }
        let (word, star) = match token.text.strip_suffix('*') {
            Some(word) => (word, true),
            None => (token.text.as_str(), false),
        };
        let Some(role) = role(word, token, lists, problems) else { continue };
        match (star, starred) {
            (true, false) => {
                starred = true;
                out.rest = role;
            }
            (false, false) => out.first.push(role),
            (false, true) if out.last.is_none() => out.last = Some(role),
            _ => problems.add(token.at, "one role has a star, and at most one stands behind it: `text read* write`"),
        }
    }
    out
}

fn role(word: &str, token: &Token, lists: &HashMap<String, Vec<String>>, problems: &mut Problems) -> Option<Role> {
    Some(match word {
        "text" => Role::Text,
        "read" => Role::Read,
        "read-below" => Role::ReadBelow,
        "write" => Role::Write,
        "write-below" => Role::WriteBelow,
        "write-named" => Role::WriteNamed,
        "edit" => Role::Edit,
        "delete" => Role::Delete,
        "move" => Role::Move,
        "host" => Role::Host,
        _ => {
            let Some(suffixes) = word.strip_prefix("sources(").and_then(|rest| rest.strip_suffix(')')) else {
                let text = format!(
                    "{} is no operand; they are text, read, read-below, write, write-below, write-named, edit, delete, \
                     move, host and sources(SUFFIX,SUFFIX)",
                    shown(word)
                );
                problems.add(token.at, text);
                return None;
            };
            match suffixes.strip_prefix('@') {
                None => Role::Sources(suffixes.replace(',', " ")),
                Some(name) => match lists.get(name) {
                    Some(list) => Role::Sources(list.join(" ")),
                    None => {
                        problems
                            .add(token.at, format!("no list is called {}; `words NAME a b` makes one", shown(name)));
                        return None;
                    }
                },
            }
        }
    })
}

/// What stands behind the colon of a heading, or behind `does`: acts with commas between them.
pub(super) fn acts(tokens: &[Token], at: Place, problems: &mut Problems) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut open: Vec<(String, Place)> = Vec::new();
    for token in tokens {
        match token.text.strip_suffix(',').filter(|_| !token.quoted) {
            Some(last) => {
                open.push((last.to_owned(), token.at));
                acts.extend(act(&open, at, problems));
                open.clear();
            }
            None => open.push((token.text.clone(), token.at)),
        }
    }
    acts.extend(act(&open, at, problems));
    acts
}

fn act(words: &[(String, Place)], at: Place, problems: &mut Problems) -> Option<Act> {
    let mut texts = words.iter().map(|(text, _)| text.as_str());
    let first = texts.next();
    let rest: Vec<&str> = texts.collect();
    let place = words.first().map_or(at, |(_, place)| *place);
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match (first, rest.as_slice()) {
        (None, _) => problems.add(at, "what it does is missing here"),
        (Some("builds"), []) => return Some(Act::Builds),
        (Some("project"), []) => return Some(Act::Project),
        (Some("project"), ["if", files @ ..]) if !files.is_empty() => return Some(Act::ProjectIf(list(files))),
        (Some("connects"), label @ [_, ..]) => return Some(Act::Connects(label.join(" "))),
        (Some("reads"), [path]) => return Some(Act::Reads((*path).to_owned())),
        (Some("writes"), [path]) => return Some(Act::Writes((*path).to_owned())),
        (Some("writes-below"), [path]) => return Some(Act::WritesBelow((*path).to_owned())),
        (Some("code"), [language]) => return Some(Act::Code((*language).to_owned())),
        (Some(word), rest) => match (Code::named(word), rest) {
            (Some(code), []) => return Some(Act::Named(code)),
            (Some(code), ["unless", flags @ ..]) if !flags.is_empty() => {
                return Some(Act::NamedUnless(code, list(flags)));
            }
            _ => {
                let text = format!(
                    "{} is nothing that a command does; write a code, `CODE unless --flag`, `connects LABEL`, \
                     `reads PATH`, `writes PATH`, `writes-below PATH`, `code LANGUAGE`, `builds`, `project` or \
                     `project if FILE`",
                    shown(&words.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" "))
                );
                problems.add(place, text);
            }
        },
    }
    None
}
