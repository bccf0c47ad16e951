//! A hold that outlives a run: processes that one run leaves behind are met by the next.
//!
//! A session has one supervisor, a process that is started by the first run and keeps the hold. Later runs of the same
//! bounds hand it their program and streams; the first process inside starts it, so nobody has to enter anything. Runs
//! with other bounds get a hold of their own, and so do those that want a terminal, which belongs to their own session.

use crate::ask::Asking;
use crate::channel::{Channel, Received};
use crate::error::Error;
use crate::message::{News, Order};
use crate::names::dial;
use crate::plan::Level;
use crate::prepare::prepare;
use crate::request::{Reply, Request};
use crate::run::{self, Ended, Launch, Stage, Status};
use crate::signals::Forwarded;
use crate::step::Failure;
use crate::streams;
use crate::supervise::Supervised;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock};
use sayso_shell::bounds::{Bounds, Leave, Need};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// How a session's hold is found and started.
#[derive(Clone, Debug)]
pub struct Session {
    /// Where its supervisor listens. The folder around it is made for the user alone.
    pub socket: PathBuf,
    /// How the supervisor is started: this program, with arguments that lead to [`supervisor`].
    pub supervisor: Stage,
    /// After how many seconds without a run the session ends.
    pub idle: u32,
}

/// Runs a program in the session's hold, or in one of its own where that cannot be.
///
/// # Errors
///
/// As [`crate::run()`].
pub fn run_in(session: &Session, bounds: &Bounds, launch: &Launch) -> Result<Ended, Error> {
    let streams = streams::streams(launch.streams.as_ref(), bounds)?;
    let wants_terminal = streams.iter().any(rustix::termios::isatty);
    if bounds.leave != Leave::Session || bounds.need == Need::Files || wants_terminal {
        return run::run(bounds, launch);
    }
    let channel = match UnixStream::connect(&session.socket) {
        Ok(stream) => Channel::over(stream.into()),
        Err(_) => match begin(session, bounds, launch)? {
            Some(channel) => channel,
            None => return run::run(bounds, launch),
        },
    };
    let mut program = run::program(launch, bounds);
    program.mask = own_mask();
    let given: Vec<BorrowedFd<'_>> = streams.iter().map(|it| it.as_fd()).collect();
    let forwarded = launch.forward_signals.then(Forwarded::begin).transpose()?;
    channel.send(&Request::Join { bounds: bounds.clone(), program }, &given)?;
    drop(streams);
    loop {
        let mut waited = vec![PollFd::new(&channel, PollFlags::IN)];
        if let Some(signals) = &forwarded {
            waited.push(PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN));
        }
        match poll(&mut waited, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        let news = waited.first().is_some_and(|it| !it.revents().is_empty());
        for signal in forwarded.iter().flat_map(Forwarded::received) {
            let _ = channel.send(&Request::Signal(signal), &[]);
        }
        if !news {
            continue;
        }
        let Some(Received { message, .. }) = channel.receive()? else {
            return Err(io::Error::other("the session's hold ended before the program did").into());
        };
        match message {
            Reply::Ready => {}
            Reply::Differs => {
                drop(forwarded);
                return run::run(bounds, launch);
            }
            Reply::Failed(failure) => return Err(Error::Step { step: failure.step, why: failure.why }),
            Reply::NotStarted(error) => return Err(run::not_started(launch, error)),
            Reply::Ended(status, held_back, left_running) => {
                return Ok(Ended { status: Status::of(status), level: Level::Whole, held_back, left_running });
            }
        }
    }
}

/// Ends a session, and everything in its hold. Returns whether there was one.
pub fn end(socket: &Path) -> bool {
    let Ok(stream) = UnixStream::connect(socket) else { return false };
    let channel = Channel::over(stream.into());
    // Until it is gone: whoever asks wants nothing to be left.
    channel.send(&Request::End, &[]).is_ok() && channel.receive::<Reply>().is_ok_and(|it| it.is_none())
}

