//! How the watching of a command comes to its end, and what is said about it.

use std::time::Duration;

use tillerman_protocol::task::{TaskEnd, TaskReport, TaskStatus};

use super::super::background::how;
use super::super::run::Ending;
use super::feed::Feed;
use crate::config::MonitorLimits;
use crate::tasks::Task;

/// How the watching of a command came to its end.
#[derive(Debug)]
pub(super) enum Over {
    /// What was watched has ended well.
    Ended(String),
    /// What was watched has failed, or could not be watched.
    Failed(String),
    /// The time is over.
    Deadline(Duration),
    /// More came than could be told.
    Flooded { patience: Duration, left_out: u64 },
    /// Somebody asked for it.
    Stopped,
}

impl Over {
    /// The end of a command that was run to be watched.
    pub(super) fn of_command(
        task: &Task,
        ending: &Ending,
        deadline: Duration,
        feed: &Feed,
        limits: &MonitorLimits,
    ) -> Self {
        match ending {
            Ending::Exited(status) if status.success() => {
                Self::Ended("Its command ended with exit code 0.".to_owned())
            }
            Ending::Exited(status) => {
                Self::Failed(format!("Its command failed: {}", how(&task.command, *status)))
            }
            Ending::TimedOut => Self::Deadline(deadline),
            Ending::TooMuchOutput if feed.is_flooded() => {
                Self::Flooded { patience: limits.patience, left_out: feed.untold() }
            }
            Ending::TooMuchOutput => Self::Failed("It wrote too much and was stopped.".to_owned()),
            Ending::Lost(error) => Self::Failed(format!("How it ended is not known ({error}).")),
            Ending::Cancelled => Self::Stopped,
        }
    }

    /// The end of the task, with what it said last.
    pub(super) fn tell(self, task: &Task, last: Option<String>) -> TaskEnd {
        let (status, what) = match self {
            Self::Ended(how) => (TaskStatus::Completed, how),
            Self::Failed(why) => (TaskStatus::Failed, why),
            Self::Deadline(deadline) => (
                TaskStatus::Completed,
                format!(
                    "Its deadline of {} ms was reached and it was stopped. Start it again if it is \
                     still needed.",
                    deadline.as_millis()
                ),
            ),
            Self::Flooded { patience, left_out } => (
                TaskStatus::Failed,
                format!(
                    "It was stopped because for {} s it printed more than can be told; {left_out} \
                     lines were left out. Start it again with a command that prints only what \
                     matters, such as one that ends in grep --line-buffered.",
                    patience.as_secs_f64()
                ),
            ),
            Self::Stopped => (TaskStatus::Stopped, "It was stopped.".to_owned()),
        };
        let summary = format!("The monitor \"{}\" has ended. {what}", task.description);
        let report = last.map(|last| {
            let lines: Vec<String> = last.lines().map(|line| format!("> {line}")).collect();
            let text = format!("It said last:\n{}", lines.join("\n"));
            Box::new(TaskReport { text, ..TaskReport::default() })
        });
        TaskEnd { status, summary, report }
    }
}
