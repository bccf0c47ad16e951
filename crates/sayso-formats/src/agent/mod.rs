//! Permission rules of agents: lists of allow, ask and deny on commands, paths, hosts and tools.
//!
//! Their patterns are written as patterns of Sayso's own language, so that reading such a file as it is and importing
//! it match alike. What they allow is compared with the words of each program; what they ask about or deny is looked
//! for in other spellings too.

mod import;
pub(crate) mod pattern;
mod subject;

use crate::regular::Expression;
use pattern::{Command, Host, Place};
use sayso_policy::foreign::{MatchInput, Remark, Stages};
use sayso_policy::{Code, Facts, Operation, Source, Tri, Verdict};
use subject::Subject;

/// The rules of one file.
#[derive(Debug)]
pub(crate) struct AgentRules {
    /// Whose they are, for people.
    pub title: &'static str,
    pub rules: Vec<Rule>,
    pub order: Order,
    pub defaults: Defaults,
    pub redirects: Redirects,
    /// Programs that only start others, which need no rule of their own.
    pub transparent: &'static [&'static str],
}

/// One rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub verdict: Verdict,
    /// It counts only under conditions that a call does not tell, so that rules behind it count too.
    pub narrowed: bool,
    pub on: On,
    pub source: Source,
    /// As written.
    pub text: String,
}

/// What a rule speaks of.
#[derive(Debug)]
pub(crate) enum On {
    Everything,
    Command(Vec<Command>),
    Read(Vec<Place>),
    /// Writing and deleting.
    Write(Vec<Place>),
    Host(Vec<Host>),
    /// A tool by its name; `*` is any run of characters.
    Tool(Vec<String>),
    /// A tool whose arguments match.
    Arguments {
        tools: Vec<String>,
        test: ArgumentTest,
    },
}

/// What is looked for in arguments.
#[derive(Debug)]
pub(crate) enum ArgumentTest {
    /// In the arguments as a whole, as JSON.
    Json(Expression),
    /// In one of these arguments, or in any if none is named.
    Values { names: &'static [&'static str], expression: Expression },
}

/// Which rule wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The strictest of all that match.
    Strictest,
    /// The first that matches.
    First,
}

/// What is said where no rule speaks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    pub command: Verdict,
    pub read_inside: Verdict,
    pub read_outside: Verdict,
    pub write_inside: Verdict,
    pub write_outside: Verdict,
    pub connect: Verdict,
    pub tool: Verdict,
}

/// What a redirect to a file needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirects {
    /// A rule on that file.
    AsFiles,
    /// A person.
    Ask,
}

impl Defaults {
    pub(crate) fn all(verdict: Verdict) -> Self {
        Self {
            command: verdict,
            read_inside: verdict,
            read_outside: verdict,
            write_inside: verdict,
            write_outside: verdict,
            connect: verdict,
            tool: verdict,
        }
    }

    /// Where an Ask would be a Deny.
    pub(crate) fn without_asking(self) -> Self {
        let deny = |verdict| if verdict == Verdict::Ask { Verdict::Deny } else { verdict };
        Self {
            command: deny(self.command),
            read_inside: deny(self.read_inside),
            read_outside: deny(self.read_outside),
            write_inside: deny(self.write_inside),
            write_outside: deny(self.write_outside),
            connect: deny(self.connect),
            tool: deny(self.tool),
        }
    }
}

impl Stages for AgentRules {
    fn rules(&self, operation: &Operation, facts: Facts<'_>) -> Vec<Remark> {
        let mut worst: Option<Remark> = None;
        let asked = MatchInput::about(operation, facts);
        for subject in subject::of(self, &asked) {
            let remark = self.say(&subject, &asked);
            if let Some(remark) = remark
                && worst.as_ref().is_none_or(|worst| remark.verdict > worst.verdict)
            {
                worst = Some(remark);
            }
        }
        let quiet =
            || Remark::new(self.defaults.tool, Code::ForeignDefault, format!("{} has no rule for this.", self.title));
        vec![worst.unwrap_or_else(quiet)]
    }
}

