//! The HTTP API, one file for each thing that can be asked.

mod about;
mod approvals;
mod audit;
mod batch;
mod body;
mod call;
mod decisions;
mod describe;
mod grants;
mod health;
mod layers;
mod limits;
mod links;
mod metrics;
mod mode;
mod openapi;
mod outcomes;
mod parameters;
mod plans;
mod policy;
mod problem;
mod ready;
mod route;
mod session;
mod sessions;
mod socket;
mod status;
mod stream;
mod team;
#[cfg(test)]
#[path = "../../tests/inside/mod.rs"]
mod tests;
mod tools;
mod try_box;

pub(crate) use body::MAX_BODY;
pub(crate) use problem::Problem;

use crate::app::App;
use crate::error::ApiError;
use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use describe::{Address, addresses};
use std::sync::{Arc, OnceLock};

/// Everything below `/v1`. What each needs of its caller stands in its handler's arguments: `Approver`, `Admin`, or
/// nothing for what any program of this machine may ask.
///
/// INVARIANT: a GET changes nothing.
pub(crate) fn routes() -> Router<Arc<App>> {
    let router = addresses().into_iter().fold(Router::new(), |router, it| router.route(it.path, it.routing));
    router.fallback(async || ApiError::not_found()).method_not_allowed_fallback(async || ApiError::wrong_method())
}

/// Whether an address is one of these: only for whoever is known, and counted.
///
/// INVARIANT: true of every address of the table, or it would be open to anybody.
pub(crate) fn serves(path: &str) -> bool {
    path.starts_with("/v1/") || path == "/metrics"
}

/// What an address does not take is refused: it may have been meant to narrow what is asked for.
pub(crate) fn check_parameters(request: &Request) -> Result<(), ApiError> {
    static WITHOUT: OnceLock<Vec<(&'static str, &'static str)>> = OnceLock::new();
    // Most requests have none, and are not looked at further.
    if request.uri().query().is_none_or(str::is_empty) {
        return Ok(());
    }
    let without = || addresses().iter().filter(|it| !it.takes_parameters()).map(|it| (it.method, it.path)).collect();
    let method = if request.method() == Method::HEAD { "get" } else { request.method().as_str() };
    let here =
        |(known, address): &(&str, &str)| method.eq_ignore_ascii_case(known) && is_at(request.uri().path(), address);
    if WITHOUT.get_or_init(without).iter().any(here) {
        return Err(ApiError::parameters("this address takes no parameters"));
    }
    Ok(())
}

/// Whether a path is at an address of the table, where `{name}` stands for any one part.
fn is_at(path: &str, address: &str) -> bool {
    let same = |(part, known): (&str, &str)| part == known || known.starts_with('{');
    path.split('/').count() == address.split('/').count() && path.split('/').zip(address.split('/')).all(same)
}

