//! The page, in the binary: no build step, nothing from elsewhere.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

/// Address, media type, content.
const FILES: [(&str, &str, &str); 10] = [
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/app.js", "text/javascript; charset=utf-8", include_str!("page/app.js")),
    ("/api.js", "text/javascript; charset=utf-8", include_str!("page/api.js")),
    ("/text.js", "text/javascript; charset=utf-8", include_str!("page/text.js")),
    ("/approvals.js", "text/javascript; charset=utf-8", include_str!("page/approvals.js")),
    ("/changes.js", "text/javascript; charset=utf-8", include_str!("page/changes.js")),
    ("/try.js", "text/javascript; charset=utf-8", include_str!("page/try.js")),
    ("/decisions.js", "text/javascript; charset=utf-8", include_str!("page/decisions.js")),
    ("/vendor/preact-htm.js", "text/javascript; charset=utf-8", include_str!("page/vendor/preact-htm.js")),
];

const ICON: &str = include_str!("page/icon.svg");

/// The page's files.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let file = |kind: &'static str, text: &'static str| {
        get(async move || ([(header::CONTENT_TYPE, kind)], text).into_response())
    };
    let router = Router::new().route("/icon.svg", file("image/svg+xml", ICON));
    FILES.iter().fold(router, |router, (path, kind, text)| router.route(path, file(kind, text)))
}
