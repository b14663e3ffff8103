//! Short stable names for the identifiers of a session: r1, c1, h1, a1, t1, in order of appearance.

use tillerman_engine::{AskId, CallId, HookRunId, ResponseId, TimerId};

/// The names of one kind of identifier.
#[derive(Debug)]
struct Register {
    prefix: &'static str,
    count: usize,
    names: Vec<(String, u64)>,
}

impl Register {
    const fn new(prefix: &'static str) -> Self {
        Self { prefix, count: 0, names: Vec::new() }
    }

    fn name(&mut self, id: u64) -> String {
        if let Some((name, _)) = self.names.iter().find(|(_, known)| *known == id) {
            return name.clone();
        }
        self.count += 1;
        let name = format!("{}{}", self.prefix, self.count);
        self.names.push((name.clone(), id));
        name
    }

    fn id(&self, name: &str) -> u64 {
        let found = self.names.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("nothing was called {name} so far")).1
    }
}

/// Names of everything a session started.
#[derive(Debug)]
pub(super) struct Names {
    responses: Register,
    calls: Register,
    hook_runs: Register,
    asks: Register,
    timers: Register,
}

impl Names {
    pub(super) const fn new() -> Self {
        Self {
            responses: Register::new("r"),
            calls: Register::new("c"),
            hook_runs: Register::new("h"),
            asks: Register::new("a"),
            timers: Register::new("t"),
        }
    }

    /// A restarted session counts anew; the names go on.
    pub(super) fn restart(&mut self) {
        let all = [
            &mut self.responses,
            &mut self.calls,
            &mut self.hook_runs,
            &mut self.asks,
            &mut self.timers,
        ];
        for register in all {
            register.names.clear();
        }
    }

    pub(super) fn response(&mut self, id: ResponseId) -> String {
        self.responses.name(id.0)
    }

    pub(super) fn call(&mut self, id: CallId) -> String {
        self.calls.name(id.0)
    }

    pub(super) fn hook_run(&mut self, id: HookRunId) -> String {
        self.hook_runs.name(id.0)
    }

    pub(super) fn ask(&mut self, id: AskId) -> String {
        self.asks.name(id.0)
    }

    pub(super) fn timer(&mut self, id: TimerId) -> String {
        self.timers.name(id.0)
    }

    pub(super) fn response_id(&self, name: &str) -> ResponseId {
        ResponseId(self.responses.id(name))
    }

    pub(super) fn call_id(&self, name: &str) -> CallId {
        CallId(self.calls.id(name))
    }

    pub(super) fn hook_run_id(&self, name: &str) -> HookRunId {
        HookRunId(self.hook_runs.id(name))
    }

    pub(super) fn ask_id(&self, name: &str) -> AskId {
        AskId(self.asks.id(name))
    }

    pub(super) fn timer_id(&self, name: &str) -> TimerId {
        TimerId(self.timers.id(name))
    }
}
