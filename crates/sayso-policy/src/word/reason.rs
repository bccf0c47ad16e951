//! Why: a stable code, a sentence, the layer that spoke and the place of its rule.

use serde::Serialize;
use std::borrow::Cow;

/// Where an opinion comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Sayso itself.
    BuiltIn,
    /// The managed file.
    Managed,
    /// The user's file.
    User,
    /// The project's file.
    Project,
    /// A file named on the command line, or a foreign format.
    Given,
    /// A preset, and the file that extends it.
    Preset(Cow<'static, str>),
    /// A layer of `[tools]`: `provider:openai`, `agent:coder`, `team:a/alice`, `subagent`.
    Tools(String),
    /// A person's remembered answer.
    Grant,
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::Managed => f.write_str("managed"),
            Self::User => f.write_str("user"),
            Self::Project => f.write_str("project"),
            Self::Given => f.write_str("given"),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::Tools(name) => write!(f, "tools {name}"),
            Self::Grant => f.write_str("grant"),
        }
    }
}

/// Place of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// File as shown to people.
    pub file: std::sync::Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a verdict is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reason {
    /// Stable, kebab-case; a rule's own `id`, or one of Sayso's own (`sayso explain` lists them).
    pub code: Cow<'static, str>,
    /// A sentence.
    pub text: String,
    /// Who said it: `built-in`, `managed`, `user`, `project`, `given`, `grant`, or a preset or layer of tools by its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub layer: Layer,
    /// File, line and column of the rule, if a rule spoke.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required))]
    pub source: Option<Source>,
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = serializer.serialize_struct("Reason", 4)?;
        out.serialize_field("code", &self.code)?;
        out.serialize_field("text", &self.text)?;
        out.serialize_field("layer", &self.layer.to_string())?;
        out.serialize_field("source", &self.source.as_ref().map(ToString::to_string))?;
        out.end()
    }
}

/// A reason code of Sayso's own, for `sayso explain CODE` and the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code.
    pub code: &'static str,
    /// What it means, in a sentence.
    pub title: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

/// Looks a code up.
#[must_use]
pub fn code_info(code: &str) -> Option<&'static CodeInfo> {
    REASON_CODES.iter().find(|info| info.code == code)
}

