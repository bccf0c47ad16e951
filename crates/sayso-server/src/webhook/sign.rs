//! A receiver must know that a message is from this server, is whole, and is new.

use crate::error::Error;
use hmac::{Hmac, Mac as _};
use sayso_gate::Places;
use sha2::Sha256;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

/// Where the secret is kept, in Sayso's own folder.
const FILE: &str = "webhook-secret";

/// What messages are signed with. Who has it can write messages, and answer none.
pub(crate) struct Secret(String);

impl Secret {
    /// The one that is kept, or a fresh one.
    pub(super) fn of(places: &Places) -> Result<Self, Error> {
        let path = places.own_folder("")?.join(FILE);
        let io = |error| Error::Io("keep the secret of webhooks", error);
        let mut text = String::new();
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                let mut bytes = [0_u8; 32];
                getrandom::fill(&mut bytes).map_err(|_| Error::NoRandomness)?;
                text = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io)?;
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let file = OpenOptions::new().read(true).open(&path).map_err(io)?;
                file.take(4096).read_to_string(&mut text).map_err(io)?;
            }
            Err(error) => return Err(io(error)),
        }
        let text = text.trim().to_owned();
        // An empty one signs nothing.
        if text.len() < 32 { Err(io(ErrorKind::InvalidData.into())) } else { Ok(Self(text)) }
    }

    /// What stands in the header `Sayso-Signature`.
    pub(super) fn sign(&self, id: &str, seconds: u64, body: &str) -> String {
        let made = mac(&self.0, id, seconds, body).map(|mac| mac.finalize().into_bytes());
        let hex: String = made.unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("v1={hex}")
    }
}

fn mac(secret: &str, id: &str, seconds: u64, body: &str) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(format!("{id}.{seconds}.{body}").as_bytes());
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_this_very_message() {
        let secret = Secret("key".repeat(12));
        let signed = secret.sign("a", 1, "body");
        for (id, seconds, body) in [("b", 1, "body"), ("a", 2, "body"), ("a", 1, "bodY"), ("a.1", 1, "body")] {
            assert_ne!(secret.sign(id, seconds, body), signed);
        }
        assert_ne!(Secret("kez".repeat(12)).sign("a", 1, "body"), signed);
    }

    #[test]
    fn a_secret_is_made_once_and_only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let places = Places::below(folder.path(), folder.path());
        let first = Secret::of(&places).unwrap();
        assert_eq!(first.0.len(), 64);
        assert_eq!(Secret::of(&places).unwrap().0, first.0);
        let path = places.own_folder("").unwrap().join(FILE);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "").unwrap();
        assert!(Secret::of(&places).is_err(), "an empty secret signs nothing");
    }
}
