//! A project with a policy, and an agent in it.

use sayso_agents::{Agent, HookOutput, HookSetting, run_hook};
use sayso_gate::Places;
use sayso_gate::audit::{Happening, Log, Order, Query, Record};
use sayso_policy::{Layer, PolicyText};
use std::path::PathBuf;

pub(crate) const POLICY: &str = include_str!("data/policy.toml");

pub(crate) struct Session {
    _dir: tempfile::TempDir,
    pub(crate) agent: Agent,
    pub(crate) project: PathBuf,
    pub(crate) setting: HookSetting,
}

impl Session {
    pub(crate) fn new(agent: Agent) -> Self {
        Self::with(agent, POLICY)
    }

    pub(crate) fn with(agent: Agent, policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (home, project) = (base.join("home"), base.join("project"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::write(project.join("src/main.rs"), "fn main() {}\n").unwrap();
        std::fs::write(project.join(".env"), "TOKEN=1\n").unwrap();
        let text = PolicyText { layer: Layer::Given, name: "policy.toml".into(), text: policy.into(), trusted: true };
        let mut setting = HookSetting::new(agent, Places::below(&home, &base), Some(vec![text]));
        setting.project_folder = None;
        // Where that matters, a person sits before the agent.
        setting.seated = Some(true);
        Self { agent, project, setting, _dir: dir }
    }

    /// `$P` in a text is the project's folder.
    pub(crate) fn here(&self, text: &str) -> String {
        text.replace("$P", self.project.to_str().unwrap())
    }

    pub(crate) fn hook(&self, input: &[u8]) -> HookOutput {
        run_hook(self.agent, input, &self.setting)
    }

    fn all() -> Query {
        Query { order: Order::OldestFirst, ..Query::default() }
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        let stored = Log::open(&self.setting.places).unwrap().query(&Self::all()).unwrap();
        stored.into_iter().map(|stored| stored.record).collect()
    }

    pub(crate) fn happenings(&self) -> Vec<Happening> {
        Log::open(&self.setting.places).unwrap().happenings(&Self::all()).unwrap()
    }
}
