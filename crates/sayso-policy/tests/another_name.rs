//! A rule against a program holds for it under every name and behind every starter.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod imaged;
mod machine;

use imaged::Both;
use machine::{Machine, command_in_app};
use sayso_policy::{Facts, Layer, Operation, Policy, PolicyText, State};

/// What `deny rm` says of each, where everything else is allowed.
const CASES: &str = "
deny grm x
deny /opt/bin/grm -rf x
deny coreutils rm x
deny coreutils --coreutils-prog=rm x
deny uutils rm x
deny toybox rm x
deny sbase-box rm x
deny /lib64/ld-linux-x86-64.so.2 /bin/rm x
deny /lib/ld-musl-x86_64.so.1 --argv0 ls /bin/rm x
deny uname26 rm x
deny catatonit rm x
deny tool -c 'cd a && rm x'
deny tool --exec='cd a; rm x'
deny tool -c'rm x'
deny tool -c 'X=1 rm x'
deny tool -c '(rm x)'
deny tool exec rm x
deny tool -- rm x
ask tool rm x
ask mpirun -np 2 rm x
ask qemu-x86_64 /bin/rm x
ask tool 'rm x'
ask tool --hook='X=1 rm x'
ask tool --hook 'other a; rm x'
ask tool '$(rm x)'
allow tool x y
allow tool -m 'rm the old file'
allow tool --title='rm is gone'
allow tool --text 'no rm here'
allow tool ls x
allow gls x
allow git rm x
allow coreutils ls x
allow awk '{print}' x
";

#[test]
fn a_program_is_itself_under_another_name() {
    let text = "default = 'allow'\n[deny]\nrun = 'rm'";
    let file = PolicyText { layer: Layer::Given, name: "p.toml".into(), text: text.into(), trusted: true };
    let policy = Both::new(Policy::compile(&[file]).unwrap());
    let machine = Machine(&[]);
    let facts = Facts { files: &machine, env: &machine };
    let mut wrong = Vec::new();
    for line in CASES.lines().filter(|line| !line.is_empty()) {
        let (expected, command) = line.split_once(' ').unwrap();
        let call = command_in_app(command);
        let verdict = policy.evaluate(&Operation::new(call, facts), &State::default(), facts).verdict;
        if verdict.as_str() != expected {
            wrong.push(format!("{command}: {verdict} instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
