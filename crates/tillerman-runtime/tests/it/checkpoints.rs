//! File checkpoints are taken before the model is asked and never stop a round.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{CheckpointError, Checkpoints, Extent, Rewound, Taken};
use tillerman_protocol::EntryId;

use crate::model::{ScriptedModel, says};
use crate::stage::{Stage, kind, stage};

/// Answers as it is told and remembers what it was asked.
#[derive(Clone, Debug)]
struct ScriptedCheckpoints {
    /// How every checkpoint ends.
    ending: Ending,
    model: ScriptedModel,
    taken: Arc<Mutex<Vec<Take>>>,
}

#[derive(Clone, Copy, Debug)]
enum Ending {
    Noted,
    Failed,
    Never,
}

#[derive(Clone, Debug, PartialEq)]
struct Take {
    messages: usize,
    directories: Vec<PathBuf>,
    /// How often the model had been asked by then.
    requests: usize,
}

impl Checkpoints for ScriptedCheckpoints {
    fn take(
        &self,
        messages: Vec<EntryId>,
        directories: Vec<PathBuf>,
    ) -> BoxFuture<Result<Taken, CheckpointError>> {
        let requests = self.model.requests().len();
        self.taken.lock().unwrap().push(Take { messages: messages.len(), directories, requests });
        let ending = self.ending;
        Box::pin(async move {
            match ending {
                Ending::Noted => {
                    Ok(Taken { files: 3, notes: vec!["One file is too large.".to_owned()] })
                }
                Ending::Failed => Err(CheckpointError::Io {
                    what: "it cannot be stored".to_owned(),
                    source: io::Error::other("no space"),
                }),
                Ending::Never => std::future::pending().await,
            }
        })
    }

    fn rewind(
        &self,
        message: EntryId,
        extent: Extent,
    ) -> BoxFuture<Result<Rewound, CheckpointError>> {
        let known = message.as_str() == "known";
        let undo = (extent == Extent::Whole).then(|| EntryId::new("undo-2"));
        let files = vec!["/nowhere/x".to_owned()];
        let rewound = Rewound { files, restored: 1, insertions: 2, undo, ..Rewound::default() };
        let answer = if known { Ok(rewound) } else { Err(CheckpointError::Unknown) };
        Box::pin(std::future::ready(answer))
    }
}

fn with_checkpoints(ending: Ending) -> (Stage, ScriptedCheckpoints) {
    let mut stage = stage([says("One."), says("Two.")]);
    let model = stage.model.clone();
    let checkpoints = ScriptedCheckpoints { ending, model, taken: Arc::default() };
    stage.setup.engine.checkpoints = true;
    stage.setup.ports.checkpoints = Some(Arc::new(checkpoints.clone()));
    (stage, checkpoints)
}

#[tokio::test(start_paused = true)]
async fn files_are_kept_before_the_model_is_asked() {
    let (stage, checkpoints) = with_checkpoints(Ending::Noted);
    let mut play = stage.begin();
    play.say("one").await;
    let frames = play.round().await;
    play.say("two").await;
    play.round().await;
    let take = |requests| Take { messages: 1, directories: vec!["/nowhere".into()], requests };
    assert_eq!(*checkpoints.taken.lock().unwrap(), [take(0), take(1)]);
    let note = frames.iter().find(|frame| kind(frame) == "system/notification").unwrap();
    assert_eq!(
        (&note["key"], &note["text"]),
        (&json!("checkpoint"), &json!("One file is too large."))
    );
}

#[tokio::test(start_paused = true)]
async fn a_round_without_its_checkpoint_goes_on_and_says_so_once() {
    for (ending, reason) in [
        (Ending::Failed, "it cannot be stored: no space"),
        (Ending::Never, "the files could not be looked through in 60 s"),
    ] {
        let (stage, _) = with_checkpoints(ending);
        let mut play = stage.begin();
        let mut notes = Vec::new();
        for prompt in ["one", "two"] {
            play.say(prompt).await;
            let frames = play.round().await;
            assert_eq!(frames.last().unwrap()["subtype"], "success");
            notes.extend(frames.into_iter().filter(|frame| kind(frame) == "system/notification"));
        }
        assert_eq!(notes.len(), 1, "{notes:?}");
        let text = notes[0]["text"].as_str().unwrap();
        assert!(text.contains(reason), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rewind_is_answered_with_what_it_changed() {
    let (stage, _) = with_checkpoints(Ending::Noted);
    let mut play = stage.begin();
    let request = json!({"subtype": "rewind_files", "user_message_id": "known"});
    let answer = play.ask(request).await["response"].clone();
    assert_eq!((&answer["canRewind"], &answer["skippedLinks"]), (&json!(true), &json!(0)));
    assert_eq!(answer["filesChanged"], json!(["/nowhere/x"]));
    assert_eq!((&answer["insertions"], &answer["undoId"]), (&json!(2), &json!("undo-2")));
    let request = json!({"subtype": "rewind_files", "user_message_id": "known", "dry_run": true});
    assert_eq!(play.ask(request).await["response"].get("undoId"), None);
}

#[tokio::test(start_paused = true)]
async fn a_rewind_that_cannot_be_says_why() {
    let (stage, _) = with_checkpoints(Ending::Noted);
    let mut play = stage.begin();
    let request = json!({"subtype": "rewind_files", "user_message_id": "unknown"});
    let answer = play.ask(request.clone()).await;
    assert_eq!(answer["error"], "No file checkpoint found for this message.");
    let mut play = self::stage([]).begin();
    let answer = play.ask(request).await;
    assert!(answer["error"].as_str().unwrap().contains("checkpointing is off"), "{answer}");
}
