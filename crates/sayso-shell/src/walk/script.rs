//! Script files: read, and walked like any other text, unless this very call may have changed them.

use super::{Spans, Walker};
use crate::canonical::canonical;
use crate::effect::{Program, RunId, SHELL_CODE, Span};
use crate::program::Code;
use crate::program::wrapper::shell_of;
use crate::word::Word;
use crate::{Kind, limit};
use std::path::{Path, PathBuf};

impl Walker<'_> {
    /// `source NAME`: on PATH first, then here.
    pub(crate) fn sourced_by_name(&mut self, file: &Word, span: Span) {
        let Some(name) = file.exact_str() else {
            return self.opaque(Code::UnknownScript, "Which script runs here is not known.", span);
        };
        let on_path = !self.state.path_changed
            && self.context.env.get("PATH").is_some_and(|path| {
                path.split(':').all(|folder| {
                    folder.starts_with('/') && self.context.files.kind(&Path::new(folder).join(name)) == Kind::Missing
                })
            });
        if on_path {
            self.script(file, span);
        } else {
            self.opaque(Code::UnknownScript, "Which script runs here depends on PATH.", span);
        }
    }

    /// Walks a script file in the current shell.
    pub(crate) fn script(&mut self, file: &Word, span: Span) {
        // What a script does in another place, it does not do here; what started it there needs a yes of its own.
        if let (true, Some(run)) = (self.state.elsewhere, self.parent) {
            self.code(run, SHELL_CODE, Code::ScriptElsewhere, span);
            return self.doubt(Code::ScriptElsewhere, "A script runs elsewhere, and cannot be read.".to_owned(), span);
        }
        let path = file.exact_str().filter(|name| !name.is_empty());
        let path = match (path, self.state.cwd.only()) {
            _ if self.state.elsewhere => None,
            (Some(path), _) if path.starts_with('/') => Some(PathBuf::from(path)),
            (Some(path), Some(cwd)) => Some(crate::canonical::lexical(&cwd.join(path))),
            // In none of the folders where the shell may be: it does not matter in which it is.
            (Some(path), None) => match self.state.cwd.places() {
                [first, ..] if self.state.cwd.places().iter().all(|place| self.is_missing(&place.join(path))) => {
                    Some(crate::canonical::lexical(&first.join(path)))
                }
                _ => None,
            },
            _ => None,
        };
        match path {
            Some(path) => self.script_at(&path, span),
            None => self.opaque(Code::UnknownScript, "Which script runs here is not known.", span),
        }
    }

    fn script_at(&mut self, path: &Path, span: Span) {
        if self.changed.wrote(path) || self.changed.leads_astray(path) || self.changed.anywhere {
            return self.opaque(Code::WrittenScript, "The script may be changed by this very command.", span);
        }
        if self.scripts.iter().any(|open| open == path) {
            return self.opaque(Code::ScriptLoop, "A script runs itself.", span);
        }
        let text = match self.context.files.read(path, limit::MAX_COMMAND) {
            Some(text) => text,
            None if self.is_missing(path) => {
                // Nothing would run now, but something might by the time it does.
                if let Some(run) = self.parent {
                    self.code(run, SHELL_CODE, Code::MissingScript, span);
                }
                let text = format!("There is no script at {}.", path.display());
                return self.doubt(Code::MissingScript, text, span);
            }
            None => return self.opaque(Code::UnreadableScript, "The script cannot be read, or is too long.", span),
        };
        if text.contains(&0) {
            return self.opaque(Code::UnreadableScript, "The script is not text.", span);
        }
        self.reads(text.len());
        self.scripts.push(path.to_path_buf());
        self.shell_text(&text, Spans::At(span), span);
        self.scripts.pop();
    }

    /// Whether nothing stands there, seen from a working directory that does exist.
    pub(crate) fn is_missing(&self, path: &Path) -> bool {
        let files = self.context.files;
        let found = canonical(files, path);
        found.certain
            && found.kind == Kind::Missing
            && self.context.cwd.is_some_and(|cwd| matches!(canonical(files, cwd).kind, Kind::Folder { .. }))
    }

    /// What is started by its path and may be a script, wherever the shell may be.
    pub(super) fn own_scripts(&self, name: &str, program: &Program) -> Vec<PathBuf> {
        if program.shadow.is_none() || self.state.elsewhere {
            return Vec::new();
        }
        let mut paths: Vec<PathBuf> = match &program.path {
            Some(path) => vec![path.clone()],
            None if name.contains('/') => self.state.cwd.places().iter().map(|place| place.join(name)).collect(),
            None => Vec::new(),
        };
        paths.retain(|path| !matches!(self.context.files.kind(path), Kind::Missing | Kind::Unknown));
        paths
    }

    /// Whether the script could be followed.
    pub(super) fn run_own_script(&mut self, path: &Path, run: RunId, span: Span) -> bool {
        let head = self.context.files.read(path, limit::MAX_COMMAND);
        let Some((dialect, strict)) = head.as_deref().and_then(shell_of) else {
            // A binary or a script of another language: the run itself says that nobody knows what it does.
            return false;
        };
        let parent = self.parent.replace(run);
        let parameters = self.run_mut(run).map(|run| run.argv.clone()).unwrap_or_default();
        self.deeper(span, |walker| {
            walker.subshell(|walker| {
                walker.new_shell(run, dialect, parameters);
                walker.state.begins(strict);
                walker.script_at(path, span);
            });
        });
        self.parent = parent;
        true
    }
}
