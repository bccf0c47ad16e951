//! Pagers: programs that show text page by page, and run commands if told to.

use super::{Code, Operands, Spec, View};
use crate::effect::NamedBy;
use crate::option::{Style, options};
use crate::script;
use crate::word::{Part, Word};

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["less", "zless"])
        .options(&[options!(
            "
            -a --search-skip-screen, -A --SEARCH-SKIP-SCREEN, -b --buffers N, -B --auto-buffers, -c --clear-screen, -C --CLEAR-SCREEN
            -d --dumb, -D --color C, -e --quit-at-eof, -E --QUIT-AT-EOF, -f --force, -F --quit-if-one-screen, -g --hilite-search
            -G --HILITE-SEARCH, -h --max-back-scroll N, -i --ignore-case, -I --IGNORE-CASE, -j --jump-target N, -J --status-column
            -K --quit-on-intr, -L --no-lessopen, -m --long-prompt, -M --LONG-PROMPT, -n --line-numbers, -N --LINE-NUMBERS, -p --pattern P
            -P --prompt P, -q --quiet --silent, -Q --QUIET --SILENT, -r --raw-control-chars, -R --RAW-CONTROL-CHARS
            -s --squeeze-blank-lines, -S --chop-long-lines, -u --underline-special, -U --UNDERLINE-SPECIAL, -V, -w --hilite-unread
            -W --HILITE-UNREAD, -x --tabs N, -X --no-init, -y --max-forw-scroll N, -z --window N, -~ --tilde, -#
            --shift N, --file-size, --follow-name, --incsearch, --line-num-width N, --mouse, --MOUSE, --no-keypad, --no-histdups
            --rscroll C, --save-marks, --status-col-width N, --use-backslash, --use-color, --wheel-lines N, --header N, --intr C
            --exit-follow-on-close, --form-feed, --match-shift N, --modelines N, --no-number-headers, --no-search-headers, --no-vbell
            --proc-backspace, --proc-return, --proc-tab, --redraw-on-quit, --search-options O, --show-preproc-errors, --status-line
            -t --tag TAG
            -T --tag-file FILE : reads
            -k --lesskey-file FILE : runs
            --lesskey-src FILE : runs
            --lesskey-content TEXT : runs
            -o --log-file FILE : writes
            -O --LOG-FILE FILE : writes
        "
        )])
        .operands(Operands::TEXT)
        .judge(pager),
    Spec::new(&["more", "zmore", "pg", "most"])
        .options(&[options!("
            -d --silent, -l --logical, -e --exit-on-eof, -f --no-pause, -p --print-over, -c --clean-print, -s --squeeze, -u --plain
            -n --lines N, -#, -V, -h
        ")])
        .operands(Operands::TEXT)
        .judge(pager),
    Spec::new(&["bat", "batcat"])
        .aliased()
        .style(Style::EXACT.and(Style::EQUALS))
        .options(&[options!(
            "
            -A --show-all, --nonprintable-notation N, -p --plain, -l --language L, -H --highlight-line R, --file-name N, -d --diff
            --diff-context N, --tabs N, --wrap M, -S --chop-long-lines, --terminal-width N, -n --number, --color W, --italic-text W
            --decorations W, -f --force-colorization, --paging W, -P, -m --map-syntax M, --ignored-suffix S, --theme T, --list-themes
            --theme-light T, --theme-dark T, --style S, -r --line-range R, -L --list-languages, -u --unbuffered, --diagnostic, --config-file
            --config-dir, --cache-dir, --no-config, --no-custom-assets, --lessopen, --no-lessopen, --acknowledgements, -h, -V, -s --squeeze-blank
            --squeeze-limit N, --strip-ansi W, --binary B, --completion S, --set-terminal-title
            --pager COMMAND : runs
            --generate-config-file : changes-settings
        "
        )])
        .operands(Operands::READ),
    Spec::new(&[
        "glow", "mdcat", "pygmentize", "highlight", "hexyl", "csvlook", "zcat", "bzcat", "xzcat", "zstdcat", "lzcat",
        "zdiff", "zcmp",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .options(&[options!("
            -o --output FILE : writes
            -O FORMAT
        ")])
        .operands(Operands::READ),
];

/// `+cmd` and `++cmd` are commands to begin with: `+!rm x` runs one.
fn pager(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        match word {
            Word::Exact(text) if text.as_bytes().starts_with(b"+") && view.terminator.is_none_or(|t| at < t) => {
                let command = text.as_bytes().trim_ascii_start();
                let command =
                    command.iter().position(|&b| b != b'+').and_then(|n| command.get(n..)).unwrap_or_default();
                let findings = script::pager(command);
                view.findings(findings, &NamedBy::Nothing, at);
            }
            Word::Dynamic(shape)
                if may_begin_with_plus(shape.parts.first()) && view.terminator.is_none_or(|t| at < t) =>
            {
                view.named(Code::DynamicOption, NamedBy::Nothing, at);
                view.reads(word, at);
            }
            _ => view.reads(word, at),
        }
    }
}

fn may_begin_with_plus(first: Option<&Part>) -> bool {
    match first {
        Some(Part::Literal(text)) => text.as_bytes().starts_with(b"+"),
        _ => true,
    }
}
