//! Where connections come from, and who is at their other end.

use crate::error::ApiError;
use sayso_gate::audit::Peer;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// A stream of bytes that can be served.
pub(crate) trait Bytes: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Bytes for S {}

/// Where connections come from.
pub(crate) trait Door: Send + Sync + 'static {
    /// What comes in, and what is spoken over once it was opened.
    type Raw: Bytes;
    type Stream: Bytes;
    /// Whether somebody who is turned away can read why.
    const PLAIN: bool;

    fn next(&self) -> impl Future<Output = Result<Self::Raw, Error>> + Send;

    /// Whatever must happen before the first request, such as a handshake; and who is there, if the system says.
    fn open(&self, raw: Self::Raw) -> impl Future<Output = Result<(Self::Stream, Option<Peer>), Error>> + Send;
}

impl Door for TcpListener {
    type Raw = TcpStream;
    type Stream = TcpStream;
    const PLAIN: bool = true;

    async fn next(&self) -> Result<TcpStream, Error> {
        let (stream, _) = self.accept().await?;
        // Answers are small and somebody waits for them.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    async fn open(&self, raw: TcpStream) -> Result<(TcpStream, Option<Peer>), Error> {
        Ok((raw, None))
    }
}

impl Door for UnixListener {
    type Raw = UnixStream;
    type Stream = UnixStream;
    const PLAIN: bool = true;

    async fn next(&self) -> Result<UnixStream, Error> {
        Ok(self.accept().await?.0)
    }

    async fn open(&self, mut raw: UnixStream) -> Result<(UnixStream, Option<Peer>), Error> {
        let peer = peer(&raw)?;
        let socket = self.local_addr()?;
        if !may_come_in(peer.uid, rustix::process::geteuid().as_raw(), socket.as_pathname()) {
            raw.write_all(ApiError::foreign_user().on_the_wire().as_bytes()).await?;
            return Err(Error::from(ErrorKind::PermissionDenied));
        }
        Ok((raw, Some(peer)))
    }
}

/// Who is at the other end. That says who asks, and opens nothing: an agent's child is the same user.
fn peer(stream: &UnixStream) -> Result<Peer, Error> {
    let credentials = stream.peer_cred()?;
    let pid = credentials.pid().and_then(|pid| u32::try_from(pid).ok());
    // A process that is gone, or of another user, keeps its program to itself.
    let exe = pid.and_then(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).ok());
    Ok(Peer { uid: credentials.uid(), pid, exe: exe.map(|path| path.to_string_lossy().into_owned()) })
}

/// The server's own user; others only where the owner has opened the socket to them since.
fn may_come_in(uid: u32, own: u32, socket: Option<&Path>) -> bool {
    let opened = || {
        let meta = socket.and_then(|socket| std::fs::metadata(socket).ok());
        meta.is_some_and(|meta| meta.permissions().mode() & 0o022 != 0)
    };
    uid == own || opened()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_user_comes_in_only_where_the_socket_is_open_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        std::fs::write(&socket, "").unwrap();
        for (mode, other) in [(0o600, false), (0o640, false), (0o660, true), (0o666, true)] {
            std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(may_come_in(1000, 1001, Some(&socket)), other, "{mode:o}");
            assert!(may_come_in(1001, 1001, Some(&socket)));
        }
        assert!(!may_come_in(0, 1001, None), "nor root, which needs no door");
    }
}
