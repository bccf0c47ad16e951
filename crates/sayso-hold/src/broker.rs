//! Connections of held programs, made for them.
//!
//! A read-only mount keeps nobody from connecting to a Unix socket on it, and no filter can read the address. So every
//! `connect` of a held program is handed to the supervisor, which makes the connection itself: to sockets that something
//! inside the hold listens on, and to those that the bounds name.
//!
//! INVARIANT: nothing is decided on what the program could change meanwhile. The address is copied once, the socket is
//! the program's own, and what was looked at is what is connected to, by its descriptor. The call is never let through.

use crate::ask::{Answers, Wish};
use crate::held_back::HeldBack;
use crate::names::is_for_names;
use crate::plan::Plan;
use crate::sys::{self, Notification};
use crate::writes::{How, Outside, Writes};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags, fcntl_getfl, fstat, openat, openat2};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, recv, send, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The longest address that there is.
const LONGEST: usize = 128;

/// How many connections can be waited for at a time.
const MOST: usize = 256;

/// Takes over connections.
pub(crate) struct Broker {
    notifications: Arc<OwnedFd>,
    sockets_inside: OwnedFd,
    allowed: Vec<PathBuf>,
    /// Addresses that lead to the supervisor, besides those for names.
    routed: Vec<Ipv4Addr>,
    waiting: Arc<AtomicUsize>,
    writes: Option<Writes>,
    answers: Option<Answers>,
    /// What somebody who was asked has refused.
    late: Arc<Mutex<Vec<HeldBack>>>,
}

/// What to connect to.
enum Target {
    /// This address, as it is.
    Address(Vec<u8>),
    /// A socket that was looked at.
    Socket(OwnedFd),
}

impl Broker {
    pub(crate) fn new(
        notifications: OwnedFd,
        sockets_inside: OwnedFd,
        allowed: Vec<PathBuf>,
        plan: &Plan,
        answers: Option<Answers>,
    ) -> Self {
        let notifications = Arc::new(notifications);
        let writes = plan.report_writes.then(|| Writes::new(&plan.covers));
        let routed = plan.addresses.clone();
        Self {
            notifications,
            sockets_inside,
            allowed,
            routed,
            waiting: Arc::default(),
            writes,
            answers,
            late: Arc::default(),
        }
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.notifications.as_fd()
    }

    /// Looks at a file that is opened for writing. Whether it may be is for the kernel to say, unless somebody is asked.
    fn open(&self, asked: &Notification, refused: &mut Vec<HeldBack>) {
        let (notifications, id) = (Arc::clone(&self.notifications), asked.id);
        let Some(Outside { path, can_be_asked }) = self.writes.as_ref().and_then(|it| it.outside(asked)) else {
            let _ = sys::let_call_go_on(notifications.as_fd(), id);
            return;
        };
        let Some(answers) = self.answers.clone().filter(|_| can_be_asked && self.waiting.load(Ordering::SeqCst) < MOST)
        else {
            refused.push(HeldBack::WriteOutside(path));
            let _ = sys::let_call_go_on(notifications.as_fd(), id);
            return;
        };
        let (how, waiting, late) = (How::of(asked), Arc::clone(&self.waiting), Arc::clone(&self.late));
        waiting.fetch_add(1, Ordering::SeqCst);
        std::thread::spawn(move || {
            let _ = if answers.allow(&Wish::Write { path: path.clone() }) {
                match how.open(&path) {
                    Ok(file) => sys::answer_with_file(notifications.as_fd(), id, file.as_fd(), how.closes_on_exec()),
                    Err(error) => sys::answer_notification(notifications.as_fd(), id, error.raw_os_error()),
                }
            } else {
                late.lock().unwrap_or_else(PoisonError::into_inner).push(HeldBack::WriteOutside(path));
                sys::let_call_go_on(notifications.as_fd(), id)
            };
            waiting.fetch_sub(1, Ordering::SeqCst);
        });
    }

    /// Makes the connections that are asked for now. Returns what was refused.
    pub(crate) fn work(&self, most: usize) -> Vec<HeldBack> {
        let mut refused = std::mem::take(&mut *self.late.lock().unwrap_or_else(PoisonError::into_inner));
        for _ in 0..most {
            let mut waited = [PollFd::new(&self.notifications, PollFlags::IN)];
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            let [asked] = match poll(&mut waited, Some(&at_once)) {
                Ok(_) => waited.map(|it| it.revents().contains(PollFlags::IN)),
                Err(_) => return refused,
            };
            if !asked {
                return refused;
            }
            // Whoever asked may have been killed meanwhile.
            let Ok(notification) = sys::receive_notification(self.notifications.as_fd()) else { continue };
            if notification.call != libc::SYS_connect {
                self.open(&notification, &mut refused);
                continue;
            }
            if let Err(error) = self.connect(&notification, &mut refused) {
                let _ = sys::answer_notification(self.notifications.as_fd(), notification.id, error.raw_os_error());
            }
        }
        refused
    }

