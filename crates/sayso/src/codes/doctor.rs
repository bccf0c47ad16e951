//! Codes that `sayso doctor` prints beside what it found.

use super::code;
use sayso_policy::CodeInfo;

pub(super) const CODES: &[CodeInfo] = &[
    code(
        "program-missing",
        "The program that the agent's settings start is missing, or cannot be executed.",
        "Run `sayso install AGENT` again.",
    ),
    code(
        "other-content",
        "The program that the agent's settings start is not the one that was registered.",
        "If you upgraded Sayso, run `sayso install AGENT` again. Otherwise someone replaced it: reinstall Sayso first.",
    ),
    code(
        "other-version",
        "The program that the agent's settings start is another version of Sayso than this one.",
        "Run `sayso install AGENT` again.",
    ),
    code(
        "not-noted",
        "Sayso has no record of this registration, so the program is not protected in other agents' sessions.",
        "Run `sayso install AGENT` again.",
    ),
    code(
        "home-not-fixed",
        "The registration does not name a home folder, so a variable of the environment chooses the policy.",
        "Run `sayso install AGENT` again.",
    ),
    code(
        "other-home",
        "The agent uses the policy and the record of another home folder.",
        "If that is not what you want, run `sayso install AGENT` again.",
    ),
    code(
        "shell-not-fixed",
        "The registration does not name the shell that runs the agent's commands.",
        "Run `sayso install AGENT` again, with `--shell` if the agent's shell is not yours.",
    ),
    code(
        "registration-differs",
        "Events, timeouts or guards in the agent's settings are not what this version registers.",
        "Run `sayso install AGENT` again; it shows the change first.",
    ),
    code(
        "switched-off",
        "The agent's settings switch hooks off, so Sayso is not asked.",
        "Remove the setting that the finding names.",
    ),
    code(
        "trust-unknown",
        "Whether Codex trusts the hook could not be found out.",
        "Check the file that the finding names.",
    ),
    code(
        "trust-outdated",
        "The hook changed since you trusted it in Codex, so Codex does not run it.",
        "Start codex and trust it, or run `sayso install codex --trust`.",
    ),
    code(
        "not-trusted",
        "The hook is not trusted in Codex, so Codex does not run it.",
        "Start codex and trust it, or run `sayso install codex --trust`.",
    ),
    code(
        "unheld",
        "A command ran without the hold under which alone it was allowed, so this agent's commands are not held any more.",
        "Run `sayso doctor AGENT --live` to try again.",
    ),
    code("agent-too-old", "This version of the agent lacks something that guarding it needs.", "Update the agent."),
];