/// The addresses, in the words that describe them to others.
fn addresses() -> Vec<Address> {
    addresses! {
        /// Is somebody there?
        get "/v1/health" health => health::health;
        /// Whether calls can be judged and recorded here now.
        get "/v1/ready" ready => ready::ready;
        /// Numbers for Prometheus.
        /// They are of all tenants together: a token of one tenant does not open them.
        get "/metrics" metrics => metrics::metrics;
        /// This description.
        get "/v1/openapi.json" openapi => openapi::openapi;
        /// Exchanges the key that `sayso serve` printed for a token. A key works once.
        post "/v1/session" session => session::session;
        /// Signs out: the token that this is sent with is worth nothing any more.
        delete "/v1/session" signOut => session::sign_out;
        /// Judges a call, records the decision, and answers. Whoever gets anything but a 200 with `allow` must not run the call.
        /// A list is judged in order, and each call is answered in its place.
        post "/v1/decisions" decide => decisions::decisions;
        /// What became of a call that was let through: what it used is counted, what was reserved and not used is given back.
        post "/v1/outcomes" outcome => outcomes::outcomes;
        /// What would be said of a call, with the opinion of every stage on every effect. Records and consumes nothing.
        post "/v1/try" tryOut => try_box::try_out;
        /// Which tools of a list are there for an actor.
        /// Whether a call of one may run is asked when it is called.
        post "/v1/tools/filter" filterTools => tools::filter;
        /// Judges calls as a plan, records it, and where it needs people asks them one question about all of its steps.
        /// Once that is approved, each step runs once, in order: its own call to `/v1/decisions` is then allowed.
        post "/v1/plans" submitPlan => plans::submit;
        /// Plans that were submitted, the latest first.
        get "/v1/plans" plans => plans::list;
        /// One plan, and which of its steps have run.
        get "/v1/plans/{id}" plan => plans::show;
        /// Which model an agent is to use.
        /// Once too many calls of its session were denied, its fallback; the count of denied calls then begins anew, once.
        post "/v1/route" route => route::route;
        /// Questions that wait for a person, the latest first unless told otherwise, page by page.
        /// Of a long call the beginning. One that is asked, answered or over meanwhile shifts no page.
        get "/v1/approvals" approvals => approvals::list;
        /// One question. Without a token: how it stands, for whoever was given its id.
        get "/v1/approvals/{id}" approval => approvals::show;
        /// What else a yes of this width would have let pass of the latest asks.
        get "/v1/approvals/{id}/preview" previewWidth => approvals::preview_width, refuses 409;
        /// What helps to answer a question: where remotes lead, calls like it before, what its session did.
        get "/v1/approvals/{id}/context" approvalContext => about::context;
        /// The narrowest rule that would let such calls pass from now on, and the policy file with it.
        get "/v1/approvals/{id}/rule" approvalRule => about::rule;
        /// Answers a question. Needs a token of somebody it is addressed to; whoever asked is refused.
        post "/v1/approvals/{id}/answer" answer => approvals::answer, refuses 409;
        /// Has a question reach the next higher group now, instead of after its time.
        post "/v1/approvals/{id}/escalate" escalate => approvals::escalate, refuses 409;
        /// The question behind a one-time link. Looking at it changes nothing.
        post "/v1/links/question" linkQuestion => links::question, refuses 410;
        /// Answers the question behind a one-time link, for this call alone. A link works once.
        post "/v1/links/answer" linkAnswer => links::answer, refuses 409 410;
        /// Remembered answers, the latest first.
        get "/v1/grants" grants => grants::list;
        /// Takes a remembered answer back.
        /// The next such call is asked about again.
        delete "/v1/grants/{id}" revokeGrant => grants::revoke;
        /// Every limit, what is used of it by whom, and what is left.
        get "/v1/limits" limits => limits::limits;
        /// Sessions, the one with the latest record first.
        get "/v1/sessions" sessions => sessions::sessions;
        /// One session.
        get "/v1/sessions/{id}" sessionDetail => sessions::session;
        /// Runs, the one with the latest record first.
        get "/v1/runs" runs => sessions::runs;
        /// One run.
        get "/v1/runs/{id}" run => sessions::run;
        /// Who uses this server, how long questions wait, and what needs looking after.
        get "/v1/team" team => team::team;
        /// What is in force, how long the record is, and what to do next.
        get "/v1/status" status => status::status;
        /// The mode that decides about every call, and who switched it.
        get "/v1/mode" mode => mode::show;
        /// Halts everything now, or ends a halt.
        /// Modes that loosen need the owner's terminal: `sayso mode`.
        post "/v1/mode" setMode => mode::set;
        /// The policy in force, file by file.
        get "/v1/policy" policy => policy::show;
        /// The layers in force for an actor, in order, with the place of each.
        get "/v1/policy/layers" policyLayers => layers::layers;
        /// What is wrong with a text.
        /// The examples of its rules are tried too. Changes nothing.
        post "/v1/policy/validate" validatePolicy => policy::validate;
        /// The versions that judged something, the latest first.
        get "/v1/policy/versions" policyVersions => policy::versions;
        /// One version, and how it differs.
        get "/v1/policy/versions/{version}" policyVersion => policy::version, refuses 409;
        /// What a text would change, over the calls of the record.
        post "/v1/policy/try" tryPolicy => policy::try_text, refuses 422;
        /// Puts a text in the place of the user's own policy file.
        post "/v1/policy/activate" activatePolicy => policy::activate, refuses 409 422;
        /// Puts the user's own policy file back to what it was.
        post "/v1/policy/rollback" rollBackPolicy => policy::rollback, refuses 404 409 422;
        /// Records of the chain, paged by their numbers.
        get "/v1/audit" audit => audit::find;
        /// How much was decided, how often people were asked, and which rules would have saved that.
        get "/v1/audit/counts" counts => audit::counts::counts;
        /// Whether the chain is whole.
        get "/v1/audit/verify" verify => audit::verify;
        /// Records as lines, sent as they are read.
        get "/v1/audit/export" export => audit::export::export;
        /// Records as they come: `decision`, `approval_required`, `approval_response`, or by the kind of the record, each with its number.
        /// Server-sent events, or with `Upgrade: websocket` a WebSocket of which each message is one record and the first
        /// message of a client without a header is {"token": "..."}. Resumes without loss.
        get "/v1/stream" stream => stream::stream, refuses 409;
    }
}
