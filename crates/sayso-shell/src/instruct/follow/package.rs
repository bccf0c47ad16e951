//! `package.json`, as the tools read it: with every escape, every lifecycle script, and what tools keep in it.

use super::Asked;

/// What stands in a package that is no instruction to any tool.
const DATA: &[&str] = &[
    "name",
    "version",
    "description",
    "keywords",
    "main",
    "module",
    "types",
    "typings",
    "typesVersions",
    "exports",
    "imports",
    "files",
    "browser",
    "author",
    "contributors",
    "maintainers",
    "funding",
    "license",
    "repository",
    "bugs",
    "homepage",
    "engines",
    "os",
    "cpu",
    "publishConfig",
    "sideEffects",
    "private",
    "type",
    "bin",
    "man",
    "directories",
    "unpkg",
    "jsdelivr",
    "source",
    "icon",
    "displayName",
    "packageManager",
    "scripts",
];

/// Scripts that run with others, unasked.
const WITH_OTHERS: &[&str] =
    &["prepare", "prepublish", "prepublishOnly", "prepack", "postpack", "dependencies", "install"];

/// The texts of a package that count for what was asked; `None`: it is not understood.
pub(super) fn texts(text: &str, asked: &Asked<'_>) -> Option<Vec<String>> {
    let all = strings(text)?;
    let of = |top: &'static str| all.iter().filter(move |one| one.top() == top);
    if matches!(asked, Asked::Module) {
        return Some(
            ["main", "module", "exports"].iter().flat_map(|top| of(top)).map(|one| one.value.clone()).collect(),
        );
    }
    let scripts: Vec<(&str, &str)> = of("scripts").map(|one| (one.last(), one.value.as_str())).collect();
    let mut found: Vec<String> = wanted(&scripts, asked).into_iter().map(str::to_owned).collect();
    let is_data = |top: &str| DATA.contains(&top) || top.to_ascii_lowercase().contains("dependencies");
    found.extend(all.iter().filter(|one| !is_data(one.top())).map(|one| one.value.clone()));
    Some(found)
}

/// The scripts that these words run, and those that they run in their turn.
fn wanted<'t>(all: &[(&str, &'t str)], asked: &Asked<'_>) -> Vec<&'t str> {
    let words: &[&str] = match asked {
        Asked::Words(words) => words,
        Asked::All | Asked::Module => &[],
    };
    // `pnpm run /^build/`: a pattern may be any of them.
    let any = words.iter().any(|word| word.contains(['*', '^', '$', '|']))
        || !words.iter().any(|word| all.iter().any(|(name, _)| name == word));
    let plain = |name: &str| name.strip_prefix("pre").or_else(|| name.strip_prefix("post")).unwrap_or(name).to_owned();
    let is_asked = |name: &str| {
        let (plain, also) = (plain(name), |name: &str| WITH_OTHERS.contains(&name));
        any || also(name) || also(&plain) || words.iter().any(|word| *word == name || *word == plain)
    };
    let mut wanted: Vec<usize> =
        all.iter().enumerate().filter(|(_, (name, _))| is_asked(name)).map(|(at, _)| at).collect();
    let mut next = 0;
    while let Some(at) = wanted.get(next).copied() {
        next += 1;
        let Some((_, body)) = all.get(at) else { continue };
        let words: Vec<&str> =
            body.split(|c: char| c.is_whitespace() || "\"';&|*".contains(c)).filter(|word| !word.is_empty()).collect();
        let named = |name: &str| {
            let plain = plain(name);
            words.iter().any(|word| *word == name || *word == plain || word.ends_with(':') && name.starts_with(word))
        };
        for (at, _) in all.iter().enumerate().filter(|(_, (name, _))| named(name)) {
            if !wanted.contains(&at) {
                wanted.push(at);
            }
        }
    }
    wanted.into_iter().filter_map(|at| all.get(at).map(|(_, body)| *body)).collect()
}

/// A string, and the keys that lead to it.
struct Text {
    keys: Vec<String>,
    value: String,
}

impl Text {
    fn top(&self) -> &str {
        self.keys.first().map(String::as_str).unwrap_or_default()
    }

    fn last(&self) -> &str {
        self.keys.last().map(String::as_str).unwrap_or_default()
    }
}

/// How deep objects may lie in each other.
const DEEPEST: usize = 32;

/// Every string of a JSON text, keys of objects included where they lie in another; `None`: it is no such text.
fn strings(text: &str) -> Option<Vec<Text>> {
    let mut found = Vec::new();
    // The key in each object that is open; `None` for a list, and where no key stands yet.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut is_key = Vec::new();
    let mut chars = text.trim_start_matches('\u{feff}').char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        match c {
            '{' | '[' => {
                open.push(None);
                is_key.push(c == '{');
                if open.len() > DEEPEST {
                    return None;
                }
            }
            '}' | ']' => {
                open.pop()?;
                is_key.pop()?;
            }
            ',' => {
                // In an object a key comes next.
                if let (Some(key), Some(object)) = (open.last_mut(), is_key.last_mut())
                    && key.is_some()
                {
                    (*key, *object) = (None, true);
                }
            }
            ':' => *is_key.last_mut()? = false,
            '"' => {
                let string = string(&mut chars)?;
                let keys = open.iter().flatten().cloned().collect();
                match (is_key.last(), open.last_mut()) {
                    (Some(true), Some(key)) => {
                        *key = Some(string.clone());
                        let keys: Vec<String> = keys;
                        // A tool may keep names of files in keys too; the names of scripts are none.
                        if keys.first().is_some_and(|top| top != "scripts") {
                            found.push(Text { keys, value: string });
                        }
                    }
                    _ => found.push(Text { keys, value: string }),
                }
            }
            _ => {}
        }
    }
    open.is_empty().then_some(found)
}

fn string(chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>) -> Option<String> {
    let mut found = String::new();
    loop {
        match chars.next()?.1 {
            '"' => return Some(found),
            '\\' => match chars.next()?.1 {
                'n' | 'r' | 't' | 'b' | 'f' => found.push(' '),
                'u' => {
                    let mut code = 0;
                    for _ in 0..4 {
                        code = code * 16 + chars.next()?.1.to_digit(16)?;
                    }
                    found.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                }
                c => found.push(c),
            },
            c => found.push(c),
        }
    }
}
