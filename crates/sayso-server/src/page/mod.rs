//! The page, in the binary: no build step, nothing from elsewhere.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

/// A script of the page, under its own name.
macro_rules! script {
    ($name:literal) => {
        (concat!("/", $name), "text/javascript; charset=utf-8", include_str!($name))
    };
}

/// Address, media type, content.
const FILES: [(&str, &str, &str); 37] = [
    ("/", "text/html; charset=utf-8", include_str!("index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("style.css")),
    script!("activity.js"),
    script!("api.js"),
    script!("app.js"),
    script!("approvals.js"),
    script!("card.js"),
    script!("change.js"),
    script!("changes.js"),
    script!("chart.js"),
    script!("consequence.js"),
    script!("counts.js"),
    script!("decision.js"),
    script!("editor.js"),
    script!("find.js"),
    script!("flips.js"),
    script!("grants.js"),
    script!("keys.js"),
    script!("limits.js"),
    script!("lines.js"),
    script!("live.js"),
    script!("mode.js"),
    script!("notify.js"),
    script!("parts.js"),
    script!("plan.js"),
    script!("policy.js"),
    script!("rule.js"),
    script!("search.js"),
    script!("sessions.js"),
    script!("story.js"),
    script!("team.js"),
    script!("text.js"),
    script!("tried.js"),
    script!("try.js"),
    script!("verdict.js"),
    script!("whose.js"),
    script!("vendor/preact-htm.js"),
];

const ICON: &str = include_str!("icon.svg");

/// The page's files.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let file = |kind: &'static str, text: &'static str| {
        get(async move || ([(header::CONTENT_TYPE, kind)], text).into_response())
    };
    let router = Router::new().route("/icon.svg", file("image/svg+xml", ICON));
    FILES.iter().fold(router, |router, (path, kind, text)| router.route(path, file(kind, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_key_was_exchanged_for_is_kept_in_one_tab_and_nowhere_else() {
        let scripts = || FILES.iter().filter(|(path, ..)| path.ends_with(".js") && !path.contains("vendor"));
        let mut keeps = Vec::new();
        for (path, _, text) in scripts() {
            for keeper in ["localStorage", "indexedDB", "document.cookie", "caches.", "serviceWorker", "window.name"] {
                assert!(!text.contains(keeper), "{path} uses {keeper}");
            }
            if text.contains("sessionStorage") {
                keeps.push(*path);
            }
        }
        assert_eq!(keeps, ["/api.js"]);
        let uses: Vec<&str> =
            scripts().flat_map(|(.., text)| text.lines()).filter(|it| it.contains("sessionStorage")).collect();
        assert!(uses.iter().all(|line| line.contains("TOKEN")), "the token, and never the key: {uses:?}");
    }
}
