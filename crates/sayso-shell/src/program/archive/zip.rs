//! zip, unzip, 7z and their like.

use crate::effect::{Carry, NamedBy, PathTarget, Target, Verb};
use crate::program::{Code, Prints, View, inside};
use crate::word::Word;

pub(crate) fn zip(view: &mut View<'_>) {
    let operands = view.operands();
    if view.has("--names-stdin") {
        named_by_input(view);
    }
    let shows = view.has_any(&["--show-files", "--show-command", "-h", "-h2"]);
    for (n, at) in operands.into_iter().enumerate() {
        let Some(word) = view.word(at) else { continue };
        if n == 0 {
            if word.exact() != Some(b"-") && !shows {
                view.writes(word, at);
                // Without a suffix it gets `.zip`.
                if let Some(bytes) = word
                    .exact()
                    .filter(|bytes| !bytes.rsplit(|&b| b == b'/').next().unwrap_or_default().contains(&b'.'))
                {
                    let named: Vec<u8> = bytes.iter().chain(b".zip").copied().collect();
                    view.writes(&Word::Exact(named.into()), at);
                }
            }
            continue;
        }
        if view.has("--delete") {
            continue;
        }
        view.reads(word, at);
        if view.has("--move") {
            let below = view.deep;
            let carry = Carry::Named { code: Code::ChangesFiles, by: NamedBy::Flag("--move".to_owned()) };
            view.path_effect(Verb::Delete, word, at, below, carry);
        }
    }
}

/// The files that standard input names are put in.
fn named_by_input(view: &mut View<'_>) {
    let target = match &view.inv.stdin_prints {
        Prints::Names(listing) => PathTarget::Listed(listing.clone()),
        _ => PathTarget::Unknown(None),
    };
    view.effect(Verb::Read, Target::Path(target.clone()), 0, Carry::Plain);
    if view.has("--move") {
        let carry = Carry::Named { code: Code::ChangesFiles, by: NamedBy::Flag("--move".to_owned()) };
        view.effect(Verb::Delete, Target::Path(target), 0, carry);
    }
}

pub(crate) fn unzip(view: &mut View<'_>) {
    if let (Some(at), Some(archive)) = (view.operand_at(0), view.operand(0)) {
        view.reads(archive, at);
    } else {
        return;
    }
    if view.has_any(&["-l", "-v", "-p", "-c", "-t", "-z", "-Z", "-h", "-hh"]) {
        return;
    }
    let archive =
        view.operand(0).filter(|_| inside::has_only(view, &["-o", "-n", "-u", "-f", "-q", "-qq", "-d", "-j", "-x"]));
    // A name with these signs means every archive that it fits.
    let archive = archive.filter(|name| name.exact().is_some_and(|name| !name.iter().any(|b| b"*?[".contains(b))));
    let names = archive.and_then(|archive| inside::text(view, archive)).and_then(|bytes| inside::of_zip(&bytes));
    let folder = match view.value("-d") {
        Some(folder) => folder.exact().map(|folder| crate::program::join(Some(&view.here()), folder)),
        None => Some(view.here()),
    };
    // `-j` puts all in one folder.
    let junks = view.has("-j");
    let kept = |name: Vec<u8>| if junks { name.rsplit(|&b| b == b'/').next().unwrap_or(&name).to_vec() } else { name };
    let told = names.zip(folder).is_some_and(|(names, folder)| {
        let names: Vec<Vec<u8>> = names.into_iter().map(kept).collect();
        inside::written(view, &folder, &names, 0)
    });
    if told {
        return;
    }
    match view.value("-d").cloned() {
        Some(folder) => view.writes_below(&folder, 0),
        None => view.touches(Verb::Write, ".", true),
    }
}

/// `7z x a.7z -oout`: a command, an archive, names; switches begin with a dash and hold their value.
pub(crate) fn seven(view: &mut View<'_>) {
    let mut folder: Option<Word> = None;
    let mut operands = Vec::new();
    for at in 1..view.inv.argv.len() {
        let Some(word) = view.word(at) else { continue };
        match word.exact() {
            Some([b'-', b'o', rest @ ..]) => folder = Some(Word::Exact(rest.into())),
            Some(b"-sdel") => view.named_by_flag(Code::ChangesFiles, "-sdel", at),
            Some([b'-', b'w', ..]) => view.named_by_flag(Code::WritesFile, "-w", at),
            Some([b'-', rest @ ..]) if !rest.is_empty() => {}
            None if word.may_be_option() => {
                view.out.open_options = true;
                view.named(Code::DynamicOption, NamedBy::Nothing, at);
                operands.push(at);
            }
            _ => operands.push(at),
        }
    }
    view.out.words = operands.iter().filter_map(|&at| u16::try_from(at).ok()).collect();
    let command = operands.first().and_then(|&at| view.word(at)).and_then(Word::exact_str);
    let Some((archive_at, archive)) = operands.get(1).and_then(|&at| Some((at, view.word(at)?))) else { return };
    let members: Vec<usize> = operands.iter().copied().skip(2).collect();
    match command {
        Some("l" | "t" | "h" | "i") => view.reads(archive, archive_at),
        Some("x" | "e") => {
            view.reads(archive, archive_at);
            match folder {
                Some(folder) => view.writes_below(&folder, archive_at),
                None => view.touches(Verb::Write, ".", true),
            }
        }
        Some("a" | "u") => {
            view.writes(archive, archive_at);
            for at in members {
                if let Some(word) = view.word(at) {
                    view.reads_below(word, at);
                }
            }
        }
        Some("d" | "rn") => view.writes(archive, archive_at),
        _ => view.named(Code::UnknownSubcommand, NamedBy::Nothing, archive_at),
    }
}

pub(crate) fn rar(view: &mut View<'_>) {
    let operands: Vec<usize> =
        (1..view.inv.argv.len()).filter(|&at| view.word(at).is_some_and(|word| !word.may_be_option())).collect();
    view.out.words = operands.iter().filter_map(|&at| u16::try_from(at).ok()).collect();
    let command = operands.first().and_then(|&at| view.word(at)).and_then(Word::exact_str);
    let Some((at, archive)) = operands.get(1).and_then(|&at| Some((at, view.word(at)?))) else { return };
    view.reads(archive, at);
    match command {
        Some("l" | "lb" | "lt" | "t" | "v" | "vb" | "vt" | "p") => {}
        Some("x" | "e") => match operands.get(2).and_then(|&at| Some((at, view.word(at)?))) {
            Some((at, folder)) => view.writes_below(folder, at),
            None => view.touches(Verb::Write, ".", true),
        },
        _ => view.named(Code::UnknownSubcommand, NamedBy::Nothing, at),
    }
}
