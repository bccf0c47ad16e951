//! What can be wrong with a policy file, for `sayso explain CODE` and the reference.

use crate::word::CodeInfo;

const fn code(code: &'static str, title: &'static str, advice: &'static str) -> CodeInfo {
    CodeInfo { code, title, advice }
}

/// Looks up a code of a [`super::Problem`].
#[must_use]
pub fn problem_info(code: &str) -> Option<&'static CodeInfo> {
    PROBLEM_CODES.iter().find(|info| info.code == code)
}

/// Every code of a problem that reading or linting a file can give. Unique by a test.
pub const PROBLEM_CODES: &[CodeInfo] = &[
    code(
        "file-too-long",
        "The file exceeds the size limit for policies.",
        "Use patterns and sets instead of long lists.",
    ),
    code(
        "program-text",
        "A text about programs has a mistake.",
        "docs/programs.md describes the language; the location is the word that is meant.",
    ),
    code("toml-syntax", "The file is not valid TOML.", "The location is where the parser stopped."),
    code("duplicate-key", "A key, table or layer is defined twice.", "Keep one, or merge the two."),
    code("unknown-key", "The key does not exist here.", "See the key reference; the closest match is suggested."),
    code("missing-key", "A required key is missing.", "Add it."),
    code("wrong-type", "The value has the wrong type for the key.", "See the key reference."),
    code("blank", "A string, name or table is empty.", "Remove it, or fill it in."),
    code("blank-list", "A list is empty and would match nothing.", "Remove the key, or add something to the list."),
    code(
        "only-exceptions",
        "A list has only `!` patterns and would match nothing.",
        "Exceptions exclude from what the other patterns match; add those too.",
    ),
    code("unknown-verdict", "The word is not a verdict this key accepts.", "Use one of those listed."),
    code("unknown-verb", "The word is not a verb.", "The verbs are run, read, write, delete, connect and tool."),
    code("unknown-mode", "The word is not a mode.", "The modes are enforce, dry-run, shadow, halt and off."),
    code("unknown-word", "The word is not one this key accepts.", "Use one of those listed."),
    code("unknown-profile", "The tool profile does not exist.", "The profiles are minimal, coding, analysis and full."),
    code(
        "unknown-actor",
        "The text does not identify an actor.",
        "Write provider:NAME, provider:NAME/MODEL, agent:NAME, team:NAME, team:NAME/MEMBER, tenant:NAME or subagent.",
    ),
    code(
        "owner-only",
        "The key says who asks, or whom to believe, and stands in a project's file.",
        "Put it in your own policy file or in the managed one.",
    ),
    code(
        "role-not-stated",
        "An allow, a route or a looser preset is for somebody whom nothing on this machine states.",
        "State it with `install --as` or in [actor], or write trust_roles = true to believe what agents report.",
    ),
    code(
        "unanswered-allow",
        "`unanswered = \"allow\"` would treat silence as approval.",
        "Write \"deny\", and put what may run without approval in [allow].",
    ),
    code("unanswered-ask", "`unanswered = \"ask\"` has nobody left to ask.", "Remove the key."),
    code(
        "past-allows",
        "A rule that allows depends on what the session did before.",
        "`after` and `self_written` stand only in rules that ask or deny.",
    ),
    code(
        "not-a-run",
        "A condition about programs stands in a rule about something else.",
        "Write it in a rule with the verb run.",
    ),
    code("no-verdict", "A rule has no verdict.", "Add one of allow, ask or deny."),
    code("two-verdicts", "A rule has more than one verdict.", "Write two rules."),
    code("no-verb", "A rule has no verb.", "Add one verb and its patterns, as in deny = { run = \"sudo\" }."),
    code("two-verbs", "A rule has more than one verb.", "Write two rules."),
    code("duplicate-id", "Two rules have the same id.", "Ids must be unique; change one of them."),
    code("bad-name", "A name contains characters that are not allowed.", "Use letters, digits and `-`."),
    code(
        "not-an-ask",
        "`approver`, `always` or `held` is set on a rule that does not ask.",
        "Remove them, or make the rule an ask.",
    ),
    code("bad-number", "The number is out of range for the key.", "Use a whole, non-negative number."),
    code("bad-duration", "The text is not a duration.", "Write 90s, 15m, 2h or 1h30m."),
    code("bad-cost", "The text is not an amount of money.", "Write 5.00 USD."),
    code("bad-size", "The text is not a size.", "Write 10MB, or a whole number of bytes."),
    code("bad-rate", "The text is not a rate.", "Write 30/1m."),
    code("too-deep", "Arguments are nested too deeply.", "Match a part of them instead."),
    code("no-tool", "A test has arguments but no tool.", "Add `tool`, or remove `args`."),
    code("two-requests", "A test has both a command and a tool.", "Write two tests."),
    code("bad-pattern", "A pattern is invalid.", "See the section on patterns for its verb."),
    code("unknown-set", "The set does not exist.", "A set is built in, or defined under [set] in the same file."),
    code(
        "wrong-set",
        "The set contains patterns of another kind.",
        "Use a set of commands for run, a set of paths for read, and so on.",
    ),
    code("unknown-preset", "The preset does not exist.", "See the section on presets for the list."),
    code(
        "unknown-rule",
        "`disable` names a rule that none of the file's presets has.",
        "The closest match is suggested.",
    ),
    code(
        "managed-only",
        "This is only allowed in the managed file.",
        "Remove it, or move it to /etc/sayso/policy.toml.",
    ),
    code(
        "unknown-approver",
        "The file has no [approvals] table with this name.",
        "Add one; without it, nobody could answer.",
    ),
    code("example-not-hit", "A rule does not match one of its `hits`.", "Fix the rule or the example."),
    code("example-hit", "A rule matches, or may match, one of its `misses`.", "Fix the rule or the example."),
    code(
        "never-speaks",
        "A stricter pattern in the same file covers this one. (Warning)",
        "Remove one of them, or narrow the stricter one.",
    ),
    code("duplicate-pattern", "The same pattern appears twice. (Warning)", "Remove one of them."),
    code(
        "unknown-tool-name",
        "No tool that Sayso knows has this name, so the rule may never apply.",
        "Check the spelling. A tool of an MCP server is written mcp:SERVER/NAME; for a tool of your own this is only a note.",
    ),
    code("unused-set", "Nothing in the file uses this set. (Warning)", "Sets apply only within their own file."),
    code(
        "unused-approver",
        "No rule uses these approvers. (Warning)",
        "Add `approver` to the rules they should answer.",
    ),
    code(
        "held-nothing",
        "`held` has no effect on this rule: there is no `[hold]`, the rule is not about `run`, or it says `always`. (Warning)",
        "Add a `[hold]` section, or remove `held`.",
    ),
    code(
        "hold-nothing",
        "`[hold]` lifts no question: it names nothing under `run`, and no rule says `held`. (Warning)",
        "Add `run = [\"@builds\", \"@scripts\", \"@code\"]`, or remove the section.",
    ),
    code(
        "hold-write-pattern",
        "A pattern under `hold.write` is not a folder with everything below it, so it lets a held run write nothing. (Warning)",
        "Write a folder and `/**`, as in `./target/**`.",
    ),
    code("built-in-code", "A rule's id is one of Sayso's own codes. (Warning)", "Give the rule a different id."),
    code("hit-and-miss", "An example is both a hit and a miss. (Warning)", "No rule can satisfy both."),
];
