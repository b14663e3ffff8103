//! Runs that break, providers that are out of order, rounds that take too long.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use crate::launch::{Health, RunEnd};
use crate::live::committing::Change;
use crate::live::order::{Refusal, Reply};
use crate::live::run::{Beginning, Pending, Run};
use crate::live::talk::Talk;
use crate::metrics::Metrics;
use crate::store::MessageState;
use crate::wire::{ConversationState, Event, RunState};

/// Times a run is started again before somebody has to look.
const MOST_RESTARTS: u32 = 3;
/// A run that lived this long after it broke is healthy again.
const STABLE: Duration = Duration::from_secs(600);
/// Looks at a provider before somebody has to.
const MOST_LOOKS: u32 = 10;
/// How long a look may take.
const LONGEST_LOOK: Duration = Duration::from_secs(15);
/// What an engine says about an id that has a transcript already.
pub(crate) const IN_USE: &str = "is already in use";
/// Exit codes of a session that itself decided not to start.
const REFUSALS: std::ops::Range<i32> = 1..128;
/// What a session is told that was cut off without a message.
const BACK: &str = "The model's provider was out of order and is back. Go on with the work.";
const BROKE: &str = "The run broke and was started again. Go on with the work.";
/// How much of what a session said when it broke is shown.
const SHOWN: usize = 600;

impl Talk {
    /// A run has ended; whether that is all right depends on what it was doing.
    pub(crate) async fn run_ended(&mut self, end: RunEnd) {
        let Some(run) = self.retire_run() else { return };
        if run.is_leaving {
            return;
        }
        if run.beginning == Beginning::Stale && !self.trouble.is_healed {
            let is_answered = self.has_answers().await;
            if let Err(refusal) = self.heal().await {
                return self.failed_to_start(&refusal).await;
            }
            if is_answered && self.messages.is_empty() {
                return self.start_for_answers().await;
            }
            return self.deliver().await;
        }
        if run.beginning == Beginning::Fresh && end.message.contains(IN_USE) {
            // The host ended before it could note that the session had begun.
            self.row.session_begun = true;
            return self.deliver().await;
        }
        let was_busy = run.busy_since.is_some() || !self.messages.is_empty();
        if !was_busy && !self.has_answers().await {
            return;
        }
        Metrics::count(&self.shared.metrics.runs_broken);
        if run.greeting.is_none() && REFUSALS.contains(&end.exit_code) {
            // It would refuse again.
            return self.refused_to_start(&end).await;
        }
        tracing::error!(reason = end.message, "a run ended in the middle of its work");
        self.plan_restart(&end).await;
    }

    async fn refused_to_start(&mut self, end: &RunEnd) {
        tracing::error!(reason = end.message, code = end.exit_code, "a session did not start");
        let said = match end.message.as_str() {
            "" => "It did not say why; the log of the host may. ".to_owned(),
            said => format!("It said:\n{said}\n"),
        };
        let text = format!(
            "The run could not be started: the session ended with exit code {} before it took a \
             message. {said}Put that right, then send a message to try again; what was sent is \
             kept.",
            end.exit_code
        );
        self.enter(ConversationState::Failed, RunState::Failed, text).await;
    }

    async fn plan_restart(&mut self, end: &RunEnd) {
        let trouble = &mut self.trouble;
        if trouble.last_restart.is_some_and(|last| last.elapsed() > STABLE) {
            trouble.restarts = 0;
        }
        let said: String = end.message.chars().take(SHOWN).collect();
        let reason = match (end.exit_code, said.as_str()) {
            (0, "") => String::new(),
            (0, said) => format!(" ({said})"),
            (code, "") => format!(" (exit code {code})"),
            (code, said) => format!(" (exit code {code}: {said})"),
        };
        if trouble.restarts >= MOST_RESTARTS {
            let text = format!(
                "The run broke {} times in a row{reason}. It was not started again. Send a message \
                 to try once more, or look into the log.",
                MOST_RESTARTS + 1
            );
            trouble.restarts = 0;
            return self.enter(ConversationState::Failed, RunState::Failed, text).await;
        }
        let wait = self.shared.settings.timeouts.restart * 3_u32.pow(trouble.restarts);
        trouble.restarts += 1;
        trouble.last_restart = Some(Instant::now());
        trouble.restart_at = Some(Instant::now() + wait);
        let text = format!("The run broke{reason} and is started again.");
        self.enter(ConversationState::Running, RunState::Restarting, text).await;
    }

    /// Plans to look whether the provider is back.
    pub(crate) fn plan_look(&mut self, change: &mut Change) {
        Metrics::count(&self.shared.metrics.outages);
        self.row.shown.state = ConversationState::Paused;
        self.plan_next_look();
        let text = "The model's provider failed three times in a row. The conversation waits and \
                    goes on by itself once the provider is back; messages are kept.";
        change.push(Event::Run { state: RunState::Paused, message: text.to_owned() });
    }

    /// Plans to look soon, after a start of the host.
    pub(crate) fn plan_look_now(&mut self) {
        self.trouble.looks = 0;
        self.plan_next_look();
    }

    fn plan_next_look(&mut self) {
        let timeouts = &self.shared.settings.timeouts;
        let wait = timeouts.outage * 2_u32.pow(self.trouble.looks.min(10));
        self.trouble.look_at = Some(Instant::now() + wait.min(timeouts.outage_most));
    }

