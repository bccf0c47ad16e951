//! Seeded random shell commands, realistic and evil.

/// A small random number generator (xorshift), so that a seed gives the same commands everywhere.
pub(crate) struct Dice {
    state: u64,
    /// No texts that are broken on purpose.
    calm: bool,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, calm: false }
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap() % sides
    }

    pub(crate) fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.roll(from.len())]
    }

    /// One time out of `n`.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.roll(n) == 0
    }
}

/// A command text of the whole grammar, nested up to `depth`. A `calm` one is shorter and seldom broken, so that an
/// analysis has something to say.
pub(crate) fn text(dice: &mut Dice, depth: usize, calm: bool) -> String {
    dice.calm = calm;
    let mut text = if calm { and_or(dice, depth) } else { list(dice, depth) };
    if calm && dice.once_in(2) {
        text = format!("{text}{}{}", dice.pick(&["; ", "\n", " & "]), and_or(dice, depth));
    }
    if dice.once_in(if calm { 8 } else { 3 }) {
        mutate(dice, &mut text);
    }
    text
}

/// Bytes that matter, put in or taken out somewhere.
fn mutate(dice: &mut Dice, text: &mut String) {
    const NOISE: &[&str] = &[
        "'",
        "\"",
        "`",
        "\\",
        "\\\n",
        "$",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        "&",
        "|",
        "<",
        ">",
        "#",
        "!",
        "\n",
        " ",
        "=",
        "$(",
        "${",
        "((",
        "))",
        "<<",
        "<<E",
        "<<<",
        ";;",
        "&&",
        "||",
        "|&",
        "&>",
        ">&",
        ">&-",
        "do",
        "done",
        "fi",
        "then",
        " in ",
        "esac",
        "time ",
        "! ",
        "2>",
        "{a}>",
        "$'",
        "$\"",
        "<(",
        ">(",
        "[[",
        "]]",
        "*",
        "?",
        "@(",
        "~",
        "+=",
        ":-",
        "\t",
        "case",
        "function ",
        "coproc ",
        "1",
    ];
    for _ in 0..=dice.roll(2) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        if places.is_empty() {
            return;
        }
        let at = places[dice.roll(places.len())];
        match dice.roll(3) {
            0 => drop(text.remove(at)),
            1 => text.insert_str(at, dice.pick(NOISE)),
            _ => {
                text.remove(at);
                text.insert_str(at, dice.pick(NOISE));
            }
        }
    }
}

fn list(dice: &mut Dice, depth: usize) -> String {
    let mut out = and_or(dice, depth);
    for _ in 0..dice.roll(3) {
        out += dice.pick(&["; ", "\n", " & ", ";", "&", "\n\n", " # note\n", " ;\n"]);
        out += &and_or(dice, depth);
    }
    if dice.once_in(4) {
        out += dice.pick(&[";", "\n", "&", " # end\n"]);
    }
    out
}

/// A list that ends so that a reserved word may follow.
fn closed(dice: &mut Dice, depth: usize) -> String {
    let mut out = and_or(dice, depth);
    if dice.once_in(3) {
        out += dice.pick(&["; ", "\n", " & "]);
        out += &and_or(dice, depth);
    }
    out + dice.pick(&[";", "\n", "; ", " & "])
}

fn and_or(dice: &mut Dice, depth: usize) -> String {
    let mut out = pipeline(dice, depth);
    while dice.once_in(4) {
        out += dice.pick(&[" && ", " || ", "&&", "||", " &&\n", " || # why\n ", " &\\\n& "]);
        out += &pipeline(dice, depth);
    }
    out
}

fn pipeline(dice: &mut Dice, depth: usize) -> String {
    let mut out = String::new();
    if dice.once_in(10) {
        out += dice.pick(&["! ", "time ", "time -p ", "! ! ", "time -- ", "time ! "]);
    }
    out += &command(dice, depth);
    while dice.once_in(5) {
        out += dice.pick(&[" | ", "|", " |& ", " |\n", " | # why\n"]);
        out += &command(dice, depth);
    }
    out
}

fn command(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || !dice.once_in(3) {
        return simple(dice, depth);
    }
    let d = depth - 1;
    let mut out = match dice.roll(17) {
        16 => format!("{{ {}{}}}", simple(dice, d), here_document(dice, d)),
        0 => format!("{{ {} }}", closed(dice, d)),
        1 => format!("({})", list(dice, d)),
        2 => format!("( {} )", list(dice, d)),
        3 => format!("if {} then {} fi", closed(dice, d), closed(dice, d)),
        4 => format!(
            "if {} then {} elif {} then {} else {} fi",
            closed(dice, d),
            closed(dice, d),
            closed(dice, d),
            closed(dice, d),
            closed(dice, d)
        ),
        5 => format!("{} {} do {} done", dice.pick(&["while", "until"]), closed(dice, d), closed(dice, d)),
        6 => format!("for i in {} {}; do {} done", word(dice, d), word(dice, d), closed(dice, d)),
        7 => format!("for i{}do {} done", dice.pick(&[" ", ";", "\n", "; ", " in a\n"]), closed(dice, d)),
        8 => format!(
            "for ((i={};i<2;i++)){} do {} done",
            arithmetic(dice, d),
            dice.pick(&[";", "", "\n"]),
            closed(dice, d)
        ),
        9 | 10 => case(dice, d),
        11 => format!("[[ {} ]]", condition(dice, d)),
        12 => format!("(( {} ))", arithmetic(dice, d)),
        13 => format!(
            "{} {{ {} }}",
            dice.pick(&["f()", "f ()", "function f", "function f()", "function f\n", "f()\n"]),
            closed(dice, d)
        ),
        14 => format!("{} {{ {} }}", dice.pick(&["coproc", "coproc N"]), closed(dice, d)),
        _ => format!("(({}); {})", list(dice, d), list(dice, d)),
    };
    if dice.once_in(4) {
        out += &redirect(dice, d);
    }
    out
}

