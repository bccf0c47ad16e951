//! Files without what guarded ones hold, and those that the policy in force keeps from being read: an agent that may run
//! `sayso analyze` reads none of them by it.

use crate::failure::Failure;
use crate::judge::refused;
use sayso_gate::{Home, InForce, Places, ProcessEnvironment, RealFiles};
use sayso_policy::shell::program::{BUILT_IN, Catalogue};
use sayso_policy::shell::{Files, Kind, Stands};
use sayso_policy::{Facts, Layer, Operation, PolicyText, State, ToolCall, Verdict, Workspace};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The real files, of which guarded ones cannot be read.
pub(super) struct Unguarded {
    /// Allows everything that is not guarded.
    allows: InForce,
    /// What the owner's files deny, with the home that they mean. Also those of the user database: whoever starts this
    /// may have changed `HOME`.
    in_force: Vec<(InForce, PathBuf)>,
    home: Option<PathBuf>,
    here: Option<PathBuf>,
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
        let here = std::env::current_dir().and_then(|folder| folder.canonicalize()).ok();
        let mut places: Vec<Places> =
            [Home::Environment, Home::Database].into_iter().filter_map(|home| Places::find(home).ok()).collect();
        places.dedup();
        let load = |places: Places| Ok((InForce::load(&places, here.as_deref())?, places.home));
        let in_force = places.into_iter().map(load).collect::<Result<_, sayso_gate::Error>>()?;
        let allows = InForce::given(vec![text]).map_err(refused)?;
        Ok(Self { allows, in_force, here, home: home.map(Path::to_owned) })
    }

    /// The programs that are known here: Sayso's own, and those that its owner taught.
    pub(super) fn programs(&self) -> &Catalogue {
        self.in_force.first().map_or(&BUILT_IN, |(by, _)| by.policy.programs())
    }

    fn may_read(&self, path: &Path) -> bool {
        let Some(text) = path.to_str() else { return false };
        let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
        let read = ToolCall::tool("file_read", serde_json::json!({ "path": text }));
        let said = |by: &InForce, home: Option<&Path>| {
            let workspace = self.here.as_ref().map_or_else(Workspace::unknown, |here| Workspace::new(here, home));
            let call = ToolCall { home: home.map(Path::to_owned), workspace, ..read.clone() };
            by.policy.evaluate(&Operation::new(call, facts), &State::default(), facts).verdict
        };
        said(&self.allows, self.home.as_deref()) == Verdict::Allow
            && self.in_force.iter().all(|(by, home)| said(by, Some(home)) != Verdict::Deny)
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

    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        RealFiles.identity(path)
    }

    fn changed_ms(&self, path: &Path) -> Option<u64> {
        RealFiles.changed_ms(path)
    }

    fn changeable(&self, path: &Path) -> bool {
        RealFiles.changeable(path)
    }

    fn owned(&self, path: &Path) -> bool {
        RealFiles.owned(path)
    }
}
