//! Commands and skills: what they become, what may run in them, and what they lend.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_policy::Rule;
use tillerman_ports::Tool as _;
use tillerman_ports::{Contents, Invocation, InvocationPart, Library, Programs, Reading};
use tillerman_protocol::frame::Init;
use tillerman_runtime::Inbound;

use crate::model::{Gate, Script, calls, says, script};
use crate::stage::{Play, SECRET, SESSION, Stage, kinds, stage, tool_result};
use crate::tools::{Conduct, TestTool, changing, looking};

/// Knows `/deploy` and the skill `deploy`, and has memory for `/nowhere/src`.
#[derive(Debug)]
struct Books {
    deploy: Invocation,
    memory: Mutex<Vec<String>>,
}

impl Library for Books {
    fn command(&self, prompt: &str) -> Reading {
        match prompt {
            "/deploy" => Reading::Invocation(self.deploy.clone()),
            "/crash" => panic!("the library was told to panic"),
            "/cost" => Reading::Plain,
            other => Reading::Answer(format!("Unknown command: {other}.")),
        }
    }

    fn skill(&self, name: &str, _: &str) -> Result<Invocation, String> {
        if name == "deploy" { Ok(self.deploy.clone()) } else { Err(format!("no skill {name}")) }
    }

    fn grants(&self, _: &str) -> Vec<String> {
        self.deploy.grants.clone()
    }

    fn memory_for(&self, path: &Path) -> Vec<String> {
        let is_due = path.starts_with("/nowhere/src");
        if is_due { std::mem::take(&mut self.memory.lock().unwrap()) } else { Vec::new() }
    }

    fn reload(&self) -> Contents {
        let init = Init { slash_commands: vec!["new".to_owned()], ..Init::default() };
        let greeting = json!({"commands": [{"name": "new"}, {"name": "old", "builtin": true}]})
            .as_object()
            .unwrap()
            .clone();
        let skill_tool = Some(looking("Skill", Conduct::Fail).spec());
        Contents { init, greeting, skill_tool, ..Contents::default() }
    }

    fn limit_skills(&self, names: &[String]) -> Contents {
        let init = Init { skills: names.to_vec(), ..Init::default() };
        Contents { init, ..Contents::default() }
    }
}

pub(crate) fn text(words: &str) -> InvocationPart {
    InvocationPart::Text(words.to_owned())
}

pub(crate) fn program(command: &str) -> InvocationPart {
    InvocationPart::Program(command.to_owned())
}

pub(crate) fn deploy(parts: Vec<InvocationPart>) -> Invocation {
    let name = "deploy".to_owned();
    Invocation { name, parts, programs: Programs::Judged, ..Invocation::default() }
}

pub(crate) fn with_library(mut stage: Stage, deploy: Invocation) -> Stage {
    let memory = Mutex::new(vec!["Sources are sacred.".to_owned()]);
    stage.setup.ports.library = Some(Arc::new(Books { deploy, memory }));
    stage
}

fn begin<const N: usize>(
    scripts: impl IntoIterator<Item = Script>,
    tools: [&TestTool; N],
    deploy: Invocation,
) -> Play {
    with_library(stage(scripts).tools(tools), deploy).begin()
}

/// What the model was asked last.
fn asked(play: &Play) -> String {
    let request = play.model.requests().pop().expect("the model was not asked");
    request.messages.last().expect("nothing was said").content.plain_text()
}

