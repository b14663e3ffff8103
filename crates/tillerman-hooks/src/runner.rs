//! The port's implementation: every kind of handler behind one door.

use std::sync::Arc;

use tillerman_ports::{BoxFuture, HookEnd, HookJob, HookReport, HookRunner};
use tillerman_protocol::hook::{HookAction, HookEvent};

use crate::config::HookConfig;
use crate::http::Caller;
use crate::meaning::Meaning;
use crate::tab::Tab;
use crate::{agent, command, mcp_tool, prompt, shorten};

/// Runs the handlers of one session.
#[derive(Debug)]
pub struct Handlers {
    config: Arc<HookConfig>,
    caller: Arc<Caller>,
}

impl Handlers {
    /// Handlers for a session.
    #[must_use]
    pub fn new(config: HookConfig) -> Self {
        Self { config: Arc::new(config), caller: Arc::new(Caller::default()) }
    }
}

impl HookRunner for Handlers {
    fn run(&self, job: HookJob) -> BoxFuture<HookReport> {
        let config = Arc::clone(&self.config);
        let caller = Arc::clone(&self.caller);
        Box::pin(async move {
            let Some(event) = job.input.detail.event() else {
                let why = "the event is not known, so nothing was run";
                return HookReport::new(HookEnd::Failed(why.to_owned()));
            };
            let handler = Arc::clone(&job.handler);
            match &handler.action {
                HookAction::Command(hook) => command::run(config, job, hook, event).await,
                HookAction::Http(hook) => {
                    let call = caller.post(&config, hook, &job.input, event);
                    bounded(&config, &job, call).await
                }
                HookAction::McpTool(hook) => {
                    bounded(&config, &job, mcp_tool::call(&job, hook, event)).await
                }
                HookAction::Prompt(hook) => {
                    let tab = Tab::default();
                    let asking = prompt::ask(&config, hook, &job.input, event, &tab);
                    let report = bounded(&config, &job, asking).await;
                    HookReport { bills: tab.take(), ..report }
                }
                HookAction::Agent(hook) => {
                    let tab = Tab::default();
                    let looking = agent::look_into(&config, &job, hook, event, &tab);
                    let report = bounded(&config, &job, looking).await;
                    HookReport { bills: tab.take(), ..report }
                }
            }
        })
    }
}

/// Waits for a handler that starts no process, as long as it may take.
async fn bounded(
    config: &HookConfig,
    job: &HookJob,
    running: impl Future<Output = Meaning>,
) -> HookReport {
    let meaning = tokio::select! {
        biased;
        () = job.cancel.cancelled() => return HookReport::new(HookEnd::Cancelled),
        ended = tokio::time::timeout(job.timeout, running) => match ended {
            Ok(meaning) => meaning,
            Err(_) => return HookReport::new(HookEnd::TimedOut),
        },
    };
    report(config, meaning)
}

/// The report of a handler that printed nothing.
fn report(config: &HookConfig, meaning: Meaning) -> HookReport {
    let Meaning { mut end, mut remark, stdout } = meaning;
    if let HookEnd::Answered(output) = &mut end {
        remark = shorten::shorten(config, output).or(remark);
    }
    let mut report = HookReport { remark, ..HookReport::new(end) };
    report.printed.output.clone_from(&stdout);
    report.printed.stdout = stdout;
    report
}

/// Events at which a handler may leave variables for later commands.
pub(crate) const fn has_env_file(event: HookEvent) -> bool {
    matches!(
        event,
        HookEvent::SessionStart | HookEvent::Setup | HookEvent::CwdChanged | HookEvent::FileChanged
    )
}
