//! A command that shows whether an agent runs what its hook rewrote.
//!
//! `sayso doctor --live` lets the real agent make this one call. Its hook knows the text, exactly, from a file in Sayso's own
//! folder, judges it by a policy that allows no more than that, and hands out a permit for it; `sayso run` redeems it; and
//! what runs writes down what the kernel says of it. So what is proven is the whole way, not that an answer was
//! well-formed.
//!
//! INVARIANT: only the text that `doctor` has just written down is a canary, and only for some minutes.

use super::caller::Caller;
use sayso_gate::{Error, Places};
use sayso_policy::{CanHold, Layer, PolicyText};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What every canary holds, and hardly any other command.
const MARK: &str = "sayso-canary-";
/// How long one is good for: agents take a minute to start.
const LIFETIME: Duration = Duration::from_secs(5 * 60);
const FOLDER: &str = "hold/canary";

/// What the hook of the agent goes by.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Canary {
    /// The command, byte for byte.
    pub(crate) command: String,
    /// What nobody else can know.
    pub(crate) nonce: String,
    until_ms: u64,
}

/// What the hook of the agent saw.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sighting {
    pub(crate) nonce: String,
    /// The program that runs the hook; `None`: it could not be found out.
    pub(crate) program: Option<PathBuf>,
    pub(crate) seen: Option<String>,
}

impl Canary {
    /// A new one, that writes what it sees to a file.
    pub(crate) fn release(places: &Places, agent: &str, report: &Path) -> Result<Self, Error> {
        let mut bits = [0u8; 16];
        let folder = places.own_folder(FOLDER)?;
        getrandom::fill(&mut bits).map_err(|error| io("use", &folder, std::io::Error::other(error.to_string())))?;
        let nonce: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        let file = super::rewrite::quoted(&report.to_string_lossy());
        // In one redirect each, so that a text that ran twice shows.
        let command = format!(
            "echo {MARK}{nonce} >>{file}; readlink /proc/self/ns/mnt /proc/self/ns/net >>{file}; \
             grep -e '^NoNewPrivs:' -e '^Seccomp:' /proc/self/status >>{file}"
        );
        let until_ms = now_ms().saturating_add(millis(LIFETIME));
        let canary = Self { command, nonce, until_ms };
        write(&folder.join(agent), &canary)?;
        Ok(canary)
    }

    /// The one that this command is.
    pub(crate) fn known(places: &Places, agent: &str, command: &str) -> Option<Self> {
        if !command.contains(MARK) {
            return None;
        }
        let text = std::fs::read(places.state.join(FOLDER).join(agent)).ok()?;
        let canary: Self = serde_json::from_slice(&text).ok()?;
        (canary.command == command && now_ms() < canary.until_ms).then_some(canary)
    }

    /// The policy that it is judged by: these programs, in a folder of its own.
    pub(crate) fn policy() -> PolicyText {
        let text = "default = \"deny\"\n\n[allow]\nrun = [\"echo\", \"readlink\", \"grep\"]\nread = [\"/proc/**\"]\nwrite = [\"./**\"]\n";
        PolicyText {
            layer: Layer::Given,
            name: "canary of `sayso doctor --live`".to_owned(),
            text: text.to_owned(),
            trusted: true,
        }
    }

    /// Notes who ran the hook.
    pub(crate) fn sighted(&self, places: &Places, agent: &str) -> Result<(), Error> {
        let (program, seen) = Caller::find().map_or((None, None), |caller| (Some(caller.program), Some(caller.seen)));
        let sighting = Sighting { nonce: self.nonce.clone(), program, seen };
        write(&places.own_folder(FOLDER)?.join(format!("{agent}.seen")), &sighting)
    }

    /// What the hook saw, if it saw this one.
    pub(crate) fn sighting(&self, places: &Places, agent: &str) -> Option<Sighting> {
        let text = std::fs::read(places.state.join(FOLDER).join(format!("{agent}.seen"))).ok()?;
        let sighting: Sighting = serde_json::from_slice(&text).ok()?;
        (sighting.nonce == self.nonce).then_some(sighting)
    }

    /// It is over.
    pub(crate) fn end(places: &Places, agent: &str) {
        let folder = places.state.join(FOLDER);
        let _ = std::fs::remove_file(folder.join(agent));
        let _ = std::fs::remove_file(folder.join(format!("{agent}.seen")));
    }

