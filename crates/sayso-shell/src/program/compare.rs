//! Programs that compare files, and those that apply what was found.

use super::inside::{self, Headers};
use super::{Code, Operands, Role, Spec, View};
use crate::effect::{Carry, NamedBy, PathTarget, Target, Verb};
use crate::option::{Style, options};
use crate::script::{self, Change};
use crate::word::{Text, Word};

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["diff", "colordiff", "gdiff"])
        .options(&[options!(
            "
            --normal, -q --brief, -s --report-identical-files, -c, -C NUM, --context [NUM], -u, -U NUM, --unified [NUM], -e --ed
            -n --rcs, -y --side-by-side, -W --width N, --left-column, --suppress-common-lines, -p --show-c-function
            -F --show-function-line RE, -L --label LABEL, -t --expand-tabs, -T --initial-tab, --tabsize N, --suppress-blank-empty
            -l --paginate, --no-dereference, -N --new-file, -P --unidirectional-new-file, --ignore-file-name-case
            --no-ignore-file-name-case, -x --exclude PAT, -S --starting-file F, -i --ignore-case, -E --ignore-tab-expansion
            -Z --ignore-trailing-space, -b --ignore-space-change, -w --ignore-all-space, -B --ignore-blank-lines
            -I --ignore-matching-lines RE, -a --text, --strip-trailing-cr, -D --ifdef NAME, --old-group-format F, --new-group-format F
            --unchanged-group-format F, --changed-group-format F, --line-format F, --old-line-format F, --new-line-format F
            --unchanged-line-format F, -d --minimal, --horizon-lines N, -H --speed-large-files, --color [WHEN], --palette P, -v, -#
            -r --recursive : deep
            -X --exclude-from FILE : reads
            --from-file FILE : reads
            --to-file FILE : reads
        "
        )])
        .operands(Operands::READ),
    Spec::new(&["diff3"])
        .options(&[options!("
            -A --show-all, -e --ed, -E --show-overlap, -3 --easy-only, -x --overlap-only, -X, -i, -m --merge, -a --text
            --strip-trailing-cr, -T --initial-tab, -L --label LABEL
            --diff-program PROGRAM : runs
        ")])
        .operands(Operands::READ),
    Spec::new(&["sdiff"])
        .options(&[options!("
            -i --ignore-case, -E --ignore-tab-expansion, -Z, -b, -W --ignore-all-space, -B, -I RE, --strip-trailing-cr, -a --text
            -w --width N, -l --left-column, -s --suppress-common-lines, -t --expand-tabs, --tabsize N, -d --minimal, -H
            -o --output FILE : writes
            --diff-program PROGRAM : runs
        ")])
        .operands(Operands::READ),
    Spec::new(&[
        "wdiff", "dwdiff", "diffstat", "difft", "difftastic", "icdiff", "delta", "interdiff", "filterdiff", "lsdiff",
        "grepdiff", "cmpfiles",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .options(&[options!("
            --output FILE : writes
            --pager CMD : runs
        ")])
        .operands(Operands::READ),
    Spec::new(&["vimdiff", "meld", "kdiff3", "opendiff", "nvimdiff"]).style(Style::RISKY).operands(Operands::EDIT),
    Spec::new(&["patch"])
        .options(&[options!("
            -p --strip N, -F --fuzz N, -l --ignore-whitespace, -c --context, -n --normal, -u --unified, -N --forward, -R --reverse
            -D --ifdef NAME, --merge [STYLE], -E --remove-empty-files, -Z --set-utc, -T --set-time, --quoting-style W, -b --backup
            --backup-if-mismatch, --no-backup-if-mismatch, -V --version-control S, -z --suffix S
            -t --batch, -f --force, -s --quiet --silent, --verbose, --dry-run, --posix, --reject-format F, --binary, --read-only B
            --follow-symlinks, -v
            -i --input FILE : reads
            -o --output FILE : makes
            -r --reject-file FILE : makes
            -d --directory DIR : cd
            -B --prefix P : changes-files
            -Y --basename-prefix P : changes-files
            -e --ed : runs-command
            -g --get N : runs-command
        ")])
        .operands(Operands::then(&[Role::Edit], Role::Read))
        .judge(patch),
    // Codex's own, which it also runs where a command calls it.
    Spec::new(&["apply_patch", "applypatch"]).aliased().judge(apply_patch),
];

/// Which files a patch changes stands in the patch; an ed script in it runs commands.
fn patch(view: &mut View<'_>) {
    if view.has("--dry-run") {
        return;
    }
    let strip = view.value("--strip").map(|value| value.exact_str().and_then(|number| number.parse().ok()));
    let file = view.value("--input").or_else(|| view.operand(1)).cloned();
    let text = match file {
        Some(file) => inside::text(view, &file),
        None => inside::on_stdin(view),
    };
    // How many components go is not known where the number is none.
    let headers = match strip {
        Some(Some(strip)) => Some(Headers::Patch(Some(strip))),
        Some(None) => None,
        None => Some(Headers::Patch(None)),
    };
    let found = text.zip(headers).and_then(|(text, headers)| inside::of_patch(&text, headers));
    if found.as_ref().is_some_and(|found| found.is_script) {
        view.named_by_flag(Code::RunsCommand, "--ed", 0);
    }
    const HARMLESS: &[&str] = &[
        "--strip",
        "--input",
        "--directory",
        "--forward",
        "--reverse",
        "--batch",
        "--force",
        "--quiet",
        "--verbose",
        "--unified",
        "--ignore-whitespace",
        "--fuzz",
        "--no-backup-if-mismatch",
    ];
    if view.operand_count() == 0 && !view.has("--output") {
        let here = view.here();
        let told = found
            .filter(|_| inside::has_only(view, HARMLESS))
            .is_some_and(|found| inside::written(view, &here, &found.names, 0));
        if !told {
            view.touches(Verb::Write, ".", true);
        }
    }
}

/// The patch is the only argument, or standard input. It does nothing but what the patch says, so that decides.
fn apply_patch(view: &mut View<'_>) {
    let text = match (view.operand_count(), view.operand(0)) {
        (1, Some(word)) => script::text_of(word).map(|text| text.into_owned()),
        (0, None) => view.inv.stdin_text.map(<[u8]>::to_owned),
        _ => None,
    };
    let at = view.operand_at(0).unwrap_or(0);
    let changes = text.as_deref().map_or_else(|| vec![Change::Unclear], script::envelope);
    view.out.transparent = !changes.contains(&Change::Unclear);
    for change in changes {
        let word = |path: &[u8]| Word::Exact(Text::from(path));
        match change {
            Change::Add(path) => view.path_effect(Verb::Write, &word(path), at, false, Carry::Plain),
            Change::Update(path) => {
                view.path_effect(Verb::Read, &word(path), at, false, Carry::Plain);
                view.path_effect(Verb::Write, &word(path), at, false, Carry::Plain);
            }
            Change::Delete(path) => view.path_effect(Verb::Delete, &word(path), at, false, Carry::Plain),
            Change::Move { from, to } => {
                view.path_effect(Verb::Write, &word(to), at, false, Carry::Plain);
                view.path_effect(Verb::Delete, &word(from), at, false, Carry::Plain);
            }
            Change::Unclear => {
                let carry = Carry::Named { code: Code::UnclearScript.as_str(), by: NamedBy::Nothing };
                view.effect(Verb::Write, Target::Path(PathTarget::Unknown(None)), at, carry);
                view.doubt(Code::UnclearScript, "a patch of unknown text may change any file".to_owned(), at);
            }
        }
    }
}
