//! Working trees that hooks make for agents, in the place of git.

use std::path::{Path, PathBuf};

use tillerman_engine::{HookOutcome, Input, Place};
use tillerman_ports::{BoxFuture, WorkingCopy};
use tillerman_protocol::TaskId;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::hook::{HookDetail, HookEvent};
use tillerman_protocol::tool::ToolFailure;
use tokio_util::sync::CancellationToken;

use crate::agents::launch::{Caller, Opening};
use crate::agents::order::Order;
use crate::session_task::SessionTask;
use crate::work::Report;

/// A directory that a hook has made for an agent.
#[derive(Clone, Debug)]
pub(crate) struct GivenTree {
    /// The agent it was made for.
    pub(crate) id: TaskId,
    directory: PathBuf,
}

/// An agent whose directory hooks were asked for, and what they said.
#[derive(Debug)]
pub(crate) struct TreeAnswer {
    caller: Caller,
    order: Order,
    definition: AgentDefinition,
    place: Place,
    id: TaskId,
    outcome: HookOutcome,
}

impl GivenTree {
    /// Takes a directory over that was made for an agent.
    pub(crate) fn new(id: TaskId, directory: &str) -> Result<Self, String> {
        let path = Path::new(directory);
        if !path.is_absolute() {
            return Err(format!("{directory} is no absolute path"));
        }
        let directory = path.canonicalize().map_err(|error| format!("{directory}: {error}"))?;
        if !directory.is_dir() {
            return Err(format!("{} is no directory", directory.display()));
        }
        Ok(Self { id, directory })
    }
}

impl WorkingCopy for GivenTree {
    fn directory(&self) -> PathBuf {
        self.directory.clone()
    }

    fn root(&self) -> PathBuf {
        self.directory.clone()
    }

    fn make(&self) -> BoxFuture<Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Whether it stays is for the hooks to decide that hear of its removal.
    fn leave(&self) -> BoxFuture<Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

impl SessionTask {
    /// Whether hooks make the directory in which an agent is to work alone.
    pub(crate) fn hooks_make_tree(&self, order: &Order, definition: &AgentDefinition) -> bool {
        let isolation = order.isolation.as_ref().or(definition.isolation.as_ref());
        isolation.is_some_and(|it| it == "worktree")
            && self.hooks.events().contains(&HookEvent::WorktreeCreate)
    }

    /// Has hooks make a directory; the agent begins once they have.
    pub(crate) fn ask_for_tree(
        &mut self,
        caller: &Caller,
        order: Order,
        definition: AgentDefinition,
        place: Place,
    ) {
        let Some(call) = caller.call else { return };
        let (line, id, caller) = (self.hook_line(), self.new_agent_id(), caller.clone());
        let cancel = CancellationToken::new();
        self.work.errand(call, cancel.clone(), async move {
            let detail = HookDetail::WorktreeCreate { name: format!("agent-{id}") };
            let outcome = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    let why = "Interrupted before the agent had a directory; it was not started.";
                    let outcome = Err(ToolFailure::new(why));
                    return Report::Engine(Box::new(Input::ToolEnded { call, outcome }));
                }
                outcome = line.ask(detail) => outcome,
            };
            let answer = TreeAnswer { caller, order, definition, place, id, outcome };
            Report::TreeAnswered(Box::new(answer))
        });
    }

    /// Starts the agent in the directory that hooks have made, or says why not.
    pub(crate) async fn tree_answered(&mut self, answer: TreeAnswer) {
        let TreeAnswer { caller, order, definition, place, id, outcome } = answer;
        let started = given(id, &outcome).and_then(|tree| {
            let opening = Opening { tree: Some(tree), ..Opening::default() };
            self.launch(&caller, &order, &definition, opening, place)
        });
        if let Err(refusal) = started {
            self.answer(&caller, Err(ToolFailure::new(refusal)));
        }
        self.work_off().await;
    }
}

fn given(id: TaskId, outcome: &HookOutcome) -> Result<GivenTree, String> {
    let refusal = |why: String| {
        format!("The agent was not started: WorktreeCreate hooks make its directory, and {why}.")
    };
    if let Some(reason) = outcome.refusal().or_else(|| outcome.halt.clone()) {
        return Err(refusal(format!("one objected: {}", reason.trim_end_matches('.'))));
    }
    let Some(directory) = &outcome.worktree else {
        return Err(refusal("none of them named one".to_owned()));
    };
    GivenTree::new(id, directory)
        .map_err(|why| refusal(format!("what it named is unusable: {why}")))
}

/// What an agent that goes on worked in before.
pub(crate) fn former_tree(
    id: &TaskId,
    directory: Option<&str>,
) -> Result<Option<GivenTree>, String> {
    let tree = directory.map(|directory| GivenTree::new(id.clone(), directory));
    tree.transpose().map_err(|why| {
        format!(
            "The agent cannot go on: the directory that a hook had made for it is gone ({why}). \
             Start a new agent."
        )
    })
}
