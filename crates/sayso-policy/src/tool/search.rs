//! Tools that search files by name or content.

use super::draft::{Draft, Reach};
use super::{BuiltIn, file, loose};
use crate::normalise::Kind;
use crate::normalise::arguments::{Found, Role, walk};
use sayso_shell::{PathTarget, Text, Verb};
use serde_json::Value;

pub(super) const TOOLS: &[BuiltIn] = &[
    BuiltIn {
        canonical: "glob",
        implies: &[],
        aliases: &["findfiles", "filesearch", "findpath", "globfilesearch", "searchfilenames", "findbyname"],
        kind: Kind::Search,
        describe: names,
    },
    BuiltIn {
        canonical: "grep",
        implies: &[],
        aliases: &[
            "grepsearch",
            "searchfilecontent",
            "searchfiles",
            "ripgrep",
            "grepfiles",
            "searchforpattern",
            "codebasesearch",
            "rg",
        ],
        kind: Kind::Search,
        describe: contents,
    },
];

/// Names of files: the folders are read, the files are not.
fn names(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let role = |key: &str| match key {
        "pattern" | "globpattern" | "patterns" | "glob" => Role::Pattern,
        "query" | "excludepattern" | "exclude" => Role::Text,
        other => file::role(other),
    };
    let (mut bases, mut patterns) = (Vec::new(), Vec::new());
    draft.known = true;
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Pattern, text) => patterns.push(text.to_owned()),
        Found::Text(Role::Path | Role::From | Role::To, text) => bases.push(text.to_owned()),
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if bases.is_empty() {
        bases.push(String::new());
    }
    for base in &bases {
        draft.path(&[Verb::Read], base, Reach::Exact, true);
    }
    for pattern in &patterns {
        // A pattern may lead out of the folder that it is searched in.
        if pattern.split('/').any(|part| part == "..") {
            draft.target(Verb::Read, PathTarget::Unknown(None), true);
        } else if pattern.starts_with(['/', '~']) {
            let fixed: Vec<&str> = pattern.split('/').take_while(|part| !part.contains(['*', '?', '[', '{'])).collect();
            let folder = if fixed.len() > 1 { fixed.join("/") } else { "/".to_owned() };
            draft.path(&[Verb::Read], &folder, Reach::Exact, true);
        }
    }
}

/// Tools that are known to look only at files whose name matches a parameter, spelled exactly so. Any other tool may
/// ignore it.
const NARROWED_BY: &[(&str, &str)] = &[("Grep", "glob"), ("grep", "include"), ("search_file_content", "include")];

/// Those of them that hand it to ripgrep: a name without wildcards stands for files of that name there, and not for a
/// folder with all below it.
const BY_RIPGREP: &[&str] = &["Grep", "grep"];

/// The patterns for names that these arguments narrow a search to.
fn narrowed(tool: &str, arguments: &Value) -> Option<Vec<Text>> {
    let (_, parameter) = NARROWED_BY.iter().find(|(name, _)| *name == tool)?;
    let text = |key: &str| arguments.get(key).filter(|value| !value.is_null());
    match text(parameter) {
        Some(glob) if BY_RIPGREP.contains(&tool) => sayso_shell::named_by_glob(glob.as_str()?),
        Some(glob) => file::suffixes(glob.as_str().map(|glob| glob.strip_prefix("**/").unwrap_or(glob))?),
        None if tool == "Grep" => sayso_shell::suffixes_of_type(text("type")?.as_str()?),
        None => None,
    }
}

/// Contents of files: everything below the folder is read. Without one, below the working directory.
fn contents(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let role = |key: &str| match key {
        "pattern" | "query" | "regex" | "glob" | "include" | "type" | "filepattern" | "includepattern"
        | "excludepattern" | "exclude" | "outputmode" => Role::Text,
        other => file::role(other),
    };
    let narrowed = narrowed(draft.scene.spelled, arguments);
    let mut folders = Vec::new();
    draft.known = true;
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Path | Role::From | Role::To, text) => folders.push(text.to_owned()),
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if folders.is_empty() {
        folders.push(String::new());
    }
    for folder in &folders {
        file::below(draft, folder, narrowed.clone());
    }
}
