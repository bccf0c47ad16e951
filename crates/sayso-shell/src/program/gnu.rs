//! GNU programs beside the system's own have a `g` before their name (`gls`, `gxargs`), as on BSD and macOS.

use super::{Facets, facet};

/// The name without its `g`, if GNU has such a program: `rm` for `grm`. Not every program with a `g` before it: `gw` is a
/// build tool, not `w`.
#[must_use]
pub fn plain(name: &str) -> Option<&str> {
    let plain = name.strip_prefix('g')?;
    facet::of_name(plain)?.has(Facets::GNU).then_some(plain)
}

/// `gls` is `ls`; every other name is itself.
pub(crate) fn without_gnu_prefix(name: &str) -> &str {
    plain(name).unwrap_or(name)
}
