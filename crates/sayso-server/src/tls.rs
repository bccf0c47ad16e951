//! Beyond this machine: TLS, with the owner's certificate.

use crate::door::Door;
use crate::error::Error;
use sayso_gate::audit::Peer;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// The owner's certificate and its key, as PEM files.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The certificate, and those between it and the one that others trust.
    pub chain: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// A listener that speaks TLS and nothing else.
pub(crate) struct TlsDoor {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl TlsDoor {
    pub(crate) fn new(listener: TcpListener, acceptor: TlsAcceptor) -> Self {
        Self { listener, acceptor }
    }
}

impl Door for TlsDoor {
    type Raw = TcpStream;
    type Stream = TlsStream<TcpStream>;
    // Whoever waits for a handshake cannot read a refusal.
    const PLAIN: bool = false;

    fn next(&self) -> impl Future<Output = io::Result<TcpStream>> + Send {
        Door::next(&self.listener)
    }

    async fn open(&self, raw: TcpStream) -> io::Result<(Self::Stream, Option<Peer>)> {
        Ok((self.acceptor.accept(raw).await?, None))
    }
}

fn bad(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Certificate(path.to_owned(), error.to_string())
}

/// The certificates in a PEM file; at least one.
pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(|error| bad(path, &error))?.collect();
    let found = found.map_err(|error| bad(path, &error))?;
    if found.is_empty() { Err(bad(path, &"there is no certificate in it")) } else { Ok(found) }
}

/// Reads the certificate and its key, before anybody connects.
pub(crate) fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, Error> {
    let (chain, key) = (&certificate.chain, &certificate.key);
    let meta = std::fs::metadata(key).map_err(|error| bad(key, &error))?;
    if meta.permissions().mode() & 0o007 != 0 {
        return Err(bad(key, &format!("everyone on this machine can read this key; run: chmod o= {}", key.display())));
    }
    let certificates = certificates(chain)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| bad(chain, &error))?
        .with_no_client_auth()
        .with_single_cert(certificates, private);
    let mut config = config.map_err(|error| bad(chain, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
