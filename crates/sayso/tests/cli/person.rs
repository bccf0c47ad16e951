//! A person with a home folder and a project, and Sayso at hand.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A person with a home folder and a project.
pub(crate) struct Person {
    folder: tempfile::TempDir,
}

/// What a command printed, and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Person {
    pub(crate) fn new() -> Self {
        let person = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(person.home()).unwrap();
        std::fs::create_dir_all(person.project()).unwrap();
        person
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project")
    }

    /// Writes a file of the project.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes the person's own policy.
    pub(crate) fn policy(&self, text: &str) {
        let folder = self.home().join(".config/sayso");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("policy.toml"), text).unwrap();
    }

    /// Sayso, in the project, with the home folder.
    pub(crate) fn sayso(&self) -> Command {
        self.program(Path::new(env!("CARGO_BIN_EXE_sayso")))
    }

    fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.run_with(arguments, "")
    }

    /// Another Sayso than the one that is tested.
    pub(crate) fn run_program(&self, program: &Path, arguments: &[&str]) -> Said {
        self.finish(self.program(program), arguments, "")
    }

    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Said {
        self.finish(self.sayso(), arguments, input)
    }

    fn finish(&self, mut command: Command, arguments: &[&str], input: &str) -> Said {
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // A command that does not read its input closes it early.
        let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Said { code: output.status.code().unwrap(), out: self.shown(&output.stdout), err: self.shown(&output.stderr) }
    }

    /// Text with this test's own folder named.
    fn shown(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.replace(self.folder.path().canonicalize().unwrap().to_str().unwrap(), "[TMP]")
    }
}

/// The first line.
pub(crate) fn first(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Whether a file is there.
pub(crate) fn there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
