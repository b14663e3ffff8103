//! Requests as they are passed on, and requests that are not.

use super::Request;

fn parse(head: &str) -> Result<Request, &'static str> {
    Request::parse(head.replace('\n', "\r\n").as_bytes())
}

#[test]
fn a_plain_request_names_one_host_only() {
    let request = parse(
        "GET http://example.com:8080/a?b HTTP/1.1\nHost: other.org\nProxy-Authorization: x\n\
         Accept: */*\nConnection: keep-alive\n\n",
    )
    .unwrap();
    assert_eq!((request.host.as_str(), request.port, request.body), ("example.com", 8080, 0));
    let forward = String::from_utf8(request.forward.unwrap()).unwrap();
    assert_eq!(
        forward,
        "GET /a?b HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    );
}

#[test]
fn a_tunnel_needs_a_port() {
    let request = parse("CONNECT example.com:443 HTTP/1.1\nHost: x\n\n").unwrap();
    assert_eq!((request.host.as_str(), request.port, request.forward), ("example.com", 443, None));
    assert!(parse("CONNECT example.com HTTP/1.1\n\n").is_err());
}

#[test]
fn requests_that_could_hide_another_are_refused() {
    for head in [
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET https://a/ HTTP/1.1\n\n",
        "GET http:/// HTTP/1.1\n\n",
        "GET http://a/ HTTP/2\n\n",
        "GET http://a/ b HTTP/1.1\n\n",
        "POST http://a/ HTTP/1.1\nTransfer-Encoding: chunked\n\n",
        "POST http://a/ HTTP/1.1\nContent-Length: 1\nContent-Length: 2\n\n",
        "POST http://a/ HTTP/1.1\nContent-Length: x\n\n",
        "GET http://a/ HTTP/1.1\nBad Name: x\n\n",
        "GET http://a/ HTTP/1.1\n folded: x\n\n",
    ] {
        assert!(parse(head).is_err(), "{head}");
    }
}
