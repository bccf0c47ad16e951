//! Connections: how many there may be, and what is spoken over each.

use crate::bounds::Bounds;
use crate::door::{Bytes, Door};
use crate::error::ApiError;
use crate::guard;
use crate::site::Site;
use crate::slow_clients::{Phase, Progress, TimedStream};
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use axum::response::IntoResponse as _;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sayso_gate::audit::Peer;
use std::convert::Infallible;
use std::io::Error;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Connections that are told at the same time that there is no room.
const MOST_REFUSED: usize = 64;
/// How long to rest when the system gives no connection: it has run out of something.
const REST: Duration = Duration::from_millis(100);

/// Serves what comes through one door until told to stop; then ends once all are answered.
pub(crate) async fn serve<D: Door>(door: D, site: Site, bounds: Bounds, mut stop: watch::Receiver<bool>) {
    let door = Arc::new(door);
    let room = Arc::new(Semaphore::new(bounds.connections));
    let corner = Arc::new(Semaphore::new(MOST_REFUSED));
    let stopping = stop.clone();
    let mut stopped = pin!(told(&mut stop));
    loop {
        let stream = tokio::select! {
            stream = door.next() => stream,
            () = &mut stopped => break,
        };
        let Ok(stream) = stream else {
            tokio::time::sleep(REST).await;
            continue;
        };
        match Arc::clone(&room).try_acquire_owned() {
            Ok(place) => {
                let (door, site, stopping) = (Arc::clone(&door), site.clone(), stopping.clone());
                tokio::spawn(async move {
                    let opened = tokio::time::timeout(bounds.head, door.open(stream)).await;
                    if let Ok(Ok((stream, peer))) = opened {
                        talk(stream, peer, site, bounds, stopping, place).await;
                    }
                });
            }
            // More than can be told at once are just cut off.
            Err(_) => {
                if D::PLAIN
                    && let Ok(place) = Arc::clone(&corner).try_acquire_owned()
                {
                    tokio::spawn(turn_away(stream, place));
                }
            }
        }
    }
    let all = u32::try_from(bounds.connections).unwrap_or(u32::MAX);
    let _ = room.acquire_many(all).await;
}

/// Waits until the server is told to stop.
async fn told(stop: &mut watch::Receiver<bool>) {
    // An error means that the other side is gone: stop as well.
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn turn_away(mut stream: impl Bytes, _place: OwnedSemaphorePermit) {
    let telling = async {
        stream.write_all(ApiError::full().on_the_wire().as_bytes()).await?;
        stream.shutdown().await?;
        // What was asked is read and forgotten, or the answer might be lost with it.
        let mut scrap = [0_u8; 1024];
        while stream.read(&mut scrap).await? > 0 {}
        Ok::<(), Error>(())
    };
    // Whoever does not listen is not told.
    let _ = tokio::time::timeout(Duration::from_secs(1), telling).await;
}

/// Serves one connection.
async fn talk(
    stream: impl Bytes,
    peer: Option<Peer>,
    site: Site,
    bounds: Bounds,
    mut stop: watch::Receiver<bool>,
    place: OwnedSemaphorePermit,
) {
    let progress = Arc::new(Progress::default());
    let bytes = TimedStream::new(stream, bounds, Arc::clone(&progress), place);
    let service = service_fn(move |mut request: Request<Incoming>| {
        if let Some(peer) = &peer {
            request.extensions_mut().insert(peer.clone());
        }
        let (site, progress) = (site.clone(), Arc::clone(&progress));
        async move { Ok::<_, Infallible>(answer(site, progress, bounds, request).await) }
    });
    // The clock of the bytes is the only one.
    let mut http = http1::Builder::new();
    http.header_read_timeout(None).max_buf_size(64 * 1024);
    let mut connection = pin!(http.serve_connection(TokioIo::new(bytes), service).with_upgrades());
    // Whoever went away in the middle needs no answer, and errors are theirs.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = told(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn answer(
    site: Site,
    progress: Arc<Progress>,
    bounds: Bounds,
    request: Request<Incoming>,
) -> Response<AnswerBody> {
    progress.begin(if request.body().is_end_stream() { Phase::Answering } else { Phase::Body });
    let too_long = head_length(&request) > bounds.head_bytes;
    let asked = request.map(|body| Body::new(RequestBody { body, progress: Arc::clone(&progress) }));
    let mut response = match too_long {
        true => guard::dress(ApiError::long_head(bounds.head_bytes).into_response()),
        false => site.answer(asked).await,
    };
    if progress.phase() == Phase::Body {
        progress.leave_unread();
    }
    if progress.is_late() {
        response = guard::dress(ApiError::too_slow().into_response());
    }
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        progress.begin(Phase::Upgraded);
    }
    response.map(|body| AnswerBody { body, progress })
}

/// How long the head of a request is at least. The bytes are counted as they come, but not those of a request that came
/// together with the one before it.
fn head_length(request: &Request<Incoming>) -> usize {
    let line = request.method().as_str().len() + request.uri().path().len() + request.uri().query().map_or(0, str::len);
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + headers.sum::<usize>()
}

/// The body of a request, which says when it was read.
struct RequestBody {
    body: Incoming,
    progress: Arc<Progress>,
}

impl HttpBody for RequestBody {
    type Data = axum::body::Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if (frame.is_none() || self.body.is_end_stream()) && self.progress.phase() == Phase::Body {
            self.progress.begin(Phase::Answering);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer: when it is gone, the next request may come.
struct AnswerBody {
    body: Body,
    progress: Arc<Progress>,
}

impl HttpBody for AnswerBody {
    type Data = axum::body::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        if self.progress.phase() != Phase::Upgraded {
            self.progress.begin(Phase::Head);
        }
    }
}
