//! The outer side of a hold: starts the stage, looks after the run, and tells how it ended.

use crate::ask::Ask;
use crate::channel::{Channel, Received};
use crate::error::Error;
use crate::held_back::Record;
use crate::message::{News, Order, Program};
use crate::names::dial::{self, Resolve};
use crate::plan::Level;
use crate::prepare::{Prepared, prepare};
use crate::signals::Forwarded;
use crate::step::Step;
use crate::streams;
use crate::supervise::Supervised;
use rustix::event::{PollFd, PollFlags, poll};
use sayso_shell::bounds::{Bounds, Need};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// How the stage is started: this program, with arguments that lead to [`stage`](crate::stage).
#[derive(Clone, Debug)]
pub struct Stage {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// What to run, and how.
pub struct Launch {
    /// The program and its arguments; it is looked for on the `PATH` of the environment.
    pub words: Vec<OsString>,
    /// Its working directory.
    pub folder: PathBuf,
    /// Its environment, before anything is withheld.
    pub environment: Vec<(OsString, OsString)>,
    /// Its standard streams; `None`: those of this process.
    pub streams: Option<[OwnedFd; 3]>,
    /// How the stage is started.
    pub stage: Stage,
    /// Whether signals to this process are meant for the program.
    pub forward_signals: bool,
    /// How names are resolved outside; `None`: by the system.
    pub resolve: Option<Resolve>,
    /// Who is asked, while the program waits, about hosts that the bounds do not name; `None`: nobody, they are refused.
    /// Only ports that the bounds have for some host, 80 and 443 are asked about, and with
    /// [`report_writes`](Self::report_writes) files too. In a session's hold its supervisor asks
    /// ([`session::supervisor_asking`](crate::session::supervisor_asking)).
    pub ask: Option<Ask>,
    /// Whether files outside the bounds that the program opens for writing are reported. Every such opening then waits for
    /// the supervisor, inside the bounds too: jobs that write many files take half as long again.
    pub report_writes: bool,
    /// Let this step of making the hold fail. For tests: it can only ever make nothing run.
    #[doc(hidden)]
    pub fail_at: Option<Step>,
}

impl Launch {
    /// Runs `words` as this process would: its folder, environment and streams.
    pub fn here(words: Vec<OsString>, stage: Stage) -> io::Result<Self> {
        Ok(Self {
            words,
            folder: std::env::current_dir()?,
            environment: std::env::vars_os().collect(),
            streams: None,
            stage,
            forward_signals: true,
            resolve: None,
            ask: None,
            report_writes: false,
            fail_at: None,
        })
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With this exit code.
    Code(u8),
    /// By this signal.
    Signal(i32),
}

impl Status {
    /// The exit code that shells give for it.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => u8::try_from(signal).ok().and_then(|it| it.checked_add(128)).unwrap_or(u8::MAX),
        }
    }

    pub(crate) fn of(raw: i32) -> Self {
        u8::try_from(raw).map_or(Self::Signal(raw.saturating_neg()), Self::Code)
    }
}

/// A run that has ended.
#[derive(Clone, Debug)]
#[must_use]
pub struct Ended {
    /// How the program ended.
    pub status: Status,
    /// How the run was held.
    pub level: Level,
    /// What was held back.
    pub held_back: Record,
    /// Whether processes of its hold still run: then files may yet appear.
    pub left_running: bool,
}

/// Runs a program within bounds, and waits for it.
///
/// # Errors
///
/// If the hold could not be made, or the program not be started. Nothing ran then.
pub fn run(bounds: &Bounds, launch: &Launch) -> Result<Ended, Error> {
    match run_at(Level::Whole, bounds, launch) {
        Err(Error::Step { .. }) if bounds.need == Need::Files => run_at(Level::Files, bounds, launch),
        other => other,
    }
}

/// Runs a program held as much as this, and not otherwise.
///
/// # Errors
///
/// As [`run`].
pub fn run_at(level: Level, bounds: &Bounds, launch: &Launch) -> Result<Ended, Error> {
    run_prepared(level, prepare(bounds, &launch.folder, level)?, bounds, launch)
}

