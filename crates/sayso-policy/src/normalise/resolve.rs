//! Where the path of an effect really leads: found once, compared many times.

use crate::word::Resolved;
use sayso_shell::canonical::lexical;
use sayso_shell::{Effect, Files, PathTarget, Target, canonical};

/// Resolves the path of an effect; of a pattern or a listing, the folder that it is about.
pub(crate) fn resolved(effect: &Effect, files: &dyn Files) -> Resolved {
    let Target::Path(target) = &effect.target else { return Resolved::default() };
    let path = match target {
        PathTarget::Exact(path) | PathTarget::Below(path) | PathTarget::Listed(path) => path,
        PathTarget::Glob { base, .. } => base,
        PathTarget::Unknown(_) => return Resolved::default(),
    };
    // INVARIANT: a path that could not be looked at in every component has no canonical form, so no allow matches it.
    let found = canonical(files, path);
    Resolved { canonical: found.certain.then_some(found.path), lexical: Some(lexical(path)) }
}
