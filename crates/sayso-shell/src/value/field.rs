//! Builds words from the pieces that expansions give: splitting, globs and quote removal.

use super::{Scalar, Shaped};
use crate::certain::value::Known;
use crate::effect::Listing;
use crate::word::{Origin, Part, Shape, Single, Text, Word};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Words of more pieces are unknown.
const MAX_PARTS: usize = 64;

/// How unquoted text is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Globbing {
    /// Globs are patterns.
    On,
    /// `set -f`, or a place where bash does not glob.
    Off,
    /// A switch may have changed what globs mean.
    Unknown,
}

/// What separates words in unquoted expansions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Separators {
    /// Blank, tab, newline.
    Default,
    /// `IFS` was set to this.
    Set(Rc<[u8]>),
    /// `IFS` is not known.
    Unknown,
    /// A place where nothing is split.
    None,
}

/// Collects words.
#[derive(Debug)]
pub(crate) struct Fields<'w> {
    words: &'w mut Vec<Word>,
    /// How many words there were before.
    begin: usize,
    globbing: Globbing,
    separators: Separators,
    /// Where globs look, if known.
    cwd: Option<&'w Path>,
    text: Vec<u8>,
    parts: Vec<Part>,
    /// Something stands here, if only an empty pair of quotes.
    present: bool,
    splits: bool,
    globs: bool,
    crafted: bool,
    /// See [`Shaped::loose`].
    loose: bool,
    opaque: bool,
    origin: Bound,
    /// The alternatives of the value, while it stands alone.
    either: Vec<Rc<[u8]>>,
    /// An unquoted `[` whose `]` stood in another part.
    bracket: bool,
}

/// What bounds the holes so far.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Bound {
    NoHole,
    By(Origin),
}

impl<'w> Fields<'w> {
    pub(crate) fn new(
        words: &'w mut Vec<Word>,
        globbing: Globbing,
        separators: Separators,
        cwd: Option<&'w Path>,
    ) -> Self {
        Self {
            begin: words.len(),
            words,
            globbing,
            separators,
            cwd,
            text: Vec::new(),
            parts: Vec::new(),
            present: false,
            splits: false,
            globs: false,
            crafted: false,
            loose: false,
            opaque: false,
            origin: Bound::NoHole,
            either: Vec::new(),
            bracket: false,
        }
    }

    /// Quoted text.
    pub(crate) fn quoted(&mut self, bytes: &[u8]) {
        self.present = true;
        self.append(bytes);
    }

    /// Unquoted text of the word itself: never split.
    pub(crate) fn literal(&mut self, bytes: &[u8]) {
        self.present |= !bytes.is_empty();
        match self.globbing {
            Globbing::Off => self.append(bytes),
            Globbing::On => self.glob_text(bytes),
            Globbing::Unknown if bytes.iter().any(|b| matches!(b, b'*' | b'?' | b'[')) => {
                self.hole(Origin::Unknown, true);
            }
            Globbing::Unknown => self.append(bytes),
        }
    }

    fn glob_text(&mut self, bytes: &[u8]) {
        // A `[` of an earlier piece may be closed here: `a[$i]`.
        let earlier = self.bracket;
        let mut rest = bytes;
        while let Some((&byte, tail)) = rest.split_first() {
            match byte {
                b'*' => self.glob(Part::AnyBytes),
                b'?' => self.glob(Part::AnyByte),
                b'[' => {
                    // The first byte after `[` (or `[!`) never closes it.
                    let skip = if matches!(tail.first(), Some(b'!' | b'^')) { 2 } else { 1 };
                    match tail.iter().skip(skip).position(|b| *b == b']') {
                        Some(at) => {
                            let (class, more) = rest.split_at((at + skip + 2).min(rest.len()));
                            // `[[:alpha:]]`: a bracket in brackets, whose end is not this one.
                            let named = |pair: &[u8]| matches!(pair, [b'[', b':' | b'.' | b'=']);
                            if class.get(1..).is_some_and(|class| class.windows(2).any(named)) {
                                self.hole(Origin::Unknown, true);
                                return;
                            }
                            self.glob(Part::Class(Text::from(class)));
                            rest = more;
                            continue;
                        }
                        None => {
                            self.bracket = true;
                            self.text.push(byte);
                        }
                    }
                }
                b']' if earlier => self.hole(Origin::Unknown, true),
                _ => self.text.push(byte),
            }
            rest = tail;
        }
    }

