//! The inner side of a hold: the stage that makes it, and the first process in it.
//!
//! The stage is the same program, started anew, so that it has a single thread and nothing of its parent's memory. It
//! leaves the machine's namespaces and splits in two: one half waits outside the new process namespace, the other is its
//! first process, shuts the door behind itself and then starts programs when it is told to. It never runs anything
//! before every step has been taken. When the supervisor is gone, it ends, and with it everything inside.

use crate::channel::{Channel, Received};
use crate::message::{News, Order, Program};
use crate::plan::{Level, Plan, What};
use crate::step::{Failure, Step, Steps};
use crate::sys::{self, Fork};
use crate::{filter, mounts, network, restrict};
use nix::sys::signal::{SigSet, Signal as NixSignal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, inotify};
use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, LinkNameSpaceType, UnshareFlags, move_into_link_name_space,
};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, ExitCode, Stdio};

/// The stage: what the program does when it was started as one. The channel is its standard input.
#[must_use]
pub fn stage() -> ExitCode {
    let Ok(channel) = own_channel() else { return ExitCode::FAILURE };
    let Ok(Some(Received { message: Order::Make(plan), descriptors: locks })) = channel.receive() else {
        return ExitCode::FAILURE;
    };
    // A key pressed at the terminal is for the program; it reaches everything in the foreground.
    if SigSet::all().thread_block().is_err() {
        return ExitCode::FAILURE;
    }
    let code = match divide(&plan) {
        Ok((Fork::Parent(child), halves)) => {
            if let Some(halves) = halves {
                halves.hand_over_network(&plan);
            }
            wait_for(child, plan.level);
            // That the channel ends tells the supervisor that nothing is left.
            drop(channel);
            ExitCode::SUCCESS
        }
        Ok((Fork::Child, halves)) => first_process(&channel, &plan, halves.map(|it| it.inner)),
        Err(failure) => {
            let _ = channel.send(&News::Failed(failure), &[]);
            ExitCode::FAILURE
        }
    };
    drop(locks);
    code
}

fn own_channel() -> io::Result<Channel> {
    let socket = rustix::stdio::stdin().try_clone_to_owned()?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    Ok(Channel::over(socket))
}

/// What the two halves have in common. Making a network takes the kernel as long as everything else, so the outer half
/// makes it while the inner one mounts.
struct Halves {
    outer: Channel,
    inner: Channel,
    /// The outer half's own namespaces, opened before `/proc` is covered.
    namespaces: OwnedFd,
}

impl Halves {
    fn new() -> io::Result<Self> {
        let (outer, inner) = Channel::pair()?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let namespaces = rustix::fs::open("/proc/self/ns", flags, Mode::empty())?;
        Ok(Self { outer, inner: Channel::over(inner), namespaces })
    }

    /// Makes a network without a way out, and the sockets for the supervisor.
    fn hand_over_network(self, plan: &Plan) {
        let Self { outer, inner, namespaces } = self;
        drop(inner);
        let steps = Steps { fail_at: plan.fail_at };
        let made = steps.take(Step::Network, || {
            sys::unshare(UnshareFlags::NEWNET)?;
            network::bring_up(&plan.addresses)?;
            let own = rustix::fs::openat(&namespaces, "net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let mut made = vec![own, network::name_server()?, network::socket_list()?];
            for (address, port) in &plan.listeners {
                made.push(network::listener(*address, *port)?);
            }
            io::Result::Ok(made)
        });
        // If nobody listens any more, the inner half has failed and said why.
        let _ = match made {
            Ok(made) => {
                let given: Vec<BorrowedFd<'_>> = made.iter().map(AsFd::as_fd).collect();
                outer.send(&News::Ready { brokered: false }, &given)
            }
            Err(failure) => outer.send(&News::Failed(failure), &[]),
        };
    }
}

/// Enters the network that the outer half has made. Returns its sockets: the name server, the list, the listeners.
fn take_network(outside: &Channel) -> Result<Vec<OwnedFd>, Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure { step: Step::Network, why: why.to_string() };
    match outside.receive().map_err(|error| failed(&error))? {
        Some(Received { message: News::Ready { .. }, descriptors }) => {
            let mut descriptors = descriptors.into_iter();
            let own = descriptors.next().ok_or_else(|| failed(&"no network came"))?;
            move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::Network)).map_err(|error| failed(&error))?;
            Ok(descriptors.collect())
        }
        Some(Received { message: News::Failed(failure), .. }) => Err(failure),
        // The outer half is gone.
        _ => Err(failed(&"no network came")),
    }
}

/// Leaves the namespaces and splits in two.
fn divide(plan: &Plan) -> Result<(Fork, Option<Halves>), Failure> {
    let steps = Steps { fail_at: plan.fail_at };
    if plan.level == Level::Whole {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        steps.take(Step::Namespaces, || {
            let all = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
            sys::unshare(all)
        })?;
        steps.take(Step::Identity, || {
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
            fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))
        })?;
    }
    steps.take(Step::Init, || {
        let halves = match plan.level {
            Level::Files => {
                rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
                None
            }
            Level::Whole => Some(Halves::new()?),
        };
        Ok::<_, io::Error>((sys::fork()?, halves))
    })
}

