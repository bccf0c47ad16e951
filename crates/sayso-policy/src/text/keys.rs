//! Every key of the language, once.
//!
//! The parser takes from here which keys a table may hold, the JSON Schema and the reference what they mean. A test
//! holds the parser to it: it must ask for each key that stands here, and for no other.

/// What a key holds.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A string.
    Text,
    /// A string, or a list of at least one.
    Texts,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of at least one of these words.
    Words(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A whole number, not negative.
    Count,
    /// `15m`.
    Duration,
    /// `5.00 USD`.
    Cost,
    /// `10MB`, or a whole number.
    Bytes,
    /// `30/1m`.
    Rate,
    /// A table with these keys.
    Table(&'static Table),
    /// A list of tables with these keys.
    Tables(&'static Table),
    /// A table whose keys the owner chooses, with values of this shape.
    Named(&'static Shape),
    /// One of these shapes.
    Either(&'static [Shape]),
    /// A table of anything: arguments of a tool call.
    Arguments,
    /// Argument patterns, by path: nested tables that end in texts.
    ArgumentPatterns,
    /// Examples: texts and tables of arguments.
    Examples,
}

/// A key, what it holds and what it means.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// The reference's text. Markdown, begins in lower case as the rest of a table row.
    pub(crate) about: &'static str,
}

/// A table and its keys.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name in the schema and in the reference.
    pub(crate) name: &'static str,
    /// How messages call it.
    pub(crate) title: &'static str,
    pub(crate) keys: &'static [Key],
    /// Keys that must be there.
    pub(crate) required: &'static [&'static str],
}

const fn key(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, shape, about }
}

pub(crate) const VERDICTS: &[&str] = &["allow", "ask", "deny"];
const VERBS: &[&str] = &["run", "read", "write", "delete", "connect", "tool"];
const PROFILES: &[&str] = &["minimal", "coding", "analysis", "full"];
const MODES: &[&str] = &["enforce", "dry-run", "shadow", "halt", "off"];
const ANSWERS: &[&str] = &["allow", "ask", "deny", "dry-run"];

pub(crate) const FILE: Table = Table {
    name: "file",
    title: "a policy file",
    keys: &[
        key("extends", Shape::Texts, "presets whose rules serve as this file's defaults"),
        key("disable", Shape::Texts, "ids of preset rules to switch off"),
        key(
            "default",
            Shape::Either(&[Shape::Word(VERDICTS), Shape::Table(&DEFAULTS)]),
            "the verdict where no rule applies; may be a table by verb",
        ),
        key(
            "unanswered",
            Shape::Word(&["deny"]),
            "the verdict where nobody can be asked or nobody answers in time; if absent, the agent's own prompt where it has one, otherwise deny",
        ),
        key("enforce", Shape::Texts, "presets that apply as decisions rather than defaults (managed file only)"),
        key("closed", Shape::Words(VERBS), "verbs for which allows in lower files are ignored (managed file only)"),
        key("allow", Shape::Table(&LISTS), "what may run without asking"),
        key("ask", Shape::Table(&LISTS), "what a person decides"),
        key("deny", Shape::Table(&LISTS), "what must not run"),
        key("rule", Shape::Tables(&RULE), "rules with conditions, reasons, approvers and examples"),
        key("set", Shape::Named(&Shape::Texts), "named sets of patterns, used as `@name` in this file"),
        key("tools", Shape::Table(&TOOLS), "which tools are available at all"),
        key(
            "patterns",
            Shape::Named(&Shape::Either(&[Shape::Texts, Shape::Table(&PATTERNS)])),
            "regular expressions on a tool's parameters, by tool name",
        ),
        key("limits", Shape::Table(&LIMITS), "budgets"),
        key("approvals", Shape::Named(&Shape::Table(&APPROVAL)), "who answers, by the name used in `approver`"),
        key(
            "actor",
            Shape::Table(&ACTOR),
            "who asks, for calls that come in on this machine (your own or the managed file)",
        ),
        key(
            "trust_roles",
            Shape::Flag,
            "`true`: what an agent reports of its kind and its model counts as if you had stated it (your own or the managed file)",
        ),
        key(
            "for",
            Shape::Named(&Shape::Table(&ROLE)),
            "other presets for `\"agent:NAME\"`, `\"provider:NAME\"`, `\"team:NAME\"`, `\"tenant:NAME\"`, `subagent`",
        ),
        key("models", Shape::Table(&MODELS), "which models agents may use, and which one they are routed to"),
        key("hold", Shape::Table(&HOLD), "what may run unasked while the kernel holds it to the policy"),
        key("plan", Shape::Table(&PLAN), "whose calls need an approved plan, and how long its approval lasts"),
        key("risk", Shape::Table(&RISK), "the risk score above which a call asks"),
        key("mode", Shape::Table(&MODE), "whether verdicts are enforced"),
        key("test", Shape::Tables(&TEST), "test cases that `sayso test` runs against the whole policy"),
    ],
    required: &[],
};

