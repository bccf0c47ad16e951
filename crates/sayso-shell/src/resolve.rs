//! Which file a program's name means.
//!
//! A name with a slash is a path; any other is looked for on PATH. A program found inside the workspace, in a folder that
//! anybody may write to, or by a path that PATH does not lead to, is not the program of that name: an agent could have
//! put it there.

use crate::Context;
use crate::canonical::{canonical, lexical};
use crate::effect::{Program, Shadow};
use crate::files::Kind;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Folders whose programs go by their name even when PATH is not known.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
];

/// Whether bash 5.2 has a builtin of this name.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    // By the first letter, because this is asked of every command.
    let names: &[&str] = match name.as_bytes().first() {
        Some(b'.' | b':' | b'[') => return name.len() == 1,
        Some(b'a') => &["alias"],
        Some(b'b') => &["bg", "bind", "break", "builtin"],
        Some(b'c') => &["caller", "cd", "command", "compgen", "complete", "compopt", "continue"],
        Some(b'd') => &["declare", "dirs", "disown"],
        Some(b'e') => &["echo", "enable", "eval", "exec", "exit", "export"],
        Some(b'f') => &["false", "fc", "fg"],
        Some(b'g') => &["getopts"],
        Some(b'h') => &["hash", "help", "history"],
        Some(b'j') => &["jobs"],
        Some(b'k') => &["kill"],
        Some(b'l') => &["let", "local", "logout"],
        Some(b'm') => &["mapfile"],
        Some(b'p') => &["popd", "printf", "pushd", "pwd"],
        Some(b'r') => &["read", "readarray", "readonly", "return"],
        Some(b's') => &["set", "shift", "shopt", "source", "suspend"],
        Some(b't') => &["test", "times", "trap", "true", "type", "typeset"],
        Some(b'u') => &["ulimit", "umask", "unalias", "unset"],
        Some(b'w') => &["wait"],
        _ => return false,
    };
    names.contains(&name)
}

/// Finds what `name` would start. `cwd` is the working directory where it is certain.
#[must_use]
pub fn resolve(name: &str, cwd: Option<&Path>, context: &Context<'_>) -> Program {
    resolve_on(name, cwd, context, context.env.get("PATH").as_deref())
}

/// The same, with PATH at hand.
pub(crate) fn resolve_on(name: &str, cwd: Option<&Path>, context: &Context<'_>, path: Option<&str>) -> Program {
    if name.contains('/') {
        return by_path(name, cwd, context, path);
    }
    let mut program = Program { base: Some(name.to_owned()), ..Program::default() };
    if name.is_empty() {
        return program;
    }
    let Some(path) = path else { return program };
    let mut bytes = Vec::with_capacity(64);
    for folder in path.split(':') {
        bytes.clear();
        match cwd {
            _ if folder.starts_with('/') => {}
            Some(cwd) => bytes.extend_from_slice(cwd.as_os_str().as_bytes()),
            // A relative folder of an unknown place comes first: anything may be found there.
            None => {
                program.shadow = Some(Shadow::Workspace);
                return program;
            }
        }
        for piece in [folder, name] {
            if !matches!(bytes.last(), None | Some(b'/')) && !piece.is_empty() {
                bytes.push(b'/');
            }
            bytes.extend_from_slice(piece.as_bytes());
        }
        let file = Path::new(OsStr::from_bytes(&bytes));
        let linked = match context.files.kind(file) {
            Kind::Missing | Kind::Folder { .. } | Kind::File { executable: false } | Kind::Other => continue,
            Kind::File { executable: true } => false,
            Kind::Link(_) => {
                if !matches!(canonical(context.files, file).kind, Kind::File { executable: true } | Kind::Unknown) {
                    continue;
                }
                true
            }
            // Nobody can say whether it is here or further on.
            Kind::Unknown => return program,
        };
        return found(program, PathBuf::from(OsString::from_vec(bytes)), linked, context);
    }
    program
}

fn by_path(name: &str, cwd: Option<&Path>, context: &Context<'_>, on: Option<&str>) -> Program {
    let base = name.rsplit('/').next().map(str::to_owned);
    let program = Program { base, ..Program::default() };
    let written = Path::new(name);
    let path = match cwd {
        _ if written.is_absolute() => lexical_if_plain(written),
        Some(cwd) => lexical_if_plain(&cwd.join(written)),
        None => return Program { shadow: Some(Shadow::Workspace), ..program },
    };
    let linked = matches!(context.files.kind(&path), Kind::Link(_));
    let mut program = found(program, path, linked, context);
    if program.shadow.is_none() && !by_name(&program, on) {
        program.shadow = Some(Shadow::Path);
    }
    program
}

/// `a/../b` is kept where a link may stand in between; `./b` is always `b`.
fn lexical_if_plain(path: &Path) -> PathBuf {
    if path.components().any(|c| c == std::path::Component::ParentDir) { path.to_path_buf() } else { lexical(path) }
}

