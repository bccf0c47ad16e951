//! `[hold]`.

use crate::text::file::{Caches, HoldText};
use crate::text::keys;
use crate::text::read::{DocValue, Reader};
use sayso_shell::bounds::{Leave, Need};

const NEEDS: &[(&str, Need)] = &[("whole", Need::Whole), ("files", Need::Files)];
const CACHES: &[(&str, Caches)] = &[("copy", Caches::Copy), ("private", Caches::Private), ("none", Caches::None)];
const LEAVES: &[(&str, Leave)] = &[("session", Leave::Session), ("end", Leave::End)];

/// The section; `None` if it is no table.
pub(super) fn hold(reader: &mut Reader, value: &DocValue<'_>) -> Option<HoldText> {
    let Some(table) = value.get_ref().as_table() else {
        let message = "`hold` is a table";
        reader.advise("wrong-type", value.span(), message, "write [hold] and, below it, run = [\"@builds\"]");
        return None;
    };
    let fields = reader.fields(table, value.span(), &keys::HOLD);
    let patterns = |reader: &mut Reader, key| fields.get(key).map(|value| reader.patterns(value)).unwrap_or_default();
    let run = patterns(reader, "run");
    let always = fields.get("always").and_then(|value| reader.flag(value));
    let need = fields.get("need").and_then(|value| reader.word(value, "unknown-word", NEEDS));
    let write = patterns(reader, "write");
    let caches = fields.get("caches").and_then(|value| reader.word(value, "unknown-word", CACHES));
    let connect = patterns(reader, "connect");
    let env = fields.get("env").map(|value| reader.texts(value)).unwrap_or_default();
    for name in &env {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '*' | '?');
        if !name.value.chars().all(plain) {
            let message = format!("`{}` is not the name of a variable", name.value);
            reader.advise("bad-name", name.span.clone(), message, "write the name alone, as in \"GITHUB_TOKEN\"");
        }
    }
    let leave = fields.get("leave").and_then(|value| reader.word(value, "unknown-word", LEAVES));
    Some(HoldText { span: value.span(), run, always, need, write, caches, connect, env, leave })
}
