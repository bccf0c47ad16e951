//! A network with nothing but this machine on it, and listeners for the supervisor.

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, listen, recv, send, socket_with, sockopt,
};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

/// The loopback device is always the first.
const LOOPBACK: u32 = 1;

/// The addresses for names: 198.18.0.0/15.
const NAMES: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 18, 0, 0), 15);

// Numbers of rtnetlink(7).
const NEW_LINK: u16 = 16;
const NEW_ROUTE: u16 = 24;
const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
const CREATE_AND_REPLACE: u16 = 0x400 | 0x100;
const ERROR: u16 = 2;
const UP: u32 = 1;
const LOCAL_TABLE: u8 = 255;
const BY_BOOT: u8 = 3;
const HOST_SCOPE: u8 = 254;
const LOCAL: u8 = 2;
const DESTINATION: u16 = 1;
const DEVICE: u16 = 4;
const INTERNET: u8 = 2;

/// Brings the loopback device up and leads these addresses to it.
pub(crate) fn bring_up(addresses: &[Ipv4Addr]) -> io::Result<()> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let mut link = vec![0_u8; 4];
    link.extend_from_slice(&LOOPBACK.to_ne_bytes());
    link.extend_from_slice(&UP.to_ne_bytes());
    link.extend_from_slice(&UP.to_ne_bytes());
    ask(&socket, NEW_LINK, REQUEST_AND_ACKNOWLEDGE, &link)?;
    let single = addresses.iter().map(|address| (*address, 32));
    for (address, length) in std::iter::once(NAMES).chain(single) {
        let mut route = vec![INTERNET, length, 0, 0, LOCAL_TABLE, BY_BOOT, HOST_SCOPE, LOCAL, 0, 0, 0, 0];
        attribute(&mut route, DESTINATION, &address.octets());
        attribute(&mut route, DEVICE, &LOOPBACK.to_ne_bytes());
        ask(&socket, NEW_ROUTE, REQUEST_AND_ACKNOWLEDGE | CREATE_AND_REPLACE, &route)?;
    }
    Ok(())
}

fn attribute(message: &mut Vec<u8>, kind: u16, value: &[u8; 4]) {
    message.extend_from_slice(&8_u16.to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(value);
}

/// Sends a request to the kernel and waits for its yes.
fn ask(socket: &OwnedFd, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(16 + body.len()).unwrap_or(u32::MAX);
    let mut message = length.to_ne_bytes().to_vec();
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&flags.to_ne_bytes());
    message.extend_from_slice(&[0; 8]);
    message.extend_from_slice(body);
    send(socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 1024];
    let (count, _) = recv(socket, &mut answer, RecvFlags::empty())?;
    let answer = answer.get(..count).unwrap_or_default();
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, code) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(code)) => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(Errno::PROTO.into()),
    }
}

/// The socket on which questions for names arrive.
pub(crate) fn name_server() -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 53))?;
    Ok(socket)
}

/// Asks the kernel for the sockets of this namespace.
pub(crate) fn socket_list() -> io::Result<OwnedFd> {
    let protocol = std::num::NonZeroU32::new(4).map(rustix::net::Protocol::from_raw);
    Ok(socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?)
}

/// A socket that takes connections for the supervisor.
pub(crate) fn listener(address: Ipv4Addr, port: u16) -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddrV4::new(address, port))?;
    listen(&socket, 128)?;
    Ok(socket)
}