pub(crate) const DEFAULTS: Table = Table {
    name: "defaults",
    title: "`default`",
    keys: &[
        key("run", Shape::Word(VERDICTS), "starting a program"),
        key("read", Shape::Word(VERDICTS), "reading a path"),
        key("write", Shape::Word(VERDICTS), "creating or changing a path"),
        key("delete", Shape::Word(VERDICTS), "deleting a path"),
        key("connect", Shape::Word(VERDICTS), "connecting to a host"),
        key("tool", Shape::Word(VERDICTS), "calling a tool whose effects are unknown"),
    ],
    required: &[],
};

pub(crate) const LISTS: Table = Table {
    name: "lists",
    title: "a list of patterns by verb",
    keys: &[
        key("run", Shape::Texts, "programs: `git push --force`, `/usr/bin/make`, `curl | @shells`"),
        key("read", Shape::Texts, "paths to read"),
        key("write", Shape::Texts, "paths to create or change"),
        key("delete", Shape::Texts, "paths to delete"),
        key("connect", Shape::Texts, "hosts: `example.org`, `*.example.org`, `example.org:443`"),
        key("tool", Shape::Texts, "tools: `file_write`, `mcp:github/get_*`"),
    ],
    required: &[],
};

pub(crate) const RULE: Table = Table {
    name: "rule",
    title: "a `[[rule]]`",
    keys: &[
        key("id", Shape::Text, "its name, used as its reason code and in `disable`"),
        key("allow", Shape::Table(&LISTS), "one verb and the patterns to allow"),
        key("ask", Shape::Table(&LISTS), "one verb and the patterns to ask about"),
        key("deny", Shape::Table(&LISTS), "one verb and the patterns to deny"),
        key("when", Shape::Table(&WHEN), "conditions, all of which must hold"),
        key("approver", Shape::Text, "who decides: a name from `[approvals]`"),
        key("because", Shape::Text, "the explanation shown to the agent and the approver"),
        key("always", Shape::Flag, "`true`: a saved answer never applies; always ask"),
        key(
            "held",
            Shape::Word(&["allow"]),
            "`\"allow\"`: allowed without asking where the run is held; needs `[hold]`",
        ),
        key("hits", Shape::Examples, "examples that the rule must match, checked when the file is loaded"),
        key("misses", Shape::Examples, "examples that the rule must not match"),
    ],
    required: &[],
};

pub(crate) const WHEN: Table = Table {
    name: "when",
    title: "`when`",
    keys: &[
        key("arg", Shape::ArgumentPatterns, "patterns on the call's arguments, by path: `arg.repo = \"prod-*\"`"),
        key("within", Shape::Texts, "folders that must contain the working directory and every path the command names"),
        key(
            "for",
            Shape::Texts,
            "who asks: `agent:coder`, `provider:openai/gpt-4`, `team:a/alice`, `tenant:t`, `subagent`",
        ),
        key("flag", Shape::Texts, "flags of the command, in any spelling; any one matches"),
        key("env", Shape::Texts, "variables set by the command or passed with the call; any one matches"),
        key("operand", Shape::Texts, "operands of the command; any one matches"),
        key("piped_to", Shape::Texts, "programs later in the same pipe"),
        key("host", Shape::Texts, "hosts: the command connects somewhere, and every host it connects to matches"),
        key("stdin_only", Shape::Flag, "`true`: the command names no files and reads only standard input"),
        key(
            "build_output",
            Shape::Flag,
            "`true`: the command deletes something, and only build output that git ignores",
        ),
        key(
            "after",
            Shape::Table(&AFTER),
            "what an earlier call of the session, or this one, did: `after.read = \"@secrets\"` (ask and deny only)",
        ),
        key(
            "self_written",
            Shape::Flag,
            "`true`: this session or call wrote a file that the command goes by, such as the Makefile of `make`, and nobody has approved that content since (ask and deny only)",
        ),
    ],
    required: &[],
};

pub(crate) const AFTER: Table = Table {
    name: "after",
    title: "`when.after`",
    keys: &[
        key("run", Shape::Texts, "programs that were started"),
        key("read", Shape::Texts, "paths that were read"),
        key("write", Shape::Texts, "paths that were created or changed"),
        key("delete", Shape::Texts, "paths that were deleted"),
        key("connect", Shape::Texts, "hosts that were connected to"),
        key("tool", Shape::Texts, "tools that were called"),
    ],
    required: &[],
};

