//! What of a folder a search opens, by its options.

use super::super::{View, dashed_name_may_exist};
use crate::effect::{LeftOut, Sieve};
use crate::word::{Text, Word};

/// What of a folder `grep -r` opens: with `--include` first, only names that one of them matches; without one, all but
/// what is excluded.
pub(super) fn included(view: &View<'_>) -> Sieve {
    let mut choices =
        view.seen.iter().filter(|seen| matches!(seen.opt.name.as_str(), "--include" | "--exclude" | "--exclude-from"));
    if view.out.open_options || steered(view, b"GREP_OPTIONS") || view.has("--dereference-recursive") {
        return Sieve::All;
    }
    if !view.has("--include") {
        let out = |name: &str| {
            let values = view.values(name).into_iter();
            values.filter_map(|(_, value)| left_out(written(view, &value)?.as_str()?)).collect()
        };
        return LeftOut { files: out("--exclude"), folders: out("--exclude-dir"), ignored: false }.sieve();
    }
    // Where an exclude stands first, what nothing matches is searched; of several that match, the last counts.
    if choices.next().is_none_or(|first| first.opt.name != "--include") {
        return Sieve::All;
    }
    let values = view.values("--include");
    let names: Option<Vec<Text>> =
        values.iter().map(|(_, value)| value.as_pattern().filter(|name| !name.as_bytes().contains(&b'/'))).collect();
    names.map_or(Sieve::All, Sieve::Named)
}

/// Whether this command sets a variable that holds options.
fn steered(view: &View<'_>, name: &[u8]) -> bool {
    view.inv.env.iter().any(|(set, _)| set.as_bytes() == name)
}

/// What of a folder `rg` opens.
pub(super) fn searched(view: &View<'_>) -> Sieve {
    if view.name != "rg"
        || view.out.open_options
        || steered(view, b"RIPGREP_CONFIG_PATH")
        || view.has_any(&["--follow", "--ignore-file", "--type-add", "--type-clear"])
    {
        return Sieve::All;
    }
    let mut names = Vec::new();
    let mut out = LeftOut::default();
    for (_, value) in view.values("--glob").into_iter().chain(view.values("--iglob")) {
        match value.exact_str() {
            Some(glob) if glob.starts_with('!') => passed_over(glob.strip_prefix('!').unwrap_or_default(), &mut out),
            Some(glob) => match named(glob) {
                Some(found) => names.extend(found),
                None => return Sieve::All,
            },
            None => return Sieve::All,
        }
    }
    // A glob takes in hidden files too.
    if !names.is_empty() {
        return Sieve::Named(names);
    }
    let types = view.values("--type");
    let of_types = types.iter().map(|(_, value)| value.exact_str().and_then(suffixes_of_type));
    if let Some(found) = of_types.collect::<Option<Vec<_>>>().filter(|found| !found.is_empty()) {
        return Sieve::Named(found.concat());
    }
    let unignored = !view.seen.iter().any(|seen| seen.opt.name.starts_with("--no-ignore"));
    match (view.has("--unrestricted"), view.has("--hidden"), unignored) {
        (false, false, true) => Sieve::Searched,
        (false, false, false) => Sieve::Visible,
        (false, true, ignored) => LeftOut { ignored, ..out }.sieve(),
        _ => out.sieve(),
    }
}

/// A pattern as the program sees it: one that the shell expands if there is such a name is not expanded if there is none.
fn written(view: &View<'_>, value: &Word) -> Option<Text> {
    match value {
        Word::Dynamic(_) if dashed_name_may_exist(view.inv) => None,
        value => value.as_pattern(),
    }
}

/// A name that is left out, if it is plain: text and wildcards. What is not, leaves out less than it says.
pub(crate) fn left_out(name: &str) -> Option<Text> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-+@~*?".contains(&b);
    (!name.is_empty() && name.bytes().all(plain)).then(|| Text::from(name))
}

/// `!.env`, `!**/.git`, `!node_modules/**`: names that a search passes over, wherever they are.
fn passed_over(glob: &str, out: &mut LeftOut) {
    let (rest, deep) = glob.strip_prefix("**/").map_or((glob, false), |rest| (rest, true));
    // A slash that is not the last character binds a pattern to where the search begins.
    let folder = if deep { rest.strip_suffix("/**") } else { None }.or_else(|| rest.strip_suffix('/'));
    let Some(name) = left_out(folder.unwrap_or(rest)) else { return };
    if folder.is_none() {
        out.files.push(name.clone());
    }
    out.folders.push(name);
}

/// The patterns on the last component that a glob stands for; `None`: it may match other names too.
#[must_use]
pub fn named(glob: &str) -> Option<Vec<Text>> {
    let last = glob.rsplit('/').next()?;
    let says = !last.contains("**") && last.bytes().any(|b| b.is_ascii_alphanumeric());
    suffixes(last).or_else(|| left_out(last).filter(|_| says).map(|name| vec![name]))
}

/// `*.rs`, `**/*.{ts,tsx}` and `src/**/*.c` as patterns on the last component; `None`: it may match other names too.
fn suffixes(glob: &str) -> Option<Vec<Text>> {
    let ending = glob.rsplit('/').next()?.strip_prefix("*.")?;
    let list = ending.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(ending);
    let plain = |suffix: &str| !suffix.is_empty() && suffix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.');
    let several = list.len() < ending.len() || !list.contains(',');
    (several && list.split(',').all(plain))
        .then(|| list.split(',').map(|suffix| Text::from(format!("*.{suffix}").as_str())).collect())
}

/// The patterns of those of ripgrep's types that stand for suffixes alone.
#[must_use]
pub fn suffixes_of_type(name: &str) -> Option<Vec<Text>> {
    let suffixes = match name {
        "rust" => "rs",
        "py" | "python" => "py pyi",
        "js" => "js jsx mjs cjs vue",
        "ts" | "typescript" => "ts tsx cts mts",
        "go" => "go",
        "java" => "java jsp jspx properties",
        "c" => "c h H cats in",
        "cpp" => "C cpp cxx cc c++ h H hpp hxx hh h++ inl in",
        "css" => "css scss",
        "html" => "htm html ejs",
        "md" | "markdown" => "markdown md mdown mdwn mkd mkdn mdx",
        "kotlin" => "kt kts",
        "swift" => "swift",
        "scala" => "scala sbt",
        "csharp" => "cs",
        "sql" => "sql psql",
        "lua" => "lua",
        "zig" => "zig",
        _ => return None,
    };
    Some(suffixes.split(' ').map(|suffix| Text::from(format!("*.{suffix}").as_str())).collect())
}
