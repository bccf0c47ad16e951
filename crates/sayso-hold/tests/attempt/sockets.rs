//! Sockets of every family.

use crate::{Attempt, at, number, through, through_if};
use std::io::Write as _;
use std::mem::size_of_val;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::time::Duration;

pub(crate) const ALL: &[Attempt] = &[
    ("tcp-to-loopback", || tcp(Ipv4Addr::LOCALHOST)),
    ("tcp-to-own-address", || {
        if let Ok(address) = std::env::var("ADDRESS").unwrap_or_default().parse() {
            tcp(address);
        }
    }),
    ("tcp-to-loopback-6", || {
        through(TcpStream::connect((std::net::Ipv6Addr::LOCALHOST, port())).and_then(|mut it| it.write_all(b"evil")));
    }),
    ("tcp-to-metadata-address", || tcp_to(SocketAddrV4::new(Ipv4Addr::new(169, 254, 169, 254), 80))),
    ("tcp-to-any-address", || tcp(Ipv4Addr::UNSPECIFIED)),
    ("tcp-to-mapped-address", || {
        for address in [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED, own()] {
            let to = std::net::SocketAddr::from((address.to_ipv6_mapped(), port()));
            through(TcpStream::connect_timeout(&to, Duration::from_secs(2)).and_then(|mut it| it.write_all(b"evil")));
        }
    }),
    ("tcp-by-other-spellings", || {
        for host in ["localhost.", "LOCALHOST", "127.1", "0x7f.1", "2130706433", "[::]", "ip6-localhost", "0"] {
            if let Ok(mut it) = TcpStream::connect((host.trim_matches(['[', ']']), port())) {
                through(it.write_all(b"evil"));
            }
        }
    }),
    ("tcp-after-taking-a-socket-back", || {
        // Connected to nobody, then to somebody, on the same socket.
        unsafe {
            let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
            let nobody = [0_u8; 16];
            libc::connect(socket, nobody.as_ptr().cast(), 16);
            let to = internet(port());
            let length = u32::try_from(size_of_val(&to)).unwrap();
            libc::connect(socket, std::ptr::from_ref(&to).cast(), length);
            through_if(libc::send(socket, b"evil".as_ptr().cast(), 4, libc::MSG_NOSIGNAL) == 4);
        }
    }),
    ("udp-to-mapped-address", || {
        for address in [Ipv4Addr::LOCALHOST, own()] {
            let _ =
                UdpSocket::bind("[::]:0").and_then(|it| it.send_to(b"evil", (address.to_ipv6_mapped(), udp_port())));
        }
    }),
    ("udp-connected", || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        let _ = socket.connect((Ipv4Addr::LOCALHOST, udp_port())).and_then(|()| socket.send(b"evil"));
    }),
    ("tcp-with-fast-open", || {
        let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) };
        let to = internet(port());
        let sent = unsafe {
            libc::sendto(
                socket,
                b"evil".as_ptr().cast(),
                4,
                libc::MSG_FASTOPEN,
                std::ptr::from_ref(&to).cast(),
                u32::try_from(size_of_val(&to)).unwrap(),
            )
        };
        through_if(sent > 0);
    }),
    ("multipath-tcp", || connect(libc::AF_INET, libc::SOCK_STREAM, 262)),
    ("sctp", || connect(libc::AF_INET, libc::SOCK_STREAM, 132)),
    ("smc", || connect(43, libc::SOCK_STREAM, 0)),
    ("dccp", || connect(libc::AF_INET, 6, 33)),
    ("udp-to-loopback", || {
        // Sending always works; whether it arrives is seen on the other side.
        let _ = UdpSocket::bind("0.0.0.0:0").and_then(|it| it.send_to(b"evil", (Ipv4Addr::LOCALHOST, udp_port())));
    }),
    ("udp-lite", || connect(libc::AF_INET, libc::SOCK_DGRAM, 136)),
    ("raw-socket", || open(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)),
    ("ping-socket", || {
        let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP) };
        let to = internet(0);
        let length = u32::try_from(size_of_val(&to)).unwrap();
        let echo = [8_u8, 0, 0, 0, 0, 0, 0, 0];
        let sent = unsafe { libc::sendto(socket, echo.as_ptr().cast(), 8, 0, std::ptr::from_ref(&to).cast(), length) };
        // Inside a network of its own the only one to answer is the run itself.
        through_if(sent > 0 && std::env::var("OWN_NETWORK").is_err());
    }),
    ("unix-stream", || through(UnixStream::connect(at("SOCKET")).and_then(|mut it| it.write_all(b"evil")))),
    ("unix-stream-by-link", || {
        let link = at("WS").join("socket-link");
        let _ = std::os::unix::fs::symlink(at("SOCKET"), &link);
        through(UnixStream::connect(link));
    }),
    ("unix-stream-in-workspace", || through(UnixStream::connect(at("WS").join("outside.sock")))),
    ("unix-stream-moved", || {
        let _ = std::fs::rename(at("WS").join("outside.sock"), at("WS").join("moved.sock"));
        through(UnixStream::connect(at("WS").join("moved.sock")));
    }),
    ("unix-stream-that-came-late", || {
        for _ in 0..300 {
            if UnixStream::connect(at("WS").join("late.sock")).is_ok() {
                println!("THROUGH");
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }),
    ("unix-stream-by-relative-name", || through(UnixStream::connect("../out/s.sock"))),
    ("unix-stream-by-descriptor", || {
        use std::os::fd::AsRawFd as _;
        use std::os::unix::fs::OpenOptionsExt as _;
        if let Ok(file) = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(at("SOCKET")) {
            through(UnixStream::connect(format!("/proc/self/fd/{}", file.as_raw_fd())));
        }
    }),
    ("unix-stream-in-a-race", || {
        // The address is exchanged, and the socket with it, while somebody decides on them.
        let inside = at("WS").join("inside.sock");
        let _listener = std::os::unix::net::UnixListener::bind(&inside);
        let mut place: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        place.sun_family = u16::try_from(libc::AF_UNIX).unwrap();
        let place = std::ptr::from_mut(Box::leak(Box::new(place))).addr();
        let paths = [inside, at("SOCKET")].map(|path| path.as_os_str().as_bytes().to_vec());
        let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stop = over.clone();
        let writer = std::thread::spawn(move || {
            let place: *mut libc::sockaddr_un = std::ptr::with_exposed_provenance_mut(place);
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for path in &paths {
                    unsafe {
                        std::ptr::copy_nonoverlapping(path.as_ptr(), (*place).sun_path.as_mut_ptr().cast(), path.len());
                        (*place).sun_path[path.len()] = 0;
                    }
                }
            }
        });
        for _ in 0..500 {
            unsafe {
                let socket = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0);
                let address: *const libc::sockaddr_un = std::ptr::with_exposed_provenance(place);
                libc::connect(socket, address.cast(), u32::try_from(size_of::<libc::sockaddr_un>()).unwrap());
                libc::close(socket);
            }
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        let _ = writer.join();
    }),
    ("unix-stream-by-working-directory", || {
        through(UnixStream::connect("/proc/self/cwd/../out/s.sock"));
        if std::env::set_current_dir(at("OUT")).is_ok() {
            through(UnixStream::connect("s.sock"));
        }
    }),
    ("unix-stream-by-own-root", || {
        let path = at("SOCKET");
        through(UnixStream::connect(std::path::Path::new("/proc/self/root").join(path.strip_prefix("/").unwrap())));
        through(UnixStream::connect(std::path::Path::new("/proc/1/root").join(path.strip_prefix("/").unwrap())));
    }),
    ("unix-stream-without-an-end", || {
        // The name fills the address and has no zero behind it.
        let mut to: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        to.sun_family = u16::try_from(libc::AF_UNIX).unwrap();
        let path = at("SOCKET");
        let path = path.as_os_str().as_bytes();
        for (place, byte) in to.sun_path.iter_mut().zip(path) {
            *place = byte.cast_signed();
        }
        let length = u32::try_from(2 + path.len()).unwrap();
        unsafe {
            let socket = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0);
            through_if(libc::connect(socket, std::ptr::from_ref(&to).cast(), length) == 0);
        }
    }),
    ("unix-stream-linked-in", || {
        let own = at("WS").join("linked.sock");
        let _ = std::fs::hard_link(at("SOCKET"), &own);
        through(UnixStream::connect(own));
    }),
    ("unix-stream-over-an-own-name", || {
        // A socket of its own first, so that the name is known inside, then the other in its place.
        let own = at("WS").join("own.sock");
        let _listener = std::os::unix::net::UnixListener::bind(&own);
        let _ = UnixStream::connect(&own);
        let _ = std::fs::rename(at("WS").join("outside.sock"), &own);
        through(UnixStream::connect(&own));
    }),
    ("unix-sequence-sent-to-a-name", || {
        let mut to: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        to.sun_family = u16::try_from(libc::AF_UNIX).unwrap();
        for (place, byte) in to.sun_path.iter_mut().zip(at("SOCKET").as_os_str().as_bytes()) {
            *place = byte.cast_signed();
        }
        let length = u32::try_from(size_of_val(&to)).unwrap();
        for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
            let sent = unsafe {
                let socket = libc::socket(libc::AF_UNIX, kind, 0);
                libc::sendto(socket, b"evil".as_ptr().cast(), 4, 0, std::ptr::from_ref(&to).cast(), length)
            };
            through_if(sent > 0);
        }
    }),
    ("unix-datagram", || {
        through(UnixDatagram::unbound().and_then(|it| it.send_to(b"evil", at("DATAGRAM"))));
    }),
    ("unix-datagram-from-pair", || {
        through(UnixDatagram::pair().and_then(|(it, _)| it.send_to(b"evil", at("DATAGRAM"))));
    }),
    ("unix-raw", || {
        let socket = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_RAW, 0) };
        let mut to: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        to.sun_family = u16::try_from(libc::AF_UNIX).unwrap();
        for (place, byte) in to.sun_path.iter_mut().zip(at("DATAGRAM").as_os_str().as_bytes()) {
            *place = byte.cast_signed();
        }
        let length = u32::try_from(size_of_val(&to)).unwrap();
        let sent =
            unsafe { libc::sendto(socket, b"evil".as_ptr().cast(), 4, 0, std::ptr::from_ref(&to).cast(), length) };
        through_if(sent > 0);
    }),
    ("abstract-stream", || {
        through(SocketAddr::from_abstract_name(abstract_name()).and_then(|to| UnixStream::connect_addr(&to)));
    }),
    ("abstract-datagram", || {
        let to = SocketAddr::from_abstract_name(format!("{}-d", abstract_name())).unwrap();
        through(UnixDatagram::unbound().and_then(|it| it.send_to_addr(b"evil", &to)));
    }),
    ("every-other-family", || {
        for family in 0..64 {
            if [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].contains(&family) {
                continue;
            }
            for kind in [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET] {
                open(family, kind, 0);
            }
        }
    }),
    ("virtual-machine-socket", || {
        open(libc::AF_VSOCK, libc::SOCK_STREAM, 0);
        open(libc::AF_VSOCK, libc::SOCK_DGRAM, 0);
    }),
    ("virtual-machine-socket-with-high-bits", || {
        let family = i64::from(libc::AF_VSOCK) | 0x1_0000_0000;
        through_if(unsafe { libc::syscall(libc::SYS_socket, family, libc::SOCK_STREAM, 0) } >= 0);
    }),
    ("every-other-netlink", || {
        for protocol in 1..32 {
            open(libc::AF_NETLINK, libc::SOCK_RAW, protocol);
        }
    }),
    ("packets", || open(libc::AF_PACKET, libc::SOCK_RAW, 0x0300)),
    ("crypto-sockets", || open(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
    ("pairs-of-other-families", || {
        for family in 2..64 {
            let mut pair = [0; 2];
            through_if(unsafe { libc::socketpair(family, libc::SOCK_STREAM, 0, pair.as_mut_ptr()) } == 0);
        }
    }),
    ("listen-for-the-machine", || {
        let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) };
        through_if(unsafe { libc::listen(socket, 1) } == 0 && std::env::var("OWN_NETWORK").is_err());
    }),
];

