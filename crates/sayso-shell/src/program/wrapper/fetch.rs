//! Wrappers that fetch a program if it is not there, and start it: npx, bunx, uvx, pipx run.

use crate::effect::NamedBy;
use crate::files::Kind;
use crate::program::{Code, View};
use crate::word::Word;

/// What stands in `node_modules/.bin` is the project's own dependency; anything else is fetched.
pub(crate) fn npx(view: &mut View<'_>) {
    if view.has("--call") {
        view.out.transparent = !view.has("--package");
        return;
    }
    let Some((at, name)) = view.operand_at(0).and_then(|at| Some((at, view.word(at)?))) else { return };
    let plain = name.exact_str().filter(|name| !name.is_empty() && !name.contains(['/', '@', ':']));
    let installed = plain.is_some_and(|name| is_installed(view, name));
    let elsewhere = ["--package", "--ignore-existing", "--workspace", "--workspaces"];
    if installed && !view.has_any(&elsewhere) {
        view.out.transparent = true;
    } else if !view.has_any(&["--no", "--no-install", "--offline"])
        || name.exact_str().is_none_or(|name| name.contains(['@', '/', ':']))
    {
        let by = view.by_words();
        view.named(Code::Installs, by, at);
    }
    start(view, at);
}

/// Whether the project holds a program of this name: here or, as npm looks for it, in a folder above.
fn is_installed(view: &View<'_>, name: &str) -> bool {
    let here = view.here();
    let is_there = |folder: &std::path::Path| {
        let link = folder.join("node_modules/.bin").join(name);
        !matches!(view.inv.files.kind(&link), Kind::Missing | Kind::Unknown)
    };
    let climbs = here.components().any(|part| part == std::path::Component::ParentDir);
    here.is_absolute() && if climbs { is_there(&here) } else { here.ancestors().any(is_there) }
}

pub(crate) fn fetched(view: &mut View<'_>) {
    let by = view.by_words();
    view.named(Code::Installs, by, 0);
    if let Some(at) = view.operand_at(0) {
        start(view, at);
    }
}

/// `eslint@9` starts `eslint`; a scoped package or an address starts something that nobody knows.
fn start(view: &mut View<'_>, at: usize) {
    let program = view.word(at).and_then(Word::exact_str).and_then(|name| {
        let name = name.split('@').next()?;
        (!name.is_empty() && !name.contains(['/', ':'])).then(|| name.to_owned())
    });
    match program {
        Some(program) => view.starts_as(&program, at, at + 1),
        None => view.code("unknown", Code::RunsCode, NamedBy::Program, at),
    }
}