/// Starts the supervisor. `None`: another run is starting one right now.
fn begin(session: &Session, bounds: &Bounds, launch: &Launch) -> Result<Option<Channel>, Error> {
    if let Some(folder) = session.socket.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let (channel, theirs) = Channel::pair()?;
    let mut supervisor = Command::new(&session.supervisor.program)
        .args(&session.supervisor.arguments)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It outlives this run, but perhaps not this process.
    std::thread::spawn(move || supervisor.wait());
    let request = Request::Serve {
        bounds: bounds.clone(),
        folder: launch.folder.clone(),
        socket: session.socket.clone(),
        stage: launch.stage.program.clone(),
        arguments: launch.stage.arguments.clone(),
        idle: session.idle,
    };
    channel.send(&request, &[])?;
    match channel.receive()? {
        Some(Received { message: Reply::Ready, .. }) => Ok(Some(channel)),
        Some(Received { message: Reply::Failed(failure), .. }) => {
            Err(Error::Step { step: failure.step, why: failure.why })
        }
        _ => Ok(None),
    }
}

fn own_mask() -> Option<u32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(mask.trim(), 8).ok()
}

/// The supervisor: what the program does when it was started as one. The channel to the first run is its standard input.
#[must_use]
pub fn supervisor() -> ExitCode {
    supervisor_asking(None)
}

/// The same with somebody who is asked about what runs want beyond their bounds. A yes lasts as long as the hold.
#[must_use]
pub fn supervisor_asking(asking: Option<Asking>) -> ExitCode {
    // Away from the terminal and the process group of whoever was first.
    if rustix::process::setsid().is_err() {
        return ExitCode::FAILURE;
    }
    match serve(asking) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve(asking: Option<Asking>) -> Result<(), Error> {
    let first = Channel::over(rustix::stdio::stdin().try_clone_to_owned()?);
    let nothing =
        rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)?;
    rustix::stdio::dup2_stdin(&nothing).map_err(io::Error::from)?;
    let Some(Received { message: Request::Serve { bounds, folder, socket, stage, arguments, idle }, .. }) =
        first.receive()?
    else {
        return Err(io::Error::from(io::ErrorKind::InvalidData).into());
    };
    let lock = lock(&socket)?;
    // Nobody answers there, or this process would not have been started.
    let _ = fs::remove_file(&socket);
    // Before the hold is made, so that it is covered inside like every other socket of the machine.
    let listener = UnixListener::bind(&socket)?;
    listener.set_nonblocking(true)?;
    let served = Keeper::start(&bounds, &folder, &Stage { program: stage, arguments }, asking);
    let result = match served {
        Ok(mut keeper) => {
            first.send(&Reply::Ready, &[])?;
            keeper.clients.insert(0, Client { channel: first, runs: false });
            keeper.attend(&listener, &bounds, idle);
            // Nobody new, before everything inside ends.
            let _ = fs::remove_file(&socket);
            let clients = keeper.finish();
            drop(lock);
            // Who asked for the end hears of it only now, and may begin anew.
            drop(clients);
            return Ok(());
        }
        Err(Error::Step { step, why }) => {
            let _ = fs::remove_file(&socket);
            first.send(&Reply::Failed(Failure { step, why }), &[])?;
            Ok(())
        }
        Err(error) => {
            let _ = fs::remove_file(&socket);
            Err(error)
        }
    };
    drop(lock);
    result
}

/// One supervisor for a socket.
fn lock(socket: &Path) -> io::Result<OwnedFd> {
    let mut name = socket.as_os_str().to_owned();
    name.push(".lock");
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let lock = rustix::fs::openat(CWD, PathBuf::from(name), flags, Mode::from_raw_mode(0o600))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    Ok(lock)
}

struct Client {
    channel: Channel,
    runs: bool,
}

/// A hold and the runs in it.
struct Keeper {
    hold: Channel,
    stage: std::process::Child,
    supervised: Supervised,
    clients: HashMap<u32, Client>,
    next: u32,
}

impl Keeper {
    fn start(bounds: &Bounds, folder: &Path, stage: &Stage, asking: Option<Asking>) -> Result<Self, Error> {
        let mut prepared = prepare(bounds, folder, Level::Whole)?;
        if let Some(asking) = &asking {
            prepared.ask_about_hosts();
            prepared.plan.report_writes = asking.writes;
        }
        let mut supervised = Supervised::new(prepared, dial::system(), asking.as_ref().map(|it| it.ask.clone()));
        if let Some(asking) = asking {
            supervised.attended_by(asking.attended);
        }
        let (hold, theirs) = Channel::pair()?;
        let stage = run::start(stage, theirs)?;
        hold.send(&Order::Make(supervised.plan().clone()), &supervised.locks())?;
        match hold.receive()? {
            Some(Received { message: News::Ready { brokered }, descriptors }) => {
                supervised.take(descriptors, brokered)?
            }
            Some(Received { message: News::Failed(Failure { step, why }), .. }) => {
                return Err(Error::Step { step, why });
            }
            _ => return Err(io::Error::other("the hold ended while it was made").into()),
        }
        Ok(Self { hold, stage, supervised, clients: HashMap::new(), next: 1 })
    }

