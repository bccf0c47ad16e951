use super::*;

fn texts(path: &str, content: &str, asked: &[&str]) -> Vec<String> {
    let asked = if asked.is_empty() { Asked::All } else { Asked::Words(asked) };
    let (_, found) = words(Path::new(path), content.as_bytes(), None, &asked);
    found.named.into_iter().map(|named| named.text).collect()
}
#[test]
fn a_package_names_what_the_script_that_runs_names() {
    let package = r#"{"main": "lib.js", "scripts": {"a": "node a.js", "prea": "sh pre.sh", "b": "npm run c && x", "c": "node c.js"}}"#;
    let of = |asked: &str| texts("package.json", package, &["run", asked]);
    assert_eq!(of("a"), ["node", "a.js", "sh", "pre.sh"]);
    assert!(of("b").contains(&"c.js".to_owned()) && !of("b").contains(&"a.js".to_owned()));
    assert!(!of("none").contains(&"lib.js".to_owned()));
    assert!(of("none").contains(&"a.js".to_owned()));
}

#[test]
fn includes_and_modules_are_named() {
    let text = b"-include conf *.mk\nall:\n\t@./run $(X)/y.sh";
    let (_, makefile) = words(Path::new("Makefile"), text, None, &Asked::All);
    let named = |text: &str| makefile.named.iter().find(|named| named.text == text).map(|named| named.taken_in);
    assert_eq!(
        [named("conf"), named("*.mk"), named("./run"), named("/y.sh")],
        [Some(true), Some(true), Some(false), Some(false)]
    );
    let python = texts("x.py", "import a.b, c\nfrom .d import e\nfrom ..f.g import h", &[]);
    for name in ["a/b", "c", "d", "d/e", "../f/g", "../f/g/h"] {
        assert!(python.contains(&name.to_owned()), "{name}: {python:?}");
    }
    assert!(texts("x.js", "const a = require('./lib/a')", &[]).contains(&"./lib/a".to_owned()));
}