    fn connect(&self, asked: &Notification, refused: &mut Vec<HeldBack>) -> Result<(), Errno> {
        let process = process_of(asked.thread)?;
        let number = i32::try_from(asked.arguments[0] & 0xFFFF_FFFF).map_err(|_| Errno::BADF)?;
        let pidfd = pidfd_open(process, PidfdFlags::empty())?;
        let socket = pidfd_getfd(&pidfd, number, PidfdGetfdFlags::empty())?;
        let address = address(asked)?;
        // The process could have ended, and another one have its number.
        sys::is_notification_valid(self.notifications.as_fd(), asked.id).map_err(|_| Errno::SRCH)?;

        let target = if sockopt::socket_domain(&socket)? == AddressFamily::UNIX {
            self.unix_target(asked, &address, refused)?
        } else {
            refused.extend(nowhere(&address, &self.routed));
            Target::Address(address)
        };
        let waits = !fcntl_getfl(&socket)?.contains(OFlags::NONBLOCK);
        let (notifications, id) = (Arc::clone(&self.notifications), asked.id);
        let finish = move || {
            let result = match &target {
                Target::Address(address) => sys::connect(socket.as_fd(), address),
                Target::Socket(file) => sys::connect(socket.as_fd(), &by_descriptor(file)),
            };
            let error = result.err().and_then(|error| error.raw_os_error()).unwrap_or(0);
            let _ = sys::answer_notification(notifications.as_fd(), id, error);
        };
        if !waits {
            finish();
        } else if self.waiting.fetch_add(1, Ordering::SeqCst) < MOST {
            let waiting = Arc::clone(&self.waiting);
            std::thread::spawn(move || {
                finish();
                waiting.fetch_sub(1, Ordering::SeqCst);
            });
        } else {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return Err(Errno::AGAIN);
        }
        Ok(())
    }

    fn unix_target(&self, asked: &Notification, address: &[u8], refused: &mut Vec<HeldBack>) -> Result<Target, Errno> {
        let name = address.get(2..).filter(|name| !name.is_empty()).ok_or(Errno::INVAL)?;
        // A name without a file: those of the machine are in another network namespace.
        if name.first() == Some(&0) {
            return Ok(Target::Address(address.to_vec()));
        }
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let file = resolve(asked.thread, Path::new(OsStr::from_bytes(name)))?;
        if self.is_inside(asked.thread, &file)? || self.is_allowed(&file) {
            return Ok(Target::Socket(file));
        }
        refused.push(HeldBack::Socket(PathBuf::from(OsStr::from_bytes(name))));
        Err(Errno::CONNREFUSED)
    }

    fn is_allowed(&self, file: &OwnedFd) -> bool {
        let Ok(data) = fstat(file) else { return false };
        self.allowed
            .iter()
            .any(|path| rustix::fs::stat(path).is_ok_and(|its| (its.st_dev, its.st_ino) == (data.st_dev, data.st_ino)))
    }

    /// Whether a socket in the hold's own network namespace has this file. The kernel is asked for all of them.
    fn is_inside(&self, thread: u32, file: &OwnedFd) -> Result<bool, Errno> {
        const BY_FAMILY: u16 = 20;
        const REQUEST_ALL: u16 = 0x301;
        const SHOW_FILE: u32 = 2;
        const EVERY_STATE: u32 = u32::MAX;
        const END: u16 = 3;
        // The kernel's own numbers: 32 bits of the file's, and the device of the file system.
        let wanted = (fstat(file)?.st_ino & 0xFFFF_FFFF, device_of(thread, file)?);

        let mut request = Vec::new();
        request.extend_from_slice(&40_u32.to_ne_bytes());
        request.extend_from_slice(&BY_FAMILY.to_ne_bytes());
        request.extend_from_slice(&REQUEST_ALL.to_ne_bytes());
        request.extend_from_slice(&[0; 8]);
        request.extend_from_slice(&[1, 0, 0, 0]);
        request.extend_from_slice(&EVERY_STATE.to_ne_bytes());
        request.extend_from_slice(&[0; 4]);
        request.extend_from_slice(&SHOW_FILE.to_ne_bytes());
        request.extend_from_slice(&[0; 8]);
        send(&self.sockets_inside, &request, SendFlags::empty())?;
        let mut found = false;
        let mut space = vec![0_u8; 64 * 1024];
        loop {
            let (count, _) = recv(&self.sockets_inside, space.as_mut_slice(), RecvFlags::empty())?;
            let mut rest = space.get(..count).unwrap_or_default();
            if rest.is_empty() {
                return Ok(found);
            }
            while let Some(length) = number(rest, 0).filter(|length| *length >= 16) {
                let Some(message) = rest.get(..length) else { return Err(Errno::PROTO) };
                let kind = message.get(4..6).and_then(|it| it.try_into().ok()).map(u16::from_ne_bytes);
                match kind {
                    Some(BY_FAMILY) => found |= file_of(message) == Some(wanted),
                    Some(END) => return Ok(found),
                    _ => return Err(Errno::PROTO),
                }
                rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
            }
        }
    }
}

