//! Receivers over https, with certificates of an authority that the tests make.

use super::*;
use crate::tls::{Certificate, acceptor};
use std::process::Command;

/// An authority, and certificates that it made.
struct Authority {
    folder: tempfile::TempDir,
}

impl Authority {
    fn new(name: &str) -> Self {
        let it = Self { folder: tempfile::tempdir().unwrap() };
        let subject = ["-subj", &format!("/CN={name}"), "-keyout", "ca.key", "-out", "ca.pem"];
        it.openssl(&[&["req", "-x509", "-nodes", "-days", "2", "-newkey"][..], &EC, &subject].concat());
        it
    }

    fn openssl(&self, arguments: &[&str]) {
        let made = Command::new("openssl").args(arguments).current_dir(self.folder.path()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// A receiver with a certificate for this name.
    async fn receiver(&self, name: &str, statuses: Vec<u16>) -> (String, mpsc::UnboundedReceiver<Got>) {
        let subject = ["-subj", "/CN=receiver", "-keyout", "leaf.key", "-out", "leaf.csr"];
        self.openssl(&[&["req", "-nodes", "-newkey"][..], &EC, &subject].concat());
        std::fs::write(self.folder.path().join("names"), format!("subjectAltName=DNS:{name}")).unwrap();
        let signing = ["x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
        self.openssl(&[&signing[..], &["-days", "2", "-extfile", "names", "-out", "leaf.pem"]].concat());
        let at = |name: &str| self.folder.path().join(name);
        let acceptor = acceptor(&Certificate { chain: at("leaf.pem"), key: at("leaf.key") }).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}/hooks/secret", listener.local_addr().unwrap().port());
        let (accepted, streams) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                // A client that does not like the certificate goes away.
                let Ok(stream) = acceptor.accept(listener.accept().await.unwrap().0).await else { continue };
                if accepted.send(stream).is_err() {
                    return;
                }
            }
        });
        (url, receive(statuses, streams))
    }
}

const EC: [&str; 3] = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];

#[tokio::test]
async fn a_receiver_of_ones_own_authority_is_told_over_https() {
    let (server, ours) = (Server::new(ASKING), Authority::new("ours"));
    let (url, mut got) = ours.receiver("localhost", vec![302]).await;
    let mut said = server.tells_trusting(&[hook("alice", &url)], Some(&ours.path()));
    let id = server.question(None, None).await;
    let first = got.recv().await.unwrap();
    assert_eq!((&first.body["approval"], first.head.lines().next()), (&json!(id), Some("POST /hooks/secret HTTP/1.1")));
    // It sent us elsewhere, where nobody listens; it is told again itself.
    let again = got.recv().await.unwrap();
    assert_eq!((again.link(), again.head.lines().next()), (first.link(), Some("POST /hooks/secret HTTP/1.1")));
    let news = said.recv().await.unwrap();
    assert!(news.contains("it redirects (HTTP 302), which is not followed. Use its final address."), "{news}");
    assert!(news.starts_with("webhook for alice at https://localhost:") && !news.contains("secret"), "{news}");
    assert!(said.recv().await.unwrap().ends_with(": works again."));
    assert_eq!(server.link("answer", json!({"link": again.link(), "verdict": "allow"})).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_wrong_certificate_is_refused_and_the_owner_is_told_what_to_do() {
    let [ours, theirs, imitation] = ["ours", "theirs", "ours"].map(Authority::new);
    let untrusted = "of nobody that this machine trusts. If your own authority made it, name that one's certificate: \
                     sayso serve --webhook-ca FILE.";
    let cases = [
        (&theirs, "localhost", untrusted),
        (&imitation, "localhost", untrusted),
        (&ours, "other.example", "its certificate is not for `localhost`. Use the name in the certificate"),
    ];
    for (made_by, name, told) in cases {
        let server = Server::new(ASKING);
        let (url, mut got) = made_by.receiver(name, Vec::new()).await;
        let mut said = server.tells_trusting(&[hook("alice", &url)], Some(&ours.path()));
        let id = server.question(None, None).await;
        let news = said.recv().await.unwrap();
        assert!(news.contains(told), "{news}");
        assert!(got.try_recv().is_err(), "nothing of the question left this machine");
        assert_eq!(server.standing(&id).await, "pending");
    }
}

#[tokio::test]
async fn an_authority_that_is_none_is_refused_at_the_start() {
    let server = Server::new(ASKING);
    let folder = tempfile::tempdir().unwrap();
    let (empty, missing) = (folder.path().join("empty.pem"), folder.path().join("missing.pem"));
    std::fs::write(&empty, "no certificate\n").unwrap();
    for (path, why) in [(&empty, "there is no certificate in it"), (&missing, "missing.pem: ")] {
        let hooks = [hook("alice", "https://chat.example/x")];
        let refused = Webhooks::new(&server.app, &hooks, Some(path), BASE, Box::new(|_| {})).err().unwrap();
        assert!(refused.to_string().contains(why), "{refused}");
    }
}
