//! Clients that are too slow, or that say too much before they ask anything.
//!
//! A connection that sends a header a byte at a time, a body that never ends, or takes no answer, costs a place that
//! others need. So every connection's bytes go through a [`TimedStream`], below the HTTP library and above the socket.
//!
//! Two parties know half of what must be known. The bytes are seen here, but not what they mean; what a connection is
//! doing is known to whoever handles its requests. [`Progress`] is what they share: the handler moves it from
//! [`Phase::Head`] to `Body` to `Answering` and back, and each move begins a new *turn* with a clock of its own. The
//! stream compares turns whenever it is asked for bytes. A turn is a number and not only a phase, because a short request
//! can pass from one head to the next between two looks.
//!
//! - **Head**: from its first byte it has `bounds.head` to end, and `bounds.head_bytes` to end in. The end is found by
//!   the last four bytes, so that a body in the same read does not count. Before the first byte the connection is idle.
//! - **Body**: `bounds.body` for all of it. The handler is told through [`Progress::is_late`] and answers itself.
//! - **Answering**: reading has no deadline, a person may be waited for; writing has one, from the moment at which the
//!   client stopped taking bytes.
//!
//! A refusal is written here, in the place of whatever the library would say, and the rest of what the client sends is
//! read and dropped for a while: closing at once would make its system throw the refusal away unread. The clock is only
//! looked at when there is nothing to read, so that a request that comes whole costs no timer.

use crate::bounds::Bounds;
use crate::error::ApiError;
use std::io::{Error, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep_until};

/// The empty line behind the headers.
const END_OF_HEAD: u32 = u32::from_be_bytes(*b"\r\n\r\n");
/// What is read after a refusal, so that whoever is still talking gets to hear it.
const MOST_DRAINED: usize = 1024 * 1024;
/// How long that may take.
const DRAIN: Duration = Duration::from_secs(2);

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Between two requests, or in the headers of one.
    Head = 0,
    /// In the body of a request.
    Body = 1,
    /// The request is read, the answer is not sent.
    Answering = 2,
    /// No longer HTTP.
    Upgraded = 3,
}

/// What a connection is doing: known to requests, looked at by the bytes.
#[derive(Default)]
pub(crate) struct Progress {
    /// The phase in the lowest two bits, how many there were in the others: two of a kind may follow each other unseen.
    turn: AtomicU32,
    late: AtomicBool,
    unread: AtomicBool,
}

impl Progress {
    pub(crate) fn begin(&self, phase: Phase) {
        let turn = self.turn.load(Ordering::Acquire) >> 2;
        self.turn.store(turn.wrapping_add(1) << 2 | phase as u32, Ordering::Release);
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.turn.load(Ordering::Acquire) & 3 {
            0 => Phase::Head,
            1 => Phase::Body,
            2 => Phase::Answering,
            _ => Phase::Upgraded,
        }
    }

    /// A request was answered before its body was read, as refusals are: the connection ends with that.
    pub(crate) fn leave_unread(&self) {
        self.unread.store(true, Ordering::Release);
    }

    /// Whether the body of a request took too long.
    pub(crate) fn is_late(&self) -> bool {
        self.late.load(Ordering::Acquire)
    }
}

/// The bytes of a connection, held to [`Bounds`].
pub(crate) struct TimedStream<S> {
    inner: S,
    bounds: Bounds,
    progress: Arc<Progress>,
    /// The turn that was seen last, when it began, and how much was read in it.
    turn: u32,
    since: Instant,
    got: usize,
    /// The last four bytes of the head that is being read; those that end it stay.
    last: u32,
    /// How long it is so far.
    head: usize,
    alarm: Option<Pin<Box<Sleep>>>,
    /// Since when nothing of what is sent was taken.
    stuck: Option<Instant>,
    write_alarm: Option<Pin<Box<Sleep>>>,
    /// The refusal that is said instead of anything else, and how much of it was said.
    refusal: Option<(String, usize)>,
    /// Nothing more is sent.
    shut: bool,
    /// Its place among the connections, for as long as there are bytes, whatever is spoken.
    _place: OwnedSemaphorePermit,
}

impl<S: AsyncRead + AsyncWrite + Unpin> TimedStream<S> {
    pub(crate) fn new(inner: S, bounds: Bounds, progress: Arc<Progress>, place: OwnedSemaphorePermit) -> Self {
        Self {
            inner,
            bounds,
            progress,
            turn: 0,
            since: Instant::now(),
            got: 0,
            last: 0,
            head: 0,
            alarm: None,
            stuck: None,
            write_alarm: None,
            refusal: None,
            shut: false,
            _place: place,
        }
    }

