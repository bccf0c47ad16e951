//! A pair of sockets between the two sides of a hold: messages, and descriptors with them.

use crate::wire::Wire;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, Shutdown, SocketFlags, SocketType, recvmsg, sendmsg, shutdown, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The longest message. An environment and its arguments are at most a few MiB in practice.
const LONGEST: usize = 16 << 20;

/// The most descriptors that one message carries.
const MOST_DESCRIPTORS: usize = 64;

/// One end.
pub(crate) struct Channel {
    socket: OwnedFd,
}

/// A message that came, with its descriptors.
pub(crate) struct Received<T> {
    pub(crate) message: T,
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl Channel {
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok((Self { socket: ours }, theirs))
    }

    pub(crate) const fn over(socket: OwnedFd) -> Self {
        Self { socket }
    }

    pub(crate) fn send<T: Wire>(&self, message: &T, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let body = message.bytes();
        let length =
            u32::try_from(body.len()).ok().filter(|_| body.len() <= LONGEST).ok_or(io::ErrorKind::InvalidInput)?;
        let mut head = length.to_le_bytes().to_vec();
        head.extend_from_slice(&body);
        let mut rest: &[u8] = &head;
        let mut descriptors = Some(descriptors).filter(|them| !them.is_empty());
        while !rest.is_empty() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
            let mut with = SendAncillaryBuffer::new(&mut space);
            if let Some(them) = descriptors
                && !with.push(SendAncillaryMessage::ScmRights(them))
            {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            match sendmsg(&self.socket, &[IoSlice::new(rest)], &mut with, SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    descriptors = None;
                    rest = rest.get(sent..).unwrap_or_default();
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Says that nothing more will be sent.
    pub(crate) fn say_no_more(&self) {
        let _ = shutdown(&self.socket, Shutdown::Write);
    }

    /// The next message; `None` once the other side is gone.
    pub(crate) fn receive<T: Wire>(&self) -> io::Result<Option<Received<T>>> {
        let mut descriptors = Vec::new();
        let mut head = [0; 4];
        if !self.fill(&mut head, &mut descriptors)? {
            return Ok(None);
        }
        let length = usize::try_from(u32::from_le_bytes(head)).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length];
        if length > 0 && !self.fill(&mut body, &mut descriptors)? {
            return Ok(None);
        }
        let message = T::from_bytes(&body).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Some(Received { message, descriptors }))
    }

    /// Fills the buffer; `false` if the other side ended first.
    fn fill(&self, buffer: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> io::Result<bool> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
            let mut with = RecvAncillaryBuffer::new(&mut space);
            match recvmsg(&self.socket, &mut [IoSliceMut::new(rest)], &mut with, RecvFlags::CMSG_CLOEXEC) {
                Ok(message) if message.bytes == 0 => return Ok(false),
                Ok(message) => filled += message.bytes,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            for message in with.drain() {
                if let RecvAncillaryMessage::ScmRights(them) = message {
                    descriptors.extend(them);
                }
            }
        }
        Ok(true)
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
