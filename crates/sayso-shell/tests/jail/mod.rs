//! A throw-away place in which bash may really run what the generator thought up.
//!
//! New user, mount, process, network and IPC namespaces; a fresh memory file system as root, in which only `/usr` of
//! the machine is seen, read-only; stub programs that write down how they were called. A command that escaped from
//! bash would find nothing to change. If any of that cannot be had, nothing is run.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What one run of a command did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Deeds {
    /// Programs with their arguments.
    pub(crate) programs: Vec<Vec<String>>,
    /// Files that were there afterwards.
    pub(crate) files: Vec<String>,
}

/// The folder commands start in, and their home.
pub(crate) const FOLDER: &str = "/w";
pub(crate) const HOME: &str = "/home/u";

const SETUP: &str = r#"
set -e
root=$1
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
if touch "$root/usr/.sayso-jail" 2>/dev/null; then rm -f "$root/usr/.sayso-jail"; echo 'usr can be written' >&2; exit 3; fi
mount -t proc proc "$root/proc"
touch "$root/dev/null" "$root/j/jail"
mount --bind /dev/null "$root/dev/null"
ln -s /proc/self/fd "$root/dev/fd"
cat >"$root/j/stub" <<'STUB'
#!/usr/bin/bash
printf '%s\0' PROGRAM "$(($# + 1))" "${0##*/}" "$@" >>/j/log
read -r mode </j/mode
case ${0##*/} in p1) exit "$mode" ;; p2) exit "$((1 - mode))" ;; esac
STUB
chmod 755 "$root/j/stub"
for name in p1 p2 p3 p a b c d f x 1 2 if then fi do done '{' '}' '!' E k v rm cat; do cp "$root/j/stub" "$root/j/stubs/$name"; done
cp "$2" "$root/j/driver"
cp "$3" "$root/j/commands"
exec chroot "$root" /usr/bin/env -i PATH=/j/stubs HOME=/home/u LC_ALL=C.UTF-8 \
  'BASH_FUNC_command_not_found_handle%%=() { printf '"'%s\\0'"' PROGRAM "$#" "$@" >>/j/log; return 127; }' \
  /usr/bin/bash --norc --noprofile /j/driver
"#;

/// Runs each command twice, with `p1` succeeding and `p2` failing, and the other way round. `None`: there is no jail
/// to be had here.
pub(crate) fn run(commands: &[String]) -> Option<Vec<[Deeds; 2]>> {
    // A jail that works for a command which does nothing works: what breaks it later is a command's doing.
    run_together(&[":".to_owned()])?;
    Some(commands.chunks(100).flat_map(run_some).collect())
}

/// A command that brings the whole jail down costs only itself.
fn run_some(commands: &[String]) -> Vec<[Deeds; 2]> {
    if let Some(deeds) = run_together(commands) {
        return deeds;
    }
    match commands {
        [] => Vec::new(),
        [only] => {
            println!("  the jail did not survive {only:?}");
            vec![[Deeds::default(), Deeds::default()]]
        }
        _ => {
            let (one, two) = commands.split_at(commands.len() / 2);
            let mut deeds = run_some(one);
            deeds.extend(run_some(two));
            deeds
        }
    }
}

fn run_together(commands: &[String]) -> Option<Vec<[Deeds; 2]>> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let driver = folder.path().join("driver");
    std::fs::write(&driver, include_str!("driver.sh")).unwrap();
    let list = folder.path().join("commands");
    let mut file = std::fs::File::create(&list).unwrap();
    for command in commands {
        file.write_all(command.as_bytes()).unwrap();
        file.write_all(&[0]).unwrap();
    }
    drop(file);
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"])
        .args(["bash", "--norc", "--noprofile", "-c", SETUP, "setup"])
        .args([&root as &Path, &driver, &list])
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let deeds = read(&output.stdout);
    if deeds.len() != 2 * commands.len() {
        println!("no jail: {}", String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default());
        return None;
    }
    Some(deeds.chunks(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect())
}

fn read(output: &[u8]) -> Vec<Deeds> {
    let mut fields = output.split(|b| *b == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    let mut all = Vec::new();
    let mut now = Deeds::default();
    let mut in_files = false;
    while let Some(field) = fields.next() {
        match field.as_str() {
            "RUN" => now = Deeds::default(),
            "FILES" => in_files = true,
            "END" => {
                in_files = false;
                all.push(std::mem::take(&mut now));
            }
            "PROGRAM" if !in_files => {
                let words = fields.next().and_then(|count| count.parse().ok()).unwrap_or(0);
                now.programs.push(fields.by_ref().take(words).collect());
            }
            path if in_files => now.files.push(path.to_owned()),
            _ => {}
        }
    }
    all
}
