//! The shells that may run a text, where it is not certain which of them does.

use super::Dialect;
use crate::Environment;

const ALL: [Dialect; 4] = [Dialect::Bash, Dialect::Zsh, Dialect::Sh, Dialect::Other];

/// One or more dialects. What they read differently is judged by the strictest reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shells(u8);

impl Default for Shells {
    fn default() -> Self {
        Self::only(Dialect::Bash)
    }
}

impl Shells {
    /// Certainly this one.
    #[must_use]
    pub const fn only(dialect: Dialect) -> Self {
        Self(1 << dialect as u8)
    }

    /// Perhaps this one, too.
    #[must_use]
    pub const fn or(self, dialect: Dialect) -> Self {
        Self(self.0 | 1 << dialect as u8)
    }

    /// Names with commas between them: `zsh`, `bash,zsh`. `None` if one of them is no shell whose language is known.
    #[must_use]
    pub fn named(list: &str) -> Option<Self> {
        let mut shells = Self(0);
        for name in list.split(',') {
            shells = shells.or(Dialect::named(name)?);
        }
        Some(shells)
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Dialect> {
        ALL.into_iter().filter(move |dialect| self.0 & Self::only(*dialect).0 != 0)
    }
}

/// An environment in which these shells read commands.
#[derive(Clone, Copy, Debug)]
pub struct InShell<E> {
    /// The variables.
    pub env: E,
    /// The shells.
    pub shells: Shells,
}

impl<E: Environment> Environment for InShell<E> {
    fn get(&self, name: &str) -> Option<String> {
        self.env.get(name)
    }

    fn given(&self) -> &[(String, String)] {
        self.env.given()
    }

    fn claimed_homes(&self) -> &[std::path::PathBuf] {
        self.env.claimed_homes()
    }

    fn known(&self, name: &str) -> Option<String> {
        self.env.known(name)
    }

    fn shells(&self) -> Shells {
        self.shells
    }

    fn programs(&self) -> &crate::program::Catalogue {
        self.env.programs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_shells_is_read_by_their_names() {
        let read = |list: &str| Shells::named(list).map(|shells| shells.iter().collect::<Vec<_>>());
        assert_eq!(read("zsh"), Some(vec![Dialect::Zsh]));
        assert_eq!(read("zsh,/bin/bash"), Some(vec![Dialect::Bash, Dialect::Zsh]));
        assert_eq!(read("dash,sh"), Some(vec![Dialect::Sh]));
        assert_eq!(read("fish"), None);
        assert_eq!(read("bash,"), None);
        assert_eq!(read(""), None);
    }
}
