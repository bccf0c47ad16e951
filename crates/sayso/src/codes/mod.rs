//! Every code that Sayso can print, wherever it is printed, with what it means and what to do.

mod analysis;
mod api;
mod doctor;

use sayso_policy::text::{PROBLEM_CODES, nearest};
use sayso_policy::{CodeInfo, REASON_CODES};

/// Where codes come from: what they stand beside, and the codes.
pub(crate) const SOURCES: [(&str, &[CodeInfo]); 5] = [
    ("a decision", REASON_CODES),
    ("what a command does", analysis::CODES),
    ("a policy file", PROBLEM_CODES),
    ("`sayso doctor`", doctor::CODES),
    ("the API", api::CODES),
];

const fn code(code: &'static str, title: &'static str, advice: &'static str) -> CodeInfo {
    CodeInfo { code, title, advice }
}

/// What is known of a code; more than one place may use the same word.
pub(crate) fn known(wanted: &str) -> Vec<(&'static str, &'static CodeInfo)> {
    let all = SOURCES.iter().flat_map(|(source, codes)| codes.iter().map(move |info| (*source, info)));
    all.filter(|(_, info)| info.code == wanted).collect()
}

/// The code that was most likely meant.
pub(crate) fn near(wanted: &str) -> Option<&'static str> {
    nearest(wanted, SOURCES.iter().flat_map(|(_, codes)| codes.iter().map(|info| info.code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of every source file below a folder of this repository.
    fn sources(below: &str) -> String {
        fn add(folder: &std::path::Path, to: &mut String) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    add(&path, to);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    to.push_str(&std::fs::read_to_string(path).unwrap());
                }
            }
        }
        let mut text = String::new();
        add(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(below), &mut text);
        text
    }

    /// What stands in quotes behind each of these.
    fn quoted(text: &str, before: &str) -> Vec<String> {
        let found = text.split(before).skip(1).filter_map(|rest| rest.split('"').next());
        let is_code = |it: &&str| !it.is_empty() && it.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        found.filter(is_code).map(str::to_owned).collect()
    }

    #[test]
    fn everything_that_the_analysis_can_say_is_explained() {
        use sayso_policy::shell::Code;
        for code in Code::OF_TEXTS.iter().chain(Code::OF_CALLS) {
            assert!(!known(code.as_str()).is_empty(), "nothing explains {code}");
        }
    }

    #[test]
    fn everything_that_doctor_can_find_is_explained() {
        let text = sources("crates/sayso-agents/src") + &sources("crates/sayso/src/command/doctor");
        let mut codes = quoted(&text, "Finding { code: \"");
        codes.extend(quoted(&text, "say(false, \""));
        codes.extend(quoted(&text, "say(true, \""));
        // Those whose call is broken over several lines, or that stand in a table.
        codes.extend(quoted(&text, "say(\n            false,\n            \""));
        codes.extend(quoted(&text, "(Trusted::Changed, \""));
        codes.extend(quoted(&text, "(Trusted::Never, \""));
        codes.extend(["other-version", "other-content", "not-noted"].map(|code| {
            assert!(text.contains(&format!("\"{code}\"")), "{code} is not printed any more");
            code.to_owned()
        }));
        assert!(codes.len() >= 9, "the search found too few: {codes:?}");
        for code in codes {
            assert!(!known(&code).is_empty(), "nothing explains {code}");
        }
    }

    #[test]
    fn every_error_of_the_api_is_explained() {
        let text = sources("crates/sayso-server/src");
        let mut codes = quoted(&text, "code: \"");
        codes.extend(quoted(&text, "ApiError::conflict(\""));
        assert!(codes.len() >= 25, "the search found too few: {codes:?}");
        for code in codes {
            assert!(!known(&code).is_empty(), "nothing explains {code}");
        }
    }

    #[test]
    fn an_explanation_is_a_sentence_and_says_what_to_do() {
        for (source, codes) in SOURCES {
            for (at, info) in codes.iter().enumerate() {
                // Of policy files some end with a remark in brackets.
                let ends = |text: &str| text.trim_end().ends_with(['.', ')', '`']);
                assert!(ends(info.title) && ends(info.advice), "{source}: {}", info.code);
                assert!(codes.iter().skip(at + 1).all(|other| other.code != info.code), "{source}: {}", info.code);
            }
        }
    }
}
