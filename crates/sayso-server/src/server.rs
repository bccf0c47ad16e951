//! Listening, serving, and stopping in good order.

use crate::app::{About, App};
use crate::bounds::Bounds;
use crate::error::Error;
use crate::guard::{NAMES, Named, WayIn};
use crate::key::Keys;
use crate::only::Only;
use crate::site::Site;
use crate::tls::{Certificate, TlsDoor};
use crate::webhook::{self, Webhook, Webhooks};
use crate::{attendance, connection, owned, tail, tls, watch};
use sayso_gate::Places;
use sayso_policy::PolicyText;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch as channel;

/// How to serve.
pub struct Options {
    /// Where policy, record and socket are.
    pub places: Places,
    /// Files that were named: then no others count.
    pub policy: Vec<PolicyText>,
    /// Where to listen. Beyond the loopback interface only with what that needs.
    pub address: SocketAddr,
    /// What is needed for others to connect.
    pub beyond: Option<Beyond>,
    /// Where questions are told beside the page.
    pub webhooks: Vec<Webhook>,
    /// Certificates, as PEM, that receivers may have beside those that the system trusts.
    pub webhook_authority: Option<PathBuf>,
    /// What the page says about this server.
    pub about: About,
    /// Called once the server listens.
    pub ready: Box<dyn FnOnce(&Listening) + Send>,
    /// Called whenever there is another key to be shown.
    pub announce: Announce,
    /// Called with a sentence when something goes wrong, or right again, that no caller is told of.
    pub report: Box<dyn Fn(&str) + Send + Sync>,
}

/// Shows another key.
pub type Announce = Box<dyn Fn(&Listening, News) + Send + Sync>;

/// Why there is another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The last one was used.
    Used,
    /// Somebody guesses, so that short ones are not taken for a while. This one is long, and is.
    Guessed,
}

/// What is needed for others than this machine to connect.
#[derive(Clone, Debug)]
pub struct Beyond {
    /// The owner's certificate.
    pub certificate: Certificate,
    /// The names under which the server is called: those of its certificate.
    pub hosts: Vec<String>,
}

/// Where the server listens.
#[derive(Clone, Debug)]
pub struct Listening {
    /// Over TCP.
    pub address: SocketAddr,
    /// Where its page is: `http://127.0.0.1:7171`.
    pub page: String,
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
        // A thousand questions that come at once leave many threads behind: they go while the record is still looked at
        // several times a second, which keeps each of them awake for a moment.
        .thread_keep_alive(std::time::Duration::from_secs(2))
        .build()
        .map_err(|error| Error::Io("start the server's threads", error))?;
    let served = runtime.block_on(run(options));
    // A reader of the record that hangs must not keep the process alive.
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    served
}

async fn run(options: Options) -> Result<(), Error> {
    let acceptor = match &options.beyond {
        Some(beyond) => Some(tls::acceptor(&beyond.certificate)?),
        None if options.address.ip().is_loopback() => None,
        None => return Err(Error::NotLoopback(options.address)),
    };
    let folder = options.places.own_folder("")?;
    let socket = folder.join("sayso.sock");
    // INVARIANT: taken before anything else, and held until the process ends: there is one server of a store.
    let _only = Only::server_of(&folder, &socket)?;
    let unix = listen_unix(&socket).await?;
    let tcp = TcpListener::bind(options.address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Error::Taken(options.address),
        _ => Error::Io("listen", error),
    });
    let tcp = tcp.inspect_err(|_| remove(&socket))?;
    let address = tcp.local_addr().map_err(|error| Error::Io("listen", error))?;

    let keys = Keys::new().map_err(|_| Error::NoRandomness)?;
    let way_in = match options.beyond {
        Some(beyond) => WayIn::Tls(named(address, beyond.hosts).inspect_err(|_| remove(&socket))?),
        None => WayIn::Loopback(address.port()),
    };
    let listening = Listening { address, page: page_of(way_in, address), socket: socket.clone(), key: keys.key() };
    let (announce, known) = (options.announce, listening.clone());
    let next = move |key: &str, news| announce(&Listening { key: key.to_owned(), ..known.clone() }, news);
    let app = Arc::new(App::new(options.places, keys, options.policy, options.about, Box::new(next))?);
    let authority = options.webhook_authority.as_deref();
    let report: watch::Report = options.report.into();
    let told = Arc::clone(&report);
    let tell = Box::new(move |sentence: &str| told(sentence));
    let webhooks =
        Webhooks::new(&app, &options.webhooks, authority, &listening.page, tell).inspect_err(|_| remove(&socket))?;
    owned::started(&app, &listening, &options.webhooks).inspect_err(|_| remove(&socket))?;
    // Whoever reads that it is ready may tell it to stop at once.
    let signals = signals();
    (options.ready)(&listening);
    let watcher = tokio::spawn(tail::watch(Arc::clone(&app)));
    let telling = webhooks.map(|webhooks| tokio::spawn(webhook::tell(Arc::clone(&app), webhooks)));
    let present = tokio::spawn(attendance::keep(Arc::clone(&app)));
    watch::begin(&app, report);

    let (stop, stopped) = channel::channel(false);
    let bounds = Bounds::of_this_process();
    let over_tcp = Site::new(&app, way_in);
    let tcp_task = match acceptor {
        Some(acceptor) => {
            tokio::spawn(connection::serve(TlsDoor::new(tcp, acceptor), over_tcp, bounds, stopped.clone()))
        }
        None => tokio::spawn(connection::serve(tcp, over_tcp, bounds, stopped.clone())),
    };
    let unix_task = tokio::spawn(connection::serve(unix, Site::new(&app, WayIn::Socket), bounds, stopped));

    asked_to_stop(signals).await;
    let _ = stop.send(true);
    app.tail.close();
    watcher.abort();
    present.abort();
    telling.inspect(|telling| telling.abort());
    attendance::close(&app).await;
    // Requests under way are answered; those that wait for people are cut.
    let both = async { (tcp_task.await, unix_task.await) };
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), both).await;
    remove(&socket);
    owned::stopped(&app, &listening)?;
    watch::end(&app);
    Ok(())
}

/// What a server with a certificate is called: as it was told, and as its address, if that is one.
fn named(address: SocketAddr, mut hosts: Vec<String>) -> Result<&'static Named, Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-.[]:".contains(c);
    if let Some(host) = hosts.iter().find(|host| host.is_empty() || !host.chars().all(plain)) {
        return Err(Error::Host(host.clone()));
    }
    let ip = address.ip();
    if ip.is_loopback() {
        hosts.extend(NAMES.map(str::to_owned));
    } else if !ip.is_unspecified() {
        hosts.push(if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() });
    }
    if hosts.is_empty() {
        return Err(Error::NotLoopback(address));
    }
    // Lives as long as the process, like the server.
    Ok(Box::leak(Box::new(Named { port: address.port(), hosts })))
}

fn page_of(way_in: WayIn, address: SocketAddr) -> String {
    match way_in {
        WayIn::Tls(named) => {
            let host = named.hosts.first().map_or("localhost", String::as_str);
            if named.port == 443 { format!("https://{host}") } else { format!("https://{host}:{}", named.port) }
        }
        WayIn::Loopback(_) | WayIn::Socket => format!("http://{address}"),
    }
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

/// Listens for the signals that stop a server, from now on.
fn signals() -> Option<(Signal, Signal)> {
    Some((signal(SignalKind::interrupt()).ok()?, signal(SignalKind::terminate()).ok()?))
}

async fn asked_to_stop(signals: Option<(Signal, Signal)>) {
    let Some((mut interrupt, mut terminate)) = signals else { return std::future::pending().await };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
