//! pytest and other runners of Python tests.

use super::{Code, View};
use crate::word::{Text, Word};

/// `tests/test_a.py::test_b[1]`: the file stands before the colons.
pub(crate) fn tests(view: &mut View<'_>) {
    super::project::runs_operands(view);
    for (at, plugin) in view.values("-p") {
        // `no:name` switches one off; any other module is imported.
        if plugin.exact().is_none_or(|name| !name.starts_with(b"no:")) {
            view.named_by_flag(Code::RunsCode, "-p", at);
        }
    }
    for (at, setting) in view.values("--override-ini") {
        let harmless = |setting: &str| {
            ["log_", "junit_", "xfail_strict=", "console_"].iter().any(|name| setting.starts_with(name))
        };
        if setting.exact_str().is_none_or(|setting| !harmless(setting) && setting != "addopts=") {
            view.named_by_flag(Code::RunsCode, "--override-ini", at);
        }
    }
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        match word.exact() {
            Some(bytes) => {
                let end = bytes.windows(2).position(|w| w == b"::").unwrap_or(bytes.len());
                let path = Word::Exact(Text::from(bytes.get(..end).unwrap_or(bytes)));
                view.reads_sources(&path, at, "py ini toml cfg txt md rst");
            }
            None => view.reads_below(word, at),
        }
    }
}

/// `coverage run -m pytest` and `coverage run script.py` are Python.
pub(crate) fn coverage_run(view: &mut View<'_>) {
    if let Some((at, _)) = view.values("--module").pop() {
        let python_m = [Word::Exact("python".into()), Word::Exact("-m".into())];
        let rest = view.inv.argv.get(at + 1..).unwrap_or_default();
        let argv: Vec<Word> = python_m.iter().chain(rest).cloned().collect();
        let spans = [at, at].into_iter().chain(at + 1..view.inv.argv.len()).map(|i| view.span(i)).collect();
        view.out.starts.push(super::Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
    } else if let Some(at) = view.operand_at(0) {
        view.starts_as("python", at, at);
    }
}
