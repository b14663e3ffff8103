//! Starting runs: new, resumed, healed.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use serde_json::{Map, json};
use tracing::Instrument as _;

use crate::compose::Composition;
use crate::launch::{LaunchError, SessionStart};
use crate::live::committing::{Change, said};
use crate::live::order::{Refusal, RefusalKind};
use crate::live::run::{Beginning, Pending, Run};
use crate::live::saying::no_ids;
use crate::live::shared::new_id;
use crate::live::talk::Talk;
use crate::live::trouble::IN_USE;
use crate::metrics::Metrics;
use crate::shelf::guarded;
use crate::store::{Kind, NewEvent};
use crate::wire::{ConversationState, Event, Project, RunState};

/// Messages that a session which starts afresh is told of.
const RETOLD: usize = 40;
/// How much of each.
const RETOLD_EACH: usize = 2_000;
/// Events that are looked through for them.
const LOOKED_THROUGH: usize = 2_000;

impl Talk {
    /// Makes sure that there is a run.
    pub(crate) async fn ensure_run(&mut self) -> Result<(), Refusal> {
        if self.is_draining {
            let text = "The host is shutting down. What was sent goes on after its next start.";
            return Err(Refusal::new(RefusalKind::Unavailable, text));
        }
        if self.run.as_ref().is_some_and(|run| !run.is_leaving) {
            return Ok(());
        }
        if self.run.is_some() {
            self.wait_for_end_of_run().await;
        }
        match self.launch().await? {
            Ok(()) => Ok(()),
            Err(error) if error.session_is_gone && !self.trouble.is_healed => {
                self.heal().await?;
                self.launch().await?.map_err(failed)
            }
            Err(error) if error.message.contains(IN_USE) && !self.row.session_begun => {
                // The host ended before it could note that the session had begun.
                self.row.session_begun = true;
                self.launch().await?.map_err(failed)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Starts the session that belongs to the conversation.
    async fn launch(&mut self) -> Result<Result<(), LaunchError>, Refusal> {
        let composition = self.composition().await?;
        let session = self.session_start()?;
        let is_resumed = !matches!(session, SessionStart::Begin(_));
        // The id is stored before anything is done under it.
        self.commit(Change::default()).await?;
        let cwd = PathBuf::from(&self.row.shown.cwd);
        let mode = self.row.shown.permission_mode.clone();
        let mut order = composition.order(session, cwd, mode);
        order.model = Some(self.shown().model).filter(|model| !model.is_empty());
        order.may_bypass = self.shared.settings.may_bypass;
        order.owner = self.shared.further_owner(&self.row.shown.owner);
        order.guarded_paths.extend(guarded(self.shared.store.directory()));
        let launching = self.shared.launcher.launch(order);
        let longest = self.shared.settings.timeouts.startup;
        let session = match tokio::time::timeout(longest, launching).await {
            Ok(Ok(session)) => session,
            Ok(Err(error)) => return Ok(Err(error)),
            Err(_) => return Ok(Err(LaunchError::new("The session did not start in time."))),
        };
        let mut session = session;
        let ended = std::mem::replace(&mut session.ended, Box::pin(std::future::pending()));
        self.work.spawn(ended.in_current_span());
        let beginning = if is_resumed { Beginning::Resumed } else { Beginning::Fresh };
        let mut run = Run::new(session, beginning);
        run.request(self.handshake(&composition), Pending::Greeting(Vec::new())).await;
        self.run = Some(run);
        Metrics::count(&self.shared.metrics.runs_started);
        self.shared.metrics.sessions.fetch_add(1, Ordering::Relaxed);
        self.reopen().await;
        Ok(Ok(()))
    }

    fn handshake(&self, composition: &Composition) -> serde_json::Value {
        let parts = [Some(composition.prompt()), self.retelling.clone()];
        let parts: Vec<String> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        let mut body = Map::new();
        body.insert("subtype".to_owned(), json!("initialize"));
        body.insert("hooks".to_owned(), json!(null));
        if !parts.is_empty() {
            body.insert("appendSystemPrompt".to_owned(), json!(parts.join("\n\n")));
        }
        let agents = composition.agents();
        if !agents.is_empty() {
            body.insert("agents".to_owned(), json!(agents));
        }
        serde_json::Value::Object(body)
    }

    /// Which session it is; a conversation without one gets one.
    fn session_start(&mut self) -> Result<SessionStart, Refusal> {
        let id = match &self.row.shown.session_id {
            Some(id) => id.clone(),
            None => new_id().ok_or_else(no_ids)?,
        };
        self.row.shown.session_id = Some(id.clone());
        Ok(match (self.row.session_begun, self.row.drops_message.clone()) {
            (false, _) => SessionStart::Begin(id),
            (true, None) => SessionStart::Resume(id),
            (true, Some(message)) => SessionStart::ResumeBefore { session: id, message },
        })
    }

    /// The project behind the conversation and everything it names.
    pub(crate) async fn composition(&self) -> Result<Composition, Refusal> {
        let Some(project_id) = self.row.shown.project_id.clone() else {
            return Ok(Composition::default());
        };
        let composition = self
            .shared
            .store
            .read(move |db| {
                let project: Option<Project> = Kind::Project.find(db, &project_id)?;
                let Some(project) = project else { return Ok(Composition::default()) };
                let mut whole = Composition::default();
                for id in &project.persona_ids {
                    whole.personas.extend(Kind::Persona.find(db, id)?);
                }
                for id in &project.skill_ids {
                    whole.skills.extend(Kind::Skill.find(db, id)?);
                }
                for id in &project.agent_ids {
                    whole.agents.extend(Kind::Agent.find(db, id)?);
                }
                whole.project = Some(project);
                Ok(whole)
            })
            .await?;
        Ok(composition)
    }

    /// Gives a conversation whose session is gone a new one that knows what was said, and what was
    /// answered.
    pub(crate) async fn heal(&mut self) -> Result<(), Refusal> {
        self.trouble.is_healed = true;
        self.withdraw_all().await;
        let mut retelling = vec![self.retell().await?];
        retelling.extend(self.retell_answers().await);
        self.retelling = Some(retelling.join("\n\n"));
        self.row.shown.session_id = None;
        self.row.session_begun = false;
        self.row.session_cost = 0.0;
        self.row.drops_message = None;
        let text = "The session behind this conversation could not be found any more. The agent \
                    starts afresh and was told what was said so far; it does not remember what its \
                    tools showed it.";
        self.enter(ConversationState::Running, RunState::Restarting, text).await;
        Ok(())
    }

    /// What was said so far, for a session that was not there.
    async fn retell(&self) -> Result<String, Refusal> {
        let (id, last) = (self.row.shown.id.clone(), self.row.last_seq);
        let after = last.saturating_sub(LOOKED_THROUGH as u64);
        let events = self
            .shared
            .store
            .read(move |db| NewEvent::after(db, &id, after, LOOKED_THROUGH))
            .await?;
        let mut lines: Vec<String> = Vec::new();
        for event in events {
            let (who, text) = match serde_json::from_str(&event.body) {
                Ok(Event::User { text, .. }) => ("User", text),
                Ok(Event::Frame { frame }) if frame["type"] == "assistant" => {
                    ("Assistant", said(&frame))
                }
                _ => continue,
            };
            if !text.trim().is_empty() {
                let text: String = text.chars().take(RETOLD_EACH).collect();
                lines.push(format!("{who}: {text}"));
            }
        }
        let from = lines.len().saturating_sub(RETOLD);
        Ok(format!(
            "## Earlier in this conversation\n\nYour memory of it was lost. This was said:\n\n{}",
            lines[from..].join("\n\n")
        ))
    }

    /// The host has started; whatever was cut off goes on.
    pub(crate) async fn wake_up(&mut self) {
        if self.run.is_some() {
            return;
        }
        let cards = self.unheard_cards().await;
        let answered = cards.iter().filter(|card| card.is_unheard()).count();
        match self.row.shown.state {
            ConversationState::Paused => return self.plan_look_now(),
            ConversationState::Waiting | ConversationState::Running => {
                if !cards.is_empty() && answered == 0 {
                    let text = "The host was restarted. The question is still open; the run goes \
                                on once it is answered.";
                    return self.enter(ConversationState::Waiting, RunState::Idle, text).await;
                }
                if cards.is_empty() && self.messages.is_empty() {
                    return self.enter(ConversationState::Idle, RunState::Idle, "").await;
                }
            }
            // The host ended before anybody could take up an answer that it had accepted.
            ConversationState::Idle | ConversationState::Failed if answered > 0 => {}
            ConversationState::Idle | ConversationState::Failed => return,
        }
        let text = "The host was restarted, and the run goes on.";
        self.enter(ConversationState::Running, RunState::Restarting, text).await;
        if self.messages.is_empty() {
            self.start_for_answers().await;
        } else {
            self.deliver().await;
        }
    }
}

fn failed(error: LaunchError) -> Refusal {
    Refusal::new(RefusalKind::Failed, error.message)
}
