//! Everything that is served over one way in.
//!
//! What every request passes are calls from here, and no layers of the framework: each layer would cost every decision a
//! box and a copy of all that is below it.

use crate::app::App;
use crate::guard::{self, WayIn};
use crate::{answer, api, page, who};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use tower_service::Service as _;

/// What is served over one way in.
#[derive(Clone)]
pub(crate) struct Site {
    app: Arc<App>,
    way_in: WayIn,
    router: Router,
}

impl Site {
    pub(crate) fn new(app: &Arc<App>, way_in: WayIn) -> Self {
        let router = page::routes().merge(answer::routes()).merge(api::routes()).with_state(Arc::clone(app));
        Self { app: Arc::clone(app), way_in, router }
    }

    /// Answers a request, if it may be made at all.
    pub(crate) async fn answer(self, request: Request) -> Response {
        guard::dress(match guard::check(self.way_in, &request) {
            Ok(()) => self.serve(request).await,
            Err(error) => error.into_response(),
        })
    }

    async fn serve(self, mut request: Request) -> Response {
        DefaultBodyLimit::max(api::MAX_BODY).apply(&mut request);
        if !api::serves(request.uri().path()) {
            return route(self.router, request).await;
        }
        let known = who::identify(&self.app, self.way_in, &mut request);
        let response = match known.and_then(|()| api::check_parameters(&request)) {
            Ok(()) => route(self.router, request).await,
            Err(error) => error.into_response(),
        };
        self.app.metrics.answered(response.status());
        response
    }
}

async fn route(mut router: Router, request: Request) -> Response {
    let Ok(response) = router.call(request).await;
    response
}
