//! The places of messages that wait, and leaving the queue.

use crate::live::committing::Change;
use crate::live::order::Refusal;
use crate::live::talk::Talk;
use crate::store::{MessageRow, MessageState};
use crate::wire::Event;

/// Whether a message waits. The one that the run has begun with, or is about to, does not.
fn waits((message, state): &(MessageRow, MessageState)) -> bool {
    message.position > 0 && *state != MessageState::Taken
}

impl Talk {
    /// How many messages wait.
    pub(crate) fn waiting(&self) -> u32 {
        let waiting = self.messages.iter().filter(|message| waits(message));
        u32::try_from(waiting.count()).unwrap_or(u32::MAX)
    }

    /// Gives those that wait their new places after one has left.
    pub(crate) fn close_ranks(&mut self, change: &mut Change) {
        let waiting = self.messages.iter_mut().filter(|message| waits(message));
        for (position, (message, _)) in (1..).zip(waiting) {
            if message.position != position {
                message.position = position;
                change.places.push((message.id.clone(), position));
                change.push(Event::Queued { message_id: message.id.clone(), position });
            }
        }
    }

    /// Takes a message out of the queue. When that cannot be stored it stays where it was.
    pub(crate) async fn withdraw(&mut self, id: &str) -> Result<(), Refusal> {
        let mut change = Change::event(Event::Unqueued { message_id: id.to_owned() });
        change.messages.push((id.to_owned(), MessageState::Withdrawn));
        let place = self.messages.iter().position(|(message, _)| message.id == id);
        let Some(place) = place else { return Ok(self.commit(change).await?) };
        let places: Vec<u32> = self.messages.iter().map(|(message, _)| message.position).collect();
        let withdrawn = self.messages.remove(place);
        self.close_ranks(&mut change);
        if let Err(error) = self.commit(change).await {
            self.messages.insert(place, withdrawn);
            for ((message, _), position) in self.messages.iter_mut().zip(places) {
                message.position = position;
            }
            return Err(error.into());
        }
        Ok(())
    }
}
