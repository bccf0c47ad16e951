//! Programs that print whole lines of what they read and nothing else.

/// How a program passes lines on.
pub(crate) struct KeepsLines {
    /// The options with which it prints some of the lines that it reads, unchanged.
    pub(crate) options: &'static [&'static str],
    /// It looks for a pattern, its first operand, of this kind.
    pub(crate) pattern: Option<Expressions>,
}

/// Regular expressions, as a program reads them without an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expressions {
    /// `\(a\|b\)`
    Basic,
    /// `(a|b)`
    Extended,
}

/// How the program of this name passes lines on; `None`: it may print something else.
pub(crate) fn keeps_lines(name: &str) -> Option<KeepsLines> {
    let (options, pattern): (&'static [&'static str], _) = match name {
        "head" | "tail" => (&["--lines", "--quiet"], None),
        "sort" => (
            &[
                "--reverse",
                "--unique",
                "--ignore-case",
                "--numeric-sort",
                "--general-numeric-sort",
                "--human-numeric-sort",
                "--version-sort",
                "--random-sort",
                "--key",
                "--field-separator",
                "--stable",
                "--zero-terminated",
            ],
            None,
        ),
        "uniq" => (&["--repeated", "--unique", "--ignore-case", "--zero-terminated"], None),
        "tac" => (&[], None),
        "shuf" => (&["--head-count", "--zero-terminated"], None),
        "grep" | "egrep" | "fgrep" => (
            &[
                "--extended-regexp",
                "--fixed-strings",
                "--basic-regexp",
                "--perl-regexp",
                "--regexp",
                "--ignore-case",
                "--word-regexp",
                "--line-regexp",
                "--invert-match",
                "--max-count",
                "--null-data",
                "--no-filename",
                "--text",
                "--line-buffered",
            ],
            Some(if name == "grep" { Expressions::Basic } else { Expressions::Extended }),
        ),
        "rg" => (
            &[
                "--fixed-strings",
                "--regexp",
                "--ignore-case",
                "--smart-case",
                "--word-regexp",
                "--line-regexp",
                "--invert-match",
                "--max-count",
                "--no-filename",
                "--no-line-number",
                "--text",
            ],
            Some(Expressions::Extended),
        ),
        _ => return None,
    };
    Some(KeepsLines { options, pattern })
}
