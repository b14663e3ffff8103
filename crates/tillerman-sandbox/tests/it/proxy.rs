//! The egress proxy over its socket: what servers and clients get to see of each other.

use std::io::{self, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tempfile::TempDir;
use tillerman_ports::BoxFuture;
use tillerman_sandbox::egress::{EgressProxy, Outside, Resolve, TrustedRoots};
use tillerman_sandbox::{PrivateAddresses, ProxyRules, Upstream};

use crate::world::block_on;

/// Longer than anything here takes.
const LONGEST: Duration = Duration::from_secs(10);

/// Every name leads to this machine.
#[derive(Debug)]
struct Here;

impl Resolve for Here {
    fn resolve(&self, _name: String, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]) })
    }
}

/// A proxy that lets everything through to good.test, on a thread that ends with it.
struct Proxy {
    proxy: EgressProxy,
    _life: tokio::sync::oneshot::Sender<()>,
    _directory: TempDir,
}

impl Proxy {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let rules = ProxyRules {
            allowed: vec!["good.test".to_owned()],
            denied: Vec::new(),
            private_addresses: PrivateAddresses::Allowed,
            upstream: Upstream::BuiltIn,
        };
        let outside = Outside { resolver: Arc::new(Here), roots: TrustedRoots::System };
        let socket = directory.path().join("egress");
        let (life, end) = tokio::sync::oneshot::channel();
        let (sender, started) = channel();
        std::thread::spawn(move || {
            block_on(async {
                sender.send(EgressProxy::start(socket, &rules, &outside, &[]).unwrap()).unwrap();
                drop(end.await);
            });
        });
        Self { proxy: started.recv().unwrap(), _life: life, _directory: directory }
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.proxy.socket()).unwrap();
        stream.set_read_timeout(Some(LONGEST)).unwrap();
        stream
    }

    /// Sends everything at once and returns everything that comes back.
    fn say(&self, request: &str) -> String {
        let mut stream = self.connect();
        // Who is refused early may be hung up on.
        drop(stream.write_all(request.as_bytes()));
        drop(stream.shutdown(Shutdown::Write));
        rest(&mut stream)
    }
}

fn rest(stream: &mut impl io::Read) -> String {
    let mut said = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(read) if read > 0 => said.extend(&piece[..read]),
            // A connection with something unread is reset, after what was said.
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error}: {}", String::from_utf8_lossy(&said)),
        }
    }
    String::from_utf8(said).unwrap()
}

/// Reads until this was said.
fn until(stream: &mut impl io::Read, end: &str) -> String {
    let mut said = String::new();
    let mut byte = [0];
    while !said.ends_with(end) {
        match stream.read(&mut byte) {
            Ok(1) => said.push(char::from(byte[0])),
            Ok(_) | Err(_) => panic!("{end:?} was not said: {said:?}"),
        }
    }
    said
}

/// A server that does this with every connection; what it returns can be received.
fn server(attend: impl Fn(&mut TcpStream) -> String + Send + 'static) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            stream.set_read_timeout(Some(LONGEST)).unwrap();
            if sender.send(attend(&mut stream)).is_err() {
                break;
            }
        }
    });
    (port, receiver)
}

/// A server that hears a request out up to `end` and answers with this.
fn answering(end: &'static str, answer: &'static str) -> (u16, Receiver<String>) {
    server(move |stream| {
        let said = until(stream, end);
        stream.write_all(answer.as_bytes()).unwrap();
        // Whatever came after it would be heard here.
        stream.shutdown(Shutdown::Write).unwrap();
        said + &rest(stream)
    })
}

const NOTHING: &str = "HTTP/1.1 204 No Content\r\n\r\n";

