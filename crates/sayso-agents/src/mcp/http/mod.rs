//! Streamable HTTP, on both sides.
//!
//! Upstream, [`HttpLink`] reaches a server for a client that speaks standard input and output. On our own side,
//! [`listen`] serves either programs and several servers, each client with a session of its own ([`front`]), or one
//! server behind HTTP, whose sessions, streams and resumption pass through ([`proxy`]).

mod client;
mod front;
mod link;
mod origin;
mod proxy;
mod sse;

pub(crate) use link::HttpLink;

use super::setting::{GatewaySetting, Reach};
use crate::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;
use tokio::runtime::Runtime;

/// The largest body of a request or an answer that is looked at.
const LARGEST_BODY: usize = 32 * 1024 * 1024;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const RESUME: &str = "last-event-id";
const EVENTS: &str = "text/event-stream";

/// The threads of everything that speaks HTTP. Not started where nothing does.
fn runtime() -> Result<&'static Runtime, Error> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let built =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().thread_name("mcp-http").build();
    let built = built.map_err(|e| Error::io("start the threads of", Path::new("the gateway"), e))?;
    Ok(RUNTIME.get_or_init(|| built))
}

/// Serves streamable HTTP until the process is told to stop. `ready` hears where.
///
/// # Errors
/// If the address is not of this machine, or is taken.
pub fn listen(setting: &GatewaySetting, address: SocketAddr, ready: impl FnOnce(SocketAddr)) -> Result<(), Error> {
    if !address.ip().is_loopback() {
        let why = "the gateway listens only on the loopback interface; use 127.0.0.1 or [::1]";
        return Err(Error::io("listen at", Path::new(&address.to_string()), std::io::Error::other(why)));
    }
    let failed = |e| Error::io("listen at", Path::new(&address.to_string()), e);
    runtime()?.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let router = match setting.servers.as_slice() {
            [only] if matches!(only.reach, Reach::Url { .. }) => proxy::router(setting, only)?,
            _ => front::router(setting.clone())?,
        };
        let router =
            router.layer(axum::middleware::from_fn(move |request, next| origin::check(address.port(), request, next)));
        ready(address);
        axum::serve(listener, router).with_graceful_shutdown(told_to_stop()).await.map_err(failed)
    })
}

async fn told_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    // Streams never end by themselves.
    std::process::exit(0);
}

/// JSON on one line: a message over HTTP may be laid out over several, one in a pipe may not. Strings hold no line
/// feeds of their own in JSON, so that nothing but layout changes.
fn one_line(bytes: &[u8]) -> Vec<u8> {
    let mut line: Vec<u8> = bytes.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
    line.push(b'\n');
    line
}
