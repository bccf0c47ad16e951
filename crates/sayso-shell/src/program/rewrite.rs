//! Programs that read their words in an order of their own: the words are put into the usual order and read again.

use super::{Invocation, Spec, View, by_table};
use crate::option::{Does, Seen};
use crate::word::Word;

/// A word with the index of the word in the command that it stems from.
pub(crate) type Placed = (usize, Word);

/// Describes `words` (the name first) by `spec` instead of what was read so far.
pub(crate) fn read_again(view: &mut View<'_>, spec: &'static Spec, words: Vec<Placed>) {
    let inv = view.inv;
    let spans: Vec<_> = words.iter().map(|(at, _)| view.span(*at)).collect();
    let (places, argv): (Vec<usize>, Vec<Word>) = words.into_iter().unzip();
    let again = Invocation { argv: &argv, spans: &spans, stdin_prints: inv.stdin_prints.clone(), ..*inv };
    let mut described = by_table(view.name, spec, &again);
    for word in &mut described.words {
        let place = places.get(usize::from(*word)).copied().unwrap_or(0);
        *word = u16::try_from(place).unwrap_or(u16::MAX);
    }
    let options = std::mem::take(&mut described.options);
    view.seen = options.into_iter().map(|opt| Seen { opt, does: Does::Nothing, at: 0 }).collect();
    view.out = described;
}
