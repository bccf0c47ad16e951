//! Questions as people see them. Whatever an agent wrote is made visible.

use crate::command::log::time::shown as time;
use crate::failure::Failure;
use crate::show::paint::Paint;
use crate::show::table::Table;
use sayso_gate::approval::{Approval, Lasts, Preview, Question, Remember, Reply, Standing, Width};
use sayso_gate::audit::export::json_line;
use sayso_policy::Verdict;
use sayso_policy::explain::visible;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Write as _, stderr, stdout};

/// Effects, and files, of one question that are shown.
const SHOWN: usize = 12;
/// Lines of one difference that are shown.
const DIFF_LINES: usize = 40;

/// At most this many of the questions, in a table. How many more there are is said beside it: a program that reads the
/// JSON must not take a part for the whole.
pub(super) fn list(found: &[Approval], most: usize, json: bool) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let left = found.len().saturating_sub(most);
    let found = found.get(..most).unwrap_or(found);
    let more = || format!("... and {left} more. Use --limit 0 to show all, or narrow with --agent or --session.");
    if json {
        for approval in found {
            write!(out, "{}", json_line(approval)?)?;
        }
        if left > 0 {
            writeln!(stderr(), "{}", more())?;
        }
        return Ok(());
    }
    if found.is_empty() {
        writeln!(out, "Nothing is pending.")?;
        return Ok(());
    }
    let mut table = Table::new(["id", "status", "for", "from", "what", "expires"]);
    for approval in found {
        let question = &approval.question;
        table.row([
            question.id.clone(),
            in_words(approval.standing).to_owned(),
            visible(&addressees(question)).into_owned(),
            visible(question.actor.agent.as_deref().unwrap_or(&question.way_in)).into_owned(),
            visible(&short(question)).into_owned(),
            time(question.expires_ms),
        ]);
    }
    write!(out, "{}", table.draw(Paint::for_stdout()))?;
    if left > 0 {
        writeln!(out, "\n{}", more())?;
    }
    Ok(())
}

/// Some questions, a line each, to choose from.
pub(super) fn candidates(found: &[Approval]) -> String {
    let one = |approval: &Approval| {
        let question = &approval.question;
        let agent = question.actor.agent.as_deref().unwrap_or(&question.way_in);
        let line = format!("{}  {}  {agent}  {}", question.id, in_words(approval.standing), one_line(&short(question)));
        format!("  {}\n", visible(&line))
    };
    let mut lines: String = found.iter().take(SHOWN).map(one).collect();
    if found.len() > SHOWN {
        lines.push_str(&format!("  ... and {} more\n", found.len() - SHOWN));
    }
    lines
}

