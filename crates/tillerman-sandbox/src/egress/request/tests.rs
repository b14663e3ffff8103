//! Requests as they are passed on, and requests that are not.

use super::{Framing, Request};

fn parse(head: &str) -> Result<Request, &'static str> {
    Request::parse(head.replace('\n', "\r\n").replace("<LF>", "\n").as_bytes())
}

fn passed_on(request: &Request) -> String {
    let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    request.head(&request.authority, headers)
}

#[test]
fn a_plain_request_names_one_host_only() {
    let request = parse(
        "GET http://example.com:8080/a?b HTTP/1.1\nHost: other.org\nProxy-Authorization: x\n\
         Accept: */*\nConnection: keep-alive, X-Hop\nX-Hop: here\n\n",
    )
    .unwrap();
    assert_eq!((request.host.as_str(), request.port), ("example.com", 8080));
    assert_eq!(request.body, Framing::Empty);
    assert_eq!(
        passed_on(&request),
        "GET /a?b HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    );
}

#[test]
fn a_tunnel_needs_a_port() {
    let request = parse("CONNECT example.com:443 HTTP/1.1\nHost: x\n\n").unwrap();
    assert_eq!((request.host.as_str(), request.port), ("example.com", 443));
    assert!(request.is_tunnel());
    assert!(parse("CONNECT example.com HTTP/1.1\n\n").is_err());
}

#[test]
fn a_body_ends_where_its_head_says() {
    let request = parse("POST http://a?b HTTP/1.1\nContent-Length: 0\n\n").unwrap();
    assert_eq!(request.body, Framing::Length(0));
    assert!(passed_on(&request).starts_with("POST /?b HTTP/1.1\r\nHost: a\r\nContent-Length: 0"));
    let request = parse("POST http://a/ HTTP/1.1\nTransfer-Encoding: Chunked\n\n").unwrap();
    assert_eq!(request.body, Framing::Chunked);
}

#[test]
fn requests_that_could_hide_another_are_refused() {
    for head in [
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET https://a/ HTTP/1.1\n\n",
        "GET http:/// HTTP/1.1\n\n",
        "GET http://a/ HTTP/2\n\n",
        "GET http://a/ b HTTP/1.1\n\n",
        "GET http://a/<LF>X:b HTTP/1.1\n\n",
        "GET<LF>X:b http://a/ HTTP/1.1\n\n",
        "GET http://a/ HTTP/1.1\nX: a<LF>Y: b\n\n",
        "POST http://a/ HTTP/1.1\nTransfer-Encoding: gzip, chunked\n\n",
        "POST http://a/ HTTP/1.1\nTransfer-Encoding: chunked\nContent-Length: 1\n\n",
        "POST http://a/ HTTP/1.1\nContent-Length: 1\nContent-Length: 2\n\n",
        "POST http://a/ HTTP/1.1\nContent-Length: x\n\n",
        "POST http://a/ HTTP/1.1\nContent-Length: +1\n\n",
        "GET http://a/ HTTP/1.1\nBad Name: x\n\n",
        "GET http://a/ HTTP/1.1\n folded: x\n\n",
    ] {
        assert!(parse(head).is_err(), "{head}");
    }
}
