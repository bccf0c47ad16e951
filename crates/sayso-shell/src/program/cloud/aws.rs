//! aws, gcloud, az and openstack.

use super::by_verb;
use crate::effect::{Carry, NamedBy, Verb};
use crate::program::{Code, View};
use crate::word::{Part, Word};

/// Names of operations that hand out secrets.
const SECRET: &[&str] = &[
    "get-secret-value",
    "get-parameter",
    "get-parameters",
    "get-parameters-by-path",
    "get-login-password",
    "get-session-token",
    "get-federation-token",
    "assume-role",
    "get-credentials",
    "print-access-token",
    "print-identity-token",
    "get-access-token",
    "get-authorization-token",
    "get-password-data",
    "export-credentials",
    "decrypt",
    "get-random-password",
    "get-api-keys",
    "access",
    "credentials",
];

fn shows_secrets(view: &mut View<'_>) {
    let found = (1..view.inv.argv.len()).find_map(|at| {
        view.word(at).and_then(Word::exact_str).filter(|word| SECRET.contains(word)).map(|word| (at, word.to_owned()))
    });
    if let Some((at, word)) = found {
        let mut words: Vec<String> = view
            .out
            .words
            .iter()
            .filter_map(|&at| view.word(usize::from(at)).and_then(Word::exact_str).map(str::to_owned))
            .take(2)
            .collect();
        if !words.contains(&word) {
            words.push(word);
        }
        view.named(Code::ShowsSecrets, NamedBy::Words(words), at);
    }
}

/// An option, or the beginning of it, that leads the command elsewhere: it needs a yes of its own. Its values.
fn steered(view: &mut View<'_>, option: &str, code: Code) -> Vec<Word> {
    let mut values = Vec::new();
    for at in 1..view.inv.argv.len() {
        // `--endpoint-url=$HOST`: which option it is shows, though its value does not.
        if let Some(Word::Dynamic(shape)) = view.word(at)
            && let Some(Part::Literal(text)) = shape.parts.first()
            && text.as_str().is_some_and(|text| text.starts_with(&format!("{option}=")))
        {
            values.push(Word::Opaque);
            view.named_by_flag(code, option, at);
            continue;
        }
        let Some(text) = view.word(at).and_then(Word::exact_str) else { continue };
        let (name, joined) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_owned())));
        // A single dash counts for some of these programs. Shorter beginnings are those of other options too.
        let name = name.trim_start_matches('-');
        if !text.starts_with('-') || name.len() < 5 || !option.trim_start_matches('-').starts_with(name) {
            continue;
        }
        values.extend(joined.map(|value| Word::Exact(value.as_str().into())).or_else(|| view.word(at + 1).cloned()));
        view.named_by_flag(code, option, at);
    }
    values
}

/// `aws [options] service operation [options]`.
pub(crate) fn aws(view: &mut View<'_>) {
    let mut words: Vec<usize> = Vec::new();
    let mut at = 1;
    while let Some(word) = view.word(at) {
        match word.exact_str() {
            Some(option) if option.starts_with("--") && !option.contains('=') => {
                // Options that take no value; any other is followed by one.
                let alone = option.starts_with("--no-")
                    || matches!(
                        option,
                        "--debug"
                            | "--recursive"
                            | "--dryrun"
                            | "--quiet"
                            | "--delete"
                            | "--human-readable"
                            | "--summarize"
                            | "--follow"
                            | "--exact-timestamps"
                            | "--size-only"
                            | "--force"
                    );
                if !alone && view.word(at + 1).is_some_and(|next| !next.may_be_option()) {
                    at += 1;
                }
            }
            Some(option) if option.starts_with('-') && option.len() > 1 => {}
            _ => words.push(at),
        }
        at += 1;
    }
    view.out.words = words.iter().filter_map(|&at| u16::try_from(at).ok()).collect();
    view.connects_configured("aws", 0);
    for url in steered(view, "--endpoint-url", Code::OtherHost) {
        view.connects(&url, 0);
    }
    let name = |n: usize| words.get(n).and_then(|&at| view.word(at)).map(Word::exact_str);
    let (service, operation) = (name(0), name(1));
    let named = |words: &[&str]| NamedBy::Words(words.iter().map(|&word| word.to_owned()).collect());
    match (service, operation) {
        (None | Some(Some("help")), _) | (_, Some(Some("help"))) => {}
        (Some(Some("configure")), Some(Some("list" | "list-profiles"))) => {}
        (Some(Some("configure")), Some(Some("get"))) => view.named(Code::ShowsSecrets, named(&["configure", "get"]), 0),
        (Some(Some("configure")), _) => view.named(Code::ChangesSettings, named(&["configure"]), 0),
        (Some(Some("s3")), Some(Some("ls"))) => {}
        (Some(Some("s3")), Some(Some(operation))) => s3(view, operation, &words),
        (Some(Some(service)), Some(Some(operation))) => {
            let reads = [
                "describe-",
                "list-",
                "get-",
                "head-",
                "batch-get-",
                "lookup-",
                "search-",
                "filter-log-events",
                "tail",
                "wait",
                "scan",
                "query",
                "select-",
                "view-",
                "estimate-",
                "validate-",
                "test-",
                "check-",
                "simulate-",
            ]
            .iter()
            .any(|verb| operation.starts_with(verb));
            if !reads {
                view.named(Code::ChangesService, named(&[service, operation]), 0);
            }
            // `s3api get-object .. out` and `lambda invoke .. out` write their last word.
            if (operation.starts_with("get-") || operation == "invoke")
                && let Some((at, file)) = words.get(2).and_then(|&at| Some((at, view.word(at)?)))
            {
                view.path_effect(
                    Verb::Write,
                    file,
                    at,
                    false,
                    Carry::Named { code: Code::WritesFile, by: named(&[service, operation]) },
                );
            }
        }
        _ => view.named(Code::ChangesService, NamedBy::Nothing, 0),
    }
    shows_secrets(view);
    super::local_files(view);
}

