//! The command line. The comments here and in `command/` are the text of `--help`, of the manual page and of the
//! completions.

use crate::command;
use crate::show::paint::Color;
use clap::CommandFactory as _;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::fmt::Write as _;

/// Agents act on your say-so.
///
/// Sayso sits between an AI agent and its tools. It sees every tool call before it runs, works out what the call would
/// actually do, checks that against your policy, asks you where the policy says to, and keeps a record.
#[derive(Debug, clap::Parser)]
#[command(name = "sayso", version, propagate_version = true, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "\
First steps:
  sayso check 'git push --force'     see the decision and the reasons
  sayso init                         create your own policy file
  sayso install claude-code          guard an agent
  sayso serve                        watch decisions as they are made")]
pub(crate) struct Cli {
    /// When to use colours. `CLICOLOR`, `CLICOLOR_FORCE` and `NO_COLOR` are respected too
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true, hide_default_value = true, hide_possible_values = true, help_heading = "Global options")]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One for each file in `command/`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Check(command::check::Check),
    Why(command::why::Why),
    Allow(command::allow::Allow),
    Deny(command::allow::Deny),
    Analyze(command::analyze::Analyze),
    Init(command::init::Init),
    Import(command::import::Import),
    Export(command::export::Export),
    Lint(command::lint::Lint),
    Test(command::test::Test),
    Trust(command::trust::Trust),
    Explain(command::explain::Explain),
    Presets(command::presets::Presets),
    Schema(command::schema::Schema),
    Log(command::log::Log),
    Store(command::store::Store),
    Approvals(command::approvals::Approvals),
    Grants(command::grants::Grants),
    Limits(command::limits::Limits),
    Route(command::route::Route),
    Plan(command::plan::Plan),
    Session(command::session::Session),
    Policy(command::policy::Policy),
    Mode(command::mode::Mode),
    Token(command::token::Token),
    Hook(command::hook::Hook),
    Acp(command::acp::Acp),
    Install(command::install::Install),
    Uninstall(command::uninstall::Uninstall),
    Run(command::run::Run),
    Doctor(command::doctor::Doctor),
    Reconcile(command::reconcile::Reconcile),
    History(command::history::History),
    Mcp(command::mcp::Mcp),
    Serve(command::serve::Serve),
    Completions(command::completions::Completions),
    Man(command::man::Man),
}

/// What commands are for, and which they are. A command that is in no group is listed under the last one.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Judge a call", &["check", "why", "run", "analyze", "plan", "explain"]),
    (
        "Policy",
        &[
            "init", "lint", "test", "policy", "presets", "allow", "deny", "trust", "mode", "import", "export",
            "schema", "bundle",
        ],
    ),
    ("Agents", &["install", "uninstall", "doctor", "history", "reconcile", "hook", "acp", "mcp", "route"]),
    ("People", &["approvals", "grants", "token"]),
    ("Record", &["log", "session", "limits", "store"]),
    ("Server and shell", &["serve", "join", "leave", "completions", "man"]),
];

/// The whole command line, with its commands in groups.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let groups = grouped(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\x1b[1m\x1b[4mOptions:\x1b[0m\n{{options}}{{after-help}}"
    ))
}

