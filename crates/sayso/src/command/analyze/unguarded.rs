//! Files without what guarded ones hold: an agent that may run `sayso analyze` reads no secret by it.

use crate::failure::Failure;
use crate::judge::refused;
use sayso_gate::{InForce, ProcessEnvironment, RealFiles};
use sayso_policy::shell::{Files, Kind, Stands};
use sayso_policy::{Facts, Layer, Operation, PolicyText, State, ToolCall, Verdict};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The real files, of which guarded ones cannot be read.
pub(super) struct Unguarded {
    /// Allows everything that is not guarded.
    allows: InForce,
    home: Option<PathBuf>,
}

impl Unguarded {
    /// With the home folder in which secrets lie.
    pub(super) fn of(home: Option<&Path>) -> Result<Self, Failure> {
        let text = PolicyText {
            layer: Layer::Given,
            name: "analyze".to_owned(),
            text: "default = \"allow\"\n".to_owned(),
            trusted: true,
        };
        Ok(Self { allows: InForce::given(vec![text]).map_err(refused)?, home: home.map(Path::to_owned) })
    }

    fn may_read(&self, path: &Path) -> bool {
        let Some(text) = path.to_str() else { return false };
        let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
        let read = ToolCall::tool("file_read", serde_json::json!({ "path": text }));
        let operation = Operation::new(ToolCall { home: self.home.clone(), ..read }, facts);
        self.allows.policy.evaluate(&operation, &State::default(), facts).verdict == Verdict::Allow
    }
}

impl Files for Unguarded {
    fn kind(&self, path: &Path) -> Kind {
        RealFiles.kind(path)
    }

    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        RealFiles.list(folder, limit)
    }

    fn entries(&self, folder: &Path, limit: usize) -> Option<Vec<(OsString, Stands)>> {
        RealFiles.entries(folder, limit)
    }

    fn head(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        if self.may_read(path) { RealFiles.head(path, limit) } else { None }
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        if self.may_read(path) { RealFiles.read(path, limit) } else { None }
    }

    fn read_through(&self, path: &Path, limit: usize, each: &mut dyn FnMut(&[u8])) -> bool {
        self.may_read(path) && RealFiles.read_through(path, limit, each)
    }

    fn stamp(&self, path: &Path) -> Option<String> {
        RealFiles.stamp(path)
    }

    fn changeable(&self, path: &Path) -> bool {
        RealFiles.changeable(path)
    }
}