impl AgentRules {
    /// What is said of one part of a call; `None` where it needs no yes and no rule speaks.
    fn say(&self, subject: &Subject, asked: &MatchInput<'_>) -> Option<Remark> {
        let mut doubt: Option<&Rule> = None;
        let mut winner: Option<&Rule> = None;
        for rule in &self.rules {
            // What is said of all paths is said of tools; a command's own paths need a rule that names them.
            if self.order == Order::First
                && !subject.needs_yes()
                && (matches!(rule.on, On::Everything)
                    || (rule.is_for_all_paths() && rule.speaks(subject, asked) != Tri::No))
            {
                break;
            }
            let speaks = rule.speaks(subject, asked);
            match if rule.narrowed { speaks.min(Tri::Maybe) } else { speaks } {
                Tri::No => {}
                Tri::Maybe => doubt = doubt.or(Some(rule)),
                Tri::Yes => {
                    if winner.is_none_or(|winner| rule.verdict > winner.verdict) {
                        winner = Some(rule);
                    }
                    if self.order == Order::First {
                        break;
                    }
                }
            }
        }
        let said = match winner {
            Some(rule) => Some(
                Remark::new(rule.verdict, Code::ForeignRule, rule.sentence(self.title)).at(Some(rule.source.clone())),
            ),
            None if subject.needs_yes() => {
                let verdict = subject.default(&self.defaults);
                Some(Remark::new(
                    verdict,
                    Code::ForeignDefault,
                    format!("No {} rule covers {}.", self.title, subject.in_words(asked.operation())),
                ))
            }
            None => None,
        };
        let least =
            doubt.map(|rule| (format!("{} It may apply here.", rule.sentence(self.title)), rule.source.clone()));
        let least = least
            .or_else(|| subject.asks().map(|why| (why.to_owned(), Source { file: "".into(), line: 0, column: 0 })));
        match (least, said) {
            (Some((text, source)), said) if said.as_ref().is_none_or(|said| said.verdict < Verdict::Ask) => {
                Some(Remark::new(Verdict::Ask, Code::ForeignRule, text).at((source.line > 0).then_some(source)))
            }
            (_, said) => said,
        }
    }
}

impl On {
    /// On these commands. A pattern that cannot be compiled allows nothing, and restricts everything.
    pub(crate) fn commands(found: Vec<Command>, verdict: Verdict) -> Self {
        let lost = found.is_empty() && verdict != Verdict::Allow;
        Self::Command(if lost { vec![Command::any()] } else { found })
    }
}

impl Rule {
    fn is_for_all_paths(&self) -> bool {
        match &self.on {
            On::Read(places) | On::Write(places) => places.iter().any(Place::is_any),
            On::Host(hosts) => hosts.iter().any(Host::is_any),
            _ => false,
        }
    }

    fn sentence(&self, title: &str) -> String {
        let says = match self.verdict {
            Verdict::Allow => "allows",
            Verdict::Ask => "asks about",
            Verdict::Deny => "denies",
        };
        format!("A {title} rule {says} this: `{}`.", self.text)
    }

    /// Whether it speaks of a part of a call: strictly for an allow, widely for the others.
    fn speaks(&self, subject: &Subject, asked: &MatchInput<'_>) -> Tri {
        let operation = asked.operation();
        let allows = self.verdict == Verdict::Allow;
        let tool = |names: &[String]| -> Tri {
            let hit = |name: &str| names.iter().any(|pattern| pattern::wild(pattern, name));
            if allows { operation.tool.allows(hit) } else { operation.tool.restricts(hit) }.into()
        };
        let said = match (&self.on, subject) {
            // A part that needs no yes stands behind another that speaks for the call.
            (On::Everything | On::Tool(_) | On::Arguments { .. }, part) if !part.needs_yes() => Tri::No,
            (On::Everything, _) => Tri::Yes,
            (On::Tool(names), _) => tool(names),
            (On::Arguments { tools, test }, _) => match tool(tools) {
                Tri::No => Tri::No,
                _ => test.holds(operation, allows).into(),
            },
            (On::Command(commands), Subject::Command { run, bare, .. }) => {
                let each = commands.iter().map(|command| {
                    if allows {
                        Tri::from(*bare && command.permits(asked, *run) || command.is_any())
                    } else {
                        command.restricts(asked, *run)
                    }
                });
                each.max().unwrap_or(Tri::No)
            }
            (On::Command(commands), Subject::Unreadable) => commands.iter().any(Command::is_any).into(),
            (On::Read(places), Subject::Path { effect, writes: false, .. })
            | (On::Write(places), Subject::Path { effect, writes: true, .. }) => {
                let each = places.iter().map(|place| {
                    if allows { Tri::from(place.permits(asked, *effect)) } else { place.restricts(asked, *effect) }
                });
                each.max().unwrap_or(Tri::No)
            }
            (On::Host(hosts), Subject::Host { target, .. }) => {
                let each = hosts
                    .iter()
                    .map(|host| if allows { Tri::from(host.permits(target)) } else { host.restricts(target) });
                each.max().unwrap_or(Tri::No)
            }
            _ => Tri::No,
        };
        // What may be done is no more than maybe.
        if !allows && !subject.is_certain() { said.min(Tri::Maybe) } else { said }
    }
}

impl ArgumentTest {
    fn holds(&self, operation: &Operation, allows: bool) -> bool {
        let texts = match self {
            Self::Json(_) => vec![subject::arguments(operation).to_string()],
            Self::Values { names, .. } => subject::values(operation, names),
        };
        let (Self::Json(expression) | Self::Values { expression, .. }) = self;
        // An allow holds only where every text does: one that is harmless does not stand for the others.
        if allows {
            !texts.is_empty() && texts.iter().all(|text| expression.surely_matches(text))
        } else {
            texts.iter().any(|text| expression.may_match(text))
        }
    }
}
