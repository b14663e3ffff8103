//! Checks of calls: written down before they run, permitted as they run, closed exactly once.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tillerman_engine::{
    AskId, CallId, Effect, HookDecision, HookOutcome, HookRunId, Input, Judgement, Limits,
    PermissionAnswer,
};
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::hook::HookDetail;
use tillerman_protocol::permission::PermissionResult;
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{EntryId, ToolUseId};

use super::fault::{Checked, Fault, ensure};

/// Watches the calls of a session.
#[derive(Debug, Default)]
pub(super) struct CallBook {
    calls: HashMap<ToolUseId, Record>,
    open: HashSet<ToolUseId>,
    process: Process,
}

/// What is known about one call, whatever process made it.
#[derive(Debug)]
struct Record {
    entry: EntryId,
    ran: bool,
    /// A hook put the decision off or the process died, so the call may be open while idle.
    deferred: bool,
    denied: bool,
}

/// What holds until the process dies.
#[derive(Debug, Default)]
struct Process {
    /// The call that the present input is about.
    subject: Option<CallId>,
    judging: HashMap<CallId, Value>,
    permits: HashMap<CallId, Value>,
    denied: HashSet<CallId>,
    before_runs: HashMap<HookRunId, ToolUseId>,
    permission_runs: HashMap<HookRunId, (CallId, Value)>,
    asks: HashMap<AskId, (CallId, Value)>,
    running: HashMap<CallId, String>,
}

impl CallBook {
    /// Takes note of what an input that is not stale permits or forbids.
    pub(super) fn hear(&mut self, input: &Input) {
        let process = &mut self.process;
        process.subject = None;
        match input {
            Input::CallJudged { call, judgement } => {
                process.subject = Some(*call);
                let judged = process.judging.remove(call);
                match (judgement, judged) {
                    (Judgement::Allow, Some(input)) => drop(process.permits.insert(*call, input)),
                    (Judgement::Ask { .. }, _) | (_, None) => {}
                    _ => drop(process.denied.insert(*call)),
                }
            }
            Input::PermissionAnswered { ask, answer } => {
                let Some((call, asked)) = process.asks.remove(ask) else { return };
                match answer {
                    PermissionAnswer::Allow { updated_input, .. } => {
                        process.approve(call, asked, updated_input.as_ref());
                    }
                    _ => drop(process.denied.insert(call)),
                }
            }
            Input::InputClosed => {
                for (_, (call, _)) in process.asks.drain() {
                    process.denied.insert(call);
                }
            }
            Input::HooksAnswered { run, outcome } => self.hooks_answered(*run, outcome),
            Input::ToolEnded { call, .. } => drop(process.running.remove(call)),
            _ => {}
        }
    }

    fn hooks_answered(&mut self, run: HookRunId, outcome: &HookOutcome) {
        let process = &mut self.process;
        if let Some(id) = process.before_runs.remove(&run)
            && let Some(record) = self.calls.get_mut(&id)
        {
            let denies = matches!(outcome.decision, Some(HookDecision::Deny(_)));
            record.denied |= denies || outcome.halt.is_some();
            record.deferred |= matches!(outcome.decision, Some(HookDecision::Defer));
        }
        if let Some((call, asked)) = process.permission_runs.remove(&run) {
            process.subject = Some(call);
            match &outcome.permission {
                Some(PermissionResult::Allow { updated_input, .. }) => {
                    process.approve(call, asked, updated_input.as_ref());
                }
                Some(PermissionResult::Deny { .. }) => drop(process.denied.insert(call)),
                None => {}
            }
        }
    }

