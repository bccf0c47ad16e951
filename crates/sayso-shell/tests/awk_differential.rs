//! The reader of awk programs against awk itself. `mawk -W dump` compiles a program and lists its instructions without
//! running it: every command, output file and input file that is compiled in, the reader must have found or called unclear.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]

use sayso_shell::script::{self, Finding};
use std::process::{Command, Stdio};

/// How often a program runs a command, writes a file and reads one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    runs: usize,
    writes: usize,
    reads: usize,
}

/// What mawk compiles. `None`: it refuses the program, or is not there.
fn compiled(program: &str) -> Option<Counts> {
    let output = Command::new("mawk").args(["-W", "dump", program]).stdin(Stdio::null()).output().ok()?;
    if !output.status.success() || !output.stderr.is_empty() {
        return None;
    }
    let mut counts = Counts::default();
    let mut way = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split_ascii_whitespace().skip_while(|word| *word != ".").skip(1);
        let (instruction, operand) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match (instruction, way.as_str()) {
            ("system", _) | ("print" | "printf", "-3") | ("getline", "-4") => counts.runs += 1,
            ("print" | "printf", "-1" | "-2") => counts.writes += 1,
            ("getline", "-5") => counts.reads += 1,
            _ => {}
        }
        way = if instruction == "pushint" { operand.to_owned() } else { String::new() };
    }
    Some(counts)
}

fn read(program: &str) -> (Counts, bool) {
    let mut counts = Counts::default();
    let mut unclear = false;
    for finding in script::awk(program.as_bytes()) {
        match finding {
            Finding::Shell(_) => counts.runs += 1,
            Finding::Write(_) => counts.writes += 1,
            Finding::Read(_) => counts.reads += 1,
            _ => unclear = true,
        }
    }
    (counts, unclear)
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// An expression, nested to a small depth.
fn expression(numbers: &mut Numbers, depth: usize) -> String {
    const LEAVES: &[&str] = &[
        "a",
        "$1",
        "$NF",
        "1",
        "2.5",
        "\"s\"",
        "\"a > b | c\"",
        "\"q\\\"x\"",
        "/re/",
        "/a|b>c/",
        "/\\//",
        "x[1]",
        "x[a > b]",
        "NR",
        "length",
        "length($0)",
        "a++",
        "--b",
        "\"/* \"",
        "(a > b)",
        "system(\"id\")",
        "(\"id\" | getline)",
        "(getline l < \"f\")",
        "(getline)",
        "substr($0, 1)",
    ];
    if depth == 0 || numbers.below(3) == 0 {
        return numbers.pick(LEAVES).to_owned();
    }
    let (left, right) = (expression(numbers, depth - 1), expression(numbers, depth - 1));
    match numbers.below(10) {
        0 => format!("({left})"),
        1 => format!("({left} > {right})"),
        2 => format!("{left} ? {right} : a"),
        3 => format!("!{left}"),
        4 => format!("{left} / {right}"),
        5 => format!("{left} ~ /x{}y/", numbers.pick(&["", "|", ">", "\\/", "\""])),
        6 => format!("f({left}, {right})"),
        _ => format!(
            "{left} {} {right}",
            numbers.pick(&["+", "-", "*", "/", "%", "==", "<", ">", ">=", "&&", "||", "", "=", ","])
        ),
    }
}

fn statement(numbers: &mut Numbers, depth: usize) -> String {
    let value = expression(numbers, 2);
    let target = numbers.pick(&["\"out\"", "\"a\" \"b\"", "$1", "(\"out\")", "name", "\"/dev/stderr\" x"]);
    let printed = if numbers.below(3) == 0 { format!("({value}, 2)") } else { value.clone() };
    match numbers.below(12) {
        0 => format!("print {printed} > {target}"),
        1 => format!("print {printed} >> {target}"),
        2 => format!("print {printed} | {target}"),
        3 => format!("printf \"%s\", {value} > {target}"),
        4 => format!("print {printed}"),
        5 => format!("{target} | getline y"),
        6 => format!("getline y < {target}"),
        7 if depth > 0 => {
            format!("if ({value}) {} ; else {}", statement(numbers, depth - 1), statement(numbers, depth - 1))
        }
        8 if depth > 0 => format!("while ({value}) {{ {}\n}}", statement(numbers, depth - 1)),
        9 if depth > 0 => format!("for (k in x) {}", statement(numbers, depth - 1)),
        10 => format!("v = {value}"),
        _ => value,
    }
}

fn program(numbers: &mut Numbers) -> String {
    let mut text = numbers.pick(&["", "# print > \"x\"\n", "function f(p, q) { return p > q }\n"]).to_owned();
    for _ in 0..1 + numbers.below(3) {
        let body: Vec<String> = (0..1 + numbers.below(3)).map(|_| statement(numbers, 2)).collect();
        let separator = numbers.pick(&["; ", "\n", " ;\n"]);
        let pattern = numbers.pick(&["BEGIN ", "", "$1 > 5 ", "/x|y/ ", "END ", "a > b && /z/ "]);
        text.push_str(&format!("{pattern}{{ {} }}\n", body.join(separator)));
    }
    text
}

#[test]
fn whatever_is_compiled_in_is_found() {
    if compiled("{ print > \"f\" }") != Some(Counts { writes: 1, ..Counts::default() }) {
        return; // another awk
    }
    let cases: usize = std::env::var("SAYSO_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    let mut numbers = Numbers(0x00a3_cafe_5eed_1234);
    let (mut accepted, mut strict, mut unclears, mut left) = (0, 0, 0, 0);
    for _ in 0..cases {
        let text = program(&mut numbers);
        let Some(real) = compiled(&text) else { continue };
        accepted += 1;
        left += real.runs + real.writes + real.reads;
        let (found, unclear) = read(&text);
        unclears += usize::from(unclear);
        strict += usize::from(found != real);
        // What is compiled as a command or file but goes to standard error is none for a policy.
        let known_devices = text.matches("\"/dev/stderr\"").count();
        let enough = found.runs >= real.runs
            && found.writes + known_devices >= real.writes
            && found.reads + known_devices >= real.reads;
        assert!(unclear || enough, "mawk has {real:?}, the reader {found:?}:\n{text}");
    }
    println!(
        "{cases} programs, {accepted} accepted with {left} ways out, {unclears} unclear, {strict} differ to the strict side"
    );
    assert!(accepted > cases / 10 && left > accepted, "the generator no longer hits: {accepted} of {cases}, {left}");
}