fn addressees(question: &Question) -> String {
    let one = |to: &Option<sayso_policy::Approvers>| match to {
        None => "anybody".to_owned(),
        Some(to) if to.need > 1 => format!("{} of {}", to.need, to.name),
        Some(to) => to.name.clone(),
    };
    question.addressees.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// The command or call on one line, cut.
fn short(question: &Question) -> String {
    let arguments = || question.arguments.as_ref().map(ToString::to_string).unwrap_or_default();
    if let Some(plan) = &question.plan {
        return crate::command::plan::short_of(&plan.steps);
    }
    let what = question.command.clone().unwrap_or_else(|| format!("{} {}", question.tool, arguments()));
    let short: String = what.chars().take(80).collect();
    if short.len() < what.len() { format!("{short}…") } else { short }
}

/// Everything about one question.
pub(super) fn whole(approval: &Approval, previews: &[(Width, Preview)]) -> String {
    let question = &approval.question;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        for (at, part) in value.lines().enumerate() {
            let _ = writeln!(text, "{:<10}{}", if at == 0 { name } else { "" }, visible(part));
        }
    };
    line("question", &question.id);
    line("status", &standing(approval));
    let agent = question.actor.agent.as_deref();
    line("agent", agent.unwrap_or(&question.way_in));
    if agent.is_some() && question.actor.is_claimed() {
        line("", "(unverified: it came without a token)");
    }
    line("tool", &question.tool);
    if let Some(command) = &question.command {
        line("command", command);
    }
    if let Some(held) = &question.held {
        line("run", &one_line(&held.command));
        line("", lasts(held.lasts));
    }
    if let Some(plan) = &question.plan {
        line("plan", &crate::command::plan::steps_of(&plan.steps));
    }
    if let Some(risk) = question.risk.as_ref().filter(|risk| risk.score > 0) {
        line("risk", &crate::show::risk::line(risk));
    }
    if question.parts() > 0 {
        tried(question).iter().for_each(|(name, value)| line(name, value));
    } else if let Some(arguments) = others(question) {
        line("arguments", &arguments);
    }
    for (name, value) in question.env.iter().filter_map(Value::as_object).flatten() {
        line("with", &format!("{name}={}", value.as_str().unwrap_or_default()));
    }
    if question.left_out {
        line("left out", "The call is too long to store in full: the missing part cannot be viewed anywhere.");
    }
    line("folder", question.cwd.as_deref().unwrap_or("unknown"));
    for reason in question.reasons.iter().take(4) {
        line("because", &format!("{} [{}]", reason.text, reason.code));
    }
    let asked = || question.effects.iter().filter(|effect| effect.verdict == Verdict::Ask);
    for effect in asked().take(SHOWN) {
        line("would", &format!("{} {}", format!("{:?}", effect.verb).to_lowercase(), effect.target));
    }
    for file in question.files.iter().take(SHOWN) {
        line("runs", &file.path.display().to_string());
    }
    if question.more_effects > 0 {
        line("would", &format!("... and {} more effects that were not stored", question.more_effects));
    }
    for (name, count) in [("would", asked().count()), ("runs", question.files.len())] {
        if count > SHOWN {
            line(name, &format!("... and {} more, not shown here", count - SHOWN));
        }
    }
    line("for", &addressees(question));
    line("until", &time(question.expires_ms));
    for given in &approval.answers {
        line("said", &format!("{} {} at {} ({})", given.person, given.reply.verdict, time(given.time_ms), given.via));
    }
    if let Some(why) = &question.only_once {
        line("width", &format!("none: an approval applies once, because {why}"));
    }
    for offer in &question.offers {
        line("width", &format!("{}: {}", offer.width.as_str(), offer.words));
        for (_, preview) in previews.iter().filter(|(width, _)| *width == offer.width) {
            let what = format!(
                "would also have allowed {} of the last {} calls that asked",
                preview.would_pass, preview.looked_at
            );
            line("", &what);
            preview.examples.iter().for_each(|example| line("", &format!("  {}", one_line(example))));
        }
    }
    text
}

/// How long a plain yes to what a held run wants lasts.
const fn lasts(lasts: Lasts) -> &'static str {
    match lasts {
        Lasts::Run => "It waits. If you allow this, it goes on, and may do this until the run ends.",
        Lasts::Session => "Something in the session waits. An approval lasts until the session's hold ends.",
        Lasts::Next => "It has failed. If you allow this, the next run of the session may do this, once.",
        Lasts::Changes => {
            "It has ended. If you allow this while it waits, the changes below are made; else when it makes the same ones again."
        }
    }
}

/// The changes of a tried run, numbered from 1. A name with line breaks in it stays in its line.
fn tried(question: &Question) -> Vec<(String, String)> {
    let arguments = question.arguments.as_ref();
    let member = |name: &str| arguments.and_then(|it| it.get(name)).and_then(Value::as_array).cloned();
    let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(|it| it.replace('\n', "\\n"));
    let mut lines = Vec::new();
    for (number, change) in (1_usize..).zip(member("changes").unwrap_or_default()) {
        let mut said =
            format!("{} {}", text(&change, "change").unwrap_or_default(), text(&change, "path").unwrap_or_default());
        for (word, name) in [("from", "from"), ("to", "target"), ("contents:", "contents"), ("mode", "mode")] {
            said.push_str(&text(&change, name).map(|it| format!(", {word} {it}")).unwrap_or_default());
        }
        if let Some(bytes) = change.get("bytes").and_then(Value::as_u64) {
            said.push_str(&format!(", {bytes} bytes"));
        }
        lines.push((number.to_string(), said));
        let diff = change.get("diff").and_then(Value::as_str).unwrap_or_default();
        lines.extend(diff.lines().take(DIFF_LINES).map(|line| (String::new(), format!("  {line}"))));
        let more = diff.lines().count().saturating_sub(DIFF_LINES);
        lines.extend((more > 0).then(|| (String::new(), format!("  ... and {more} more lines; see the web page"))));
    }
    lines.extend(
        member("hosts")
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
            .map(|host| ("host".to_owned(), host.replace('\n', "\\n"))),
    );
    lines
}

