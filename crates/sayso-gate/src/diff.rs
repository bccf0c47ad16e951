//! A unified diff of two small texts, to show a change before it is made.

/// Lines of context.
const CONTEXT: usize = 3;

enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The change from one text to another; empty if there is none. `None` is a file that is not there.
#[must_use]
pub fn unified(name: &str, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let lines = compare(&split(before), &split(after));
    let side = |text: Option<&str>| if text.is_some() { name } else { "/dev/null" }.to_owned();
    let mut out = format!("--- {}\n+++ {}\n", side(before), side(after));
    for range in hunks(&lines) {
        let head = lines.get(..range.start).unwrap_or_default();
        let body = lines.get(range).unwrap_or_default();
        let count = |lines: &[Line<'_>]| {
            let gone = lines.iter().filter(|l| matches!(l, Line::Gone(_))).count();
            let new = lines.iter().filter(|l| matches!(l, Line::New(_))).count();
            let same = lines.len() - gone - new;
            (same + gone, same + new)
        };
        let ((skipped_old, skipped_new), (old, new)) = (count(head), count(body));
        // An empty side is said to begin before its first line.
        let start = |skipped: usize, length: usize| if length == 0 { skipped } else { skipped + 1 };
        out.push_str(&format!("@@ -{},{old} +{},{new} @@\n", start(skipped_old, old), start(skipped_new, new)));
        for line in body {
            let (sign, text) = match line {
                Line::Same(text) => (' ', text),
                Line::Gone(text) => ('-', text),
                Line::New(text) => ('+', text),
            };
            out.push(sign);
            out.push_str(text);
            if !text.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

fn split(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split_inclusive('\n').collect()
}

/// The longest common lines, found in the middle that is left between common ends.
fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_mid = old_rest.get(..old_rest.len() - tail).unwrap_or_default();
    let new_mid = new_rest.get(..new_rest.len() - tail).unwrap_or_default();

    let mut lines: Vec<Line<'a>> = old.iter().take(head).map(|l| Line::Same(l)).collect();
    // Quadratic: settings are small. Beyond that, the middle is shown as replaced.
    if old_mid.len().saturating_mul(new_mid.len()) <= 4_000_000 {
        middle(old_mid, new_mid, &mut lines);
    } else {
        lines.extend(old_mid.iter().map(|l| Line::Gone(l)));
        lines.extend(new_mid.iter().map(|l| Line::New(l)));
    }
    lines.extend(old.iter().skip(old.len() - tail).map(|l| Line::Same(l)));
    lines
}

fn middle<'a>(old: &[&'a str], new: &[&'a str], out: &mut Vec<Line<'a>>) {
    let width = new.len() + 1;
    let mut length = vec![0u32; (old.len() + 1) * width];
    let get = |length: &[u32], i: usize, j: usize| length.get(i * width + j).copied().unwrap_or_default();
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let best = if a == b {
                get(&length, i + 1, j + 1) + 1
            } else {
                get(&length, i + 1, j).max(get(&length, i, j + 1))
            };
            if let Some(cell) = length.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b => {
                out.push(Line::Same(a));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), b) if b.is_none() || get(&length, i + 1, j) >= get(&length, i, j + 1) => {
                out.push(Line::Gone(a));
                i += 1;
            }
            (_, Some(b)) => {
                out.push(Line::New(b));
                j += 1;
            }
            _ => return,
        }
    }
}

/// Ranges of lines around the changes; ranges that touch are one.
fn hunks(lines: &[Line<'_>]) -> Vec<std::ops::Range<usize>> {
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if matches!(line, Line::Same(_)) {
            continue;
        }
        let (from, to) = (at.saturating_sub(CONTEXT), (at + 1 + CONTEXT).min(lines.len()));
        match ranges.last_mut() {
            Some(last) if from <= last.end => last.end = to,
            _ => ranges.push(from..to),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n";
        assert_eq!(
            unified("f", Some(old), Some(new)),
            "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -10,3 +10,4 @@\n 10\n 11\n 12\n+13\n"
        );
    }

    #[test]
    fn a_new_file_comes_from_nowhere() {
        assert_eq!(unified("f", None, Some("a\n")), "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(unified("f", Some("a"), Some("a")), "");
    }

    proptest::proptest! {
        #[test]
        fn patch_makes_the_new_text_of_the_old(old in "([ab]\n){0,12}", new in "([abc]\n){0,12}") {
            proptest::prop_assume!(old != new);
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("f");
            std::fs::write(&file, &old).unwrap();
            let diff = unified("f", Some(&old), Some(&new));
            let mut child = std::process::Command::new("git")
                .args(["apply", "-p0", "--unidiff-zero", "-"])
                .current_dir(dir.path())
                .stdin(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            std::io::Write::write_all(child.stdin.as_mut().unwrap(), diff.as_bytes()).unwrap();
            proptest::prop_assert!(child.wait().unwrap().success(), "{}", diff);
            proptest::prop_assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), new);
        }
    }
}
