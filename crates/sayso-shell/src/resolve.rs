//! Which file a program's name means.
//!
//! A name with a slash is a path; any other is looked for on PATH. A program found inside the workspace, in a folder that
//! anybody may write to, or by a path that PATH does not lead to, is not the program of that name: an agent could have
//! put it there.

use crate::Context;
use crate::canonical::{canonical, lexical};
use crate::effect::{Program, Shadow};
use crate::files::Kind;
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

/// Builtins of bash 5.2, sorted.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Whether bash has a builtin of this name.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// Finds what `name` would start. `cwd` is the working directory where it is certain.
#[must_use]
pub fn resolve(name: &str, cwd: Option<&Path>, context: &Context<'_>) -> Program {
    if name.contains('/') {
        return by_path(name, cwd, context);
    }
    let mut program = Program { base: Some(name.to_owned()), ..Program::default() };
    if name.is_empty() {
        return program;
    }
    let Some(path) = context.env.get("PATH") else { return program };
    for folder in path.split(':') {
        let folder = match (Path::new(folder), cwd) {
            (folder, _) if folder.is_absolute() => folder.to_path_buf(),
            (folder, Some(cwd)) => cwd.join(folder),
            // A relative folder of an unknown place comes first: anything may be found there.
            (_, None) => {
                program.shadow = Some(Shadow::Workspace);
                return program;
            }
        };
        let file = folder.join(name);
        match context.files.kind(&file) {
            Kind::Missing | Kind::Folder { .. } | Kind::File { executable: false } | Kind::Other => {}
            Kind::File { executable: true } => return found(program, file, false, context),
            Kind::Link(_) => {
                if matches!(canonical(context.files, &file).kind, Kind::File { executable: true } | Kind::Unknown) {
                    return found(program, file, true, context);
                }
            }
            // Nobody can say whether it is here or further on.
            Kind::Unknown => return program,
        }
    }
    program
}

fn by_path(name: &str, cwd: Option<&Path>, context: &Context<'_>) -> Program {
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
    if program.shadow.is_none() && !by_name(&program, context) {
        program.shadow = Some(Shadow::Path);
    }
    program
}

/// `a/../b` is kept where a link may stand in between; `./b` is always `b`.
fn lexical_if_plain(path: &Path) -> PathBuf {
    if path.components().any(|c| c == std::path::Component::ParentDir) { path.to_path_buf() } else { lexical(path) }
}

/// Whether PATH, or failing that the system's own folders, would lead to the same place.
fn by_name(program: &Program, context: &Context<'_>) -> bool {
    let Some(folder) = program.path.as_deref().and_then(Path::parent) else { return false };
    SYSTEM.iter().any(|known| folder == Path::new(known))
        || context.env.get("PATH").is_some_and(|path| path.split(':').any(|known| Path::new(known) == folder))
}

fn found(mut program: Program, path: PathBuf, linked: bool, context: &Context<'_>) -> Program {
    program.shadow = shadow(&path, linked, context);
    program.path = Some(path);
    program
}

fn shadow(path: &Path, linked: bool, context: &Context<'_>) -> Option<Shadow> {
    // The common case costs no further look at the file system: a plain file in a folder of the system.
    if !linked
        && let Some(folder) = path.parent().and_then(Path::to_str)
        && SYSTEM.contains(&folder)
        && context.workspace.is_none_or(|w| !path.starts_with(w))
    {
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
    fn the_list_of_builtins_is_sorted() {
        assert!(BUILTINS.is_sorted());
        assert!(is_builtin("cd") && is_builtin(".") && is_builtin("[") && !is_builtin("git"));
    }
}
