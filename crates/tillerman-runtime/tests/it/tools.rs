//! Tools that do what a test wants of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::{BoxFuture, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};

use crate::stage::SECRET;

/// What a tool does when it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conduct {
    Succeed,
    Fail,
    /// Never ends, whatever happens.
    Hang,
    /// Ends this long after it is told to.
    EndWhenTold(Duration),
    Panic,
    /// Panics before there is anything to wait for.
    PanicAtOnce,
    /// Panics while it looks at its input.
    PanicInCheck,
    /// Does not take any input.
    RefuseInput,
    /// Succeeds and says a credential.
    Leak,
    /// Fails and says a credential.
    LeakInFailure,
}

/// A tool that keeps a log of its inputs.
#[derive(Clone, Debug)]
pub(crate) struct TestTool {
    name: &'static str,
    access: Access,
    conduct: Conduct,
    log: Arc<Mutex<Vec<Value>>>,
}

/// A tool that only looks, and so runs without being asked about.
pub(crate) fn looking(name: &'static str, conduct: Conduct) -> TestTool {
    TestTool { name, access: Access::ReadOnly, conduct, log: Arc::default() }
}

/// A tool that changes things, and so needs permission.
pub(crate) fn changing(name: &'static str, conduct: Conduct) -> TestTool {
    TestTool { name, access: Access::Mutating, conduct, log: Arc::default() }
}

impl TestTool {
    /// What happened: the input when it was called, `"ended"` when it ended as it was told to.
    pub(crate) fn log(&self) -> Vec<Value> {
        self.log.lock().unwrap().clone()
    }

    fn note(&self, what: Value) {
        self.log.lock().unwrap().push(what);
    }

    async fn run(self, call: ToolCall) -> ToolOutcome {
        match self.conduct {
            Conduct::Fail => Err(ToolFailure::new("that did not work")),
            Conduct::Leak => {
                let text = format!("KEY={SECRET}");
                let shown = json!({"lines": [text.clone()]});
                Ok(ToolOutput::new(Content::Text(text), Some(shown)))
            }
            Conduct::LeakInFailure => Err(ToolFailure::new(format!("bad key {SECRET}"))),
            Conduct::Hang => std::future::pending().await,
            Conduct::EndWhenTold(after) => {
                call.cancel.cancelled().await;
                tokio::time::sleep(after).await;
                self.note(json!("ended"));
                Err(ToolFailure::new("ended early"))
            }
            Conduct::Panic => panic!("the tool was told to panic"),
            _ => {
                let text = format!("{} did {}", self.name, call.input);
                Ok(ToolOutput::new(Content::Text(text), Some(json!({"did": call.input}))))
            }
        }
    }
}

impl Tool for TestTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.to_owned(),
            description: "A tool for tests.".to_owned(),
            input_schema: json!({"type": "object"}),
            access: self.access,
        }
    }

    fn check(&self, _: &Value) -> Result<(), String> {
        match self.conduct {
            Conduct::PanicInCheck => panic!("the check was told to panic"),
            Conduct::RefuseInput => Err("the field `what` is missing".to_owned()),
            _ => Ok(()),
        }
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        self.note(call.input.clone());
        if self.conduct == Conduct::PanicAtOnce {
            panic!("the tool was told to panic");
        }
        Box::pin(self.clone().run(call))
    }
}
