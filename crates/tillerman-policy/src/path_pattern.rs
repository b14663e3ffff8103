//! Path patterns of Read and Edit rules, in the manner of gitignore.

use std::path::{Component, Path, PathBuf};

use crate::glob::{self, Case};
use crate::place::{Place, tidy};

/// Which way a doubtful match falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The rule allows: only what certainly fits counts.
    Allow,
    /// The rule denies or asks: whatever could fit counts.
    Restrict,
}

/// A pattern such as `src/**`, `//etc/hosts`, `~/.ssh`, `.env` or `{a,b}.txt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    /// One for each way to take the braces in it.
    ways: Vec<Way>,
}

/// A pattern without braces.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Way {
    anchor: Anchor,
    segments: Vec<String>,
}

/// More alternatives than this are a mistake.
const MAX_WAYS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    /// `//x`: the root of the file system.
    FileSystem,
    /// `~/x`: the home directory.
    Home,
    /// `/x`: the folder of the settings the rule came from.
    Source,
    /// `x/y`: the working directory.
    Here,
    /// `x`: any depth.
    Anywhere,
    /// `x/**`: the working directory for rules that allow, any depth for others.
    HereOrAnywhere,
}

/// Why a pattern cannot be read, and at which character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternFault {
    pub(crate) at: usize,
    pub(crate) problem: &'static str,
}

impl PathPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, PatternFault> {
        let Some(texts) = alternatives(text) else {
            return Err(PatternFault { at: 0, problem: "it has too many alternatives in braces" });
        };
        let ways = texts.iter().map(|text| Way::parse(text)).collect::<Result<_, _>>()?;
        Ok(Self { ways })
    }

    /// Whether the pattern describes the path or a folder around it.
    pub(crate) fn matches(
        &self,
        path: &Path,
        place: &Place<'_>,
        source: Option<&Path>,
        side: Side,
    ) -> bool {
        self.ways.iter().any(|way| way.matches(path, place, source, side))
    }

    /// Whether something below the folder could be described by the pattern.
    pub(crate) fn may_reach_below(
        &self,
        folder: &Path,
        place: &Place<'_>,
        source: Option<&Path>,
    ) -> bool {
        self.ways.iter().any(|way| way.may_reach_below(folder, place, source))
    }

    /// The paths the pattern names outright, without wildcards.
    pub(crate) fn plain_paths(&self, place: &Place<'_>, source: Option<&Path>) -> Vec<PathBuf> {
        self.ways.iter().flat_map(|way| way.plain_paths(place, source)).collect()
    }

    /// The plain names the pattern ends in, for telling whether a text mentions one.
    pub(crate) fn plain_names(&self) -> Vec<&str> {
        self.ways.iter().filter_map(Way::plain_name).collect()
    }
}

impl Way {
    fn parse(text: &str) -> Result<Self, PatternFault> {
        let fault = |at, problem| Err(PatternFault { at, problem });
        if let Some(at) = text.chars().position(char::is_control) {
            return fault(at, "a path cannot contain control characters");
        }
        if text.starts_with('!') {
            return fault(0, "a pattern cannot be negated; write a rule of the other kind instead");
        }
        if let Some(at) = glob::unclosed_class(text) {
            return fault(at, "this [ is never closed");
        }
        let (anchor, rest) = anchored(text);
        let segments: Vec<String> = rest
            .split('/')
            .filter(|segment| !segment.is_empty() && *segment != ".")
            .map(str::to_owned)
            .collect();
        if segments.iter().any(|segment| segment == "..") {
            return fault(0, "a pattern cannot climb with ..; write the path from // or ~/");
        }
        if segments.is_empty() && anchor == Anchor::Anywhere {
            return fault(0, "the path is empty");
        }
        Ok(Self { anchor, segments })
    }

    fn matches(&self, path: &Path, place: &Place<'_>, source: Option<&Path>, side: Side) -> bool {
        let case = if side == Side::Allow { Case::Exact } else { Case::Folded };
        if side == Side::Restrict && self.is_anywhere() {
            let parts = parts(path);
            return (0..parts.len()).any(|from| fits(&self.segments, &parts[from..], case));
        }
        self.bases(place, source, side).iter().any(|base| {
            let Ok(below) = path.strip_prefix(base) else { return false };
            let parts = parts(below);
            match self.anchor {
                Anchor::Anywhere => {
                    (0..parts.len()).any(|from| fits(&self.segments, &parts[from..], case))
                }
                _ => fits(&self.segments, &parts, case),
            }
        })
    }

    fn may_reach_below(&self, folder: &Path, place: &Place<'_>, source: Option<&Path>) -> bool {
        if self.is_anywhere() {
            return true;
        }
        let literal: PathBuf =
            self.segments.iter().take_while(|segment| !segment.contains(['*', '?', '['])).collect();
        self.bases(place, source, Side::Restrict).iter().any(|base| {
            let start = base.join(&literal);
            start.starts_with(folder) || folder.starts_with(&start)
        })
    }

