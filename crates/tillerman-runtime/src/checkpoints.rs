//! File checkpoints: taken before prompts are worked on, rewound to when the host asks.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tillerman_engine::Activity;
use tillerman_ports::{CheckpointError, Extent};
use tillerman_protocol::EntryId;

use crate::control::Answer;
use crate::session_task::SessionTask;

/// How long a prompt waits for its checkpoint.
const PATIENCE: Duration = Duration::from_secs(60);
const OFF: &str = "File checkpointing is off in this session, so there is nothing to rewind to. \
                   Start it with CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true.";

impl SessionTask {
    /// Keeps the state of the files. Without a checkpoint the round goes on, and the host is told.
    pub(crate) async fn take_checkpoint(&mut self, messages: Vec<EntryId>) {
        let Some(checkpoints) = self.ports.checkpoints.as_ref().map(Arc::clone) else { return };
        let taking = checkpoints.take(messages, self.policy.directories.clone());
        let taken = tokio::select! {
            taken = tokio::time::timeout(PATIENCE, taking) => taken,
            () = self.facing.shutdown.cancelled() => return,
        };
        let complaint = match taken {
            Ok(Ok(taken)) => {
                self.checkpoint_complaint = None;
                for note in taken.notes {
                    self.notify("checkpoint", &note).await;
                }
                return;
            }
            Ok(Err(error)) => with_causes(&error),
            Err(_) => format!(
                "the files could not be looked through in {} s; the next prompt goes on where \
                 this one stopped",
                PATIENCE.as_secs()
            ),
        };
        let text = format!(
            "No file checkpoint was taken: {complaint}. The round goes on, and its changes to \
             files cannot be rewound."
        );
        tracing::warn!("{text}");
        // A failure that repeats at every prompt is said once.
        if self.checkpoint_complaint.as_ref() != Some(&text) {
            self.notify("checkpoint_failed", &text).await;
            self.checkpoint_complaint = Some(text);
        }
    }

    /// Brings files back, or says what that would change.
    pub(crate) async fn rewind_files(&mut self, message: String, dry_run: bool) -> Answer {
        match self.rewind(message, dry_run).await {
            // Whoever only wants to know is told, instead of being refused.
            Err((why, _)) if dry_run => Ok(json!({"canRewind": false, "error": why})),
            answer => answer,
        }
    }

    async fn rewind(&mut self, message: String, dry_run: bool) -> Answer {
        let Some(checkpoints) = self.ports.checkpoints.as_ref().map(Arc::clone) else {
            return Err((OFF.to_owned(), Some("checkpointing_off")));
        };
        let extent = if dry_run { Extent::DryRun } else { Extent::Whole };
        match checkpoints.rewind(EntryId::new(message), extent).await {
            Ok(rewound) => {
                let mut answer = rewound.answer();
                if extent == Extent::Whole && self.engine.activity() == Activity::Running {
                    let warning = "A round is under way: commands that still run may change files \
                                   again. Interrupt it first to be sure.";
                    answer["warning"] = json!(warning);
                }
                Ok(answer)
            }
            Err(error @ CheckpointError::Unknown) => Err((error.to_string(), None)),
            Err(error) => {
                let text = format!("The files were left as they are: {}.", with_causes(&error));
                Err((text, None))
            }
        }
    }
}

fn with_causes(error: &CheckpointError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
