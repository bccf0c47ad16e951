//! Commands from lists of shapes with places to fill: `«value»` is filled with one of the shapes of values, which have
//! places themselves. The lists are text files, so that a new trick is a few words in one of them.

use crate::generate::Dice;
use crate::jail::Shell;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A command that sets state and uses it.
pub(crate) fn evil(dice: &mut Dice, shell: Shell) -> String {
    lists(shell).fill(dice, "«command»")
}

/// A command as agents write them, with a few values in it.
pub(crate) fn real(dice: &mut Dice, shell: Shell) -> String {
    lists(shell).fill(dice, "«real»")
}

/// One of these commands, as it is or with state before it, a value in it, or a use after it.
pub(crate) fn changed(dice: &mut Dice, shell: Shell, commands: &[String]) -> String {
    let command = &commands[dice.roll(commands.len())];
    let lists = lists(shell);
    match dice.roll(6) {
        0 | 1 => command.clone(),
        2 => format!("{}; {command}", lists.fill(dice, "«state»")),
        3 => format!("{command}\n{}", lists.fill(dice, "«use»")),
        _ => {
            let words: Vec<&str> = command.split(' ').collect();
            let at = dice.roll(words.len());
            let value = lists.fill(dice, "«value»");
            let changed: Vec<&str> =
                words.iter().enumerate().map(|(n, word)| if n == at { value.as_str() } else { *word }).collect();
            changed.join(" ")
        }
    }
}

fn lists(shell: Shell) -> &'static Lists {
    static LISTS: OnceLock<HashMap<Shell, Lists>> = OnceLock::new();
    let all = LISTS.get_or_init(|| {
        Shell::ALL
            .into_iter()
            .map(|shell| {
                let own = match shell {
                    Shell::Bash => include_str!("bash.txt"),
                    Shell::Zsh => include_str!("zsh.txt"),
                    Shell::Dash => include_str!("dash.txt"),
                };
                (shell, Lists::read(&[include_str!("any.txt"), include_str!("real.txt"), own]))
            })
            .collect()
    });
    &all[&shell]
}

/// Shapes by the name of their list.
struct Lists(HashMap<&'static str, Vec<&'static str>>);

impl Lists {
    /// A list of a later text takes the place of one of the same name before it.
    fn read(texts: &[&'static str]) -> Self {
        let mut lists: HashMap<&str, Vec<&str>> = HashMap::new();
        for text in texts {
            let mut name = "";
            for line in text.lines().filter(|line| !line.starts_with("# ")) {
                if let Some(new) = line
                    .strip_prefix('[')
                    .and_then(|line| line.strip_suffix(']'))
                    .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '0'))
                {
                    name = new;
                    lists.insert(name, Vec::new());
                } else {
                    lists.get_mut(name).unwrap().extend(line.split(" ¦ "));
                }
            }
        }
        Self(lists)
    }

    fn fill(&self, dice: &mut Dice, shape: &str) -> String {
        let mut out = String::new();
        self.put(dice, shape, 5, &mut out);
        out
    }

    fn put(&self, dice: &mut Dice, shape: &str, depth: usize, out: &mut String) {
        let mut rest = shape;
        while let Some((before, after)) = rest.split_once('«') {
            out.push_str(&plain(before));
            let (name, after) = after.split_once('»').unwrap();
            rest = after;
            let (name, quoted) = name.strip_prefix('\'').map_or((name, false), |name| (name, true));
            let mut text = String::new();
            let shape = self.one_of(dice, name, depth);
            self.put(dice, shape, depth.saturating_sub(1), &mut text);
            if quoted {
                text = format!("'{}'", text.replace('\'', "'\\''"));
            }
            out.push_str(&text);
        }
        out.push_str(&plain(rest));
    }

    /// At the bottom only what has few places itself: the list of the same name with a 0.
    fn one_of(&self, dice: &mut Dice, name: &str, depth: usize) -> &'static str {
        let bottom = if depth == 0 { self.0.get(format!("{name}0").as_str()) } else { None };
        let list = bottom.or_else(|| self.0.get(name)).unwrap_or_else(|| panic!("no list {name}"));
        list[dice.roll(list.len())]
    }
}

fn plain(text: &str) -> String {
    text.replace('⏎', "\n").replace('∅', "")
}
