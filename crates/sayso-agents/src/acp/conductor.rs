//! As a component of a chain of proxies.
//!
//! A conductor starts us without an agent and speaks for both sides: what comes plain is the client's, what comes in
//! a `proxy/successor` envelope is the agent's. We wrap the client's and unwrap the agent's. Every request that we get
//! comes from the conductor, so that its id is free to be used again for the request that we make of it: answers and
//! cancellations then name the right request on both hops, and pass byte for byte.

use super::proxy::{INVALID_REQUEST, Onward, Proxy, Routed, Side, Voice, is_proxy_method};
use crate::pipe::{Message, Reader, Refused, error_line, message_line, text_member};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A component of a chain.
pub(super) struct Component {
    proxy: Arc<Proxy>,
    reader: Reader,
    inner: Reader,
    /// One of [`Style`], for whoever speaks later too.
    style: Arc<AtomicU8>,
}

/// How this conductor names its envelopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `proxy/successor`.
    Plain,
    /// `_proxy/successor`, before the method was part of the protocol.
    Underscore,
    /// `_proxy/successor/request` and `_proxy/successor/notification`, older still.
    Split,
}

impl Style {
    const ALL: [Self; 3] = [Self::Plain, Self::Underscore, Self::Split];

    fn of(known: &AtomicU8) -> Self {
        Self::ALL.get(usize::from(known.load(Ordering::SeqCst))).copied().unwrap_or(Self::Plain)
    }

    fn is_known(self, known: &AtomicU8) {
        let at = Self::ALL.iter().position(|style| *style == self).unwrap_or(0);
        known.store(u8::try_from(at).unwrap_or(0), Ordering::SeqCst);
    }

    fn method(self, request: bool) -> &'static str {
        match (self, request) {
            (Self::Plain, _) => "proxy/successor",
            (Self::Underscore, _) => "_proxy/successor",
            (Self::Split, true) => "_proxy/successor/request",
            (Self::Split, false) => "_proxy/successor/notification",
        }
    }
}

impl Component {
    pub(super) fn new(proxy: Arc<Proxy>) -> Self {
        Self { proxy, reader: Reader::default(), inner: Reader::default(), style: Arc::new(AtomicU8::new(0)) }
    }

    /// Says what is decided later, in the words of this hop.
    pub(super) fn voice(&self, say: impl Fn(Vec<u8>) + Send + Sync + 'static) -> Voice {
        let style = Arc::clone(&self.style);
        Box::new(move |to, line| say(if to == Side::Agent { Style::of(&style).wrapped(line) } else { line }))
    }

    /// What to tell the conductor about a line that was too long.
    pub(super) fn too_long(&self, refused: &Refused) -> Vec<Vec<u8>> {
        Proxy::refused(Side::Client, refused).said.into_iter().map(|(_, line)| line).collect()
    }

    /// What to tell the conductor after this line.
    pub(super) fn line(&mut self, line: &[u8]) -> Vec<Vec<u8>> {
        let mut reader = std::mem::take(&mut self.reader);
        let lines = match reader.read(line) {
            Ok(None) => Vec::new(),
            Err(refused) => self.too_long(&refused),
            Ok(Some(message)) => self.message(&message),
        };
        self.reader = reader;
        lines
    }

    fn message(&mut self, message: &Message<'_>) -> Vec<Vec<u8>> {
        let as_it_came = || [message.line, b"\n"].concat();
        match message.method.as_deref() {
            None => {
                let by = message.key().and_then(|id| self.proxy.state().waiting.by(&id)).unwrap_or(Side::Client);
                let routed = self.proxy.message(by, message);
                self.lines(routed, by, as_it_came)
            }
            // Between two neighbours, and never wrapped: it names a request of this hop.
            Some("$/cancel_request") => {
                let routed = self.proxy.cancelled(message);
                self.lines(routed, Side::Agent, as_it_came)
            }
            Some(method @ ("proxy/initialize" | "_proxy/initialize")) => {
                let style = if method.starts_with('_') { Style::Underscore } else { Style::Plain };
                style.is_known(&self.style);
                self.clients(&message_line(message.id, "initialize", message.params))
            }
            Some("initialize") => {
                let why = "This is `sayso acp` without an agent, for a chain of proxies. To run it with an agent: sayso acp -- COMMAND...";
                vec![error_line(message.id, INVALID_REQUEST, why, None)]
            }
            Some("proxy/successor" | "_proxy/successor") => self.agents(message),
            Some("_proxy/successor/request" | "_proxy/successor/notification") => {
                Style::Split.is_known(&self.style);
                self.agents(message)
            }
            Some(method) if is_proxy_method(method) => {
                vec![error_line(message.id, -32601, "Sayso does not support this proxy chain method.", None)]
            }
            Some(_) => self.clients(&as_it_came()),
        }
    }

    fn clients(&mut self, line: &[u8]) -> Vec<Vec<u8>> {
        let routed = self.proxy.line(Side::Client, &mut self.inner, line);
        self.lines(routed, Side::Client, || line.to_vec())
    }

    /// Takes an envelope off.
    fn agents(&mut self, message: &Message<'_>) -> Vec<Vec<u8>> {
        let inner = message.params.and_then(|raw| {
            let method = text_member(raw, "method")?;
            let value: &serde_json::value::RawValue = serde_json::from_slice(raw).ok()?;
            let params = serde_json::from_str::<Envelope<'_>>(value.get()).ok()?.params;
            Some(message_line(message.id, &method, params.map(|raw| raw.get().as_bytes())))
        });
        let Some(line) = inner else {
            return vec![error_line(message.id, -32602, "The envelope is invalid.", None)];
        };
        let routed = self.proxy.line(Side::Agent, &mut self.inner, &line);
        self.lines(routed, Side::Agent, || line)
    }

    /// What was routed, in the words of this hop.
    fn lines(&self, routed: Routed, from: Side, as_it_came: impl FnOnce() -> Vec<u8>) -> Vec<Vec<u8>> {
        let onward = match routed.onward {
            Onward::AsItCame => Some(as_it_came()),
            Onward::Instead(line) => Some(line),
            Onward::Nothing => None,
        };
        let all = onward.into_iter().map(|line| (from.other(), line)).chain(routed.said);
        let style = Style::of(&self.style);
        all.map(|(to, line)| if to == Side::Agent { style.wrapped(line) } else { line }).collect()
    }
}

impl Style {
    /// Puts a request or a notification for the agent into an envelope; an answer, and what is about this hop, stays.
    fn wrapped(self, line: Vec<u8>) -> Vec<u8> {
        let mut reader = Reader::default();
        let Ok(Some(message)) = reader.read(&line) else { return line };
        let Some(method) = message.method.as_deref().filter(|method| *method != "$/cancel_request") else {
            return line;
        };
        let mut envelope = b"{\"method\":".to_vec();
        envelope.extend_from_slice(Value::from(method).to_string().as_bytes());
        if let Some(params) = message.params {
            envelope.extend_from_slice(b",\"params\":");
            envelope.extend_from_slice(params);
        }
        envelope.push(b'}');
        message_line(message.id, self.method(message.id.is_some()), Some(&envelope))
    }
}

/// The wrapped message's parameters, as they came.
#[derive(serde::Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    params: Option<&'a serde_json::value::RawValue>,
}
