//! Codes of answers of the API that are no decisions.

use super::code;
use sayso_policy::CodeInfo;

pub(super) const CODES: &[CodeInfo] = &[
    code(
        "ahead-of-record",
        "The stream was asked to go on behind a record that does not exist.",
        "Reload from the newest record.",
    ),
    code("body-unreadable", "The request's body could not be read.", "Send it again; check its length."),
    code("call-malformed", "Sayso cannot understand the request.", "The text names the field; see /v1/openapi.json."),
    code(
        "foreign-request",
        "The request comes from another site, or was sent under another host name.",
        "Open the page at the address that `sayso serve` printed.",
    ),
    code(
        "foreign-user",
        "The request comes from another user of this machine.",
        "Use that user's own Sayso, or a token.",
    ),
    code("headers-too-long", "The request's headers are too long.", "Send fewer or shorter headers."),
    code("internal-error", "Sayso failed while handling the request.", "Treat it as a deny, and report the bug."),
    code(
        "key-refused",
        "The key is wrong, already used, or too many wrong keys came.",
        "Use the key that the `sayso serve` terminal shows now.",
    ),
    code("link-expired", "The one-time link is too old.", "Answer on the page, or with `sayso approvals`."),
    code("link-over", "The question behind the link is answered or expired.", "Nothing is left to do."),
    code("link-unknown", "There is no such one-time link.", "Check that the address is complete."),
    code("link-used", "The one-time link was used already.", "Answer on the page, or with `sayso approvals`."),
    code("needs-that-token", "Only the token that asked may do this.", "Send the token that the call was made with."),
    code("no-token", "From another machine every request needs a token.", "Send one; `sayso token create` makes it."),
    code("not-escalated", "Nobody else can answer this question.", "Name a group in `escalate` of the policy."),
    code("not-found", "There is nothing at this address.", "The text says where to find a list."),
    code("not-http", "This is not a valid HTTP request.", "Check the client and the address."),
    code("not-json", "The request's content type is not JSON.", "Send `Content-Type: application/json`."),
    code(
        "not-yours",
        "The token's role or tenant does not allow this.",
        "Use a token with the role that the text names.",
    ),
    code(
        "nothing-to-restore",
        "In that version you had no policy file.",
        "To go back to it, move your policy file away.",
    ),
    code("policy-busy", "Somebody else is changing the policy right now.", "Send the change again."),
    code(
        "policy-changed",
        "The policy changed since you looked at it.",
        "Review the policy in force, then send the change again with its version as `base`.",
    ),
    code(
        "policy-fixed",
        "The server was started with `--policy`, so its policy cannot be changed here.",
        "Change the files named on its command line.",
    ),
    code("policy-refused", "The policy has errors, so it was not put in force.", "The problems name the lines."),
    code("repeated-header", "A header that matters was sent twice.", "Send it once."),
    code("several-versions", "Several policy versions start with this.", "Type more of the version."),
    code(
        "signed-out",
        "This needs somebody who is signed in.",
        "Open the link that `sayso serve` printed, or send a token.",
    ),
    code("stopping", "The server is stopping.", "Send the request again once it runs."),
    code(
        "too-many-at-once",
        "This caller waits for too much at the same time.",
        "Wait for answers before asking again.",
    ),
    code("too-many-connections", "The server has no room for another connection.", "Try again in a moment."),
    code("too-many-failures", "Too many wrong tokens came in the last minute.", "Wait a minute."),
    code("too-slow", "The request did not arrive in time.", "Send it again."),
    code(
        "width-not-offered",
        "The question does not offer an answer this wide.",
        "Use one of the widths that it offers.",
    ),
    code("wrong-method", "The address does not take this method.", "See /v1/openapi.json."),
];
