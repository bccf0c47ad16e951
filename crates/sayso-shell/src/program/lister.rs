//! Names that a program prints, and what keeps them names.
//!
//! Lists of names are passed on (`git diff --name-only | xargs cat`): each of them is then a file that was listed. An option
//! whose value goes into the output makes other names of them, or adds some: `--line-prefix=.env `, `--format`,
//! `--path-separator`. So only options count as harmless here that choose, order or bound what is listed.

use super::{Prints, View};
use crate::word::Word;

/// Options with a value that choose which names are printed, or in which order, and leave them as they are.
const CHOOSES: &[&str] = &[
    "--after",
    "--after-context",
    "--and",
    "--author",
    "--before",
    "--before-context",
    "--binary-files",
    "--changed-before",
    "--changed-within",
    "--committer",
    "--context",
    "--cpu",
    "--depth",
    "--devices",
    "--diff-algorithm",
    "--diff-filter",
    "--directories",
    "--encoding",
    "--engine",
    "--exact-depth",
    "--exclude",
    "--exclude-dir",
    "--exclude-from",
    "--exclude-per-directory",
    "--ext",
    "--extension",
    "--file",
    "--file-type",
    "--find-object",
    "--find-renames",
    "--find-copies",
    "--glob",
    "--grep",
    "--hide",
    "--iglob",
    "--ignore",
    "--ignore-file",
    "--ignore-submodules",
    "--include",
    "--inter-hunk-context",
    "--level",
    "--max-columns",
    "--max-count",
    "--max-depth",
    "--max-filesize",
    "--max-results",
    "--maxdepth",
    "--min-depth",
    "--newer",
    "--older",
    "--owner",
    "--regexp",
    "--since",
    "--size",
    "--skip",
    "--sort",
    "--sortr",
    "--threads",
    "--time",
    "--type",
    "--type-add",
    "--type-not",
    "--unified",
    "--until",
    "--untracked-files",
    "--width",
    "--with-tree",
    "-A",
    "-B",
    "-C",
    "-E",
    "-G",
    "-I",
    "-M",
    "-S",
    "-U",
    "-d",
    "-e",
    "-f",
    "-g",
    "-j",
    "-m",
    "-n",
    "-t",
    "-w",
    "-x",
];

/// Takes back that names are printed, where an option may change them. What find prints, its expression says.
pub(super) fn keep(view: &mut View<'_>) {
    if !matches!(view.name, "find" | "gfind" | "bfs")
        && matches!(view.out.prints, Prints::Names(_))
        && view.seen.iter().any(|seen| !keeps(&seen.opt.name, seen.opt.value.as_ref()))
    {
        view.out.prints = Prints::Unknown;
    }
}

fn keeps(option: &str, value: Option<&Word>) -> bool {
    let Some(value) = value else { return true };
    match option {
        "--color" | "--colour" => {
            matches!(value.exact(), Some(b"never" | b"auto" | b"no" | b"none" | b"tty" | b"if-tty"))
        }
        _ => CHOOSES.contains(&option),
    }
}
