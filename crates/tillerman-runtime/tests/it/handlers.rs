//! A runner that does what it is told, and remembers what it ran.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::{BoxFuture, HookBill, HookEnd, HookJob, HookReport, HookRunner};
use tillerman_protocol::frame::HookPrinted;
use tillerman_protocol::hook::{HookAction, HookScope, HookSection, HookSource};
use tillerman_protocol::stream::Usage;
use tillerman_runtime::HookSetup;

/// Runs handlers of the kind `command` by what their text says.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptedRunner {
    log: Arc<Mutex<Vec<Ran>>>,
}

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) command: String,
    pub(crate) input: Value,
    pub(crate) timeout: Duration,
    pub(crate) tool: Option<String>,
    pub(crate) env_file: bool,
}

impl ScriptedRunner {
    pub(crate) fn log(&self) -> Vec<Ran> {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.log().into_iter().map(|ran| ran.command).collect()
    }

    /// A setup with these sections, each from a source of its own.
    pub(crate) fn setup<const N: usize>(&self, sections: &[Value; N]) -> HookSetup {
        let source = |(index, section): (usize, &Value)| HookSource {
            origin: format!("file {index}"),
            scope: HookScope::Settings,
            section: HookSection::read(section.as_object().unwrap()),
            variables: Vec::new(),
        };
        HookSetup {
            runner: Some(Arc::new(self.clone())),
            sources: sections.iter().enumerate().map(source).collect(),
            ..HookSetup::default()
        }
    }
}

/// A handler whose runner answers with this.
pub(crate) fn answers(output: &Value) -> Value {
    json!({"type": "command", "command": output.to_string()})
}

/// A handler that the runner knows by a word.
pub(crate) fn does(word: &str) -> Value {
    json!({"type": "command", "command": word})
}

/// One group for one event.
pub(crate) fn on(event: &str, handlers: &Value) -> Value {
    json!({event: [{"hooks": handlers}]})
}

impl HookRunner for ScriptedRunner {
    fn run(&self, job: HookJob) -> BoxFuture<HookReport> {
        let command = match &job.handler.action {
            HookAction::Command(hook) => hook.command.clone(),
            other => other.kind().to_owned(),
        };
        self.log.lock().unwrap().push(Ran {
            command: command.clone(),
            input: serde_json::to_value(&*job.input).unwrap(),
            timeout: job.timeout,
            tool: job.tool.as_ref().map(|tool| tool.spec().name),
            env_file: job.env_file.is_some(),
        });
        // Before there is anything to wait for.
        assert_ne!(command, "crash at once", "on purpose");
        Box::pin(async move {
            let failed = |why: &str| HookReport::new(HookEnd::Failed(why.to_owned()));
            match command.as_str() {
                "crash" => panic!("on purpose"),
                "fail" => failed("it is broken"),
                "hang" => {
                    job.cancel.cancelled().await;
                    HookReport::new(HookEnd::Cancelled)
                }
                "never" => std::future::pending().await,
                "time out" => {
                    tokio::time::sleep(job.timeout).await;
                    HookReport::new(HookEnd::TimedOut)
                }
                "print" => {
                    let printed = printed("some");
                    job.progress.inspect(|tell| tell(printed.clone()));
                    let printed = self::printed("some more");
                    HookReport { printed, exit_code: Some(0), ..answered("{}") }
                }
                "ask a model" => {
                    let usage = Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() };
                    let model = "claude-haiku-4-5".to_owned();
                    let bills = vec![HookBill { model, usage, api_ms: 5 }];
                    HookReport { bills, ..answered("{}") }
                }
                "remark" => HookReport { remark: Some("look here".to_owned()), ..answered("{}") },
                _ if command.starts_with("later ") => {
                    let rest = command["later ".len()..].to_owned();
                    let rest = Box::pin(async move {
                        tokio::time::sleep(Duration::from_secs(2)).await;
                        answered(&rest)
                    });
                    HookReport::new(HookEnd::Detached(rest))
                }
                _ if command.starts_with("slow ") => {
                    tokio::time::sleep(Duration::from_secs(2)).await;
                    answered(&command["slow ".len()..])
                }
                output if output.starts_with('{') => answered(output),
                _ => answered("{}"),
            }
        })
    }
}

fn answered(output: &str) -> HookReport {
    let output = serde_json::from_str(output).unwrap();
    HookReport::new(HookEnd::Answered(Box::new(output)))
}

fn printed(text: &str) -> HookPrinted {
    let text = text.to_owned();
    HookPrinted { output: text.clone(), stdout: text, stderr: String::new() }
}
