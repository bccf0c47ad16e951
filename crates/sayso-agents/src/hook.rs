//! A hook at its edge: one object in, one complete object out, in time, whatever happens.
//!
//! Most agents run the call when a hook crashes, is late or prints something odd. So input is bounded, the answer is
//! made in memory and written at once, a watchdog answers before the agent's patience ends, and every failure ends
//! with a reason on standard error and exit code 2, which agents take for a block.

use crate::{Agent, claude_code};
use sayso_gate::Places;
use sayso_policy::PolicyText;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most that is read from an agent.
pub const LARGEST_INPUT: usize = 8 * 1024 * 1024;
/// When the watchdog answers. Well below the time-out that `install` registers.
const DEADLINE: Duration = Duration::from_secs(5);
/// The exit code that agents take for a block.
const BLOCK: u8 = 2;

/// What a hook may look at beyond its input.
#[derive(Clone, Debug)]
pub struct HookSetting {
    /// Where policy and record are.
    pub places: Places,
    /// Policy files named by the owner; then no others count.
    pub given: Option<Vec<PolicyText>>,
    /// The project folder as the agent itself told its hook through the environment.
    pub project_folder: Option<PathBuf>,
}

impl HookSetting {
    /// With these places, files that the owner named, and what the environment says.
    #[must_use]
    pub fn new(agent: Agent, places: Places, given: Option<Vec<PolicyText>>) -> Self {
        let variable = match agent {
            Agent::ClaudeCode => Some(claude_code::PROJECT_VARIABLE),
            _ => None,
        };
        Self { places, given, project_folder: variable.and_then(std::env::var_os).map(PathBuf::from) }
    }
}

/// What a hook's process says and how it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookOutput {
    /// For the agent: empty, or one complete object.
    pub stdout: Vec<u8>,
    /// For the agent where `exit` is 2, else for nobody.
    pub stderr: String,
    /// 0, or 2 to block.
    pub exit: u8,
}

impl HookOutput {
    /// One object.
    pub(crate) fn object(object: &serde_json::Value) -> Self {
        let mut stdout = object.to_string().into_bytes();
        stdout.push(b'\n');
        Self { stdout, stderr: String::new(), exit: 0 }
    }

    /// No opinion.
    pub(crate) fn silent() -> Self {
        Self { stdout: Vec::new(), stderr: String::new(), exit: 0 }
    }

    /// The call does not run.
    pub(crate) fn blocked(why: &str) -> Self {
        let why = sayso_policy::explain::visible(why);
        Self { stdout: Vec::new(), stderr: format!("Sayso: the call is blocked. {why}\n"), exit: BLOCK }
    }
}

/// Answers one hook's input. Never panics.
#[must_use]
pub fn run_hook(agent: Agent, input: &[u8], setting: &HookSetting) -> HookOutput {
    if input.len() > LARGEST_INPUT {
        return HookOutput::blocked("What the agent sent is too large to be judged [call-malformed].");
    }
    let answered = catch_unwind(AssertUnwindSafe(|| match agent {
        Agent::ClaudeCode => claude_code::hook(input, setting),
        agent => HookOutput::blocked(&format!("This Sayso cannot answer {}.", agent.title())),
    }));
    answered.unwrap_or_else(|_| HookOutput::blocked("Sayso failed inside [internal-error]. Please report the bug."))
}

/// The whole life of a hook's process: reads standard input, answers, and tells how to exit. Not called twice.
pub fn hook_process(agent: Agent, setting: impl FnOnce() -> Result<HookSetting, String>) -> ExitCode {
    // A panic is answered, not shown: its text could hold what the agent sent.
    std::panic::set_hook(Box::new(|_| {}));
    let answered = Arc::new(AtomicBool::new(false));
    let watched = watch(&answered, DEADLINE);
    let output = match watched {
        Ok(()) => read_and_run(agent, setting),
        Err(why) => HookOutput::blocked(&why),
    };
    if answered.swap(true, Ordering::SeqCst) {
        // The watchdog was faster and is ending the process: saying more would make two answers of one.
        loop {
            std::thread::park();
        }
    }
    ExitCode::from(say(&output))
}

fn read_and_run(agent: Agent, setting: impl FnOnce() -> Result<HookSetting, String>) -> HookOutput {
    let mut input = Vec::new();
    let most = u64::try_from(LARGEST_INPUT).unwrap_or(u64::MAX).saturating_add(1);
    if let Err(error) = std::io::stdin().lock().take(most).read_to_end(&mut input) {
        return HookOutput::blocked(&format!("What the agent sent cannot be read ({error})."));
    }
    match catch_unwind(AssertUnwindSafe(setting)) {
        Ok(Ok(setting)) => run_hook(agent, &input, &setting),
        Ok(Err(why)) => HookOutput::blocked(&why),
        Err(_) => HookOutput::blocked("Sayso failed inside [internal-error]. Please report the bug."),
    }
}

/// Starts the watchdog: whoever sets the flag first answers.
fn watch(answered: &Arc<AtomicBool>, deadline: Duration) -> Result<(), String> {
    let answered = Arc::clone(answered);
    let dog = move || {
        std::thread::sleep(deadline);
        if !answered.swap(true, Ordering::SeqCst) {
            let late = HookOutput::blocked("Sayso could not judge it in time [internal-error].");
            std::process::exit(i32::from(say(&late)));
        }
    };
    let started = std::thread::Builder::new().stack_size(64 * 1024).spawn(dog);
    started.map(|_| ()).map_err(|error| format!("Sayso cannot start its watchdog ({error})."))
}

/// Writes the answer, all at once; an answer that cannot be written whole is a block.
fn say(output: &HookOutput) -> u8 {
    let _ = std::io::stderr().write_all(output.stderr.as_bytes());
    if output.stdout.is_empty() {
        return output.exit;
    }
    // Not through the standard library's buffer, which would cut it at each newline.
    let whole = match std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned() {
        Ok(descriptor) => std::fs::File::from(descriptor).write_all(&output.stdout).is_ok(),
        Err(_) => false,
    };
    if whole {
        return output.exit;
    }
    let _ = std::io::stderr().write_all(b"Sayso: the answer could not be written.\n");
    BLOCK
}
