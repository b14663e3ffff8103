//! Heads of answers: what stands for a secret in the place of the secret.

use super::loans::Service;
use super::rewriting::Echo;
use crate::egress::body::Framing;

/// The head of an answer as the client gets it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: Vec<u8>,
    pub(crate) body: Framing,
}

impl Answer {
    /// Reads the lines of a head. Nothing when it is no answer.
    pub(crate) fn read(
        lines: &[Vec<u8>],
        method: &str,
        echoes: &[Echo],
        services: &[Service],
    ) -> Option<Self> {
        let (first, lines) = lines.split_first()?;
        let status = status(first)?;
        let mut head = cleaned(first, echoes);
        head.extend_from_slice(b"\r\n");
        let mut body = Framing::UntilClosed;
        let connection = options(lines);
        for line in lines {
            let line = cleaned(line, echoes);
            let colon = line.iter().position(|byte| *byte == b':')?;
            let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
            let value = String::from_utf8_lossy(&line[colon + 1..]).trim().to_owned();
            match name.as_str() {
                "connection" | "keep-alive" | "upgrade" | "trailer" => continue,
                proxy if proxy.starts_with("proxy-") || connection.contains(&name) => continue,
                "transfer-encoding" if value.to_ascii_lowercase().ends_with("chunked") => {
                    body = Framing::Chunked;
                }
                "content-length" if body != Framing::Chunked => {
                    body = Framing::Length(value.parse().ok()?);
                }
                "content-length" => continue,
                "location" => {
                    head.extend_from_slice(&line[..colon]);
                    head.extend_from_slice(format!(": {}\r\n", inward(value, services)).as_bytes());
                    continue;
                }
                _ => {}
            }
            head.extend_from_slice(&line);
            head.extend_from_slice(b"\r\n");
        }
        if status >= 200 {
            head.extend_from_slice(b"Connection: close\r\n");
        }
        head.extend_from_slice(b"\r\n");
        let has_none = method == "HEAD" || matches!(status, 100..=199 | 204 | 304);
        Some(Self { status, head, body: if has_none { Framing::Empty } else { body } })
    }
}

fn status(line: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(line).ok()?;
    let rest = line.strip_prefix("HTTP/1.1 ").or_else(|| line.strip_prefix("HTTP/1.0 "))?;
    rest.get(..3)?.parse().ok().filter(|status| (100..600).contains(status))
}

/// The headers that the server says concern only its connection.
fn options(lines: &[Vec<u8>]) -> Vec<String> {
    let text = |line: &Vec<u8>| String::from_utf8_lossy(line).to_ascii_lowercase();
    let lines = lines.iter().map(text);
    let values = lines.filter_map(|line| line.strip_prefix("connection:").map(str::to_owned));
    values.flat_map(|it| it.split(',').map(|it| it.trim().to_owned()).collect::<Vec<_>>()).collect()
}

/// An address that leads the client back here, where its credential is lent, and not into a tunnel.
fn inward(location: String, services: &[Service]) -> String {
    let Some(rest) = location.strip_prefix("https://") else { return location };
    let (authority, _) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let authority = authority.strip_suffix(":443").unwrap_or(authority);
    if services.iter().any(|service| service.authority().eq_ignore_ascii_case(authority)) {
        return format!("http://{rest}");
    }
    location
}

/// A line without secrets.
fn cleaned(line: &[u8], echoes: &[Echo]) -> Vec<u8> {
    echoes.iter().fold(line.to_vec(), |line, echo| {
        replaced(&line, echo.sent.as_bytes(), echo.shown.as_bytes())
    })
}

fn replaced(line: &[u8], what: &[u8], with: &[u8]) -> Vec<u8> {
    let mut done = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((first, after)) = rest.split_first() {
        match rest.strip_prefix(what).filter(|_| !what.is_empty()) {
            Some(after) => {
                done.extend_from_slice(with);
                rest = after;
            }
            None => {
                done.push(*first);
                rest = after;
            }
        }
    }
    done
}

#[cfg(test)]
mod tests;