/// Copies between this machine and buckets.
fn s3(view: &mut View<'_>, operation: &str, words: &[usize]) {
    let named = |code: Code| Carry::Named { code, by: NamedBy::Words(vec!["s3".to_owned(), operation.to_owned()]) };
    let is_bucket = |word: &Word| word.exact().map(|text| text.starts_with(b"s3://"));
    let mut leaves = !matches!(operation, "cp" | "sync" | "mv");
    for (n, &at) in words.iter().skip(2).enumerate() {
        let Some(word) = view.word(at) else { continue };
        if is_bucket(word) == Some(true) || word.exact() == Some(b"-") {
            leaves |= n == 1 || operation == "mv";
            continue;
        }
        if is_bucket(word).is_none() {
            leaves = true;
        }
        if n == 0 {
            view.path_effect(Verb::Read, word, at, true, Carry::Plain);
            if operation == "mv" {
                view.path_effect(Verb::Delete, word, at, true, named(Code::ChangesFiles));
            }
        } else {
            view.path_effect(Verb::Write, word, at, true, named(Code::WritesFile));
        }
    }
    if leaves {
        view.named(Code::ChangesService, NamedBy::Words(vec!["s3".to_owned(), operation.to_owned()]), 0);
    }
}

pub(crate) fn gcloud(view: &mut View<'_>) {
    view.connects_configured("google cloud", 0);
    // Options that nobody sees stand in these files.
    steered(view, "--flags-file", Code::RunsCode);
    steered(view, "--flagfile", Code::RunsCode);
    by_verb(
        view,
        &[
            "list",
            "describe",
            "get",
            "info",
            "version",
            "ls",
            "stat",
            "du",
            "show",
            "help",
            "read",
            "get-value",
            "--version",
        ],
    );
    shows_secrets(view);
    if view.inv.name == "gsutil"
        || view.inv.argv.iter().any(|word| matches!(word.exact(), Some(b"cp" | b"scp" | b"ssh" | b"rsync" | b"mv")))
    {
        copied(view);
    }
}

pub(crate) fn az(view: &mut View<'_>) {
    view.connects_configured("azure", 0);
    by_verb(view, &["list", "show", "version", "get", "exists", "help", "find"]);
    shows_secrets(view);
    let secret = view.inv.argv.iter().any(|word| word.exact() == Some(b"secret"))
        || view.inv.argv.iter().any(|word| word.exact() == Some(b"keys"));
    if secret {
        view.named(Code::ShowsSecrets, NamedBy::Nothing, 0);
    }
}

/// Local sides of a copy.
fn copied(view: &mut View<'_>) {
    let words: Vec<usize> = view.out.words.iter().map(|&at| usize::from(at)).collect();
    for at in words.into_iter().skip(1) {
        let Some(word) = view.word(at) else { continue };
        let local = word
            .exact_str()
            .is_some_and(|text| !text.contains("://") && text.contains('/') || matches!(word.exact(), Some(b".")));
        if local {
            view.path_effect(Verb::Read, word, at, true, Carry::Plain);
            view.path_effect(
                Verb::Write,
                word,
                at,
                true,
                Carry::Named { code: Code::WritesFile, by: NamedBy::Nothing },
            );
        }
    }
}

pub(crate) fn openstack(view: &mut View<'_>) {
    view.connects_configured("openstack", 0);
    by_verb(view, &["list", "show", "--version", "--help"]);
}
