//! Commands that set and use values: what a walker must follow, or know that it cannot.

use crate::generate::Dice;

/// A few statements about few variables, so that they meet.
pub(crate) fn values(dice: &mut Dice) -> String {
    let count = 2 + dice.roll(4);
    // What is set at the start is known, so that there is something to lose.
    let start = dice.pick(&[
        "x=p1; y=a; z='p3 q'; n=1; set -- a p1; ",
        "x=p3 y=p1 z=a n=2; set -- p1; f() { p3 \"$1\"; }; ",
        "",
    ]);
    format!("{start}{}", statements(dice, 2, count))
}

fn statements(dice: &mut Dice, depth: usize, count: usize) -> String {
    let mut out = String::new();
    for at in 0..count {
        if at > 0 {
            out.push_str(dice.pick(&["; ", "; ", "\n"]));
        }
        out.push_str(&statement(dice, depth));
    }
    out
}

fn some(dice: &mut Dice, depth: usize) -> String {
    let count = 1 + dice.roll(3);
    statements(dice, depth.saturating_sub(1), count)
}

fn statement(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || dice.roll(5) < 3 {
        return simple(dice);
    }
    let x = name(dice);
    match dice.roll(16) {
        0 => format!("p1 && {}", statement(dice, depth - 1)),
        1 => format!("p2 || {}", statement(dice, depth - 1)),
        2 => format!("p1 && {} || {}", statement(dice, depth - 1), statement(dice, depth - 1)),
        3 => format!("if p1; then {}; else {}; fi", some(dice, depth), some(dice, depth)),
        4 => format!("if p2; then {}; fi", some(dice, depth)),
        5 => format!(
            "case ${x} in p1) {};; a*) {};& *) {};; esac",
            some(dice, depth),
            some(dice, depth),
            some(dice, depth)
        ),
        6 => format!("for {x} in a p1 {}; do {}; done", word(dice), some(dice, depth)),
        7 => format!("while p1; do {}; break; done", some(dice, depth)),
        8 => format!("for ((n=0; n<2; n++)); do {}; done", some(dice, depth)),
        9 => format!("{}() {{ {}; }}", dice.pick(&["f", "g", "p3"]), some(dice, depth)),
        10 => format!("( {} )", some(dice, depth)),
        11 => format!("{{ {}; }}", some(dice, depth)),
        12 => format!("{{ {}; }} | {}", some(dice, depth), statement(dice, depth - 1)),
        13 => format!("{{ {}; }} & wait", some(dice, depth)),
        14 => format!("trap {} EXIT", quoted(&some(dice, depth))),
        _ => format!("eval {}", quoted(&some(dice, depth))),
    }
}

