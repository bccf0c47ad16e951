//! What is done outside for a run that goes on inside: names are answered, hosts dialled, decoys and guarded names
//! watched.

use crate::aside::Guards;
use crate::ask::{Answers, Ask, Attended, Wish};
use crate::broker::Broker;
use crate::held_back::{HeldBack, Record};
use crate::names::dial::{self, Resolve};
use crate::names::{Names, dns};
use crate::plan::Plan;
use crate::prepare::Prepared;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::inotify;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

/// How many connections a run can have open to hosts.
const MOST_CONNECTIONS: usize = 512;

/// Questions answered, and connections taken, before somebody else has a turn.
const AT_ONCE: usize = 64;

/// A run that is looked after.
pub(crate) struct Supervised {
    plan: Plan,
    names: Names,
    guards: Guards,
    decoys: Vec<PathBuf>,
    resolve: Resolve,
    answers: Option<Answers>,
    /// `None`: somebody is there as long as the run lasts.
    attended: Option<Attended>,
    record: Record,
    name_server: Option<UdpSocket>,
    decoy_watch: Option<OwnedFd>,
    broker: Option<Broker>,
    allowed_sockets: Vec<PathBuf>,
    listeners: Vec<TcpListener>,
    guard_watch: Option<(OwnedFd, HashSet<OsString>)>,
    connections: HashMap<u64, TcpStream>,
    next_connection: u64,
    refused: (Sender<Finished>, Receiver<Finished>),
    /// Copies of caches are this run's until it has ended.
    locks: Vec<File>,
}

/// A connection that has ended, and the host that was refused to it.
struct Finished {
    connection: u64,
    refused: Option<HeldBack>,
}

impl Supervised {
    pub(crate) fn new(prepared: Prepared, resolve: Resolve, ask: Option<Ask>) -> Self {
        let (folders, parts) = prepared.guards.watched();
        let guard_watch = watch_folders(&folders).map(|watch| (watch, parts));
        Self {
            plan: prepared.plan,
            names: prepared.names,
            guards: prepared.guards,
            decoys: prepared.decoys,
            resolve,
            answers: ask.map(Answers::new),
            attended: None,
            record: Record::default(),
            name_server: None,
            decoy_watch: None,
            broker: None,
            allowed_sockets: prepared.sockets,
            listeners: Vec::new(),
            guard_watch,
            connections: HashMap::new(),
            next_connection: 0,
            refused: channel(),
            locks: prepared.locks,
        }
    }

    /// Looks whether somebody is there before a name that is not allowed gets an address.
    pub(crate) fn attended_by(&mut self, attended: Attended) {
        self.attended = Some(attended);
    }

