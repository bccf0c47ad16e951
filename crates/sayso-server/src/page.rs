//! The page, in the binary: no build step, nothing from elsewhere.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

/// A script of the page, under its own name.
macro_rules! script {
    ($name:literal) => {
        (concat!("/", $name), "text/javascript; charset=utf-8", include_str!(concat!("page/", $name)))
    };
}

/// Address, media type, content.
const FILES: [(&str, &str, &str); 14] = [
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    script!("api.js"),
    script!("app.js"),
    script!("approvals.js"),
    script!("card.js"),
    script!("changes.js"),
    script!("decisions.js"),
    script!("keys.js"),
    script!("live.js"),
    script!("text.js"),
    script!("try.js"),
    script!("verdict.js"),
    script!("vendor/preact-htm.js"),
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
