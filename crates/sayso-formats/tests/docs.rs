//! The pages of `docs/formats` show what an import really gives. `SAYSO_UPDATE_DOCS=1` writes them anew.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_formats::{Format, export, import};
use sayso_policy::{Layer, Policy, PolicyText};
use std::path::PathBuf;

#[test]
fn every_page_shows_what_its_import_gives() {
    for format in Format::ALL {
        let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/formats/{}.md", format.name()));
        let text = std::fs::read_to_string(&page).unwrap();
        let (before, _) = text.split_once("<!-- imported -->").unwrap();
        let (_, block) = before.rsplit_once("Side by side").unwrap();
        let (notation, rest) = block.split_once("```").unwrap().1.split_once('\n').unwrap();
        let file = rest.split_once("```").unwrap().0;
        let imported = import(Some(format), &format!("{}.{notation}", format.name()), file).unwrap();
        let expected = format!("{before}<!-- imported -->\n\n```toml\n{}```\n", imported.policy);
        if std::env::var_os("SAYSO_UPDATE_DOCS").is_some() {
            std::fs::write(&page, expected).unwrap();
        } else {
            assert_eq!(text, expected, "{} is stale: SAYSO_UPDATE_DOCS=1 cargo test -p sayso-formats", page.display());
        }
    }
}

#[test]
fn the_overview_shows_what_an_export_gives() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/README.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, _) = text.split_once("<!-- exported -->").unwrap();
    let policy = before.rsplit_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    let file =
        PolicyText { layer: Layer::Given, name: "policy.toml".to_owned(), text: policy.to_owned(), trusted: true };
    let files = vec![file];
    let exported = export(Format::ClaudeCode, &Policy::compile(&files).unwrap(), &files).unwrap();
    let losses: String = exported.losses.iter().map(|loss| format!("- {loss}\n")).collect();
    let expected = format!("{before}<!-- exported -->\n\n```json\n{}```\n\nNot the same:\n\n{losses}", exported.text);
    if std::env::var_os("SAYSO_UPDATE_DOCS").is_some() {
        std::fs::write(&page, expected).unwrap();
    } else {
        assert_eq!(text, expected, "{} is stale: SAYSO_UPDATE_DOCS=1 cargo test -p sayso-formats", page.display());
    }
}
