//! What is known of an agent, as one value.

use crate::dialect::Dialect;
use crate::install::{Comments, Installer};
use crate::live::Offline;
use crate::reconcile::Read;
use crate::shell::ShellUse;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An agent.
pub(crate) struct Row {
    /// Its name on the command line and in the record.
    pub(crate) name: &'static str,
    /// Its name as its makers write it.
    pub(crate) title: &'static str,
    /// The names of its program, the usual one first. Each says its version when asked with `--version`.
    pub(crate) programs: &'static [&'static str],
    /// The first version that can be guarded, where older ones cannot.
    pub(crate) oldest: Option<Oldest>,
    /// Ways past its own hooks. What a tool call can do of them is integrity's: `stage/integrity/switch` of the policy.
    pub(crate) not_covered: &'static [&'static str],
    /// Its user's settings.
    pub(crate) settings: Folder,
    /// Which shell runs its commands.
    pub(crate) shell: ShellUse,
    /// Its words, if it runs hooks or a plugin of ours.
    pub(crate) dialect: Option<&'static dyn Dialect>,
    /// How Sayso is put in its way.
    pub(crate) installer: &'static dyn Installer,
    /// Its lists of MCP servers.
    pub(crate) mcp_lists: &'static [McpList],
    /// What it writes down of its calls, where Sayso can read that.
    pub(crate) transcripts: Option<TranscriptsOf>,
    /// Makes its program work through one prompt on a model of ours, where that can be.
    pub(crate) live: Option<fn(&mut Command, &Offline<'_>) -> std::io::Result<()>>,
    /// Who else has a say in what it runs, where its hooks can rewrite a command and that can be shown.
    pub(crate) steering: Option<Steering>,
    /// Its ways in ACP.
    pub(crate) acp: Acp,
}

/// Where hooks stand that an agent asks beside Sayso's. Each path is a file, or a folder of files.
pub(crate) struct Steering {
    /// Below the folder of its user's settings.
    pub(crate) user: &'static [&'static str],
    /// Below `/`.
    pub(crate) managed: &'static [&'static str],
    /// Below the project's folder.
    pub(crate) project: &'static [&'static str],
    /// Folders below the user's settings with packages that may bring hooks: looked at when it is seen to hold.
    pub(crate) packages: &'static [&'static str],
    /// The events before a tool.
    pub(crate) before: &'static [&'static str],
    /// The key under which plugins are listed that may rewrite.
    pub(crate) plugins: Option<&'static str>,
    /// What is in Sayso's own plugin and in nobody else's.
    pub(crate) own_plugin: &'static str,
}

/// The first version that can be guarded.
pub(crate) struct Oldest {
    pub(crate) version: &'static [u64],
    /// What is wrong with older ones.
    pub(crate) why: &'static str,
}

/// A folder of an agent's, which its own variables may move.
pub(crate) struct Folder {
    /// Each variable, and where the folder is below what it names. The first that is set counts.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    pub(crate) below_home: &'static str,
}

impl Folder {
    /// Where the variables put it.
    pub(crate) fn moved(&self, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        let named = self.variables.iter().find_map(|(name, below)| Some((variable(name)?, *below)));
        let folder = named.map(|(folder, below)| if below.is_empty() { folder } else { folder.join(below) });
        folder.filter(|folder| folder.is_absolute())
    }

    /// Where it is.
    pub(crate) fn find(&self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        self.moved(variable).unwrap_or_else(|| home.join(self.below_home))
    }
}

/// Where an agent lists its MCP servers.
pub(crate) struct McpList {
    /// In the project; else below the home folder.
    pub(crate) in_project: bool,
    pub(crate) path: &'static str,
    /// What the list is called.
    pub(crate) key: &'static str,
    pub(crate) comments: Comments,
    /// Lists of single projects are in it too, below this key.
    pub(crate) projects: Option<&'static str>,
}

/// What an agent writes down of its calls.
pub(crate) struct TranscriptsOf {
    pub(crate) folder: Folder,
    /// Reads the calls since a time, in milliseconds since 1970.
    pub(crate) read: fn(&Path, u64, &mut Read),
}

/// How an agent speaks ACP, where it leaves things out or puts them elsewhere. [`Acp::PLAIN`] is for one that does not.
#[expect(clippy::struct_excessive_bools, reason = "each is a way of its own to leave something out")]
pub(crate) struct Acp {
    /// Its program for ACP, with the arguments that make it speak it.
    pub(crate) program: Option<(&'static str, &'static [&'static str])>,
    /// What is in the name that it gives itself.
    pub(crate) calls_itself: Option<&'static str>,
    /// Its first word about a call has the tool's name for its title.
    pub(crate) first_title_is_tool: bool,
    /// An input with a `command` is one for a shell, whatever its kind says.
    pub(crate) command_is_shell: bool,
    /// A call without an input has the command for its title, and its id begins with the tool's name.
    pub(crate) title_is_command: bool,
    /// An edit without an input shows its differences before it asks.
    pub(crate) edits_show_differences: bool,
    /// The files that an input without a tool's name changes, if it is an edit.
    pub(crate) edited: fn(&serde_json::Map<String, Value>) -> Option<Vec<String>>,
    /// What an input says beside the command: suggestions and book-keeping, not part of what runs.
    pub(crate) is_remark: fn(&str, &Value) -> bool,
    /// Modes of its own that ask at least as much as its default.
    pub(crate) asking_modes: &'static [&'static str],
    /// It has modes in which it asks nobody, and tells of the one it is in. Where it tells of none, its settings count.
    pub(crate) untold: Option<AsksBySettings>,
}

/// Whether an agent asks by its settings below a home folder, in a session about a folder.
pub(crate) type AsksBySettings = fn(&Path, Option<&Path>) -> bool;

impl Acp {
    /// It says what is asked for, in the places that the protocol has for that.
    pub(crate) const PLAIN: Self = Self {
        program: None,
        calls_itself: None,
        first_title_is_tool: false,
        command_is_shell: false,
        title_is_command: false,
        edits_show_differences: false,
        edited: |_| None,
        is_remark: |_, _| false,
        asking_modes: &[],
        untold: None,
    };
}