#[test]
fn a_plain_request_names_one_host_only() {
    let proxy = Proxy::start();
    let (port, heard) = answering("\r\n\r\n", "HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok");
    let answer = proxy.say(&format!(
        "GET http://good.test:{port}?b HTTP/1.1\r\nHost: other.org\r\nProxy-Authorization: x\r\n\
         aCCept: */*\r\nConnection: keep-alive, X-Hop\r\nX-Hop: here\r\nTE: trailers\r\n\
         Upgrade: websocket\r\nKeep-Alive: 5\r\nX-Same: a\r\nX-Same: b\r\n\r\n"
    ));
    assert_eq!(
        heard.recv().unwrap(),
        format!(
            "GET /?b HTTP/1.1\r\nHost: good.test:{port}\r\naCCept: */*\r\nX-Same: a\r\n\
             X-Same: b\r\nConnection: close\r\n\r\n"
        )
    );
    assert_eq!(answer, "HTTP/1.1 200 Fine\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
}

#[test]
fn a_tunnel_carries_everything_once_it_is_open() {
    let proxy = Proxy::start();
    let (port, heard) = server(|stream| {
        let said = until(stream, "early");
        stream.write_all(b"heard").unwrap();
        said + &rest(stream)
    });
    // Many clients still ask for tunnels in the old way, and some say how long nothing is.
    for (version, headers) in
        [("1.1", "Host: x\r\n"), ("1.0", ""), ("1.1", "Content-Length: 0\r\n")]
    {
        let mut stream = proxy.connect();
        write!(stream, "CONNECT good.test:{port} HTTP/{version}\r\n{headers}\r\nearly").unwrap();
        let said = until(&mut stream, "heard");
        assert_eq!(said, format!("HTTP/{version} 200 Connection established\r\n\r\nheard"));
        stream.write_all(b" and late").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(rest(&mut stream), "");
        assert_eq!(heard.recv().unwrap(), "early and late");
    }
    let answer = proxy.say("CONNECT good.test HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    assert!(answer.ends_with("tillerman sandbox: CONNECT needs a host and a port\n"), "{answer}");
    let answer = proxy.say("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(answer.contains("evil.test:443 is not among the allowed domains"), "{answer}");
    assert_eq!(proxy.proxy.take_violations().len(), 1);
}

#[test]
fn nothing_is_passed_on_beyond_the_end_of_a_body() {
    let proxy = Proxy::start();
    let next = "GET http://good.test:1/next HTTP/1.1\r\n\r\n";
    for (framing, body, passed) in [
        ("Content-Length: 0", "", "Content-Length: 0|Connection: close||"),
        ("Content-Length: 003", "abc", "Content-Length: 3|Connection: close||abc"),
        (
            "Content-Length: 3\r\nContent-Length: 3",
            "abc",
            "Content-Length: 3|Connection: close||abc",
        ),
        (
            "Transfer-Encoding: Chunked",
            "3;x=y\r\nabc\r\n0\r\nX-Trailer: x\r\n\r\n",
            "Transfer-Encoding: chunked|Connection: close||3|abc|0||",
        ),
        // Of two lengths one counts, and the other is not passed on.
        (
            "Content-Length: 90\r\nTransfer-Encoding: chunked\r\nContent-Length: 1",
            "3\r\nabc\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked|Connection: close||3|abc|0||",
        ),
    ] {
        let (port, heard) = server(|stream| {
            let mut said = until(stream, "\r\n\r\n");
            let body = if said.contains("chunked") { "0\r\n\r\n" } else { "abc" };
            if !said.contains("Length: 0") {
                said += &until(stream, body);
            }
            stream.write_all(NOTHING.as_bytes()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            said + &rest(stream)
        });
        for method in ["POST", "GET"] {
            let request =
                format!("{method} http://good.test:{port}/ HTTP/1.1\r\n{framing}\r\n\r\n");
            let answer = proxy.say(&format!("{request}{body}{next}"));
            assert!(answer.starts_with("HTTP/1.1 204 No Content\r\n"), "{framing}: {answer}");
            assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{framing}: {answer}");
            let head = format!("{method} / HTTP/1.1|Host: good.test:{port}|");
            let heard = heard.recv().unwrap().replace("\r\n", "|");
            assert_eq!(heard, format!("{head}{passed}"), "{framing}");
        }
    }
}

#[test]
fn requests_that_could_hide_another_are_refused() {
    let proxy = Proxy::start();
    let (port, heard) = answering("\r\n\r\n", NOTHING);
    let good = format!("http://good.test:{port}/");
    for (request, why) in [
        ("GET / HTTP/1.1|Host: good.test||", "only http:// addresses and CONNECT are carried"),
        ("GET https://good.test/ HTTP/1.1||", "only http:// addresses and CONNECT are carried"),
        ("GET http:/// HTTP/1.1||", ""),
        ("GET GOOD HTTP/2||", ""),
        ("GET GOOD b HTTP/1.1||", ""),
        ("GET GOOD\nX:b HTTP/1.1||", ""),
        ("GET\nX:b GOOD HTTP/1.1||", ""),
        ("GET GOOD HTTP/1.1|X: a\rY: b||", ""),
        (
            "POST GOOD HTTP/1.1|Transfer-Encoding: gzip, chunked||0||",
            "length of the body is unclear",
        ),
        (
            "POST GOOD HTTP/1.1|Transfer-Encoding: gzip|Transfer-Encoding: chunked||0||",
            "length of the body is unclear",
        ),
        ("POST GOOD HTTP/1.1|Transfer-Encoding: chunked, gzip||0||", ""),
        ("POST GOOD HTTP/1.0|Transfer-Encoding: chunked||0||", ""),
        ("POST GOOD HTTP/1.1|Content-Length: 1|Content-Length: 2||ab", ""),
        ("POST GOOD HTTP/1.1|Content-Length: x||", ""),
        ("POST GOOD HTTP/1.1|Content-Length: +1||a", ""),
        ("GET GOOD HTTP/1.1|Bad Name: x||", ""),
        ("GET GOOD HTTP/1.1|Name : x||", ""),
        ("GET GOOD HTTP/1.1|X: a| folded: x||", ""),
    ] {
        let request = request.replace('|', "\r\n").replace("GOOD", &good);
        let answer = proxy.say(&request);
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{request}: {answer}");
        assert!(answer.contains(why), "{request}: {answer}");
    }
    assert!(heard.try_recv().is_err());
    // What is let through is written anew, so that nobody sees another line than the proxy did.
    let answer = proxy.say(&format!("GET {good} HTTP/1.1\r\nX: a\nY: b\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    let heard = heard.recv().unwrap();
    assert!(heard.contains("\r\nX: a\r\nY: b\r\nConnection: close\r\n\r\n"), "{heard:?}");
}

#[test]
fn heads_have_a_limit() {
    let proxy = Proxy::start();
    let (port, heard) = answering("\r\n\r\n", NOTHING);
    let start = format!("GET http://good.test:{port}/ HTTP/1.1\r\n");
    for headers in ["X: y\r\n".repeat(300), format!("X: {}\r\n", "y".repeat(40_000))] {
        let answer = proxy.say(&format!("{start}{headers}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"), "{answer}");
    }
    assert!(heard.try_recv().is_err());
    let answer = proxy.say(&format!("{start}{}\r\n", "X: y\r\n".repeat(150)));
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    assert_eq!(heard.recv().unwrap().matches("X: y\r\n").count(), 150);

    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(300));
    let (port, _heard) = answering("\r\n\r\n", many.leak());
    let answer = proxy.say(&format!("GET http://good.test:{port}/ HTTP/1.1\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{answer}");
}

#[test]
fn what_is_no_body_reaches_no_end() {
    let proxy = Proxy::start();
    for body in [
        "3\r\nab",
        "3\r\nabcd\r\n0\r\n\r\n",
        "+3\r\nabc\r\n0\r\n\r\n",
        "\r\nabc\r\n0\r\n\r\n",
        "0\r\n",
        "11111111111111111\r\na",
    ] {
        let (port, heard) = server(rest);
        let head = format!("POST http://good.test:{port}/ HTTP/1.1\r\n");
        let answer = proxy.say(&format!("{head}Transfer-Encoding: chunked\r\n\r\n{body}"));
        assert_eq!(answer, "", "{body:?}");
        let heard = heard.recv().unwrap();
        assert!(!heard.contains("\r\n0\r\n"), "{body:?}: {heard:?}");
    }
    let (port, heard) = server(rest);
    let head = format!("POST http://good.test:{port}/ HTTP/1.1\r\n");
    assert_eq!(proxy.say(&format!("{head}Content-Length: 4\r\n\r\nabc")), "");
    assert!(heard.recv().unwrap().ends_with("\r\n\r\nabc"));
}

#[test]
fn answers_end_where_they_say() {
    let proxy = Proxy::start();
    for (method, answer, passed) in [
        (
            "GET",
            "200 OK|Content-Length: 3||abcd",
            "200 OK|Content-Length: 3|Connection: close||abc",
        ),
        (
            "GET",
            "200 OK|Content-Length: 9|Transfer-Encoding: chunked||3|abc|0|X: y||",
            "200 OK|Connection: close|Transfer-Encoding: chunked||3|abc|0||",
        ),
        (
            "GET",
            "200 OK||until closed",
            "200 OK|Connection: close|Transfer-Encoding: chunked||C|until closed|0||",
        ),
        (
            "HEAD",
            "200 OK|Content-Length: 9|Content-Length: 9||",
            "200 OK|Content-Length: 9|Connection: close||",
        ),
        ("GET", "204 Empty||", "204 Empty|Connection: close||"),
        ("GET", "304 Same|ETag: x|Content-Length: 9||", "304 Same|ETag: x|Connection: close||"),
        (
            "GET",
            "103 Soon|Link: x||HTTP/1.1 599 Odd|Content-Length: 0||",
            "599 Odd|Connection: close|Content-Length: 0||",
        ),
        (
            "GET",
            "200 OK|Connection: X-Hop|X-Hop: y|Keep-Alive: z|Proxy-Authenticate: w|Upgrade: v|\
             Content-Length: 0||",
            "200 OK|Connection: close|Content-Length: 0||",
        ),
    ] {
        let said = format!("HTTP/1.1 {answer}").replace('|', "\r\n");
        let (port, _heard) = answering("\r\n\r\n", said.leak());
        let request = format!("{method} http://good.test:{port}/ HTTP/1.1\r\n\r\n");
        let heard = proxy.say(&request).replace("\r\n", "|");
        assert_eq!(heard, format!("HTTP/1.1 {passed}"), "{answer}");
    }
}

#[test]
fn what_is_no_answer_is_told_apart() {
    let proxy = Proxy::start();
    for answer in [
        "",
        "SSH-2.0",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 999 x\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    ] {
        let (port, _heard) = answering("\r\n\r\n", answer);
        let heard = proxy.say(&format!("GET http://good.test:{port}/ HTTP/1.1\r\n\r\n"));
        assert!(heard.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{answer}: {heard}");
        assert!(heard.contains("gave no answer that makes sense"), "{answer}: {heard}");
    }
    // One that promises for ever is not heard out.
    let (port, _heard) = server(|stream| {
        let said = until(stream, "\r\n\r\n");
        stream.write_all("HTTP/1.1 103 Soon\r\n\r\n".repeat(9).as_bytes()).unwrap();
        said + &rest(stream)
    });
    let heard = proxy.say(&format!("GET http://good.test:{port}/ HTTP/1.1\r\n\r\n"));
    assert!(heard.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{heard}");
    // An answer that breaks off does not look whole.
    let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
    let (port, _heard) = answering("\r\n\r\n", answer);
    let heard = proxy.say(&format!("GET http://good.test:{port}/ HTTP/1.1\r\n\r\n"));
    assert!(!heard.ends_with("0\r\n\r\n"), "{heard:?}");
}

#[test]
fn a_body_is_asked_for_when_the_server_wants_it() {
    let proxy = Proxy::start();
    let ask = |port: u16| {
        let mut stream = proxy.connect();
        let head = format!("POST http://good.test:{port}/ HTTP/1.1\r\nContent-Length: 3\r\n");
        write!(stream, "{head}Expect: 100-continue\r\n\r\n").unwrap();
        stream
    };
    let (port, heard) = server(|stream| {
        let head = until(stream, "\r\n\r\n");
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
        let body = until(stream, "abc");
        stream.write_all(NOTHING.as_bytes()).unwrap();
        head + &body
    });
    let mut stream = ask(port);
    assert_eq!(until(&mut stream, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"abc").unwrap();
    assert!(rest(&mut stream).starts_with("HTTP/1.1 204"));
    assert!(heard.recv().unwrap().contains("\r\nExpect: 100-continue\r\n"));

    // One that does not want it is not sent any of it.
    let refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n";
    let (port, heard) = answering("\r\n\r\n", refusal);
    let mut stream = ask(port);
    assert!(rest(&mut stream).starts_with("HTTP/1.1 413"));
    assert!(heard.recv().unwrap().ends_with("\r\n\r\n"));

    // One that knows nothing of this gets it all the same.
    let (port, _heard) = server(|stream| {
        let said = until(stream, "abc");
        stream.write_all(NOTHING.as_bytes()).unwrap();
        said
    });
    let mut stream = ask(port);
    assert_eq!(until(&mut stream, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"abc").unwrap();
    assert!(rest(&mut stream).starts_with("HTTP/1.1 204"));
}

#[test]
fn an_answer_may_come_before_the_body_has_been_sent() {
    let proxy = Proxy::start();
    let (port, _heard) = server(|stream| {
        let said = until(stream, "first");
        let answer = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno";
        stream.write_all(answer.as_bytes()).unwrap();
        said + &rest(stream)
    });
    let mut stream = proxy.connect();
    let head = format!("POST http://good.test:{port}/ HTTP/1.1\r\nContent-Length: 99999999\r\n");
    write!(stream, "{head}\r\nfirst").unwrap();
    // The connection ends with the answer, though the client would go on.
    let answer = rest(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nno"), "{answer}");
}

#[test]
fn a_server_that_has_heard_enough_says_why() {
    let proxy = Proxy::start();
    let (port, _heard) = server(|stream| {
        let said = until(stream, "first");
        let answer = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno";
        stream.write_all(answer.as_bytes()).unwrap();
        said
    });
    // Whether it hangs up while something is being sent is chance.
    for _ in 0..20 {
        let mut stream = proxy.connect();
        let mut sending = stream.try_clone().unwrap();
        let head = format!("POST http://good.test:{port}/ HTTP/1.1\r\nContent-Length: 9999999");
        let writer = std::thread::spawn(move || {
            drop(write!(sending, "{head}\r\n\r\nfirst{}", "x".repeat(9_999_994)));
        });
        let answer = rest(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 413 Content Too Large\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nno"), "{answer}");
        writer.join().unwrap();
    }
}

#[test]
fn an_old_client_is_answered_once_and_without_chunks() {
    let proxy = Proxy::start();
    let (port, heard) = answering("\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nuntil closed");
    let request =
        format!("GET http://good.test:{port}/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let answer = proxy.say(&request.repeat(2));
    assert!(answer.starts_with("HTTP/1.0 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nuntil closed"), "{answer}");
    assert_eq!(answer.matches("200 OK").count(), 1, "{answer}");
    assert!(heard.recv().unwrap().starts_with("GET / HTTP/1.1\r\n"));
    assert!(heard.try_recv().is_err());
}
