//! Going over to another model: what hooks say before it happens.

use serde_json::{Map, json};
use tillerman_protocol::frame::SystemDetail;
use tillerman_protocol::hook::{HookDetail, HookEvent, ModelSwitch};
use tillerman_protocol::model::ModelFailure;

use crate::calls::HookRunId;
use crate::compaction::Compaction;
use crate::hooks::{HookDecision, HookOutcome};
use crate::response::Response;
use crate::round::{Ending, Stage};
use crate::session::Session;

/// What became of the wish for the next model of the chain.
pub(crate) enum NextModel {
    /// It answers from now on.
    Taken,
    /// Hooks are asked about it.
    Asked(HookRunId),
    /// There is none.
    None,
}

/// What goes on once hooks have said whether another model may answer.
#[derive(Debug)]
pub(crate) enum Switching {
    /// A request failed.
    Failure(Box<Response>, Box<ModelFailure>),
    /// A request for a summary failed.
    Summary(Box<Compaction>, Box<ModelFailure>),
    /// A model refused to answer.
    Refusal,
    /// A person chose this model by command.
    Command(String),
}

impl Switching {
    /// The failure behind it; a model that refused has not failed.
    fn failure(&self) -> Option<&ModelFailure> {
        match self {
            Self::Failure(_, failure) | Self::Summary(_, failure) => Some(failure),
            Self::Refusal | Self::Command(_) => None,
        }
    }
}

impl Session {
    /// Goes over to the next model of the chain, once hooks that listen have agreed.
    pub(crate) fn next_model(&mut self, failure: Option<&ModelFailure>) -> NextModel {
        let Some(to_model) = self.next_in_chain() else { return NextModel::None };
        if self.is_hooked(HookEvent::PreModelSwitch) {
            let detail = HookDetail::PreModelSwitch(self.fallback_to(to_model));
            return NextModel::Asked(self.run_hooks(detail));
        }
        self.take_next_model(failure);
        NextModel::Taken
    }

    /// Has hooks look at a model that a person chose by command. False when nobody listens.
    pub(crate) fn ask_about_model(&mut self, to_model: &str) -> bool {
        let from_model = self.choices.model.clone();
        if from_model == to_model || !self.is_hooked(HookEvent::PreModelSwitch) {
            return false;
        }
        // Hosts see the round begin before anything in it waits.
        self.emit_init();
        let run = self.run_hooks(HookDetail::PreModelSwitch(ModelSwitch {
            from_model,
            to_model: to_model.to_owned(),
            requested_model: Some(to_model.to_owned()),
            source: "command".to_owned(),
            extra: Map::new(),
        }));
        self.set_stage(Stage::Switching(run, Switching::Command(to_model.to_owned())));
        true
    }

    /// Goes on with another model, or without it where hooks object.
    pub(crate) fn switch_judged(&mut self, switching: Switching, outcome: HookOutcome) {
        let refusal = outcome.refusal();
        self.with_round(|round| round.context.extend(outcome.context));
        if let Some(reason) = outcome.halt {
            if matches!(switching, Switching::Summary(..)) {
                self.emit_compaction_failure(&reason);
            }
            return self.finish(Ending::Halted(reason));
        }
        if let Switching::Command(model) = switching {
            return self.command_judged(model, refusal);
        }
        match &refusal {
            Some(reason) => self.pass_over(reason),
            None => self.take_next_model(switching.failure()),
        }
        let is_refused = refusal.is_some();
        match switching {
            Switching::Failure(response, failure) if is_refused => {
                self.repeat_or_give_up(&response, *failure);
            }
            Switching::Summary(compaction, failure) if is_refused => {
                self.summary_failed(compaction, *failure);
            }
            Switching::Refusal if is_refused => self.answered_without_calls(false),
            Switching::Failure(..) | Switching::Refusal => match self.exhausted() {
                Some(ending) => self.finish(ending),
                None => self.call_model(),
            },
            Switching::Summary(compaction, _) => self.ask_for_summary(compaction),
            Switching::Command(_) => {}
        }
    }

    fn command_judged(&mut self, model: String, refusal: Option<String>) {
        let answer = match refusal {
            Some(reason) => {
                let kept = &self.choices.model;
                format!("A hook refused {model}: {reason}\nModel: {kept}")
            }
            None => {
                self.choose_model(Some(model), "command");
                format!("Model: {}", self.choices.model)
            }
        };
        self.finish(Ending::Command(answer));
    }

    /// Goes on with the next model of the chain, and tells the host why.
    fn take_next_model(&mut self, failure: Option<&ModelFailure>) {
        let why = failure.map_or_else(
            || "refused to answer".to_owned(),
            |failure| format!("failed ({failure})"),
        );
        let trigger = failure.map_or("refusal", |failure| failure.kind.name());
        let Some(model) = self.next_in_chain() else { return };
        let switch = self.fallback_to(model.clone());
        let Some(round) = self.round.as_mut() else { return };
        round.fallbacks_used += 1;
        round.retries = 0;
        let text = format!("{} {why}; going on with {model}.", round.model);
        round.model = model;
        self.conversation.seal();
        self.emit_notification("fallback_model", &text);
        self.emit_system(SystemDetail::Other(Map::from_iter([
            ("subtype".to_owned(), json!("model_fallback")),
            ("original_model".to_owned(), json!(switch.from_model)),
            ("fallback_model".to_owned(), json!(switch.to_model)),
            ("trigger".to_owned(), json!(trigger)),
            ("content".to_owned(), json!(text)),
        ])));
        self.tell_hooks(HookDetail::PostModelSwitch(switch));
    }

    /// Leaves the next model of the chain out.
    fn pass_over(&mut self, reason: &str) {
        let Some(model) = self.next_in_chain() else { return };
        self.with_round(|round| round.fallbacks_used += 1);
        let text = format!("A hook refused to go on with {model}: {reason}");
        self.emit_notification("fallback_model", &text);
    }

    pub(crate) fn next_in_chain(&self) -> Option<String> {
        let round = self.round.as_ref()?;
        self.config.fallback_models.get(round.fallbacks_used).cloned()
    }

    fn fallback_to(&self, to_model: String) -> ModelSwitch {
        let from_model = self.round.as_ref().map(|round| round.model.clone());
        ModelSwitch {
            from_model: from_model.unwrap_or_default(),
            requested_model: Some(to_model.clone()),
            to_model,
            source: "fallback".to_owned(),
            extra: Map::new(),
        }
    }
}

impl HookOutcome {
    /// Why hooks object to what is about to happen, if they do.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        match &self.decision {
            Some(HookDecision::Deny(reason)) => Some(reason.clone()),
            _ => self.block.clone(),
        }
    }
}
