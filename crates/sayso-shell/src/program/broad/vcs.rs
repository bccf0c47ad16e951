//! Other version control systems.

use super::by_verb;
use crate::option::{Style, options};
use crate::program::{Act, Code, Spec};

pub(crate) const SPECS: &[Spec] = &[
    Spec::new(&["hg", "svn", "bzr", "fossil", "jj", "cvs", "p4", "sl", "darcs", "pijul", "got"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("
            --config C, --config-option C, --config-dir D, --config-toml C, --config-file F : runs
            --ssh CMD, --remotecmd CMD, --editor-cmd CMD, --diff-cmd CMD, --diff3-cmd CMD, --merge-cmd CMD, --tool T, -e CMD : runs
            -R --repository --cwd PATH
        ")])
        .judge(by_verb),
    Spec::new(&[
        "repo", "gclient", "git-filter-repo", "bfg", "git-lfs", "git-crypt", "git-secret", "git-town", "gt", "stg",
        "spr", "ghstack",
    ])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY))
        .acts(&[Act::Named(Code::ChangesRepository)]),
];
