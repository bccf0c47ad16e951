//! The page of a one-time link. It holds nothing: what it shows it asks for, with what stands behind `#`.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

/// Address, media type, content.
const FILES: [(&str, &str, &str); 2] = [
    ("/answer", "text/html; charset=utf-8", include_str!("answer.html")),
    ("/answer.js", "text/javascript; charset=utf-8", include_str!("answer.js")),
];

/// The page's files.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    FILES.iter().fold(Router::new(), |router, (path, kind, text)| {
        router.route(path, get(async move || ([(header::CONTENT_TYPE, *kind)], *text).into_response()))
    })
}
