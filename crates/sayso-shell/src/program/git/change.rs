//! Subcommands that make and rewrite commits, and keep the store.

use crate::program::View;

/// The last commit is written anew; where others may have it already, that is history which they share.
pub(crate) fn amends(view: &mut View<'_>) {
    let amend = view.seen.iter().find(|seen| seen.opt.name == "--amend").map(|seen| seen.at);
    if let Some(at) = amend
        && super::store::last_commit_is_pushed(view) != Some(false)
    {
        view.imply("--amends-pushed", None, at);
    }
}
