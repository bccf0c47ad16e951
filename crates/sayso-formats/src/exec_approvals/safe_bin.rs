//! Safe programs: they read standard input, and no argument of theirs names a file, runs something or never ends.

use super::config::Exec;
use super::profile::{self, Flag, Profile};
use sayso_policy::shell::{Kind, Run, Word};
use sayso_policy::{Facts, Operation};

/// Whether a program is safe as it is used.
pub(super) fn is_safe(exec: &Exec, run: &Run, operation: &Operation, facts: Facts<'_>) -> bool {
    let Some(called) = run.argv.first().and_then(Word::exact_str) else { return false };
    let name = called.rsplit('/').next().unwrap_or(called).to_owned();
    // What PATH does not lead to is nobody's safe program; where no PATH is known, neither is this.
    let there = run.program.path.is_some() || operation_has_no_path(facts);
    let genuine = run.program.shadow.is_none() && !run.program.builtin && there;
    if !genuine || !exec.safe_bins.contains(&name) {
        return false;
    }
    let Some(profile) = profile::of(&name, &exec.profiles) else { return false };
    // A word whose value is not known may be a path.
    let words: Option<Vec<&str>> = run.argv.iter().skip(1).map(Word::exact_str).collect();
    let exists = |text: &str| {
        let folder = run.cwd.as_deref().or(operation.cwd.as_deref());
        folder.is_some_and(|folder| !matches!(facts.files.kind(&folder.join(text)), Kind::Missing | Kind::Unknown))
    };
    words.is_some_and(|words| arguments_are_safe(&profile, &words, &exists))
}

/// Whether nothing is known of PATH: a caller that only has the text.
fn operation_has_no_path(facts: Facts<'_>) -> bool {
    facts.env.get("PATH").is_none()
}

fn arguments_are_safe(profile: &Profile<'_>, words: &[&str], exists: &dyn Fn(&str) -> bool) -> bool {
    let names_file = |text: &str| is_path_like(text) || exists(text);
    let mut operands = Vec::new();
    let mut ended = false;
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        if ended || word == "-" || !word.starts_with('-') {
            operands.push(word);
        } else if word == "--" {
            ended = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, joined) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let flag = format!("--{name}");
            let value = match profile.flag(&flag) {
                Some(Flag::Plain) if joined.is_none() => continue,
                Some(Flag::Value) => joined.or_else(|| rest.next()),
                _ => return false,
            };
            if value.is_none_or(|value| !profile.is_text(&flag) && names_file(value)) {
                return false;
            }
        } else if !short_flags_are_safe(profile, word, &mut rest, &names_file) {
            return false;
        }
    }
    let operands: Vec<&str> = operands.into_iter().filter(|operand| *operand != "-").collect();
    (profile.least..=profile.most).contains(&operands.len())
        && !operands.iter().any(|operand| (!profile.text && names_file(operand)) || profile.refuses_operand(operand))
}

/// `-nk2`: letters side by side, of which the first that takes a value takes the rest.
fn short_flags_are_safe<'w>(
    profile: &Profile<'_>,
    word: &'w str,
    rest: &mut impl Iterator<Item = &'w str>,
    names_file: &dyn Fn(&str) -> bool,
) -> bool {
    let letters = word.strip_prefix('-').unwrap_or(word);
    // `head -5`, `tail -5`.
    if profile.counts && letters.chars().all(|c| c.is_ascii_digit()) {
        return true;
    }
    for (at, letter) in letters.char_indices() {
        let flag = format!("-{letter}");
        match profile.flag(&flag) {
            Some(Flag::Plain) => {}
            Some(Flag::Value) => {
                let joined = letters.get(at + letter.len_utf8()..).filter(|text| !text.is_empty());
                let value = joined.or_else(|| rest.next());
                return value.is_some_and(|value| profile.is_text(&flag) || !names_file(value));
            }
            None => return false,
        }
    }
    true
}

fn is_path_like(text: &str) -> bool {
    let drive =
        text.as_bytes().get(1) == Some(&b':') && text.as_bytes().get(2).is_some_and(|b| matches!(b, b'/' | b'\\'));
    text.starts_with(['/', '~'])
        || text.starts_with("./")
        || text.starts_with("../")
        || matches!(text, "." | "..")
        || drive
        || text.contains("/../")
        || text.ends_with("/..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_standard_input_is_read_and_nothing_is_run() {
        for (command, expected) in [
            ("head -n 5", true),
            ("head -5", true),
            ("head --lines=5", true),
            ("head --lines 5", true),
            ("head -", true),
            ("head x", false),
            ("head --unknown-flag", false),
            ("head -n", false),
            ("tail -n 3", true),
            ("tail -f", false),
            ("tail -nf", true),
            ("tail --follow", false),
            ("wc -l", true),
            ("wc --files0-from=x", false),
            ("cut -d: -f1", true),
            ("cut -d : -f 1,2", true),
            ("sort -rn", true),
            ("sort -k2 -t:", true),
            ("sort -o out", false),
            ("sort -oout", false),
            ("sort -ro out", false),
            ("sort --compress-program=sh", false),
            ("sort -T /tmp", false),
            ("tr a b", true),
            ("tr -d a", true),
            ("tr", false),
            ("uniq -c", true),
            ("uniq a b", false),
            ("uniq a", false),
            ("grep foo", true),
            ("grep -e foo", true),
            ("grep -i foo", true),
            ("grep foo bar", false),
            ("grep -f/etc/shadow", false),
            ("grep -r foo", false),
            ("grep /etc/shadow", false),
            ("jq .name", true),
            ("jq -r .name", true),
            ("jq env", false),
            ("jq $ENV.HOME", false),
            ("jq -f x", false),
            ("jq . x", false),
            ("jq .", true),
            ("jq ./x", true),
            ("cut -d/ -f2", true),
            ("cut -d / -f 2", true),
            ("cut --delimiter=/ -f2", true),
            ("cut -f/etc/passwd", false),
            ("sort -t/ -k2", true),
            ("sort -S /etc", false),
            ("tr / _", true),
            ("tr -d ./", true),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            let profile = profile::of(words[0], &[]).unwrap();
            assert_eq!(arguments_are_safe(&profile, &words[1..], &|_| false), expected, "{command}");
        }
        let profile = profile::of("grep", &[]).unwrap();
        assert!(!arguments_are_safe(&profile, &["secret.txt"], &|text| text == "secret.txt"));
    }
}
