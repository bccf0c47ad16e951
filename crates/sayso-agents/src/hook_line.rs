//! The words that `install` registers, read without building a whole command line first: an agent waits for this at
//! every call.

use crate::{Agent, HookSetting, hook_process};
use sayso_gate::{Home, Places};
use sayso_policy::Stated;
use sayso_policy::shell::dialect::Shells;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// A hook as `install` registers it.
#[derive(Debug, PartialEq, Eq)]
struct HookLine {
    agent: Agent,
    home: Option<PathBuf>,
    shells: Option<Shells>,
    wait: Option<Duration>,
    stated: Option<Stated>,
}

/// Runs the hook that these words name: an agent and the options that `install` writes. `None` if they are anything
/// else, which only the whole command line can explain.
pub fn hook_line(words: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let HookLine { agent, home, shells, wait, stated } = parse(words)?;
    Some(hook_process(agent, || {
        let home = home.as_deref().map_or(Home::Environment, Home::At);
        let places = Places::find(home).map_err(|error| error.to_string())?;
        let mut setting = HookSetting::new(agent, places, None);
        (setting.shells, setting.wait) = (shells, wait);
        setting.stated = stated.unwrap_or_default();
        Ok(setting)
    }))
}

fn parse(mut words: impl Iterator<Item = OsString>) -> Option<HookLine> {
    let agent = words.next()?.to_str()?.parse().ok()?;
    let mut line = HookLine { agent, home: None, shells: None, wait: None, stated: None };
    while let Some(word) = words.next() {
        match word.to_str()? {
            "--home" if line.home.is_none() => line.home = Some(words.next()?.into()),
            "--shell" if line.shells.is_none() => line.shells = Some(Shells::named(words.next()?.to_str()?)?),
            "--wait" if line.wait.is_none() => {
                line.wait = Some(Duration::from_secs(words.next()?.to_str()?.parse().ok()?));
            }
            "--as" if line.stated.is_none() => line.stated = Some(words.next()?.to_str()?.parse().ok()?),
            _ => return None,
        }
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Option<HookLine> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn what_install_registers_is_read() {
        let line = parsed(&["claude-code", "--home", "/home/x", "--shell", "zsh", "--wait", "600"]).unwrap();
        let wait = Some(Duration::from_secs(600));
        let (home, shells) = (Some("/home/x".into()), Shells::named("zsh"));
        assert_eq!(line, HookLine { agent: Agent::CLAUDE_CODE, home, shells, wait, stated: None });
        let bare = parsed(&["codex"]).unwrap();
        assert_eq!(bare, HookLine { agent: Agent::CODEX, home: None, shells: None, wait: None, stated: None });
    }

    #[test]
    fn anything_else_goes_the_long_way() {
        for words in [
            &["--help"][..],
            &["claude-code", "--help"],
            &["claude-code", "--home"],
            &["claude-code", "--home", "/a", "--home", "/b"],
            &[],
            &["no-such-agent"],
            &["claude-code", "x"],
            &["claude-code", "--wait", "soon"],
            &["claude-code", "--shell", "fish"],
            &["claude-code", "--policy", "preset:ci"],
        ] {
            assert!(parsed(words).is_none(), "{words:?}");
        }
    }
}
