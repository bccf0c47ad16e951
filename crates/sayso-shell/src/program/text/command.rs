//! Programs and their subcommands, as a text describes them.

use super::act::{Act, Operands, acts, operands};
use super::fact::GoesBy;
use super::line::{Line, Token};
use super::options::Options;
use super::problem::{Place, Problems, shown};
use super::style::Style;
use super::{Limits, Words};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A program, or one of its subcommands.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its names: things that are described alike, or, if `aliased`, one thing.
    pub names: Vec<String>,
    /// The first name is canonical, the others mean the same.
    pub aliased: bool,
    /// How words are read.
    pub style: Style,
    /// Its tables of options, in the order in which they are asked.
    pub options: Vec<Rc<Options>>,
    /// Subcommands.
    pub subs: Vec<Self>,
    /// What operands are.
    pub operands: Operands,
    /// What it does beyond its operands and options.
    pub acts: Vec<Act>,
    /// The function for what data does not say, by its path below `program`.
    pub judge: Option<String>,
    /// Of a program: the function for what data does not say of any of its subcommands.
    pub always: Option<String>,
    /// Where it stands.
    pub at: Place,
}

/// What texts share under names of their own.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) options: HashMap<String, Rc<Options>>,
    pub(super) subs: HashMap<String, Vec<Command>>,
    pub(super) lists: HashMap<String, Vec<String>>,
    pub(super) files: HashMap<String, GoesBy>,
}

impl Shared {
    /// Whether something that `with` takes in has this name already.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.contains_key(name) || self.subs.contains_key(name)
    }
}

/// Reads the lines of programs.
pub(super) struct Reader<'s> {
    pub(super) words: Words,
    pub(super) shared: &'s Shared,
    pub(super) limits: &'s mut Limits,
    pub(super) problems: &'s mut Problems,
}

/// The words of a heading: `program a b : acts`, `sub install = i add`.
pub(super) struct Heading {
    pub(super) names: Vec<String>,
    pub(super) aliased: bool,
    pub(super) acts: Vec<Act>,
}