    /// Says no, and lets the rest of what was being said pass by unread.
    fn refuse(&mut self, context: &mut Context<'_>, error: &ApiError) {
        self.refusal = Some((error.on_the_wire(), 0));
        (self.got, self.since) = (0, Instant::now());
        // If it cannot be said now it is said with the next byte that comes, or not at all.
        let _ = self.poll_refusal(context);
    }

    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if let Some((text, said)) = &mut self.refusal {
            while let Some(rest) = text.as_bytes().get(*said..)
                && !rest.is_empty()
            {
                *said += ready!(Pin::new(&mut self.inner).poll_write(context, rest))?;
            }
            ready!(Pin::new(&mut self.inner).poll_flush(context))?;
            ready!(Pin::new(&mut self.inner).poll_shutdown(context))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads and forgets, up to a limit; then the connection is at its end.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let _ = self.poll_refusal(context);
        let mut scrap = [0_u8; 4096];
        while self.got < MOST_DRAINED {
            let mut buffer = ReadBuf::new(&mut scrap);
            match Pin::new(&mut self.inner).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => self.got += buffer.filled().len(),
                Poll::Ready(_) => break,
                Poll::Pending => {
                    ready!(ring(&mut self.alarm, self.since + DRAIN, context));
                    break;
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Until when something must come; `None`: for ever.
    fn deadline(&self, phase: Phase) -> Option<Instant> {
        let limit = match phase {
            Phase::Head if self.got > 0 || self.turn >> 2 == 0 => self.bounds.head,
            Phase::Head => self.bounds.idle,
            Phase::Body => self.bounds.body,
            Phase::Answering | Phase::Upgraded => return None,
        };
        Some(self.since + limit)
    }

    /// Ready if nothing was taken for too long.
    fn poll_stuck(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        let since = *self.stuck.get_or_insert_with(Instant::now);
        ready!(ring(&mut self.write_alarm, since + self.bounds.write, context));
        Poll::Ready(Error::from(ErrorKind::TimedOut))
    }

    /// The server's library refuses requests that are no HTTP without a word: they get the body that all refusals have.
    fn is_bare_refusal(&self, start: &[u8]) -> bool {
        // Nothing but a head came since the last answer.
        let since = self.progress.turn.load(Ordering::Acquire) == self.turn && self.progress.phase() == Phase::Head;
        since && self.got > 0 && start.starts_with(b"HTTP/1.1 4")
    }

    fn poll_sent(
        &mut self,
        context: &mut Context<'_>,
        start: &[u8],
        length: usize,
        send: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<Result<usize, Error>>,
    ) -> Poll<Result<usize, Error>> {
        if self.refusal.is_none() && self.is_bare_refusal(start) {
            let too_long = start.starts_with(b"HTTP/1.1 431");
            let error = if too_long { ApiError::long_head(self.bounds.head_bytes) } else { ApiError::not_http() };
            self.refuse(context, &error);
        }
        let sent = if self.refusal.is_some() {
            self.poll_refusal(context).map_ok(|()| length)
        } else {
            send(Pin::new(&mut self.inner), context)
        };
        match sent {
            Poll::Ready(sent) => {
                self.stuck = None;
                Poll::Ready(sent)
            }
            Poll::Pending => self.poll_stuck(context).map(Err),
        }
    }
}

/// Ready once the time has come. An alarm that is set for earlier is left alone and set again when it rings.
fn ring(alarm: &mut Option<Pin<Box<Sleep>>>, deadline: Instant, context: &mut Context<'_>) -> Poll<()> {
    let alarm = alarm.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
    if alarm.deadline() > deadline {
        alarm.as_mut().reset(deadline);
    }
    loop {
        ready!(alarm.as_mut().poll(context));
        if alarm.deadline() >= deadline {
            return Poll::Ready(());
        }
        alarm.as_mut().reset(deadline);
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<(), Error>> {
        let this = &mut *self;
        if this.refusal.is_some() {
            return this.poll_drain(context);
        }
        let (turn, phase) = (this.progress.turn.load(Ordering::Acquire), this.progress.phase());
        if turn != this.turn {
            (this.turn, this.got, this.last, this.head, this.since) = (turn, 0, 0, 0, Instant::now());
        }
        if phase == Phase::Head && this.last != END_OF_HEAD && this.got >= this.bounds.head_bytes {
            this.refuse(context, &ApiError::long_head(this.bounds.head_bytes));
            return this.poll_drain(context);
        }
        let before = buffer.filled().len();
        match Pin::new(&mut this.inner).poll_read(context, buffer) {
            Poll::Ready(read) => {
                let read_now = buffer.filled().len().saturating_sub(before);
                if this.got == 0 && read_now > 0 && phase == Phase::Head {
                    this.since = Instant::now();
                }
                this.got = this.got.saturating_add(read_now);
                // What follows a head in the same read is a body, however long: it does not count for the head.
                for byte in buffer.filled().get(before..).filter(|_| phase == Phase::Head).unwrap_or_default() {
                    if this.last == END_OF_HEAD {
                        break;
                    }
                    this.last = this.last << 8 | u32::from(*byte);
                    this.head += 1;
                }
                // What is left of a body that nobody reads is no head.
                let left = this.progress.unread.load(Ordering::Acquire);
                if this.head > this.bounds.head_bytes && !left {
                    // It came in one piece, its end included: nobody gets to see it.
                    buffer.set_filled(before);
                    this.refuse(context, &ApiError::long_head(this.bounds.head_bytes));
                    return this.poll_drain(context);
                }
                Poll::Ready(read)
            }
            Poll::Pending => {
                let Some(deadline) = this.deadline(phase) else { return Poll::Pending };
                ready!(ring(&mut this.alarm, deadline, context));
                match phase {
                    Phase::Body => {
                        this.progress.late.store(true, Ordering::Release);
                        Poll::Ready(Err(Error::from(ErrorKind::TimedOut)))
                    }
                    Phase::Head if this.got > 0 => {
                        this.refuse(context, &ApiError::too_slow());
                        this.poll_drain(context)
                    }
                    // Nobody is in the middle of anything: the end.
                    _ => Poll::Ready(Ok(())),
                }
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Error>> {
        self.poll_sent(context, bytes, bytes.len(), |inner, context| inner.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize, Error>> {
        let start = slices.first().map_or(&[][..], |slice| &**slice);
        let length = slices.iter().map(|slice| slice.len()).sum();
        self.poll_sent(context, start, length, |inner, context| inner.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let this = &mut *self;
        if !this.shut {
            ready!(Pin::new(&mut this.inner).poll_shutdown(context))?;
            this.shut = true;
            (this.got, this.since) = (0, Instant::now());
        }
        // Whoever is still sending would be cut off, and might never look at what it was told.
        if this.progress.unread.load(Ordering::Acquire) { this.poll_drain(context) } else { Poll::Ready(Ok(())) }
    }
}
