//! tar: reads or writes an archive by its mode, and runs commands by a handful of options.

use crate::effect::{Carry, HostTarget, LeftOut, NamedBy, Sieve, Target, Verb};
use crate::program::{Code, Spec, View, inside, read_again};
use crate::word::{Text, Word};
use std::borrow::Cow;

static WORDS: Spec = Spec::new(&["tar"]).options(&[crate::program::built::TAR_OPTIONS]).judge(tar);

/// `tar xzf a.tgz`: a first word without a dash is a bundle of letters whose values follow in order.
pub(crate) fn old_style(view: &mut View<'_>) {
    let inv = view.inv;
    let bundle = view
        .word(1)
        .and_then(Word::exact)
        .filter(|first| !first.is_empty() && first.iter().all(|byte| byte.is_ascii_alphanumeric()));
    let all = |from: usize| (from..inv.argv.len()).filter_map(|at| Some((at, view.word(at)?.clone())));
    let Some(letters) = bundle else {
        read_again(view, &WORDS, all(0).collect());
        return;
    };
    let mut words: Vec<(usize, Word)> = all(0).take(1).collect();
    let mut next = 2;
    for &letter in letters {
        words.push((1, Word::Exact(vec![b'-', letter].into())));
        if b"bCfFgHIKLNTVX".contains(&letter) {
            words.extend(view.word(next).map(|word| (next, word.clone())));
            next += 1;
        }
    }
    words.extend(all(next));
    read_again(view, &WORDS, words);
}

fn tar(view: &mut View<'_>) {
    let extracts = view.has("--extract");
    let creates = view.has_any(&["--create", "--append", "--update", "--catenate", "--delete"]);
    archive(view, creates, view.has("--create"));
    for (at, action) in view.values("--checkpoint-action") {
        checkpoint(view, &action, at);
    }
    if view.has("--files-from") && !view.has("--verbatim-files-from") {
        // A line of it that begins with a dash is an option.
        view.named_by_flag(Code::DynamicOption, "--files-from", 0);
    }
    let bases = bases(view);
    if extracts && !view.has("--to-stdout") && !view.has("--to-command") {
        extract(view, &bases);
    }
    if view.has("--files-from") && !extracts {
        view.path_effect(Verb::Read, &crate::script::unknown(), 0, true, Carry::Plain);
    }
    if !extracts && !view.has_any(&["--list", "--delete", "--test-label"]) {
        let mut members: Vec<(usize, Word)> =
            view.operands().into_iter().filter_map(|at| Some((at, view.word(at)?.clone()))).collect();
        members.extend(view.values("--add-file"));
        for (at, word) in members {
            view.base = base_at(&bases, at);
            let sieve = excluded(view, at);
            view.reads_sifted(&word, at, &sieve);
            if view.has("--remove-files") {
                let carry = Carry::Named { code: Code::ChangesFiles, by: NamedBy::Flag("--remove-files".to_owned()) };
                view.path_effect(Verb::Delete, &word, at, true, carry);
            }
        }
    }
}

/// What is left out of the members from `at` on. An exclude behind a member has no effect on it, and other ways to match
/// are not followed.
fn excluded(view: &View<'_>, at: usize) -> Sieve {
    let other = ["--anchored", "--no-wildcards", "--ignore-case", "--dereference", "--no-wildcards-match-slash"];
    if view.out.open_options || view.has_any(&other) {
        return Sieve::All;
    }
    let names: Vec<Text> = view
        .values("--exclude")
        .iter()
        .filter(|(stands, _)| *stands < at)
        .filter_map(|(_, value)| crate::program::left_out(value.exact_str()?.trim_start_matches("./")))
        .collect();
    LeftOut { files: names.clone(), folders: names, ignored: false }.sieve()
}

type Base = Option<std::path::PathBuf>;

/// Where relative names begin from each `-C` on.
fn bases(view: &View<'_>) -> Vec<(usize, Base)> {
    let mut bases = vec![(0, view.base.as_deref().map(std::path::Path::to_owned))];
    for (at, folder) in view.values("--directory") {
        let before = bases.last().and_then(|(_, base)| base.clone());
        let base = folder.exact().map(|bytes| crate::program::join(before.as_deref(), bytes));
        bases.push((at, base));
    }
    bases
}

fn base_at<'a>(bases: &[(usize, Base)], at: usize) -> Option<Cow<'a, std::path::Path>> {
    bases.iter().rev().find(|(from, _)| *from < at).and_then(|(_, base)| base.clone()).map(Cow::Owned)
}

