//! Functions of programs' languages that are given secrets.

use super::is_quote;
use super::name::is_secret_name;
use super::table::SETTERS;

/// Whether a function of this name is given secrets.
pub(super) fn calls_with_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit('.').next().unwrap_or_default();
    let sets = ["set", "with", "use"].iter().any(|begin| last.starts_with(begin)) && is_secret_name(last);
    ([".auth", "password", "passwd"].iter().any(|end| lower.ends_with(end)) || sets) && name.contains('.')
}

/// Whether a function of this name is given a name and a value.
pub(super) fn sets_by_name(function: &str) -> bool {
    let lower = function.to_ascii_lowercase();
    SETTERS.iter().any(|setter| lower.ends_with(setter))
}

/// Whether what stands between two words parts two quoted arguments.
pub(super) fn is_next_argument(between: &str) -> bool {
    between.starts_with(is_quote) && between.ends_with(is_quote) && between.contains(',')
}

pub(super) fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty()
}
