//! Package managers of systems and languages.

use crate::program::View;

/// Gems that are not here are looked up.
pub(crate) fn remote_gems(view: &mut View<'_>) {
    let asks = matches!(view.path.last(), Some(&("search" | "outdated")));
    if asks || view.has_any(&["-r", "--remote", "-b", "--both"]) {
        view.connects_configured("package index", 0);
    }
}
