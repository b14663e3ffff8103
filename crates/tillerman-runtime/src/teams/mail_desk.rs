//! A session's mail: what it sends to its team, and what it hears.

use std::sync::Arc;

use serde_json::json;
use tillerman_engine::{Author, Input, Prompt};
use tillerman_ports::{Letter, Member, MemberState};
use tillerman_protocol::TaskId;
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::ToolOutput;
use tillerman_protocol::transcript::Entry;
use tokio::time::Instant;

use crate::agents::{Agents, Tree};
use crate::session_task::{Inbound, SessionTask};
use crate::teams::mailroom::{LEAD, Team};
use crate::teams::words::{Word, prompt_of};

/// What the lead of a team waits for beside everything else.
#[derive(Debug)]
pub(crate) struct Watch {
    tree: Option<Arc<Tree>>,
    ceiling: Option<Instant>,
}

impl Watch {
    /// Waits until somebody wants the lead to look at its mail.
    ///
    /// # Cancel safety
    /// A knock that came is not lost when the future is dropped.
    pub(crate) async fn knocked(&self) {
        match self.tree.as_ref().and_then(|tree| tree.team.as_ref()) {
            Some(team) => team.knock.notified().await,
            None => std::future::pending().await,
        }
    }

    /// Waits until teammates must have ended.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn ceiling(&self) {
        match self.ceiling {
            Some(ceiling) => tokio::time::sleep_until(ceiling).await,
            None => std::future::pending().await,
        }
    }
}

impl SessionTask {
    pub(crate) fn team(&self) -> Option<&Team> {
        self.agents.as_ref().and_then(|agents| agents.tree().team.as_ref())
    }

    fn is_lead(&self) -> bool {
        self.team().is_some() && self.agents.as_ref().is_some_and(|agents| agents.own().is_none())
    }

    /// Sends a message within the team; nothing when it is for somebody else.
    pub(crate) fn send_mail(
        &mut self,
        to: &str,
        word: &Word,
    ) -> Option<Result<ToolOutput, String>> {
        let me = self.agents.as_ref().and_then(Agents::seat)?;
        let team = self.team()?;
        let receivers: Vec<Member> = match to {
            "*" => team.members().into_iter().filter(|member| member.name != me).collect(),
            LEAD => Vec::new(),
            name => vec![team.find(name)?],
        };
        let to_lead = to == LEAD || (to == "*" && me != LEAD);
        let text = match self.wording(&me, to_lead, &receivers, word) {
            Ok(text) => text,
            Err(refusal) => return Some(Err(refusal)),
        };
        let mut names: Vec<String> = receivers.into_iter().map(|member| member.name).collect();
        names.extend(to_lead.then(|| LEAD.to_owned()));
        Some(self.post(&me, &names, &text))
    }

    /// What a message says, once it is clear that this sender may say it to these receivers.
    fn wording(
        &self,
        me: &str,
        to_lead: bool,
        receivers: &[Member],
        word: &Word,
    ) -> Result<String, String> {
        let Some(team) = self.team() else { return Err("there is no team".to_owned()) };
        if to_lead && me == LEAD || receivers.iter().any(|member| member.name == me) {
            return Err("The message is for you yourself; nothing was sent.".to_owned());
        }
        if let Some(gone) = receivers.iter().find(|member| member.state == MemberState::Left) {
            return Err(format!("{} has left the team; nothing was sent.", gone.name));
        }
        if receivers.is_empty() && !to_lead {
            return Err("There is nobody else in the team; nothing was sent.".to_owned());
        }
        let because = |reason: &Option<String>| {
            reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"))
        };
        match word {
            Word::Text(text) => Ok(text.clone()),
            Word::ShutdownRequest { reason } if me == LEAD => {
                receivers.iter().for_each(|member| team.ask_to_leave(&member.name));
                Ok(format!(
                    "{LEAD} asks you to leave the team{}. Answer with SendMessage to {LEAD}, \
                     message {{\"type\": \"shutdown_response\", \"approve\": true}}, or approve \
                     false and the reason why you must go on.",
                    because(reason)
                ))
            }
            Word::ShutdownRequest { .. } => {
                Err(format!("Only {LEAD} asks teammates to leave; nothing was sent."))
            }
            Word::ShutdownResponse { .. } if !to_lead || !receivers.is_empty() => {
                Err(format!("This is an answer to {LEAD} alone; nothing was sent."))
            }
            Word::ShutdownResponse { approve, reason } => {
                if !team.answered_about_leaving(me) {
                    return Err("Nobody asked you to leave; nothing was sent.".to_owned());
                }
                if !approve {
                    return Ok(format!("{me} does not leave yet{}", because(reason)));
                }
                if let Some(member) = team.find(me) {
                    team.note_state(&member.agent_id, MemberState::Left);
                }
                Ok(format!("{me} has left the team{}", because(reason)))
            }
        }
    }

