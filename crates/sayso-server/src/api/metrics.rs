//! `GET /metrics`: numbers for a Prometheus server.

use super::describe::{Described, DescribesAnswer};
use super::parameters::blocking;
use crate::app::App;
use crate::error::ApiError;
use crate::metrics::Now;
use crate::who::Caller;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use sayso_gate::approval::Standing;
use std::path::Path;
use std::sync::Arc;

const STANDINGS: [Standing; 5] =
    [Standing::Pending, Standing::Approved, Standing::Denied, Standing::Expired, Standing::Cancelled];

/// In the format of OpenMetrics.
const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The numbers.
pub(super) struct Numbers(String);

/// The numbers are of all tenants together, and so for nobody behind a wall; they name nobody, and so are for everybody
/// else who may ask at all.
pub(super) async fn metrics(State(app): State<Arc<App>>, caller: Caller) -> Result<Numbers, ApiError> {
    if caller.tenant.is_some() {
        return Err(ApiError::not_yours());
    }
    let text = blocking(move || {
        let store = app.store();
        // The numbers say that a store was taken away; those in it are nobody's.
        let there = store.in_place().is_ok();
        let counted = if there { store.standings()? } else { Vec::new() };
        let of = |standing: Standing| {
            let found = counted.iter().find(|(word, _)| word == standing.as_str());
            (standing.as_str(), found.map_or(0, |(_, count)| *count))
        };
        let in_force = app.gate(Some(Path::new(&app.about.folder)))?.in_force();
        let watched = app.watched.state();
        let now = Now {
            approvals: STANDINGS.map(of).to_vec(),
            policy_versions: if there { u64::try_from(store.policies()?.len()).unwrap_or(u64::MAX) } else { 0 },
            chain_broken: watched.broken.is_some() || !there,
            chain_checked_ms: watched.checked_ms.unwrap_or(0),
            policy_refused: in_force.floor.is_some() || in_force.notices.iter().any(|notice| notice.text.is_some()),
        };
        app.metrics.text(&now).map_err(|error| ApiError::internal(&error))
    });
    text.await.map(Numbers)
}

impl IntoResponse for Numbers {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, KIND)], self.0).into_response()
    }
}

impl DescribesAnswer for Numbers {
    fn describe(described: &mut Described) {
        described.add_text("The numbers.", &["application/openmetrics-text"]);
    }
}
