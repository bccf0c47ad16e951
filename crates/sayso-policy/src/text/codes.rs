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
    code("file-too-long", "The file is longer than a policy may be.", "Use patterns and sets instead of long lists."),
    code("toml-syntax", "The text is not TOML.", "The place is where the parser stopped understanding."),
    code("duplicate-key", "A key, a table or a layer is given twice.", "Keep one, or merge the two."),
    code("unknown-key", "There is no such key here.", "See the reference of keys; the nearest one is suggested."),
    code("missing-key", "A key that must be there is missing.", "Add it."),
    code("wrong-type", "The value has another type than the key holds.", "See the reference of keys."),
    code("blank", "A string, a name or a table says nothing.", "Take it out, or write what is meant."),
    code("blank-list", "A list holds nothing and would match nothing.", "Take the key out, or name something."),
    code(
        "only-exceptions",
        "A list holds only `!` patterns and would match nothing.",
        "Exceptions take away from the list's other patterns; name those too.",
    ),
    code("unknown-verdict", "The word is not a verdict that this key takes.", "Use one of those named."),
    code("unknown-verb", "The word is not a verb.", "The verbs are run, read, write, delete, connect and tool."),
    code("unknown-mode", "The word is not a mode.", "The modes are enforce, dry-run, shadow, halt and off."),
    code(
        "unknown-profile",
        "There is no such profile of tools.",
        "The profiles are minimal, coding, analysis and full.",
    ),
    code(
        "unknown-actor",
        "The text does not say who is meant.",
        "Write provider:NAME, provider:NAME/MODEL, agent:NAME, team:NAME, team:NAME/MEMBER, tenant:NAME or subagent.",
    ),
    code(
        "unanswered-allow",
        "`unanswered = \"allow\"` would make silence a yes.",
        "Write \"deny\", and move what needs no person to [allow].",
    ),
    code("unanswered-ask", "`unanswered = \"ask\"` has nobody left to ask.", "Take the key out."),
    code("no-verdict", "A rule has no verdict.", "Give one of allow, ask and deny."),
    code("two-verdicts", "A rule has more than one verdict.", "Write two rules."),
    code("no-verb", "A rule has no verb.", "Give one verb and its patterns, as in deny = { run = \"sudo\" }."),
    code("two-verbs", "A rule has more than one verb.", "Write two rules."),
    code("duplicate-id", "Two rules have one id.", "An id names one rule; change one of them."),
    code("bad-name", "A name holds characters that it may not.", "Use letters, digits and `-`."),
    code(
        "not-an-ask",
        "`approver` and `always` stand on a rule that does not ask.",
        "Take them out, or make it an ask.",
    ),
    code("bad-number", "The number is not one that the key can hold.", "It must be whole and not negative."),
    code("bad-duration", "The text is not a duration.", "Write 90s, 15m, 2h or 1h30m."),
    code("bad-cost", "The text is not an amount of money.", "Write 5.00 USD."),
    code("bad-size", "The text is not a size.", "Write 10MB, or a whole number of bytes."),
    code("bad-rate", "The text is not a rate.", "Write 30/1m."),
    code("too-deep", "Arguments are nested deeper than can be followed.", "Match a part of them instead."),
    code("no-tool", "A test has arguments but no tool.", "Give `tool`, or take `args` out."),
    code("two-requests", "A test has a command and a tool.", "Write two tests."),
    code("bad-pattern", "A pattern cannot be read.", "See the section on patterns of its verb."),
    code("unknown-set", "There is no set of this name.", "A set is built in, or stands under [set] of the same file."),
    code(
        "wrong-set",
        "The set holds patterns of another kind.",
        "Use a set of commands for run, of paths for read, and so on.",
    ),
    code("unknown-preset", "There is no preset of this name.", "The presets are listed in the section on presets."),
    code("unknown-rule", "`disable` names a rule that no preset of the file has.", "The nearest name is suggested."),
    code("managed-only", "Only the managed file may say this.", "Take it out, or move it to /etc/sayso/policy.toml."),
    code("unknown-approver", "No [approvals] of the file has this name.", "Nobody could answer; add it."),
    code("example-not-hit", "A rule does not match one of its `hits`.", "Correct the rule, or the example."),
    code("example-hit", "A rule matches, or may match, one of its `misses`.", "Correct the rule, or the example."),
    code(
        "never-speaks",
        "A stricter pattern of the same file covers this one. (Warning)",
        "Take one of them out, or make the stricter one narrower.",
    ),
    code("duplicate-pattern", "The same pattern stands there twice. (Warning)", "Take one of them out."),
    code("unused-set", "Nothing in the file uses this set. (Warning)", "Sets count for their own file alone."),
    code("unused-approver", "No rule names these people. (Warning)", "Add approver to the rules that they answer."),
    code("built-in-code", "A rule's id is a code of Sayso's own. (Warning)", "Give the rule a name of its own."),
    code("hit-and-miss", "One example is both a hit and a miss. (Warning)", "No rule can satisfy both."),
];
