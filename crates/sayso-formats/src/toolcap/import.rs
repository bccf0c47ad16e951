//! Rules that name commands as lists of `run`. The language knows no order: of two rules that overlap the stricter wins.

use super::OUTCOMES;
use crate::Error;
use crate::document::Node;
use crate::import::Draft;
use sayso_policy::Outcome;

pub(crate) fn import(root: &Node<'_>, draft: &mut Draft) -> Result<(), Error> {
    draft.essential(&[]);
    draft.default_is("ask", "no rule: Unknown");
    let mut allowed = false;
    for node in root.get("rules")?.map(|node| node.items()).transpose()?.unwrap_or_default() {
        let Some(matcher) = node.get("match")? else { continue };
        let outcome = node.word_at("outcome", OUTCOMES)?.unwrap_or(Outcome::Unknown);
        let mut patterns = Vec::new();
        let said = commands(&matcher, &mut patterns)?;
        let origin = node.source().to_string();
        match outcome {
            Outcome::Allow => {
                allowed = true;
                if !said {
                    draft.lose(format!("what the rule at {origin} allows is asked about here"));
                    continue;
                }
                patterns.iter().for_each(|pattern| draft.list("allow", "run", pattern, &origin));
            }
            Outcome::Deny | Outcome::Unknown => {
                if allowed {
                    draft.lose(format!("the rule at {origin} comes after an allow; here the stricter of the two wins"));
                }
                let table = if outcome == Outcome::Deny { "deny" } else { "ask" };
                if said {
                    patterns.iter().for_each(|pattern| draft.list(table, "run", pattern, &origin));
                } else {
                    draft.lose(format!("the rule at {origin} cannot be expressed; everything is {table} here"));
                    draft.everything(table, &origin);
                }
            }
        }
    }
    Ok(())
}

/// The `run` patterns that say the same as a matcher; false if there are none.
fn commands(node: &Node<'_>, found: &mut Vec<String>) -> Result<bool, Error> {
    let keys: Vec<&str> = node.entries()?.iter().map(|(key, _)| *key).collect();
    if keys == ["or"] {
        for inner in node.get("or")?.map(|node| node.items()).transpose()?.unwrap_or_default() {
            if !commands(&inner, found)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let known = ["command", "subcommand", "subcommands", "flag", "flags", "piped_to_shell"];
    let Some(program) = node.get("command")?.filter(|_| keys.iter().all(|key| known.contains(key))) else {
        return Ok(false);
    };
    let program = program.text()?.value;
    let list = |keys: [&str; 2]| -> Result<Vec<String>, Error> {
        let mut texts = node.texts_at(keys[0])?.unwrap_or_default();
        texts.extend(node.texts_at(keys[1])?.unwrap_or_default());
        Ok(texts.into_iter().map(|text| text.value).collect())
    };
    let flags = list(["flag", "flags"])?;
    let words = list(["subcommand", "subcommands"])?;
    let is_word = |text: &String| {
        !text.is_empty()
            && !text.starts_with("re:")
            && !text.contains(|c: char| c.is_whitespace() || "|{}@!,".contains(c))
    };
    let plain = is_word(&program)
        && !program.starts_with('-')
        && flags.iter().all(|flag| is_word(flag) && flag.starts_with('-') && flag.len() > 1 && flag != "--");
    if !plain
        || !words.iter().all(|word| word.split(' ').all(|word| is_word(&word.to_owned()) && !word.starts_with('-')))
    {
        return Ok(false);
    }
    let pipe = if node.flag_at("piped_to_shell", false)? { " | @shells" } else { "" };
    let flags: String = flags.iter().map(|flag| format!(" {flag}")).collect();
    if words.is_empty() {
        found.push(format!("{program}{flags}{pipe}"));
    }
    found.extend(words.iter().map(|word| format!("{program} {word}{flags}{pipe}")));
    Ok(true)
}
