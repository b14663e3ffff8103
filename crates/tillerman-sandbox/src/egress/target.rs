//! Where the requests of clients want to go.

use hyper::Method;
use hyper::http::request::Parts;

use super::rules::split_port;

/// Where a request wants to go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The host it names.
    pub(crate) host: String,
    /// The port it names, or the usual one.
    pub(crate) port: u16,
    /// Host and port as they were written.
    pub(crate) authority: String,
    /// Whether it asks for a tunnel.
    pub(crate) is_tunnel: bool,
}

impl Target {
    /// Reads the address of a request. Only this counts, whatever its headers claim.
    pub(crate) fn of(request: &Parts) -> Result<Self, &'static str> {
        let is_tunnel = request.method == Method::CONNECT;
        if !is_tunnel && request.uri.scheme_str() != Some("http") {
            return Err("only http:// addresses and CONNECT are carried");
        }
        let authority = request.uri.authority().map(ToString::to_string).unwrap_or_default();
        let (host, port) = match split_port(&authority) {
            Some((host, Some(port))) if is_tunnel => (host.to_owned(), port),
            Some(_) | None if is_tunnel => return Err("CONNECT needs a host and a port"),
            Some((host, port)) if !host.is_empty() => (host.to_owned(), port.unwrap_or(80)),
            Some(_) | None => return Err("the address has no host"),
        };
        Ok(Self { host, port, authority, is_tunnel })
    }
}
