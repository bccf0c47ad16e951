//! What an owner's text may say of a program that Sayso knows: more, never less.
//!
//! The program's own table stays, with everything that it says. A text may mark an option that is harmless by the table, add
//! an option or a subcommand that needs a yes of its own, and say what a subcommand does beside what is known. All spellings
//! of an option stay one option, or a rule against `--force` would not see `-f` any more.
//!
//! INVARIANT: whatever a command does by the table, it does by what comes out here.

use super::super::text::{self, Command, Does, Options, Place, Spelling};
use super::super::{Act, Spec};
use super::{Tables, act, spec};
use crate::option::Table;

/// What is wrong, and where.
pub(super) type Refused = (Place, String);

/// A program that Sayso knows, made stricter by a text.
pub(super) fn stricter(known: &Spec, by: &Command, tables: &mut Tables) -> Result<Spec, Refused> {
    if by.operands != text::Operands::default() {
        return Err((by.at, "Sayso knows what the operands of this program are; leave out `operands`".to_owned()));
    }
    if let Some(act) = by.acts.iter().find(|act| !tightens(act)) {
        return Err((by.at, format!("`does` can add no {act:?} to a program that Sayso knows")));
    }
    let mut made = *known;
    made.options = options(known, by)?;
    made.acts = known.acts.iter().copied().chain(by.acts.iter().map(act)).collect::<Vec<Act>>().leak();
    made.subs = subs(known, by, tables)?;
    Ok(made)
}

/// Whether an option that does this always needs a yes of its own, as an option that Sayso does not know.
fn needs_yes(does: Does) -> bool {
    use Does::{Inline, Named, Redirects, Runs, Wipes, Writes, WritesBelow};
    matches!(does, Named(_) | Runs | Writes | WritesBelow | Wipes | Inline | Redirects)
}

/// What a text says of projects is a fact for rules that ask: it adds no effect, so it cannot take one away either.
fn tightens(act: &text::Act) -> bool {
    !matches!(act, text::Act::NamedUnless(..))
}

fn subs(known: &Spec, by: &Command, tables: &mut Tables) -> Result<&'static [Spec], Refused> {
    let mut subs = known.subs.to_vec();
    for sub in &by.subs {
        let [name] = sub.names.as_slice() else {
            return Err((sub.at, "name one subcommand of a program that Sayso knows in each `sub` line".to_owned()));
        };
        let place = subs.iter().position(|other| other.names.contains(&name.as_str()));
        match place.and_then(|place| subs.get_mut(place)) {
            Some(other) if other.names.len() > 1 && !other.aliased => {
                // The table describes several subcommands alike: this one gets a description of its own.
                let names: Vec<&'static str> = other.names.iter().copied().filter(|other| other != name).collect();
                let own: Vec<&'static str> = other.names.iter().copied().filter(|other| other == name).collect();
                let made = stricter(&other.named(own.leak()), sub, tables)?;
                *other = other.named(names.leak());
                subs.push(made);
            }
            Some(other) => *other = stricter(other, sub, tables)?,
            None if sub.acts.iter().any(|act| matches!(act, text::Act::Named(_))) => subs.push(spec(sub, tables)),
            None => {
                let text = format!(
                    "Sayso does not know the subcommand `{name}`, so it asks; say what makes it need an answer: \
                     `sub {name} : publishes`"
                );
                return Err((sub.at, text));
            }
        }
    }
    Ok(subs.leak())
}

fn options(known: &Spec, by: &Command) -> Result<&'static [&'static Table], Refused> {
    let mut tables: Vec<&'static Table> = known.options.to_vec();
    let mut added = Options::default();
    for written in by.options.iter().flat_map(|options| each(options)) {
        let Written { spellings, takes, does, .. } = &written;
        let shown = spellings.join(" ");
        if !needs_yes(*does) {
            let text =
                format!("`{shown}` needs a word behind a colon that says why it needs an answer, such as `publishes`");
            return Err((by.at, text));
        }
        let found = tables.iter().enumerate().find_map(|(place, table)| {
            let spelled = spellings.iter().find_map(|spelling| table.named(spelling))?;
            Some((place, spelled))
        });
        let Some((place, found)) = found else {
            added.add(spellings, *takes, *does);
            continue;
        };
        if found.takes != *takes {
            return Err((by.at, format!("`{shown}` takes another value by what Sayso knows of it")));
        }
        match found.does {
            already if already == *does => {}
            Does::Nothing => {
                let table = tables.get_mut(place).map(|table| *table = table.with(found.name, *does));
                debug_assert!(table.is_some(), "the table was just found");
            }
            _ => return Err((by.at, format!("Sayso says already what `{shown}` does"))),
        }
    }
    if !added.spellings.is_empty() {
        added.sort_into_heaps();
        tables.push(Box::leak(Box::new(Table::of(&added))));
    }
    Ok(tables.leak())
}

/// An option as a text writes it.
struct Written<'o> {
    spellings: Vec<&'o str>,
    takes: text::Takes,
    does: Does,
    name: (u16, u8),
}

/// The options of a table, each with all its spellings.
fn each(options: &Options) -> Vec<Written<'_>> {
    let mut all: Vec<Written<'_>> = Vec::new();
    for spelling in &options.spellings {
        let Spelling { canonical_at, canonical_len, takes, does, .. } = *spelling;
        let (name, spelled) = ((canonical_at, canonical_len), options.spelled(spelling));
        match all.last_mut() {
            Some(last) if last.name == name => last.spellings.push(spelled),
            _ => all.push(Written { spellings: vec![spelled], takes, does, name }),
        }
    }
    all
}
