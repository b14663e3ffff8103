//! Which subjects a hook is for.

use regex::Regex;
use tillerman_protocol::hook::HookEvent;

/// Which subjects a hook is for.
#[derive(Clone, Debug)]
pub(crate) enum Matcher {
    Everything,
    Names(Vec<String>),
    Pattern(Box<Regex>),
}

impl Matcher {
    /// Reads the matcher of a hook; that of changed files lists their names as they are.
    pub(crate) fn of_event(event: HookEvent, text: Option<&str>) -> Result<Self, regex::Error> {
        match text {
            Some(text) if event == HookEvent::FileChanged && !matches!(text, "" | "*") => {
                let names = text.split('|').map(|name| name.trim().to_owned());
                Ok(Self::Names(names.filter(|name| !name.is_empty()).collect()))
            }
            text => Self::parse(text),
        }
    }

    /// The names it lists.
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::Names(names) => names,
            Self::Everything | Self::Pattern(_) => &[],
        }
    }

    /// Reads a matcher: nothing, a list of names, or else a pattern that may fit anywhere.
    fn parse(text: Option<&str>) -> Result<Self, regex::Error> {
        let text = text.unwrap_or("");
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if text.is_empty() || text == "*" {
            Ok(Self::Everything)
        } else if text.chars().all(is_name) {
            let names = text.split([',', '|']).map(|name| name.trim().to_owned());
            Ok(Self::Names(names.collect()))
        } else {
            Regex::new(text).map(|pattern| Self::Pattern(Box::new(pattern)))
        }
    }

    /// Whether it fits; events without a subject run every hook. Whoever looks after what Bash
    /// runs looks after commands that are watched, too.
    pub(crate) fn matches(&self, subject: Option<&str>) -> bool {
        let Some(subject) = subject else { return true };
        self.fits(subject) || (subject == "Monitor" && self.fits("Bash"))
    }

    fn fits(&self, subject: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Names(names) => names.iter().any(|name| name == subject),
            Self::Pattern(pattern) => pattern.is_match(subject),
        }
    }
}
