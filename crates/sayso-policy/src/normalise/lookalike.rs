//! What a disguised text looks like to a person.
//!
//! Used only to ask and to deny: a look-alike never earns an allow.

use unicode_security::skeleton;

/// The ASCII text that this text resembles: invisible characters gone, look-alikes replaced, lower case. `None` for
/// plain ASCII, which resembles nothing but itself. What resembles no ASCII stays as it is.
pub(crate) fn look_alike(text: &str) -> Option<String> {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() && !character.is_ascii_control() {
            out.push(character.to_ascii_lowercase());
        } else if !is_invisible(character) {
            push_prototype(&mut out, character);
        }
    }
    Some(out)
}

fn push_prototype(out: &mut String, character: char) {
    let mut buffer = [0_u8; 4];
    let prototype: String = skeleton(character.encode_utf8(&mut buffer)).collect();
    match prototype.as_str() {
        // The table's prototype of every `m` is the pair that looks like one.
        "rn" => out.push('m'),
        ascii if ascii.is_ascii() => out.push_str(&ascii.to_ascii_lowercase()),
        // A letter with marks resembles the letter.
        marked => match marked.chars().find(char::is_ascii_alphanumeric) {
            Some(letter) => out.push(letter.to_ascii_lowercase()),
            None => out.extend(character.to_lowercase()),
        },
    }
}

/// Control characters and what Unicode calls default ignorable: nothing of them is seen.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(u32::from(character),
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
            | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfff8
            | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_fall_off() {
        for (text, plain) in [
            ("b\u{430}sh", "bash"),                // Cyrillic a
            ("ｂａｓｈ", "bash"),                  // full width
            ("ba\u{200b}sh", "bash"),              // zero-width space
            ("\u{202e}bash", "bash"),              // right-to-left override
            ("ba\u{0}sh\n", "bash"),               // controls
            ("file_de\u{217c}ete", "file_delete"), // Roman numeral fifty
            ("ter\u{217f}inal", "terminal"),       // Roman numeral thousand
            ("𝐛𝐚𝐬𝐡", "bash"),                      // mathematical bold
            ("b\u{e0}sh", "bash"),                 // a with grave
            ("b\u{e0001}ash", "bash"),             // tag character
        ] {
            assert_eq!(look_alike(text).as_deref(), Some(plain), "{}", text.escape_unicode());
        }
    }

    #[test]
    fn plain_text_resembles_only_itself() {
        assert_eq!(look_alike("bash_execute"), None);
        assert_eq!(look_alike("a b"), None);
    }
}
