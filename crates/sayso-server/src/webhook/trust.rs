//! Whose certificates receivers may have, and what is wrong with one that is refused.

use crate::error::Error;
use crate::tls::certificates;
use std::error::Error as StdError;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{self, CertificateError, ClientConfig, RootCertStore};

/// Those that the system trusts, and those that the owner names beside them. `None`: nobody is trusted.
pub(super) fn config(own: Option<&Path>) -> Result<Option<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    // One of the system's that cannot be read is one less to trust.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = own {
        for certificate in certificates(path)? {
            roots.add(certificate).map_err(|error| Error::Certificate(path.to_owned(), error.to_string()))?;
        }
    }
    if roots.is_empty() {
        return Ok(None);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Io("speak TLS", io::Error::other(error)))?;
    Ok(Some(config.with_root_certificates(roots).with_no_client_auth()))
}

/// Why a message did not reach its receiver, and what to do.
pub(super) fn why(error: &(dyn StdError + 'static), host: &str) -> String {
    use CertificateError as Bad;
    match fault(error) {
        None => format!("it cannot be reached: {}", chain(error)),
        // Or of an authority that has the name of a trusted one, and not its key.
        Some(Bad::UnknownIssuer | Bad::BadSignature) => {
            "its certificate is of nobody that this machine trusts. If your own authority made \
             it, name that one's certificate: sayso serve --webhook-ca FILE"
                .to_owned()
        }
        Some(Bad::NotValidForName | Bad::NotValidForNameContext { .. }) => {
            format!(
                "its certificate is not for `{host}`. Use the name in the certificate, or a certificate for this name"
            )
        }
        Some(Bad::Expired | Bad::ExpiredContext { .. }) => "its certificate has expired. Renew it".to_owned(),
        Some(Bad::NotValidYet | Bad::NotValidYetContext { .. }) => {
            "its certificate is not valid yet. Check the clocks of both machines".to_owned()
        }
        Some(other) => format!(
            "its certificate is not good ({other}). Have one made by an authority that this machine trusts, or by your \
             own: sayso serve --webhook-ca FILE"
        ),
    }
}

/// What is wrong with a certificate, if that is what is wrong. Errors stand in each other, some where `source` does not
/// look.
fn fault<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a CertificateError> {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(rustls::Error::InvalidCertificate(fault)) = error.downcast_ref() {
            return Some(fault);
        }
        at = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

/// An error with its causes: the outermost alone says little.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ")
}