/// Every code that Sayso itself can give. Unique by a test; the reference in the docs is made from this table.
pub const REASON_CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "carried",
        title: "An allow of the program or tool covers this plain effect of its operands.",
        advice: "Write a rule of the effect's own verb if you want another answer for it.",
    },
    CodeInfo {
        code: "default",
        title: "No rule spoke of this effect, so `default` did.",
        advice: "Add a rule for it, or change `default`.",
    },
    CodeInfo {
        code: "foreign-rule",
        title: "A rule of another system's file decided.",
        advice: "The source names the place in that file; `sayso import` turns it into a policy of Sayso's own.",
    },
    CodeInfo {
        code: "foreign-default",
        title: "No rule of another system's file spoke, so that file's own default did.",
        advice: "Change that file's default, or add a rule to it.",
    },
    CodeInfo {
        code: "mode",
        title: "A file's mode lets everything pass.",
        advice: "Set `mode.run` to `enforce` when you are done watching.",
    },
    CodeInfo {
        code: "halted",
        title: "The mode is `halt`: everything is denied.",
        advice: "An operator sets `mode.run` back to `enforce`.",
    },
    CodeInfo {
        code: "opaque",
        title: "Not everything that the call would do can be seen.",
        advice: "Write the command plainly, in parts, without values that are only known when it runs.",
    },
    CodeInfo {
        code: "too-many-files",
        title: "There are more files here than Sayso looks at for one call.",
        advice: "Name a folder further down, or fewer patterns.",
    },
    CodeInfo {
        code: "code",
        title: "Code of a programming language would run, and nobody can see through it.",
        advice: "Put it into a file that can be read, or allow it with a pattern that names it, such as `python3 -c`.",
    },
    CodeInfo {
        code: "leaves-sandbox",
        title: "The command is to run outside the agent's sandbox; a yes to the command is no yes to that.",
        advice: "Run it inside the sandbox, or let a person decide.",
    },
    CodeInfo {
        code: "unseen-input",
        title: "The program takes commands from whoever types into it, and what this agent types later is not seen.",
        advice: "Give the program its commands as arguments, in a file or in a here-document.",
    },
    CodeInfo {
        code: "unknown-tool",
        title: "Nobody knows what this tool does.",
        advice: "Allow the tool by its name if you trust it.",
    },
    CodeInfo {
        code: "unclear-arguments",
        title: "The arguments of the tool are not what it takes, so what it would do is not known.",
        advice: "Call the tool with arguments of the right names and types.",
    },
    CodeInfo {
        code: "secret",
        title: "The file is one of `@secrets`; a wide allow does not cover it.",
        advice: "Work from an example file, or allow this path by its own name.",
    },
    CodeInfo {
        code: "guarded-file",
        title: "The file later runs or steers something, or is a part of git's own store; a wide allow does not cover it.",
        advice: "Allow this path by its own name if it is meant to be changed.",
    },
    CodeInfo {
        code: "link-local",
        title: "The address is link-local: clouds hand out credentials there.",
        advice: "Allow this host by its own name if it must be reached.",
    },
    CodeInfo {
        code: "sayso-itself",
        title: "The call would read, change or reach what is Sayso's. Nothing lifts this.",
        advice: "An operator does this at a terminal.",
    },
    CodeInfo {
        code: "operator-command",
        title: "The command is for a person at a terminal.",
        advice: "An operator runs it.",
    },
    CodeInfo {
        code: "wipes-everything",
        title: "The call would remove the whole system or a home folder. Nothing lifts this.",
        advice: "Name the folders that are meant.",
    },
    CodeInfo {
        code: "raw-device",
        title: "A raw write to a device destroys what is on it. Nothing lifts this.",
        advice: "Write to a file.",
    },
    CodeInfo {
        code: "fork-bomb",
        title: "A function starts itself without end. Nothing lifts this.",
        advice: "Do not run it.",
    },
    CodeInfo {
        code: "tool-hidden",
        title: "A layer of `[tools]` hides this tool.",
        advice: "Take it off `hide` in the layer that is named, if it is yours to change.",
    },
    CodeInfo {
        code: "tool-not-listed",
        title: "A layer of `[tools]` names the tools that are there, and this is none of them.",
        advice: "Add it to `also` in the layer that is named.",
    },
    CodeInfo {
        code: "parameter-pattern",
        title: "A parameter of the call matches a pattern of `[patterns]`.",
        advice: "Change the parameter, or the pattern.",
    },
    CodeInfo {
        code: "limit",
        title: "A limit of the session, run, agent, tenant or day is reached.",
        advice: "Wait, raise the limit, or start anew.",
    },
    CodeInfo {
        code: "limit-unknown",
        title: "How much of something limited the call would use is not known beforehand.",
        advice: "Name the files or hosts that are meant, so that they can be counted.",
    },
    CodeInfo {
        code: "refused-before",
        title: "A person said no to this for good.",
        advice: "`sayso grants` lists and revokes remembered answers.",
    },
    CodeInfo {
        code: "granted",
        title: "A person said yes to this before.",
        advice: "`sayso grants` lists and revokes remembered answers.",
    },
    CodeInfo {
        code: "internal-error",
        title: "Sayso itself failed, and what fails is not allowed.",
        advice: "Report it with the record's id.",
    },
    CodeInfo {
        code: "policy-refused",
        title: "A policy file has errors or could have been written by others, and nothing can stand in for it.",
        advice: "Put the file right; `sayso lint` shows where. Until then nothing that it may speak of runs unasked.",
    },
    CodeInfo {
        code: "policy-unreadable",
        title: "The compiled policy was damaged while it was in use, and its text could not be compiled again.",
        advice: "Look at the policy files with `sayso lint`; the next call compiles them anew.",
    },
    CodeInfo {
        code: "last-good-policy",
        title: "A policy file has errors, or is gone from behind a link; its last good version is in force.",
        advice: "Put the file right; `sayso lint` shows where. For a link: put back what it leads to, or remove it if there should be no file.",
    },
    CodeInfo {
        code: "untrusted-project",
        title: "The project's policy file is not trusted: only its asks and denies count.",
        advice: "Read it, then `sayso trust` if its allows should count too.",
    },
    CodeInfo {
        code: "trust-outdated",
        title: "The project's policy file changed or is gone since it was trusted; the trusted version stays in force.",
        advice: "Look at the change, then `sayso trust`.",
    },
    CodeInfo {
        code: "record-failed",
        title: "The decision could not be recorded, so the call does not run.",
        advice: "See to the disk and to Sayso's own folder, `~/.local/state/sayso`.",
    },
    CodeInfo {
        code: "unanswered",
        title: "A person should decide, and nobody can be asked.",
        advice: "Allow it in the policy, or run the agent where it can ask you.",
    },
    CodeInfo {
        code: "approved",
        title: "The people who were asked said yes to this very call.",
        advice: "`sayso approvals show` tells who they are.",
    },
    CodeInfo {
        code: "denied-by-person",
        title: "A person who was asked said no.",
        advice: "Reach the goal another way, or talk to them.",
    },
    CodeInfo {
        code: "approval-void",
        title: "People said yes, but a file, PATH or the policy has changed since: it is not the call they saw.",
        advice: "Try again: they are asked about the call as it is now.",
    },
    CodeInfo {
        code: "not-in-record",
        title: "A yes that the store keeps is not in the record as it is kept, so it does not count.",
        advice: "Somebody may have written to the store's file: `sayso log verify`, and look at what runs as you.",
    },
    CodeInfo {
        code: "record-gap",
        title: "Records are missing from the chain since this yes was given, so it does not count.",
        advice: "Answer anew, which counts from then on. `sayso log verify` names what is missing; look at what runs as you.",
    },
    CodeInfo {
        code: "budget-restored",
        title: "What was used of a budget was deleted or lowered in the store; what the record says was used counts.",
        advice: "Somebody may have written to the store's file: `sayso log verify`, and look at what runs as you.",
    },
    CodeInfo {
        code: "store-replaced",
        title: "The store's file was deleted, moved or replaced while Sayso was writing to it, so nothing is allowed.",
        advice: "Find out what did it, put the file back if you can, and restart `sayso serve`.",
    },
    CodeInfo {
        code: "too-many-pending",
        title: "Too many questions of this session wait for an answer already.",
        advice: "Have them answered with `sayso approvals`, or let them expire.",
    },
    CodeInfo {
        code: "store-failed",
        title: "What must be remembered for this call cannot be read or written, so the call does not run.",
        advice: "`sayso store check` says what is wrong with Sayso's own folder, `~/.local/state/sayso`.",
    },
    CodeInfo {
        code: "break-glass",
        title: "An operator broke the glass: only audit and integrity remain for a while.",
        advice: "`sayso mode` shows who did it, why and until when; `sayso mode enforce` ends it.",
    },
    CodeInfo {
        code: "operator-mode",
        title: "An operator switched the mode for a while.",
        advice: "`sayso mode` shows who did it, why and until when.",
    },
    CodeInfo {
        code: "call-malformed",
        title: "What the agent sent cannot be read as a call.",
        advice: "The agent may be newer than this Sayso: update Sayso, or report the bug.",
    },
    CodeInfo {
        code: "mcp-changed-tool",
        title: "An MCP server describes the tool differently than when it was accepted.",
        advice: "Look at the change with `sayso mcp pins show`, then `sayso mcp pins accept`.",
    },
    CodeInfo {
        code: "mcp-new-tool",
        title: "A known MCP server has a tool that it did not have when it was first seen.",
        advice: "Read it with `sayso mcp pins show`; if it is harmless, `sayso mcp pins accept`.",
    },
    CodeInfo {
        code: "mcp-hidden-characters",
        title: "The definition of an MCP tool holds characters that nobody sees.",
        advice: "Read it with `sayso mcp pins show`; if it is harmless, `sayso mcp pins accept`.",
    },
    CodeInfo {
        code: "mcp-instructions",
        title: "The definition of an MCP tool speaks to the model instead of describing the tool.",
        advice: "Read it with `sayso mcp pins show`; if it is harmless, `sayso mcp pins accept`.",
    },
    CodeInfo {
        code: "mcp-imitation",
        title: "The name of an MCP tool looks like that of another one.",
        advice: "Look at both with `sayso mcp pins list`; if it is meant, `sayso mcp pins accept`.",
    },
    CodeInfo {
        code: "mcp-unlisted-tool",
        title: "An MCP server was asked for a tool that it does not list.",
        advice: "Use a tool of its list. A tool that is missing there may have been hidden by the policy.",
    },
    CodeInfo {
        code: "mcp-arguments",
        title: "The arguments do not fit the MCP tool's own schema.",
        advice: "Put the arguments right; the message names each problem.",
    },
    CodeInfo {
        code: "mcp-schema-unusable",
        title: "The schema of an MCP tool cannot be checked safely, so its calls ask.",
        advice: "Ask the server's makers for a plain schema without remote or endless references.",
    },
    CodeInfo {
        code: "mcp-result-too-large",
        title: "An MCP server's result was larger than the gateway passes on.",
        advice: "Ask for less, or raise `--max-result`.",
    },
    CodeInfo {
        code: "mcp-server-gone",
        title: "The MCP server stopped, could not be started or could not be reached.",
        advice: "See its own messages on standard error; it is started again at the next call, within limits.",
    },
    CodeInfo {
        code: "mcp-timeout",
        title: "The MCP server gave no answer in time.",
        advice: "Try again, or raise `--timeout`.",
    },
    CodeInfo {
        code: "redirect",
        title: "Output is redirected into a file, which no allow of a program covers.",
        advice: "Allow the path with a `write` rule.",
    },
    CodeInfo {
        code: "environment",
        title: "A variable set for the command changes what runs.",
        advice: "Leave it out, or name it with `when.env`.",
    },
    CodeInfo {
        code: "unknown-option",
        title: "Sayso does not know this option of the program.",
        advice: "Name the option in the pattern if it is harmless.",
    },
    CodeInfo {
        code: "unknown-subcommand",
        title: "Sayso does not know this subcommand of the program.",
        advice: "Name the subcommand in the pattern if it is harmless.",
    },
    CodeInfo {
        code: "dynamic-option",
        title: "A word whose value is not known may be an option that matters.",
        advice: "Write the value out, or put `--` before it.",
    },
    CodeInfo {
        code: "writes-file",
        title: "An option writes a file though the program is one that reads.",
        advice: "Allow the path with a `write` rule, or name the option in the pattern.",
    },
    CodeInfo {
        code: "runs-command",
        title: "An option starts a program.",
        advice: "Name the option in the pattern if it is meant.",
    },
    CodeInfo {
        code: "runs-code",
        title: "Code of a file would run: a script, a plugin, a configuration that is code.",
        advice: "Name it in a pattern if it is meant.",
    },
    CodeInfo {
        code: "inline-code",
        title: "Code stands in the command itself.",
        advice: "Put it into a file that can be read, or name the option in the pattern (`python3 -c`).",
    },
    CodeInfo {
        code: "changes-repository",
        title: "Refs, index, stash, configuration or work tree of a repository change.",
        advice: "Name the subcommand or option in the pattern.",
    },
    CodeInfo {
        code: "changes-settings",
        title: "Settings of a program, a user or a project change.",
        advice: "Name the subcommand or option in the pattern.",
    },
    CodeInfo {
        code: "changes-files",
        title: "Files are changed though the program's plain form reads.",
        advice: "Name the option in the pattern (`sed -i`).",
    },
    CodeInfo {
        code: "changes-service",
        title: "State at a service is changed.",
        advice: "Name the subcommand in the pattern.",
    },
    CodeInfo {
        code: "changes-system",
        title: "The machine changes: services, users, disks, kernel.",
        advice: "Name the subcommand in the pattern.",
    },
    CodeInfo {
        code: "installs",
        title: "Code is fetched and installed.",
        advice: "Name the subcommand in the pattern (`npm install`).",
    },
    CodeInfo {
        code: "publishes",
        title: "Something leaves for a registry or forge where others see it.",
        advice: "Name the subcommand in the pattern.",
    },
    CodeInfo { code: "serves", title: "A server is started.", advice: "Name the subcommand or option in the pattern." },
    CodeInfo { code: "signals", title: "Processes are signalled.", advice: "Name the program in the pattern." },
    CodeInfo {
        code: "shows-secrets",
        title: "Secrets, or the whole environment, are shown.",
        advice: "Ask for the one value that is needed.",
    },
    CodeInfo {
        code: "secret-variable",
        title: "The value of a variable whose name says that it holds a secret is used.",
        advice: "Ask only whether it is set, or allow the program with `when = { env = \"NAME\" }`.",
    },
    CodeInfo {
        code: "runs-elsewhere",
        title: "Another computer runs something.",
        advice: "Name the program in the pattern.",
    },
    CodeInfo {
        code: "unclear-script",
        title: "A script in the command is not understood.",
        advice: "Write it more plainly.",
    },
    CodeInfo {
        code: "other-host",
        title: "An option makes a program talk to another host than the one it is set up for.",
        advice: "Allow the host with a `connect` rule, or name the option in the pattern.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_kebab_case() {
        for (at, info) in REASON_CODES.iter().enumerate() {
            assert!(REASON_CODES.iter().skip(at + 1).all(|other| other.code != info.code), "{}", info.code);
            assert!(info.code.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", info.code);
        }
    }

    #[test]
    fn every_code_of_the_shell_has_a_row() {
        for code in sayso_shell::program::Code::ALL {
            assert!(code_info(code.as_str()).is_some(), "{}", code.as_str());
        }
    }
}