    fn glob(&mut self, part: Part) {
        self.globs = true;
        self.splits = true;
        self.part(part);
    }

    fn part(&mut self, part: Part) {
        self.present = true;
        // Two holes side by side are one, and so is a shape with too many pieces to be worth knowing.
        if self.text.is_empty() && part == Part::Hole && self.parts.last() == Some(&Part::Hole) {
            self.either.clear();
            return;
        }
        self.flush();
        self.parts.push(part);
        if self.parts.len() > MAX_PARTS {
            self.overflow();
        }
    }

    /// Gives up on a word that grew too long.
    fn overflow(&mut self) {
        self.text.clear();
        self.parts.clear();
        self.parts.push(Part::Hole);
        self.present = true;
        self.splits = true;
        self.globs = false;
        self.crafted = true;
        self.origin = Bound::By(Origin::Unknown);
    }

    fn append(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
        if self.text.len() > crate::limit::MAX_VALUE {
            self.overflow();
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.parts.push(Part::Literal(Text::from(text)));
        }
    }

    /// A value in double quotes, or where nothing is split.
    pub(crate) fn quoted_value(&mut self, value: &Scalar) {
        self.present = true;
        match value {
            Scalar::Exact(bytes) => self.append(bytes),
            Scalar::Shaped(shaped) => self.shape(shaped),
        }
    }

    fn shape(&mut self, shaped: &Shaped) {
        self.loose |= shaped.loose;
        self.crafted |= shaped.crafted;
        let alone = self.parts.is_empty() && self.text.is_empty();
        if alone {
            self.either.clone_from(&shaped.either);
        }
        for part in &shaped.parts {
            match part {
                Part::Literal(text) => self.append(text.as_bytes()),
                Part::Hole => {
                    self.part(Part::Hole);
                    // A listed name behind other text is another name.
                    let origin = match &shaped.origin {
                        Origin::Listing(_) if !alone => Origin::Unknown,
                        // Digits before a number make another one.
                        Origin::Job if !alone => Origin::Number,
                        origin => origin.clone(),
                    };
                    self.bound(origin);
                }
                other => {
                    self.part(other.clone());
                    self.globs = true;
                }
            }
        }
    }

    fn bound(&mut self, origin: Origin) {
        self.origin = match std::mem::replace(&mut self.origin, Bound::NoHole) {
            Bound::NoHole => Bound::By(origin),
            Bound::By(known) if known == origin => Bound::By(known),
            Bound::By(_) => Bound::By(Origin::Unknown),
        };
    }

    /// Anything; with `splits`, perhaps none or several words.
    pub(crate) fn hole(&mut self, origin: Origin, splits: bool) {
        self.part(Part::Hole);
        self.splits |= splits;
        self.bound(origin);
    }

    /// Nothing at all is known of this word.
    pub(crate) fn opaque(&mut self) {
        self.present = true;
        self.opaque = true;
    }

    /// A value outside quotes: it is split, and globs in it count.
    pub(crate) fn unquoted_value(&mut self, value: &Scalar) {
        if self.separators == Separators::None {
            match value {
                Scalar::Exact(bytes) => {
                    self.present |= !bytes.is_empty();
                    self.append(bytes);
                }
                Scalar::Shaped(shaped) => self.shape(shaped),
            }
            return;
        }
        match value {
            Scalar::Exact(bytes) => self.split(bytes),
            Scalar::Shaped(shaped) => self.unquoted_shape(shaped),
        }
    }

    /// A value outside quotes in a shell that neither splits nor globs it; an empty one is no word.
    pub(crate) fn unsplit_value(&mut self, value: &Scalar) {
        match value {
            Scalar::Exact(bytes) => {
                self.present |= !bytes.is_empty();
                self.append(bytes);
            }
            Scalar::Shaped(_) => self.unquoted_value(value),
        }
    }

    /// A value outside quotes, where nobody knows whether it is split.
    pub(crate) fn perhaps_split_value(&mut self, value: &Scalar) {
        match value {
            Scalar::Exact(bytes) if self.separators != Separators::None => {
                let plain = self.separators == Separators::Default && bytes.iter().all(|b| !b" \t\n*?[\\".contains(b));
                if plain {
                    self.unsplit_value(value);
                } else {
                    self.hole(Origin::Unknown, true);
                }
            }
            _ => self.unquoted_value(value),
        }
    }

