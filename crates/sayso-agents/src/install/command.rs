//! The command line that is registered: this program, as agents start it.

use super::{Scope, Setting};
use crate::Agent;
use sayso_gate::registered::PROGRAMS;
use serde_json::Value;
use std::path::Path;

/// How long an agent waits for an answer about a call, in seconds: a person may be asked meanwhile. The hook itself
/// answers well before.
pub(crate) const CALL_SECONDS: u32 = 600;
/// How long it waits where nothing is decided.
pub(crate) const NOTE_SECONDS: u32 = 30;
/// How long the hook may wait for a person, in seconds: it must have answered before anybody ends it.
const WAIT_SECONDS: u32 = CALL_SECONDS - 2 * MARGIN;
/// So much earlier Sayso is ended from outside if it hangs, where an agent would let the call run instead.
const MARGIN: u32 = 5;

/// What is registered, as words.
pub(crate) struct HookCommand<'a> {
    program: &'a str,
    agent: Agent,
    home: &'a str,
    shell: Option<&'a str>,
    stated: Option<&'a str>,
    limiter: Option<&'a str>,
    policy: &'a [String],
}

impl<'a> HookCommand<'a> {
    pub(crate) fn new(agent: Agent, setting: &'a Setting) -> Result<Self, String> {
        if !setting.program.is_absolute() {
            return Err(format!("{} is not an absolute path", setting.program.display()));
        }
        let program = setting.program.to_str().ok_or("Sayso's own path is not UTF-8")?;
        // The home folder is written down here, so that no later change of the environment leads to another policy.
        // Managed settings are for every user: `~` is each one's own by the user database.
        let home = match setting.scope {
            Scope::Managed => "~",
            Scope::User | Scope::Project => {
                setting.places.home.to_str().ok_or("the home folder's path is not UTF-8")?
            }
        };
        let limiter = setting.limiter.as_deref().and_then(Path::to_str);
        let policy = setting.policy.iter().map(|word| Some(word.as_str()));
        let words = [Some(program), Some(home), limiter].into_iter().chain(policy);
        if words.flatten().any(|word| word.contains(char::is_control)) {
            return Err("the path of Sayso or of the home folder has control characters".to_owned());
        }
        let shell = setting.shell.as_deref();
        let (stated, policy) = (setting.stated.as_deref(), setting.policy.as_slice());
        Ok(Self { program, agent, home, shell, stated, limiter, policy })
    }

    pub(crate) fn program(&self) -> &'a str {
        self.program
    }

    /// What follows the program, where an agent waits so many seconds.
    pub(crate) fn arguments(&self, seconds: u32) -> Vec<String> {
        let mut words: Vec<String> = ["hook", self.agent.name(), "--home", self.home].map(ToOwned::to_owned).into();
        if let Some(shell) = self.shell {
            words.extend(["--shell".to_owned(), shell.to_owned()]);
        }
        if let Some(stated) = self.stated {
            words.extend(["--as".to_owned(), stated.to_owned()]);
        }
        words.extend(self.policy.iter().cloned());
        if seconds == CALL_SECONDS {
            words.extend(["--wait".to_owned(), WAIT_SECONDS.to_string()]);
        }
        words
    }

    /// Program and arguments, with a limiter before them where there is one: for agents that start a program without
    /// a shell and run the call when it is late.
    pub(crate) fn limited(&self, seconds: u32) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(limiter) = self.limiter {
            words.extend([limiter.to_owned(), "-s".to_owned(), "KILL".to_owned(), limit(seconds)]);
        }
        words.push(self.program.to_owned());
        words.extend(self.arguments(seconds));
        words
    }

    /// A line for a shell in which every failure of Sayso is exit code 2 with a reason: the agents that run such lines
    /// take that for a block, and any other failure for leave to go on.
    pub(crate) fn guarded_line(&self, seconds: u32) -> String {
        let words: Vec<String> = self.limited(seconds).iter().map(|word| quoted(word)).collect();
        let fallback = "Sayso did not answer, so the call is blocked. Run: sayso doctor";
        format!("{} || {{ [ $? = 2 ] || echo '{fallback}' >&2; exit 2; }}", words.join(" "))
    }
}

fn limit(seconds: u32) -> String {
    seconds.saturating_sub(MARGIN).max(1).to_string()
}

