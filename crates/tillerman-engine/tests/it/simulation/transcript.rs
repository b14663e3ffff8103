//! Checks of the transcript: it survives JSON, holds all that was shown, and replays to the same.

use std::collections::{HashMap, HashSet};

use tillerman_engine::{Restored, Session, restore};
use tillerman_protocol::EntryId;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::{AssistantMessage, Frame};
use tillerman_protocol::transcript::Entry;

use super::fault::{Checked, Fault, ensure};
use super::requests::blocks;

/// The transcript as it lies on the disk, and what was shown of it.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    entries: Vec<Entry>,
    /// Entries before this one are as JSON gave them back.
    stored: usize,
    places: HashMap<EntryId, usize>,
    frames: HashSet<EntryId>,
    shown: Vec<usize>,
    checked: usize,
    thorough: bool,
}

impl Transcript {
    pub(super) fn new(seed: u64) -> Self {
        Self { thorough: seed % 8 < 2, ..Self::default() }
    }

    pub(super) fn append(&mut self, entry: &Entry) -> Checked {
        if let Some(link) = entry.link() {
            let parent = link.parent_uuid.as_ref();
            let begins = self.places.is_empty() || is_boundary(entry);
            let known = parent.map_or(begins, |id| self.places.contains_key(id));
            ensure(known, "entries-hang-on-entries", || format!("{} on {parent:?}", link.uuid))?;
            let repeated = self.places.insert(link.uuid.clone(), self.entries.len());
            ensure(repeated.is_none(), "entry-ids-are-unique", || link.uuid.to_string())?;
        }
        if makes_room(entry) {
            self.shown.clear();
        }
        self.entries.push(entry.clone());
        Ok(())
    }

    pub(super) fn show(&mut self, frame: &Frame) -> Checked {
        let uuid = match frame {
            Frame::Assistant(frame) => Some(&frame.uuid),
            Frame::User(frame) => frame.uuid.as_ref(),
            Frame::System(frame) => Some(&frame.uuid),
            Frame::Result(frame) => Some(&frame.uuid),
            Frame::StreamEvent(frame) => Some(&frame.uuid),
            Frame::CommandLifecycle(frame) => Some(&frame.uuid),
            _ => None,
        };
        let Some(uuid) = uuid else {
            return Err(Fault { check: "frames-have-ids", detail: format!("{frame:?}") });
        };
        let fresh = self.frames.insert(uuid.clone());
        ensure(fresh, "frame-ids-are-unique", || uuid.to_string())?;
        let place = self.places.get(uuid).copied();
        let stored = match (frame, place.map(|place| &self.entries[place])) {
            (Frame::Assistant(frame), Some(Entry::Assistant(entry))) => {
                frame.message == entry.message
            }
            (Frame::User(frame), Some(Entry::User(entry))) => frame.message == entry.message,
            (Frame::Assistant(_) | Frame::User(_), _) => false,
            _ => return Ok(()),
        };
        ensure(stored, "frames-show-what-is-stored", || format!("{uuid} is not stored so"))?;
        self.shown.extend(place);
        Ok(())
    }

    /// What another process would go on from: the entries as they come back from the disk.
    pub(super) fn restore(&mut self) -> Result<Restored, Fault> {
        for entry in &mut self.entries[self.stored..] {
            let stored = through_json(entry)?;
            ensure(stored == *entry, "entries-survive-json", || {
                format!("{entry:?} became {stored:?}")
            })?;
            *entry = stored;
        }
        self.stored = self.entries.len();
        Ok(restore(&self.entries))
    }

    /// At rest, the transcript must yield what the session holds.
    pub(super) fn check_idle(&mut self, session: &Session) -> Checked {
        if self.checked == self.entries.len() {
            return Ok(());
        }
        self.checked = self.entries.len();
        // Entries that have survived JSON unchanged need not go through it to be compared, and it
        // is most of the work; every fourth session does it all the same.
        let restored = if self.thorough { self.restore()? } else { restore(&self.entries) };
        let live = session.conversation().messages();
        let replayed = restored.conversation.messages();
        ensure(replayed == live, "transcript-replays-the-conversation", || {
            let at = replayed.iter().zip(live).position(|(a, b)| a != b);
            let at = at.unwrap_or_else(|| replayed.len().min(live.len()));
            let (there, here) = (replayed.get(at), live.get(at));
            format!("message {at} is {there:?} in the transcript and {here:?} in the session")
        })?;
        check_ledger(&restored, session)
    }

    /// What was spent must survive every orderly end.
    pub(super) fn check_ledger(&self, session: &Session) -> Checked {
        check_ledger(&restore(&self.entries), session)
    }

    /// After a crash, everything that was shown must be in the restored conversation.
    pub(super) fn check_shown(&self, restored: &Restored) -> Checked {
        let messages = restored.conversation.messages();
        let held: Vec<&Block> = messages.iter().flat_map(|message| blocks(message)).collect();
        for place in &self.shown {
            let said: &[Block] = match &self.entries[*place] {
                Entry::Assistant(entry) if entry.message.model == AssistantMessage::SYNTHETIC => {
                    &[]
                }
                Entry::Assistant(entry) => &entry.message.content,
                Entry::User(entry) => match &entry.message.content {
                    Content::Blocks(blocks) => blocks,
                    Content::Text(text) => {
                        let block = Block::text(text.clone());
                        let kept = text.trim().is_empty() || held.contains(&&block);
                        ensure(kept, "nothing-shown-is-lost", || text.clone())?;
                        &[]
                    }
                },
                _ => &[],
            };
            for block in said.iter().filter(|block| must_be_kept(block)) {
                ensure(held.contains(&block), "nothing-shown-is-lost", || format!("{block:?}"))?;
            }
        }
        Ok(())
    }
}

fn is_boundary(entry: &Entry) -> bool {
    matches!(entry, Entry::System(entry) if entry.subtype == "compact_boundary")
}

/// Whether what was shown before need not be in the conversation any more.
fn makes_room(entry: &Entry) -> bool {
    match entry {
        Entry::User(entry) => entry.is_compact_summary == Some(true),
        Entry::System(entry) => entry.subtype == "microcompact_boundary",
        _ => false,
    }
}

fn check_ledger(restored: &Restored, session: &Session) -> Checked {
    ensure(restored.ledger == *session.ledger(), "transcript-replays-the-ledger", || {
        format!("{:?} against {:?}", restored.ledger, session.ledger())
    })
}

/// Thoughts may be dropped with the response they led to nothing in.
fn must_be_kept(block: &Block) -> bool {
    !block.is_blank() && !matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. })
}

fn through_json(entry: &Entry) -> Result<Entry, Fault> {
    let text = serde_json::to_string(entry);
    let stored = text.and_then(|text| serde_json::from_str(&text));
    stored.map_err(|error| Fault { check: "entries-survive-json", detail: error.to_string() })
}