    /// Nothing of the word so far is what it seems, nor of the words that were made of it.
    pub(crate) fn blur(&mut self, crafted: bool) {
        self.words.truncate(self.begin);
        let crafted = crafted || self.crafted;
        self.overflow();
        self.crafted = crafted;
    }

    fn unquoted_shape(&mut self, shaped: &Shaped) {
        if shaped.origin.is_number() && self.separators == Separators::Default {
            self.splits |= shaped.loose;
            return self.shape(shaped);
        }
        let plain = shaped.parts.iter().all(|part| match part {
            Part::Literal(text) => !text.as_bytes().iter().any(|b| b" \t\n*?[\\".contains(b)),
            _ => true,
        });
        self.splits = true;
        self.crafted |= shaped.crafted;
        if plain && self.separators == Separators::Default {
            self.shape(shaped);
        } else {
            self.hole(Origin::Unknown, true);
        }
    }

    fn split(&mut self, bytes: &[u8]) {
        let set: Rc<[u8]> = match &self.separators {
            Separators::Unknown if bytes.is_empty() => return,
            Separators::Unknown => return self.hole(Origin::Unknown, true),
            Separators::Set(set) => set.clone(),
            Separators::Default | Separators::None => {
                // Nothing to split and nothing to glob is by far the most common.
                if bytes.iter().all(|b| !b" \t\n*?[\\".contains(b)) {
                    self.present |= !bytes.is_empty();
                    self.append(bytes);
                    return;
                }
                Rc::from(&b" \t\n"[..])
            }
        };
        // A backslash in a value escapes a glob character only when a glob is there at all.
        if bytes.contains(&b'\\') && self.globbing != Globbing::Off && bytes.iter().any(|b| b"*?[".contains(b)) {
            self.hole(Origin::Unknown, true);
            return;
        }
        let blank = |b: &u8| set.contains(b) && b" \t\n".contains(b);
        let hard = |b: &u8| set.contains(b) && !b" \t\n".contains(b);
        let mut rest = bytes;
        let mut first = true;
        loop {
            let lead = rest.iter().position(|b| !blank(b)).unwrap_or(rest.len());
            // Blanks before the value end the word that came before it.
            if lead > 0 {
                self.end_word();
            }
            rest = rest.get(lead..).unwrap_or_default();
            if rest.is_empty() {
                return;
            }
            let end = rest.iter().position(|b| blank(b) || hard(b)).unwrap_or(rest.len());
            let (word, tail) = rest.split_at(end);
            self.literal(word);
            if tail.is_empty() {
                return;
            }
            let skip = tail.iter().position(|b| !blank(b)).unwrap_or(tail.len());
            match tail.get(skip) {
                Some(byte) if hard(byte) => {
                    // `a,,b` has an empty word in it; so has `,a`.
                    if !self.present || word.is_empty() && !first {
                        self.present = true;
                    }
                    self.end_word();
                    rest = tail.get(skip + 1..).unwrap_or_default();
                }
                _ => {
                    self.end_word();
                    rest = tail.get(skip..).unwrap_or_default();
                }
            }
            first = false;
        }
    }

    /// Whether everything becomes one string.
    pub(crate) fn is_single(&self) -> bool {
        self.separators == Separators::None
    }

    /// Ends the current word; if nothing stands there, there is none.
    pub(crate) fn end_word(&mut self) {
        if !self.present {
            return;
        }
        let word = self.take();
        self.words.push(word);
    }

    fn take(&mut self) -> Word {
        self.present = false;
        self.bracket = false;
        let splits = std::mem::take(&mut self.splits);
        let globs = std::mem::take(&mut self.globs);
        let opaque = std::mem::take(&mut self.opaque);
        let bound = std::mem::replace(&mut self.origin, Bound::NoHole);
        if opaque {
            self.text.clear();
            self.parts.clear();
            return Word::Opaque;
        }
        if self.parts.is_empty() {
            return Word::Exact(Text::from(std::mem::take(&mut self.text)));
        }
        self.flush();
        let parts = std::mem::take(&mut self.parts);
        let origin = match bound {
            Bound::By(origin) if !globs => origin,
            Bound::NoHole if globs => listing(&parts, self.cwd),
            _ => Origin::Unknown,
        };
        Word::Dynamic(if splits { Shape::several(parts, origin) } else { Shape::single(parts, origin, Single::Quoted) })
    }

