//! Prompts on their way into the conversation: what hooks say about them, and how they are taken up.

use tillerman_protocol::hook::{HookDetail, HookEvent};

use crate::hooks::HookOutcome;
use crate::input::Prompt;
use crate::round::{Ending, Stage};
use crate::session::Session;

impl Session {
    /// Has hooks look at prompts, if any listen, before the model hears of them: first at what
    /// commands were made into, then at what people said.
    pub(crate) fn submit(&mut self, mut prompts: Vec<Prompt>) {
        self.name_round(&prompts);
        if let Some(detail) = self.expansion(&mut prompts) {
            let run = self.run_hooks(detail);
            return self.set_stage(Stage::Expanding(run, prompts));
        }
        let Some(detail) = self.submission(&prompts) else { return self.take_up(prompts) };
        let run = self.run_hooks(detail);
        self.set_stage(Stage::Submitting(run, prompts));
    }

    /// What hooks are told about the next command among prompts that they have not heard of.
    fn expansion(&self, prompts: &mut [Prompt]) -> Option<HookDetail> {
        if !self.is_hooked(HookEvent::UserPromptExpansion) {
            return None;
        }
        prompts.iter_mut().find_map(|prompt| {
            let expansion = prompt.command.as_mut()?.expansion.take()?;
            Some(HookDetail::UserPromptExpansion {
                expansion_type: expansion.kind.to_owned(),
                command_name: expansion.name,
                command_args: expansion.arguments,
                command_source: expansion.source,
                prompt: prompt.content.plain_text(),
            })
        })
    }

    /// Goes on with what the hooks of an expansion let pass.
    pub(crate) fn expansion_judged(&mut self, prompts: Vec<Prompt>, outcome: HookOutcome) {
        if let Some(prompts) = self.let_pass(prompts, outcome) {
            self.submit(prompts);
        }
    }

    /// What hooks are told before prompts are taken up: what a person says, or that an agent starts.
    fn submission(&self, prompts: &[Prompt]) -> Option<HookDetail> {
        let begins = self.round.as_ref().is_some_and(|round| round.turns == 0);
        match &self.config.agent {
            None if self.is_hooked(HookEvent::UserPromptSubmit) => {
                let texts: Vec<String> = prompts.iter().map(Prompt::typed).collect();
                Some(HookDetail::UserPromptSubmit { prompt: texts.join("\n") })
            }
            Some(_) if begins && !self.has_answered && self.is_hooked(HookEvent::SubagentStart) => {
                Some(HookDetail::SubagentStart {})
            }
            _ => None,
        }
    }

    pub(crate) fn submitted(&mut self, prompts: Vec<Prompt>, mut outcome: HookOutcome) {
        // Hooks hear that an agent starts; what it was asked is not theirs to refuse.
        outcome.block = outcome.block.filter(|_| self.config.agent.is_none());
        if let Some(prompts) = self.let_pass(prompts, outcome) {
            self.take_up(prompts);
        }
    }

    /// The prompts, unless hooks object to them; then the round has gone on or ended.
    fn let_pass(&mut self, prompts: Vec<Prompt>, outcome: HookOutcome) -> Option<Vec<Prompt>> {
        self.entitle(outcome.title.clone());
        let ending = outcome.halt.map(Ending::Halted);
        let has_begun = self.round.as_ref().is_some_and(|round| round.is_announced);
        if let (None, Some(reason), true) = (&ending, &outcome.block, has_begun) {
            // The round had begun without these prompts and goes on without them.
            self.drop_prompts(&prompts);
            self.emit_notification("hook", &format!("A hook blocked a prompt: {reason}"));
            self.request();
            return None;
        }
        let keeps_quiet = outcome.suppresses_prompt;
        let blocked = outcome.block.map(|reason| {
            let text = format!("A hook blocked the prompt: {reason}");
            if keeps_quiet {
                text
            } else {
                format!("{text}\n\nOriginal prompt: {}", typed(&prompts))
            }
        });
        if let Some(ending) = ending.or_else(|| blocked.map(Ending::Blocked)) {
            if !has_begun {
                self.emit_init();
            }
            self.drop_prompts(&prompts);
            self.finish(ending);
            return None;
        }
        self.with_round(|round| round.context.extend(outcome.context));
        Some(prompts)
    }

    /// The round ends without these prompts; hosts still learn that they are done with.
    pub(crate) fn drop_prompts(&mut self, prompts: &[Prompt]) {
        let uuids = prompts.iter().filter_map(|prompt| prompt.uuid.clone());
        self.with_round(|round| round.prompts.extend(uuids));
    }

    /// Adds a prompt to the conversation that nobody is to answer.
    pub(crate) fn add_quietly(&mut self, prompt: Prompt) {
        let (client_uuid, content) = (prompt.uuid.clone(), prompt.content.clone());
        let uuid = self.record_prompt(prompt);
        self.checkpoint(vec![uuid.clone()]);
        self.emit_prompt(uuid, content);
        if let Some(client_uuid) = client_uuid {
            self.emit_lifecycle(client_uuid, "completed");
        }
    }

    /// Takes prompts into the conversation: the first ones of a round open it, later ones join it.
    fn take_up(&mut self, prompts: Vec<Prompt>) {
        let opens = self.round.as_ref().is_some_and(|round| !round.is_announced);
        let mut anything = !opens;
        let mut replays = Vec::new();
        for prompt in prompts {
            let (content, said) = (prompt.content.clone(), !prompt.content.is_blank());
            let uuid = self.record_prompt(prompt);
            anything |= said;
            replays.push((uuid, content));
        }
        // Before hosts see the prompts, which they can rewind to from then on.
        self.checkpoint(replays.iter().map(|(uuid, _)| uuid.clone()).collect());
        if opens {
            self.emit_init();
        }
        for (uuid, content) in replays {
            self.emit_prompt(uuid, content);
        }
        if anything {
            self.request();
        } else {
            self.finish(Ending::Completed);
        }
    }
}

/// What was typed, prompt by prompt.
fn typed(prompts: &[Prompt]) -> String {
    let texts: Vec<String> = prompts.iter().map(Prompt::typed).collect();
    texts.join("\n")
}
