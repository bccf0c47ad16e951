//! Keys, certificates and passwords.

use crate::effect::Verb;
use crate::program::{Code, View};
use crate::word::Word;

/// `-passin file:F`: a password out of the first line of a file.
pub(crate) fn passwords(view: &mut View<'_>) {
    for name in ["-passin", "-passout", "-pass", "-passcerts"] {
        for (at, value) in view.values(name) {
            match value.exact() {
                Some([b'f', b'i', b'l', b'e', b':', file @ ..]) => view.reads(&Word::Exact(file.into()), at),
                Some(_) => {}
                None => view.reads(&Word::Opaque, at),
            }
        }
    }
}

pub(crate) fn gpg(view: &mut View<'_>) {
    if view.has_any(&[
        "-e",
        "--encrypt",
        "-s",
        "--sign",
        "-c",
        "--symmetric",
        "-b",
        "--detach-sign",
        "--clearsign",
        "--clear-sign",
    ]) && !view.has("--output")
    {
        view.touches(Verb::Write, ".", true);
    }
}

/// Without a name it shows the whole environment.
pub(crate) fn printenv(view: &mut View<'_>) {
    if view.operand_count() == 0 {
        view.imply("--all", Some(Code::ShowsSecrets), 0);
    }
    for at in view.operands() {
        if let Some(word) = view.word(at) {
            view.shows_variable_of(word, at);
        }
    }
}
