use super::*;
use sayso_shell::{NoFiles, Single, Text};

fn bases() -> Bases {
    Bases {
        workspace: Some(PathBuf::from("/p/app")),
        permit_workspace: true,
        home: Some(PathBuf::from("/home/ann")),
        beside: None,
        claimed_homes: Vec::new(),
    }
}

fn exact(pattern: &str, path: &str, purpose: Purpose) -> Tri {
    let resolved = Resolved { canonical: Some(path.into()), lexical: Some(path.into()) };
    let tree = Tree::over(&NoFiles, Ground::unknown());
    PathPattern::parse(pattern).unwrap().matches(
        Verb::Read,
        &PathTarget::Exact(path.into()),
        &resolved,
        &bases(),
        &tree,
        purpose,
    )
}

#[test]
fn components_match_below_their_anchor_and_nowhere_else() {
    for (pattern, path, expected) in [
        ("./**", "/p/app", Tri::Yes),
        ("./**", "/p/app/src/x.rs", Tri::Yes),
        ("./**", "/p/app-evil/x", Tri::No),
        ("./**", "/p", Tri::No),
        ("src/*.rs", "/p/app/src/x.rs", Tri::Yes),
        ("src/*.rs", "/p/app/src/a/x.rs", Tri::No),
        ("./src/**/x.rs", "/p/app/src/x.rs", Tri::Yes),
        ("./src/**/x.rs", "/p/app/src/a/b/x.rs", Tri::Yes),
        ("~/.ssh/**", "/home/ann/.ssh/id_rsa", Tri::Yes),
        ("~/.ssh/**", "/home/bob/.ssh/id_rsa", Tri::No),
        ("/**/.env", "/p/app/.env", Tri::Yes),
        ("/**/.env", "/.env", Tri::Yes),
        ("/**/.env", "/p/app/.env.example", Tri::No),
        ("/etc/*", "/etc/passwd", Tri::Yes),
        ("/etc/*", "/etc", Tri::No),
        ("re:^/p/.*[.]md$", "/p/app/a.md", Tri::Yes),
    ] {
        assert_eq!(exact(pattern, path, Purpose::Permit), expected, "{pattern} {path}");
        assert_eq!(exact(pattern, path, Purpose::Restrict), expected, "{pattern} {path}");
    }
}

#[test]
fn another_case_of_a_denied_name_is_maybe_and_of_an_allowed_one_is_no() {
    assert_eq!(exact("/**/.env", "/p/app/.ENV", Purpose::Restrict), Tri::Maybe);
    assert_eq!(exact("/**/.env", "/p/app/.ENV", Purpose::Permit), Tri::No);
}

#[test]
fn a_workspace_that_is_too_wide_permits_nothing_but_still_restricts() {
    let bases = Bases { permit_workspace: false, ..bases() };
    let pattern = PathPattern::parse("./**").unwrap();
    assert!(!pattern.matches_path(Path::new("/p/app/x"), &bases, Purpose::Permit));
    assert!(pattern.matches_path(Path::new("/p/app/x"), &bases, Purpose::Restrict));
}

#[test]
fn an_unknown_working_directory_still_shows_the_name() {
    let floating =
        |pattern: &str, path: &str| PathPattern::parse(pattern).unwrap().floating(Path::new(path), Purpose::Restrict);
    assert_eq!(floating("/**/.env", ".env"), Tri::Yes);
    assert_eq!(floating("/**/.env", "a/.env"), Tri::Yes);
    assert_eq!(floating("~/.aws/credentials", "credentials"), Tri::Maybe);
    assert_eq!(floating("~/.ssh/**", "README.md"), Tri::No);
    assert_eq!(floating("/**/.env", "README.md"), Tri::No);
    assert_eq!(floating("/**/.env", "../x"), Tri::Maybe);
    let permit = PathPattern::parse("./**").unwrap().floating(Path::new("x"), Purpose::Permit);
    assert_eq!(permit, Tri::No);
}

#[test]
fn an_unknown_path_is_maybe_where_its_shape_allows_it() {
    let shape = |parts: Vec<Part>| Shape::single(parts, Origin::Unknown, Single::Quoted);
    let literal = |text: &str| Part::Literal(Text::from(text));
    let unknown =
        |pattern: &str, shape: &Shape| PathPattern::parse(pattern).unwrap().unknown(Some(shape), Purpose::Restrict);
    let rust_file = shape(vec![literal("src/"), Part::Hole, literal(".rs")]);
    assert_eq!(unknown("/**/.env", &rust_file), Tri::No);
    assert_eq!(unknown("~/.ssh/**", &rust_file), Tri::Maybe);
    assert_eq!(unknown("/**/.env", &shape(vec![Part::Hole])), Tri::Maybe);
    assert_eq!(unknown("/**/.env", &shape(vec![literal("/p/app/"), Part::Hole])), Tri::Maybe);
}

#[test]
fn keys_are_the_literal_part() {
    let key = |text: &str| PathPattern::parse(text).unwrap().key();
    assert_eq!(key("/etc/ssl/**"), PathKey::Under("/etc/ssl".into()));
    assert_eq!(key("/**/.env"), PathKey::Holds(b".env"[..].into()));
    assert_eq!(key("./**"), PathKey::Any);
}

#[test]
fn a_pattern_names_what_is_guarded_only_by_its_own_words() {
    let names = |mine: &str, guard: &str| PathPattern::parse(mine).unwrap().names(&PathPattern::parse(guard).unwrap());
    assert!(!names("./**", "/**/.git/hooks/**"));
    assert!(names("./.git/**", "/**/.git/hooks/**"));
    assert!(names("./.env", "/**/.env"));
    assert!(!names("./*", "/**/.env"));
    assert!(names("/**/*.pem", "/**/*.pem"));
    assert!(!names("/etc/**", "/etc/shadow"));
}

#[test]
fn patterns_that_cannot_mean_anything_are_errors() {
    for bad in ["../x", "a/../b", "~bob/x", "a/b**c"] {
        assert!(PathPattern::parse(bad).is_err(), "{bad}");
    }
    assert!(PathPattern::parse("re:(").is_err());
}