/// Runs a program by what was looked up before.
pub(crate) fn run_prepared(
    level: Level,
    mut prepared: Prepared,
    bounds: &Bounds,
    launch: &Launch,
) -> Result<Ended, Error> {
    prepared.plan.fail_at = launch.fail_at;
    prepared.plan.report_writes = launch.report_writes && level == Level::Whole;
    if launch.ask.is_some() && level == Level::Whole {
        prepared.ask_about_hosts();
    }
    let streams = streams::streams(launch.streams.as_ref(), bounds)?;
    let forwarded = launch.forward_signals.then(Forwarded::begin).transpose()?;
    let resolve = launch.resolve.clone().unwrap_or_else(dial::system);

    let (channel, theirs) = Channel::pair()?;
    let stage = start(&launch.stage, theirs)?;
    let program = program(launch, bounds);
    let given: Vec<BorrowedFd<'_>> = streams.iter().map(|it| it.as_fd()).collect();
    let mut supervised = Supervised::new(prepared, resolve, launch.ask.clone());
    // The order is there before the hold is: it is read when every step was taken.
    let sent = channel
        .send(&Order::Make(supervised.plan().clone()), &supervised.locks())
        .and_then(|()| channel.send(&Order::Run(program), &given));
    drop(streams);
    let ended = match sent {
        Ok(()) => attend(&channel, &mut supervised, forwarded.as_ref()),
        Err(error) => last_words(&channel).unwrap_or(Err(error.into())),
    };
    end(channel, stage, supervised.locks().is_empty());
    let held_back = supervised.finish();
    drop(forwarded);
    match ended? {
        Outcome::Ended(status) => Ok(Ended { status, level, held_back, left_running: false }),
        Outcome::NotStarted(error) => Err(not_started(launch, error)),
    }
}

pub(crate) enum Outcome {
    Ended(Status),
    NotStarted(i32),
}

/// Looks after a run until it has ended.
fn attend(channel: &Channel, supervised: &mut Supervised, forwarded: Option<&Forwarded>) -> Result<Outcome, Error> {
    loop {
        let mut waited = vec![PollFd::new(channel, PollFlags::IN)];
        if let Some(signals) = forwarded {
            waited.push(PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN));
        }
        waited.extend(supervised.waited_for());
        match poll(&mut waited, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        let news = waited.first().is_some_and(|it| !it.revents().is_empty());
        drop(waited);
        supervised.work();
        if let Some(signals) = forwarded {
            for signal in signals.received() {
                let _ = channel.send(&Order::Signal { run: 0, signal }, &[]);
            }
        }
        if !news {
            continue;
        }
        let Some(Received { message, descriptors }) = channel.receive()? else {
            return Err(io::Error::other("the hold ended before the program did").into());
        };
        match message {
            News::Ready { brokered } => supervised.take(descriptors, brokered)?,
            News::Started { .. } => {}
            News::Failed(failure) => return Err(Error::Step { step: failure.step, why: failure.why }),
            News::NotStarted { error, .. } => return Ok(Outcome::NotStarted(error)),
            News::Ended { status, .. } => return Ok(Outcome::Ended(Status::of(status))),
        }
    }
}

/// What the other side said before it ended, if it failed while it was still being told what to do.
fn last_words(channel: &Channel) -> Option<Result<Outcome, Error>> {
    match channel.receive().ok()?? {
        Received { message: News::Failed(failure), .. } => {
            Some(Err(Error::Step { step: failure.step, why: failure.why }))
        }
        _ => None,
    }
}

pub(crate) fn start(stage: &Stage, channel: OwnedFd) -> Result<Child, Error> {
    Command::new(&stage.program)
        .args(&stage.arguments)
        .env_clear()
        .stdin(Stdio::from(channel))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Error::Step { step: Step::Init, why: error.to_string() })
}

/// Ends everything inside, and waits until nothing of it runs any more.
fn end(channel: Channel, mut stage: Child, at_once: bool) {
    channel.say_no_more();
    while let Ok(Some(Received::<News> { .. })) = channel.receive() {}
    drop(channel);
    if at_once {
        // What is left is to take the mounts apart, which takes the kernel longer than anything else here.
        std::thread::spawn(move || stage.wait());
    } else {
        // The next run may have the same copies of caches: they must not be mounted any more.
        let _ = stage.wait();
    }
}

pub(crate) fn program(launch: &Launch, bounds: &Bounds) -> Program {
    let given = launch.environment.iter().filter(|(name, _)| !bounds.withhold.contains(name));
    let said = |name: &OsString| bounds.replace.iter().find(|(its, _)| its == name).map(|(_, value)| value);
    let environment = given.map(|(name, value)| (name.clone(), said(name).unwrap_or(value).clone())).collect();
    Program { run: 0, words: launch.words.clone(), environment, folder: launch.folder.clone(), mask: None }
}

pub(crate) fn not_started(launch: &Launch, error: i32) -> Error {
    let program = launch.words.first().map(PathBuf::from).unwrap_or_default();
    if error == libc::ENOENT {
        Error::NotFound { program }
    } else {
        Error::NotExecutable { program, why: io::Error::from_raw_os_error(error).to_string() }
    }
}