    /// The value of everything so far as one string.
    pub(crate) fn into_scalar(mut self) -> Scalar {
        let crafted = self.crafted || self.opaque;
        let either = std::mem::take(&mut self.either);
        self.present = true;
        match self.take() {
            Word::Exact(text) => Scalar::exact(text.as_bytes(), Known::Joined),
            Word::Dynamic(shape) => {
                // Behind or before other text the alternatives are no longer those of the whole.
                let either = if shape.parts == [Part::Hole] { either } else { Vec::new() };
                let loose = self.loose;
                Scalar::Shaped(Rc::new(Shaped { parts: shape.parts, origin: shape.origin, crafted, loose, either }))
            }
            Word::Opaque => Scalar::crafted(),
        }
    }
}

/// The folder in which a glob looks.
fn listing(parts: &[Part], cwd: Option<&Path>) -> Origin {
    let prefix = match parts.first() {
        Some(Part::Literal(text)) => text.as_bytes(),
        _ => b"",
    };
    let folder = match prefix.iter().rposition(|b| *b == b'/') {
        Some(0) => &b"/"[..],
        Some(at) => prefix.get(..at).unwrap_or_default(),
        None => b"",
    };
    let mut pattern =
        prefix.get(prefix.iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1)..).unwrap_or_default().to_vec();
    let literal = usize::from(matches!(parts.first(), Some(Part::Literal(_))));
    for part in parts.iter().skip(literal) {
        match part {
            Part::Literal(text) | Part::Class(text) => pattern.extend_from_slice(text.as_bytes()),
            Part::AnyByte => pattern.push(b'?'),
            Part::AnyBytes | Part::Hole => pattern.push(b'*'),
        }
    }
    if crate::program::leads_up(&pattern, false) {
        return Origin::Unknown;
    }
    let Ok(folder) = std::str::from_utf8(folder) else { return Origin::Unknown };
    let listing = Listing::all(match cwd {
        Some(cwd) => crate::canonical::lexical(&cwd.join(folder)),
        None => PathBuf::from(folder),
    });
    Origin::Listing(Box::new(if folder.starts_with('/') { listing } else { listing.told_from(cwd) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, set: &str) -> String {
        let mut words = Vec::new();
        let mut fields = Fields::new(&mut words, Globbing::On, Separators::Set(set.as_bytes().into()), None);
        fields.unquoted_value(&Scalar::exact(text.as_bytes(), Known::Joined));
        fields.end_word();
        words.iter().map(|w| format!("<{}>", w.exact_str().unwrap_or("?"))).collect()
    }

    #[test]
    fn values_split_as_in_bash() {
        for (text, set, expected) in [
            ("a b", " \t\n", "<a><b>"),
            ("  a  b  ", " \t\n", "<a><b>"),
            ("", " \t\n", ""),
            ("a,b", ",", "<a><b>"),
            ("a,,b", ",", "<a><><b>"),
            (",a", ",", "<><a>"),
            ("a,", ",", "<a>"),
            ("a , b", " ,", "<a><b>"),
            ("a b", ",", "<a b>"),
            ("a b", "", "<a b>"),
            ("*.c x", " ", "<?><x>"),
        ] {
            assert_eq!(split(text, set), expected, "{text:?} by {set:?}");
        }
    }

    #[test]
    fn a_glob_is_a_pattern_with_a_folder() {
        let mut words = Vec::new();
        let cwd = PathBuf::from("/w");
        let mut fields = Fields::new(&mut words, Globbing::On, Separators::Default, Some(&cwd));
        fields.literal(b"src/*.[ch]");
        fields.end_word();
        fields.literal(b"[");
        fields.end_word();
        fields.quoted(b"*");
        fields.end_word();
        assert_eq!(words.len(), 3);
        let Word::Dynamic(shape) = &words[0] else { panic!() };
        let listing = Listing::all("/w/src".into()).told_from(Some(Path::new("/w")));
        assert_eq!(shape.origin, Origin::Listing(Box::new(listing)));
        assert_eq!(shape.parts.len(), 4);
        assert_eq!(words[1].exact_str(), Some("["));
        assert_eq!(words[2].exact_str(), Some("*"));
    }
}