fn case(dice: &mut Dice, d: usize) -> String {
    let mut out = format!("case {} in ", word(dice, d));
    for _ in 0..=dice.roll(2) {
        out += dice.pick(&["", "(", "\n"]);
        out += &word(dice, d);
        if dice.once_in(4) {
            out += dice.pick(&["|", " | "]);
            out += &word(dice, d);
        }
        out += ") ";
        if !dice.once_in(5) {
            out += &list(dice, d);
        }
        out += dice.pick(&[" ;; ", ";;\n", " ;& ", " ;;& ", "\n;;"]);
    }
    out + "esac"
}

fn condition(dice: &mut Dice, d: usize) -> String {
    let term = match dice.roll(8) {
        0 => word(dice, d),
        1 => format!("-f {}", word(dice, d)),
        2 => format!("{} == {}", word(dice, d), word(dice, d)),
        3 => format!("{} =~ {}", word(dice, d), dice.pick(&["a", "(a|b)", "^a$", "a|b", "[a-z]+", "(a b)"])),
        4 => format!("! {}", word(dice, d)),
        5 => format!("( {} )", word(dice, d)),
        6 => format!("{} < {}", word(dice, d), word(dice, d)),
        _ => format!("{} -eq {}", word(dice, d), word(dice, d)),
    };
    if d > 0 && dice.once_in(4) {
        format!("{term} {} {}", dice.pick(&["&&", "||", "&&\n"]), condition(dice, d - 1))
    } else {
        term
    }
}

fn arithmetic(dice: &mut Dice, d: usize) -> String {
    let term = match dice.roll(8) {
        0 | 1 => dice.pick(&["1", "i", "a[1]", "2*3", "'1'", "\"1\"", "i++"]).to_owned(),
        2 => format!("({})", dice.pick(&["1", "i", "1+2"])),
        3 if d > 0 => format!("$({})", list(dice, d - 1)),
        4 if d > 0 => format!("${{x:-{}}}", word(dice, d - 1)),
        5 if d > 0 => format!("a[{}]", arithmetic(dice, d - 1)),
        6 if d > 0 => format!("$(({}))", arithmetic(dice, d - 1)),
        _ => "$x".to_owned(),
    };
    if d > 0 && dice.once_in(3) {
        format!("{term}{}{}", dice.pick(&["+", " * ", "<", "==", ",", "?1:"]), arithmetic(dice, d - 1))
    } else {
        term
    }
}

fn simple(dice: &mut Dice, depth: usize) -> String {
    let mut out = String::new();
    while dice.once_in(6) {
        out += &assignment(dice, depth);
        out += " ";
    }
    if dice.once_in(12) {
        out += redirect(dice, depth).trim_start();
        out += " ";
    }
    out += &match dice.roll(40) {
        0 => word(dice, depth),
        1..=3 => {
            format!("{} {}", dice.pick(&["declare", "export", "local", "readonly", "typeset"]), assignment(dice, depth))
        }
        _ => dice
            .pick(&[
                "p1", "p2", "p3", "echo", "true", "false", "test", ":", "e\\\ncho", "'p1'", "p\"2\"", "\\p3", "if\"\"",
            ])
            .to_owned(),
    };
    for _ in 0..dice.roll(4) {
        out += dice.pick(&[" ", " ", " ", "\t", "  ", " \\\n "]);
        out += &word(dice, depth);
    }
    while dice.once_in(6) {
        out += &redirect(dice, depth);
    }
    out
}

fn assignment(dice: &mut Dice, depth: usize) -> String {
    let d = depth.saturating_sub(1);
    match dice.roll(7) {
        0 => format!("a=({} {})", word(dice, d), word(dice, d)),
        1 => format!("a[{}]={}", arithmetic(dice, d), word(dice, d)),
        2 => format!("a=([{}]={} [k]+=v)", arithmetic(dice, d), word(dice, d)),
        3 => "x=".to_owned(),
        4 => format!("x+={}", word(dice, d)),
        _ => format!("x={}", word(dice, d)),
    }
}

