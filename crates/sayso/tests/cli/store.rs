//! `sayso store`.

use crate::person::Person;
use serde_json::Value;

/// As the first version of the store left it, with two decisions.
const FIRST_VERSION: &str = include_str!("../../../sayso-gate/tests/stores/version-1.sql");

fn old_store(person: &Person) {
    let folder = person.home().join(".local/state/sayso");
    std::fs::create_dir_all(&folder).unwrap();
    rusqlite::Connection::open(folder.join("sayso.db")).unwrap().execute_batch(FIRST_VERSION).unwrap();
}

#[test]
fn a_check_changes_nothing_and_says_what_to_do() {
    let person = Person::new();
    assert!(person.run(&["store", "check"]).out.starts_with("There is no database yet; "));
    old_store(&person);
    let said = person.run(&["store", "check"]);
    assert!(said.out.contains("version 1, ") && said.out.contains("`sayso store migrate`"), "{}", said.out);
    let json: Value = serde_json::from_str(&person.run(&["store", "check", "--json"]).out).unwrap();
    assert_eq!((&json["version"], &json["whole"]), (&1.into(), &true.into()));
}

#[test]
fn an_old_store_is_brought_up_to_date_and_keeps_its_records() {
    let person = Person::new();
    old_store(&person);
    let said = person.run(&["store", "migrate"]).out;
    assert!(said.starts_with("The database was updated from version 1 to "), "{said}");
    assert!(person.run(&["store", "migrate"]).out.contains("the latest"));
    assert_eq!(person.run(&["log"]).out.lines().count(), 2);
    assert_eq!(person.run(&["log", "verify"]).code, 0);
}

#[test]
fn a_store_of_a_newer_sayso_is_refused_with_what_to_do() {
    let person = Person::new();
    old_store(&person);
    let store = person.home().join(".local/state/sayso/sayso.db");
    rusqlite::Connection::open(&store).unwrap().execute("INSERT INTO migration VALUES (99, 0)", []).unwrap();
    assert_eq!(person.run(&["store", "check"]).code, 2);
    let said = person.run(&["log"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("version 99") && said.err.contains("use a newer Sayso"), "{}", said.err);
}

#[test]
fn a_backup_is_a_store_of_its_own() {
    let person = Person::new();
    old_store(&person);
    let copy = person.project().join("copy.db");
    assert_eq!(person.run(&["store", "backup", copy.to_str().unwrap()]).code, 0);
    assert_eq!(person.run(&["store", "backup", copy.to_str().unwrap()]).code, 2);
    let other = Person::new();
    let folder = other.home().join(".local/state/sayso");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(&copy, folder.join("sayso.db")).unwrap();
    assert_eq!(other.run(&["log"]).out, person.run(&["log"]).out);
    assert_eq!(other.run(&["log", "verify"]).code, 0);
}

#[test]
fn a_damaged_store_is_told_and_denies() {
    let person = Person::new();
    old_store(&person);
    person.run(&["store", "migrate"]);
    let store = person.home().join(".local/state/sayso/sayso.db");
    let mut bytes = std::fs::read(&store).unwrap();
    let whole = bytes.len();
    bytes[4096..whole].fill(0x5A);
    std::fs::write(&store, bytes).unwrap();
    let said = person.run(&["store", "check"]);
    assert_ne!(said.code, 0, "{said:?}");
}
