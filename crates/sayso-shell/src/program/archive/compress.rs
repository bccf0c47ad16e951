//! gzip and its like: a file becomes another, and the first goes away unless it is kept.

use crate::effect::{Carry, PathTarget, Target, Verb};
use crate::program::{Code, View};
use crate::word::Word;

pub(crate) fn compress(view: &mut View<'_>) {
    let operands = view.operands();
    let reads_only = view.has_any(&[
        "--stdout",
        "--list",
        "--test",
        "-b",
        "-h",
        "-H",
        "-V",
        "--help",
        "--version",
        "--train",
        "--train-cover",
    ]);
    let expands = view.inv.name.starts_with("un")
        || view.inv.name == "bunzip2"
        || view.inv.name == "gunzip"
        || view.has("--decompress");
    let zstd = matches!(view.inv.name, "zstd" | "unzstd" | "zstdmt" | "pzstd" | "lz4" | "unlz4" | "brotli");
    let keeps = view.has("--keep") || zstd && !view.has("--rm");
    let placed = view.has_any(&["-o", "--output", "--output-dir-flat", "--output-dir-mirror"]);
    for at in operands {
        let Some(word) = view.word(at) else { continue };
        view.reads(word, at);
        if reads_only || word.exact() == Some(b"-") {
            continue;
        }
        if !placed {
            result(view, word, expands, at);
        }
        if !keeps {
            view.deletes(word, at);
        }
    }
}

/// The file that is made beside the first one.
fn result(view: &mut View<'_>, word: &Word, expands: bool, at: usize) {
    let suffix: &[u8] = match view.inv.name {
        "bzip2" | "bunzip2" | "pbzip2" | "lbzip2" => b".bz2",
        "xz" | "unxz" => b".xz",
        "lzma" | "unlzma" => b".lzma",
        "lzip" | "plzip" => b".lz",
        "lz4" | "unlz4" => b".lz4",
        "lzop" => b".lzo",
        "brotli" | "unbrotli" => b".br",
        "compress" | "uncompress" => b".Z",
        "zstd" | "unzstd" | "zstdmt" | "pzstd" => b".zst",
        _ => b".gz",
    };
    // The name is what the call says, and may be one that somebody guards: `gzip -S vrc .en`.
    let given = view.value("--suffix").map(|suffix| suffix.exact().map(<[u8]>::to_vec));
    let unknown = matches!(given, Some(None));
    let suffix = given.flatten().unwrap_or_else(|| suffix.to_vec());
    let suffix = suffix.as_slice();
    if expands && view.has("--name") {
        // The archive says it.
        view.named_by_flag(Code::WritesFile, "--name", at);
    }
    let chosen = unknown || view.has_any(&["--format", "--name", "--zip", "--zlib"]);
    let made: Option<Vec<u8>> = word.exact().filter(|_| !chosen && !view.deep).and_then(|name| {
        if expands {
            Some(name.strip_suffix(suffix).or_else(|| name.strip_suffix(b".gz"))?.to_vec())
        } else {
            Some(name.iter().chain(suffix).copied().collect())
        }
    });
    match made {
        None if unknown => view.effect(Verb::Write, Target::Path(PathTarget::Unknown(None)), at, Carry::Plain),
        Some(made) => view.writes(&Word::Exact(made.into()), at),
        // Some name beside it.
        None => match parent(word) {
            Some(folder) => view.writes_below(&folder, at),
            None => {
                let target = view.path_of(word, false);
                view.effect(Verb::Write, Target::Path(target), at, Carry::Plain);
            }
        },
    }
}

fn parent(word: &Word) -> Option<Word> {
    let name = word.exact()?;
    let folder = match name.iter().rposition(|&byte| byte == b'/') {
        Some(0) => b"/".as_slice(),
        Some(at) => name.get(..at)?,
        None => b".",
    };
    Some(Word::Exact(folder.into()))
}