fn simple(dice: &mut Dice) -> String {
    let (x, y) = (name(dice), name(dice));
    match dice.roll(44) {
        0..=5 => format!("{x}={}", word(dice)),
        6 => format!("{x}+={}", word(dice)),
        7..=9 => format!("${x} {}", word(dice)),
        10 => format!("\"${x}\" {}", word(dice)),
        11..=14 => format!("p3 {} {}", word(dice), word(dice)),
        15 => format!(": > {}", word(dice)),
        16 => format!("p1 > out-${x}"),
        17..=19 => {
            format!("cd {}", dice.pick(&["/tmp", "/home/u", "..", "nope", "~", "-", ".", "\"$x\"", "/tmp || exit"]))
        }
        20 => format!("f {} {}", word(dice), word(dice)),
        21 => "g".to_owned(),
        22 => format!("set -- {} {}", word(dice), word(dice)),
        23 => dice.pick(&["shift", "\"$@\"", "p3 \"$@\"", "$1 x", "p3 $# $*", "\"$2\""]).to_owned(),
        24 => format!("unset {x}"),
        25 => format!("export {x}={}", word(dice)),
        26 => format!("local {x}={}", word(dice)),
        27 => format!("read {x} <<< {}", word(dice)),
        28 => format!("read {x} {y} <<< {}", word(dice)),
        29 => dice.pick(&["break", "continue", "return", "exit", "return 1", "break 2"]).to_owned(),
        30 => dice.pick(&["IFS=,", "unset IFS", "IFS=", "IFS=a"]).to_owned(),
        31 => format!("declare {} {x}={}", dice.pick(&["-i", "-u", "-l", "-r", "-x", "-a", "-g", "-n"]), word(dice)),
        32 => format!("arr=({} {})", word(dice), word(dice)),
        33 => dice
            .pick(&["\"${arr[@]}\"", "p3 ${arr[1]}", "arr+=(z)", "arr[1]=p1", "${arr[0]} q", "p3 ${#arr[@]}"])
            .to_owned(),
        34 => format!("printf -v {x} %s {}", word(dice)),
        35 => format!("(( n{} ))", dice.pick(&["++", "+=2", "=3", "==1"])),
        36 => format!("[[ ${x} == p1 ]] && {y}={}", word(dice)),
        37 => format!("{x}={} {} {}", word(dice), dice.pick(&["f", "p3", "eval", "bash -c"]), quoted("p3 $x $y $z")),
        38 => format!("eval \"${x}\""),
        39 => format!("{} ${x} {}", dice.pick(&["command", "exec", "builtin", "! command"]), word(dice)),
        40 => format!("bash -c {} {} {}", quoted("$1 $x; p3 \"$@\""), word(dice), word(dice)),
        41 => dice
            .pick(&[
                "set -f",
                "set +f",
                "shopt -s nullglob",
                "set -e",
                "set -u",
                "alias p3=p1",
                "hash -r",
                "pushd /tmp",
            ])
            .to_owned(),
        42 => format!("{x}=$( {x}={}; echo ${x} )", word(dice)),
        _ => format!("readonly {x}; {x}={}", word(dice)),
    }
}

fn word(dice: &mut Dice) -> String {
    let (x, y) = (name(dice), name(dice));
    match dice.roll(26) {
        0..=3 => dice.pick(&["p1", "a", "p2", "x", "1", "p3"]).to_owned(),
        4 => dice.pick(&["'p1 a'", "'a b'", "p1,a", "''", "' p1'", "\"a  b\"", "a:b"]).to_owned(),
        5 | 6 => format!("${x}"),
        7 | 8 => format!("\"${x}\""),
        9 => format!("${{{x}:-{y}}}"),
        10 => format!("${{{x}:-${y}}}"),
        11 => format!("${{{x}:={}}}", dice.pick(&["p1", "a b", "$y"])),
        12 => format!("${{{x}:+${y}}}"),
        13 => format!(
            "${{{x}{}}}",
            dice.pick(&["#p", "%1", "##*a", "%%b*", "/p/q", "//a/p", "^^", ",,", ":1", ":0:2", ": -1"])
        ),
        14 => format!("\"${{{x}{}}}\"", dice.pick(&["#p", "%1", "%%\\ *", "/#p/r", "/%1/2", "^", ":1:1"])),
        15 => format!("$(( {} ))", dice.pick(&["1+1", "n", "n+1", "2**3", "$#", "n++", "x", "7/2", "-n", "1<2"])),
        16 => format!("$(echo {})", dice.pick(&["p1", "a b", "$x", "\"$y\"", "-n p1"])),
        17 => format!("`echo ${x}`"),
        18 => format!("{{a,${x}}}"),
        19 => {
            dice.pick(&["{1..3}", "{p1,a}", "a{,b}", "~", "~/q", "$PWD", "${PWD##*/}", "$HOME", "$OLDPWD"]).to_owned()
        }
        20 => dice.pick(&["$1", "\"$@\"", "$*", "$#", "\"$*\"", "${2:-z}", "${@:2}"]).to_owned(),
        21 => format!("${{!{x}}}"),
        22 => format!("${{#{x}}}"),
        23 => dice.pick(&["${arr[0]}", "\"${arr[@]}\"", "${arr[n]}", "${#arr[@]}", "${!arr[@]}"]).to_owned(),
        24 => format!("${x}${y}"),
        _ => format!("p${{{x}#p}}"),
    }
}

fn name(dice: &mut Dice) -> &'static str {
    dice.pick(&["x", "y", "z", "x", "y", "n"])
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
