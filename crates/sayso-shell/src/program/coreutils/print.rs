//! Programs that print what they are told, and nothing else.

use crate::effect::NamedBy;
use crate::option::{Style, options};
use crate::program::{Code, Spec, View};
use crate::word::Word;

pub(crate) const SPECS: &[Spec] = &[
    Spec::new(&["echo"])
        .style(Style::LENIENT.and(Style::LEADING))
        .options(&[options!("-n, -e, -E")])
        .judge(echo),
    // `-v` is the shell's own printf: its subscript is evaluated, which the shell's part sees to.
    Spec::new(&["printf"]).style(Style::LEADING).options(&[options!("-v VAR")]).judge(printf),
    Spec::new(&["pwd"]).options(&[options!("-L --logical, -P --physical")]).judge(pwd),
    Spec::new(&[
        "true", "false", ":", "yes", "clear", "reset", "tput", "nproc", "tty", "sleep", "usleep", "wait",
    ])
        .style(Style::HARMLESS),
    Spec::new(&["test", "["]).style(Style::LENIENT),
    Spec::new(&["basename"])
        .options(&[options!("-a --multiple, -s --suffix SUFFIX, -z --zero")])
        .judge(basename),
    Spec::new(&["dirname"]).options(&[options!("-z --zero")]).judge(dirname),
    Spec::new(&["pathchk", "cal", "ncal", "figlet", "cowsay", "toilet", "banner", "fortune", "lolcat"])
        .style(Style::HARMLESS),
    Spec::new(&["date"])
        .options(&[options!("
            -d --date STRING, --debug, -I --iso-8601 [SPEC], --resolution, -R --rfc-email, --rfc-3339 SPEC, -u --utc --universal
            -v ADJUST, -j, -n
            -f --file FILE : reads
            -r --reference FILE : reads
            -s --set STRING : changes-system
        ")])
        .judge(date),
    Spec::new(&["mktemp"])
        .options(&[options!("
            -d --directory, -u --dry-run, -q --quiet, --suffix SUFF, -t
            -p DIR : makes-below
            --tmpdir [DIR] : makes-below
        ")])
        .judge(mktemp),
];

/// Joins exact words with blanks. `None`: a word is not certain.
fn joined(view: &View<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for (n, at) in view.operands().into_iter().enumerate() {
        if n > 0 {
            text.push(b' ');
        }
        text.extend_from_slice(view.word(at)?.exact()?);
    }
    Some(text)
}

fn echo(view: &mut View<'_>) {
    // `--` is a word to echo, not an end of options.
    if view.has("-e") || view.terminator.is_some() {
        return;
    }
    if let Some(mut text) = joined(view) {
        if text.contains(&b'\\') {
            return; // `xpg_echo` and other shells read escapes
        }
        if !view.has("-n") {
            text.push(b'\n');
        }
        view.prints(text);
    }
}

fn printf(view: &mut View<'_>) {
    let Some(format) = view.operand(0).and_then(Word::exact) else { return };
    let text = match (format, view.operand_count()) {
        (b"%s", 2) => view.operand(1).and_then(Word::exact).map(<[u8]>::to_vec),
        (b"%s\\n", 2) => view.operand(1).and_then(Word::exact).map(|t| [t, b"\n"].concat()),
        (plain, 1) if !plain.contains(&b'%') && !plain.contains(&b'\\') => Some(plain.to_vec()),
        _ => None,
    };
    if let Some(text) = text
        && !view.has("-v")
    {
        view.prints(text);
    }
}

fn pwd(view: &mut View<'_>) {
    if let Some(cwd) = view.inv.cwd {
        let mut text = cwd.as_os_str().as_encoded_bytes().to_vec();
        text.push(b'\n');
        view.prints(text);
    }
}

fn basename(view: &mut View<'_>) {
    if view.operand_count() == 1
        && !view.has_any(&["--suffix", "--zero"])
        && let Some(path) = view.operand(0).and_then(Word::exact)
        && let Some(name) = path.rsplit(|&b| b == b'/').next().filter(|n| !n.is_empty())
    {
        view.prints([name, b"\n"].concat());
    }
}

fn dirname(view: &mut View<'_>) {
    if view.operand_count() == 1
        && !view.has("--zero")
        && let Some(path) = view.operand(0).and_then(Word::exact)
        && !path.ends_with(b"/")
    {
        let folder = match path.iter().rposition(|&b| b == b'/') {
            None => b".",
            Some(0) => &b"/"[..],
            Some(at) => path.get(..at).unwrap_or_default(),
        };
        view.prints([folder, b"\n"].concat());
    }
}

/// `date 010203042025` sets the clock.
fn date(view: &mut View<'_>) {
    for at in view.operands() {
        let prints = view.word(at).is_none_or(|w| match w {
            Word::Exact(text) => text.as_bytes().first() == Some(&b'+'),
            Word::Dynamic(shape) => {
                matches!(shape.parts.first(), Some(crate::word::Part::Literal(t)) if t.as_bytes().starts_with(b"+"))
            }
            Word::Opaque => false,
        });
        if !prints && !view.has("-j") {
            view.named(Code::ChangesSystem, NamedBy::Flag("--set".to_owned()), at);
        }
    }
}

/// Without a template the file is made in the temporary folder.
fn mktemp(view: &mut View<'_>) {
    if view.has("--dry-run") {
        return;
    }
    match view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) {
        Some((at, word)) if !view.has_any(&["-p", "--tmpdir", "-t"]) => view.writes(word, at),
        _ => {
            if view.value("--tmpdir").is_none() && view.value("-p").is_none() {
                view.touches(crate::effect::Verb::Write, "/tmp", true);
            }
        }
    }
}