/// Whether PATH, or failing that the system's own folders, would lead to the same place.
fn by_name(program: &Program, on: Option<&str>) -> bool {
    let Some(folder) = program.path.as_deref().and_then(Path::parent) else { return false };
    SYSTEM.iter().any(|known| folder == Path::new(known))
        || on.is_some_and(|path| path.split(':').any(|known| Path::new(known) == folder))
}

fn found(mut program: Program, path: PathBuf, linked: bool, context: &Context<'_>) -> Program {
    program.shadow = shadow(&path, linked, context);
    program.path = Some(path);
    program
}

fn shadow(path: &Path, linked: bool, context: &Context<'_>) -> Option<Shadow> {
    // The common case costs no further look at the file system: a plain file in a folder of the system.
    if !linked && is_system(path) && context.workspace.is_none_or(|workspace| !is_below(path, workspace)) {
        return None;
    }
    let real = canonical(context.files, path).path;
    if let Some(workspace) = context.workspace {
        let real_workspace = canonical(context.files, workspace).path;
        if path.starts_with(workspace) || real.starts_with(&real_workspace) {
            return Some(Shadow::Workspace);
        }
    }
    let open = |folder: Option<&Path>| {
        folder.is_some_and(|f| matches!(canonical(context.files, f).kind, Kind::Folder { world_writable: true }))
    };
    (open(path.parent()) || open(real.parent())).then_some(Shadow::WorldWritable)
}

/// Whether this is a folder of the system's own programs.
#[must_use]
pub fn is_system_folder(folder: &str) -> bool {
    SYSTEM.contains(&folder)
}

fn is_system(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let folder = bytes.iter().rposition(|b| *b == b'/').and_then(|at| bytes.get(..at)).unwrap_or_default();
    SYSTEM.iter().any(|known| known.as_bytes() == folder)
}

/// By text: exact enough where a wrong yes only costs a longer look.
fn is_below(path: &Path, folder: &Path) -> bool {
    path.as_os_str().as_bytes().starts_with(folder.as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;
    use crate::{Dialect, Environment};

    struct PathOnly(&'static str);
    impl Environment for PathOnly {
        fn get(&self, name: &str) -> Option<String> {
            (name == "PATH").then(|| self.0.to_owned())
        }
    }

    fn ask(name: &str, path: &'static str) -> Program {
        let mut files = MemoryFiles::new();
        files
            .program("/usr/bin/git", b"")
            .program("/w/bin/git", b"")
            .program("/w/tool", b"")
            .open_folder("/tmp")
            .program("/tmp/git", b"")
            .program("/home/me/.cargo/bin/rg", b"")
            .link("/usr/bin/vi", "../../etc/alternatives/vi")
            .link("/etc/alternatives/vi", "/usr/bin/vim")
            .program("/usr/bin/vim", b"")
            .link("/home/me/.cargo/bin/mine", "/w/tool")
            .file("/usr/bin/plain", b"");
        let context = Context {
            cwd: None,
            home: None,
            workspace: Some(Path::new("/w")),
            env: &PathOnly(path),
            files: &files,
            dialect: Dialect::Bash,
        };
        resolve(name, Some(Path::new("/w")), &context)
    }

    #[test]
    fn names_are_found_on_path_and_strangers_are_marked() {
        let usual = "/home/me/.cargo/bin:/usr/bin";
        for (name, path, expected, shadow) in [
            ("git", usual, Some("/usr/bin/git"), None),
            ("rg", usual, Some("/home/me/.cargo/bin/rg"), None),
            ("vi", usual, Some("/usr/bin/vi"), None),
            ("plain", usual, None, None),
            ("nothing", usual, None, None),
            ("git", "bin:/usr/bin", Some("/w/bin/git"), Some(Shadow::Workspace)),
            ("tool", ":/usr/bin", Some("/w/tool"), Some(Shadow::Workspace)),
            ("git", "/tmp:/usr/bin", Some("/tmp/git"), Some(Shadow::WorldWritable)),
            ("./tool", usual, Some("/w/tool"), Some(Shadow::Workspace)),
            ("/usr/bin/git", usual, Some("/usr/bin/git"), None),
            ("/tmp/git", usual, Some("/tmp/git"), Some(Shadow::WorldWritable)),
            ("/tmp/../tmp/git", usual, Some("/tmp/../tmp/git"), Some(Shadow::WorldWritable)),
            ("/home/evil/git", usual, Some("/home/evil/git"), Some(Shadow::Path)),
            ("mine", usual, Some("/home/me/.cargo/bin/mine"), Some(Shadow::Workspace)),
        ] {
            let program = ask(name, path);
            assert_eq!(program.path.as_deref(), expected.map(Path::new), "{name} on {path}");
            assert_eq!(program.shadow, shadow, "{name} on {path}");
        }
    }

    #[test]
    fn builtins_are_told_from_programs() {
        for name in ["cd", ".", "[", ":", "printf", "readarray", "wait"] {
            assert!(is_builtin(name), "{name}");
        }
        for name in ["git", "", "..", "[[", "printfx", "cat"] {
            assert!(!is_builtin(name), "{name}");
        }
    }
}
