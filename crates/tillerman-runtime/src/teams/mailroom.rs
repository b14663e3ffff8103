//! What all members of a team share: who they are, and the mail that nobody has read yet.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tillerman_ports::{Letter, Member, MemberState, TeamFiles};
use tillerman_protocol::EntryId;
use tokio::sync::Notify;

use crate::teams::setup::TeamSetup;

/// What everybody calls the session that leads.
pub(crate) const LEAD: &str = "team-lead";
const LONGEST_NAME: usize = 64;
/// How many letters may wait for one member.
const MOST_UNREAD: usize = 1_000;
/// A letter that was not read after so many wakings never will be.
const MOST_WAKINGS: u8 = 2;

/// A team.
#[derive(Debug)]
pub(crate) struct Team {
    pub(crate) name: String,
    pub(crate) ceiling: Duration,
    /// Has the lead look at its mail and at whom mail waits for.
    pub(crate) knock: Notify,
    files: Arc<dyn TeamFiles>,
    room: Mutex<Room>,
}

#[derive(Debug, Default)]
struct Room {
    members: Vec<Member>,
    unread: Vec<Letter>,
    /// Letters that the lead's session has heard of.
    heard: HashSet<EntryId>,
    /// How often somebody was woken with a letter.
    wakings: HashMap<EntryId, u8>,
    /// Members that are to be woken.
    wanted: Vec<String>,
    /// Whether the time after the input was closed is over.
    is_over: bool,
}

impl Team {
    /// Finds what an earlier run left; whoever worked then was interrupted.
    pub(crate) fn open(setup: &TeamSetup) -> Self {
        let mut kept = setup.files.load();
        for member in &mut kept.members {
            if member.state == MemberState::Working {
                member.state = MemberState::Interrupted;
            }
        }
        let room = Room { members: kept.members, unread: kept.unread, ..Room::default() };
        Self {
            name: setup.name.clone(),
            ceiling: setup.ceiling,
            knock: Notify::new(),
            files: Arc::clone(&setup.files),
            room: Mutex::new(room),
        }
    }

    /// Everybody who has not left.
    pub(crate) fn members(&self) -> Vec<Member> {
        let room = self.room();
        room.members.iter().filter(|member| member.state != MemberState::Left).cloned().collect()
    }

    /// The member of this name or agent id, also one that has left.
    pub(crate) fn find(&self, name: &str) -> Option<Member> {
        let room = self.room();
        let is_meant = |member: &&Member| member.name == name || member.agent_id == name;
        room.members.iter().find(is_meant).cloned()
    }

    /// Takes a new member in.
    ///
    /// # Errors
    /// A text for the model that says why it cannot join.
    pub(crate) fn join(&self, newcomer: &Member) -> Result<(), String> {
        let name = newcomer.name.as_str();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.len() > LONGEST_NAME || !name.chars().all(is_plain) || name == LEAD {
            return Err(format!(
                "`name` must be other than {LEAD} and have at most {LONGEST_NAME} letters, digits, \
                 - and _; nothing was started."
            ));
        }
        if let Some(member) = self.find(name).filter(|member| member.state != MemberState::Left) {
            return Err(format!(
                "There is a teammate {name} already ({}); nothing was started. Tell it more with \
                 SendMessage, or choose another name.",
                member.state.name()
            ));
        }
        if self.room().is_over {
            return Err("The input was closed too long ago; nothing was started.".to_owned());
        }
        self.files.note(newcomer)?;
        let mut room = self.room();
        room.members.retain(|member| member.name != name);
        room.members.push(newcomer.clone());
        Ok(())
    }

    /// Keeps what a member does now; one that has left stays away.
    pub(crate) fn note_state(&self, agent_id: &str, state: MemberState) {
        let noted = {
            let mut room = self.room();
            let mut members = room.members.iter_mut();
            let is_meant = |member: &&mut Member| member.agent_id == agent_id;
            let Some(member) = members.find(is_meant) else { return };
            if member.state == MemberState::Left || member.state == state {
                return;
            }
            member.state = state;
            member.clone()
        };
        if let Err(reason) = self.files.note(&noted) {
            tracing::warn!("{reason}");
        }
    }

