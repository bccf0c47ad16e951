//! Programs that read text and print it: filters.

use crate::effect::{Carry, NamedBy, PathTarget, Target, Verb};
use crate::option::{Style, options};
use crate::program::{Code, Operands, Prints, Role, Spec, View};
use crate::word::{Origin, Text, Word};

pub(crate) const SPECS: &[Spec] = &[
    Spec::new(&["cat"])
        .options(&[options!("
            -A --show-all, -b --number-nonblank, -e, -E --show-ends, -n --number, -s --squeeze-blank
            -t, -T --show-tabs, -u, -v --show-nonprinting, -l
        ")])
        .operands(Operands::READ),
    Spec::new(&["tac"])
        .options(&[options!("-b --before, -r --regex, -s --separator STRING")])
        .operands(Operands::READ),
    Spec::new(&["rev"]).options(&[options!("-0 --zero, -h, -V")]).operands(Operands::READ),
    Spec::new(&["head"])
        .options(&[options!("
            -c --bytes N, -# -n --lines N, -q --quiet --silent, -v --verbose, -z --zero-terminated
        ")])
        .operands(Operands::READ),
    Spec::new(&["tail"])
        .options(&[options!("
            -c --bytes N, -f --follow [HOW], -F, -# -n --lines N, --max-unchanged-stats N, --pid PID
            -q --quiet --silent, --retry, -s --sleep-interval N, -v --verbose, -z --zero-terminated, -r, -b N, --debug
        ")])
        .operands(Operands::READ),
    Spec::new(&["wc"])
        .options(&[options!("
            -c --bytes, -m --chars, -l --lines, -L --max-line-length, -w --words, --total WHEN, --debug
            --files0-from F : reads
        ")])
        .operands(Operands::READ)
        .judge(prints_number),
    Spec::new(&["sort"])
        .options(&[options!("
            -b --ignore-leading-blanks, -d --dictionary-order, -f --ignore-case, -g --general-numeric-sort
            -i --ignore-nonprinting, -M --month-sort, -h --human-numeric-sort, -n --numeric-sort, -R --random-sort
            -r --reverse, -V --version-sort, --sort WORD, --batch-size N, -c --check [HOW], -C, --debug
            -k --key KEYDEF, -m --merge, -s --stable, -S --buffer-size SIZE, -t --field-separator SEP
            --parallel N, -u --unique, -z --zero-terminated
            --random-source FILE : reads
            --files0-from F : reads
            -o --output FILE : writes
            -T --temporary-directory DIR : writes-below
            --compress-program PROG : runs
        ")])
        .operands(Operands::READ),
    // With one letter behind, `-D` and `--all-repeated` take a method only joined.
    Spec::new(&["uniq"])
        .options(&[options!("
            -c --count, -d --repeated, -D, --all-repeated [METHOD], -f --skip-fields N, --group [METHOD], -i --ignore-case
            -s --skip-chars N, -u --unique, -z --zero-terminated, -w --check-chars N, -#
        ")])
        .operands(Operands::then(&[Role::Read], Role::WriteNamed)),
    Spec::new(&["cut"])
        .options(&[options!("
            -b --bytes LIST, -c --characters LIST, -d --delimiter DELIM, -f --fields LIST, -n, --complement
            -s --only-delimited, --output-delimiter STRING, -z --zero-terminated, -w
        ")])
        .operands(Operands::READ),
    Spec::new(&["tr"]).options(&[options!("
        -c -C --complement, -d --delete, -s --squeeze-repeats, -t --truncate-set1, -u
    ")]),
    Spec::new(&["paste"])
        .options(&[options!("-d --delimiters LIST, -s --serial, -z --zero-terminated")])
        .operands(Operands::READ),
    Spec::new(&["join"])
        .options(&[options!("
            -a FILENUM, -e STRING, -i --ignore-case, -j FIELD, -o FORMAT, -t CHAR, -v FILENUM, -1 FIELD, -2 FIELD
            --check-order, --nocheck-order, --header, -z --zero-terminated
        ")])
        .operands(Operands::READ),
    Spec::new(&["comm"])
        .options(&[options!("
            -1, -2, -3, --check-order, --nocheck-order, --output-delimiter STR, --total, -z --zero-terminated, -i
        ")])
        .operands(Operands::READ),
    Spec::new(&["nl"])
        .options(&[options!("
            -b --body-numbering STYLE, -d --section-delimiter CC, -f --footer-numbering STYLE, -h --header-numbering STYLE
            -i --line-increment N, -l --join-blank-lines N, -n --number-format FORMAT, -p --no-renumber
            -s --number-separator STRING, -v --starting-line-number N, -w --number-width N
        ")])
        .operands(Operands::READ),
    Spec::new(&["fold"])
        .options(&[options!("-b --bytes, -c --characters, -s --spaces, -# -w --width N")])
        .operands(Operands::READ),
    Spec::new(&["fmt"])
        .options(&[options!("
            -c --crown-margin, -p --prefix STRING, -s --split-only, -t --tagged-paragraph, -u --uniform-spacing
            -# -w --width N, -g --goal N, -n, -m
        ")])
        .operands(Operands::READ),
    Spec::new(&["expand", "unexpand"])
        .options(&[options!("-a --all, --first-only, -i --initial, -# -t --tabs N")])
        .operands(Operands::READ),
    Spec::new(&["column"])
        .options(&[options!("
            -t --table, -n --table-name NAME, -O --table-order COLUMNS, -N --table-columns NAMES, -l --table-columns-limit N
            -E --table-noextreme COLUMNS, -d --table-noheadings, -m --table-maxout, -e --table-header-repeat
            -H --table-hide COLUMNS, -R --table-right COLUMNS, -T --table-truncate COLUMNS, -W --table-wrap COLUMNS
            -L --keep-empty-lines --table-empty-lines, -J --json, -r --tree COLUMN, -i --tree-id COLUMN
            -p --tree-parent COLUMN, -c --output-width N, -o --output-separator STRING, -s --separator STRING
            -x --fillrows, -h, -V, -C --table-column PROPS, -S --use-spaces N
        ")])
        .operands(Operands::READ),
    Spec::new(&["od"])
        .options(&[options!("
            -A --address-radix RADIX, --endian ORDER, -j --skip-bytes N, -N --read-bytes N, -S --strings [N]
            -t --format TYPE, -v --output-duplicates, -w --width [N], --traditional
            -a, -b, -c, -d, -f, -i, -l, -o, -s, -x, -D, -B, -e, -F, -h, -H, -I, -L, -O, -X
        ")])
        .operands(Operands::READ),
    Spec::new(&["hexdump", "hd"])
        .options(&[options!("
            -b --one-byte-octal, -c --one-byte-char, -C --canonical, -d --two-bytes-decimal, -o --two-bytes-octal
            -x --two-bytes-hex, -X --one-byte-hex, -e --format FORMAT, -n --length N, -s --skip N, -v --no-squeezing
            -L --color [MODE], -h, -V
            -f --format-file FILE : reads
        ")])
        .operands(Operands::READ),
    // `xxd in out` writes; in clusters its options take words of their own.
    Spec::new(&["xxd"])
        .style(Style::EXACT)
        .options(&[options!("
            -a -autoskip, -b -bits, -C -capitalize, -c -cols N, -E -EBCDIC, -e, -g -groupsize N, -h -help, -i -include
            -l -len N, -n -name NAME, -o OFF, -p -ps -postscript -plain, -r -revert, -R WHEN, -d, -s -seek N, -t, -u, -v -version
        ")])
        .operands(Operands::then(&[Role::Read], Role::WriteNamed)),
    Spec::new(&["strings"])
        .options(&[options!("
            -a --all, -d --data, -f --print-file-name, -# -n --bytes N, -t --radix RADIX, -o, -w --include-all-whitespace
            -T --target NAME, -e --encoding ENC, -s --output-separator STRING, -U --unicode MODE, -h, -v -V
        ")])
        .operands(Operands::READ)
        .judge(crate::program::compiler::response_files),
    Spec::new(&["base64", "base32", "basenc"])
        .options(&[options!("
            -d -D --decode, -i --ignore-garbage, -w --wrap COLS, --base64, --base64url, --base32, --base32hex, --base16
            --base2msbf, --base2lsbf, --z85, --base58, -b --break N
        ")])
        .operands(Operands::READ),
    Spec::new(&[
        "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "shasum", "sha3sum", "md5",
    ])
        .options(&[options!("
            -b --binary, -c --check, --tag, -t --text, -z --zero, --ignore-missing, --quiet, --status, --strict
            -w --warn, -l --length BITS, -a --algorithm N, -U --UNIVERSAL, -0 --01, -p --portable, -q, -r, -s STRING
        ")])
        .operands(Operands::READ),
    Spec::new(&["cksum", "sum", "crc32"])
        .options(&[options!("
            -a --algorithm TYPE, --base64, -c --check, -l --length BITS, --raw, --tag, --untagged, -z --zero, -s --sysv, -r
            --ignore-missing, --quiet, --status, --strict, -w --warn, --debug, -o N
        ")])
        .operands(Operands::READ),
    Spec::new(&["cmp"])
        .options(&[options!("
            -b --print-bytes, -i --ignore-initial SKIP, -l --verbose, -n --bytes LIMIT, -s --quiet --silent, -v
        ")])
        .operands(Operands::then(&[Role::Read, Role::Read], Role::Text)),
    Spec::new(&["tsort", "pr", "look", "colrm", "ul", "col", "colcrt", "bc"])
        .style(Style::HARMLESS)
        .operands(Operands::READ),
    // The file operands of `split` and `csplit` are followed by the beginning of the names they write.
    Spec::new(&["split"])
        .options(&[options!("
            -a --suffix-length N, --additional-suffix SUFFIX, -b --bytes SIZE, -C --line-bytes SIZE, -d, --numeric-suffixes [N]
            -x, --hex-suffixes [N], -e --elide-empty-files, -# -l --lines N, -n --number CHUNKS, -t --separator SEP
            -u --unbuffered, --verbose
            --filter COMMAND : shell
        ")])
        .operands(Operands::then(&[Role::Read], Role::Text))
        .judge(split),
    Spec::new(&["csplit"])
        .options(&[options!("
            -k --keep-files, --suppress-matched, -n --digits N, -s -q --quiet --silent
            -z --elide-empty-files
            -b --suffix-format FORMAT : writes-file
            -f --prefix PREFIX : makes
        ")])
        .operands(Operands::then(&[Role::Read], Role::Text))
        .judge(csplit),
    Spec::new(&["shuf"])
        .options(&[options!("
            -e --echo, -i --input-range RANGE, -n --head-count COUNT, -r --repeat, -z --zero-terminated
            --random-source FILE : reads
            -o --output FILE : writes
        ")])
        .operands(Operands::READ),
    Spec::new(&["numfmt"]).style(Style::HARMLESS),
    Spec::new(&["factor", "seq", "expr"]).style(Style::HARMLESS).judge(prints_number),
    Spec::new(&["tee"])
        .options(&[options!("-a --append, -i --ignore-interrupts, -p, --output-error [MODE]")])
        .operands(Operands::WRITE),
    Spec::new(&["sponge"]).options(&[options!("-a")]).operands(Operands::WRITE),
    Spec::new(&["iconv"])
        .options(&[options!("
            -f --from-code NAME, -t --to-code NAME, -l --list, -c, -s --silent, --verbose
            -o --output FILE : writes
        ")])
        .operands(Operands::READ),
    Spec::new(&["dos2unix", "unix2dos", "mac2unix", "unix2mac"])
        .style(Style::HARMLESS)
        .operands(Operands::EDIT),
];

fn prints_number(view: &mut View<'_>) {
    // Without a file name `wc` prints numbers alone; with several it prints names too.
    let words = view.inv.argv.get(1..).unwrap_or_default();
    let numbers = match view.name {
        "wc" => view.operand_count() == 0 && !view.has("--files0-from"),
        // `-f` and `-s` print what they are given.
        "seq" => words.iter().all(|word| match word.exact() {
            Some([b'-', rest @ ..]) => rest == b"w" || rest.iter().all(u8::is_ascii_digit),
            Some(_) => true,
            None => matches!(word, Word::Dynamic(shape) if shape.origin == Origin::Number),
        }),
        // `expr "$x"` prints its operand.
        "expr" => matches!(words, [_, operator, _]
            if matches!(operator.exact(), Some(b"+" | b"-" | b"*" | b"/" | b"%"))),
        _ => true,
    };
    if numbers {
        view.out.prints = Prints::Number;
    }
}

/// The pieces are named by the word behind the file, letters or digits, and a suffix.
fn split(view: &mut View<'_>) {
    if view.has("--filter") {
        return;
    }
    // Where no length is given there are two, and more when the names run out.
    let length = match view.value("--suffix-length").map(Word::exact_str) {
        None | Some(Some("0")) => Some(2),
        Some(length) => length.and_then(|length| length.parse().ok()),
    };
    let digits = view.has_any(&["-d", "--numeric-suffixes"]) && !view.has_any(&["-x", "--hex-suffixes"]);
    let suffix = view.value("--additional-suffix").cloned().unwrap_or_else(|| Word::Exact("".into()));
    let prefixes: Vec<usize> = view.operands().into_iter().skip(1).collect();
    if prefixes.is_empty() {
        view.touches(Verb::Write, ".", true);
        pieces(view, &Word::Exact("x".into()), 0, length, digits, &suffix);
    }
    for at in prefixes {
        let Some(prefix) = view.word(at) else { continue };
        pieces(view, prefix, at, length, digits, &suffix);
    }
}

fn csplit(view: &mut View<'_>) {
    let digits = view.value("--digits").map_or(Some(2), |digits| digits.exact_str().and_then(|n| n.parse().ok()));
    match view.values("--prefix").pop() {
        Some((at, prefix)) => pieces(view, &prefix, at, digits, true, &Word::Exact("".into())),
        None => view.touches(Verb::Write, ".", true),
    }
}

/// Files are written whose names are made of a prefix, so many letters or digits, and a suffix. The first of them stands
/// for all in their folder and of their kind. But letters that are counted up may spell any name in the end, one that
/// somebody guards too (`.envr` and `c`), so only prefixes that are plainly made for it are as harmless as they look.
fn pieces(view: &mut View<'_>, prefix: &Word, at: usize, length: Option<usize>, digits: bool, suffix: &Word) {
    /// No name is longer.
    const LONGEST: usize = 255;
    let (Some(start), Some(end), Some(length)) = (prefix.exact(), suffix.exact(), length.filter(|n| *n <= LONGEST))
    else {
        return view.effect(Verb::Write, Target::Path(PathTarget::Unknown(None)), at, Carry::Plain);
    };
    let counted = if digits { b"0" } else { b"a" }.repeat(length);
    let first = Word::Exact(Text::from([start, &counted, end].concat()));
    let harmless = !is_hidden(start) && (digits && length > 1 || is_made_for_pieces(start));
    view.path_effect(Verb::Write, &first, at, false, Carry::Plain);
    if !harmless {
        // Not even a rule for writes names what they may spell.
        view.named(Code::WritesFile, NamedBy::Nothing, at);
    }
}

/// Whether a part of a path begins with a dot.
fn is_hidden(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| name.starts_with(b".") && !matches!(name, b"." | b".."))
}

/// Whether a prefix is the usual word for a piece, or ends where a number is expected to follow.
fn is_made_for_pieces(prefix: &[u8]) -> bool {
    const USUAL: &[&[u8]] = &[
        b"", b"x", b"part", b"parts", b"chunk", b"chunks", b"piece", b"pieces", b"split", b"segment", b"out",
        b"output", b"file", b"data", b"log", b"batch", b"shard",
    ];
    let name = prefix.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match name {
        [.., b'_' | b'-'] => true,
        [.., last] if last.is_ascii_digit() => true,
        // `notes.txt.` and `aa`; `sitecustomize.` and `py` is another thing.
        [stem @ .., b'.'] => stem.contains(&b'.'),
        name => USUAL.contains(&name),
    }
}
