//! The key and the sessions are in the server's memory: programs of the same user do not look there.

use super::ASKING;
use crate::person::Person;
use crate::served::serve_with;
use std::process::Command;

/// A user that is not root: root looks into everything.
const NOBODY: &str = "65534";

/// A program as a user without privileges; as ourselves if that is what we are.
pub(super) fn unprivileged(person: &Person, program: &Command) -> Command {
    let mut command = match rustix::process::geteuid().is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(program.get_program());
            command
        }
        false => Command::new(program.get_program()),
    };
    command.args(program.get_args()).current_dir(person.project()).env_clear();
    command.env("HOME", person.home()).env("PATH", "/usr/bin:/bin");
    command
}

/// Gives the person's folders to that user.
pub(super) fn given_away(person: &Person) {
    if rustix::process::geteuid().is_root() {
        let folder = person.home().parent().unwrap().to_owned();
        assert!(Command::new("chown").args(["-R", NOBODY]).arg(folder).status().unwrap().success());
    }
}

/// What a program finds that looks into the process of this id.
fn looks_into(person: &Person, pid: u32) -> Vec<String> {
    let script = format!(
        "cd /proc/{pid} || exit; for f in environ auxv maps; do head -c 16 $f >/dev/null 2>&1 && echo $f; done
         ls fd/ >/dev/null 2>&1 && echo fd; readlink exe >/dev/null 2>&1 && echo exe; readlink cwd >/dev/null 2>&1 && echo cwd
         exec 3<mem && echo mem; exec 4<>mem && echo mem-to-write"
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]);
    let mut look = unprivileged(person, &shell);
    let found = look.output().unwrap();
    String::from_utf8(found.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Whether a debugger may attach.
fn attaches(person: &Person, pid: u32) -> Option<bool> {
    let mut debugger = Command::new("gdb");
    debugger.args(["-nx", "-batch", "-p", &pid.to_string(), "-ex", "detach"]);
    let told = unprivileged(person, &debugger).output().ok()?;
    let text = String::from_utf8_lossy(&told.stderr).into_owned() + &String::from_utf8_lossy(&told.stdout);
    Some(!text.contains("Operation not permitted") && !text.contains("ptrace: "))
}

#[test]
fn nobody_looks_into_the_servers_memory() {
    let person = Person::new();
    person.policy(ASKING);
    given_away(&person);
    // The same looks do find something in another program of that user.
    let mut other = Command::new("sleep");
    other.arg("60");
    let mut other = unprivileged(&person, &other).spawn().unwrap();
    // Once it has become what it is.
    while !std::fs::read(format!("/proc/{}/cmdline", other.id())).unwrap().starts_with(b"sleep\0") {
        std::thread::yield_now();
    }
    let found = looks_into(&person, other.id());
    assert!(found.contains(&"environ".to_owned()) && found.contains(&"fd".to_owned()), "{found:?}");
    let could_attach = attaches(&person, other.id());
    other.kill().unwrap();
    other.wait().unwrap();

    let served = serve_with(&person, unprivileged(&person, &person.sayso()), &[]);
    assert_eq!(looks_into(&person, served.child.id()), Vec::<String>::new());
    if could_attach == Some(true) {
        assert_eq!(attaches(&person, served.child.id()), Some(false));
    }
    // It is well, and does its work.
    assert_eq!(served.send("GET", "/v1/health", &[], "").status, 200);
    served.signed_in(&served.key());
}
