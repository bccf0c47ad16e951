//! Subcommands that make and rewrite commits, and keep the store.

use crate::program::View;

/// The last commit is written anew; where others may have it already, that is history which they share.
pub(crate) fn amends(view: &mut View<'_>) {
    shows(view);
    let amend = view.seen.iter().find(|seen| seen.opt.name == "--amend").map(|seen| seen.at);
    if let Some(at) = amend
        && super::store::last_commit_is_pushed(view) != Some(false)
    {
        view.imply("--amends-pushed", None, at);
    }
}

/// What would be committed is shown, piece by piece or as a whole.
fn shows(view: &mut View<'_>) {
    // Nobody who is asked sees the text that an editor is opened with.
    let whole = view.has("--verbose") && view.has_any(&["--dry-run", "--short", "--porcelain", "--long"]);
    if whole || view.has_any(&["--patch", "--interactive"]) {
        super::revision::shows_tracked(view, &[]);
    }
}