/// Waits until nothing is left inside.
fn wait_for(child: Pid, level: Level) {
    let also_stopped = if level == Level::Files { WaitOptions::UNTRACED } else { WaitOptions::empty() };
    while let Ok(Some((pid, status))) = rustix::process::wait(also_stopped) {
        // Without a process namespace the run can stop the first process, which would then not notice that it is to end.
        if status.stopped() {
            let _ = rustix::process::kill_process(pid, Signal::CONT);
            continue;
        }
        // Without a process namespace whatever was left behind is now a child of this process.
        if pid == child && level == Level::Files {
            break;
        }
    }
    if level == Level::Files {
        end_children();
    }
}

fn end_children() {
    let own = rustix::process::getpid();
    loop {
        let path = format!("/proc/self/task/{}/children", own.as_raw_pid());
        let children = fs::read_to_string(path).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)) {
            let _ = rustix::process::kill_process(child, Signal::KILL);
        }
        // Ends when there is no child any more; each that is reaped may have left its own.
        if !matches!(rustix::process::wait(WaitOptions::empty()), Ok(Some(_))) {
            return;
        }
    }
}

/// The first process: makes the hold, then starts what it is told to.
fn first_process(channel: &Channel, plan: &Plan, outside: Option<Channel>) -> ExitCode {
    // If the stage is killed there is nobody to wait; the supervisor's end is seen by the channel in any case.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let (open, brokered) = match make(plan, outside) {
        Ok(open) => open,
        Err(failure) => {
            let _ = channel.send(&News::Failed(failure), &[]);
            return ExitCode::FAILURE;
        }
    };
    let given: Vec<BorrowedFd<'_>> = open.iter().map(AsFd::as_fd).collect();
    if channel.send(&News::Ready { brokered }, &given).is_err() {
        return ExitCode::FAILURE;
    }
    drop(open);
    match serve(channel) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Every step, in order. Returns the descriptors for the supervisor, and whether it makes connections.