    fn plain_paths(&self, place: &Place<'_>, source: Option<&Path>) -> Vec<PathBuf> {
        let below = self.segments.strip_suffix(&["**".to_owned()]).unwrap_or(&self.segments);
        let is_plain = |segment: &String| !segment.contains(['*', '?', '[']);
        if below.is_empty() || !below.iter().all(is_plain) {
            return Vec::new();
        }
        let below: PathBuf = below.iter().collect();
        let bases = if self.is_anywhere() {
            place.directories.to_vec()
        } else {
            self.bases(place, source, Side::Restrict)
        };
        bases.iter().map(|base| base.join(&below)).collect()
    }

    fn plain_name(&self) -> Option<&str> {
        let last = self.segments.iter().rev().find(|segment| *segment != "**")?;
        (!last.contains(['*', '?', '['])).then_some(last)
    }

    fn is_anywhere(&self) -> bool {
        matches!(self.anchor, Anchor::Anywhere | Anchor::HereOrAnywhere)
    }

    fn bases(&self, place: &Place<'_>, source: Option<&Path>, side: Side) -> Vec<PathBuf> {
        let cwd = place.cwd().to_path_buf();
        match self.anchor {
            Anchor::FileSystem => vec![PathBuf::from("/")],
            Anchor::Home => place.home.map(tidy).into_iter().collect(),
            // People write absolute paths with one slash; a restriction takes them at their word.
            Anchor::Source if side == Side::Restrict => {
                vec![source.map_or(cwd, tidy), PathBuf::from("/")]
            }
            Anchor::Source => vec![source.map_or(cwd, tidy)],
            Anchor::Here | Anchor::Anywhere | Anchor::HereOrAnywhere => vec![cwd],
        }
    }
}

/// `a{b,c}` as `ab` and `ac`.
fn alternatives(text: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut waiting = vec![text.to_owned()];
    while let Some(text) = waiting.pop() {
        // The innermost braces first, so that what is between them is plain.
        let close = text.find('}');
        let open = close.and_then(|close| text[..close].rfind('{'));
        match (open, close) {
            (Some(open), Some(close)) if text[open..close].contains(',') => {
                let (start, end) = (&text[..open], &text[close + 1..]);
                let parts = text[open + 1..close].split(',');
                waiting.extend(parts.map(|part| format!("{start}{part}{end}")));
            }
            _ => done.push(text),
        }
        if waiting.len() + done.len() > MAX_WAYS {
            return None;
        }
    }
    Some(done)
}

fn anchored(text: &str) -> (Anchor, &str) {
    for home in ["~/", "$HOME/", "${HOME}/"] {
        if let Some(rest) = text.strip_prefix(home) {
            return (Anchor::Home, rest);
        }
    }
    if text == "~" {
        return (Anchor::Home, "");
    }
    if let Some(rest) = text.strip_prefix("//") {
        return (Anchor::FileSystem, rest);
    }
    if let Some(rest) = text.strip_prefix('/') {
        return (Anchor::Source, rest);
    }
    if let Some(rest) = text.strip_prefix("./") {
        return (Anchor::Here, rest);
    }
    match text.trim_end_matches('/').split_once('/') {
        None => (Anchor::Anywhere, text),
        Some((_, "**")) => (Anchor::HereOrAnywhere, text),
        Some(_) => (Anchor::Here, text),
    }
}

fn parts(path: &Path) -> Vec<&str> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(part.to_str().unwrap_or("\u{fffd}")),
            _ => None,
        })
        .collect()
}

/// Whether the segments describe the start of the path; what lies below a described folder counts.
///
/// Dynamic programming, so that many `**` cannot make it slow.
fn fits(segments: &[String], parts: &[&str], case: Case) -> bool {
    let mut reachable = vec![false; segments.len() + 1];
    reachable[0] = true;
    skip_stars(segments, &mut reachable);
    if reachable[segments.len()] {
        return true;
    }
    for part in parts {
        let mut next = vec![false; segments.len() + 1];
        for (at, segment) in segments.iter().enumerate() {
            if !reachable[at] {
                continue;
            }
            if segment == "**" {
                next[at] = true;
            } else if glob::matches(segment, part, case) {
                next[at + 1] = true;
            }
        }
        skip_stars(segments, &mut next);
        if next[segments.len()] {
            return true;
        }
        reachable = next;
    }
    false
}

/// A `**` in the middle may stand for nothing; at the end it stands for something below.
fn skip_stars(segments: &[String], reachable: &mut [bool]) {
    for at in 0..segments.len() {
        if reachable[at] && segments[at] == "**" {
            reachable[at + 1] = true;
        }
    }
}
