//! jq and its kin. The language is read by [`crate::script`].

use super::{Code, Operands, Role, Spec, View};
use crate::effect::NamedBy;
use crate::option::{Style, options};
use crate::script::{self, Flavour};
use crate::word::Word;

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["jq", "gojq", "jaq"])
        .style(Style::EXACT)
        .options(&[options!("
            -c --compact-output, -n --null-input, -e --exit-status, -s --slurp, -r --raw-output, -R --raw-input, -C --color-output
            -M --monochrome-output, -S --sort-keys, --tab, --indent N, -a --ascii-output, -j --join-output, --unbuffered, --stream
            --stream-errors, --seq, --args, --jsonargs, -h, -V, --build-configuration, --raw-output0, --binary -b, --yaml-input, --yaml-output
            --arg NAME VALUE, --argjson NAME VALUE
            --slurpfile NAME FILE, --rawfile NAME FILE, --argfile NAME FILE : reads
            -f --from-file FILE : reads
            -L --library-path DIR : reads-below
        ")])
        .operands(Operands::TEXT)
        .judge(jq),
    // Two programs bear this name: the one in Go has subcommands and `-i`, the one in Python passes on to jq.
    Spec::new(&["yq"])
        .style(Style::EXACT.and(Style::FREE).and(Style::GLOBAL).and(Style::EQUALS))
        .options(&[YQ])
        .operands(Operands::TEXT)
        .subs(&[
            Spec::new(&["eval", "e", "eval-all", "ea"]).style(Style::EXACT.and(Style::EQUALS)).options(&[YQ]).judge(yq),
            Spec::new(&["completion", "help"]).style(Style::HARMLESS),
        ])
        .judge(yq),
    Spec::new(&[
        "fx", "jless", "gron", "xmllint", "jsonlint", "csvcut", "csvgrep", "csvstat", "csvjson", "csvsort", "in2csv",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .options(&[CHANGES])
        .operands(Operands::READ),
    Spec::new(&["yamllint"])
        .options(&[options!("
            -d --config-data YAML, -f --format F, -s --strict, --no-warnings, --list-files, -h, -v
            -c --config-file FILE : reads
        ")])
        .operands(Operands::READ_BELOW),
    Spec::new(&["taplo"]).style(Style::EXACT).options(&[options!("--colors W, --verbose, --log-spans, -V, -h")]).subs(&[
        Spec::new(&["format", "fmt"])
            .style(Style::EXACT)
            .options(&[options!("
                -c --config FILE : reads
                --check, --diff, -o --option O, -f --force, --no-auto-config, --stdin-filepath P, --colors W, --verbose, -h
                --cache-path DIR : makes-below
            ")])
            .judge(taplo),
        Spec::new(&["lint", "check", "validate", "get", "config", "completions"])
            .style(Style::EXACT)
            .options(&[options!("
                -c --config FILE : reads
                -f --file-path F, -o --output-format F, -s --strip-newline, --separator S, --no-auto-config, --no-schema, --default-schema-catalogs
                --colors W, --verbose, -h
                --schema URL, --schema-catalog URL : connects
                --cache-path DIR : makes-below
            ")])
            .operands(Operands::READ),
    ]),
    Spec::new(&["dasel", "jp", "xmlstarlet", "htmlq", "pup", "tomlq", "xq"])
        .style(Style::HARMLESS.and(Style::RISKY))
        .options(&[CHANGES])
        .operands(Operands::then(&[Role::Text], Role::Read)),
];

/// Options by which programs that print what they read write it instead.
const CHANGES: &crate::option::Table = options!(
    "
    -o --output FILE : writes
    -i --in-place --inplace : changes-files
    -w --write : changes-files
"
);

const YQ: &crate::option::Table = options!("
    -C --colors, -M --no-colors, -N --no-doc, -n --null-input, -P --prettyPrint, -r --unwrapScalar --raw-output, -j --tojson, -e --exit-status
    -v --verbose, -V, -h, -I --indent N, -p --input-format F, -o --output-format F, -0 --nul-output, --header-preprocess, -c --compact-output
    --xml-attribute-prefix S, --xml-content-name S, --csv-auto-parse, --tsv-auto-parse, --properties-separator S, -y --yaml-output
    -Y --yaml-roundtrip, --arg NAME VALUE, --argjson NAME VALUE, --expression E, --string-interpolation, --lua-globals, -S --sort-keys, --slurp
    --security-disable-env-ops, --security-disable-file-ops
    --from-file FILE : reads
    --split-exp-file FILE : reads
    -i --inplace --in-place : changes-files
    -s --split-exp EXP : changes-files
    -f --front-matter F
");

/// It rewrites what it formats.
fn taplo(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        view.reads(word, at);
        if !view.has_any(&["--check", "--diff"]) && word.exact() != Some(b"-") {
            view.writes_sources(word, at, "toml");
        }
    }
}

fn jq(view: &mut View<'_>) {
    // All that follow `--args` are texts.
    let first = |names: [&str; 2]| view.seen.iter().filter(|s| names.contains(&&*s.opt.name)).map(|s| s.at).min();
    let (arguments, from) = (first(["--args", "--jsonargs"]), first(["--from-file"; 2]));
    let mut words = view.operands().into_iter();
    if let Some(from) = from {
        from_file(view, Flavour::Jq);
        // Where `-f` is a mere flag, as before jq 1.8, the filter is in the first operand, wherever that stands.
        let mut before = view.operands().into_iter().filter(|at| *at < from);
        if let Some(at) = before.next() {
            view.named(Code::UnclearScript, NamedBy::Flag("--from-file".to_owned()), at);
        }
    } else {
        program(view, words.next(), Flavour::Jq);
    }
    for at in words.filter(|at| arguments.is_none_or(|first| *at < first)) {
        if let Some(word) = view.word(at) {
            view.reads(word, at);
        }
    }
}

/// A filter that stands in a file.
fn from_file(view: &mut View<'_>, flavour: Flavour) {
    for (at, file) in view.values("--from-file") {
        match view.content(&file) {
            Some(content) => {
                view.findings(script::jq(&content, flavour), &NamedBy::Flag("--from-file".to_owned()), at);
            }
            None => view.named(Code::UnclearScript, NamedBy::Flag("--from-file".to_owned()), at),
        }
    }
}

fn yq(view: &mut View<'_>) {
    let mut words = view.operands().into_iter();
    for (at, word) in view.values("--expression") {
        filter(view, &word, at, Flavour::Yq);
    }
    from_file(view, Flavour::Yq);
    if !view.has_any(&["--from-file", "--expression"]) {
        program(view, words.next(), Flavour::Yq);
    }
    let in_place = view.has("--inplace");
    for at in words {
        if let Some(word) = view.word(at) {
            view.reads(word, at);
            if in_place {
                view.writes(word, at);
            }
        }
    }
}

fn program(view: &mut View<'_>, at: Option<usize>, flavour: Flavour) {
    let Some((at, word)) = at.and_then(|at| view.word(at).map(|w| (at, w))) else { return };
    filter(view, word, at, flavour);
}

fn filter(view: &mut View<'_>, word: &Word, at: usize, flavour: Flavour) {
    match script::text_of(word) {
        Some(text) => {
            let findings = script::jq(&text, flavour);
            view.findings(findings, &NamedBy::Nothing, at);
        }
        // A filter that holds a variable's text can read the environment at most.
        None => view.named(Code::UnclearScript, NamedBy::Nothing, at),
    }
}
