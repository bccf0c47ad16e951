//! Whatever the files hold: an end comes, after a number of looks that no file can raise.

use super::*;
use proptest::prelude::*;
use sayso_shell::{Files, Kind};
use std::cell::Cell;
use std::ffi::OsString;

/// Counts what is asked of it.
struct Counted<'f> {
    files: &'f MemoryFiles,
    reads: Cell<usize>,
    heads: Cell<usize>,
    lists: Cell<usize>,
    largest: Cell<usize>,
}

impl<'f> Counted<'f> {
    fn new(files: &'f MemoryFiles) -> Self {
        Self { files, reads: Cell::new(0), heads: Cell::new(0), lists: Cell::new(0), largest: Cell::new(0) }
    }
}

impl Files for Counted<'_> {
    fn kind(&self, path: &Path) -> Kind {
        self.files.kind(path)
    }
    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        self.lists.set(self.lists.get() + 1);
        self.files.list(folder, limit)
    }
    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        self.reads.set(self.reads.get() + 1);
        self.largest.set(self.largest.get().max(limit));
        self.files.read(path, limit)
    }
    fn head(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        self.heads.set(self.heads.get() + 1);
        self.files.head(path, limit)
    }
    fn stamp(&self, path: &Path) -> Option<String> {
        self.files.stamp(path)
    }
    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        self.files.identity(path)
    }

    fn changeable(&self, path: &Path) -> bool {
        self.files.changeable(path)
    }
}

const NAMES: &[&str] = &[
    "Makefile",
    "package.json",
    "a.py",
    "a.js",
    "a.rb",
    "a.pl",
    "a.lua",
    "a.php",
    ".git/config",
    ".git/HEAD",
    "justfile",
    ".npmrc",
    "x",
    "sub/Makefile",
    "sub/package.json",
    "Cargo.toml",
    "build.rs",
];

const COMMANDS: &[&str] = &[
    "make x",
    "npm run x",
    "python3 a.py",
    "node a.js",
    "ruby a.rb",
    "perl a.pl",
    "lua a.lua",
    "php a.php",
    "git -c core.hooksPath=x commit",
    "just x",
    "cargo build",
    "BASH_ENV=x bash -c true",
    "LD_PRELOAD=x:sub make -C sub",
];

/// What files of instructions are made of.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words = vec![
        "include",
        "import",
        "from",
        "(",
        ")",
        "\\\n",
        "\n",
        "\t",
        " ",
        "\"",
        "'",
        "{",
        "}",
        "[",
        "]",
        ":",
        "=",
        ",",
        "\"scripts\"",
        "\\u0062",
        "\\x62",
        "\\u{62",
        "cd ",
        "$(X)",
        "${",
        "$X",
        "`",
        "../",
        "./",
        "/",
        "*",
        "x",
        "sub",
        "npm",
        "make",
        "sh ",
        "-f ",
        "python3 ",
        "require('./",
        "\u{feff}",
        "é",
        "mod ",
        "[core]",
        "hooksPath",
        ".",
        "..",
        "~",
        "~/",
        "\r\n",
        "#!/usr/bin/env ",
    ];
    prop_oneof![
        8 => prop::sample::select(words).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => "[ -~]{0,12}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn an_answer_comes_and_the_looks_are_counted(
        contents in prop::collection::vec(prop::collection::vec(piece(), 0..60), NAMES.len()..=NAMES.len()),
        command in prop::sample::select(COMMANDS.to_vec()),
    ) {
        let mut files = MemoryFiles::new();
        for (name, pieces) in NAMES.iter().zip(&contents) {
            files.program(format!("/w/{name}"), &pieces.concat());
        }
        files.link("/w/here", ".").link("/w/loop", "loop");
        let counted = Counted::new(&files);
        let found = in_files(command, &counted);
        prop_assert!(found.files.len() <= 512);
        prop_assert!(counted.reads.get() <= 1100, "{} reads", counted.reads.get());
        prop_assert!(counted.largest.get() <= 1024 * 1024, "{} bytes at once", counted.largest.get());
        prop_assert!(counted.lists.get() <= 20_100, "{} lists", counted.lists.get());
        prop_assert_eq!(&in_files(command, &files), &found);
    }
}

#[test]
fn a_file_that_names_everything_comes_to_an_end_and_a_yes_to_it_holds_once() {
    let mut files = MemoryFiles::new();
    let mut text = String::from("all:\n");
    for n in 0..9_000 {
        files.file(format!("/w/d{}/f{n}.sh", n % 90), b"cd x && make\n");
        text.push_str(&format!("\tcd d{} && sh f{n}.sh ./f{n}\n", n % 90));
    }
    text.truncate(250 * 1024);
    files.file("/w/Makefile", text.as_bytes());
    let counted = Counted::new(&files);
    let found = in_files("make", &counted);
    assert!(found.open.is_some() && found.files.len() <= 512, "{:?}", found.open);
    assert!(
        counted.heads.get() <= 20_000 && counted.reads.get() <= 1100,
        "{} {}",
        counted.heads.get(),
        counted.reads.get()
    );
}