pub(crate) const TOOLS: Table = Table {
    name: "tools",
    title: "`[tools]`",
    keys: &[
        key("profile", Shape::Word(PROFILES), "a named list of tools; other tools are unavailable"),
        key("also", Shape::Texts, "tools added to the profile or to `only`"),
        key("only", Shape::Texts, "the available tools; all others are unavailable"),
        key("hide", Shape::Texts, "tools to make unavailable"),
        key(
            "for",
            Shape::Named(&Shape::Table(&LAYER)),
            "layers for `\"provider:NAME\"`, `\"provider:NAME/MODEL\"`, `\"agent:NAME\"`, `\"team:NAME\"`, `\"team:NAME/MEMBER\"`, `subagent`",
        ),
    ],
    required: &[],
};

pub(crate) const LAYER: Table = Table {
    name: "layer",
    title: "a layer of `[tools.for]`",
    keys: &[
        key("profile", Shape::Word(PROFILES), "a named list of tools; other tools are unavailable"),
        key("also", Shape::Texts, "tools added to the profile or to `only`"),
        key("only", Shape::Texts, "the available tools; all others are unavailable"),
        key("hide", Shape::Texts, "tools to make unavailable"),
    ],
    required: &[],
};

pub(crate) const PATTERNS: Table = Table {
    name: "patterns",
    title: "patterns of a tool",
    keys: &[
        key("deny", Shape::Texts, "regular expressions; a matching parameter denies the call"),
        key("ask", Shape::Texts, "regular expressions; a matching parameter makes the call ask"),
        key("params", Shape::Texts, "the parameters to check; if absent, the relevant ones for the tool, or all"),
    ],
    required: &[],
};

pub(crate) const LIMITS: Table = Table {
    name: "limits",
    title: "`[limits]`",
    keys: &[
        key("session", Shape::Table(&LIMIT), "for each session"),
        key("run", Shape::Table(&LIMIT), "for each run within a session"),
        key("agent", Shape::Table(&LIMIT), "for each agent"),
        key("tenant", Shape::Table(&LIMIT), "for each tenant"),
        key("day", Shape::Table(&LIMIT), "for each day"),
    ],
    required: &[],
};

pub(crate) const LIMIT: Table = Table {
    name: "limit",
    title: "a limit",
    keys: &[
        key("calls", Shape::Count, "calls"),
        key("tokens", Shape::Count, "tokens, input and output together"),
        key("input_tokens", Shape::Count, "input tokens"),
        key("output_tokens", Shape::Count, "output tokens"),
        key("cost", Shape::Cost, "money: `\"5.00 USD\"`"),
        key("wall", Shape::Duration, "time since the start: `\"2h\"`"),
        key(
            "blocked",
            Shape::Either(&[Shape::Count, Shape::Rate]),
            "calls denied by a rule or a person before the session is stopped; `\"3/1h\"`: within a stretch of time",
        ),
        key("deletes", Shape::Count, "paths deleted"),
        key("bytes_written", Shape::Bytes, "bytes written to files: `\"10MB\"`"),
        key("hosts", Shape::Count, "distinct hosts connected to"),
        key("repeats", Shape::Count, "repetitions of the same call, judged by its effects"),
        key("rate", Shape::Rate, "calls per period: `\"30/1m\"`"),
        key("at_limit", Shape::Word(&["ask", "deny"]), "the verdict once the limit is reached; if absent, deny"),
    ],
    required: &[],
};

pub(crate) const APPROVAL: Table = Table {
    name: "approval",
    title: "an approver",
    keys: &[
        key("members", Shape::Texts, "people, or groups as `sso:NAME`"),
        key("need", Shape::Count, "how many of them must approve; if absent, 1"),
        key("expires", Shape::Duration, "how long a call stays pending: `\"15m\"`"),
        key("escalate", Shape::Table(&ESCALATE), "who may answer too once a call has been pending for a time"),
    ],
    required: &["members"],
};

pub(crate) const ESCALATE: Table = Table {
    name: "escalate",
    title: "`escalate`",
    keys: &[
        key("wait", Shape::Duration, "how long the group itself has the call: `\"5m\"`"),
        key("to", Shape::Text, "the group that may answer too: a name from `[approvals]`"),
    ],
    required: &["wait", "to"],
};

pub(crate) const ACTOR: Table = Table {
    name: "actor",
    title: "`[actor]`",
    keys: &[
        key("team", Shape::Text, "the team"),
        key("member", Shape::Text, "the member of that team"),
        key("tenant", Shape::Text, "the tenant"),
    ],
    required: &[],
};

pub(crate) const ROLE: Table = Table {
    name: "role",
    title: "a table of `[for]`",
    keys: &[
        key("extends", Shape::Texts, "presets that are its defaults in place of the file's own `extends`"),
        key("disable", Shape::Texts, "ids of rules of these presets to switch off"),
        key(
            "default",
            Shape::Either(&[Shape::Word(VERDICTS), Shape::Table(&DEFAULTS)]),
            "the verdict where no rule applies; if absent, the file's own",
        ),
    ],
    required: &["extends"],
};

