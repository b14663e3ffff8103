//! A server that speaks HTTPS and remembers what it was asked, for hosts that exist in tests only.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tillerman_ports::BoxFuture;
use tillerman_sandbox::egress::{Outside, Resolve, TrustedRoots};

use crate::world::World;

/// For good.test, api.good.test and 127.0.0.1; a key for these tests alone, signed by itself.
const CERTIFICATE: &[u8] = include_bytes!("../../testdata/good.cert.pem");
const KEY: &[u8] = include_bytes!("../../testdata/good.key.pem");

/// A request as the server got it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and address.
    pub(crate) line: String,
    /// All headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body without its chunks.
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(held, _)| held == name).map(|(_, value)| value.as_str())
    }
}

/// How a server hangs up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goodbye {
    /// As TLS wants it.
    Said,
    /// Without a word.
    Unsaid,
}

/// A running server.
pub(crate) struct Upstream {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Upstream {
    /// Answers every request with what `answer` makes of it.
    pub(crate) fn start(answer: impl Fn(&Asked) -> Vec<u8> + Send + 'static) -> Self {
        Self::with_goodbye(Goodbye::Said, answer)
    }

    /// The same, and how it hangs up.
    pub(crate) fn with_goodbye(
        goodbye: Goodbye,
        answer: impl Fn(&Asked) -> Vec<u8> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let config = config();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever does not trust the certificate hangs up.
                drop(serve(stream, &config, &log, &answer, goodbye));
            }
        });
        Self { port, asked }
    }

    /// What it was asked since the last time.
    pub(crate) fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn config() -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()],
            PrivateKeyDer::from_pem_slice(KEY).unwrap(),
        );
    Arc::new(config.unwrap())
}

fn serve(
    stream: TcpStream,
    config: &Arc<ServerConfig>,
    log: &Mutex<Vec<Asked>>,
    answer: &impl Fn(&Asked) -> Vec<u8>,
    goodbye: Goodbye,
) -> io::Result<()> {
    let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(session, stream));
    let asked = read(&mut reader)?;
    let said = answer(&asked);
    log.lock().unwrap().push(asked);
    let stream = reader.get_mut();
    stream.write_all(&said)?;
    if goodbye == Goodbye::Said {
        stream.conn.send_close_notify();
    }
    stream.flush()
}

fn read(reader: &mut BufReader<impl Read>) -> io::Result<Asked> {
    let line = line(reader)?;
    let mut headers = Vec::new();
    loop {
        let header = self::line(reader)?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut asked = Asked { line, headers, body: Vec::new() };
    if let Some(length) = asked.header("content-length") {
        reader.take(length.parse().unwrap()).read_to_end(&mut asked.body)?;
    } else if asked.header("transfer-encoding").is_some() {
        loop {
            let size = u64::from_str_radix(&self::line(reader)?, 16).map_err(io::Error::other)?;
            reader.by_ref().take(size).read_to_end(&mut asked.body)?;
            self::line(reader)?;
            if size == 0 {
                break;
            }
        }
    }
    Ok(asked)
}

fn line(reader: &mut BufReader<impl Read>) -> io::Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// Names that lead to this machine: HTTPS to one port, everything else as it is.
#[derive(Debug)]
struct Names(u16);

impl Resolve for Names {
    fn resolve(&self, name: String, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        let port = if port == 443 { self.0 } else { port };
        let known = name == "evil.test" || name.ends_with("good.test");
        let found = known.then(|| vec![SocketAddr::from(([127, 0, 0, 1], port))]);
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

/// A world in which HTTPS to every name of the tests leads to this port.
pub(crate) fn world(port: u16) -> World {
    let trusted = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let roots = TrustedRoots::Only(vec![trusted.to_vec()]);
    World::with_outside(Outside { resolver: Arc::new(Names(port)), roots })
}

/// The same, with nobody who trusts the server.
pub(crate) fn doubtful_world(port: u16) -> World {
    let other = include_bytes!("../../../tillerman-models/testdata/untrusted.cert.der");
    let roots = TrustedRoots::Only(vec![other.to_vec()]);
    World::with_outside(Outside { resolver: Arc::new(Names(port)), roots })
}
