//! What each safe program may be given. A flag that is not here fails closed.

use crate::Error;
use crate::document::Node;

/// What a program may be given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile<'p> {
    plain: &'p [&'p str],
    valued: &'p [&'p str],
    /// A profile of the file's own: its flags are known by what it allows and denies.
    custom: Option<&'p Custom>,
    pub least: usize,
    pub most: usize,
    /// `-5` is a count.
    pub counts: bool,
    /// Operands are programs of jq, which can read the environment.
    jq: bool,
    /// Operands are text and never name a file: a program of jq, the characters that `tr` replaces.
    pub text: bool,
}

/// A flag that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Plain,
    Value,
}

/// A profile from `safeBinProfiles`.
#[derive(Clone, Debug)]
pub(super) struct Custom {
    name: String,
    valued: Vec<String>,
    denied: Vec<String>,
    least: usize,
    most: usize,
}

impl Custom {
    pub(super) fn read(name: &str, node: &Node<'_>) -> Result<Self, Error> {
        node.only(&["minPositional", "maxPositional", "allowedValueFlags", "deniedFlags"])?;
        let list = |key: &str| -> Result<Vec<String>, Error> {
            Ok(node.texts_at(key)?.unwrap_or_default().into_iter().map(|text| text.value).collect())
        };
        let number = |key: &str| -> Result<usize, Error> {
            Ok(node.number_at(key)?.map_or(0, |number| usize::try_from(number).unwrap_or(usize::MAX)))
        };
        Ok(Self {
            name: name.trim().to_lowercase(),
            valued: list("allowedValueFlags")?,
            denied: list("deniedFlags")?,
            least: number("minPositional")?,
            most: number("maxPositional")?,
        })
    }
}

impl Profile<'_> {
    pub(super) fn flag(&self, flag: &str) -> Option<Flag> {
        if let Some(custom) = self.custom {
            let has = |list: &[String]| list.iter().any(|known| known == flag);
            return match (has(&custom.denied), has(&custom.valued)) {
                (true, _) => None,
                (false, true) => Some(Flag::Value),
                // One letter without a value is a switch; a long flag nobody named fails closed.
                (false, false) => (flag.len() == 2).then_some(Flag::Plain),
            };
        }
        if self.valued.contains(&flag) { Some(Flag::Value) } else { self.plain.contains(&flag).then_some(Flag::Plain) }
    }

    /// Whether the value of a flag is text and never names a file: what separates fields.
    pub(super) fn is_text(&self, flag: &str) -> bool {
        const TEXT: &[&str] = &["-d", "--delimiter", "--output-delimiter", "-t", "--field-separator"];
        self.custom.is_none() && self.valued.contains(&flag) && TEXT.contains(&flag)
    }

    pub(super) fn refuses_operand(&self, operand: &str) -> bool {
        let words = || operand.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
        self.jq
            && words().any(|word| {
                matches!(word, "env" | "$ENV" | "ENV" | "include" | "import" | "input_filename" | "$__prog_args")
            })
    }
}