fn result(frames: &[Value]) -> String {
    frames[frames.len() - 1]["result"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_command_becomes_what_it_stands_for() {
    let mut play = begin([says("Done.")], [], deploy(vec![text("Deploy "), text("now.")]));
    play.say("/deploy").await;
    assert_eq!(kinds(&play.round().await), ["system/init", "assistant", "result/success"]);
    assert_eq!(asked(&play), "Deploy now.");
    let stored = serde_json::to_value(play.shelf.entries()).unwrap().to_string();
    assert!(stored.contains(r#""lastPrompt":"/deploy""#), "{stored}");
}

#[tokio::test(start_paused = true)]
async fn what_is_answered_asks_no_model() {
    let mut play = begin([], [], Invocation::default());
    play.say("/nothing").await;
    let frames = play.round().await;
    assert_eq!(result(&frames), "Unknown command: /nothing.");
    assert_eq!(frames[frames.len() - 1]["num_turns"], 0);
    play.say("/cost").await;
    assert!(result(&play.round().await).starts_with("Total cost"));
    play.say("/crash").await;
    assert!(result(&play.round().await).contains("could not be read"));
}

#[tokio::test(start_paused = true)]
async fn prompts_keep_their_order_and_the_end_waits_for_them() {
    let shell = looking("Bash", Conduct::Succeed);
    let parts = vec![text("Now: "), program("git status")];
    let play = begin([says("One."), says("Two.")], [&shell], deploy(parts));
    play.say("/deploy").await;
    play.say("second").await;
    play.say("/nothing").await;
    let model = play.model.clone();
    let (frames, end) = play.close().await;
    assert!(!end.last_result_failed);
    let results: Vec<String> = frames
        .iter()
        .filter(|frame| frame["type"] == "result")
        .map(|frame| frame["result"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(results, ["One.", "Two.", "Unknown command: /nothing."]);
    let first = model.requests()[0].messages[0].content.plain_text();
    assert!(first.starts_with("Now: Bash did {\"command\":\"git status\""), "{first}");
    assert_eq!(shell.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_program_runs_only_when_nobody_had_to_be_asked() {
    let shell = changing("Bash", Conduct::Succeed);
    let mut play = begin([], [&shell], deploy(vec![program("make install")]));
    play.say("/deploy").await;
    let answer = result(&play.round().await);
    assert!(answer.contains("`make install` is not allowed in advance"), "{answer}");
    assert!(shell.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn rules_of_a_command_allow_its_own_programs() {
    let shell = changing("Bash", Conduct::Succeed);
    let grants = vec!["Bash(make install)".to_owned()];
    let invocation = Invocation { grants, ..deploy(vec![program("make install")]) };
    let mut play = begin([says("Done.")], [&shell], invocation);
    play.say("/deploy").await;
    assert_eq!(result(&play.round().await), "Done.");
    assert_eq!(shell.log().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_trusts_runs_nothing_in_any_mode() {
    let shell = looking("Bash", Conduct::Succeed);
    let invocation =
        Invocation { programs: Programs::Refused, ..deploy(vec![program("git status")]) };
    let mut stage = with_library(stage([]).tools([&shell]), invocation);
    stage.setup.engine.mode = tillerman_protocol::permission::PermissionMode::BypassPermissions;
    stage.setup.policy.allow.push(Rule::parse("Bash").unwrap());
    let mut play = stage.begin();
    play.say("/deploy").await;
    let answer = result(&play.round().await);
    assert!(answer.contains("a project that is not trusted"), "{answer}");
    assert!(shell.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_program_that_fails_ends_the_command() {
    let shell = looking("Bash", Conduct::Fail);
    let mut play = begin([], [&shell], deploy(vec![program("git status")]));
    play.say("/deploy").await;
    assert!(result(&play.round().await).contains("`git status` failed: that did not work"));
    let mut play = begin([], [], deploy(vec![program("git status")]));
    play.say("/deploy").await;
    assert!(result(&play.round().await).contains("no Bash tool"));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_a_program_that_hangs() {
    let shell = looking("Bash", Conduct::EndWhenTold(Duration::from_millis(10)));
    let mut play = begin([says("Next.")], [&shell], deploy(vec![program("git status")]));
    play.say("/deploy").await;
    play.say("next").await;
    assert!(play.is_silent_for(60).await);
    play.tell(Inbound::Interrupt).await;
    assert!(result(&play.round().await).contains("/deploy was not run"));
    assert_eq!(result(&play.round().await), "Next.");
}

#[tokio::test(start_paused = true)]
async fn a_credential_in_a_program_is_taken_out() {
    let shell = looking("Bash", Conduct::Leak);
    let mut play = begin([says("Done.")], [&shell], deploy(vec![program("git status")]));
    play.say("/deploy").await;
    play.round().await;
    assert!(!asked(&play).contains(SECRET), "{}", asked(&play));
}

#[tokio::test(start_paused = true)]
async fn lent_rules_end_with_their_round() {
    let touch = changing("Touch", Conduct::Succeed);
    let grants = vec!["Touch".to_owned()];
    let invocation = Invocation { grants, ..deploy(vec![text("Deploy.")]) };
    let input = json!({"what": "it"});
    let scripts =
        [calls("Touch", "toolu_1", &input), says("Done."), calls("Touch", "toolu_2", &input)];
    let mut play = begin(scripts, [&touch], invocation);
    play.say("/deploy").await;
    assert_eq!(result(&play.round().await), "Done.");
    assert_eq!(touch.log().len(), 1, "the command's rules let it run");
    play.say("again").await;
    play.until("control_request/can_use_tool").await;
    assert_eq!(touch.log().len(), 1, "without the command somebody is asked");
}

/// A model that loads a skill and then does what the skill would allow.
fn baking(skill: &TestTool, touch: &TestTool) -> Stage {
    let grants = vec!["Touch".to_owned()];
    let invocation = Invocation { grants, ..deploy(vec![text("How to deploy.")]) };
    let scripts = [
        calls("Skill", "toolu_1", &json!({"skill": "deploy"})),
        calls("Touch", "toolu_2", &json!({})),
        says("Done."),
    ];
    with_library(stage(scripts).tools([skill, touch]), invocation)
}

#[tokio::test(start_paused = true)]
async fn a_skill_that_is_allowed_gives_its_text_and_lends_its_rules() {
    let (skill, touch) = (looking("Skill", Conduct::Fail), changing("Touch", Conduct::Succeed));
    let mut stage = baking(&skill, &touch);
    stage.setup.policy.allow.push(Rule::parse("Skill(deploy)").unwrap());
    let mut play = stage.begin();
    play.say("Deploy, please").await;
    let frames = play.round().await;
    assert_eq!(tool_result(&frames)["content"], "How to deploy.");
    assert_eq!((result(&frames).as_str(), touch.log().len()), ("Done.", 1));
}

#[tokio::test(start_paused = true)]
async fn a_skill_that_nobody_allowed_gives_its_text_alone() {
    let (skill, touch) = (looking("Skill", Conduct::Fail), changing("Touch", Conduct::Succeed));
    let mut play = baking(&skill, &touch).begin();
    play.say("Deploy, please").await;
    let loaded = play.until("user").await;
    assert_eq!(tool_result(&[loaded])["content"], "How to deploy.");
    play.until("control_request/can_use_tool").await;
    assert!(touch.log().is_empty(), "a model cannot allow itself anything");
}

#[tokio::test(start_paused = true)]
async fn a_skill_that_is_not_there_is_told_to_the_model() {
    let skill = looking("Skill", Conduct::Succeed);
    let scripts = [calls("Skill", "toolu_1", &json!({"skill": "cook"})), says("Sorry.")];
    let mut play = begin(scripts, [&skill], Invocation::default());
    play.say("Cook").await;
    let answer = tool_result(&play.round().await);
    assert_eq!((&answer["content"], &answer["is_error"]), (&json!("no skill cook"), &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn memory_of_a_place_comes_with_the_first_look_at_it() {
    let read = looking("Read", Conduct::Succeed);
    let look = |id: &str, path: &str| calls("Read", id, &json!({"file_path": path}));
    let scripts = [
        look("toolu_1", "/nowhere/a"),
        look("toolu_2", "/nowhere/src/a"),
        look("toolu_3", "/nowhere/src/b"),
        says("Done."),
    ];
    let mut play = begin(scripts, [&read], Invocation::default());
    play.say("Look").await;
    let frames = play.round().await;
    let results = frames.iter().filter(|frame| frame["type"] == "user");
    let with_memory: Vec<bool> =
        results.map(|frame| frame.to_string().contains("Sources are sacred.")).collect();
    assert_eq!(with_memory, [false, true, false]);
}

#[tokio::test(start_paused = true)]
async fn lists_change_when_files_are_read_again() {
    let skill = looking("Skill", Conduct::Fail);
    let mut stage = with_library(stage([says("Hello.")]).tools([&skill]), Invocation::default());
    stage.setup.engine.tools = Vec::new().into();
    let mut play = stage.begin();
    let answer = play.ask(json!({"subtype": "reload_plugins"})).await;
    assert_eq!(answer["response"]["commands"].as_array().unwrap().len(), 2);
    assert_eq!(answer["response"]["skills"], json!([{"name": "new"}]));
    assert_eq!(answer["response"]["mcpServers"], json!([]));
    assert_eq!(answer["response"]["error_count"], 0);
    play.say("Hi").await;
    let init = play.until("system/init").await;
    assert_eq!(init["slash_commands"], json!(["new"]));
    assert_eq!(init["tools"], json!(["Skill"]), "there are skills now");
    play.until("result").await;
    let hello = play.ask(json!({"subtype": "initialize", "skills": ["only"]})).await;
    assert_eq!(hello["response"]["commands"][0]["name"], "new");
    play.say("/cost").await;
    let init = play.until("system/init").await;
    assert_eq!((&init["skills"], &init["tools"]), (&json!(["only"]), &json!([])));
}

#[tokio::test(start_paused = true)]
async fn starting_over_goes_on_under_a_new_id() {
    let mut play = stage([says("One."), says("Two.")]).begin();
    play.say("one").await;
    play.round().await;
    play.say("/clear").await;
    let frames = play.round().await;
    assert_eq!(kinds(&frames), ["system/init", "conversation_reset", "result/success"]);
    let new = &frames[1]["new_conversation_id"];
    assert_eq!((&frames[1]["session_id"], &frames[2]["session_id"]), (&json!(SESSION), new));
    assert_ne!(new, SESSION);
    play.say("two").await;
    let frames = play.round().await;
    assert!(frames.iter().all(|frame| frame["session_id"] == *new), "{frames:?}");
    assert_eq!(play.model.requests()[1].messages.len(), 1, "nothing of the old one is told");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_waits_can_be_taken_back() {
    let shell = looking("Bash", Conduct::EndWhenTold(Duration::from_millis(10)));
    let mut play = begin([], [&shell], deploy(vec![program("git status")]));
    play.say("/deploy").await;
    play.send(json!({"type": "user", "uuid": "00000000-0000-4000-8000-000000000001",
        "message": {"role": "user", "content": "never mind"}}))
        .await;
    let withdraw = json!({"subtype": "cancel_async_message",
        "message_uuid": "00000000-0000-4000-8000-000000000001"});
    assert_eq!(play.ask(withdraw).await["response"]["cancelled"], true);
    play.tell(Inbound::Interrupt).await;
    assert!(result(&play.round().await).contains("was not run"));
    let (frames, _) = play.close().await;
    assert_eq!(kinds(&frames), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_command_waits_for_the_round_before_it() {
    let gate = Gate::closed();
    let scripts = [script().gate(&gate).text("One.").done(), says("Two.")];
    let mut play = begin(scripts, [], deploy(vec![text("Deploy.")]));
    play.say("one").await;
    play.until("system/init").await;
    play.say("/deploy").await;
    gate.open();
    assert_eq!(result(&play.round().await), "One.");
    assert_eq!(result(&play.round().await), "Two.");
    assert_eq!(asked(&play), "Deploy.");
}
