//! Which lines of a file make up the conversation to resume.

use std::collections::{HashMap, HashSet};

use crate::index::{Key, Kind, Line};
use crate::load::SkippedLine;

/// Where the conversation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// At the last thing said on the main chain.
    Newest,
    /// At this entry.
    At(Key),
    /// At an entry without a name, which no file has.
    Nowhere,
}

/// The lines to load.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Positions in the index, in file order.
    pub(crate) positions: Vec<usize>,
    /// The position of the last entry of the chain.
    pub(crate) leaf: Option<usize>,
}

/// Selects the chain that ends at `leaf`, its parallel siblings and the metadata before its end.
/// `None` when there is no such leaf.
pub(crate) fn select(lines: &[Line], skipped: &[SkippedLine], leaf: Leaf) -> Option<Selection> {
    let end = match leaf {
        Leaf::Newest => lines.iter().rposition(is_said),
        Leaf::At(key) => Some(lines.iter().rposition(|line| line.id == Some(key))?),
        Leaf::Nowhere => return None,
    };
    let lines = match (leaf, end) {
        (Leaf::At(_), Some(end)) => &lines[..=end],
        _ => lines,
    };
    let mut chosen = vec![false; lines.len()];
    if let Some(end) = end {
        walk(lines, skipped, end, &mut chosen);
        add_siblings(lines, &mut chosen);
    }
    add_metadata(lines, &mut chosen);
    let positions = (0..lines.len()).filter(|&at| chosen[at]).collect();
    Some(Selection { positions, leaf: end })
}

fn is_said(line: &Line) -> bool {
    matches!(line.kind, Kind::User | Kind::Assistant) && !line.sidechain && line.id.is_some()
}

/// Goes from the leaf to the root.
fn walk(lines: &[Line], skipped: &[SkippedLine], leaf: usize, chosen: &mut [bool]) {
    let mut places = Places::InOrder;
    let mut next = Some(leaf);
    while let Some(at) = next.filter(|&at| !chosen[at]) {
        chosen[at] = true;
        next = lines[at].parent.and_then(|parent| {
            places.find(lines, parent, at).or_else(|| bridge(lines, skipped, at))
        });
    }
}

/// How the line of a parent is found. Parents nearly always come shortly before their children,
/// and only a file where one does not is worth a table of all lines.
#[derive(Debug)]
enum Places {
    InOrder,
    Table(HashMap<Key, usize>),
}

impl Places {
    fn find(&mut self, lines: &[Line], parent: Key, child: usize) -> Option<usize> {
        if let Self::InOrder = self {
            let earlier = lines[..child].iter().rposition(|line| line.id == Some(parent));
            if earlier.is_some() {
                return earlier;
            }
            let named = lines.iter().enumerate().filter_map(|(at, line)| Some((line.id?, at)));
            *self = Self::Table(named.collect());
        }
        match self {
            Self::InOrder => None,
            Self::Table(table) => table.get(&parent).copied(),
        }
    }
}

/// The likely parent of an entry whose parent was on a damaged line: whatever was said before it.
/// Without this, one damaged line would cut off everything before it.
fn bridge(lines: &[Line], skipped: &[SkippedLine], child: usize) -> Option<usize> {
    skipped.first().filter(|first| first.line < lines[child].number)?;
    lines[..child].iter().rposition(is_said)
}

/// Adds what a response with several calls left beside the chain: each result hangs on the line of
/// its own call, so a walk along the parents meets only one of them.
fn add_siblings(lines: &[Line], chosen: &mut [bool]) {
    let on_chain = |chosen: &[bool], kind: Kind| {
        let pairs: Vec<&Line> = lines
            .iter()
            .zip(chosen)
            .filter(|(line, chosen)| **chosen && line.kind == kind)
            .map(|(line, _)| line)
            .collect();
        pairs
    };
    let responses: HashSet<(Key, bool)> = on_chain(chosen, Kind::Assistant)
        .iter()
        .filter_map(|line| Some((line.response?, line.sidechain)))
        .collect();
    for (at, line) in lines.iter().enumerate() {
        let response = line.response.map(|response| (response, line.sidechain));
        chosen[at] |= response.is_some_and(|response| responses.contains(&response));
    }
    let callers: HashSet<Key> =
        on_chain(chosen, Kind::Assistant).iter().filter_map(|line| line.id).collect();
    // A call has one result. When a session was resumed at a call, an older result may lie on the
    // branch that was given up.
    let mut answered: HashSet<Key> =
        on_chain(chosen, Kind::User).iter().filter_map(|line| line.answers).collect();
    for (at, line) in lines.iter().enumerate().rev() {
        let Some((parent, call)) = line.parent.zip(line.answers) else { continue };
        if !chosen[at] && callers.contains(&parent) && answered.insert(call) {
            chosen[at] = true;
        }
    }
}

/// Adds the notes of the engine that hang on the chain, and the newest line of each other kind of
/// metadata. A note on a branch that was given up says nothing about this one: a compaction there
/// would take away what was said here.
fn add_metadata(lines: &[Line], chosen: &mut [bool]) {
    let on_chain: HashSet<Key> = lines
        .iter()
        .zip(&*chosen)
        .filter(|(_, chosen)| **chosen)
        .filter_map(|(l, _)| l.id)
        .collect();
    let mut seen = HashSet::new();
    for (at, line) in lines.iter().enumerate().rev() {
        chosen[at] |= match line.kind {
            Kind::System => {
                !line.sidechain && line.parent.is_some_and(|parent| on_chain.contains(&parent))
            }
            Kind::LastPrompt | Kind::CustomTitle | Kind::Tag | Kind::CostState => {
                seen.insert(line.kind)
            }
            Kind::User | Kind::Assistant | Kind::Link | Kind::Other => false,
        };
    }
}