    pub(super) fn see(&mut self, effect: &Effect, limits: &Limits) -> Checked {
        let process = &mut self.process;
        match effect {
            Effect::Append(entry) => return self.append(entry),
            Effect::JudgeCall { call, input, .. } => {
                drop(process.judging.insert(*call, input.clone()));
                process.permits.remove(call);
            }
            Effect::RunHooks { run, input } => match &input.detail {
                HookDetail::PreToolUse { tool_use_id, .. } => {
                    process.before_runs.insert(*run, tool_use_id.clone());
                }
                HookDetail::PermissionRequest { tool_input, .. } => {
                    let subject = process.subject()?;
                    process.permission_runs.insert(*run, (subject, tool_input.clone()));
                }
                _ => {}
            },
            Effect::AskPermission { ask, request } => {
                let subject = process.subject()?;
                process.asks.insert(*ask, (subject, request.input.clone()));
            }
            Effect::CancelTool { call } => drop(process.running.remove(call)),
            Effect::CallModel { .. } => {
                ensure(self.open.is_empty(), "calls-close-before-the-next-request", || {
                    format!("{:?} are open", self.open)
                })?;
            }
            Effect::RunTool { call, tool_use_id, name, input } => {
                self.check_run(*call, tool_use_id, input)?;
                return self.check_company(*call, name, limits.parallel_calls);
            }
            _ => {}
        }
        Ok(())
    }

    fn append(&mut self, entry: &Entry) -> Checked {
        match entry {
            Entry::Assistant(entry) => {
                for block in &entry.message.content {
                    let Block::ToolUse { id, .. } = block else { continue };
                    let record = Record {
                        entry: entry.link.uuid.clone(),
                        ran: false,
                        deferred: false,
                        denied: false,
                    };
                    let known = self.calls.insert(id.clone(), record).is_some();
                    ensure(!known, "calls-open-once", || format!("{id} was opened again"))?;
                    self.open.insert(id.clone());
                }
            }
            Entry::User(entry) => {
                let Content::Blocks(blocks) = &entry.message.content else { return Ok(()) };
                for block in blocks {
                    let Block::ToolResult(result) = block else { continue };
                    let id = &result.tool_use_id;
                    ensure(self.open.remove(id), "calls-close-once", || format!("{id}"))?;
                    let call = self.calls.get(id).map(|record| &record.entry);
                    ensure(entry.link.parent_uuid.as_ref() == call, "results-name-calls", || {
                        format!("{id} hangs on {:?}", entry.link.parent_uuid)
                    })?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check_run(&mut self, call: CallId, id: &ToolUseId, input: &Value) -> Checked {
        let open = self.open.contains(id);
        let record = self.calls.get_mut(id).filter(|_| open);
        let Some(record) = record else {
            let detail = format!("{id} is not an open call of the transcript");
            return Err(Fault { check: "calls-are-written-before-they-run", detail });
        };
        ensure(!record.ran, "calls-run-once", || format!("{id} ran before"))?;
        record.ran = true;
        let denied = record.denied || self.process.denied.contains(&call);
        ensure(!denied, "denied-calls-never-run", || format!("{id} was denied"))?;
        let permit = self.process.permits.remove(&call);
        ensure(permit.as_ref() == Some(input), "calls-run-as-permitted", || {
            format!("{id} runs with {input}, permitted was {permit:?}")
        })
    }

    fn check_company(&mut self, call: CallId, name: &str, parallel: usize) -> Checked {
        let running = &mut self.process.running;
        running.insert(call, name.to_owned());
        let alone = running.len() == 1;
        let changes = running.values().any(|name| name == "Write");
        let fine = running.len() <= parallel && (alone || !changes);
        ensure(fine, "changes-run-alone", || format!("{running:?} run together"))
    }

    /// Nothing runs any more: only calls that a hook put off may be open.
    pub(super) fn check_idle(&self) -> Checked {
        let forgotten = self.open.iter().find(|id| !self.calls[*id].deferred);
        ensure(forgotten.is_none(), "calls-are-closed-when-idle", || format!("{forgotten:?}"))
    }

    /// The process died; its open calls stay open until the next prompt.
    pub(super) fn crash(&mut self) {
        self.process = Process::default();
        for id in &self.open {
            if let Some(record) = self.calls.get_mut(id) {
                record.deferred = true;
            }
        }
    }

    pub(super) fn open_calls(&self) -> &HashSet<ToolUseId> {
        &self.open
    }
}

impl Process {
    fn subject(&self) -> Result<CallId, Fault> {
        let detail = || "a permission question about no call".to_owned();
        self.subject.ok_or_else(|| Fault { check: "questions-have-a-subject", detail: detail() })
    }

    /// An approval with another input permits nothing until that input is judged.
    fn approve(&mut self, call: CallId, asked: Value, updated: Option<&Value>) {
        if updated.is_none_or(|updated| *updated == asked) {
            self.permits.insert(call, asked);
        }
    }
}
