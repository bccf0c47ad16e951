//! Classes of bytes. Only ASCII bytes mean anything to the grammar.

const META: u8 = 1;
const WORD: u8 = 2;
const DOUBLE: u8 = 4;
const NAME_START: u8 = 8;
const NAME: u8 = 16;

const fn class(byte: u8) -> u8 {
    match byte {
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => META,
        b'\\' | b'"' | b'`' | b'$' => WORD | DOUBLE,
        b'\'' => WORD,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => NAME_START | NAME,
        b'0'..=b'9' => NAME,
        _ => 0,
    }
}

static CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        #[expect(clippy::indexing_slicing, reason = "checked when compiled: 256 entries, a u8 index")]
        {
            table[byte as usize] = class(byte);
        }
        if byte == 255 {
            break table;
        }
        byte += 1;
    }
};

fn is(byte: u8, classes: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|c| c & classes != 0)
}

/// Ends an unquoted word.
pub(super) fn is_meta(byte: u8) -> bool {
    is(byte, META)
}

/// Ends an unquoted word, or is special in one.
pub(super) fn is_special_in_word(byte: u8) -> bool {
    is(byte, META | WORD)
}

/// Special in double quotes.
pub(super) fn is_special_in_double_quotes(byte: u8) -> bool {
    is(byte, DOUBLE)
}

/// Begins a variable's name.
pub(super) fn is_name_start(byte: u8) -> bool {
    is(byte, NAME_START)
}

/// Continues a variable's name.
pub(super) fn is_name(byte: u8) -> bool {
    is(byte, NAME)
}

/// A special parameter: `$?`.
pub(super) fn is_special_parameter(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}

/// `name` and nothing else.
pub(super) fn is_identifier(text: &[u8]) -> bool {
    text.split_first().is_some_and(|(first, rest)| is_name_start(*first) && rest.iter().all(|b| is_name(*b)))
}