impl Reader<'_> {
    /// A program or subcommand with what stands below it. Lines that `more` takes are not of its concern.
    pub(super) fn command(
        &mut self,
        line: &Line,
        inherited: Style,
        more: &mut dyn FnMut(&mut Self, &Line, &[String]) -> bool,
    ) -> Command {
        let Heading { names, aliased, acts } = self.heading(line);
        let mut command = Command {
            names,
            aliased,
            style: inherited,
            options: Vec::new(),
            subs: Vec::new(),
            operands: Operands::default(),
            acts,
            judge: None,
            always: None,
            at: line.at,
        };
        let of_subs = self.style_of_subs(&line.below).unwrap_or(inherited);
        let mut said = HashSet::new();
        let mut own: Option<Options> = None;
        let mut spelled = HashSet::new();
        for below in &line.below {
            let word = below.first();
            if word.starts_with(['-', '+']) {
                own.get_or_insert_default().add_line(&below.tokens, &mut spelled, self.problems);
                self.nothing_below(below);
                continue;
            }
            spelled.clear();
            close(&mut own, &mut command);
            let once = matches!(word, "style" | "sub-style" | "operands" | "judge" | "always");
            if once && !said.insert(word.to_owned()) {
                self.problems.add(below.at, format!("{} stands twice here", shown(word)));
            }
            match word {
                "sub" => {
                    let sub = self.command(below, of_subs, &mut |_, _, _| false);
                    self.add_sub(&sub, &mut command);
                    continue;
                }
                "with" => self.with(below, &mut command),
                "style" => command.style = self.style(below),
                "sub-style" => {}
                "operands" => command.operands = operands(rest(below), &self.shared.lists, self.problems),
                "does" => command.acts.extend(self::acts(rest(below), below.at, self.problems)),
                "judge" => command.judge = self.function(below),
                "always" => command.always = self.function(below),
                _ if more(self, below, &command.names) => continue,
                _ => {
                    let at = below.tokens.first().map_or(below.at, |token| token.at);
                    let text = format!("{} is no word of the language; a subcommand begins with `sub`", shown(word));
                    self.problems.add(at, text);
                }
            }
            self.nothing_below(below);
        }
        close(&mut own, &mut command);
        command
    }

    pub(super) fn heading(&mut self, line: &Line) -> Heading {
        let tokens = rest(line);
        let colon = tokens.iter().position(|token| token.is(":")).unwrap_or(tokens.len());
        let (names, behind) = tokens.split_at(colon);
        let aliased = names.iter().any(|token| token.is("="));
        if aliased && !matches!(names, [_, equals, _, ..] if equals.is("=")) {
            self.problems.add(line.at, "one name, `=`, and the names that mean the same: `sub install = i add`");
        }
        let names: Vec<String> = names.iter().filter(|token| !token.is("=")).map(|token| self.name(token)).collect();
        if names.is_empty() {
            self.problems.add(line.at, format!("{} needs a name", shown(line.first())));
        }
        let acts = match behind {
            [] => Vec::new(),
            [colon, behind @ ..] => self::acts(behind, colon.at, self.problems),
        };
        Heading { names, aliased, acts }
    }

    fn name(&mut self, token: &Token) -> String {
        if token.text.is_empty() || token.text.len() > 200 || token.text.contains([' ', ',', '/']) {
            self.problems.add(token.at, format!("{} cannot be a name", shown(&token.text)));
        }
        token.text.clone()
    }

    fn style_of_subs(&mut self, lines: &[Line]) -> Option<Style> {
        let line = lines.iter().find(|line| line.first() == "sub-style")?;
        Some(self.style(line))
    }

    pub(super) fn style(&mut self, line: &Line) -> Style {
        let mut style = Style::EXACT;
        for (index, token) in rest(line).iter().enumerate() {
            if (index == 0) != matches!(token.text.as_str(), "exact" | "gnu") {
                self.problems
                    .add(token.at, "a style begins with `exact` or `gnu`, and no other word of it is one of these");
            }
            if token.is("raw") && self.words == Words::Owner {
                self.problems.add(token.at, "`raw` leaves all words to a function of Sayso's own");
            }
            match Style::named(&token.text) {
                Some(word) => style = style.and(word),
                None => {
                    let known: Vec<&str> = Style::NAMES.iter().map(|(name, _)| *name).collect();
                    let text = format!("{} is no style; the words are {}", shown(&token.text), known.join(", "));
                    self.problems.add(token.at, text);
                }
            }
        }
        if rest(line).is_empty() {
            self.problems.add(line.at, "a style needs at least `exact` or `gnu`");
        }
        style
    }

    /// A function in Rust, which only Sayso's own texts have.
    fn function(&mut self, line: &Line) -> Option<String> {
        let [name] = rest(line) else {
            self.problems.add(line.at, format!("{} takes one name", shown(line.first())));
            return None;
        };
        if self.words == Words::Owner {
            let text = "only Sayso's own programs have functions; say what it does with options, operands and `does`";
            self.problems.add(name.at, text);
            return None;
        }
        let part = |part: &str| {
            let mut letters = part.bytes();
            letters.next().is_some_and(|b| b.is_ascii_lowercase())
                && letters.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        if !name.text.split("::").all(part) {
            self.problems.add(name.at, format!("{} is no path of a function", shown(&name.text)));
            return None;
        }
        Some(name.text.clone())
    }

    fn with(&mut self, line: &Line, command: &mut Command) {
        for token in rest(line) {
            if let Some(options) = self.shared.options.get(&token.text) {
                command.options.push(Rc::clone(options));
            } else if let Some(subs) = self.shared.subs.get(&token.text) {
                for sub in subs {
                    self.add_sub(sub, command);
                }
            } else {
                let text = format!(
                    "nothing is called {}; `options NAME` and `subs NAME` name what is shared",
                    shown(&token.text)
                );
                self.problems.add(token.at, text);
            }
        }
    }

    fn add_sub(&mut self, sub: &Command, command: &mut Command) {
        // Counted before it is copied: groups that hold groups would else be copied without end.
        if !self.limits.count(sub) {
            self.problems.add(sub.at, "too many subcommands");
            return;
        }
        let taken = |name: &String| command.subs.iter().any(|other| other.names.contains(name));
        if let Some(twice) = sub.names.iter().find(|name| taken(name)) {
            self.problems.add(sub.at, format!("the subcommand {} stands twice", shown(twice)));
        }
        command.subs.push(sub.clone());
    }

    pub(super) fn nothing_below(&mut self, line: &Line) {
        if let Some(below) = line.below.first() {
            self.problems.add(below.at, "nothing stands indented below such a line");
        }
    }
}

/// Ends a table of options.
fn close(own: &mut Option<Options>, command: &mut Command) {
    if let Some(mut options) = own.take() {
        options.sort_into_heaps();
        command.options.push(Rc::new(options));
    }
}

/// The words of a line behind the first.
pub(super) fn rest(line: &Line) -> &[Token] {
    line.tokens.get(1..).unwrap_or_default()
}