/// A host that is asked for by an address, which leads nowhere: to be told, since the program hears only that there is no
/// network.
fn nowhere(address: &[u8], routed: &[Ipv4Addr]) -> Option<HeldBack> {
    let family = u16::from_ne_bytes(address.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(address.get(2..4)?.try_into().ok()?);
    let host = match i32::from(family) {
        libc::AF_INET => IpAddr::from(<[u8; 4]>::try_from(address.get(4..8)?).ok()?),
        libc::AF_INET6 => IpAddr::from(<[u8; 16]>::try_from(address.get(8..24)?).ok()?).to_canonical(),
        _ => return None,
    };
    let leads_somewhere = match host {
        IpAddr::V4(it) => is_for_names(it) || routed.contains(&it),
        IpAddr::V6(_) => false,
    };
    let is_own = host.is_loopback() || host.is_unspecified();
    (!is_own && !leads_somewhere).then(|| HeldBack::Connect { host: host.to_string(), port: Some(port) })
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let number = u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
    usize::try_from(number).ok()
}

/// The file and device of the socket that a message of the kernel describes.
fn file_of(message: &[u8]) -> Option<(u64, u64)> {
    const FILE: u16 = 1;
    let mut attributes = message.get(32..)?;
    while let Some(head) = attributes.get(..4) {
        let length = usize::from(u16::from_ne_bytes(head.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(head.get(2..4)?.try_into().ok()?);
        if kind == FILE {
            let at = |place| number(attributes, place).and_then(|it| u64::try_from(it).ok());
            return Some((at(4)?, at(8)?));
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..)?;
    }
    None
}

/// The device of the file system that a file is on. Files can say another one (on btrfs, or in an overlay); the list of
/// mounts does not.
fn device_of(thread: u32, file: &OwnedFd) -> Result<u64, Errno> {
    let data = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
    let mounts = fs::read_to_string(format!("/proc/{thread}/mountinfo")).map_err(|_| Errno::SRCH)?;
    let id = data.stx_mnt_id.to_string();
    let device = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        (fields.next()? == id).then(|| fields.nth(1)).flatten()
    });
    let numbers = device.and_then(|it| it.split_once(':')).ok_or(Errno::NOENT)?;
    let (Ok(major), Ok(minor)) = (numbers.0.parse::<u64>(), numbers.1.parse::<u64>()) else { return Err(Errno::PROTO) };
    Ok(major << 20 | minor)
}

/// The process that a thread belongs to.
fn process_of(thread: u32) -> Result<Pid, Errno> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).map_err(|_| Errno::SRCH)?;
    let process = status.lines().find_map(|line| line.strip_prefix("Tgid:")).and_then(|it| it.trim().parse().ok());
    process.and_then(Pid::from_raw).ok_or(Errno::SRCH)
}

/// The address that the program gave, copied.
fn address(asked: &Notification) -> Result<Vec<u8>, Errno> {
    let length = usize::try_from(asked.arguments[2] & 0xFFFF_FFFF).map_err(|_| Errno::INVAL)?;
    if !(2..=LONGEST).contains(&length) {
        return Err(Errno::INVAL);
    }
    let memory = File::open(format!("/proc/{}/mem", asked.thread)).map_err(|_| Errno::SRCH)?;
    let mut address = vec![0; length];
    memory.read_exact_at(&mut address, asked.arguments[1]).map_err(|_| Errno::FAULT)?;
    Ok(address)
}

/// A file by a path as the program sees it: links lead where they do inside.
pub(crate) fn resolve(thread: u32, path: &Path) -> Result<OwnedFd, Errno> {
    let root =
        openat(CWD, format!("/proc/{thread}/root"), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let folder = fs::read_link(format!("/proc/{thread}/cwd")).map_err(|_| Errno::SRCH)?;
    openat2(&root, folder.join(path), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::IN_ROOT)
}

/// An address that leads to exactly this file.
fn by_descriptor(file: &OwnedFd) -> Vec<u8> {
    let mut address = libc::AF_UNIX.to_ne_bytes().get(..2).unwrap_or_default().to_vec();
    address.extend_from_slice(format!("/proc/self/fd/{}\0", file.as_raw_fd()).as_bytes());
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn internet(address: Ipv4Addr, port: u16) -> Vec<u8> {
        let family = u16::try_from(libc::AF_INET).unwrap().to_ne_bytes();
        [family.as_slice(), &port.to_be_bytes(), &address.octets(), &[0; 8]].concat()
    }

    #[test]
    fn an_address_is_told_only_if_it_leads_nowhere() {
        let routed = [Ipv4Addr::new(10, 1, 1, 1)];
        for known in [Ipv4Addr::LOCALHOST, Ipv4Addr::new(198, 19, 255, 1), routed[0], Ipv4Addr::UNSPECIFIED] {
            assert_eq!(nowhere(&internet(known, 80), &routed), None);
        }
        let told = nowhere(&internet(Ipv4Addr::new(10, 1, 1, 2), 80), &routed);
        assert_eq!(told, Some(HeldBack::Connect { host: "10.1.1.2".into(), port: Some(80) }));
        assert_eq!(nowhere(&[2, 0], &routed), None);
    }
}
