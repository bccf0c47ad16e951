//! What its owner does with the server itself, as it stands in the record: started, stopped, signed in to.
//!
//! INVARIANT: neither a key, a token nor the address of a webhook (which is a secret in itself) is in any of it.

use crate::app::App;
use crate::error::ApiError;
use crate::key::Via;
use crate::server::Listening;
use crate::webhook::{Webhook, host_of};
use crate::who::Caller;
use sayso_gate::Error;
use sayso_gate::audit::{Change, Event, Kind, Peer};
use sayso_policy::Person;
use serde_json::{Value, json};
use std::path::Path;

/// Who starts it, as what, and where it listens. Recorded before it answers anybody.
pub(crate) fn started(app: &App, listening: &Listening, webhooks: &[Webhook]) -> Result<(), Error> {
    let folder = Path::new(&app.about.folder);
    let folder = folder.is_absolute().then_some(folder);
    let in_force = app.gate(folder)?.in_force();
    let told = |webhook: &Webhook| json!({"for": webhook.person.name, "automated": webhook.person.automated, "host": host_of(&webhook.url)});
    let own = std::env::current_exe().ok();
    record(
        app,
        "started",
        Some(listening.address.to_string()),
        json!({
            "process": Peer {
                uid: rustix::process::getuid().as_raw(),
                pid: Some(std::process::id()),
                exe: own.map(|path| path.to_string_lossy().into_owned()),
            },
            "version": env!("CARGO_PKG_VERSION"),
            "page": listening.page,
            "socket": app.places.shown(&listening.socket),
            "policy": in_force.policy.version(),
            "files": in_force.files.iter().map(|file| &file.name).collect::<Vec<_>>(),
            "fixed": app.is_fixed(),
            "folder": app.about.folder,
            "trust_store_tokens": app.trust_tokens,
            "webhooks": webhooks.iter().map(told).collect::<Vec<_>>(),
        }),
    )
}

/// It stops, because it was told to. One that was killed says nothing.
pub(crate) fn stopped(app: &App, listening: &Listening) -> Result<(), Error> {
    record(app, "stopped", Some(listening.address.to_string()), json!({"pid": std::process::id()}))
}

/// Somebody showed the key, and gets a token for it once this is recorded.
pub(crate) fn signed_in(app: &App, via: Via, caller: &Caller) -> Result<(), ApiError> {
    Ok(record(app, "signed-in", None, json!({"via": via.as_str(), "peer": caller.peer}))?)
}

/// A receiver cannot be told any more, or can again: `doctor` looks for this.
pub(crate) fn webhook(app: &App, person: &Person, host: Option<&str>, failing: Option<&str>) -> Result<(), Error> {
    let what = if failing.is_some() { "webhook-fails" } else { "webhook-works" };
    record(app, what, Some(person.name.clone()), json!({"host": host, "why": failing}))
}

/// So many wrong keys came that none is taken for a while.
pub(crate) fn locked(app: &App, caller: &Caller) -> Result<(), ApiError> {
    let mut change = Change::now(Kind::Server, "keys-refused");
    change.by = Some("sayso".to_owned());
    change.detail = json!({"peer": caller.peer});
    app.store().append(&[Event::from(change)], &[])?;
    Ok(())
}

fn record(app: &App, what: &str, about: Option<String>, detail: Value) -> Result<(), Error> {
    let mut change = Change::now(Kind::Server, what);
    change.about = about;
    change.by = Some(app.about.owner.clone());
    change.detail = detail;
    app.store().append(&[Event::from(change)], &[])?;
    Ok(())
}
