//! `agent:coder`, `provider:openai/gpt-4`, `team:a/alice`, `tenant:acme`, `subagent`.

use crate::text::file::{Spanned, Text, Who};
use crate::text::nearest;
use crate::text::read::Reader;
use crate::word::ProviderKey;

const KINDS: [&str; 4] = ["provider", "agent", "team", "tenant"];

/// Reads whom something is for, or complains.
pub(super) fn who(reader: &mut Reader, text: &Text) -> Option<Spanned<Who>> {
    let who = parse(&text.value);
    if who.is_none() {
        let kind = text.value.split(':').next().unwrap_or_default().trim();
        let suggestion = match nearest(kind, KINDS.into_iter().chain(["subagent"])) {
            Some("subagent") => "write `subagent`".to_owned(),
            Some(near) => format!("write `{near}:NAME`"),
            None => "one of: provider:NAME, provider:NAME/MODEL, agent:NAME, team:NAME, team:NAME/MEMBER, tenant:NAME, subagent".to_owned(),
        };
        reader.advise("unknown-actor", text.span.clone(), format!("`{}` names nobody", text.value), suggestion);
    }
    who.map(|who| Spanned::new(who, text.span.clone()))
}

fn parse(text: &str) -> Option<Who> {
    let text = text.trim();
    if text == "subagent" {
        return Some(Who::Subagent);
    }
    let (kind, name) = text.split_once(':')?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    match kind.trim() {
        // `provider:openai/` names a model that is blank: a typing error, not the provider.
        "provider" => ProviderKey::parse(name).filter(|_| !name.ends_with('/')).map(Who::Provider),
        "agent" => Some(Who::Agent(name.to_owned())),
        "tenant" => Some(Who::Tenant(name.to_owned())),
        "team" => match name.split_once('/') {
            None => Some(Who::Team { team: name.to_owned(), member: None }),
            Some((team, member)) => {
                let (team, member) = (team.trim(), member.trim());
                let complete = !team.is_empty() && !member.is_empty();
                complete.then(|| Who::Team { team: team.to_owned(), member: Some(member.to_owned()) })
            }
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_a_layer_is_for_is_read_and_shown_alike() {
        for text in [
            "provider:openai",
            "provider:openai/gpt-4",
            "agent:coder",
            "team:a",
            "team:a/alice",
            "tenant:t",
            "subagent",
        ] {
            assert_eq!(parse(text).map(|who| who.to_string()).as_deref(), Some(text));
        }
        assert_eq!(parse(" provider: OpenAI / GPT-4 ").unwrap().to_string(), "provider:openai/gpt-4");
        for bad in ["", "agent", "agent:", "agent: ", "provider:/gpt", "provider:openai/", "team:a/", "team:/x", "x:y"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