/// The arguments beside the command. An agent would have a tool asked about that takes an argument `command` and does
/// something else by another one: whoever answers sees all of them.
fn others(question: &Question) -> Option<String> {
    let arguments = question.arguments.as_ref()?;
    let alone = || {
        let command = arguments.as_object().filter(|all| all.len() == 1).and_then(|all| all.get("command"));
        question.command.is_some() && command.is_some_and(Value::is_string)
    };
    (!alone()).then(|| arguments.to_string())
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ").chars().take(120).collect()
}

/// How a question stands, in a sentence.
pub(super) fn standing(approval: &Approval) -> String {
    let why = approval.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let used = if approval.used_ms.is_some() { ", and used" } else { "" };
    match approval.standing {
        Standing::Pending if !approval.answers.is_empty() => "pending: needs more approvals".to_owned(),
        standing => format!("{}{why}{used}", in_words(standing)),
    }
}

/// How it ended, so that silence never reads like a no.
const fn in_words(standing: Standing) -> &'static str {
    match standing {
        Standing::Pending => "pending",
        Standing::Approved => "approved",
        Standing::Denied => "denied by a person",
        Standing::Expired => "expired, nobody answered",
        Standing::Cancelled => "cancelled, nobody answered",
    }
}

/// What an answer will do.
pub(super) fn about_to(question: &Question, reply: &Reply) -> String {
    let verb = if reply.verdict == Verdict::Allow { "Allow" } else { "Deny" };
    let offer = question.offers.iter().find(|offer| offer.width == reply.width);
    let what = offer.map_or("exactly this call", |offer| offer.words.as_str());
    let text = match reply.remember {
        Remember::Once if reply.parts.is_some() => {
            let count = reply.parts.as_ref().map_or(0, Vec::len);
            format!("{verb} {count} of the {} changes; the others are thrown away.", question.parts())
        }
        Remember::Once => format!("{verb} this call, once."),
        Remember::Session => format!("{verb} for the rest of the session: {what}"),
        Remember::Always => format!("{verb} in this workspace until revoked: {what}"),
    };
    visible(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(arguments: &Value, effects: usize) -> String {
        let effect = json!({"verb": "write", "target": "/x", "verdict": "ask", "opinions": []});
        let approval = json!({
            "id": "q", "asked_ms": 0, "expires_ms": 1, "digest": "", "exact": "", "files": [], "policy": "",
            "actor": sayso_policy::Actor::default(), "way_in": "test", "tool": "mcp:shell/run", "command": "ls",
            "arguments": arguments, "reasons": [], "effects": vec![effect; effects], "addressees": [null],
            "offers": [], "standing": "pending", "answers": [],
        });
        whole(&serde_json::from_value(approval).unwrap(), &[])
    }

    #[test]
    fn an_argument_called_command_hides_no_other() {
        assert!(!shown(&json!({"command": "ls"}), 1).contains("arguments"));
        for hidden in
            [json!({"command": "ls", "script": "hidden"}), json!("{\"command\": \"ls\", \"script\": \"hidden")]
        {
            let text = shown(&hidden, 1);
            assert!(text.contains("command   ls") && text.contains("hidden"), "{text}");
        }
    }

    #[test]
    fn what_is_left_out_is_counted() {
        assert!(!shown(&json!({"command": "ls"}), SHOWN).contains("more"));
        assert!(shown(&json!({"command": "ls"}), SHOWN + 3).contains("... and 3 more"));
    }
}