/// A word as a POSIX shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '=' | ':' | '@' | ',');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The words of a registered handler, whichever form it has.
fn words_of(handler: &Value) -> Vec<String> {
    let text = |key: &str| handler.get(key).and_then(Value::as_str);
    let Some(command) = text("command").or_else(|| text("exec")).or_else(|| text("bash")) else { return Vec::new() };
    match handler.get("args").and_then(Value::as_array) {
        Some(args) => {
            let args = args.iter().filter_map(Value::as_str);
            std::iter::once(command).chain(args).map(ToOwned::to_owned).collect()
        }
        None => shell_words(command),
    }
}

/// The words of a line of ours: blanks part them, single and double quotes hold them together.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut escaped = false;
    for c in line.chars() {
        match (quote, c) {
            _ if escaped => {
                word.get_or_insert_default().push(c);
                escaped = false;
            }
            (None | Some('"'), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A handler of Sayso's: what it starts, and where that stands among its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ours {
    /// The program that is registered.
    pub(crate) program: String,
    /// The home folder that is registered with it.
    pub(crate) home: Option<String>,
    /// The agent's shell that is registered with it.
    pub(crate) shell: Option<String>,
    /// Who asks, as it is registered with it.
    pub(crate) stated: Option<String>,
    /// Policy files that are registered with it, as options and their values.
    pub(crate) policy: Vec<String>,
}

/// The options that name policy files.
const OF_POLICY: [&str; 2] = ["--policy", "--policy-format"];

impl Ours {
    /// A program with its arguments.
    pub(crate) fn of(program: String, arguments: &[String]) -> Self {
        let after = |name: &str| {
            let at = arguments.iter().position(|word| word == name)?;
            arguments.get(at + 1).cloned()
        };
        let pairs =
            arguments.windows(2).filter(|two| two.first().is_some_and(|word| OF_POLICY.contains(&word.as_str())));
        let policy = pairs.flatten().cloned().collect();
        Self { program, home: after("--home"), shell: after("--shell"), stated: after("--as"), policy }
    }
}

/// Registered by `install`, or by hand in the same words.
pub(crate) fn ours(handler: &Value, agent: Agent) -> Option<Ours> {
    let words = words_of(handler);
    let is_sayso =
        |program: &str| Path::new(program).file_name().is_some_and(|name| PROGRAMS.iter().any(|known| name == *known));
    let at = words.windows(3).position(|three| match three {
        [program, hook, name] => is_sayso(program) && hook == "hook" && name == agent.name(),
        _ => false,
    })?;
    let (program, arguments) = words.get(at..)?.split_first()?;
    Some(Ours::of(program.clone(), arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_form_of_a_handler_is_recognised() {
        let found = |handler: Value| ours(&handler, Agent::CODEX).map(|ours| ours.program);
        let yes = Some("/opt/my apps/sayso".to_owned());
        assert_eq!(found(json!({"command": "'/opt/my apps/sayso' hook codex --home '/home/x y' || exit 2"})), yes);
        assert_eq!(found(json!({"command": "/usr/bin/timeout -s KILL 9 \"/opt/my apps/sayso\" hook codex"})), yes);
        assert_eq!(found(json!({"exec": "/opt/my apps/sayso", "args": ["hook", "codex"]})), yes);
        assert_eq!(found(json!({"bash": "sayso hook codex"})), Some("sayso".to_owned()));
        assert_eq!(found(json!({"bash": "/b/sayso-hook hook codex"})), Some("/b/sayso-hook".to_owned()));
        for other in [
            json!({"command": "sayso hook gemini"}),
            json!({"command": "echo sayso hooks codex"}),
            json!({"command": "/bin/other hook codex"}),
            json!({"command": 7, "args": "x"}),
            json!(null),
        ] {
            assert_eq!(found(other.clone()), None, "{other}");
        }
        let home =
            ours(&json!({"command": "'/a/sayso' hook codex --home '/home/it'\\''s'"}), Agent::CODEX).unwrap().home;
        assert_eq!(home.as_deref(), Some("/home/it's"));
    }

    proptest::proptest! {
        #[test]
        fn what_is_quoted_is_read_back(word in "[^\\p{Cc}]{0,20}") {
            proptest::prop_assert_eq!(shell_words(&format!("a {} b", quoted(&word))), vec!["a".to_owned(), word.clone(), "b".to_owned()]);
            let said = std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(&word))).output().unwrap();
            proptest::prop_assert_eq!(said.stdout, word.as_bytes());
        }
    }
}