    pub(crate) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Locks that must last as long as anything is inside, even if this process is killed.
    pub(crate) fn locks(&self) -> Vec<BorrowedFd<'_>> {
        self.locks.iter().map(|lock| lock.as_fd()).collect()
    }

    /// Takes what was opened inside.
    pub(crate) fn take(&mut self, descriptors: Vec<OwnedFd>, brokered: bool) -> io::Result<()> {
        let mut descriptors = descriptors.into_iter();
        if let Some(socket) = descriptors.next() {
            let socket = UdpSocket::from(socket);
            socket.set_nonblocking(true)?;
            self.name_server = Some(socket);
        }
        self.decoy_watch = descriptors.next();
        let sockets_inside = descriptors.next();
        if brokered && let (Some(sockets), Some(notifications)) = (sockets_inside, descriptors.next()) {
            let allowed = std::mem::take(&mut self.allowed_sockets);
            self.broker = Some(Broker::new(notifications, sockets, allowed, &self.plan, self.answers.clone()));
        }
        for socket in descriptors {
            let listener = TcpListener::from(socket);
            listener.set_nonblocking(true)?;
            self.listeners.push(listener);
        }
        Ok(())
    }

    /// Where something may happen next.
    pub(crate) fn waited_for(&self) -> Vec<PollFd<'_>> {
        let watches =
            self.decoy_watch.iter().chain(self.guard_watch.as_ref().map(|(watch, _)| watch)).map(|it| it.as_fd());
        let sockets = self.name_server.iter().map(|it| it.as_fd()).chain(self.listeners.iter().map(|it| it.as_fd()));
        let connections = self.broker.iter().map(Broker::as_fd);
        watches.chain(sockets).chain(connections).map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN)).collect()
    }

    /// Does what there is to do, without waiting.
    pub(crate) fn work(&mut self) {
        while let Ok(finished) = self.refused.1.try_recv() {
            self.connections.remove(&finished.connection);
            if let Some(what) = finished.refused {
                self.record.add(what);
            }
        }
        self.answer_names();
        for what in self.broker.iter().flat_map(|broker| broker.work(AT_ONCE)) {
            self.record.add(what);
        }
        self.take_connections();
        self.read_decoy_watch();
        self.read_guard_watch();
    }

    fn answer_names(&mut self) {
        let Some(socket) = &self.name_server else { return };
        let mut query = [0; 1500];
        for _ in 0..AT_ONCE {
            let Ok((count, from)) = socket.recv_from(&mut query) else { return };
            let query = query.get(..count).unwrap_or_default();
            let Some(answer) =
                dns::answer(query, |name| self.names.resolve_if(name, || self.attended.as_ref().is_none_or(|it| it())))
            else {
                continue;
            };
            let _ = socket.send_to(&answer.bytes, from);
            if let Some(host) = answer.refused {
                self.record.add(HeldBack::Connect { host, port: None });
            }
        }
    }

    fn take_connections(&mut self) {
        for listener in &self.listeners {
            for _ in 0..AT_ONCE {
                let Ok((inside, _)) = listener.accept() else { break };
                let Ok(to) = inside.local_addr() else { continue };
                let IpAddr::V4(address) = to.ip() else { continue };
                // Somebody looked for a server of its own at this port: closing says that there is none.
                let Some(host) = self.names.who(address) else { continue };
                let port = to.port();
                let is_allowed = self.names.allows(&host, port);
                let asked = self.answers.clone().filter(|_| !is_allowed);
                if !is_allowed && asked.is_none() {
                    self.record.add(HeldBack::Connect { host, port: Some(port) });
                    continue;
                }
                if self.connections.len() >= MOST_CONNECTIONS || inside.set_nonblocking(false).is_err() {
                    continue;
                }
                if is_allowed {
                    self.record.reach(&host, port);
                }
                let (Ok(kept), Ok(last)) = (inside.try_clone(), inside.try_clone()) else { continue };
                let connection = self.next_connection;
                self.next_connection += 1;
                self.connections.insert(connection, kept);
                let (finished, resolve) = (self.refused.0.clone(), self.resolve.clone());
                std::thread::spawn(move || {
                    let told = |host: String| Some(HeldBack::Connect { host, port: Some(port) });
                    let wish = Wish::Connect { host: host.clone(), port };
                    let refused = match asked.map(|answers| answers.allow(&wish)) {
                        // INVARIANT: a name that is not allowed is not even resolved before somebody said yes to it.
                        Some(false) => told(host),
                        _ => dial::serve(inside, &host, port, &resolve).err().and_then(told),
                    };
                    // Told before the run can end because of it.
                    let _ = finished.send(Finished { connection, refused });
                    // Dropping is not enough: the supervisor has the same socket.
                    let _ = last.shutdown(Shutdown::Both);
                });
            }
        }
    }

    fn read_decoy_watch(&mut self) {
        let Some(watch) = &self.decoy_watch else { return };
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(watch, &mut space);
        while let Ok(event) = events.next() {
            // Not that the decoy went away with its mount.
            if !event.events().contains(inotify::ReadFlags::OPEN) {
                continue;
            }
            // Watches are numbered from one, in the order of the decoys.
            let path = usize::try_from(event.wd()).ok().and_then(|number| self.decoys.get(number.checked_sub(1)?));
            if let Some(path) = path {
                self.record.add(HeldBack::Read(path.clone()));
            }
        }
    }

    fn read_guard_watch(&mut self) {
        let Some((watch, parts)) = &self.guard_watch else { return };
        let mut space = [MaybeUninit::uninit(); 8192];
        let mut events = inotify::Reader::new(watch, &mut space);
        let mut found = false;
        while let Ok(event) = events.next() {
            let name = event.file_name().map(std::ffi::CStr::to_bytes);
            let is_guarded = name.is_some_and(|name| parts.contains(std::ffi::OsStr::from_bytes(name)));
            found |= is_guarded || event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW);
        }
        if found {
            self.sweep();
        }
    }

    fn sweep(&mut self) {
        for (path, aside) in self.guards.sweep() {
            self.record.add(HeldBack::Write { path, aside });
        }
    }

    /// What was held back since this was asked last.
    pub(crate) fn so_far(&mut self) -> Record {
        self.work();
        self.sweep();
        std::mem::take(&mut self.record)
    }

    /// The run has ended, and nothing of it is left: looks at everything once more.
    pub(crate) fn finish(mut self) -> Record {
        if let Some(answers) = &self.answers {
            answers.end();
        }
        self.work();
        for connection in self.connections.values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        self.sweep();
        self.record
    }
}

/// Tells of names that appear in these folders. What cannot be watched is looked at in the end.
fn watch_folders(folders: &[PathBuf]) -> Option<OwnedFd> {
    use inotify::WatchFlags as Flags;
    if folders.is_empty() {
        return None;
    }
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK).ok()?;
    for folder in folders {
        let _ = inotify::add_watch(&watch, folder, Flags::CREATE | Flags::MOVED_TO | Flags::ONLYDIR);
    }
    Some(watch)
}
