//! Python's package managers.

use super::View;
use super::task::{self, Naming};
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

/// `hatch run lint`, `pdm run test`: a script of the project by its name, where its settings hold one, or a program.
pub(crate) fn script_or_program(view: &mut View<'_>) {
    let Some(at) = view.operand_at(0) else { return };
    let name = view.operand_str(0).map(|name| match view.name {
        // `hatch run lint:style`: in which environment.
        "hatch" => name.split_once(':').map_or(name, |(_, script)| script),
        _ => name,
    });
    if name.is_some_and(|name| is_script(view, name)) {
        task::task(view, at, Naming::Whole);
        view.hands_on(1);
    } else {
        starts_operands(view);
    }
}

/// Whether the settings of the project define a script of this name.
fn is_script(view: &View<'_>, name: &str) -> bool {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
    let Some(base) = view.base.as_deref().filter(|base| base.is_absolute() && plain) else { return false };
    let places: &[(&str, &str, &str)] = match view.name {
        "hatch" => &[("pyproject.toml", "tool.hatch.envs.", ".scripts"), ("hatch.toml", "envs.", ".scripts")],
        "pdm" => &[("pyproject.toml", "tool.pdm.scripts", "")],
        "rye" => &[("pyproject.toml", "tool.rye.scripts", "")],
        "pixi" => &[("pixi.toml", "tasks", ""), ("pyproject.toml", "tool.pixi.tasks", "")],
        "pipenv" => &[("Pipfile", "scripts", "")],
        _ => &[],
    };
    // The file nearest to the folder is the project's.
    places.iter().any(|(file, begin, end)| {
        let found = base
            .ancestors()
            .take(16)
            .find_map(|folder| view.inv.files.read(&folder.join(file), crate::limit::MAX_COMMAND));
        found.is_some_and(|text| defines(&String::from_utf8_lossy(&text), begin, end, name))
    })
}

/// Whether a section of a TOML file whose name begins and ends so has a line that defines this name, or is named after it.
fn defines(text: &str, begin: &str, end: &str, name: &str) -> bool {
    let mut within = false;
    text.lines().map(str::trim).any(|line| {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let rest = section.strip_prefix(begin);
            within = rest.is_some_and(|rest| if end.is_empty() { rest.is_empty() } else { rest.ends_with(end) });
            return section
                .strip_suffix(name)
                .and_then(|rest| rest.strip_suffix('.'))
                .is_some_and(|rest| rest == begin);
        }
        let key = line.split_once('=').map(|(key, _)| key.trim().trim_matches(['"', '\'']));
        within && key == Some(name)
    })
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

#[cfg(test)]
mod tests {
    use super::defines;

    #[test]
    fn a_script_is_defined_in_its_section_alone() {
        let pdm = "[project]\nlint = 1\n[tool.pdm.scripts]\ntest = \"pytest\"\n\"a-b\" = 'x'\n[tool.pdm.scripts.doc]\ncmd = 'x'\n[other]\nlate = 1\n";
        let has = |name| defines(pdm, "tool.pdm.scripts", "", name);
        assert!(has("test") && has("a-b") && has("doc"));
        assert!(!has("lint") && !has("late") && !has("cmd") && !has("scripts"));
        let hatch = "[tool.hatch.envs.lint.scripts]\nstyle = 'ruff'\n[tool.hatch.envs.lint]\ndetached = true\n";
        let has = |name| defines(hatch, "tool.hatch.envs.", ".scripts", name);
        assert!(has("style") && !has("detached") && !has("ruff"));
    }
}