fn port() -> u16 {
    u16::try_from(number("TCP")).unwrap_or(0)
}

fn udp_port() -> u16 {
    u16::try_from(number("UDP")).unwrap_or(0)
}

/// An address of this machine.
fn own() -> Ipv4Addr {
    std::env::var("ADDRESS").ok().and_then(|it| it.parse().ok()).unwrap_or(Ipv4Addr::LOCALHOST)
}

fn abstract_name() -> String {
    std::env::var("ABSTRACT").unwrap_or_default()
}

fn tcp(address: Ipv4Addr) {
    tcp_to(SocketAddrV4::new(address, port()));
}

fn tcp_to(to: SocketAddrV4) {
    through(TcpStream::connect_timeout(&to.into(), Duration::from_secs(2)).and_then(|mut it| it.write_all(b"evil")));
}

fn internet(port: u16) -> libc::sockaddr_in {
    let mut to: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    to.sin_family = u16::try_from(libc::AF_INET).unwrap();
    to.sin_port = port.to_be();
    to.sin_addr.s_addr = u32::from_ne_bytes(Ipv4Addr::LOCALHOST.octets());
    to
}

fn open(family: i32, kind: i32, protocol: i32) {
    through_if(unsafe { libc::socket(family, kind, protocol) } >= 0);
}

fn connect(family: i32, kind: i32, protocol: i32) {
    let socket = unsafe { libc::socket(family, kind, protocol) };
    let to = internet(if kind == libc::SOCK_DGRAM { udp_port() } else { port() });
    let length = u32::try_from(size_of_val(&to)).unwrap();
    let connected = unsafe { libc::connect(socket, std::ptr::from_ref(&to).cast(), length) };
    // A datagram socket connects to nobody; it has to send.
    if socket >= 0
        && connected == 0
        && unsafe { libc::send(socket, b"evil".as_ptr().cast(), 4, libc::MSG_NOSIGNAL) } == 4
    {
        through_if(std::env::var("OWN_NETWORK").is_err());
    }
}
