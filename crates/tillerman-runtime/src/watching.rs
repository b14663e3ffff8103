//! Tells whoever watches a session what the engine hears and wants.

use tillerman_engine::{Effect, Input};
use tillerman_ports::{Observed, ObservedAgent, Observer};
use tillerman_protocol::frame::Frame;
use tillerman_protocol::{Moment, ToolUseId};

use crate::session_task::SessionTask;

/// What stands between a session and whoever watches it; nothing is done when nobody does.
#[derive(Debug, Default)]
pub(crate) struct Watching {
    observer: Option<Box<dyn Observer>>,
    is_in_round: bool,
}

impl Watching {
    pub(crate) fn new(observer: Option<Box<dyn Observer>>) -> Self {
        Self { observer, is_in_round: false }
    }

    /// The engine is about to hear this.
    pub(crate) fn hears(&mut self, at: Moment, input: &Input) {
        let Some(observer) = &mut self.observer else { return };
        match input {
            Input::Prompted(prompt) if prompt.wants_answer => self.in_round(at),
            Input::ModelReported { response, event } => {
                observer.note(at, Observed::ModelReported { response: response.0, event });
            }
            Input::ToolEnded { call, outcome } => {
                observer.note(at, Observed::CallEnded { call: call.0, outcome });
            }
            _ => {}
        }
    }

    /// The engine wants this.
    pub(crate) fn wants(&mut self, at: Moment, effect: &Effect) {
        if self.observer.is_none() {
            return;
        }
        if matches!(effect, Effect::CallModel { .. } | Effect::RunTool { .. }) {
            self.in_round(at);
        }
        let is_result =
            matches!(effect, Effect::Emit(frame) if matches!(**frame, Frame::Result(_)));
        if is_result {
            self.is_in_round = false;
        }
        if let (Some(observer), Some(event)) = (&mut self.observer, of_effect(effect)) {
            observer.note(at, event);
        }
    }

    /// Work has begun. A prompt that waited comes without a word when its turn is there.
    fn in_round(&mut self, at: Moment) {
        let Some(observer) = self.observer.as_mut().filter(|_| !self.is_in_round) else { return };
        self.is_in_round = true;
        observer.note(at, Observed::RoundStarted);
    }
}

fn of_effect(effect: &Effect) -> Option<Observed<'_>> {
    Some(match effect {
        Effect::CallModel { response, request } => {
            Observed::ModelAsked { response: response.0, request }
        }
        Effect::CancelModel { response } => Observed::ModelCancelled { response: response.0 },
        Effect::RunTool { call, tool_use_id, name, input } => {
            Observed::CallStarted { call: call.0, tool_use_id, name, input }
        }
        Effect::CancelTool { call } => Observed::CallCancelled { call: call.0 },
        Effect::StartOver { session } => Observed::StartedOver { session },
        Effect::Emit(frame) => match &**frame {
            Frame::Result(result) => Observed::RoundEnded { result },
            _ => return None,
        },
        _ => return None,
    })
}

impl SessionTask {
    /// Whoever watches this session watches the agents below it as well.
    pub(crate) fn watch_below(
        &self,
        call: &ToolUseId,
        id: &str,
        kind: &str,
    ) -> Option<Box<dyn Observer>> {
        let observer = self.watching.observer.as_ref()?;
        let agent = ObservedAgent { id: id.to_owned(), kind: kind.to_owned() };
        Some(observer.below(call, &agent))
    }
}
