//! Asking the table of a program what its words mean.
//!
//! A word that an unquoted expansion made may become none, one or several words. Where such a word is the value of an
//! option, or stands before a command that is started, the words behind it may not be what they seem.

use super::Walker;
use super::change::Current;
use super::command::Call;
use crate::effect::{Effect, Run, RunId, Span};
use crate::program::{Description, Facets, Invocation, Prints, Start, describe, facets, without_gnu_prefix};
use crate::word::{Origin, Part, Shape, Word};
use std::path::Path;

impl<'t> Walker<'t> {
    /// What a program makes of its words, however many they become.
    pub(super) fn describe(&self, name: &str, facets: Facets, call: &Call<'t>) -> Description {
        let mut all = self.describe_everywhere(name, facets, call);
        let counts = |word: &Word| may_split(word) && !(facets.has(Facets::SEARCHES) && word.as_pattern().is_some());
        if all.options.iter().any(|option| option.value.as_ref().is_some_and(counts)) {
            let longer = self.describe_everywhere(name, facets, &with_more_words(call, &all));
            let fresh: Vec<_> = longer.doubts.into_iter().filter(|doubt| !all.doubts.contains(doubt)).collect();
            all.doubts.extend(fresh);
            add_effects(&mut all, longer.effects, &longer.prints);
        }
        all
    }

    /// Asks the table, once for each folder the shell may be in.
    fn describe_everywhere(&self, name: &str, facets: Facets, call: &Call<'t>) -> Description {
        let files = Current { files: self.context.files, changed: &self.changed };
        let ask = |cwd: Option<&Path>| {
            describe(&Invocation {
                run: RunId(u32::try_from(self.out.runs.len()).unwrap_or(u32::MAX)),
                name,
                argv: &call.argv,
                spans: &call.spans,
                env: &call.env,
                cwd,
                home: if self.state.elsewhere && !self.state.may_be_here { None } else { self.context.home },
                workspace: if self.state.elsewhere { None } else { self.context.workspace },
                stdin: self.input.stdin,
                stdin_text: self.input.text.as_deref(),
                stdin_file: self.input.file.as_deref(),
                stdin_prints: self.input.prints.clone(),
                files: if self.lost_modules(facets, &call.argv, cwd) { &crate::NoFiles } else { &files },
                programs: self.context.env.programs(),
            })
        };
        match self.state.cwd.places() {
            _ if self.state.elsewhere && !self.state.may_be_here => ask(None),
            [] => ask(None),
            [only] => ask(Some(only)),
            [first, rest @ ..] => {
                let mut all = ask(Some(first));
                for place in rest {
                    let more = ask(Some(place));
                    add_effects(&mut all, more.effects, &more.prints);
                }
                all
            }
        }
    }
}

/// Whether a word may become none or several, be it of numbers.
fn may_split(word: &Word) -> bool {
    match word {
        Word::Exact(_) => false,
        Word::Dynamic(shape) => shape.splits(),
        Word::Opaque => true,
    }
}

fn add_effects(all: &mut Description, more: Vec<Effect>, prints: &Prints) {
    let fresh: Vec<_> = more.into_iter().filter(|effect| !all.effects.contains(effect)).collect();
    all.effects.extend(fresh);
    if all.prints != *prints {
        all.prints = Prints::Unknown;
    }
}

/// The same command where each value of an option that may become several words has become two.
fn with_more_words<'t>(call: &Call<'t>, description: &Description) -> Call<'t> {
    let holds = |at: usize| {
        // The value stands in the option's own word or in one of the two behind it.
        let near = call.spans.get(at.saturating_sub(2)..=at).unwrap_or_default();
        description
            .options
            .iter()
            .any(|option| option.value.as_ref().is_some_and(may_split) && near.contains(&option.span))
    };
    let mut longer = Call { argv: Vec::new(), spans: Vec::new(), ..call.clone() };
    for (at, word) in call.argv.iter().enumerate() {
        let span = call.spans.get(at).copied().unwrap_or_default();
        longer.argv.push(word.clone());
        longer.spans.push(span);
        if holds(at)
            && let Some(more) = further(word)
        {
            longer.argv.push(more);
            longer.spans.push(span);
        }
    }
    longer
}

/// What the second of several words that a word may become is.
fn further(word: &Word) -> Option<Word> {
    let unknown = || Word::Dynamic(Shape::several(vec![Part::Hole], Origin::Unknown));
    match word {
        // `--include=*.rs`: each name that a pattern matches begins as the pattern does, and is that option again.
        Word::Dynamic(shape) if !shape.parts.contains(&Part::Hole) => {
            let again = matches!(shape.parts.first(), Some(Part::Literal(text)) if text.as_bytes().starts_with(b"-"));
            (!again).then(|| word.clone())
        }
        word => may_split(word).then(unknown),
    }
}

/// Whether a word that stands before what a program starts may become several: then something else may start.
pub(super) fn moves_what_starts(start: &Start, run: &Run) -> bool {
    let searches = |base: &str| facets(without_gnu_prefix(base)).has(Facets::SEARCHES);
    let searches = run.program.base.as_deref().is_some_and(searches);
    let splits = |words: &[Word]| {
        let counts = |word: &Word| may_split(word) && !(searches && word.as_pattern().is_some());
        words.iter().skip(1).any(counts)
    };
    if !splits(&run.argv) {
        return false;
    }
    let begin: Option<Span> = match start {
        Start::Argv { argv, .. } if run.argv.ends_with(argv) => {
            let before = run.argv.len() - argv.len();
            return splits(run.argv.get(..before).unwrap_or_default());
        }
        Start::Argv { spans, .. } => spans.first().copied(),
        Start::Shell { span, .. } | Start::Script { span, .. } => Some(*span),
    };
    let before = run.spans.iter().take_while(|span| begin.is_none_or(|begin| span.start < begin.start)).count();
    splits(run.argv.get(..before.max(1)).unwrap_or_default())
}
