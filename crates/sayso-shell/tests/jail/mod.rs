//! A throw-away place in which shells may really run what the generator thought up.
//!
//! New user, mount, process, network and IPC namespaces; a fresh memory file system as root, in which only `/usr` of
//! the machine is seen. All of it is read-only but three small folders. Commands run without any capability, and their
//! system calls that start, open, change or connect are put to `driver.c`, which writes them down. A command that
//! escaped from its shell would find nothing to change. If any of that cannot be had, nothing is run.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The folder commands start in, and their home.
pub(crate) const FOLDER: &str = "/w";
pub(crate) const HOME: &str = "/home/u";
/// The only folder on `PATH`: every name in it is a program.
pub(crate) const STUBS: &str = "/j/stubs";

/// A shell of the jail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Dash,
}

impl Shell {
    pub(crate) const ALL: [Self; 3] = [Self::Bash, Self::Zsh, Self::Dash];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Dash => "dash",
        }
    }

    /// Whether the machine has it.
    pub(crate) fn is_there(self) -> bool {
        Path::new("/usr/bin").join(self.name()).exists()
    }
}

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Case {
    pub(crate) shell: Shell,
    /// How its stubs end: a bit for each in turn, set for failure; and [`PRINTS`] and [`ALL_OPENS`].
    pub(crate) mode: u64,
    pub(crate) command: String,
}

/// The bit of a mode that makes stubs print `pwn planted`.
pub(crate) const PRINTS: u64 = 1 << 63;
/// The bit of a mode that also shows files opened the way libraries are. It costs time.
pub(crate) const ALL_OPENS: u64 = 1 << 62;

/// A program that was started.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) path: String,
    pub(crate) cwd: String,
    pub(crate) argv: Vec<String>,
}

/// What one run of a command did. Paths are absolute, with `..` and links as they were given.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Deeds {
    pub(crate) starts: Vec<Start>,
    /// Files that were there and were opened for reading.
    pub(crate) reads: Vec<String>,
    /// Files opened for writing, made or changed, whether they are left or not.
    pub(crate) writes: Vec<String>,
    pub(crate) deletes: Vec<String>,
    /// Addresses.
    pub(crate) connects: Vec<String>,
    /// `done`, or why it was stopped: `still` (everything waited), `late`, `busy`, `left` (something went on in the
    /// background), `broken`.
    pub(crate) end: String,
}

/// Programs that run for real, because the analysis knows what they print, start or open.
pub(crate) const REAL: &[&str] = &[
    "base64", "basename", "bash", "cat", "chmod", "cp", "cut", "dash", "date", "dirname", "echo", "env", "expr",
    "false", "find", "grep", "head", "ln", "ls", "mkdir", "mv", "nice", "nl", "nohup", "printf", "pwd", "realpath",
    "rev", "rm", "rmdir", "sed", "seq", "setsid", "sh", "sort", "stdbuf", "tac", "tail", "tee", "test", "timeout",
    "touch", "tr", "true", "uniq", "wc", "xargs", "zsh",
];

/// The files in which commands run, beside an empty `/tmp`: path, whether it is a program, content.
pub(crate) const FILES: &[(&str, bool, &str)] = &[
    ("/w/.env", false, "SECRET=planted\n"),
    ("/w/a", false, "pwn planted\n"),
    ("/w/b.txt", false, "one\ntwo\n"),
    ("/w/evil.sh", true, "#!/usr/bin/bash\npwn planted\n"),
    ("/w/s1/.env", false, "SECRET=planted\n"),
    ("/w/s1/f.c", false, "int f;\n"),
    ("/w/src/main.rs", false, "fn main() {}\n"),
    ("/w/src/lib.rs", false, "// TODO\n"),
    ("/home/u/.config/sayso/policy.toml", false, "default = \"ask\"\n"),
    ("/home/u/.ssh/id_rsa", false, "planted\n"),
];

const SETUP: &str = r#"
set -e
root=$1 from=$2
mount -t tmpfs -o size=64m,mode=755 tmpfs "$root"
mkdir -p "$root"/{usr,dev,proc,w,tmp,home/u,j/stubs}
for link in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$link" ]; then cp -P "/$link" "$root/$link"
  elif [ -d "/$link" ]; then
    mkdir "$root/$link"; mount --bind "/$link" "$root/$link"; mount -o remount,bind,ro "$root/$link"
  fi