/// The archive itself: read, made, or both; `host:file` is another machine's.
fn archive(view: &mut View<'_>, writes: bool, makes: bool) {
    let archives = view.values("--file");
    for (at, file) in archives {
        if file.exact() == Some(b"-") {
            continue;
        }
        let colon = file.exact().and_then(|bytes| bytes.iter().position(|&byte| byte == b':'));
        let remote = colon
            .is_some_and(|colon| !file.exact().unwrap_or_default().get(..colon).unwrap_or_default().contains(&b'/'));
        if remote && !view.has("--force-local") {
            view.connects(&file, at);
            view.named(Code::RunsCommand, NamedBy::Nothing, at);
            continue;
        }
        if file.exact().is_none() && matches!(view.path_of(&file, false), crate::effect::PathTarget::Unknown(_)) {
            view.effect(Verb::Connect, Target::Host(HostTarget::Unknown), at, Carry::Plain);
        }
        if !makes {
            view.path_effect(Verb::Read, &file, at, false, Carry::Plain);
        }
        if writes {
            view.path_effect(Verb::Write, &file, at, false, Carry::Plain);
        }
    }
}

/// Whether the names in the archive are those that are written. Other programs called tar read other formats too.
fn is_plain(view: &View<'_>) -> bool {
    const HARMLESS: &[&str] = &[
        "--extract",
        "--file",
        "--directory",
        "--strip-components",
        "--verbose",
        "--touch",
        "--no-same-owner",
        "--no-same-permissions",
        "--keep-old-files",
        "--skip-old-files",
        "--exclude",
    ];
    view.inv.name != "bsdtar" && inside::has_only(view, HARMLESS)
}

fn extract(view: &mut View<'_>, bases: &[(usize, Base)]) {
    if view.has("--absolute-names") {
        view.named_by_flag(Code::ChangesFiles, "--absolute-names", 0);
    }
    for (at, expression) in view.values("--transform") {
        let leaves = expression.exact().is_none_or(|text| {
            text.windows(2).any(|two| two == b"..") || text.contains(&b'/') && text.starts_with(b"s,^,/")
        });
        if leaves {
            view.named_by_flag(Code::ChangesFiles, "--transform", at);
        }
    }
    let archive =
        view.value("--file").cloned().filter(|file| file.exact() != Some(b"-") && view.values("--file").len() == 1);
    let bytes = archive.filter(|_| is_plain(view)).and_then(|archive| inside::text(view, &archive));
    view.base = bases.last().and_then(|(_, base)| base.clone()).map(Cow::Owned);
    let known = view.base.is_some();
    if let Some(names) = bytes.filter(|_| known).and_then(|bytes| inside::of_tar(&bytes)) {
        let strip = match view.value("--strip-components") {
            Some(number) => number.exact_str().and_then(|number| number.parse().ok()),
            None => Some(0),
        };
        let here = view.here();
        let kept = |strip: usize| names.iter().filter_map(move |name| inside::without_leading(name, strip)).collect();
        let names: Option<Vec<Vec<u8>>> = strip.map(kept);
        if names.is_some_and(|names| inside::written(view, &here, &names, 0)) {
            return;
        }
    }
    match view.value("--one-top-level").cloned() {
        Some(folder) if known => view.writes_below(&folder, 0),
        _ if known => view.touches(Verb::Write, ".", true),
        _ => view.path_effect(Verb::Write, &crate::script::unknown(), 0, true, Carry::Plain),
    }
}

fn checkpoint(view: &mut View<'_>, action: &Word, at: usize) {
    match action.exact() {
        Some(b"dot" | b"." | b"bell" | b"echo" | b"totals" | b"ttyout") => {}
        Some(text) if text.starts_with(b"echo=") || text.starts_with(b"ttyout=") || text.starts_with(b"sleep=") => {}
        Some(text) => {
            view.named_by_flag(Code::RunsCommand, "--checkpoint-action", at);
            if let Some(command) = text.strip_prefix(b"exec=") {
                view.starts_shell(Word::Exact(command.into()), at);
            }
        }
        None => view.named_by_flag(Code::RunsCommand, "--checkpoint-action", at),
    }
}

pub(crate) fn cpio(view: &mut View<'_>) {
    for name in ["--file", "-I", "-O"] {
        for (at, file) in view.values(name) {
            let verb = if name == "-O" || name == "--file" && view.has("--create") { Verb::Write } else { Verb::Read };
            view.path_effect(verb, &file, at, false, Carry::Plain);
        }
    }
    if view.has("--extract") && !view.has_any(&["--list", "--to-stdout", "--only-verify-crc"]) {
        if !view.has("--no-absolute-filenames") {
            view.named_by_flag(Code::ChangesFiles, "--extract", 0);
        }
        match view.value("--directory").cloned() {
            Some(folder) => view.writes_below(&folder, 0),
            None => view.touches(Verb::Write, ".", true),
        }
    }
    if view.has("--pass-through")
        && let (Some(at), Some(folder)) = (view.operand_at(0), view.operand(0))
    {
        view.writes_below(folder, at);
    }
    if view.has_any(&["--create", "--pass-through"]) {
        view.path_effect(Verb::Read, &crate::script::unknown(), 0, false, Carry::Plain);
    }
}
