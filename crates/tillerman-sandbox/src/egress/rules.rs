//! Which domains may be reached.

use std::net::IpAddr;

/// Which domains may be reached: what is denied counts more than what is allowed, and what is not
/// allowed is denied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainRules {
    allowed: Vec<Rule>,
    denied: Vec<Rule>,
}

/// A rule that is no domain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no domain; write example.com, *.example.com, * or an address, with or without a port, \
     and no scheme or path"
)]
pub struct BadDomain(pub String);

/// Where somebody wants to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// A name, in lower case and without a dot at its end.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// What the rules say about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A rule names the address itself.
    AllowedAddress,
    /// A rule allows the name, wherever it leads that is public.
    AllowedName,
    /// A rule denies it.
    Denied,
    /// No rule allows it.
    NotAllowed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pattern: Pattern,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Everything,
    Below(String),
    Exactly(Host),
}

impl DomainRules {
    /// Reads rules.
    ///
    /// # Errors
    /// When a rule is no domain.
    pub fn parse(allowed: &[String], denied: &[String]) -> Result<Self, BadDomain> {
        let rules = |texts: &[String]| -> Result<Vec<Rule>, BadDomain> {
            texts.iter().map(|text| Rule::parse(text)).collect()
        };
        Ok(Self { allowed: rules(allowed)?, denied: rules(denied)? })
    }

    /// Whether HTTPS to a host, or to a host and a port, would be let through.
    #[must_use]
    pub fn lets_through(&self, host: &str) -> bool {
        let Some((host, port)) = split_port(host) else { return false };
        let Some(host) = Host::parse(host) else { return false };
        match self.judge(&host, port.unwrap_or(443)) {
            Verdict::AllowedAddress | Verdict::AllowedName => true,
            Verdict::Denied | Verdict::NotAllowed => false,
        }
    }

    pub(crate) fn judge(&self, host: &Host, port: u16) -> Verdict {
        if self.denied.iter().any(|rule| rule.denies(host, port)) {
            return Verdict::Denied;
        }
        let mut allowing = self.allowed.iter().filter(|rule| rule.matches(host, port)).peekable();
        if allowing.peek().is_none() {
            return Verdict::NotAllowed;
        }
        match host {
            Host::Address(_)
                if allowing.any(|rule| matches!(rule.pattern, Pattern::Exactly(_))) =>
            {
                Verdict::AllowedAddress
            }
            Host::Address(_) | Host::Name(_) => Verdict::AllowedName,
        }
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Self, BadDomain> {
        let bad = || BadDomain(text.to_owned());
        let (host, port) = split_port(text.trim()).ok_or_else(bad)?;
        let pattern = if host == "*" {
            Pattern::Everything
        } else if let Some(domain) = host.strip_prefix("*.") {
            match Host::parse(domain) {
                Some(Host::Name(name)) => Pattern::Below(format!(".{name}")),
                Some(Host::Address(_)) | None => return Err(bad()),
            }
        } else {
            Pattern::Exactly(Host::parse(host).ok_or_else(bad)?)
        };
        Ok(Self { pattern, port })
    }

    fn matches(&self, host: &Host, port: u16) -> bool {
        let fits = match (&self.pattern, host) {
            (Pattern::Everything, _) => true,
            (Pattern::Below(end), Host::Name(name)) => name.ends_with(end.as_str()),
            (Pattern::Below(_), Host::Address(_)) => false,
            (Pattern::Exactly(wanted), _) => wanted == host,
        };
        fits && self.port.is_none_or(|wanted| wanted == port)
    }

    /// Like [`Rule::matches`], and `*.example.com` denies `example.com` as well.
    fn denies(&self, host: &Host, port: u16) -> bool {
        let top = match (&self.pattern, host) {
            (Pattern::Below(end), Host::Name(name)) => end.get(1..) == Some(name.as_str()),
            _ => false,
        };
        self.matches(host, port) || top && self.port.is_none_or(|wanted| wanted == port)
    }
}

impl Host {
    /// Reads a host; nothing when it is written in a way that programs understand differently.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let address = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        if let Some(address) = address {
            return address.parse().ok().map(|it| Self::Address(IpAddr::V6(it)));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Address(address));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let is_label = |label: &str| {
            let clean = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            !label.is_empty() && label.len() <= 63 && label.chars().all(clean)
        };
        // `0x7f.1` and `2130706433` are addresses to some programs and names to others.
        let last = name.rsplit('.').next()?;
        let numeric = last.starts_with(|c: char| c.is_ascii_digit());
        (name.len() <= 253 && !numeric && name.split('.').all(is_label)).then_some(Self::Name(name))
    }
}

/// Splits `host:port`; addresses of the sixth version need brackets before a port.
pub(crate) fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if text.parse::<IpAddr>().is_ok() {
        return Some((text, None));
    }
    let end = if text.starts_with('[') {
        text.find(']')? + 1
    } else {
        text.find(':').unwrap_or(text.len())
    };
    let (host, rest) = text.split_at(end);
    match rest.strip_prefix(':') {
        Some(port) => Some((host, Some(port.parse().ok().filter(|port| *port > 0)?))),
        None if rest.is_empty() => Some((host, None)),
        None => None,
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests;
