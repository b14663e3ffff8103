//! Which models take an effort, and which think as much as they see fit.

use tillerman_protocol::catalog::LARGE_WINDOW_ENDING;

/// Efforts from the least to the most.
const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// What a model takes beside the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// The efforts that it knows; none where it has no notion of effort.
    pub efforts: &'static [&'static str],
    /// Whether it decides itself how much to think.
    pub thinks_adaptively: bool,
}

const NEITHER: Abilities = Abilities { efforts: &[], thinks_adaptively: false };
const EVERYTHING: Abilities = Abilities { efforts: &EFFORTS, thinks_adaptively: true };

/// Models by the beginning of their ids. What is not listed is newer than this table, or somebody
/// else's, and is sent what was asked for.
const KNOWN: [(&str, Abilities); 12] = [
    ("claude-2", NEITHER),
    ("claude-3", NEITHER),
    ("claude-haiku-4-5", NEITHER),
    ("claude-sonnet-4-0", NEITHER),
    ("claude-sonnet-4-2025", NEITHER),
    ("claude-sonnet-4-5", NEITHER),
    ("claude-opus-4-0", NEITHER),
    ("claude-opus-4-1", NEITHER),
    ("claude-opus-4-2025", NEITHER),
    ("claude-opus-4-5", Abilities { efforts: &["low", "medium", "high"], ..NEITHER }),
    ("claude-opus-4-6", Abilities { efforts: &["low", "medium", "high", "max"], ..EVERYTHING }),
    ("claude-sonnet-4-6", Abilities { efforts: &["low", "medium", "high", "max"], ..EVERYTHING }),
];

/// What a model takes beside the conversation.
#[must_use]
pub fn abilities(model: &str) -> Abilities {
    let model = model.strip_suffix(LARGE_WINDOW_ENDING).unwrap_or(model);
    let known = KNOWN.iter().find(|(beginning, _)| model.starts_with(beginning));
    known.map_or(EVERYTHING, |(_, abilities)| *abilities)
}

impl Abilities {
    /// The effort that comes nearest to the one that is wanted without exceeding it. One that
    /// nobody has heard of is passed on, where there is a notion of effort at all.
    #[must_use]
    pub fn nearest_effort<'a>(&self, wanted: &'a str) -> Option<&'a str> {
        if self.efforts.is_empty() {
            return None;
        }
        let Some(rank) = EFFORTS.iter().position(|effort| *effort == wanted) else {
            return Some(wanted);
        };
        let mut lower = EFFORTS[..=rank].iter().rev();
        lower.find(|effort| self.efforts.contains(effort)).copied()
    }
}
