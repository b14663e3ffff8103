//! The list of tasks of a team: claims, dependencies, and what a crash leaves.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::{BackgroundTask, Bounds, TaskDesk, TaskRefused, ToolCall};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::tool::ToolOutcome;
use tillerman_tools::board_tools;
use tokio_util::sync::CancellationToken;

use crate::bench::structured;

#[derive(Debug)]
struct NoDesk;

impl TaskDesk for NoDesk {
    fn take(&self, _: BackgroundTask) -> Result<(), TaskRefused> {
        Err(TaskRefused)
    }
}

async fn call(directory: &Path, member: Option<&str>, name: &str, input: Value) -> ToolOutcome {
    let tools = board_tools(directory.to_path_buf(), member);
    let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
    tool.check(&input).unwrap();
    tool.call(ToolCall {
        tool_use_id: ToolUseId::new("toolu_1"),
        input,
        cancel: CancellationToken::new(),
        environment: Vec::new(),
        bounds: Bounds::default(),
        hidden: tillerman_ports::Hidden::default(),
        tasks: Arc::new(NoDesk),
    })
    .await
}

async fn create(directory: &Path, subject: &str) -> String {
    let input = json!({"subject": subject, "description": "all of it"});
    let output = call(directory, None, "TaskCreate", input).await.unwrap();
    structured(&output)["task"]["id"].as_str().unwrap().to_owned()
}

async fn begin(directory: &Path, member: &str, id: &str) -> Result<Value, String> {
    let input = json!({"taskId": id, "status": "in_progress"});
    let outcome = call(directory, Some(member), "TaskUpdate", input).await;
    outcome.map(|output| structured(&output)).map_err(|failure| failure.message)
}

async fn list(directory: &Path) -> Value {
    structured(&call(directory, None, "TaskList", json!({})).await.unwrap())["tasks"].clone()
}

#[tokio::test]
async fn of_many_who_want_a_task_exactly_one_gets_it() {
    let root = tempfile::tempdir().unwrap();
    let id = create(root.path(), "dig").await;
    let mut racers = tokio::task::JoinSet::new();
    for number in 0..16 {
        let (directory, id) = (root.path().to_path_buf(), id.clone());
        racers.spawn(async move { begin(&directory, &format!("m{number}"), &id).await });
    }
    let outcomes = racers.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let lost = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    assert!(lost.into_iter().all(|text| text.contains("was taken by m")));
    let by_lead = json!({"taskId": id, "owner": "ann"});
    call(root.path(), None, "TaskUpdate", by_lead).await.unwrap();
    assert_eq!(list(root.path()).await[0]["owner"], "ann", "the lead gives it to somebody else");
}

#[tokio::test]
async fn a_task_waits_for_others_and_circles_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let (dig, build) = (create(root.path(), "dig").await, create(root.path(), "build").await);
    let update = |input: Value| call(root.path(), None, "TaskUpdate", input);
    update(json!({"taskId": build, "addBlockedBy": [dig]})).await.unwrap();
    let refusal = begin(root.path(), "ann", &build).await.unwrap_err();
    assert!(refusal.contains("waits for 1"), "{refusal}");
    let circle = update(json!({"taskId": dig, "addBlockedBy": [build]})).await.unwrap_err();
    assert!(circle.message.contains("neither could ever begin"), "{}", circle.message);
    let shown = call(root.path(), None, "TaskGet", json!({"taskId": dig})).await.unwrap();
    assert_eq!(structured(&shown)["task"]["blocks"], json!(["2"]));
    begin(root.path(), "bob", &dig).await.unwrap();
    let done = json!({"taskId": dig, "status": "completed"});
    let done = call(root.path(), Some("bob"), "TaskUpdate", done).await.unwrap();
    let change = json!({"from": "in_progress", "to": "completed"});
    assert_eq!(structured(&done)["statusChange"], change);
    begin(root.path(), "ann", &build).await.unwrap();
    assert_eq!(list(root.path()).await[1]["owner"], "ann");
}

#[tokio::test]
async fn a_crash_costs_one_line_and_a_deleted_id_never_comes_back() {
    let root = tempfile::tempdir().unwrap();
    let first = create(root.path(), "dig").await;
    let file = root.path().join("list.jsonl");
    let mut torn = std::fs::File::options().append(true).open(&file).unwrap();
    torn.write_all(b"{\"id\":\"2\",\"subj").unwrap();
    drop(torn);
    assert_eq!(create(root.path(), "build").await, "2");
    for id in [first, "2".to_owned()] {
        let delete = json!({"taskId": id, "status": "deleted"});
        call(root.path(), None, "TaskUpdate", delete).await.unwrap();
    }
    assert_eq!(list(root.path()).await, json!([]));
    assert_eq!(create(root.path(), "paint").await, "3");
}