    fn post(&mut self, me: &str, names: &[String], text: &str) -> Result<ToolOutput, String> {
        let mut sent: Vec<&str> = Vec::new();
        for name in names {
            let id = self.ids.entry_id();
            let letter =
                Letter { id, from: me.to_owned(), to: name.clone(), text: text.to_owned() };
            let Some(team) = self.team() else { continue };
            let posted = team.post(letter.clone());
            if let Err(reason) = posted {
                let so_far = if sent.is_empty() { "nobody".to_owned() } else { sent.join(", ") };
                return Err(format!("The message was sent to {so_far} and no further: {reason}."));
            }
            self.hand_over(&letter);
            sent.push(name);
        }
        let woken = if self.is_lead() { self.wake_wanted() } else { Vec::new() };
        if let Some(team) = self.team().filter(|_| !self.is_lead()) {
            team.knock.notify_one();
        }
        let mut text = format!("Sent to {}.", sent.join(", "));
        for trouble in woken {
            text.push('\n');
            text.push_str(&trouble);
        }
        let structured = json!({"success": true, "message": text, "recipients": sent});
        Ok(ToolOutput::new(Content::Text(text), Some(structured)))
    }

    /// A member at work hears a letter before its next step. One that ends without having read it
    /// is woken with it, so nothing hangs on whether it can listen now.
    fn hand_over(&self, letter: &Letter) {
        let Some(agents) = &self.agents else { return };
        let member = agents.tree().team.as_ref().and_then(|team| team.find(&letter.to));
        let agent = member.and_then(|member| agents.tree().book.find(&member.agent_id));
        if let Some(agent) = agent.filter(|agent| agent.is_at_work())
            && agent.line.try_send(Inbound::Mail(Box::new(prompt_of(letter)))).is_err()
        {
            tracing::debug!("{} is too busy and reads its mail later", letter.to);
        }
    }

    /// The lead looks at its mail and wakes those for whom some waits.
    pub(crate) async fn look_at_mail(&mut self) {
        if !self.is_lead() || !self.agents.as_ref().is_some_and(Agents::has_opened_mail) {
            return;
        }
        let letters = self.team().map(Team::take_mail_of_lead).unwrap_or_default();
        for letter in letters {
            self.feed(Input::Prompted(prompt_of(&letter))).await;
        }
        for trouble in self.wake_wanted() {
            tracing::warn!("{trouble}");
            self.notify("team", &trouble).await;
        }
        self.work_off().await;
    }

    /// Before the first prompt of a run the lead is told of the team that it had.
    pub(crate) async fn open_mail(&mut self) {
        let lead = self.is_lead();
        let Some(agents) = self.agents.as_mut().filter(|_| lead) else { return };
        if agents.open_mail() {
            return;
        }
        let members = self.team().map(Team::members).unwrap_or_default();
        if !members.is_empty() {
            let list: Vec<String> = members
                .iter()
                .map(|it| format!("- {} ({}): {}", it.name, it.agent_type, it.state.name()))
                .collect();
            let text = format!(
                "<team>\nThe process was started again, and this is your team:\n{}\nSendMessage \
                 goes on with a teammate where it stopped, also with one that was interrupted.\n\
                 </team>",
                list.join("\n")
            );
            let prompt =
                Prompt { author: Author::Engine, wants_answer: false, ..Prompt::text(text) };
            self.feed(Input::Prompted(prompt)).await;
        }
        if let Some(team) = self.team() {
            team.knock.notify_one();
        }
    }

    /// A teammate's task has ended: it rests, and mail that came too late wakes it again.
    pub(crate) async fn rest_teammate(&mut self, task: &TaskId) {
        if !self.is_lead() {
            return;
        }
        let Some(team) = self.team() else { return };
        team.note_state(task.as_str(), MemberState::Resting);
        team.want_those_with_mail();
        if !self.ended {
            self.look_at_mail().await;
        }
    }

    /// What a transcript holds was read.
    pub(crate) fn note_read(&self, entry: &Entry) {
        if let (Some(team), Entry::User(entry)) = (self.team(), entry) {
            team.note_read(&entry.link.uuid);
        }
    }

    /// What the lead waits for beside everything else.
    pub(crate) fn watch(&self) -> Watch {
        let agents = self.agents.as_ref().filter(|_| self.is_lead());
        Watch {
            tree: agents.map(|agents| Arc::clone(agents.tree())),
            ceiling: agents.and_then(Agents::ceiling),
        }
    }

    /// The session has ended; a team that everybody left leaves nothing behind.
    pub(crate) fn leave_team(&self) {
        if let Some(team) = self.team().filter(|_| self.is_lead()) {
            team.clean_up();
        }
    }

    /// From now on teammates have so much time and no more.
    pub(crate) fn start_ceiling(&mut self) {
        let lead = self.is_lead();
        let ceiling = self.team().map(|team| team.ceiling);
        if let Some((agents, ceiling)) = self.agents.as_mut().zip(ceiling).filter(|_| lead) {
            agents.give_until(Instant::now() + ceiling);
        }
    }

    /// The time after the input was closed is over: whoever still works is stopped, and the lead
    /// is told so.
    pub(crate) fn reach_ceiling(&mut self) {
        let Some(team) = self.team() else { return };
        team.call_it_a_day();
        let members = team.members();
        let Some(agents) = &mut self.agents else { return };
        agents.give_no_more();
        for member in members {
            if let Some(agent) = agents.tree().book.find(&member.agent_id) {
                agent.give_up();
            }
        }
    }
}
