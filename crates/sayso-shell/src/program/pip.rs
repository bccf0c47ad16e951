//! Python's package managers.

use super::View;
use crate::word::Word;

/// What is newer, only the index knows.
pub(crate) fn newer_versions(view: &mut View<'_>) {
    if view.has_any(&["--outdated", "--uptodate"]) && !view.has("--no-index") {
        view.connects_configured("package index", 0);
    }
}

/// `pip install .` and `-e path` run the project's own build.
pub(crate) fn local_projects(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(word) = view.word(at)
            && word.exact().is_some_and(|b| b.starts_with(b".") || b.starts_with(b"/"))
        {
            view.reads_below(word, at);
        }
    }
    for (at, path) in view.values("--editable") {
        view.reads_below(&path, at);
    }
}

/// The first operand begins the command that is run in the environment. Unless an option or the subcommand itself does
/// more, it only starts what follows.
pub(crate) fn starts_operands(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.out.transparent = view.out.effects.is_empty();
        view.starts_words(at);
    }
}

/// `uv run prog ...`: a program; `uv run x.py`: Python with that script. It only starts what follows, but for what the
/// project declares, which it may fetch.
pub(crate) fn uv_run(view: &mut View<'_>) {
    let Some((at, word)) = view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) else { return };
    view.out.transparent = view.out.effects.is_empty();
    if view.has("--module") {
        let python_m = [Word::Exact("python".into()), Word::Exact("-m".into())];
        starts_after(view, &python_m, at);
    } else if word.exact().is_some_and(|b| b.ends_with(b".py") || b.starts_with(b"http") || b == b"-")
        || view.has("--script")
    {
        starts_after(view, &[Word::Exact("python".into())], at);
    } else {
        view.starts_words(at);
    }
}

fn starts_after(view: &mut View<'_>, leading: &[Word], at: usize) {
    let rest = view.inv.argv.get(at..).unwrap_or_default();
    let argv: Vec<Word> = leading.iter().chain(rest).cloned().collect();
    let spans = std::iter::repeat_n(at, leading.len()).chain(at..view.inv.argv.len()).map(|i| view.span(i)).collect();
    view.out.starts.push(super::Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
}
