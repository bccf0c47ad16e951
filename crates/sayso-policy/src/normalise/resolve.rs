//! Where the path of an effect really leads: found once, compared many times.

use crate::word::Resolved;
use sayso_shell::canonical::lexical;
use sayso_shell::{Analysis, Effect, Files, Target, canonical};
use std::path::{Path, PathBuf};

/// Resolves the path of an effect; of a pattern or a listing, the folder that it is about.
pub(crate) fn resolved(effect: &Effect, files: &dyn Files) -> Resolved {
    let Target::Path(target) = &effect.target else { return Resolved::default() };
    let Some(path) = target.place() else { return Resolved::default() };
    // INVARIANT: a path that could not be looked at in every component has no canonical form, so no allow matches it.
    let found = canonical(files, path);
    Resolved { canonical: found.certain.then_some(found.path), lexical: Some(lexical(path)) }
}

/// A working directory without links; `None` where that cannot be known.
pub(crate) fn folder(cwd: &Path, files: &dyn Files) -> Option<PathBuf> {
    let found = canonical(files, cwd);
    found.certain.then_some(found.path)
}

/// The working directory of each run. Most are the call's own, which is looked at once.
pub(crate) fn folders(
    analysis: Option<&Analysis>,
    cwd: Option<&Path>,
    canonical_cwd: Option<&Path>,
    files: &dyn Files,
) -> Vec<Option<PathBuf>> {
    let runs = analysis.map_or(&[][..], |analysis| &analysis.runs);
    let mut last: Option<(&Path, Option<PathBuf>)> = cwd.map(|cwd| (cwd, canonical_cwd.map(Path::to_owned)));
    runs.iter()
        .map(|run| {
            let here = run.cwd.as_deref()?;
            match &last {
                Some((known, found)) if *known == here => found.clone(),
                _ => {
                    let found = folder(here, files);
                    last = Some((here, found.clone()));
                    found
                }
            }
        })
        .collect()
}
