//! The bounds of a held run, for people.

use crate::show::paint::Paint;
use sayso_policy::explain::visible;
use sayso_policy::hold::Lowered;
use sayso_policy::shell::bounds::{CacheView, Host, Leave, Need};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// How many of one kind are listed; the rest is counted.
const MOST: usize = 12;

/// What a held run may do, and what of the policy the kernel cannot keep.
pub(crate) fn report(paint: Paint, lowered: &Lowered, workspace: &Path, home: Option<&Path>) -> String {
    let bounds = &lowered.bounds;
    let shown = |path: &Path| short(path, workspace, home);
    let need = match bounds.need {
        Need::Whole => "held whole",
        Need::Files => "held, files at least",
    };
    let leave = match bounds.leave {
        Leave::End => "processes end with the run",
        Leave::Session => "processes it leaves behind live as long as the session",
    };
    let mut out = format!("  bounds: {need}; {leave}\n");
    let mut say = |label: &str, all: Vec<String>, none: &str| {
        if all.is_empty() && none.is_empty() {
            return;
        }
        let more = all.len().saturating_sub(MOST);
        let mut text: Vec<String> = all.into_iter().take(MOST).collect();
        if more > 0 {
            text.push(format!("and {more} more"));
        }
        let text = if text.is_empty() { none.to_owned() } else { text.join("  ") };
        let _ = writeln!(out, "    {}  {text}", paint.dim(&format!("{label:<10}")));
    };
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| shown(path)).collect::<Vec<_>>();
    say("writes", paths(&bounds.write), "nothing");
    say("read-only", paths(&bounds.read_only), "");
    say("not made", paths(&bounds.absent), "");
    say("decoys", bounds.decoys.iter().map(|decoy| shown(&decoy.path)).collect(), "");
    say("refused", paths(&bounds.refuse), "");
    say("hidden", paths(&bounds.hide), "");
    say("but for", paths(&bounds.read), "");
    say("hosts", bounds.hosts.iter().map(host).collect(), "none");
    let cache = |seen: &CacheView| match seen {
        CacheView::Copy(_) => "copy",
        CacheView::Private(_) => "private",
        CacheView::Empty => "empty",
    };
    let caches = bounds.caches.iter().map(|one| format!("{} ({})", shown(&one.path), cache(&one.seen)));
    say("caches", caches.collect(), "");
    let withheld = bounds.withhold.iter().map(|name| visible(&name.to_string_lossy()).into_owned());
    say("variables", withheld.map(|name| format!("without {name}")).collect(), "");
    if !lowered.losses.is_empty() {
        out.push_str("\n  What the bounds do not say as the policy does:\n");
    }
    for loss in &lowered.losses {
        let place = loss.source.as_ref().map(|source| visible(&source.to_string()).into_owned()).unwrap_or_default();
        let _ = writeln!(out, "    {place}  {}", visible(&loss.text));
    }
    out
}

fn host(host: &Host) -> String {
    let ports: Vec<String> = host.ports.iter().map(ToString::to_string).collect();
    let name = visible(&host.name);
    if ports.is_empty() { name.into_owned() } else { format!("{name}:{}", ports.join(",")) }
}

/// A path as people write it: below the workspace, or below the home folder.
fn short(path: &Path, workspace: &Path, home: Option<&Path>) -> String {
    let below = |base: Option<&Path>, sign: &str| {
        let rest = path.strip_prefix(base?).ok()?;
        Some(if rest.as_os_str().is_empty() { sign.to_owned() } else { format!("{sign}/{}", rest.display()) })
    };
    let text = below(Some(workspace), ".").or_else(|| below(home, "~")).unwrap_or_else(|| path.display().to_string());
    visible(&text).into_owned()
}
