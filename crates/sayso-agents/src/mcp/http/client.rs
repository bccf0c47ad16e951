//! Requests to servers behind HTTP.

use super::LARGEST_BODY;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// A server behind HTTP.
pub(crate) struct Upstream {
    uri: Uri,
    headers: HeaderMap,
    client: Transport,
}

enum Transport {
    Plain(Client<HttpConnector, Full<Bytes>>),
    #[cfg(feature = "tls")]
    Tls(Client<hyper_rustls::HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Upstream {
    /// The server at this address, with headers of its own for every request.
    pub(crate) fn new(url: &str, headers: &[(String, String)]) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|_| format!("{url} is not an address"))?;
        let own = headers.iter().map(|(name, value)| {
            let name: HeaderName = name.parse().map_err(|_| format!("{name} is no header's name"))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| format!("the value of {name} cannot be sent"))?;
            value.set_sensitive(true);
            Ok((name, value))
        });
        let headers = own.collect::<Result<HeaderMap, String>>()?;
        let client = match uri.scheme_str() {
            Some("http") => Transport::Plain(Client::builder(TokioExecutor::new()).build_http()),
            Some("https") => tls()?,
            _ => return Err(format!("{url} is neither http nor https")),
        };
        Ok(Self { uri, headers, client })
    }

    /// Sends a request. The server's own headers win over those given.
    pub(crate) async fn send(
        &self,
        method: Method,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, String> {
        for (name, value) in &self.headers {
            headers.insert(name.clone(), value.clone());
        }
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = headers;
        let answer = match &self.client {
            Transport::Plain(client) => client.request(request).await,
            #[cfg(feature = "tls")]
            Transport::Tls(client) => client.request(request).await,
        };
        answer.map_err(|error| chain(&error))
    }
}

#[cfg(feature = "tls")]
fn tls() -> Result<Transport, String> {
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_native_roots()
        .map_err(|error| format!("the system's certificates cannot be read: {error}"))?
        .https_or_http()
        .enable_http1()
        .build();
    Ok(Transport::Tls(Client::builder(TokioExecutor::new()).build(connector)))
}

#[cfg(not(feature = "tls"))]
fn tls() -> Result<Transport, String> {
    Err("this build of Sayso has no TLS: build it with the feature `tls`".to_owned())
}

/// A whole body, within limits.
pub(crate) async fn whole(body: Incoming) -> Result<Bytes, String> {
    let limited = Limited::new(body, LARGEST_BODY).collect().await;
    limited.map(http_body_util::Collected::to_bytes).map_err(|error| chain(&*error))
}

/// An error with its causes: the outermost alone says little.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ")
}
