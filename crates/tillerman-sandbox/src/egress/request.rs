//! Requests of clients, as far as the proxy understands them.

use super::body::Framing;
use super::rules::split_port;

/// A request whose head has been read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Its method; `CONNECT` asks for a tunnel.
    pub(crate) method: String,
    /// The host it names.
    pub(crate) host: String,
    /// The port it names, or the usual one.
    pub(crate) port: u16,
    /// Host and port as they were written.
    pub(crate) authority: String,
    /// What it wants of the host.
    pub(crate) path: String,
    /// The headers that concern the server, those about its body left out.
    pub(crate) headers: Vec<(String, String)>,
    /// How its body ends.
    pub(crate) body: Framing,
}

impl Request {
    /// Reads a head up to and with its empty line.
    pub(crate) fn parse(head: &[u8]) -> Result<Self, &'static str> {
        let head = std::str::from_utf8(head).map_err(|_| "the head of the request is no text")?;
        let mut lines = head.trim_end_matches("\r\n").split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("the request line is not HTTP/1.1");
        };
        if !method.chars().all(is_token) || target.chars().any(char::is_control) {
            return Err("the request line is malformed");
        }
        if method == "CONNECT" {
            let Some((host, Some(port))) = split_port(target) else {
                return Err("CONNECT needs a host and a port");
            };
            return Ok(Self {
                method: method.to_owned(),
                host: host.to_owned(),
                port,
                authority: target.to_owned(),
                path: String::new(),
                headers: Vec::new(),
                body: Framing::Empty,
            });
        }
        let Some(rest) = target.strip_prefix("http://") else {
            return Err("only http:// addresses and CONNECT are carried");
        };
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        let Some((host, port)) = split_port(authority).filter(|(host, _)| !host.is_empty()) else {
            return Err("the address has no host");
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        let headers = lines.map(header).collect::<Result<Vec<_>, _>>()?;
        let body = framing(&headers)?;
        Ok(Self {
            method: method.to_owned(),
            host: host.to_owned(),
            port: port.unwrap_or(80),
            authority: authority.to_owned(),
            path: format!("{slash}{path}"),
            headers: for_the_server(&headers),
            body,
        })
    }

    /// Whether it asks for a tunnel.
    pub(crate) fn is_tunnel(&self) -> bool {
        self.method == "CONNECT"
    }

    /// The head for a server that knows itself by this name, with these headers.
    pub(crate) fn head<'a>(
        &self,
        authority: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: {authority}\r\n", self.method, self.path);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        match self.body {
            Framing::Length(length) => head.push_str(&format!("Content-Length: {length}\r\n")),
            Framing::Chunked => head.push_str("Transfer-Encoding: chunked\r\n"),
            Framing::Empty | Framing::UntilClosed => {}
        }
        head.push_str("Connection: close\r\n\r\n");
        head
    }
}

fn header(line: &str) -> Result<(String, String), &'static str> {
    let Some((name, value)) = line.split_once(':') else {
        return Err("a header has no colon");
    };
    if name.is_empty() || !name.chars().all(is_token) || value.contains(['\r', '\n', '\0']) {
        return Err("a header is malformed");
    }
    Ok((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()))
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// How the body ends. A server that counts differently would see a second request in it.
fn framing(headers: &[(String, String)]) -> Result<Framing, &'static str> {
    let mut framing = Framing::Empty;
    for (name, value) in headers {
        let found = match name.to_ascii_lowercase().as_str() {
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => Framing::Chunked,
            "content-length" if value.chars().all(|c| c.is_ascii_digit()) => {
                Framing::Length(value.parse().map_err(|_| UNCLEAR)?)
            }
            "transfer-encoding" | "content-length" => return Err(UNCLEAR),
            _ => continue,
        };
        if framing != Framing::Empty && framing != found {
            return Err(UNCLEAR);
        }
        framing = found;
    }
    Ok(framing)
}

const UNCLEAR: &str = "the length of the body is unclear";

/// Leaves out what concerns only the connection to the proxy, and what says how the body ends.
fn for_the_server(headers: &[(String, String)]) -> Vec<(String, String)> {
    let named = |name: &str| {
        let connection = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
        let mut options = connection.flat_map(|(_, value)| value.split(','));
        options.any(|option| option.trim().eq_ignore_ascii_case(name))
    };
    let concerns = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let ours = [
            "host",
            "connection",
            "keep-alive",
            "upgrade",
            "te",
            "trailer",
            "transfer-encoding",
            "content-length",
        ];
        !ours.contains(&lower.as_str()) && !lower.starts_with("proxy-") && !named(name)
    };
    headers.iter().filter(|(name, _)| concerns(name)).cloned().collect()
}

#[cfg(test)]
mod tests;
