//! A web server for one conversation: on the loopback interface, one thread for each connection, everything bounded.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most that a request may hold: agents send their whole instructions.
const LARGEST_BODY: usize = 64 * 1024 * 1024;
/// The longest line of a request's head.
const LONGEST_LINE: u64 = 64 * 1024;
/// How many lines a head may have.
const MOST_LINES: usize = 200;
/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// An answer.
pub(super) struct HttpAnswer {
    pub(super) status: &'static str,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

/// A server that runs until it is dropped.
pub(super) struct Server {
    pub(super) port: u16,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Answers every request with this, on a port of the system's choice.
    pub(super) fn start(answer: impl Fn(&Request) -> HttpAnswer + Send + Sync + 'static) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let answer = Arc::new(answer);
        std::thread::Builder::new().spawn(move || {
            for connection in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(connection), answer) = (connection, Arc::clone(&answer)) else { continue };
                // Without a thread the connection is closed, and the agent says that it has no model.
                let _ = std::thread::Builder::new().spawn(move || serve(connection, answer.as_ref()));
            }
        })?;
        Ok(Self { port, stop })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it sees.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

fn serve(connection: TcpStream, answer: &(impl Fn(&Request) -> HttpAnswer + ?Sized)) {
    let _ = connection.set_read_timeout(Some(PATIENCE));
    let Ok(writing) = connection.try_clone() else { return };
    let mut reader = BufReader::new(connection);
    let mut writer = writing;
    while let Some(request) = read(&mut reader) {
        let said = answer(&request);
        let body = if request.method == "HEAD" { "" } else { said.body.as_str() };
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{body}",
            said.status,
            said.kind,
            said.body.len()
        );
        if writer.write_all(head.as_bytes()).and_then(|()| writer.flush()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let first = line(reader)?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut chunked) = (0_usize, false);
    for _ in 0..MOST_LINES {
        let header = line(reader)?;
        if header.is_empty() {
            let body = if chunked { chunks(reader)? } else { exactly(reader, length)? };
            return Some(Request { method, path, body });
        }
        let (name, value) = header.split_once(':')?;
        match name.trim().to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok().filter(|length| *length <= LARGEST_BODY)?,
            "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
            _ => {}
        }
    }
    None
}

fn line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut text = String::new();
    reader.by_ref().take(LONGEST_LINE).read_line(&mut text).ok().filter(|length| *length > 0)?;
    Some(text.strip_suffix('\n')?.trim_end_matches('\r').to_owned())
}

fn exactly(reader: &mut BufReader<TcpStream>, length: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    reader.by_ref().take(length as u64).read_to_end(&mut body).ok()?;
    (body.len() == length).then_some(body)
}

fn chunks(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let head = line(reader)?;
        let size = usize::from_str_radix(head.split(';').next()?.trim(), 16).ok()?;
        if size.checked_add(body.len()).is_none_or(|total| total > LARGEST_BODY) {
            return None;
        }
        body.extend(exactly(reader, size)?);
        line(reader)?;
        if size == 0 {
            return Some(body);
        }
    }
}