fn make(plan: &Plan, outside: Option<Channel>) -> Result<(Vec<OwnedFd>, bool), Failure> {
    let steps = Steps { fail_at: plan.fail_at };
    let mut for_supervisor = Vec::new();
    let mut listeners = Vec::new();
    if let Some(outside) = outside {
        steps.take(Step::Private, mounts::make_private)?;
        let mut sources = steps.take(Step::Sources, || mounts::open_sources(&plan.covers))?;
        steps.take(Step::ReadOnly, mounts::make_read_only)?;
        let devices = steps.take(Step::Devices, || mounts::make_devices(&mut sources))?;
        steps.take(Step::Covers, || {
            mounts::attach_covers(&plan.covers, sources, &devices)?;
            mounts::finish_devices(&devices)
        })?;
        steps.take(Step::Processes, mounts::mount_processes)?;
        let watch = steps.take(Step::Watches, || watch_decoys(plan))?;
        let mut network = take_network(&outside)?.into_iter();
        let (Some(names), Some(sockets)) = (network.next(), network.next()) else {
            return Err(Failure { step: Step::Network, why: "no network came".to_owned() });
        };
        for_supervisor.extend([names, watch, sockets]);
        listeners.extend(network);
    }
    // Again: the folder that the process is in is the one below the mounts.
    steps.take(Step::Folder, || std::env::set_current_dir(&plan.folder))?;
    steps.take(Step::Capabilities, || drop_capabilities(plan.level))?;
    steps.take(Step::Landlock, || restrict::apply(plan))?;
    let connections = steps.take(Step::Seccomp, || filter::apply(plan.level, plan.report_writes))?;
    let brokered = connections.is_some();
    for_supervisor.extend(connections);
    for_supervisor.extend(listeners);
    steps.take(Step::Descriptors, || {
        sys::keep_standard_streams_only()?;
        // Programs inside have the same user: they must not reach into this process.
        io::Result::Ok(rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
    })?;
    steps.take(Step::Check, || check(plan.level))?;
    Ok((for_supervisor, brokered))
}

/// Who opens a decoy is told.
fn watch_decoys(plan: &Plan) -> io::Result<OwnedFd> {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    for cover in plan.covers.iter().filter(|cover| matches!(cover.what, What::Decoy(_))) {
        inotify::add_watch(&watch, &cover.path, inotify::WatchFlags::OPEN)?;
    }
    Ok(watch)
}

fn drop_capabilities(level: Level) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    if level == Level::Whole || rustix::process::geteuid().is_root() {
        let bits = CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
        rustix::thread::set_capabilities_secure_bits(bits)?;
        for number in 0..64 {
            let one = CapabilitySet::from_bits_retain(1 << number);
            match rustix::thread::remove_capability_from_bounding_set(one) {
                Ok(()) => {}
                // The kernel knows no more.
                Err(rustix::io::Errno::INVAL) => break,
                Err(error) => return Err(error.into()),
            }
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

/// INVARIANT: no program is started before the kernel itself has said that the door is shut.
fn check(level: Level) -> io::Result<()> {
    let status = fs::read_to_string("/proc/self/status")?;
    let is = |name: &str, wanted: &str| {
        status.lines().filter_map(|line| line.split_once(':')).any(|(key, value)| key == name && value.trim() == wanted)
    };
    let none = "0000000000000000";
    if !(is("NoNewPrivs", "1") && is("Seccomp", "2")) {
        return Err(io::Error::other("the filter is not there"));
    }
    if !["CapInh", "CapPrm", "CapEff", "CapAmb"].iter().all(|name| is(name, none)) {
        return Err(io::Error::other("there are capabilities left"));
    }
    if level == Level::Whole {
        if !is("CapBnd", none) {
            return Err(io::Error::other("there are capabilities left"));
        }
        if !mounts::is_read_only()? {
            return Err(io::Error::other("the root folder can be written"));
        }
        if rustix::process::getpid().as_raw_pid() != 1 {
            return Err(io::Error::other("other processes can be seen"));
        }
    }
    Ok(())
}

/// Starts programs, passes on signals, and tells how programs end, until the supervisor is gone.
fn serve(channel: &Channel) -> io::Result<()> {
    let ends = SignalFd::with_flags(&SigSet::from(NixSignal::SIGCHLD), SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let mut running: HashMap<Pid, u32> = HashMap::new();
    loop {
        let mut waited = [PollFd::new(channel, PollFlags::IN), PollFd::from_borrowed_fd(ends.as_fd(), PollFlags::IN)];
        match poll(&mut waited, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [orders, ended] = waited.map(|it| !it.revents().is_empty());
        if ended {
            while let Ok(Some(_)) = ends.read_signal() {}
            reap(channel, &mut running)?;
        }
        if orders {
            match channel.receive()? {
                None => return Ok(()),
                Some(Received { message: Order::Run(program), descriptors }) => {
                    let run = program.run;
                    match start(&program, descriptors) {
                        Ok(pid) => {
                            running.insert(pid, run);
                            channel.send(&News::Started { run }, &[])?;
                        }
                        Err(error) => {
                            let missing = error.kind() == io::ErrorKind::NotFound;
                            let error = error.raw_os_error().unwrap_or(if missing { libc::ENOENT } else { libc::EIO });
                            channel.send(&News::NotStarted { run, error }, &[])?;
                        }
                    }
                    // It may have ended before it was known here.
                    reap(channel, &mut running)?;
                }
                Some(Received { message: Order::Signal { run, signal }, .. }) => {
                    if let Some(signal) = Signal::from_named_raw(signal) {
                        for (pid, _) in running.iter().filter(|(_, its)| **its == run) {
                            let _ = rustix::process::kill_process(*pid, signal);
                        }
                    }
                }
                Some(Received { message: Order::Make(_), .. }) => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
    }
}

fn reap(channel: &Channel, running: &mut HashMap<Pid, u32>) -> io::Result<()> {
    let mut ended = Vec::new();
    let left = loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => ended.extend(running.remove(&pid).map(|run| (run, status))),
            // There are children, and none of them has ended. Whatever lost its parent is a child of this process.
            Ok(None) => break true,
            Err(rustix::io::Errno::CHILD) => break false,
            Err(_) => break true,
        }
    };
    for (run, status) in ended {
        let status = status.exit_status().or_else(|| status.terminating_signal().map(|signal| -signal)).unwrap_or(-1);
        channel.send(&News::Ended { run, status, left }, &[])?;
    }
    Ok(())
}

fn start(program: &Program, streams: Vec<OwnedFd>) -> io::Result<Pid> {
    let [input, output, errors] = <[OwnedFd; 3]>::try_from(streams).map_err(|_| io::ErrorKind::InvalidInput)?;
    let (word, rest) = program.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    std::env::set_current_dir(&program.folder)?;
    if let Some(mask) = program.mask {
        rustix::process::umask(Mode::from_raw_mode(mask));
    }
    // The program gets signals as any other does. What came for it before it was there may end this process: then
    // nothing runs.
    SigSet::empty().thread_set_mask()?;
    let child = Command::new(word)
        .args(rest)
        .env_clear()
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors))
        .spawn();
    SigSet::all().thread_block()?;
    let child =
        child.map_err(|error| if is_nowhere(program, &error) { io::ErrorKind::NotFound.into() } else { error })?;
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// A folder on the `PATH` that cannot be entered makes the system say so, though the program is in none.
fn is_nowhere(program: &Program, error: &io::Error) -> bool {
    let Some(word) = program.words.first().filter(|word| !word.as_bytes().contains(&b'/')) else { return false };
    let path = program.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    error.kind() == io::ErrorKind::PermissionDenied
        && !std::env::split_paths(&path.unwrap_or_default()).any(|folder| folder.join(word).exists())
}
