//! The system calls that have no safe form elsewhere. The only module with `unsafe`.
#![allow(unsafe_code, reason = "system calls without a safe wrapper in rustix; each block says why it is sound")]

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::UnshareFlags;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

/// Attributes of a mount, as `mount_setattr(2)` has them.
#[repr(C)]
#[derive(Default)]
pub(crate) struct MountAttributes {
    pub(crate) set: u64,
    pub(crate) clear: u64,
    pub(crate) propagation: u64,
    pub(crate) user_namespace: u64,
}

pub(crate) const READ_ONLY: u64 = 0x0000_0001;
pub(crate) const NO_SETUID: u64 = 0x0000_0002;
pub(crate) const NO_DEVICES: u64 = 0x0000_0004;
pub(crate) const NO_EXEC: u64 = 0x0000_0008;

/// Changes a mount and all mounts below it.
pub(crate) fn set_attributes(mount: BorrowedFd<'_>, attributes: &MountAttributes) -> io::Result<()> {
    mount_setattr(mount, libc::AT_RECURSIVE, attributes)
}

/// Changes a mount, but none below it.
pub(crate) fn set_attributes_of_one(mount: BorrowedFd<'_>, attributes: &MountAttributes) -> io::Result<()> {
    mount_setattr(mount, 0, attributes)
}

fn mount_setattr(mount: BorrowedFd<'_>, flags: i32, attributes: &MountAttributes) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | flags;
    // SAFETY: the path is a static C string, and the kernel reads exactly the given number of bytes from a struct that
    // outlives the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            std::ptr::from_ref(attributes),
            size_of::<MountAttributes>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Leaves the namespaces of the caller. With `NEWUSER` among the flags the kernel refuses a process that has threads.
pub(crate) fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    if flags.contains(UnshareFlags::FILES) {
        return Err(Errno::INVAL);
    }
    // SAFETY: what makes this call dangerous is a table of descriptors that other threads no longer share; that flag
    // was refused above.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Whose side a fork returned on.
pub(crate) enum Fork {
    Child,
    Parent(Pid),
}

/// Splits the process in two.
///
/// Only where a single thread is left: the caller has just left its user namespace, which the kernel allows to nobody
/// else; in *held files*, where it has not, it is asked here.
pub(crate) fn fork() -> io::Result<Fork> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has threads"));
    }
    // SAFETY: there is one thread, so no lock can be left taken and no state half written in the child.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => Ok(Fork::Child),
        pid if pid > 0 => Pid::from_raw(pid).map(Fork::Parent).ok_or_else(|| io::Error::other("no process id")),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets no descriptor but the standard ones reach a program that is started.
pub(crate) fn keep_standard_streams_only() -> io::Result<()> {
    // SAFETY: descriptors are only marked to be closed by exec; none is closed under an owner.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A system call that waits for an answer.
pub(crate) struct Notification {
    pub(crate) id: u64,
    pub(crate) call: i64,
    pub(crate) thread: u32,
    pub(crate) arguments: [u64; 6],
}

/// Applies a filter whose notifications arrive on the descriptor that is returned.
pub(crate) fn filter_with_listener(filter: &mut [libc::sock_filter]) -> io::Result<OwnedFd> {
    let length = u16::try_from(filter.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_mut_ptr() };
    // SAFETY: the program points to `length` instructions that outlive the call; the kernel copies them.
    let file = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            std::ptr::from_ref(&program),
        )
    };
    let file = i32::try_from(file).ok().filter(|file| *file >= 0).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just made this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// The next call that waits.
pub(crate) fn receive_notification(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    // SAFETY: all of this struct is numbers, for which zero is a value; the kernel wants it so.
    let mut raw: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one such struct to where the pointer leads.
    let result =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, std::ptr::from_mut(&mut raw)) };
    if result == 0 {
        Ok(Notification { id: raw.id, call: raw.data.nr.into(), thread: raw.pid, arguments: raw.data.args })
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Lets a call return zero, or fail with this error. The call itself is not made.
pub(crate) fn answer_notification(listener: BorrowedFd<'_>, id: u64, error: i32) -> io::Result<()> {
    respond(listener, libc::seccomp_notif_resp { id, val: 0, error: error.saturating_neg(), flags: 0 })
}

/// Lets the call be made, as if nobody had been asked. Only for calls that something else bounds: the program can change
/// what it asks for meanwhile.
pub(crate) fn let_call_go_on(listener: BorrowedFd<'_>, id: u64) -> io::Result<()> {
    const GO_ON: u32 = 1;
    respond(listener, libc::seccomp_notif_resp { id, val: 0, error: 0, flags: GO_ON })
}

/// Lets a call return a descriptor of this file, as if it had opened it.
pub(crate) fn answer_with_file(
    listener: BorrowedFd<'_>,
    id: u64,
    file: BorrowedFd<'_>,
    close_on_exec: bool,
) -> io::Result<()> {
    let wrong = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let raw = libc::seccomp_notif_addfd {
        id,
        flags: u32::try_from(libc::SECCOMP_ADDFD_FLAG_SEND).map_err(wrong)?,
        srcfd: u32::try_from(file.as_raw_fd()).map_err(wrong)?,
        newfd: 0,
        newfd_flags: if close_on_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
    };
    // SAFETY: the kernel reads one such struct from where the pointer leads; the file is open during the call.
    let result =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, std::ptr::from_ref(&raw)) };
    if result >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn respond(listener: BorrowedFd<'_>, mut raw: libc::seccomp_notif_resp) -> io::Result<()> {
    // SAFETY: the kernel reads one such struct from where the pointer leads.
    let result =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, std::ptr::from_mut(&mut raw)) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether the call still waits, so that its process is the one that was looked at.
pub(crate) fn is_notification_valid(listener: BorrowedFd<'_>, id: u64) -> io::Result<()> {
    // SAFETY: the kernel reads one number from where the pointer leads.
    let result =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, std::ptr::from_ref(&id)) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Connects a socket to an address of any kind.
pub(crate) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> io::Result<()> {
    let length = u32::try_from(address.len()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads `length` bytes, which are there, and takes them for no more than an address.
    let result = unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
