//! A connection from inside, taken outside.

use super::hello::{self, Hello};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long a client may take to say whom it wants, and a host to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Finds the addresses of a name.
pub type Resolve = Arc<dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// Asks the system.
pub(crate) fn system() -> Resolve {
    use std::net::ToSocketAddrs as _;
    Arc::new(|name, port| Ok((name, port).to_socket_addrs()?.collect()))
}

/// Joins a connection from inside with the host that it is meant for. Returns what was refused, by name.
pub(crate) fn serve(inside: TcpStream, name: &str, port: u16, resolve: &Resolve) -> Result<(), String> {
    let mut said = Vec::new();
    if port == 443 {
        match asked_for(&inside, &mut said) {
            Ok(Hello::Name(asked)) if super::plain(&asked) == name => {}
            Ok(Hello::Name(asked)) => return Err(asked),
            // Not a word: nobody was asked for.
            _ if said.is_empty() => return Ok(()),
            _ => return Err(format!("{name} without its name in TLS")),
        }
    }
    let Some(outside) = dial(name, port, resolve) else { return Ok(()) };
    let _ = join(inside, outside, &said);
    Ok(())
}

fn asked_for(mut inside: &TcpStream, said: &mut Vec<u8>) -> io::Result<Hello> {
    inside.set_read_timeout(Some(PATIENCE))?;
    let mut piece = [0; 4096];
    loop {
        let count = inside.read(&mut piece)?;
        said.extend_from_slice(piece.get(..count).unwrap_or_default());
        match hello::read(said) {
            Hello::Unfinished if count > 0 && said.len() < hello::LONGEST => {}
            Hello::Unfinished => return Ok(Hello::Nameless),
            read => {
                inside.set_read_timeout(None)?;
                return Ok(read);
            }
        }
    }
}

fn dial(name: &str, port: u16, resolve: &Resolve) -> Option<TcpStream> {
    let is_address = name.parse::<IpAddr>().is_ok();
    let found = resolve(name, port).ok()?;
    found
        .into_iter()
        // A name belongs to whoever answers for it, who may say that it is this machine.
        .filter(|address| is_address || is_elsewhere(address.ip()))
        .find_map(|address| TcpStream::connect_timeout(&address, PATIENCE).ok())
}

/// Whether an address is another machine's, as far as that can be told.
fn is_elsewhere(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(it) => {
            !(it.is_loopback() || it.is_link_local() || it.is_unspecified() || it.is_multicast() || it.is_broadcast())
                && it.octets().first() != Some(&0)
        }
        IpAddr::V6(it) => !(it.is_loopback() || it.is_unspecified() || it.is_multicast() || it.is_unicast_link_local()),
    }
}

/// Passes bytes both ways until both sides have ended.
fn join(inside: TcpStream, mut outside: TcpStream, said: &[u8]) -> io::Result<()> {
    outside.write_all(said)?;
    let (mut from_inside, mut to_outside) = (inside.try_clone()?, outside.try_clone()?);
    let up = std::thread::spawn(move || {
        let _ = io::copy(&mut from_inside, &mut to_outside);
        let _ = to_outside.shutdown(Shutdown::Write);
    });
    let mut to_inside = inside;
    let _ = io::copy(&mut outside, &mut to_inside);
    let _ = to_inside.shutdown(Shutdown::Write);
    let _ = up.join();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leads_to_this_machine() {
        for here in
            ["127.0.0.1", "169.254.169.254", "0.0.0.0", "0.1.2.3", "::1", "fe80::1", "::ffff:127.0.0.1", "224.0.0.1"]
        {
            assert!(!is_elsewhere(here.parse().unwrap()), "{here}");
        }
        for elsewhere in ["10.0.0.1", "93.184.215.14", "2606:4700::1"] {
            assert!(is_elsewhere(elsewhere.parse().unwrap()), "{elsewhere}");
        }
    }
}
