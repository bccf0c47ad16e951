//! Listening, serving, and stopping in good order.

use crate::app::{About, App};
use crate::bounds::Bounds;
use crate::error::Error;
use crate::guard::{self, WayIn};
use crate::key::Keys;
use crate::{api, attendance, connection, page, tail};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use sayso_gate::Places;
use sayso_policy::PolicyText;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::watch;

/// How to serve.
pub struct Options {
    /// Where policy, record and socket are.
    pub places: Places,
    /// Files that were named: then no others count.
    pub policy: Vec<PolicyText>,
    /// Where to listen. Only the loopback interface.
    pub address: SocketAddr,
    /// What the page says about this server.
    pub about: About,
    /// Called once the server listens.
    pub ready: Box<dyn FnOnce(&Listening) + Send>,
    /// Called whenever a key was used, with the next one.
    pub announce: Box<dyn Fn(&Listening) + Send + Sync>,
}

/// Where the server listens.
#[derive(Clone, Debug)]
pub struct Listening {
    /// Over TCP.
    pub address: SocketAddr,
    /// The socket.
    pub socket: PathBuf,
    /// The key that signs a browser in, once.
    pub key: String,
}

/// Serves until the process is told to stop (SIGINT, SIGTERM).
///
/// # Errors
/// If the address is taken or not of this machine, or if Sayso's folder cannot be used.
pub fn serve(options: Options) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("sayso-serve")
        .build()
        .map_err(|error| Error::Io("start the server's threads", error))?;
    let served = runtime.block_on(run(options));
    // A reader of the record that hangs must not keep the process alive.
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    served
}

async fn run(options: Options) -> Result<(), Error> {
    if !options.address.ip().is_loopback() {
        return Err(Error::NotLoopback(options.address));
    }
    let socket = options.places.own_folder("")?.join("sayso.sock");
    let unix = listen_unix(&socket).await?;
    let tcp = TcpListener::bind(options.address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Error::Taken(options.address),
        _ => Error::Io("listen", error),
    });
    let tcp = tcp.inspect_err(|_| remove(&socket))?;
    let address = tcp.local_addr().map_err(|error| Error::Io("listen", error))?;

    let keys = Keys::new().map_err(|_| Error::NoRandomness)?;
    let listening = Listening { address, socket: socket.clone(), key: keys.key() };
    let (announce, known) = (options.announce, listening.clone());
    let next = move |key: &str| announce(&Listening { key: key.to_owned(), ..known.clone() });
    let app = Arc::new(App::new(options.places, keys, options.policy, options.about, Box::new(next))?);
    (options.ready)(&listening);
    let watcher = tokio::spawn(tail::watch(Arc::clone(&app)));
    let present = tokio::spawn(attendance::keep(Arc::clone(&app)));

    let (stop, stopped) = watch::channel(false);
    let bounds = Bounds::of_this_process();
    let over_tcp = connection::serve(tcp, router(&app, WayIn::Loopback(address.port())), bounds, stopped.clone());
    let over_unix = connection::serve(unix, router(&app, WayIn::Socket), bounds, stopped);
    let (tcp_task, unix_task) = (tokio::spawn(over_tcp), tokio::spawn(over_unix));

    asked_to_stop().await;
    let _ = stop.send(true);
    app.tail.close();
    watcher.abort();
    present.abort();
    attendance::close(&app).await;
    // Requests under way are answered; those that wait for people are cut.
    let both = async { (tcp_task.await, unix_task.await) };
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), both).await;
    remove(&socket);
    Ok(())
}

/// Everything, as it is served over one way in.
pub(crate) fn router(app: &Arc<App>, way_in: WayIn) -> Router {
    page::routes()
        .merge(api::routes(app))
        .layer(DefaultBodyLimit::max(api::MAX_BODY))
        .layer(axum::Extension(way_in))
        .layer(axum::middleware::from_fn(move |request, next| guard::guard(way_in, request, next)))
        .with_state(Arc::clone(app))
}

/// The socket, which only its owner can open.
async fn listen_unix(socket: &Path) -> Result<UnixListener, Error> {
    // One that is left over from a crash is in the way; one that answers is another server's.
    if UnixStream::connect(socket).await.is_ok() {
        return Err(Error::Running(socket.to_owned()));
    }
    remove(socket);
    // Its folder is closed to others, so that nobody comes in between these two lines.
    let listener = UnixListener::bind(socket).map_err(|error| Error::Io("listen on the socket", error))?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))
        .map_err(|error| Error::Io("close the socket to others", error))?;
    Ok(listener)
}

fn remove(socket: &Path) {
    // If it is not there, all is well; if it cannot be removed, binding says why.
    let _ = std::fs::remove_file(socket);
}

async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
