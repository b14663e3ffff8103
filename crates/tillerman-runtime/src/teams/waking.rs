//! Waking teammates that rest, with the mail that waits for them.

use std::collections::HashSet;

use tillerman_engine::restore;
use tillerman_ports::{Letter, MemberState};
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{EntryId, TaskId, ToolUseId};

use crate::agents::{Caller, Former, Opening};
use crate::session_task::SessionTask;
use crate::teams::words::prompt_of;

/// How many letters somebody is woken with; the rest follows when those are dealt with.
const MOST_AT_ONCE: usize = 32;

impl SessionTask {
    /// Wakes everybody who is to be woken; returns what the lead should know about it.
    pub(crate) fn wake_wanted(&mut self) -> Vec<String> {
        let Some(team) = self.team() else { return Vec::new() };
        let wanted = team.take_wanted();
        let mut troubles = Vec::new();
        for name in wanted {
            if let Err(reason) = self.wake_teammate(&name) {
                troubles.push(format!("{name} could not be woken: {reason}. Its mail is kept."));
            }
        }
        troubles
    }

    fn wake_teammate(&mut self, name: &str) -> Result<(), String> {
        let (Some(agents), Some(team)) = (&self.agents, self.team()) else { return Ok(()) };
        let Some(member) = team.find(name) else { return Ok(()) };
        let id = TaskId::new(member.agent_id.as_str());
        // Whoever is at work has heard already, or is woken once its end is known.
        if agents.is_at_work(&id) || member.state == MemberState::Left {
            return Ok(());
        }
        if team.is_over() {
            return Err("the input was closed too long ago".to_owned());
        }
        let reopened = agents.tree().files.reopen(&member.agent_id)?;
        let (letters, in_vain) = team.take_mail_of(name);
        let stored = stored_ids(&reopened.entries);
        let (known, mut fresh): (Vec<Letter>, Vec<Letter>) =
            letters.into_iter().partition(|letter| stored.contains(&letter.id));
        known.iter().chain(&in_vain).for_each(|letter| team.note_read(&letter.id));
        fresh.truncate(MOST_AT_ONCE);
        let Some(first) = fresh.first() else { return Ok(()) };
        let order = Self::order_of_former(&reopened.note, &first.text)?;
        let tool_use_id = reopened.note.get("toolUseId").and_then(|id| id.as_str());
        let caller =
            Caller { call: None, tool_use_id: ToolUseId::new(tool_use_id.unwrap_or_default()) };
        let restored = restore(&reopened.entries);
        let former = Former { id, transcript: reopened.transcript, restored };
        let opening = Opening {
            former: Some(former),
            mail: fresh.iter().map(prompt_of).collect(),
            ..Opening::default()
        };
        self.wake_former(&caller, &order, opening)
    }
}

fn stored_ids(entries: &[Entry]) -> HashSet<EntryId> {
    let id = |entry: &Entry| match entry {
        Entry::User(entry) => Some(entry.link.uuid.clone()),
        _ => None,
    };
    entries.iter().filter_map(id).collect()
}
