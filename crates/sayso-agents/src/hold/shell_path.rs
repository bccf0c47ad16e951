//! The shell that reads a rewritten command, as a path that no variable changes.

use sayso_policy::shell::Dialect;
use sayso_policy::shell::dialect::Shells;
use std::path::Path;

/// Where systems keep their shells.
const FOLDERS: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// The first of these shells that is there: the owner's own, where that is one of them. The text was judged as each of
/// them would read it.
pub(super) fn of(shells: Shells) -> Option<String> {
    let own = sayso_gate::login_shell().filter(|path| Path::new(path).is_file());
    shells.iter().find_map(|dialect| match own.as_deref().filter(|path| Dialect::named(path) == Some(dialect)) {
        Some(own) => Some(own.to_owned()),
        None => {
            let name = name(dialect)?;
            FOLDERS.iter().map(|folder| format!("{folder}/{name}")).find(|path| Path::new(path).is_file())
        }
    })
}

/// Of a dialect that many shells share, none is known to be the agent's.
fn name(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Bash => Some("bash"),
        Dialect::Zsh => Some("zsh"),
        Dialect::Sh => Some("sh"),
        Dialect::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_found_outside_of_path() {
        let bash = of(Shells::named("bash").unwrap()).unwrap();
        assert!(bash.starts_with('/') && Dialect::named(&bash) == Some(Dialect::Bash), "{bash}");
        assert!(of(Shells::named("sh").unwrap()).is_some());
    }
}
