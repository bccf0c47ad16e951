//! Requests to servers behind HTTP.

use super::LARGEST_BODY;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// A server behind HTTP.
pub(crate) struct HttpUpstream {
    uri: Uri,
    headers: HeaderMap,
    client: Transport,
}

enum Transport {
    Plain(Client<HttpConnector, Full<Bytes>>),
    #[cfg(feature = "tls")]
    Tls(Client<hyper_rustls::HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl HttpUpstream {
    /// The server at this address, with headers of its own for every request.
    pub(crate) fn new(url: &str, headers: &[(String, String)]) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|_| format!("{url} is not an address"))?;
        let own = headers.iter().map(|(name, value)| {
            let name: HeaderName = name.parse().map_err(|_| format!("{name} is not a header name"))?;
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
        let answer = answer.map_err(|error| chain(&error))?;
        if let Some(why) = past_us(answer.status(), answer.headers()) {
            return Err(why);
        }
        Ok(answer)
    }
}

/// Why an answer cannot be passed on. A client would follow a server elsewhere, past whoever stands in between, and
/// unpack what nobody in between has read.
fn past_us(status: StatusCode, headers: &HeaderMap) -> Option<String> {
    if status.is_redirection() {
        return Some(format!("it redirects (HTTP {status}); use its final address"));
    }
    let plain = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.trim().eq_ignore_ascii_case("identity"));
    let packed = !headers.get_all(header::CONTENT_ENCODING).iter().all(plain);
    packed.then(|| "its answer is compressed, which was not requested".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    /// What is made of an answer that begins like this.
    fn answered(head: &str) -> Result<StatusCode, String> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answer = format!("HTTP/1.1 {head}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let upstream = HttpUpstream::new(&url, &[]).unwrap();
        let answer = runtime.block_on(upstream.send(Method::POST, HeaderMap::new(), b"{}".to_vec()));
        server.join().unwrap();
        answer.map(|answer| answer.status())
    }

    #[test]
    fn an_answer_that_would_lead_past_the_gateway_is_none() {
        for head in [
            "307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/mcp",
            "308 Permanent Redirect\r\nLocation: /elsewhere",
            "200 OK\r\nContent-Encoding: gzip",
            "200 OK\r\nContent-Encoding: identity\r\nContent-Encoding: br",
        ] {
            assert!(answered(head).is_err(), "{head}");
        }
        for head in ["200 OK", "200 OK\r\nContent-Encoding: identity", "404 Not Found"] {
            assert!(answered(head).is_ok(), "{head}");
        }
    }
}
