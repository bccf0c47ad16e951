//! Every reason code of Sayso's own: a row each, with what it means and what to do about it.

/// What `sayso explain CODE` and the reference say about a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code.
    pub code: &'static str,
    /// What it means, in a sentence.
    pub title: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

/// One row for each code: its variant, the stable text that is printed, what it means, what to do about it.
macro_rules! codes {
    ($($variant:ident, $code:literal, $title:literal, $advice:literal;)*) => {
        /// A reason code of Sayso's own. Compared as a value; its text is for output and for reading records back.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code, in the order of [`REASON_CODES`].
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable kebab-case text.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// What it means, in a sentence.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$variant => $title,)*
                }
            }

            /// The reason that goes with what the analysis of a command found, where it has one of its own.
            #[must_use]
            pub fn of(code: sayso_shell::Code) -> Option<Self> {
                Self::parse(code.as_str())
            }

            /// Reads the text of a code, from a record.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        /// Every code Sayso itself can give. Unique by a test.
        pub const REASON_CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, title: $title, advice: $advice },)*];
    };
}

/// Looks up the text of a code.
#[must_use]
pub fn code_info(code: &str) -> Option<&'static CodeInfo> {
    REASON_CODES.iter().find(|info| info.code == code)
}

codes! {
    Carried, "carried",
        "An allow of the program or tool covers this ordinary effect of its operands.",
        "To decide it differently, write a rule with the effect's own verb.";
    Default, "default",
        "No rule covers this effect, so `default` decides.",
        "Add a rule for it, or change `default`.";
    ForeignRule, "foreign-rule",
        "A rule in another system's policy file decided.",
        "The source shows where in that file. `sayso import` converts it to a Sayso policy.";
    ForeignDefault, "foreign-default",
        "No rule in another system's policy file matched, so that file's own default decided.",
        "Change that file's default, or add a rule to it.";
    Mode, "mode",
        "The mode of a policy file lets everything pass.",
        "Set `mode.run` to `enforce` when you are done observing.";
    Halted, "halted",
        "The mode is `halt`: every call is denied.",
        "An operator can set `mode.run` back to `enforce`.";
    Opaque, "opaque",
        "Sayso cannot see everything this call would do.",
        "Write the command plainly and in steps, without values that are only known at run time.";
    TooManyFiles, "too-many-files",
        "There are more files here than Sayso examines for one call.",
        "Use a deeper folder or fewer patterns.";
    Code, "code",
        "This would run code in a programming language, which Sayso cannot see into.",
        "Put the code in a file Sayso can read, or allow it with a pattern that names it, such as `python3 -c`.";
    LeavesSandbox, "leaves-sandbox",
        "The command would run outside the agent's sandbox. Approving the command does not approve that.",
        "Run it inside the sandbox, or let a person decide.";
    UnseenInput, "unseen-input",
        "The program takes commands interactively, and Sayso does not see what this agent types into it later.",
        "Pass the commands as arguments, in a file, or in a here-document.";
    UnknownTool, "unknown-tool",
        "Sayso doesn't know what this tool does.",
        "Allow the tool by name if you trust it.";
    UnclearArguments, "unclear-arguments",
        "The tool's arguments are not the ones it takes, so Sayso cannot tell what it would do.",
        "Call the tool with arguments of the right names and types.";
    Secret, "secret",
        "The file is in `@secrets`; a broad allow does not cover it.",
        "Use an example file instead, or allow this exact path.";
    GuardedFile, "guarded-file",
        "The file later runs or configures something, or belongs to git's own store; a broad allow does not cover it.",
        "Allow this exact path if it is meant to be changed.";
    LinkLocal, "link-local",
        "The address is link-local, where cloud providers serve credentials.",
        "Allow this exact host if it must be reached.";
    SaysoItself, "sayso-itself",
        "The call would read, change or connect to something that belongs to Sayso. No rule can allow this.",
        "An operator can do it at a terminal.";
    OperatorCommand, "operator-command",
        "This command is reserved for an operator at a terminal.",
        "Ask an operator to run it.";
    WipesEverything, "wipes-everything",
        "The call would delete the whole system or a home folder. No rule can allow this.",
        "Name the folders you mean.";
    RawDevice, "raw-device",
        "A raw write to a device destroys the data on it. No rule can allow this.",
        "Write to a file instead.";
    ForkBomb, "fork-bomb",
        "A function starts copies of itself without end. No rule can allow this.",
        "Do not run it.";
    ToolHidden, "tool-hidden",
        "A `[tools]` layer hides this tool.",
        "Remove it from `hide` in the layer shown, if that layer is yours to change.";
    ToolNotListed, "tool-not-listed",
        "A `[tools]` layer lists the available tools, and this is not one of them.",
        "Add it to `also` in the layer shown.";
    ParameterPattern, "parameter-pattern",
        "A parameter of the call matches a pattern in `[patterns]`.",
        "Change the parameter or the pattern.";
    ModelNotListed, "model-not-listed",
        "The call comes from a model that `[models] only` does not name.",
        "Use a listed model, or add this one to `only` in the file shown.";
    NoPlan, "no-plan",
        "`[plan] require` names whoever makes this call, and the call is not the next step of an approved plan.",
        "Submit the calls as a plan (`sayso plan submit`), and make them in its order once it is approved.";
    RiskAbove, "risk-above",
        "The call is allowed, but its risk score is above `[risk] ask_above`.",
        "`sayso why` shows what the score is made of. Approve the call once, or raise `ask_above`.";
    Limit, "limit",
        "A limit for this session, run, agent, tenant or day has been reached.",
        "Wait, raise the limit, or start a new session.";
    LimitUnknown, "limit-unknown",
        "Sayso cannot tell in advance how much of a limited resource this call would use.",
        "Name the files or hosts explicitly so they can be counted.";
    RefusedBefore, "refused-before",
        "Someone permanently denied this.",
        "`sayso grants` lists saved answers and can revoke them.";
    Granted, "granted",
        "Someone approved this earlier.",
        "`sayso grants` lists saved answers and can revoke them.";
    Held, "held",
        "The kernel holds the run to what the policy allows, so nobody is asked.",
        "`sayso why --hold` shows the bounds. To be asked, remove the program from `run` in `[hold]`.";
    InternalError, "internal-error",
        "Sayso itself failed, and a failure never allows a call.",
        "Report it, with the id of the record.";
    PolicyRefused, "policy-refused",
        "A policy file has errors or may have been written by someone else, and there is nothing to use in its place.",
        "Fix the file; `sayso lint` shows where. Until then, nothing it might cover runs without a prompt.";
    PolicyUnreadable, "policy-unreadable",
        "The compiled policy was damaged while in use, and its source could not be compiled again.",
        "Check the policy files with `sayso lint`; the next call compiles them again.";
    LastGoodPolicy, "last-good-policy",
        "A policy file has errors, or the target of its link is missing; its last good version is in force.",
        "Fix the file; `sayso lint` shows where. For a link, restore its target, or remove the link if there should be no file.";
    UntrustedProject, "untrusted-project",
        "The project's policy file is not trusted: only its asks and denies apply.",
        "Read it, then run `sayso trust` if its allows should apply too.";
    TrustOutdated, "trust-outdated",
        "The project's policy file has changed or disappeared since it was trusted; the trusted version stays in force.",
        "Review the change, then run `sayso trust`.";
    RecordFailed, "record-failed",
        "The decision could not be recorded, so the call does not run.",
        "Check the disk and Sayso's own folder, `~/.local/state/sayso`.";
    Unanswered, "unanswered",
        "A person must decide, and nobody can be asked.",
        "Allow it in the policy, or run the agent where it can ask you.";
    Approved, "approved",
        "The people who were asked approved this exact call.",
        "`sayso approvals show` lists who they are.";
    DeniedByPerson, "denied-by-person",
        "Someone who was asked said no.",
        "Find another way, or talk to them.";
    ApprovalVoid, "approval-void",
        "This was approved, but a file, PATH or the policy has changed since: it is no longer the call that was shown.",
        "Try again: the call is shown as it is now.";
    NotInRecord, "not-in-record",
        "The database contains an approval that the record does not, so it does not count.",
        "Something may have written to the database file. Run `sayso log verify`, and check what is running under your account.";
    RecordGap, "record-gap",
        "Records are missing from the chain since this was approved, so the approval does not count.",
        "Answer again; the new answer counts. `sayso log verify` shows what is missing. Check what is running under your account.";
    BudgetRestored, "budget-restored",
        "Usage counted against a limit was deleted or lowered in the database; the usage in the record applies.",
        "Something may have written to the database file. Run `sayso log verify`, and check what is running under your account.";
    StoreReplaced, "store-replaced",
        "The database file was deleted, moved or replaced while Sayso was writing to it, so nothing is allowed.",
        "Find out what did it, restore the file if you can, and restart `sayso serve`.";
    RecordAltered, "record-altered",
        "Records were changed or deleted behind Sayso's back, so nothing is allowed.",
        "Run `sayso log verify` to see what was altered, and find out what did it. Then delete the altered part (`sayso log prune`), or restore a copy of the database, and restart `sayso serve`.";
    HeldFilesLeft, "held-files-left",
        "A held run left files that steer other programs, or may have, and they could not be moved aside.",
        "The text names them, or the folder that could not be listed. Remove what does not belong there; the next call looks again.";
    TooManyPending, "too-many-pending",
        "Too many calls of this session are already pending.",
        "Answer them with `sayso approvals`, or let them expire.";
    StoreFailed, "store-failed",
        "Sayso's database could not be read or written for this call, so the call does not run.",
        "`sayso store check` shows what is wrong with Sayso's own folder, `~/.local/state/sayso`.";
    BreakGlass, "break-glass",
        "An operator switched enforcement off for a while: only audit and integrity remain.",
        "`sayso mode` shows who did it, why, and until when; `sayso mode enforce` ends it.";
    OperatorMode, "operator-mode",
        "An operator switched the mode for a while.",
        "`sayso mode` shows who did it, why, and until when.";
    CallMalformed, "call-malformed",
        "What the agent sent is not a valid call.",
        "The agent may be newer than this Sayso: update Sayso, or report the bug.";
    McpChangedTool, "mcp-changed-tool",
        "The MCP server now describes this tool differently than when it was accepted.",
        "Review the change with `sayso mcp pins show`, then run `sayso mcp pins accept`.";
    McpNewTool, "mcp-new-tool",
        "A known MCP server has added this tool since it was first seen.",
        "Read it with `sayso mcp pins show`; if it is harmless, run `sayso mcp pins accept`.";
    McpHiddenCharacters, "mcp-hidden-characters",
        "The MCP tool's definition contains invisible characters.",
        "Read it with `sayso mcp pins show`; if it is harmless, run `sayso mcp pins accept`.";
    McpInstructions, "mcp-instructions",
        "The MCP tool's definition gives the model instructions instead of describing the tool.",
        "Read it with `sayso mcp pins show`; if it is harmless, run `sayso mcp pins accept`.";
    McpImitation, "mcp-imitation",
        "The MCP tool's name looks like the name of another tool.",
        "Compare them with `sayso mcp pins list`; if it is intended, run `sayso mcp pins accept`.";
    McpUnlistedTool, "mcp-unlisted-tool",
        "The call is to a tool that the MCP server does not list.",
        "Use a tool from its list. A missing tool may be hidden by the policy.";
    McpArguments, "mcp-arguments",
        "The arguments do not match the MCP tool's own schema.",
        "Fix the arguments; the message lists each problem.";
    McpSchemaUnusable, "mcp-schema-unusable",
        "The MCP tool's schema cannot be checked safely, so its calls ask.",
        "Ask the server's maintainers for a plain schema without remote or endless references.";
    McpResultTooLarge, "mcp-result-too-large",
        "The MCP server's result is larger than the gateway passes on.",
        "Request less, or raise `--max-result`.";
    McpServerGone, "mcp-server-gone",
        "The MCP server stopped, failed to start, or could not be reached.",
        "See its messages on standard error. It is restarted at the next call, within limits.";
    McpTimeout, "mcp-timeout",
        "The MCP server did not answer in time.",
        "Try again, or raise `--timeout`.";
    Redirect, "redirect",
        "Output is redirected to a file, which allowing a program does not cover.",
        "Allow the path with a `write` rule.";
    Environment, "environment",
        "A variable set for the command changes what it runs.",
        "Leave it out, or name it with `when.env`.";
    UnknownOption, "unknown-option",
        "Sayso doesn't know this option of the program.",
        "Name the option in the pattern if it is harmless.";
    UnknownSubcommand, "unknown-subcommand",
        "Sayso doesn't know this subcommand of the program.",
        "Name the subcommand in the pattern if it is harmless.";
    DynamicOption, "dynamic-option",
        "A word whose value is unknown may turn out to be an option that matters.",
        "Write the value out, or put `--` before it.";
    WritesFile, "writes-file",
        "An option makes a program that normally only reads write a file.",
        "Allow the path with a `write` rule, or name the option in the pattern.";
    RunsCommand, "runs-command",
        "An option starts another program.",
        "Name the option in the pattern if it is intended.";
    RunsCode, "runs-code",
        "Code from a file would run: a script, a plugin, or a configuration file that is code.",
        "Name it in a pattern if it is intended.";
    InlineCode, "inline-code",
        "The command itself contains code.",
        "Put the code in a file Sayso can read, or name the option in the pattern (`python3 -c`).";
    ChangesRepository, "changes-repository",
        "This changes a repository's refs, index, stash, configuration or working tree.",
        "Name the subcommand or option in the pattern.";
    ChangesSettings, "changes-settings",
        "This changes the settings of a program, a user or a project.",
        "Name the subcommand or option in the pattern.";
    ChangesFiles, "changes-files",
        "This changes files, though the program normally only reads.",
        "Name the option in the pattern (`sed -i`).";
    ChangesService, "changes-service",
        "This changes state on a remote service.",
        "Name the subcommand in the pattern.";
    ChangesSystem, "changes-system",
        "This changes the machine: services, users, disks or the kernel.",
        "Name the subcommand in the pattern.";
    Installs, "installs",
        "This downloads and installs code.",
        "Name the subcommand in the pattern (`npm install`).";
    Publishes, "publishes",
        "This publishes to a registry or forge where others can see it.",
        "Name the subcommand in the pattern.";
    Serves, "serves",
        "This starts a server.",
        "Name the subcommand or option in the pattern.";
    Signals, "signals",
        "This sends signals to processes.",
        "Name the program in the pattern.";
    ShowsSecrets, "shows-secrets",
        "This shows secrets or the whole environment.",
        "Ask for the one value you need.";
    SecretVariable, "secret-variable",
        "This uses the value of a variable whose name suggests a secret.",
        "Check only whether it is set, or allow the program with `when = { env = \"NAME\" }`.";
    RunsElsewhere, "runs-elsewhere",
        "This runs something on another computer.",
        "Name the program in the pattern.";
    UnclearScript, "unclear-script",
        "The command contains a script that Sayso does not understand.",
        "Write it more plainly.";
    OtherHost, "other-host",
        "An option makes the program connect to a different host than the one it is configured for.",
        "Allow the host with a `connect` rule, or name the option in the pattern.";
}

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
    fn every_code_is_read_back_from_its_text() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(*code));
            assert_eq!(code_info(code.as_str()).map(|info| info.title), Some(code.title()));
        }
    }

    #[test]
    fn every_code_of_the_shell_has_a_row() {
        for code in sayso_shell::Code::OF_TEXTS {
            assert!(Code::parse(code.as_str()).is_some(), "{}", code.as_str());
        }
    }
}