    /// How strongly it was held, by its own report. `ours`: the namespaces of whoever asks.
    pub(crate) fn held(&self, report: &str, ours: &[String]) -> Result<CanHold, &'static str> {
        let mut lines = report.lines();
        if lines.next() != Some(&format!("{MARK}{}", self.nonce)) {
            return Err("it left no report");
        }
        if report.matches(MARK).count() != 1 {
            return Err("it ran more than once");
        }
        let namespaces: Vec<&str> = lines.by_ref().take(2).collect();
        let value = |name: &str| report.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let filtered = value("NoNewPrivs:") == Some("1") && value("Seccomp:") == Some("2");
        let apart = namespaces.len() == 2
            && !ours.is_empty()
            && namespaces.iter().all(|it| it.contains(":[") && !ours.iter().any(|own| own == it));
        match (filtered, apart) {
            (true, true) => Ok(CanHold::Whole),
            (true, false) => Ok(CanHold::Files),
            (false, _) => Err("it ran without a hold"),
        }
    }
}

/// The namespaces of this process that a whole hold has of its own.
pub(crate) fn namespaces() -> Vec<String> {
    let link = |name: &str| std::fs::read_link(format!("/proc/self/ns/{name}")).ok();
    ["mnt", "net"].iter().filter_map(|name| Some(link(name)?.to_string_lossy().into_owned())).collect()
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec(value)?;
    let _ = std::fs::remove_file(path);
    let mut options = std::fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(options.write(true).create_new(true), 0o600);
    let file = options.open(path).map_err(|error| io("write", path, error))?;
    std::io::Write::write_all(&mut &file, &text).map_err(|error| io("write", path, error))
}

fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::Io { doing, path: path.to_owned(), source }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        (dir, places)
    }

    #[test]
    fn only_the_text_that_was_written_down_is_one() {
        let (dir, places) = room();
        let canary = Canary::release(&places, "codex", &dir.path().join("it's here")).unwrap();
        assert!(Canary::known(&places, "codex", &canary.command).is_some());
        for other in [format!("{} ", canary.command), format!("{}; evil", canary.command), "sayso-canary-".to_owned()] {
            assert!(Canary::known(&places, "codex", &other).is_none(), "{other}");
        }
        assert!(Canary::known(&places, "gemini", &canary.command).is_none());
        let later = Canary { until_ms: 0, ..canary.clone() };
        write(&places.state.join(FOLDER).join("codex"), &later).unwrap();
        assert!(Canary::known(&places, "codex", &canary.command).is_none());
        Canary::end(&places, "codex");
        assert!(Canary::known(&places, "codex", &canary.command).is_none());
    }

    #[test]
    fn a_report_says_how_it_was_held() {
        let (dir, places) = room();
        let canary = Canary::release(&places, "codex", &dir.path().join("r")).unwrap();
        let ours = ["mnt:[1]".to_owned(), "net:[2]".to_owned()];
        let held = |namespaces: &str, status: &str| {
            canary.held(&format!("{MARK}{}\n{namespaces}{status}", canary.nonce), &ours)
        };
        let inside = "NoNewPrivs:\t1\nSeccomp:\t2\n";
        assert_eq!(held("mnt:[8]\nnet:[9]\n", inside), Ok(CanHold::Whole));
        assert_eq!(held("mnt:[1]\nnet:[2]\n", inside), Ok(CanHold::Files));
        assert_eq!(held("mnt:[8]\nnet:[2]\n", inside), Ok(CanHold::Files));
        assert!(held("mnt:[8]\nnet:[9]\n", "NoNewPrivs:\t0\nSeccomp:\t0\n").is_err());
        assert!(held("mnt:[8]\nnet:[9]\n", "").is_err());
        assert!(canary.held("", &ours).is_err());
        let twice = format!("{MARK}{0}\nmnt:[8]\nnet:[9]\n{inside}{MARK}{0}\n", canary.nonce);
        assert!(canary.held(&twice, &ours).is_err());
        // Run as it is, it is not held.
        let sh = std::process::Command::new("sh").arg("-c").arg(&canary.command).status().unwrap();
        assert!(sh.success());
        let report = std::fs::read_to_string(dir.path().join("r")).unwrap();
        assert!(!matches!(canary.held(&report, &namespaces()), Ok(CanHold::Whole)), "{report}");
    }
}
