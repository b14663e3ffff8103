//! A server that cannot prove who it is gets nothing, and nobody hangs on it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};
use tillerman_protocol::model::FailureKind;

use crate::asking::{config, events, only_failure};

/// How a server treats its one connection.
type Answer = fn(TcpStream) -> Vec<u8>;

/// Serves one connection and returns what was read from it in the clear.
fn serve(answer: Answer) -> (String, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("https://{}", listener.local_addr().unwrap());
    (base_url, std::thread::spawn(move || answer(listener.accept().unwrap().0)))
}

fn speak_plain_http(mut socket: TcpStream) -> Vec<u8> {
    // The client may hang up as soon as it sees what this is.
    drop(socket.read(&mut [0; 4_096]));
    drop(socket.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"));
    Vec::new()
}

fn show_an_untrusted_certificate(mut socket: TcpStream) -> Vec<u8> {
    // A key for this test alone; the certificate is signed by itself.
    let key = PrivatePkcs8KeyDer::from(&include_bytes!("../../testdata/untrusted.key.der")[..]);
    let cert = CertificateDer::from(&include_bytes!("../../testdata/untrusted.cert.der")[..]);
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert], key.into())
        .unwrap();
    let mut session = ServerConnection::new(Arc::new(config)).unwrap();
    let mut received = Vec::new();
    drop(rustls::Stream::new(&mut session, &mut socket).read_to_end(&mut received));
    received
}

#[tokio::test]
async fn tls_failures_are_named_and_nothing_is_sent() {
    let cases: [(Answer, &str); 2] =
        [(speak_plain_http, "corrupt message"), (show_an_untrusted_certificate, "certificate")];
    for (answer, cause) in cases {
        let (base_url, server) = serve(answer);
        let events = events(config(&base_url)).await;
        let failure = only_failure(&events);
        assert_eq!(failure.kind, FailureKind::Tls, "{}", failure.message);
        assert!(failure.message.contains(cause), "{}", failure.message);
        assert!(!failure.kind.is_transient());
        assert!(server.join().unwrap().is_empty());
    }
}
