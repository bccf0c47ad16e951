//! Random texts, given to the parser and to bash: what one refuses the other must refuse, and a text that bash prints
//! in its own words must hold the same commands. `SAYSO_SYNTAX_CASES` and `SAYSO_SEED` ask for more, or for others.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

mod generate;
mod reduce;

use generate::Dice;
use sayso_shell::Dialect;
use sayso_shell::syntax::{Options, Trouble, parse};
use std::io::Write;
use std::process::{Command, Stdio};

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Whether there is a bash of the version that the parser follows.
fn bash_is_here() -> bool {
    let version = Command::new("bash").args(["--norc", "-c", "echo $BASH_VERSION"]).output();
    let here = version.is_ok_and(|output| output.stdout.starts_with(b"5.2"));
    if !here {
        println!("skipped: no bash 5.2 here");
    }
    here
}

/// Gives bash a text on standard input, to be read and not run.
fn bash(option: &str, text: &str) -> (bool, String, String) {
    let mut child = Command::new("bash")
        .args(["--norc", "--noprofile", option])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Bash may stop reading at an error.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// What `bash -n` says: refused, by status or by a message that is no warning.
fn refused(text: &str) -> Option<String> {
    let (success, _, errors) = bash("-n", text);
    let errors: Vec<&str> = errors.lines().filter(|line| !line.contains("warning:")).collect();
    (!success || !errors.is_empty()).then(|| errors.join(" / "))
}

enum Disagreement {
    /// We take what bash refuses: harmless unless the readings drift apart.
    OnlyWe(String),
    /// We refuse what bash takes: opaque.
    OnlyBash(String),
    /// Both take it, but bash's own words for it hold other commands.
    Commands(String),
}

fn compare(text: &str) -> Option<Disagreement> {
    // On standard input, unlike in `bash -c`, a backslash at the very end is dropped.
    if text.ends_with('\\') {
        return None;
    }
    let ours = parse(text.as_bytes(), Dialect::Bash, Options::default()).map(|tree| reduce::reduce(&tree));
    match (ours, refused(text)) {
        (Ok(found), Some(why)) => (!found.opaque).then_some(Disagreement::OnlyWe(why)),
        // There bash takes a text and is known to run something else.
        (Err(error), None) if error.trouble == Trouble::Misread => None,
        (Err(error), None) => Some(Disagreement::OnlyBash(error.to_string())),
        (Err(_), Some(_)) => None,
        (Ok(found), None) => {
            // Bash loses separators when it prints after a here-document. Only what stands in `$( )` is read again.
            if text.contains("<<") && !text.starts_with(": $(") {
                return None;
            }
            let printed = printed(text)?;
            let again = parse(printed.as_bytes(), Dialect::Bash, Options::default()).map(|tree| reduce::reduce(&tree));
            let Ok(again) = again else { return None };
            let (mut first, mut second) = (found.commands, again.commands);
            // Bash marks some bytes for itself with 1 and 127 when it prints.
            let unmark = |word: &mut String| word.retain(|c| c != '\u{1}' && c != '\u{7f}');
            first.iter_mut().chain(&mut second).flatten().for_each(unmark);
            // Bash may print less than there was (here-documents of functions), never other commands.
            // (`time` just after `$(` is a word to it now, and a keyword when it runs.)
            let timed = |command: &&Vec<String>| command.first().is_some_and(|name| name == "time");
            let lost: Vec<_> = second.iter().filter(|command| !first.contains(command) && !timed(command)).collect();
            (!lost.is_empty() && !found.opaque && !again.opaque)
                .then(|| Disagreement::Commands(format!("{lost:?} in {printed:?}, not in {first:?}")))
        }
    }
}

/// The text as bash prints it. Nothing is run.
fn printed(text: &str) -> Option<String> {
    let (success, output, _) = bash("--pretty-print", text);
    // Bash names an unnamed coprocess when it prints it.
    success.then(|| output.replace("coproc COPROC ", "coproc "))
}

/// The smallest part of a text that still shows the disagreement.
fn shrink(text: &str, still: impl Fn(&str) -> bool) -> String {
    let mut best = text.to_owned();
    let mut size = best.len() / 2;
    let mut attempts = 400;
    while size > 0 {
        let mut at = 0;
        while at < best.len() && attempts > 0 {
            attempts -= 1;
            let end = (at + size).min(best.len());
            if let (Some(before), Some(after)) = (best.get(..at), best.get(end..)) {
                let smaller = format!("{before}{after}");
                if still(&smaller) {
                    best = smaller;
                    continue;
                }
            }
            at += size;
        }
        size /= 2;
    }
    best
}

#[test]
fn bash_and_the_parser_agree_on_random_texts() {
    if !bash_is_here() {
        return;
    }
    let cases = number("SAYSO_SYNTAX_CASES", 600);
    let seed = number("SAYSO_SEED", 1);
    let (mut only_we, mut only_bash, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for case in 0..cases {
        let text = generate::text(&mut Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(case)), 3, false);
        let kind = |text: &str| compare(text).map(|found| std::mem::discriminant(&found));
        let Some(found) = compare(&text) else { continue };
        let wanted = Some(std::mem::discriminant(&found));
        let small = shrink(&text, |smaller| kind(smaller) == wanted);
        match compare(&small).unwrap_or(found) {
            Disagreement::OnlyWe(why) => only_we.push(format!("{small:?}: {why}")),
            Disagreement::OnlyBash(why) => only_bash.push(format!("{small:?}: {why}")),
            Disagreement::Commands(why) => commands.push(format!("{small:?}: {why}")),
        }
    }
    println!(
        "{cases} texts: {} taken only by us, {} only by bash, {} with other commands",
        only_we.len(),
        only_bash.len(),
        commands.len()
    );
    for (title, list) in [("only we", &only_we), ("only bash", &only_bash), ("commands", &commands)] {
        list.iter().for_each(|line| println!("  {title}: {line}"));
    }
    assert!(commands.is_empty(), "the readings differ");
    let most = usize::try_from(cases / 200).unwrap();
    assert!(only_we.len() <= most && only_bash.len() <= most, "too many disagreements");
}
