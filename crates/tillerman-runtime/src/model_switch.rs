//! Another model on request: hooks that listen are asked first, and what comes after the request
//! waits with it.

use serde_json::{Map, json};
use tillerman_engine::{HookOutcome, Input};
use tillerman_protocol::RequestId;
use tillerman_protocol::hook::{HookDetail, ModelSwitch};

use crate::control::Answer;
use crate::mcp_desk::{Gate, Held};
use crate::session_task::SessionTask;

/// A wish for another model.
#[derive(Clone, Debug)]
pub(crate) struct ModelWish {
    /// The request to be answered, where one waits.
    pub(crate) request: Option<RequestId>,
    /// The model; nothing means the default.
    pub(crate) model: Option<String>,
}

/// What hooks say about a wish.
#[derive(Debug)]
pub(crate) struct ModelJudged {
    pub(crate) wish: ModelWish,
    /// Nothing when it could not be found out, which agrees to nothing.
    pub(crate) outcome: Option<HookOutcome>,
}

impl SessionTask {
    /// Serves `set_model`.
    pub(crate) async fn set_model(&mut self, id: RequestId, model: Option<String>) {
        let model = model.filter(|name| name != "default");
        if let Some(Err(refused)) = model.as_ref().map(|name| self.check_model(name)) {
            return self.respond(id, Err(refused)).await;
        }
        let catalog = &self.engine.config().catalog;
        let model = model.map(|name| catalog.resolve(&name).to_owned());
        self.wish_for_model(ModelWish { request: Some(id), model }).await;
    }

    /// Goes over to another model, once hooks that listen have agreed.
    pub(crate) async fn wish_for_model(&mut self, wish: ModelWish) {
        if !self.hears(&self.switch_to(&wish)) {
            return self.switch_model(wish).await;
        }
        self.mcp.held.push_back(Held::Model(wish));
        self.take_held().await;
    }

    /// Has hooks look at a wish; prompts wait meanwhile.
    pub(crate) fn ask_about_model(&mut self, wish: ModelWish) {
        self.mcp.gate = Gate::Switching;
        let (line, detail) = (self.hook_line(), self.switch_to(&wish));
        let judged = wish.clone();
        self.work.switch(wish, async move {
            let outcome = Some(line.ask(detail).await);
            ModelJudged { wish: judged, outcome }
        });
    }

    pub(crate) async fn model_judged(&mut self, judged: ModelJudged) {
        if matches!(self.mcp.gate, Gate::Switching) {
            self.mcp.gate = Gate::Open;
        }
        let ModelJudged { wish, outcome } = judged;
        let refusal = match outcome {
            Some(outcome) => outcome.refusal().or(outcome.halt),
            None => Some("it could not be asked".to_owned()),
        };
        match refusal {
            None => self.switch_model(wish).await,
            Some(reason) => {
                let wanted = wish.model.as_deref().unwrap_or("the default model");
                let kept = self.engine.model();
                let text = format!("A hook refused {wanted}: {reason}. {kept} goes on answering.");
                self.tell_about_model(wish.request, Err((text, Some("model_refused")))).await;
            }
        }
        self.take_held().await;
    }

    async fn switch_model(&mut self, wish: ModelWish) {
        self.feed(Input::ModelChosen(wish.model)).await;
        let answer = json!({"model": self.engine.model()});
        self.tell_about_model(wish.request, Ok(answer)).await;
    }

    async fn tell_about_model(&mut self, request: Option<RequestId>, answer: Answer) {
        match (request, answer) {
            (Some(id), answer) => self.respond(id, answer).await,
            (None, Err((text, _))) => {
                tracing::warn!("{text}");
                self.notify("model_refused", &text).await;
            }
            (None, Ok(_)) => {}
        }
    }

    fn switch_to(&self, wish: &ModelWish) -> HookDetail {
        let default = || self.engine.config().model.clone();
        HookDetail::PreModelSwitch(ModelSwitch {
            from_model: self.engine.model().to_owned(),
            to_model: wish.model.clone().unwrap_or_else(default),
            requested_model: wish.model.clone(),
            source: "sdk".to_owned(),
            extra: Map::new(),
        })
    }
}
