//! `sayso analyze`: for people, and the contract of `--jsonl`.

use crate::person::Person;
use serde_json::{Value, json};

fn lines(input: &str) -> Vec<Value> {
    let said = Person::new().run_with(&["analyze", "--jsonl"], input);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    // Lone surrogates are no text to this reader: compare them as written.
    said.out.lines().map(|line| serde_json::from_str(&line.replace("\\udc", "\\\\udc")).unwrap()).collect()
}

fn without_paths(mut answer: Value) -> Value {
    for program in answer["programs"].as_array_mut().unwrap() {
        program.as_object_mut().unwrap().remove("path");
    }
    answer
}

#[test]
fn a_line_lists_programs_and_effects_as_after_expansion() {
    let got = lines(concat!(
        r#"{"id":1,"command":"cd src && rm -rf \"$TMP\" x > log 2>/dev/null","cwd":"/app","home":"/home/x"}"#,
        "\n",
        r#"{"id":2,"command":"sudo env A=1 cat ~/a caf\udce9","cwd":"/app","home":"/home/x"}"#,
        "\n",
    ));
    assert_eq!(
        without_paths(got[0].clone()),
        json!({"id": 1, "opaque": false,
            "programs": [
                {"name": "cd", "argv": ["cd", "src"], "builtin": true},
                {"name": "rm", "argv": ["rm", "-rf", null, "x"]},
            ],
            "reads": [], "writes": ["/app/src/log"], "deletes": [null, "/app/src/x"], "connects": [], "doubts": []})
    );
    let second = without_paths(got[1].clone());
    assert_eq!(
        second["programs"],
        json!([
            {"name": "sudo", "argv": ["sudo", "env", "A=1", "cat", "/home/x/a", "caf\\udce9"]},
            {"name": "env", "argv": ["env", "A=1", "cat", "/home/x/a", "caf\\udce9"]},
            {"name": "cat", "argv": ["cat", "/home/x/a", "caf\\udce9"]},
        ])
    );
    assert_eq!(second["reads"], json!(["/home/x/a", "/app/caf\\udce9"]));
}

#[test]
fn what_is_not_known_is_null_and_what_cannot_be_read_is_opaque() {
    let got = lines(concat!(
        r#"{"id":1,"command":"cat a > b"}"#,
        "\n",
        r#"{"id":2,"command":"ls\u0000"}"#,
        "\n",
        r#"{"id":3,"command":"if"}"#,
        "\n",
        r#"{"id":4,"command":"eval \"$x\""}"#,
        "\n",
        r#"{"id":5}"#,
        "\n",
        r#"{"id":6,"command":"ls","cwd":"relative"}"#,
        "\n",
    ));
    assert_eq!((&got[0]["reads"], &got[0]["writes"]), (&json!([null]), &json!([null])));
    for answer in &got[1..4] {
        assert_eq!(answer["opaque"], true, "{answer}");
        assert!(!answer["doubts"].as_array().unwrap().is_empty(), "{answer}");
    }
    assert_eq!(got[4], json!({"id": 5, "error": "`command` is missing."}));
    assert_eq!(got[5], json!({"id": 6, "error": "`cwd` must be an absolute path."}));
}

#[test]
fn people_see_structure_programs_effects_and_what_is_unclear() {
    let person = Person::new();
    let said = person.run(&["analyze", "echo hi > log; eval \"$x\""]);
    assert_eq!(
        said.out,
        "\
structure
  commands
    command  [0..13]
      word 'echo'  [0..4]
      word 'hi'  [5..7]
      redirect >  [8..13]
        target 'log'  [10..13]
    command  [15..24]
      word 'eval'  [15..19]
      word  [20..24]
        double quotes  [20..24]
          variable 'x'  [21..23]

programs
  command    program
  echo hi    builtin
  eval \"$x\"  builtin

effects
  effect
  write   ./log
  run     echo
  run     eval
  run     anything (Sayso cannot see all of it)

opaque: there may be more than is listed here

`eval` runs text that is not known.  [dynamic-text]
  echo hi > log; eval \"$x\"
                      ^^^^
"
    );
    assert_eq!(person.run(&["analyze"]).code, 2);
}
