//! Files named on a command line: Sayso's own, or another system's, which carry their format in front of their name.

use crate::{Error, Format, read};
use sayso_policy::PolicyText;
use sayso_policy::foreign::Foreign;

/// The name under which a file of another system is handed on: `wundr:wundr.json`, as `preset:ci` is for a preset.
#[must_use]
pub fn marked(format: Format, file: &str) -> String {
    format!("{}:{file}", format.name())
}

/// Whether a file is another system's: by the format in front of its name, or because Sayso's own are never JSON or
/// YAML. The format, if it is known, and the file's own name.
#[must_use]
pub fn foreign_name(name: &str) -> Option<(Option<Format>, &str)> {
    if let Some((format, file)) = name.split_once(':')
        && let Some(format) = Format::by_name(format)
    {
        return Some((Some(format), file));
    }
    let other = [".json", ".jsonc", ".json5", ".yaml", ".yml", ".rules"].iter().any(|end| name.ends_with(end));
    other.then_some((None, name))
}

/// Parts files of Sayso's own from those of other systems, which are read here.
///
/// # Errors
/// A file of another system cannot be read.
pub fn part(files: &[PolicyText]) -> Result<(Vec<PolicyText>, Vec<Foreign>), Error> {
    let mut own = Vec::new();
    let mut foreign = Vec::new();
    for file in files {
        match foreign_name(&file.name) {
            Some((format, name)) => foreign.push(read(format, name, &file.text)?),
            None => own.push(file.clone()),
        }
    }
    Ok((own, foreign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_file_it_is() {
        assert_eq!(foreign_name("wundr:a.toml"), Some((Some(Format::Wundr), "a.toml")));
        assert_eq!(foreign_name("a.yaml"), Some((None, "a.yaml")));
        assert_eq!(foreign_name(&marked(Format::Toolcap, "t.toml")), Some((Some(Format::Toolcap), "t.toml")));
        for own in ["policy.toml", "preset:ci", "odd:name.toml"] {
            assert_eq!(foreign_name(own), None, "{own}");
        }
    }
}
