//! The tool by which the model asks for skills, by itself.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tillerman_ports::{
    BackgroundTask, Bounds, Contents, Invocation, InvocationPart, Library, Reading, TaskDesk,
    TaskRefused, ToolCall,
};
use tillerman_protocol::ToolUseId;
use tillerman_tools::skill_tool;
use tokio_util::sync::CancellationToken;

/// Knows one skill, which is made of these parts.
#[derive(Debug)]
struct OneSkill(Vec<InvocationPart>);

impl Library for OneSkill {
    fn command(&self, _: &str) -> Reading {
        Reading::Plain
    }

    fn skill(&self, name: &str, arguments: &str) -> Result<Invocation, String> {
        assert_eq!((name, arguments), ("bake", "bread"));
        Ok(Invocation { parts: self.0.clone(), ..Invocation::default() })
    }

    fn grants(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn memory_for(&self, _: &Path) -> Vec<String> {
        Vec::new()
    }

    fn reload(&self) -> Contents {
        Contents::default()
    }

    fn limit_skills(&self, _: &[String]) -> Contents {
        Contents::default()
    }
}

#[test]
fn the_model_is_told_of_skills_and_of_wrong_inputs() {
    let tool = skill_tool(Arc::new(OneSkill(Vec::new())), "- bake: How to bake\n");
    assert!(tool.spec().description.ends_with("Skills:\n- bake: How to bake\n"));
    assert_eq!(tool.check(&json!({"skill": "bake", "args": "bread"})), Ok(()));
    for wrong in [json!({}), json!({"skill": 7}), json!({"skill": "bake", "args": 7})] {
        assert!(tool.check(&wrong).is_err(), "{wrong}");
    }
}

/// Calls the tool without a session around it.
async fn load(parts: Vec<InvocationPart>) -> Result<String, String> {
    #[derive(Debug)]
    struct NoDesk;
    impl TaskDesk for NoDesk {
        fn take(&self, _: BackgroundTask) -> Result<(), TaskRefused> {
            Err(TaskRefused)
        }
    }
    let call = ToolCall {
        tool_use_id: ToolUseId::new("toolu_1"),
        input: json!({"skill": "bake", "args": "bread"}),
        cancel: CancellationToken::new(),
        environment: Vec::new(),
        bounds: Bounds::default(),
        hidden: tillerman_ports::Hidden::default(),
        tasks: Arc::new(NoDesk),
    };
    let outcome = skill_tool(Arc::new(OneSkill(parts)), "").call(call).await;
    outcome.map(|output| output.content.plain_text()).map_err(|failure| failure.message)
}

#[tokio::test]
async fn without_a_session_texts_are_given_and_programs_refused() {
    let text = InvocationPart::Text("Heat, see ".to_owned());
    let file = InvocationPart::File("oven.md".to_owned());
    assert_eq!(load(vec![text.clone(), file]).await.as_deref(), Ok("Heat, see @oven.md"));
    let refused = load(vec![text, InvocationPart::Program("rm".to_owned())]).await;
    assert!(refused.unwrap_err().contains("only a session with permission rules"));
}
