//! Answers as clients get them.

use super::{Answer, Framing};
use crate::egress::broker::loans::Service;
use crate::egress::broker::rewriting::Echo;
use crate::egress::rules::Host;

fn read(method: &str, head: &str) -> Option<Answer> {
    let lines: Vec<Vec<u8>> = head.lines().map(|line| line.as_bytes().to_vec()).collect();
    let service =
        |name: &str, port| Service { host: Host::Name(name.to_owned()), port, loans: Vec::new() };
    let services = [service("good.test", 443), service("odd.test", 8443)];
    let echo = Echo { sent: "the-secret".to_owned(), shown: "the-sentinel".to_owned() };
    Answer::read(&lines, method, &[echo], &services)
}

fn text(answer: Answer) -> String {
    String::from_utf8(answer.head).unwrap()
}

#[test]
fn secrets_that_come_back_are_taken_out_and_connections_are_ours() {
    let answer = read(
        "GET",
        "HTTP/1.1 200 the-secret\nContent-Length: 3\nX-Echo: a the-secret b\nConnection: X-Hop\n\
         X-Hop: y\nKeep-Alive: z\nProxy-Authenticate: w",
    );
    let answer = answer.unwrap();
    assert_eq!((answer.status, answer.body), (200, Framing::Length(3)));
    assert_eq!(
        text(answer),
        "HTTP/1.1 200 the-sentinel\r\nContent-Length: 3\r\nX-Echo: a the-sentinel b\r\n\
         Connection: close\r\n\r\n"
    );
}

#[test]
fn bodies_end_where_heads_say() {
    let body = |method: &str, head: &str| read(method, head).unwrap().body;
    assert_eq!(body("GET", "HTTP/1.1 200 OK"), Framing::UntilClosed);
    assert_eq!(body("GET", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked"), Framing::Chunked);
    assert_eq!(body("HEAD", "HTTP/1.1 200 OK\nContent-Length: 9"), Framing::Empty);
    assert_eq!(body("POST", "HTTP/1.1 100 Continue"), Framing::Empty);
    assert_eq!(body("GET", "HTTP/1.0 304 Same\nContent-Length: 9"), Framing::Empty);
    let both = "HTTP/1.1 200 OK\nContent-Length: 3\nTransfer-Encoding: chunked\nContent-Length: 3";
    assert_eq!(body("GET", both), Framing::Chunked);
}

#[test]
fn redirections_to_hosts_of_credentials_stay_with_the_broker() {
    for (to, leads) in [
        ("https://good.test/a", "http://good.test/a"),
        ("https://GOOD.test:443/a", "http://GOOD.test:443/a"),
        ("https://odd.test:8443", "http://odd.test:8443"),
        ("https://odd.test/", "https://odd.test/"),
        ("https://evil.test/good.test", "https://evil.test/good.test"),
        ("/relative", "/relative"),
    ] {
        let said = text(read("GET", &format!("HTTP/1.1 302 Found\nLocation: {to}")).unwrap());
        assert!(said.contains(&format!("Location: {leads}\r\n")), "{said}");
    }
}

#[test]
fn what_is_no_answer_is_none() {
    for head in ["", "SSH-2.0", "HTTP/2 200", "HTTP/1.1 999 x", "HTTP/1.1 200 OK\nno colon"] {
        assert_eq!(read("GET", head), None, "{head}");
    }
}
