//! Which program runs this hook: the agent itself, found from the processes above.
//!
//! A proof that an agent runs what its hook rewrote is about one program. So the hook looks who started it: the first
//! process above that is neither a shell nor a program like `timeout`, which registrations put in between. Its
//! executable is taken from the system, as it is mapped, not by its name; of an interpreter, the script that it was
//! started with counts too.
//!
//! INVARIANT: what cannot be found out is no agent that was seen. A tool call changes neither the executable nor the
//! arguments of the process that makes it.

use sayso_policy::shell::Dialect;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Processes above the hook that are looked at.
const MOST_ANCESTORS: usize = 8;
/// Programs that only start what follows.
const BETWEEN: &[&str] =
    &["timeout", "gtimeout", "env", "busybox", "coreutils", "nice", "setsid", "sayso", "sayso-hook"];
/// Programs whose first operand is the program.
const INTERPRETERS: &[&str] = &["node", "nodejs", "bun", "deno", "python", "python3"];

/// The program that runs a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Its executable.
    pub(crate) program: PathBuf,
    /// The executable, and the script where it is an interpreter: device, number, size and time of change of each.
    pub(crate) seen: String,
}

impl Caller {
    /// Whoever runs this process.
    pub(crate) fn find() -> Option<Self> {
        let mut at = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
        for _ in 0..MOST_ANCESTORS {
            let pid = at.filter(|pid| *pid > 1)?;
            let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
            if !is_between(&program) {
                return Self::of(pid, program);
            }
            at = parent(pid);
        }
        None
    }

    fn of(pid: i32, program: PathBuf) -> Option<Self> {
        // The file that runs, whatever stands under its name by now.
        let mut seen = identity(Path::new(&format!("/proc/{pid}/exe")))?;
        if INTERPRETERS.iter().any(|name| is_named(&program, name)) {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let script = script(&line)?;
            let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
            let script = folder.join(script).canonicalize().ok()?;
            seen.push_str(&format!(" {} {}", identity(&script)?, script.display()));
        }
        Some(Self { program, seen })
    }
}

/// A file as it is now. Its time of change cannot be set by any program.
pub(super) fn identity(path: &Path) -> Option<String> {
    let meta = std::fs::metadata(path).ok()?;
    let (seconds, nanos) = (meta.ctime(), meta.ctime_nsec());
    Some(format!("{}:{}:{}:{seconds}.{nanos}", meta.dev(), meta.ino(), meta.size()))
}

fn is_between(program: &Path) -> bool {
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    Dialect::named(name).is_some() || name == "fish" || BETWEEN.contains(&name)
}

/// `python3.11` is `python3`, too.
fn is_named(program: &Path, name: &str) -> bool {
    let file = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    file.strip_prefix(name).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-')))
}

/// The first operand.
fn script(line: &[u8]) -> Option<&Path> {
    let mut words = line.split(|byte| *byte == 0).skip(1);
    let script = words.find(|word| !word.is_empty() && !word.starts_with(b"-"))?;
    Some(Path::new(OsStr::from_bytes(script)))
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_run_by_its_runner() {
        let caller = Caller::find().unwrap();
        assert!(caller.program.is_absolute() && !is_between(&caller.program), "{caller:?}");
        assert_eq!(Caller::find().unwrap(), caller);
    }

    #[test]
    fn shells_and_what_limits_time_stand_in_between() {
        for (program, between) in [
            ("/bin/sh", true),
            ("/usr/bin/dash", true),
            ("/usr/bin/timeout", true),
            ("/opt/sayso-hook", true),
            ("/usr/bin/node", false),
            ("/opt/claude", false),
            ("/opt/timeouts", false),
        ] {
            assert_eq!(is_between(Path::new(program)), between, "{program}");
        }
    }

    #[test]
    fn an_interpreter_is_known_by_its_script() {
        assert!(is_named(Path::new("/usr/bin/python3.11"), "python3") && !is_named(Path::new("/x/nodes"), "node"));
        assert_eq!(script(b"node\0--max=1\0/x/cli.js\0-p\0"), Some(Path::new("/x/cli.js")));
        assert_eq!(script(b"node\0--version\0"), None);
    }
}