done
mount --bind /usr "$root/usr"
mount -o remount,bind,ro "$root/usr"
mount -t proc proc "$root/proc"
touch "$root/dev/null" "$root/j/jail"
mount --bind /dev/null "$root/dev/null"
ln -s /proc/self/fd "$root/dev/fd"
for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${n%:*}" "$root/dev/${n#*:}"; done
mount -t tmpfs -o size=16m,mode=755 tmpfs "$root/j/stubs"
cp "$from/driver" "$from/files" "$from/commands" "$root/j"
cp "$from/stub" "$root/j/stubs/.stub"
shift 2
cd "$root/j/stubs"
ln -s -t . "${@/#//usr/bin/}"
cd /
for folder in w tmp home/u; do mount -t tmpfs -o size=16m,mode=755 tmpfs "$root/$folder"; done
mount -o remount,ro "$root"
exec chroot "$root" /j/driver
"#;

/// Runs each command. `None`: there is no jail to be had here.
pub(crate) fn run(cases: &[Case]) -> Option<Vec<Deeds>> {
    // A jail that works for a command which does nothing works: what breaks it later is a command's doing.
    static WORKS: OnceLock<bool> = OnceLock::new();
    let nothing = Case { shell: Shell::Bash, mode: 0, command: ":".into() };
    if !WORKS.get_or_init(|| run_together(&[nothing]).is_some()) {
        return None;
    }
    Some(run_some(cases))
}

/// What each command does, as a file remembers it from an earlier run on this machine; those that it does not know run,
/// and are added. What a shell does is the same however the analysis changes, and takes a thousand times as long.
pub(crate) fn run_or_remember(cases: &[Case], file: &Path) -> Option<Vec<Deeds>> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut known: HashMap<Case, Deeds> = HashMap::new();
    for line in text.lines() {
        // A line that was cut short by the end of a run is run again.
        let Ok((shell, mode, command, deeds)) = serde_json::from_str::<(String, u64, String, Deeds)>(line) else {
            continue;
        };
        let shell = Shell::ALL.into_iter().find(|known| known.name() == shell)?;
        known.insert(Case { shell, mode, command }, deeds);
    }
    let new: Vec<Case> = cases.iter().filter(|case| !known.contains_key(case)).cloned().collect();
    if !new.is_empty() {
        let mut lines = String::new();
        for (case, deeds) in new.iter().zip(run(&new)?) {
            lines += &serde_json::to_string(&(case.shell.name(), case.mode, &case.command, &deeds)).unwrap();
            lines += "\n";
            known.insert(case.clone(), deeds);
        }
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
    }
    cases.iter().map(|case| known.get(case).cloned()).collect()
}

/// A command that brings the whole jail down costs only itself.
fn run_some(cases: &[Case]) -> Vec<Deeds> {
    if let Some(deeds) = run_together(cases) {
        return deeds;
    }
    match cases {
        [] => Vec::new(),
        [only] => {
            println!("  the jail did not survive {only:?}");
            vec![Deeds { end: "broken".into(), ..Deeds::default() }]
        }
        _ => {
            let (one, two) = cases.split_at(cases.len() / 2);
            let mut deeds = run_some(one);
            deeds.extend(run_some(two));
            deeds
        }
    }
}

fn run_together(cases: &[Case]) -> Option<Vec<Deeds>> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let tools = tools()?;
    for name in ["driver", "stub"] {
        std::fs::copy(tools.join(name), folder.path().join(name)).unwrap();
    }
    let files: Vec<[&str; 3]> =
        FILES.iter().map(|(path, program, content)| [*path, if *program { "x" } else { "-" }, *content]).collect();
    fields(&folder.path().join("files"), files.iter().flatten().map(|field| field.as_bytes()));
    let modes: Vec<String> = cases.iter().map(|case| case.mode.to_string()).collect();
    let commands = cases
        .iter()
        .zip(&modes)
        .flat_map(|(case, mode)| [case.shell.name().as_bytes(), mode.as_bytes(), case.command.as_bytes()]);
    fields(&folder.path().join("commands"), commands);
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"])
        .args(["bash", "--norc", "--noprofile", "-c", SETUP, "setup"])
        .args([&root as &Path, folder.path()])
        .args(REAL)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let deeds = read(&output.stdout);
    if deeds.len() != cases.len() || !output.status.success() {
        println!("no jail: {}", String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default());
        return None;
    }
    Some(deeds)
}

/// Writes fields that end with a NUL, as the driver reads them.
fn fields<'f>(path: &Path, fields: impl Iterator<Item = &'f [u8]>) {
    let mut bytes = Vec::new();
    for field in fields {
        bytes.extend_from_slice(field);
        bytes.push(0);
    }
    std::fs::File::create(path).unwrap().write_all(&bytes).unwrap();
}

/// The folder with the driver and the stub, built once for each version of their sources.
fn tools() -> Option<PathBuf> {
    static TOOLS: OnceLock<Option<PathBuf>> = OnceLock::new();
    TOOLS.get_or_init(build_tools).clone()
}

fn build_tools() -> Option<PathBuf> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let sources = [("driver", include_str!("driver.c")), ("stub", include_str!("stub.c"))];
    let header = include_str!("process.h");
    let mut hasher = DefaultHasher::new();
    (sources, header).hash(&mut hasher);
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("jail-{:016x}", hasher.finish()));
    if place.is_dir() {
        return Some(place);
    }
    let new = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok()?;
    std::fs::write(new.path().join("process.h"), header).unwrap();
    for (name, source) in sources {
        let text = new.path().join(format!("{name}.c"));
        std::fs::write(&text, source).unwrap();
        let bare: &[&str] = if name == "stub" { &["-static", "-nostdlib", "-ffreestanding"] } else { &[] };
        let status = Command::new("cc").arg("-O2").args(bare).arg("-o").arg(new.path().join(name)).arg(&text).status();
        if !status.ok()?.success() {
            println!("no jail: cc could not build {name}.c");
            return None;
        }
    }
    // Another test may have been quicker; one is as good as the other.
    let _ = std::fs::rename(new.keep(), &place);
    Some(place)
}

fn read(output: &[u8]) -> Vec<Deeds> {
    let mut fields = output.split(|b| *b == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    let mut all = Vec::new();
    let mut now = Deeds::default();
    while let Some(kind) = fields.next() {
        let Some(value) = fields.next() else { break };
        match kind.as_str() {
            "X" => {
                let mut start = Start { path: value, cwd: fields.next().unwrap_or_default(), argv: Vec::new() };
                while fields.next().as_deref() == Some("w") {
                    start.argv.extend(fields.next());
                }
                now.starts.push(start);
            }
            "R" => now.reads.push(value),
            "W" => now.writes.push(value),
            "D" => now.deletes.push(value),
            "C" => now.connects.push(value),
            "E" => {
                now.end = value;
                all.push(std::mem::take(&mut now));
            }
            _ => {}
        }
    }
    all
}
