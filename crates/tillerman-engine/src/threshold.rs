//! The edges of a session: hooks that run before its first round and after its last, and what hooks
//! say when nobody waits for them.

use tillerman_protocol::frame::SystemDetail;
use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::transcript::Entry;

use crate::calls::HookRunId;
use crate::effect::Effect;
use crate::hooks::HookOutcome;
use crate::input::{Author, Prompt};
use crate::round::Ending;
use crate::session::{Door, Session};

/// Texts of hooks that wait for the next request; older ones give way.
const MOST_TEXTS: usize = 64;
const MAY_RETRY: &str = "A hook says that the call that was denied may be tried again.";

/// How a session began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// `startup`, `resume`, `clear`, `compact` or `fork`.
    pub source: String,
    /// Why the working copy is to be prepared first: `init` or `maintenance`.
    pub setup: Option<String>,
}

impl Default for Beginning {
    fn default() -> Self {
        Self { source: "startup".to_owned(), setup: None }
    }
}

/// What happens at the edges of a session.
#[derive(Debug, Default)]
pub(crate) struct Threshold {
    crossing: Option<Crossing>,
    /// Texts that hooks want the model to see with the next request, whenever that is.
    context: Vec<String>,
    /// A hook wants the first round to end before it begins, for this reason.
    halt: Option<String>,
}

/// The hooks that everything waits for.
#[derive(Debug)]
enum Crossing {
    /// A working copy is prepared; then the session starts, from this source.
    Setup(HookRunId, String),
    Start(HookRunId),
    End(HookRunId),
}

impl Crossing {
    const fn run(&self) -> HookRunId {
        match self {
            Self::Setup(run, _) | Self::Start(run) | Self::End(run) => *run,
        }
    }
}

impl Threshold {
    /// Whether rounds have to wait.
    pub(crate) const fn is_busy(&self) -> bool {
        self.crossing.is_some()
    }

    /// What waits for the next request.
    pub(crate) fn take_context(&mut self) -> Vec<String> {
        std::mem::take(&mut self.context)
    }

    fn add_context(&mut self, texts: Vec<String>) {
        self.context.extend(texts);
        let over = self.context.len().saturating_sub(MOST_TEXTS);
        self.context.drain(..over);
    }
}

impl Session {
    /// Tells hooks that the session begins; rounds wait until they have answered.
    pub(crate) fn begin(&mut self, beginning: Beginning) {
        let Beginning { source, setup } = beginning;
        match setup.filter(|_| self.is_hooked(HookEvent::Setup)) {
            Some(trigger) => {
                let run = self.run_hooks(HookDetail::Setup { trigger });
                self.threshold.crossing = Some(Crossing::Setup(run, source));
            }
            None => self.enter(source),
        }
    }

    fn enter(&mut self, source: String) {
        if self.is_hooked(HookEvent::SessionStart) {
            let model = self.choices.model.clone();
            let run = self.run_hooks(HookDetail::SessionStart { source, model });
            self.threshold.crossing = Some(Crossing::Start(run));
        }
    }

    /// Ends the session, after the hooks that listen for it have run.
    pub(crate) fn end(&mut self) {
        self.drop_tasks();
        if matches!(self.threshold.crossing, Some(Crossing::End(_))) {
            return;
        }
        self.give_up_beginning();
        // An agent is not a session to hooks; they hear of its end as such.
        if !self.is_hooked(HookEvent::SessionEnd) || self.config.agent.is_some() {
            return self.leave();
        }
        self.door = Door::Closed;
        let run = self.run_hooks(HookDetail::SessionEnd { reason: "other".to_owned() });
        self.threshold.crossing = Some(Crossing::End(run));
    }

    fn leave(&mut self) {
        // Something may have been left behind while hooks ran.
        self.drop_tasks();
        self.door = Door::Ended;
        self.effects.push(Effect::End);
    }

    /// Goes on without the hooks that a beginning waits for.
    pub(crate) fn give_up_beginning(&mut self) {
        match self.threshold.crossing.take() {
            Some(Crossing::End(run)) => self.threshold.crossing = Some(Crossing::End(run)),
            Some(crossing) => self.effects.push(Effect::CancelHooks { run: crossing.run() }),
            None => {}
        }
    }

    /// Takes the answer of hooks at the threshold; gives back one that belongs elsewhere.
    pub(crate) fn crossed(&mut self, run: HookRunId, outcome: HookOutcome) -> Option<HookOutcome> {
        if self.threshold.crossing.as_ref().is_none_or(|crossing| crossing.run() != run) {
            return Some(outcome);
        }
        self.entitle(outcome.title.clone());
        for message in &outcome.messages {
            self.emit_notification("hook", message);
        }
        let crossing = self.threshold.crossing.take()?;
        if matches!(crossing, Crossing::End(_)) {
            self.leave();
            return None;
        }
        self.threshold.add_context(outcome.context);
        if self.threshold.halt.is_none() {
            self.threshold.halt = outcome.halt;
        }
        if let Some(text) = outcome.first_prompt {
            self.queue.push_front(Prompt::text(text));
        }
        if let Crossing::Setup(_, source) = crossing {
            self.enter(source);
        }
        None
    }

    /// Ends a round at once if a hook wanted the session to stop before it began.
    pub(crate) fn is_stopped_at_threshold(&mut self, prompts: &[Prompt]) -> bool {
        let Some(reason) = self.threshold.halt.take() else { return false };
        self.drop_prompts(prompts);
        self.finish(Ending::Halted(reason));
        true
    }

    /// Takes in what hooks say that nobody waited for.
    pub(crate) fn hooks_spoke(&mut self, outcome: HookOutcome, wakes: bool) {
        self.entitle(outcome.title.clone());
        for message in &outcome.messages {
            self.emit_notification("hook", message);
        }
        let mut texts = outcome.context;
        if outcome.retry {
            texts.push(MAY_RETRY.to_owned());
        }
        self.threshold.add_context(texts);
        self.with_round(|round| round.halt = round.halt.take().or(outcome.halt));
        if let Some(reason) = outcome.block.filter(|_| wakes) {
            let text = format!("A hook in the background wants you to know:\n{reason}");
            self.queue.push_back(Prompt { author: Author::Engine, ..Prompt::text(text) });
        }
    }

    /// Gives the session a title that a hook or the host chose.
    pub(crate) fn entitle(&mut self, title: Option<String>) {
        if let Some(custom_title) = title {
            let session_id = self.config.session_id.clone();
            let title = Some(custom_title.clone());
            self.append(Entry::CustomTitle { custom_title, session_id });
            let extra = serde_json::Map::new();
            self.emit_system(SystemDetail::SessionTitleChanged { title, extra });
        }
    }
}
