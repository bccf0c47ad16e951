//! `[plan]` and `[risk]`.

use super::who;
use crate::text::file::{PlanText, Spanned};
use crate::text::keys;
use crate::text::read::{DocValue, Reader};
use crate::text::units;

/// Whose calls need an approved plan.
pub(super) fn plan(reader: &mut Reader, value: &DocValue<'_>) -> Option<PlanText> {
    let table = reader.table(value, "a table: require, expires")?;
    let fields = reader.fields(table, value.span(), &keys::PLAN);
    let named = fields.get("require").map(|value| reader.texts(value)).unwrap_or_default();
    let require = named.iter().filter_map(|name| who::who(reader, name)).collect();
    let expires = fields.get("expires").and_then(|value| reader.notation(value, "bad-duration", units::duration, "2h"));
    Some(PlanText { require, expires })
}

/// The score above which an allowed call asks.
pub(super) fn ask_above(reader: &mut Reader, value: &DocValue<'_>) -> Option<Spanned<u8>> {
    let table = reader.table(value, "a table: ask_above")?;
    let fields = reader.fields(table, value.span(), &keys::RISK);
    let score = fields.get("ask_above").and_then(|value| reader.count(value))?;
    match u8::try_from(score.value) {
        Ok(value @ 0..=99) => Some(Spanned::new(value, score.span)),
        _ => {
            let message = "scores go from 0 to 100, so nothing can be above this";
            reader.advise("bad-number", score.span, message, "write a number from 0 to 99");
            None
        }
    }
}
