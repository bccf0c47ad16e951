//! A hook at its edge: one object in, one complete object out, in time, whatever happens.
//!
//! Most agents run the call when a hook crashes, is late, is killed or prints something odd. So input is bounded, the
//! answer is made in memory and written at once, a watchdog answers before the agent's patience ends or when the
//! process is told to end, and every failure ends with a reason on standard error and exit code 2, which agents take
//! for a block.

use crate::dialect::Dialect;
use crate::{Agent, judge};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::fs::FileType;
use rustix::io::Errno;
use sayso_gate::Places;
use sayso_policy::shell::dialect::Shells;
use sayso_policy::{PolicyText, Stated};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// The most that is read from an agent.
pub const LARGEST_INPUT: usize = 8 * 1024 * 1024;
/// When the watchdog answers. Well below the time-out that `install` registers.
const DEADLINE: Duration = Duration::from_secs(5);
/// Signals that end nothing, and that a hook need not hear of. `SIGPIPE` is ignored: the write that caused it fails.
const HARMLESS: [Signal; 5] = [Signal::SIGCHLD, Signal::SIGCONT, Signal::SIGURG, Signal::SIGWINCH, Signal::SIGPIPE];
/// The exit code that agents take for a block.
const BLOCK: u8 = 2;
/// What a failure of our own is called.
const BUG: &str = "Sayso failed [internal-error]. Please report the bug.";

/// What a hook may look at beyond its input.
#[derive(Clone, Debug)]
pub struct HookSetting {
    /// Where policy and record are.
    pub places: Places,
    /// Policy files named by the owner; then no others count.
    pub given: Option<Vec<PolicyText>>,
    /// The project folder as the agent itself told its hook through the environment.
    pub project_folder: Option<PathBuf>,
    /// How long an Ask may wait for an approver. `None`: not at all. Whoever registers the hook gives it, together
    /// with the agent's time-out: to wait longer than that would let the call run.
    pub wait: Option<Duration>,
    /// The shells that run the agent's commands, as the registration says. `None`: by the user database.
    pub shells: Option<Shells>,
    /// Another hook may be told of the same calls.
    pub told_twice: bool,
    /// Whether a person sits before the agent. `None`: the agent's process is looked at where it matters.
    pub seated: Option<bool>,
    /// Nobody hears the answer: standard output leads nowhere.
    pub(crate) unheard: bool,
    /// Who asks, as the owner states it.
    pub stated: Stated,
    watchdog: Option<Watchdog>,
}

impl HookSetting {
    /// With these places, files that the owner named, and what the environment says.
    #[must_use]
    pub fn new(agent: Agent, places: Places, given: Option<Vec<PolicyText>>) -> Self {
        let dialect = agent.row().dialect;
        let variable = dialect.and_then(Dialect::project_variable);
        let project_folder = variable.and_then(std::env::var_os).map(PathBuf::from);
        let told_twice = dialect.is_some_and(Dialect::told_twice);
        let (wait, shells, seated, watchdog) = (None, None, None, None);
        Self {
            places,
            given,
            project_folder,
            wait,
            shells,
            told_twice,
            seated,
            unheard: false,
            stated: Stated::default(),
            watchdog,
        }
    }

    /// Whether the process ends with the answer: then the system gives back its memory, at once.
    pub(crate) fn ends_with_answer(&self) -> bool {
        self.watchdog.is_some()
    }

    /// The watchdog lets a person have this much time.
    pub(crate) fn not_before(&self, until: Instant) {
        if let Some(watchdog) = &self.watchdog {
            watchdog.not_before(until);
        }
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
        return HookOutput::blocked("The agent's message is too large to judge [call-malformed].");
    }
    let Some(dialect) = agent.row().dialect else {
        return HookOutput::blocked(&format!("{} has no hooks that Sayso can answer.", agent.title()));
    };
    let answered = catch_unwind(AssertUnwindSafe(|| judge::answer(dialect, input, setting)));
    answered.unwrap_or_else(|_| HookOutput::blocked(BUG))
}

/// The whole life of a hook's process: reads standard input, answers, and tells how to exit. Not called twice.
pub fn hook_process(agent: Agent, setting: impl FnOnce() -> Result<HookSetting, String>) -> ExitCode {
    // A panic is answered, not shown: its text could hold what the agent sent.
    std::panic::set_hook(Box::new(|_| {}));
    let output = match Watchdog::start(DEADLINE) {
        Ok(watchdog) => {
            let output = read_and_run(agent, setting, &watchdog);
            watchdog.off();
            output
        }
        Err(why) => HookOutput::blocked(&why),
    };
    ExitCode::from(say(&output))
}