pub(crate) const MODELS: Table = Table {
    name: "models",
    title: "`[models]`",
    keys: &[
        key("only", Shape::Texts, "the models that calls may come from: `anthropic/*`; calls from others ask"),
        key("use", Shape::Text, "the model that `sayso route` names: `google/gemini-2.0-flash`"),
        key(
            "fallback",
            Shape::Text,
            "the model it names once `blocked` is reached; once a session, and the count begins anew",
        ),
        key(
            "for",
            Shape::Named(&Shape::Table(&MODEL_LAYER)),
            "the same for `\"agent:NAME\"`, `\"team:NAME\"`, `subagent`",
        ),
    ],
    required: &[],
};

pub(crate) const MODEL_LAYER: Table = Table {
    name: "model_layer",
    title: "a layer of `[models.for]`",
    keys: &[
        key("only", Shape::Texts, "the models that its calls may come from"),
        key("use", Shape::Text, "the model that `sayso route` names"),
        key("fallback", Shape::Text, "the model it names once `blocked` is reached"),
    ],
    required: &[],
};

pub(crate) const PLAN: Table = Table {
    name: "plan",
    title: "`[plan]`",
    keys: &[
        key(
            "require",
            Shape::Texts,
            "whose calls ask unless they are a step of an approved plan: `\"agent:deployer\"`, `\"team:NAME\"`, `subagent`",
        ),
        key("expires", Shape::Duration, "how long an approved plan may be carried out; if absent, `\"2h\"`"),
    ],
    required: &[],
};

pub(crate) const RISK: Table = Table {
    name: "risk",
    title: "`[risk]`",
    keys: &[key(
        "ask_above",
        Shape::Count,
        "an allowed call with a higher score than this (0 to 99) asks; if absent, scores are only shown",
    )],
    required: &[],
};

pub(crate) const HOLD: Table = Table {
    name: "hold",
    title: "`[hold]`",
    keys: &[
        key(
            "run",
            Shape::Texts,
            "programs that may run without asking if they are held: `@builds`, `@scripts`, `@code`, patterns as in `[allow]`",
        ),
        key("always", Shape::Flag, "`true`: runs of these that a rule or an answer allows are held too"),
        key(
            "need",
            Shape::Word(&["whole", "files"]),
            "how much the machine must hold for a run to go unasked; if absent, `whole`",
        ),
        key(
            "write",
            Shape::Texts,
            "folders that a held run may write, with everything below: `./**`; if absent, those of `allow.write`",
        ),
        key(
            "caches",
            Shape::Word(&["copy", "private", "none"]),
            "the tools' caches: `copy`: changes are kept apart for each workspace; `private`: a separate cache for each; `none`: an empty one for each run; if absent, `copy`",
        ),
        key("connect", Shape::Texts, "hosts that a held run may reach, besides those of `allow.connect`"),
        key("env", Shape::Texts, "variables that look like secrets and that held runs get all the same"),
        key(
            "leave",
            Shape::Word(&["session", "end"]),
            "what becomes of processes a run leaves behind: `session`: they live as long as the session; `end`: they end with the run; if absent, `session`",
        ),
    ],
    required: &[],
};

pub(crate) const MODE: Table = Table {
    name: "mode",
    title: "`[mode]`",
    keys: &[
        key(
            "run",
            Shape::Word(MODES),
            "`enforce`; `dry-run`: nothing runs; `shadow`: calls are judged but not blocked; `halt`: deny everything; `off`: only audit and integrity remain",
        ),
        key(
            "pinned",
            Shape::Flag,
            "`true`: neither a lower file nor an operator can change the mode (managed file only)",
        ),
    ],
    required: &["run"],
};

pub(crate) const TEST: Table = Table {
    name: "test",
    title: "a `[[test]]`",
    keys: &[
        key("command", Shape::Text, "a shell command"),
        key("tool", Shape::Text, "a tool's name"),
        key("args", Shape::Arguments, "the tool's arguments"),
        key("expect", Shape::Word(ANSWERS), "the verdict"),
        key("code", Shape::Text, "a reason code the decision must include"),
        key("because", Shape::Text, "why this case exists"),
        key("cwd", Shape::Text, "the working directory; if absent, the workspace"),
        key("agent", Shape::Text, "who asks"),
        key("provider", Shape::Text, "its provider, or `provider/model`"),
        key("team", Shape::Text, "its team"),
        key("member", Shape::Text, "the member of that team"),
        key("tenant", Shape::Text, "its tenant"),
        key("session", Shape::Text, "its session"),
        key("subagent", Shape::Flag, "`true`: it was started by another agent"),
    ],
    required: &["expect"],
};
