//! A machine with a project at `/app` and a few folders, and no file in them: what a command does must be clear from
//! its text.

use sayso_policy::shell::{Environment, Files, Kind};
use sayso_policy::{ToolCall, Workspace};
use std::path::Path;

/// These folders, and those that every machine has.
pub(crate) struct Machine(pub(crate) &'static [&'static str]);

impl Files for Machine {
    fn kind(&self, path: &Path) -> Kind {
        match path.to_str() {
            Some("/" | "/app" | "/home" | "/usr" | "/usr/bin") => Kind::Folder { world_writable: false },
            Some("/tmp") => Kind::Folder { world_writable: true },
            Some(path) if self.0.contains(&path) => Kind::Folder { world_writable: false },
            _ => Kind::Missing,
        }
    }
    fn list(&self, _: &Path, _: usize) -> Option<Vec<std::ffi::OsString>> {
        Some(Vec::new())
    }
    fn read(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
        None
    }
    fn stamp(&self, _: &Path) -> Option<String> {
        None
    }
    fn identity(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }

    fn changeable(&self, _: &Path) -> bool {
        true
    }
}

impl Environment for Machine {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

/// A command that an agent runs in that project.
pub(crate) fn command_in_app(command: &str) -> ToolCall {
    ToolCall {
        cwd: Some("/app".into()),
        workspace: Workspace::new("/app", Some(Path::new("/home/ann"))),
        home: Some("/home/ann".into()),
        ..ToolCall::command(command.as_bytes())
    }
}
