//! The standard streams of a held program.
//!
//! They come from outside, and so does everything that can be reached through them: a descriptor leads to its file by
//! mounts that are not the run's. What could be a way around the bounds is refused, or replaced by a pipe.

use crate::error::Error;
use crate::prepare::real;
use rustix::fs::{FileType, Mode, OFlags, Stat, fcntl_getfl, fstat};
use rustix::net::{AddressFamily, SocketType, sockopt};
use sayso_shell::bounds::Bounds;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

/// The streams to hand to a program: these, or those of this process.
pub(crate) fn streams(given: Option<&[OwnedFd; 3]>, bounds: &Bounds) -> Result<[OwnedFd; 3], Error> {
    let [input, output, errors] = match given {
        Some([input, output, errors]) => [input.try_clone()?, output.try_clone()?, errors.try_clone()?],
        None => [own(&io::stdin())?, own(&io::stdout())?, own(&io::stderr())?],
    };
    Ok([checked(0, input, bounds)?, checked(1, output, bounds)?, checked(2, errors, bounds)?])
}

fn own(stream: &impl AsFd) -> io::Result<OwnedFd> {
    match stream.as_fd().try_clone_to_owned() {
        Err(error) if error.raw_os_error() == Some(libc::EBADF) => {
            Ok(rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
        }
        other => other,
    }
}

fn checked(number: usize, stream: OwnedFd, bounds: &Bounds) -> Result<OwnedFd, Error> {
    let data = fstat(&stream).map_err(io::Error::from)?;
    match FileType::from_raw_mode(data.st_mode) {
        // Every file could be opened from there, past every mount.
        FileType::Directory => Err(Error::Stream { number, what: "a folder" }),
        // A socket of the machine's network can be connected to another host, or send to any.
        FileType::Socket if !is_plain_stream(&stream) => Err(Error::Stream { number, what: "a network socket" }),
        FileType::RegularFile if is_read_only(&stream) && is_protected(&stream, &data, bounds) => Ok(piped(stream)?),
        _ => Ok(stream),
    }
}

fn is_plain_stream(socket: &OwnedFd) -> bool {
    sockopt::socket_domain(socket).is_ok_and(|it| it == AddressFamily::UNIX)
        && sockopt::socket_type(socket).is_ok_and(|it| it == SocketType::STREAM || it == SocketType::SEQPACKET)
}

fn is_read_only(file: &OwnedFd) -> bool {
    fcntl_getfl(file).is_ok_and(|flags| !flags.intersects(OFlags::WRONLY | OFlags::RDWR))
}

/// Whether this is a file that stays as it is though the folder around it can be written. Opened anew through the
/// descriptor (`/proc/self/fd/0`), it would be written by the machine's own mount.
fn is_protected(file: &OwnedFd, data: &Stat, bounds: &Bounds) -> bool {
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
    let guarded = bounds.read_only.iter().chain(&bounds.absent).chain(&bounds.refuse);
    guarded.chain(bounds.decoys.iter().map(|decoy| &decoy.path)).filter_map(|it| real(it)).any(|it| {
        let same = rustix::fs::stat(&it).is_ok_and(|its| (its.st_dev, its.st_ino) == (data.st_dev, data.st_ino));
        same || path.starts_with(&it)
    })
}

/// A pipe with what is in a file.
fn piped(file: OwnedFd) -> io::Result<OwnedFd> {
    let (reader, mut writer) = io::pipe()?;
    std::thread::spawn(move || {
        let _ = io::copy(&mut File::from(file), &mut writer);
    });
    Ok(reader.into())
}