fn redirect(dice: &mut Dice, depth: usize) -> String {
    let d = depth.saturating_sub(1);
    match dice.roll(16) {
        0 => " 2>&1".to_owned(),
        1 => dice.pick(&[" >&-", " 3<&-", " >&2", " <&0", " >&-p1", " 2>&1-"]).to_owned(),
        2 => format!(" &>{}", word(dice, d)),
        3 => format!(" {{fd}}>{}", word(dice, d)),
        4 => format!(" <<< {}", word(dice, d)),
        5 => format!(" < <({})", list(dice, d)),
        6 => format!(" > >({})", list(dice, d)),
        7 | 8 if !dice.calm => here_document(dice, d),
        _ => format!(
            " {}{}{}",
            dice.pick(&[">", ">>", "<", "2>", ">|", "<>", "&>>"]),
            dice.pick(&["", " "]),
            word(dice, d)
        ),
    }
}

/// The operator and, on the lines after it, the text: what follows on the same line comes after the text here, which
/// is just what makes some of these unusual.
fn here_document(dice: &mut Dice, d: usize) -> String {
    let (operator, end) =
        *[("<<E", "E"), ("<<'E'", "E"), ("<<-E", "\tE"), ("<<\\E", "E"), ("<<\"E\"", "E")].get(dice.roll(5)).unwrap();
    let mut body = String::new();
    for _ in 0..dice.roll(3) {
        body += &match dice.roll(7) {
            0 => format!("$({})", list(dice, d.saturating_sub(1))),
            1 => format!("`{}`", dice.pick(&["p1", "p2 a", "echo \\`p3\\`"])),
            2 => format!("${{x:-{}}}", word(dice, d.saturating_sub(1))),
            3 => "'quoted' \"too\"".to_owned(),
            4 => "a \\\nb".to_owned(),
            5 => "\\$(p1)".to_owned(),
            _ => "\ttext".to_owned(),
        };
        body += "\n";
    }
    format!(" {operator}\n{body}{end}\n")
}

fn word(dice: &mut Dice, depth: usize) -> String {
    let mut out = part(dice, depth);
    while dice.once_in(4) {
        out += &part(dice, depth);
    }
    out
}

fn part(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || dice.once_in(2) {
        let part = dice.pick(&[
            "a",
            "b",
            "-x",
            "--long=1",
            "./f",
            "~/d",
            "*.c",
            "[ab]",
            "{a,b}",
            "{1..3}",
            "'q q'",
            "\"d d\"",
            "\\ ",
            "\\;",
            "$x",
            "${x}",
            "$1",
            "$?",
            "$@",
            "\"$@\"",
            "''",
            "\"\"",
            "$'\\x70\\061'",
            "$\"l\"",
            "a=b",
            "if",
            "}",
            "{",
            "!",
            "#c",
            "a#b",
            "1",
            "2",
            "$",
            "\"$\"",
            "'$(p1)'",
            "\\$x",
            "\"\\$(p1)\"",
            "%",
            "@",
            "=",
            "]",
            "u\u{fc}",
            "a\\\nb",
            "\"a\\\nb\"",
            "$\\\nx",
        ]);
        // A comment would swallow the brackets that close around it.
        return if dice.calm && part == "#c" { "\\#c" } else { part }.to_owned();
    }
    let d = depth - 1;
    match dice.roll(20) {
        0..=2 => format!("$({})", list(dice, d)),
        3 | 4 => format!("\"$({})\"", list(dice, d)),
        5 => format!("`{}`", simple(dice, 0).replace(['`', '\\'], "")),
        6 => format!("\"`{}`\"", simple(dice, 0).replace(['`', '\\', '"'], "")),
        7 => format!("<({})", list(dice, d)),
        8 => format!(">({})", list(dice, d)),
        9 => format!("$(({}))", arithmetic(dice, d)),
        10 => format!("$[{}]", arithmetic(dice, d)),
        11 => format!("${{x{}{}}}", dice.pick(&[":-", "-", ":=", ":+", "+", ":?"]), word(dice, d)),
        12 => format!("\"${{x{}{}}}\"", dice.pick(&[":-", "-", ":=", ":+", "+"]), word(dice, d)),
        13 => format!("${{x{}{}}}", dice.pick(&["#", "##", "%", "%%", "^", "^^", ",,"]), word(dice, d)),
        14 => format!("\"${{x{}{}}}\"", dice.pick(&["#", "%%", "^"]), word(dice, d)),
        15 => format!("${{x/{}/{}}}", word(dice, d), word(dice, d)),
        16 => format!("${{x:{}:{}}}", arithmetic(dice, d), arithmetic(dice, d)),
        17 => format!("${{a[{}]}}", arithmetic(dice, d)),
        18 => format!(
            "\"a{}b{}\"",
            dice.pick(&["$x", "${x}", "$(p1)", "'", "`p2`", " "]),
            dice.pick(&["$y", "\\\"", "\\\\", "", "$((1))"])
        ),
        _ => format!("$(( ({}) ))", arithmetic(dice, d)),
    }
}