    /// Puts a letter into its receiver's mailbox.
    ///
    /// # Errors
    /// A text for the model that says why it was not sent.
    pub(crate) fn post(&self, letter: Letter) -> Result<(), String> {
        let waiting = self.room().unread.iter().filter(|other| other.to == letter.to).count();
        if waiting >= MOST_UNREAD {
            return Err(format!("{waiting} messages wait for {} already", letter.to));
        }
        self.files.post(&letter)?;
        let mut room = self.room();
        if letter.to != LEAD && !room.wanted.contains(&letter.to) {
            room.wanted.push(letter.to.clone());
        }
        room.unread.push(letter);
        Ok(())
    }

    /// A transcript holds an entry now; if it is a letter, that one was read.
    pub(crate) fn note_read(&self, entry: &EntryId) {
        let letter = {
            let mut room = self.room();
            let Some(index) = room.unread.iter().position(|letter| letter.id == *entry) else {
                return;
            };
            room.unread.remove(index)
        };
        if let Err(reason) = self.files.read(&letter.to, &letter.id) {
            // It would be delivered once more after a restart, where its id shows that it was read.
            tracing::warn!("{reason}");
        }
    }

    /// Letters for the lead that it has not heard of.
    pub(crate) fn take_mail_of_lead(&self) -> Vec<Letter> {
        let mut room = self.room();
        let mine: Vec<Letter> = room
            .unread
            .iter()
            .filter(|letter| letter.to == LEAD && !room.heard.contains(&letter.id))
            .cloned()
            .collect();
        room.heard.extend(mine.iter().map(|letter| letter.id.clone()));
        mine
    }

    /// Letters with which a member is about to be woken; gives up those that woke it in vain.
    pub(crate) fn take_mail_of(&self, name: &str) -> (Vec<Letter>, Vec<Letter>) {
        let mut room = self.room();
        let letters: Vec<Letter> =
            room.unread.iter().filter(|letter| letter.to == name).cloned().collect();
        let mut fresh = Vec::new();
        let mut in_vain = Vec::new();
        for letter in letters {
            let wakings = room.wakings.entry(letter.id.clone()).or_default();
            *wakings += 1;
            if *wakings > MOST_WAKINGS { in_vain.push(letter) } else { fresh.push(letter) }
        }
        (fresh, in_vain)
    }

    /// Whoever is to be woken; each is named once.
    pub(crate) fn take_wanted(&self) -> Vec<String> {
        std::mem::take(&mut self.room().wanted)
    }

    /// Has everybody woken who rests although mail waits.
    pub(crate) fn want_those_with_mail(&self) {
        let mut room = self.room();
        let rests = |member: &&Member| member.state == MemberState::Resting;
        let has_mail = |member: &&Member| room.unread.iter().any(|it| it.to == member.name);
        let names: Vec<String> = room
            .members
            .iter()
            .filter(rests)
            .filter(has_mail)
            .map(|member| member.name.clone())
            .collect();
        for name in names {
            if !room.wanted.contains(&name) {
                room.wanted.push(name);
            }
        }
    }

    pub(crate) fn ask_to_leave(&self, name: &str) {
        self.note_question(name, true);
    }

    /// A member answers whether it leaves; says whether it was asked.
    pub(crate) fn answered_about_leaving(&self, name: &str) -> bool {
        self.note_question(name, false)
    }

    /// Keeps whether a member owes an answer, also for a later run; says whether it did not yet.
    fn note_question(&self, name: &str, is_open: bool) -> bool {
        let noted = {
            let mut room = self.room();
            let mut members = room.members.iter_mut();
            let Some(member) = members.find(|member| member.name == name) else { return false };
            if member.asked_to_leave == is_open {
                return false;
            }
            member.asked_to_leave = is_open;
            member.clone()
        };
        if let Err(reason) = self.files.note(&noted) {
            tracing::warn!("{reason}");
        }
        true
    }

    /// The time after the input was closed is over.
    pub(crate) fn call_it_a_day(&self) {
        self.room().is_over = true;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.room().is_over
    }

    /// Removes the files of a team that everybody has left.
    pub(crate) fn clean_up(&self) {
        let everybody_left = {
            let members = &self.room().members;
            !members.is_empty() && members.iter().all(|it| it.state == MemberState::Left)
        };
        if everybody_left && let Err(reason) = self.files.remove() {
            tracing::warn!("{reason}");
        }
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