fn grouped(command: &clap::Command) -> String {
    let known: Vec<&clap::Command> = command.get_subcommands().filter(|it| !it.is_hide_set()).collect();
    let width = known.iter().map(|it| it.get_name().len()).max().unwrap_or(0);
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut text = String::new();
    for (at, (title, names)) in GROUPS.iter().enumerate() {
        let _ = writeln!(text, "\x1b[1m\x1b[4m{title}:\x1b[0m");
        let listed = names.iter().filter_map(|name| known.iter().find(|it| it.get_name() == *name));
        let others = known.iter().filter(|it| at + 1 == GROUPS.len() && !is_grouped(it.get_name()));
        for it in listed.chain(others) {
            let about = it.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  \x1b[1m{:<width$}\x1b[0m  {}", it.get_name(), first_sentence(&about));
        }
        text.push('\n');
    }
    text
}

/// As much of it as a list has room for.
fn first_sentence(about: &str) -> &str {
    const MOST: usize = 72;
    let about = about.trim_end_matches('.');
    if about.len() <= MOST {
        return about;
    }
    let cut = [". ", ": ", "; "].iter().filter_map(|end| about.find(end)).min();
    cut.and_then(|at| about.get(..at)).unwrap_or(about)
}

/// Commands that take a command of the shell as one word.
const TAKES_A_COMMAND: [&str; 5] = ["check", "why", "allow", "deny", "analyze"];

/// What to do where the options of a command of the shell were taken for Sayso's own.
pub(crate) fn unquoted(kind: ErrorKind, arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let (command, rest) = words.split_first()?;
    let begins = rest.first().is_some_and(|word| !word.starts_with('-'));
    if kind != ErrorKind::UnknownArgument || !begins || !TAKES_A_COMMAND.contains(&command.as_str()) {
        return None;
    }
    let quoted = sayso_policy::explain::visible(&rest.join(" ").replace('\'', "'\\''")).into_owned();
    Some(format!("If that is an option of the command to judge, quote the command: sayso {command} '{quoted}'"))
}

/// The words of a command as one, as a shell would read them again.
pub(crate) fn one_command(words: &[OsString]) -> Option<OsString> {
    match words {
        [] => None,
        [one] => Some(one.clone()),
        many => {
            let mut all = OsString::new();
            for (at, word) in many.iter().enumerate() {
                if at > 0 {
                    all.push(" ");
                }
                all.push(quoted(word));
            }
            Some(all)
        }
    }
}

fn quoted(word: &OsString) -> OsString {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=,@%+".contains(byte);
    if !word.is_empty() && word.as_bytes().iter().all(plain) {
        return word.clone();
    }
    let mut bytes = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => bytes.extend(br"'\''"),
            byte => bytes.push(*byte),
        }
    }
    bytes.push(b'\'');
    OsString::from_vec(bytes)
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a failed slice is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        for it in Cli::command().get_subcommands() {
            let groups = GROUPS.iter().filter(|(_, names)| names.contains(&it.get_name())).count();
            assert_eq!(groups, 1, "{} is in {groups} groups", it.get_name());
        }
        let help = command().render_help().to_string();
        for it in Cli::command().get_subcommands() {
            assert_eq!(help.matches(&format!("\n  {} ", it.get_name())).count(), 1, "{}\n{help}", it.get_name());
        }
        assert!(help.lines().all(|line| line.chars().count() <= 125), "{help}");
    }

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn several_words_are_one_command_as_the_shell_had_split_it() {
        let one = |words: &[&str]| one_command(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(one(&[]), None);
        assert_eq!(one(&["git push; ls"]), Some("git push; ls".into()));
        assert_eq!(one(&["git", "commit", "-m", "it's a; b", ""]), Some(r"git commit -m 'it'\''s a; b' ''".into()));
    }

    /// Every Markdown file of the repository that people read.
    fn documents(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                documents(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }

    /// The words of a command line of an example, up to where another command begins.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
        let mut letters = line.chars();
        while let Some(c) = letters.next() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '\'' | '"') => (quote, begun) = (Some(c), true),
                (Some('"') | None, '\\') => word.extend(letters.next()),
                (None, '|' | ';' | '>' | '<' | '&' | '#') => break,
                (None, ' ') if begun || !word.is_empty() => {
                    words.push(std::mem::take(&mut word));
                    begun = false;
                }
                (None, ' ') => {}
                _ => word.push(c),
            }
        }
        words.extend((begun || !word.is_empty()).then_some(word));
        words
    }

    #[test]
    fn every_command_line_in_the_documents_is_one_that_sayso_takes() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut files = vec![root.join("README.md"), root.join("SECURITY.md"), root.join("CONTRIBUTING.md")];
        documents(&root.join("docs"), &mut files);
        let mut tried = 0;
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap().replace("\\\n", " ");
            let mut language = None;
            for line in text.lines() {
                if let Some(name) = line.strip_prefix("```") {
                    language = if language.is_some() { None } else { Some(name.to_owned()) };
                    continue;
                }
                let shown = match &language {
                    Some(name) if name == "console" => line.strip_prefix("$ "),
                    None => line.strip_prefix("    "),
                    _ => None,
                };
                let Some(command) = shown.and_then(|shown| {
                    Some(&shown[shown.find("sayso ").filter(|at| *at == 0 || shown[..*at].ends_with("| "))?..])
                }) else {
                    continue;
                };
                let words: Vec<String> = words(command);
                // What stands for something that the reader fills in.
                if words.iter().any(|word| word == "..." || word.starts_with('[')) {
                    continue;
                }
                tried += 1;
                if let Err(error) = super::command().try_get_matches_from(&words) {
                    assert_eq!(error.exit_code(), 0, "{}: {line}\n{words:?}\n{error}", file.display());
                }
            }
        }
        assert!(tried >= 40, "only {tried} command lines were found");
    }

    #[test]
    fn an_option_of_the_judged_command_is_answered_with_how_to_quote_it() {
        let said = |words: &[&str]| unquoted(ErrorKind::UnknownArgument, words.iter().map(OsString::from));
        assert!(said(&["check", "git", "push", "--force"]).unwrap().ends_with("sayso check 'git push --force'"));
        assert_eq!(said(&["check", "--forse"]), None);
        assert_eq!(said(&["log", "x", "--forse"]), None);
    }
}