fn read_and_run(
    agent: Agent,
    setting: impl FnOnce() -> Result<HookSetting, String>,
    watchdog: &Watchdog,
) -> HookOutput {
    let mut input = Vec::new();
    let most = u64::try_from(LARGEST_INPUT).unwrap_or(u64::MAX).saturating_add(1);
    if let Err(error) = std::io::stdin().lock().take(most).read_to_end(&mut input) {
        return HookOutput::blocked(&format!("The agent's message cannot be read ({error})."));
    }
    match catch_unwind(AssertUnwindSafe(setting)) {
        Ok(Ok(mut setting)) => {
            setting.watchdog = Some(watchdog.clone());
            setting.unheard = leads_nowhere(&std::io::stdout());
            run_hook(agent, &input, &setting)
        }
        Ok(Err(why)) => HookOutput::blocked(&why),
        Err(_) => HookOutput::blocked(BUG),
    }
}

/// Answers in the hook's place if it is late, or is told to end: to agents a process that a signal ended looks as if
/// it had no objection.
///
/// INVARIANT: every signal that would end or stop the process is blocked in all its threads before anything is read. An
/// attacker would start the agent under `ulimit -f`, so that the kernel ends whoever writes the record.
#[derive(Clone, Debug)]
struct Watchdog {
    /// Whoever sets it first answers.
    answered: Arc<AtomicBool>,
    /// Milliseconds after `EPOCH`.
    deadline: Arc<AtomicU64>,
}

/// What deadlines are counted from.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Watchdog {
    fn start(patience: Duration) -> Result<Self, String> {
        let deadline = AtomicU64::new(millis(EPOCH.elapsed() + patience));
        let dog = Self { answered: Arc::default(), deadline: Arc::new(deadline) };
        block_on_abort()?;
        let mut signals = SigSet::all();
        for signal in HARMLESS {
            signals.remove(signal);
        }
        // Threads that are started later inherit it.
        signals.thread_block().map_err(|error| format!("Sayso cannot block signals ({error})."))?;
        let watching = dog.clone();
        let thread = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || watching.watch(&signals));
        thread.map(|_| dog).map_err(|error| format!("Sayso cannot start its watchdog ({error})."))
    }

    fn watch(&self, signals: &SigSet) {
        // Without a descriptor nobody hears of signals, but they are blocked all the same.
        let told = SignalFd::with_flags(signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).ok();
        let why = loop {
            let left = self.deadline.load(Ordering::SeqCst).saturating_sub(millis(EPOCH.elapsed()));
            if left == 0 {
                break "Sayso could not judge the call in time [internal-error].";
            }
            if told.as_ref().is_some_and(|told| is_told(told, left)) {
                break "Sayso was terminated before it could judge the call [internal-error].";
            }
            if told.is_none() {
                std::thread::sleep(Duration::from_millis(left));
            }
        };
        if !self.answered.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(say(&HookOutput::blocked(why))));
        }
    }

    /// A person is waited for, at most until then.
    fn not_before(&self, until: Instant) {
        let until = until.saturating_duration_since(*EPOCH) + DEADLINE / 2;
        self.deadline.fetch_max(millis(until), Ordering::SeqCst);
    }

    /// The hook has its answer.
    fn off(&self) {
        if self.answered.swap(true, Ordering::SeqCst) {
            // The watchdog was faster and is ending the process: saying more would make two answers of one.
            loop {
                std::thread::park();
            }
        }
    }
}

/// Memory that is refused and a stack that is used up end in `abort`, which no mask holds back.
fn block_on_abort() -> Result<(), String> {
    let always = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, i32::from(BLOCK), always)
        .map(drop)
        .map_err(|error| format!("Sayso cannot handle signals ({error})."))
}

/// Waits for a signal, at most this many milliseconds.
fn is_told(told: &SignalFd, left: u64) -> bool {
    let patience = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
    let mut waiting = [PollFd::new(told.as_fd(), PollFlags::POLLIN)];
    poll(&mut waiting, patience).is_ok_and(|ready| ready > 0)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Writes the answer, all at once; an answer that cannot be written whole is a block.
fn say(output: &HookOutput) -> u8 {
    let _ = std::io::stderr().write_all(output.stderr.as_bytes());
    if output.stdout.is_empty() {
        return output.exit;
    }
    if write_whole(&output.stdout).is_ok() {
        return output.exit;
    }
    let _ = std::io::stderr().write_all(b"Sayso: the answer could not be written.\n");
    BLOCK
}

/// Whether what is written there is lost. A descriptor that was closed is the null device by the time `main` begins, since
/// the standard library opens that in its place: an answer would seem to be written, and to the agent its hook, ending
/// with 0 and without a word, would have no objection.
fn leads_nowhere(stdout: &impl AsFd) -> bool {
    let null = rustix::fs::makedev(1, 3);
    rustix::fs::fstat(stdout)
        .map_or(true, |stat| FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == null)
}

/// Not through the standard library's buffer, which would cut it at each newline.
fn write_whole(mut bytes: &[u8]) -> Result<(), Errno> {
    let stdout = std::io::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(&stdout, bytes) {
            Ok(0) => return Err(Errno::PIPE),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