    async fn look(&mut self) {
        self.trouble.look_at = None;
        let model = self.shown().model;
        let looking = self.shared.launcher.probe(&model);
        let health = tokio::time::timeout(LONGEST_LOOK, looking).await.unwrap_or(Health::Down);
        self.trouble.looks += 1;
        if health == Health::Down && self.trouble.looks < MOST_LOOKS {
            return self.plan_next_look();
        }
        if health == Health::Down {
            let text = "The model's provider did not come back. Send a message to try again.";
            self.trouble.looks = 0;
            return self.enter(ConversationState::Failed, RunState::Failed, text).await;
        }
        let text = "The model's provider answers again, and the conversation goes on.";
        self.enter(ConversationState::Running, RunState::Running, text).await;
        self.go_on(BACK).await;
    }

    /// Has the session answer what it could not, and tells it why where it has no message.
    async fn go_on(&mut self, why: &'static str) {
        if !self.messages.is_empty() {
            return self.deliver().await;
        }
        if let Err(refusal) = self.ensure_run().await {
            return self.failed_to_start(&refusal).await;
        }
        self.nudge(why).await;
    }

    /// A person stops what is going on.
    pub(crate) async fn interrupt(&mut self, by: String, reply: Reply<()>) {
        let note = self.audit_note(&by, "run.interrupt", String::new());
        self.trouble.restart_at = None;
        self.trouble.look_at = None;
        self.use_up_answers().await;
        let is_busy = self.run.as_ref().is_some_and(|run| run.busy_since.is_some());
        if is_busy && let Some(run) = &mut self.run {
            run.request(serde_json::json!({"subtype": "interrupt"}), Pending::Nobody).await;
        } else {
            self.withdraw_all().await;
            self.row.shown.state = ConversationState::Idle;
        }
        let mut change = Change::run(RunState::Interrupted, format!("Stopped by {by}."));
        change.audit.push(note);
        let stored = self.commit(change).await.map_err(Refusal::from);
        drop(reply.send(stored));
    }

    /// When something is due.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let timeouts = &self.shared.settings.timeouts;
        let mut due = vec![self.trouble.restart_at, self.trouble.look_at, self.stuck.retry_at];
        if let Some(run) = &self.run {
            due.push(run.next_deadline());
            if !run.has_spoken && run.greeting.is_none() {
                due.push(Some(run.started + timeouts.startup));
            }
            match run.busy_since {
                Some(since) if run.cards.is_empty() => {
                    due.push(Some(run.last_output + timeouts.inactivity));
                    due.push(Some(since + timeouts.hard));
                }
                Some(since) => due.push(Some(since + timeouts.hard)),
                None if run.owes_answers() => {}
                None => due.push(Some(run.idle_since + timeouts.idle)),
            }
        }
        due.into_iter().flatten().min()
    }

    /// Does what is due.
    pub(crate) async fn due(&mut self) {
        let now = Instant::now();
        if self.stuck.retry_at.is_some_and(|at| at <= now) {
            return self.retry().await;
        }
        if self.trouble.restart_at.is_some_and(|at| at <= now) {
            self.trouble.restart_at = None;
            Metrics::count(&self.shared.metrics.runs_restarted);
            return self.go_on(BROKE).await;
        }
        if self.trouble.look_at.is_some_and(|at| at <= now) {
            return self.look().await;
        }
        let timeouts = self.shared.settings.timeouts.clone();
        let Some(run) = &mut self.run else { return };
        if let Some(cards) = run.give_up_overdue() {
            // What it did not take up it has to be told of.
            return self.reopened(&cards, &serde_json::Value::Null).await;
        }
        let is_silent = !run.has_spoken && run.greeting.is_none();
        let problem = match run.busy_since {
            _ if is_silent && run.started + timeouts.startup <= now => {
                Some(format!("The session said nothing in {} s.", timeouts.startup.as_secs()))
            }
            Some(since) if since + timeouts.hard <= now => {
                Some(format!("The round took longer than {} s.", timeouts.hard.as_secs()))
            }
            Some(_) if run.cards.is_empty() && run.last_output + timeouts.inactivity <= now => {
                Some(format!("Nothing came for {} s.", timeouts.inactivity.as_secs()))
            }
            None if run.idle_since + timeouts.idle <= now && !run.owes_answers() => {
                run.close_input();
                None
            }
            _ => None,
        };
        if let Some(problem) = problem {
            self.stop_run(&problem).await;
        }
    }

    /// Ends a run that takes too long. It is not started again by itself.
    async fn stop_run(&mut self, problem: &str) {
        if let Some(run) = &mut self.run {
            run.is_leaving = true;
            run.stop.cancel();
        }
        let mut change = Change::default();
        for (message, state) in &self.messages {
            if *state != MessageState::Waiting {
                change.messages.push((message.id.clone(), MessageState::Done));
            }
        }
        self.messages.retain(|(_, state)| *state == MessageState::Waiting);
        self.close_ranks(&mut change);
        let message = format!("{problem} The run was stopped. Send a message to go on.");
        change.push(Event::Run { state: RunState::Failed, message });
        self.row.shown.state = ConversationState::Failed;
        self.keep(change).await;
    }

    /// Waits until a run that was told to end has done so.
    pub(crate) async fn wait_for_end_of_run(&mut self) {
        let longest = self.shared.settings.timeouts.drain;
        let ended = tokio::time::timeout(longest, self.work.join_next()).await;
        if ended.is_err() {
            self.work.abort_all();
        }
        self.retire_run();
    }

    /// Lets go of the run; whoever waits for an answer of it is told.
    fn retire_run(&mut self) -> Option<Run> {
        let mut run = self.run.take()?;
        run.give_up();
        self.shared.metrics.sessions.fetch_sub(1, Ordering::Relaxed);
        Some(run)
    }
}