    /// Serves runs until the session is over.
    fn attend(&mut self, listener: &UnixListener, bounds: &Bounds, idle: u32) {
        loop {
            let ids: Vec<u32> = self.clients.keys().copied().collect();
            let mut waited = vec![PollFd::new(&self.hold, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
            waited.extend(self.clients.values().map(|client| PollFd::new(&client.channel, PollFlags::IN)));
            waited.extend(self.supervised.waited_for());
            let patience = Timespec { tv_sec: idle.into(), tv_nsec: 0 };
            let quiet = !self.clients.values().any(|client| client.runs);
            let woken = match poll(&mut waited, quiet.then_some(&patience)) {
                Ok(count) => count,
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return,
            };
            if woken == 0 {
                return;
            }
            let ready: Vec<bool> = waited.iter().map(|it| !it.revents().is_empty()).collect();
            drop(waited);
            self.supervised.work();
            let mut ready = ready.into_iter();
            if ready.next() == Some(true) && !self.pass_on() {
                return;
            }
            if ready.next() == Some(true)
                && let Ok((stream, _)) = listener.accept()
                && is_outside(&stream)
            {
                let id = self.next;
                self.next = self.next.wrapping_add(1);
                self.clients.insert(id, Client { channel: Channel::over(stream.into()), runs: false });
            }
            for (id, _) in ids.into_iter().zip(ready).filter(|(_, ready)| *ready) {
                if !self.hear(id, bounds) {
                    return;
                }
            }
        }
    }

    /// Tells a run what became of its program. `false`: the hold is gone.
    fn pass_on(&mut self) -> bool {
        let Ok(Some(Received { message, .. })) = self.hold.receive() else { return false };
        let (run, reply) = match message {
            News::Ended { run, status, left } => (run, Reply::Ended(status, self.supervised.so_far(), left)),
            News::NotStarted { run, error } => (run, Reply::NotStarted(error)),
            _ => return true,
        };
        if let Some(client) = self.clients.remove(&run) {
            let _ = client.channel.send(&reply, &[]);
        }
        true
    }

    /// Hears a run out. `false`: the session is to end.
    fn hear(&mut self, id: u32, bounds: &Bounds) -> bool {
        let Some(client) = self.clients.get_mut(&id) else { return true };
        match client.channel.receive() {
            Ok(Some(Received { message: Request::Join { bounds: its, mut program }, descriptors })) => {
                if its != *bounds {
                    let _ = client.channel.send(&Reply::Differs, &[]);
                    return true;
                }
                client.runs = true;
                program.run = id;
                let given: Vec<BorrowedFd<'_>> = descriptors.iter().map(|it| it.as_fd()).collect();
                self.hold.send(&Order::Run(program), &given).is_ok()
            }
            Ok(Some(Received { message: Request::Signal(signal), .. })) => {
                self.hold.send(&Order::Signal { run: id, signal }, &[]).is_ok()
            }
            Ok(Some(Received { message: Request::End, .. })) => false,
            // A run that was killed takes its program with it, as it would without a session.
            _ => {
                let runs = self.clients.remove(&id).is_some_and(|client| client.runs);
                !runs || self.hold.send(&Order::Signal { run: id, signal: libc::SIGKILL }, &[]).is_ok()
            }
        }
    }

    /// Ends everything inside.
    fn finish(mut self) -> HashMap<u32, Client> {
        drop(self.hold);
        let _ = self.stage.wait();
        let _ = self.supervised.finish();
        self.clients
    }
}

/// INVARIANT: only processes of this user that are in no hold may start something in this one: a process that another
/// hold left behind must not get these bounds.
fn is_outside(stream: &UnixStream) -> bool {
    let Ok(peer) = rustix::net::sockopt::socket_peercred(stream) else { return false };
    let own = fs::read_link("/proc/self/ns/pid");
    let its = fs::read_link(format!("/proc/{}/ns/pid", peer.pid.as_raw_pid()));
    peer.uid == rustix::process::geteuid() && own.is_ok_and(|own| its.is_ok_and(|its| own == its))
}