/// The profile of a program: the file's own, or ours.
pub(super) fn of<'p>(name: &str, custom: &'p [Custom]) -> Option<Profile<'p>> {
    if let Some(custom) = custom.iter().find(|custom| custom.name == name) {
        let (least, most) = (custom.least, custom.most);
        return Some(Profile {
            plain: &[],
            valued: &[],
            custom: Some(custom),
            least,
            most,
            counts: false,
            jq: false,
            text: false,
        });
    }
    let one = |plain, valued, least, most| Profile {
        plain,
        valued,
        custom: None,
        least,
        most,
        counts: false,
        jq: false,
        text: false,
    };
    Some(match name {
        "jq" => Profile {
            jq: true,
            text: true,
            ..one(
                &[
                    "-r",
                    "-c",
                    "-n",
                    "-s",
                    "-S",
                    "-e",
                    "-M",
                    "-a",
                    "-j",
                    "-R",
                    "--raw-output",
                    "--compact-output",
                    "--null-input",
                    "--slurp",
                    "--sort-keys",
                    "--exit-status",
                    "--monochrome-output",
                    "--ascii-output",
                    "--join-output",
                    "--raw-input",
                    "--tab",
                ],
                &["--indent"],
                0,
                1,
            )
        },
        "grep" => one(
            &[
                "-i",
                "-v",
                "-n",
                "-c",
                "-o",
                "-w",
                "-x",
                "-E",
                "-F",
                "-G",
                "-P",
                "-q",
                "-s",
                "-h",
                "-H",
                "-l",
                "-L",
                "-a",
                "-b",
                "-z",
                "-y",
                "--ignore-case",
                "--invert-match",
                "--line-number",
                "--count",
                "--only-matching",
                "--word-regexp",
                "--line-regexp",
                "--extended-regexp",
                "--fixed-strings",
                "--basic-regexp",
                "--perl-regexp",
                "--quiet",
                "--silent",
                "--no-messages",
                "--text",
                "--line-buffered",
                "--no-filename",
                "--files-with-matches",
                "--files-without-match",
                "--byte-offset",
                "--color",
                "--colour",
            ],
            &[
                "-e",
                "-m",
                "-A",
                "-B",
                "-C",
                "--regexp",
                "--max-count",
                "--after-context",
                "--before-context",
                "--context",
            ],
            0,
            1,
        ),
        "head" => Profile {
            counts: true,
            ..one(&["-q", "-v", "-z", "--quiet", "--silent", "--verbose"], &["-n", "-c", "--lines", "--bytes"], 0, 0)
        },
        // Without -f, -F and --follow: those never end.
        "tail" => Profile {
            counts: true,
            ..one(&["-q", "-v", "-z", "--quiet", "--silent", "--verbose"], &["-n", "-c", "--lines", "--bytes"], 0, 0)
        },
        "wc" => one(
            &["-l", "-w", "-c", "-m", "-L", "--lines", "--words", "--bytes", "--chars", "--max-line-length"],
            &[],
            0,
            0,
        ),
        "cut" => one(
            &["-s", "-n", "-z", "--only-delimited", "--complement", "--zero-terminated"],
            &["-b", "-c", "-d", "-f", "--bytes", "--characters", "--delimiter", "--fields", "--output-delimiter"],
            0,
            0,
        ),
        // Without -o, -T, --compress-program, --files0-from and --random-source.
        "sort" => one(
            &[
                "-b",
                "-d",
                "-f",
                "-g",
                "-h",
                "-i",
                "-M",
                "-n",
                "-r",
                "-R",
                "-V",
                "-c",
                "-C",
                "-m",
                "-s",
                "-u",
                "-z",
                "--reverse",
                "--unique",
                "--numeric-sort",
                "--general-numeric-sort",
                "--human-numeric-sort",
                "--month-sort",
                "--version-sort",
                "--random-sort",
                "--ignore-case",
                "--ignore-leading-blanks",
                "--dictionary-order",
                "--ignore-nonprinting",
                "--stable",
                "--check",
                "--zero-terminated",
            ],
            &["-k", "-t", "-S", "--key", "--field-separator", "--buffer-size", "--parallel", "--batch-size"],
            0,
            0,
        ),
        "uniq" => one(
            &["-c", "-d", "-D", "-i", "-u", "-z", "--count", "--repeated", "--ignore-case", "--unique"],
            &["-f", "-s", "-w", "--skip-fields", "--skip-chars", "--check-chars"],
            0,
            0,
        ),
        "tr" => Profile {
            text: true,
            ..one(
                &["-c", "-C", "-d", "-s", "-t", "--complement", "--delete", "--squeeze-repeats", "--truncate-set1"],
                &[],
                1,
                2,
            )
        },
        _ => return None,
    })
}
