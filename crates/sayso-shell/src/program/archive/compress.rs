//! gzip and its like: a file becomes another, and the first goes away unless it is kept.

use crate::effect::{Carry, PathTarget, Target, Verb};
use crate::option::options;
use crate::program::{Code, Spec, View};
use crate::word::Word;

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["gzip", "gunzip", "pigz", "unpigz", "compress", "uncompress"])
        .options(&[options!("
            -a --ascii, -c --stdout --to-stdout, -d --decompress --uncompress, -f --force, -h, -k --keep, -l --list, -L --license, -n --no-name, -N --name, -q --quiet
            -S --suffix SUF, --synchronous, --rsyncable, -t --test, -v --verbose, -V, -1 --fast, -2, -3, -4, -5, -6, -7, -8, -9 --best, -11, -p --processes N, -b --blocksize N
            -i --independent, -R, -z --zlib, -K --zip, -m --no-time, -M --time
            -r --recursive : deep
        ")])
        .judge(compress),
    Spec::new(&["bzip2", "bunzip2", "pbzip2", "lbzip2"])
        .options(&[options!("
            -c --stdout, -d --decompress, -z --compress, -k --keep, -f --force, -t --test, -q --quiet, -v --verbose, -L --license, -V, -s --small, -1 --fast, -2, -3, -4, -5
            -6, -7, -8, -9 --best, -h, -p N, -r, -n N
        ")])
        .judge(compress),
    Spec::new(&["xz", "unxz", "lzma", "unlzma", "lzip", "plzip", "lz4", "unlz4", "brotli", "unbrotli", "lzop"])
        .options(&[options!("
            -z --compress, -d --decompress --uncompress, -t --test, -l --list, -k --keep, -f --force, -c --stdout --to-stdout, --single-stream, --no-sparse, -S --suffix SUF, -F --format F
            -C --check C, --ignore-check, -0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -e --extreme, -T --threads N, --block-size N, --block-list L, --flush-timeout N
            --memlimit-compress L, --memlimit-decompress L, --memlimit-mt-decompress L, -M --memlimit --memory L, --no-adjust, --lzma1 [O], --lzma2 [O], --x86 [O], --arm [O]
            --armthumb [O], --arm64 [O], --powerpc [O], --ia64 [O], --sparc [O], --delta [O], -q --quiet, -v --verbose, -Q --no-warn, --robot, --info-memory, -h, -H --long-help, -V
            --fast, --best, -m --multiple, -B N, -j --rm, --quality N, -w --lgwin N
            --files [FILE], --files0 [FILE] : reads
            -o --output FILE : makes
        ")])
        .judge(compress),
    Spec::new(&["zstd", "unzstd", "zstdmt", "pzstd"])
        .options(&[options!("
            -k --keep, --rm, -#, -z --compress, -d --decompress --uncompress, -f --force, -h, -H, -V, -c --stdout, -v --verbose, -q --quiet, --progress, --no-progress, --asyncio, --no-asyncio
            --check, --no-check, --ultra, --fast [N], --adapt [N], --long [N], -T [N], --threads [N], --single-thread, --auto-threads [V], -B [N], --rsyncable, --exclude-compressed
            --stream-size [N], --size-hint [N], --target-compressed-block-size [N], --no-dictID, --format [F], -l --list, -t --test, -M [N], --memory [N], --sparse, --no-sparse
            --pass-through, --no-pass-through, -b [N], -e [N], -i [N], -S, --priority [P], --maxdict [N], --dictID [N], --content-size, --no-content-size, -C
            -r : deep
            -D DICT, --filelist FILE, --patch-from FILE : reads
            -o FILE : makes
            --output-dir-flat DIR, --output-dir-mirror DIR : makes-below
            --trace FILE : writes
            --train, --train-cover [O], --train-fastcover [O], --train-legacy [O]
        ")])
        .judge(compress),
];

fn compress(view: &mut View<'_>) {
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
