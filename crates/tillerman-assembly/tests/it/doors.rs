//! What a program hands in as objects of its own: tools, a model, a place for conversations.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tillerman_assembly::{ConversationOrder, Opened, SessionOpener, StartFailure};
use tillerman_models::rehearsal::{Rehearsal, RehearsalNote};
use tillerman_ports::{AppendError, BoxFuture, EventStream, Model, Tool, ToolCall, Transcript};
use tillerman_protocol::SessionId;
use tillerman_protocol::content::Content;
use tillerman_protocol::model::{ModelFailure, ModelRequest};
use tillerman_protocol::tool::{Access, ToolOutcome, ToolOutput, ToolSpec};
use tillerman_protocol::transcript::Entry;
use tillerman_testkit::{CapturedRequest, ScriptedServer, response, script};

use crate::world::{World, converse};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// A tool that answers with a fixed text.
#[derive(Debug)]
struct Answers {
    name: &'static str,
    text: &'static str,
}

impl Tool for Answers {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.to_owned(),
            description: "Answers.".to_owned(),
            input_schema: json!({ "type": "object" }),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }

    fn call(&self, _: ToolCall) -> BoxFuture<ToolOutcome> {
        let content = Content::Text(self.text.to_owned());
        Box::pin(std::future::ready(Ok(ToolOutput::new(content, None))))
    }
}

fn answers(name: &'static str, text: &'static str) -> Arc<dyn Tool> {
    Arc::new(Answers { name, text })
}

#[tokio::test]
async fn tools_of_the_program_are_there_beside_and_in_place_of_ours() {
    let world = World::new();
    let replies = script()
        .reply(response().tool_call("Weather", json!({})).tool_call("Read", json!({})))
        .reply(response().text("done"));
    let server = ScriptedServer::start(replies).await;
    let mut order = world.order_asking("work", &server);
    order.permission.tools = Some(vec!["Read".to_owned(), "Glob".to_owned()]);
    order.permission.deny = vec!["Banned".to_owned()];
    order.parts.tools =
        vec![answers("Weather", "rain"), answers("Read", "my own"), answers("Banned", "never")];
    let finished = converse(&order, "hello").await;
    assert_eq!(finished.result()["result"], "done", "{:?}", finished.frames);
    let mut names =
        server.request(0).tool_names().into_iter().map(str::to_owned).collect::<Vec<_>>();
    names.sort();
    assert_eq!(names, ["Glob", "Read", "Weather"]);
    assert_eq!(server.request(1).tool_result_texts(), ["rain", "my own"]);
    server.verify();
}

#[tokio::test]
async fn agents_have_the_tools_of_the_program() {
    let world = World::new();
    let work = json!({ "description": "look", "prompt": "look outside", "subagent_type": "general-purpose" });
    let replies = script()
        .reply_when("look outside", response().tool_call("Read", json!({})))
        .reply_when("my own", response().text("it rains"))
        .reply(response().tool_call("Agent", work))
        .reply(response().text("done"));
    let server = ScriptedServer::start(replies).await;
    let mut order = world.order_asking("work", &server);
    order.parts.tools = vec![answers("Read", "my own")];
    let finished = converse(&order, "hello").await;
    assert_eq!(finished.result()["result"], "done", "{:?}", finished.frames);
    let told =
        server.requests().iter().flat_map(CapturedRequest::tool_result_texts).collect::<Vec<_>>();
    assert!(told.iter().any(|text| text == "my own"), "{told:?}");
}

/// The rehearsal model behind a counter.
#[derive(Debug)]
struct Counted {
    inner: Rehearsal,
    asked: AtomicUsize,
}

impl Model for Counted {
    fn respond(&self, request: ModelRequest) -> EventStream {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.inner.respond(request)
    }

    fn count_tokens(&self, request: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>> {
        self.inner.count_tokens(request)
    }
}

#[tokio::test]
async fn a_model_of_the_program_answers_in_place_of_providers() {
    let world = World::new();
    let inner = Rehearsal::new(RehearsalNote::ChosenByName);
    let model = Arc::new(Counted { inner, asked: AtomicUsize::new(0) });
    let mut order = world.order("work", &[]);
    order.parts.model = Some(model.clone());
    let finished = converse(&order, "run `echo it-ran > proof.txt`").await;
    assert_eq!(finished.result()["is_error"], false, "{:?}", finished.frames);
    assert_eq!(std::fs::read_to_string(order.cwd.join("proof.txt")).unwrap(), "it-ran\n");
    assert_eq!(model.asked.load(Ordering::Relaxed), 2, "one request for the call, one after it");
}

/// Keeps one conversation in memory.
#[derive(Debug, Default)]
struct Memory {
    entries: Arc<Mutex<Vec<Entry>>>,
}

#[derive(Debug)]
struct MemoryTranscript(Arc<Mutex<Vec<Entry>>>);

impl SessionOpener for Memory {
    fn open(&self, _: ConversationOrder, _: PathBuf) -> BoxFuture<Result<Opened, StartFailure>> {
        let entries = self.entries.lock().unwrap().clone();
        let transcript = Box::new(MemoryTranscript(Arc::clone(&self.entries)));
        let opened = Opened::new(SessionId::new(SESSION), transcript, &entries);
        Box::pin(std::future::ready(Ok(opened)))
    }
}

impl Transcript for MemoryTranscript {
    fn append(&mut self, entry: &Entry) -> Result<(), AppendError> {
        self.0.lock().unwrap().push(entry.clone());
        Ok(())
    }

    fn sync(&mut self) -> BoxFuture<Result<(), AppendError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn path(&self) -> String {
        String::new()
    }
}

#[tokio::test]
async fn conversations_can_be_kept_elsewhere_and_go_on_from_there() {
    let world = World::new();
    let replies = script().reply(response().text("first")).reply(response().text("second"));
    let server = ScriptedServer::start(replies).await;
    let mut order = world.order_asking("work", &server);
    order.parts.opener = Some(Arc::new(Memory::default()));
    let first = converse(&order, "one").await;
    assert_eq!(first.result()["session_id"], SESSION);
    let second = converse(&order, "two").await;
    assert_eq!(second.result()["result"], "second", "{:?}", second.frames);
    let said = server.render_context(1);
    assert!(said.contains("one") && said.contains("first") && said.contains("two"), "{said}");
    assert!(!world.path("config/projects").exists(), "nothing was written to files");
}
