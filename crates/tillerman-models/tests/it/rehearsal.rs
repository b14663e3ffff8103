//! What the rehearsal model makes of prompts, of results and of what a session offers.

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tillerman_models::rehearsal::{Rehearsal, RehearsalNote};
use tillerman_ports::Model as _;
use tillerman_protocol::content::{Block, Content, Message, Role, ToolResult};
use tillerman_protocol::model::ModelEvent;

use crate::rehearsal_stage::{ALL, fine, fold, play, play_on, render, request, respond, user};

#[tokio::test]
async fn plain_requests_become_calls() {
    const P: &str = "/home/ann/project";
    let table: &[(&str, &[&str])] = &[
        ("list the files", &["Bash ls -la"]),
        ("List the files here.", &["Bash ls -la"]),
        ("Could you please list all files in the src directory?", &["Bash ls -la src"]),
        ("show me the files in `my dir`", &["Bash ls -la 'my dir'"]),
        ("what files are here?", &["Bash ls -la"]),
        ("read notes.txt", &["Read {P}/notes.txt"]),
        ("Read the file ./src/main.rs please", &["Read {P}/src/main.rs"]),
        ("read /etc/hosts", &["Read /etc/hosts"]),
        ("what does README.md say?", &["Read {P}/README.md"]),
        ("what's in Makefile", &["Read {P}/Makefile"]),
        ("tell me what the file README.md says", &["Read {P}/README.md"]),
        ("show me docs/guide.md", &["Read {P}/docs/guide.md"]),
        ("summarize README.md", &["Read {P}/README.md"]),
        ("read a.txt, b.txt and c.txt", &["Read {P}/a.txt + Read {P}/b.txt + Read {P}/c.txt"]),
        ("run `cargo test`", &["Bash cargo test"]),
        ("run: echo hi; echo there, you", &["Bash echo hi; echo there, you"]),
        ("Run echo \"a b\" and list the files", &["Bash echo \"a b\"", "Bash ls -la"]),
        ("execute the command `date` in the background", &["Bash date true"]),
        ("write notes.txt containing `hello world`", &["Write {P}/notes.txt hello world"]),
        ("write a file hello.txt that says hello", &["Write {P}/hello.txt hello"]),
        ("create a file named x.md with the text \"y, z\"", &["Write {P}/x.md y, z"]),
        ("write `hello` to out/x.txt", &["Write {P}/out/x.txt hello"]),
        ("create an empty file a.txt", &["Write {P}/a.txt "]),
        ("write list.txt with:\none\ntwo", &["Write {P}/list.txt one\ntwo"]),
        ("replace `a` with `b` in x.txt", &["Read {P}/x.txt", "Edit {P}/x.txt a b"]),
        (
            "change old words to new ones in x.txt",
            &["Read {P}/x.txt", "Edit {P}/x.txt old words new ones"],
        ),
        ("search for salt and pepper", &["Grep salt and pepper"]),
        ("search for `f(x)` in src", &["Grep f\\(x\\) {P}/src"]),
        ("search src for the word salt", &["Grep salt {P}/src"]),
        ("find *.rs", &["Glob **/*.rs"]),
        ("find all files named Cargo.toml", &["Glob **/Cargo.toml"]),
        (
            "delegate: list the files and read a.txt",
            &["Agent list the files and read a.txt general-purpose"],
        ),
        ("delegate to Explore: read a.txt", &["Agent read a.txt Explore"]),
        ("have a subagent list the files", &["Agent list the files general-purpose"]),
        (
            "fetch https://example.com/x",
            &["WebFetch What does the page say? https://example.com/x"],
        ),
        (
            "call mcp__shop__price with {\"name\": \"tea, and milk\"}",
            &["mcp__shop__price tea, and milk"],
        ),
        ("use the mcp__shop__price tool", &["mcp__shop__price rehearsal a"]),
        ("use Bash to run `ls`", &["Bash ls"]),
        ("I need you to list the files", &["Bash ls -la"]),
        (
            "Hi! Thanks. First list the files, then run `pwd`. Finally read a.txt!",
            &["Bash ls -la", "Bash pwd", "Read {P}/a.txt"],
        ),
        ("write a.txt with `x` then read a.txt", &["Write {P}/a.txt x", "Read {P}/a.txt"]),
    ];
    for (prompt, expected) in table {
        let played = play(prompt, ALL, fine).await;
        let calls: Vec<String> = played.responses.iter().map(|calls| render(calls)).collect();
        let expected: Vec<String> = expected.iter().map(|line| line.replace("{P}", P)).collect();
        assert_eq!(calls, expected, "{prompt}");
        assert!(!played.answer.contains("did not understand"), "{prompt}: {}", played.answer);
    }
}

#[tokio::test]
async fn lists_and_reads_in_one_response_and_tells_what_it_found() {
    let world = |tool: &str, _: &Value| {
        Ok(match tool {
            "Bash" => "total 12\ndrwxr-xr-x 3 ann ann 4096 Nov  1 10:00 .\n\
                       drwxr-xr-x 9 ann ann 4096 Nov  1 10:00 ..\n\
                       -rw-r--r-- 1 ann ann   52 Nov  1 10:00 README.md\n\
                       drwxr-xr-x 2 ann ann 4096 Nov  1 10:00 my src\n\
                       lrwxrwxrwx 1 ann ann    3 Nov  1 10:00 link -> src"
                .to_owned(),
            _ => "     1\t# Boats\n     2\t\n     3\tSail them.\n\
                  <system-reminder>be careful</system-reminder>"
                .to_owned(),
        })
    };
    let prompt = "list the files here and tell me what README.md says";
    let played = play(prompt, ALL, world).await;
    assert_eq!(played.responses.len(), 1);
    assert_eq!(render(&played.responses[0]), "Bash ls -la + Read /home/ann/project/README.md");
    assert_eq!(
        played.answer,
        format!(
            "There are 3 entries in the working directory: README.md, my src, link\n\n\
             README.md says:\n> # Boats\n> Sail them.\n\n{}",
            RehearsalNote::NoKey.sentence()
        )
    );
    assert!(played.answer.contains("rehearsal model: no API key found"));
    assert!(played.answer.contains("ANTHROPIC_API_KEY"));
}

#[tokio::test]
async fn denied_and_failed_calls_are_told_apart() {
    let denied = |_: &str, _: &Value| Err("Permission to use Bash was not given".to_owned());
    let answer = play("run `make`", ALL, denied).await.answer;
    assert!(
        answer.contains("I could not run `make`, because the call was not allowed"),
        "{answer}"
    );
    assert!(answer.contains("add a permission rule"), "{answer}");

    for refusal in [
        "Bash was not run: a deny rule (Bash) forbids it.",
        "permission was needed and there is nobody to ask",
        "The user denied this call.",
    ] {
        let answer = play("run `make`", ALL, |_, _| Err(refusal.to_owned())).await.answer;
        assert!(answer.contains("the call was not allowed"), "{answer}");
    }

    let failed = |_: &str, _: &Value| Err("cat: no such file".to_owned());
    let answer = play("read a.txt", ALL, failed).await.answer;
    assert!(answer.contains("I tried to read a.txt, but it failed: cat: no such file"), "{answer}");
}

#[tokio::test]
async fn an_edit_is_not_tried_when_the_file_cannot_be_read() {
    let world = |_: &str, _: &Value| Err("no such file".to_owned());
    let played = play("replace `a` with `b` in x.txt, then run `pwd`", ALL, world).await;
    let calls: Vec<String> = played.responses.iter().map(|calls| render(calls)).collect();
    assert_eq!(calls, ["Read /home/ann/project/x.txt", "Bash pwd"]);
}

#[tokio::test]
async fn a_file_that_must_be_read_first_is_read_and_written_again() {
    let tries = std::cell::Cell::new(0);
    let world = |tool: &str, _: &Value| {
        tries.set(tries.get() + 1);
        match (tool, tries.get()) {
            ("Write", 1) => Err("the file has not been read yet".to_owned()),
            _ => Ok("ok".to_owned()),
        }
    };
    let played = play("write x.txt with `new`", ALL, world).await;
    let tools: Vec<&str> = played.responses.iter().map(|calls| calls[0].0.as_str()).collect();
    assert_eq!(tools, ["Write", "Read", "Write"]);
    assert!(played.answer.contains("I wrote x.txt (3 bytes)."), "{}", played.answer);
}

#[tokio::test]
async fn only_offered_tools_are_called() {
    let table: &[(&str, &[&str], &str)] = &[
        ("list the files in src", &["Glob"], "Glob * /home/ann/project/src"),
        ("read a.txt", &["Bash"], "Bash cat a.txt"),
        ("search for it's", &["Bash"], r"Bash grep -rnF -e 'it'\''s' ."),
        ("find *.rs", &["Bash"], "Bash find . -name '*.rs'"),
        ("delegate: say hi", &["Task"], "Task say hi general-purpose"),
    ];
    for (prompt, tools, expected) in table {
        let played = play(prompt, tools, fine).await;
        assert_eq!(render(&played.responses[0]), *expected, "{prompt}");
    }
    for (prompt, missing) in [
        ("run `ls`", "Bash"),
        ("ask me something", "AskUserQuestion"),
        ("write a.txt with `b`", "Write"),
        ("todo: a, b", "TodoWrite"),
    ] {
        let played = play(prompt, &[], fine).await;
        assert!(played.responses.is_empty(), "{prompt}");
        let says = format!("{missing} is not among the tools of this session");
        assert!(played.answer.contains(&says), "{prompt}: {}", played.answer);
    }
}

#[tokio::test]
async fn questions_and_lists_have_the_shape_their_tools_take() {
    let ask = play("Ask me which color I like: red, dark blue or green", ALL, fine).await;
    let question = &ask.responses[0][0].1["questions"][0];
    assert_eq!(question["question"], "which color I like?");
    let labels: Vec<&Value> =
        question["options"].as_array().unwrap().iter().map(|option| &option["label"]).collect();
    assert_eq!(labels, ["red", "dark blue", "green"]);
    assert_eq!(question["multiSelect"], false);

    let plain = play("ask me whether to go on", ALL, fine).await;
    assert_eq!(plain.responses[0][0].1["questions"][0]["options"][1]["label"], "No");

    for prompt in ["todo: buy milk, read a.txt and rest", "plan:\n- buy milk\n- read a.txt\n- rest"]
    {
        let todo = play(prompt, ALL, fine).await;
        assert_eq!(
            todo.responses[0][0].1["todos"],
            json!([
                {"content": "buy milk", "status": "pending", "activeForm": "buy milk"},
                {"content": "read a.txt", "status": "pending", "activeForm": "read a.txt"},
                {"content": "rest", "status": "pending", "activeForm": "rest"},
            ]),
            "{prompt}"
        );
    }
}

#[tokio::test]
async fn unknown_requests_are_echoed_with_what_can_be_rehearsed() {
    for prompt in ["Write me a poem about the sea", "hello", "run the tests", "list animals", "42"]
    {
        let played = play(prompt, ALL, fine).await;
        assert!(played.responses.is_empty(), "{prompt}");
        assert!(played.answer.contains(prompt), "{}", played.answer);
        assert!(played.answer.contains("I can rehearse plain requests"), "{}", played.answer);
        assert!(played.answer.contains("rehearsal model: no API key found"), "{}", played.answer);
    }
    let mixed = play("list the files. Also, what is love?", ALL, fine).await;
    assert_eq!(mixed.responses.len(), 1);
    assert!(mixed.answer.contains("did not understand this as a request: what is love"));
}

#[tokio::test]
async fn only_the_newest_prompt_counts_and_ids_stay_unique() {
    let mut messages = vec![user("run `one`")];
    play_on(&mut messages, ALL, fine).await;
    messages.push(user("<system-reminder>run `never`</system-reminder>\nrun `two` and read a.txt"));
    let second = play_on(&mut messages, ALL, fine).await;
    let calls: Vec<String> = second.responses.iter().map(|calls| render(calls)).collect();
    assert_eq!(calls, ["Bash two", "Read /home/ann/project/a.txt"]);

    let mut ids: Vec<String> = messages
        .iter()
        .flat_map(|message| message.content.clone().into_blocks())
        .filter_map(|block| match block {
            Block::ToolUse { id, .. } => Some(id.as_str().to_owned()),
            _ => None,
        })
        .collect();
    assert!(ids.iter().all(|id| id.starts_with("toolu_rehearsal_")));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn remarks_beside_results_do_not_start_over() {
    let mut messages = vec![user("run `one`")];
    let (blocks, _) = fold(&respond(request(messages.clone(), ALL)).await);
    let Block::ToolUse { id, .. } = &blocks[0] else { panic!("no call") };
    let result = ToolResult {
        tool_use_id: id.clone(),
        content: Content::Text("done".to_owned()),
        is_error: false,
    };
    messages.push(Message { role: Role::Assistant, content: Content::Blocks(blocks.clone()) });
    let results = vec![Block::ToolResult(result), Block::text("A hook says: mind the budget")];
    messages.push(Message { role: Role::User, content: Content::Blocks(results) });
    let (blocks, stop_reason) = fold(&respond(request(messages, ALL)).await);
    assert_eq!(stop_reason, "end_turn");
    assert!(blocks[0].as_text().unwrap().contains("> done"));
}

#[tokio::test]
async fn the_first_prompt_after_an_interrupt_is_answered() {
    const MARKER: &str = "[Request interrupted by user for tool use]";
    let mut messages = vec![user("run `one`")];
    let (blocks, _) = fold(&respond(request(messages.clone(), ALL)).await);
    let Block::ToolUse { id, .. } = &blocks[0] else { panic!("no call") };
    let result = Block::ToolResult(ToolResult {
        tool_use_id: id.clone(),
        content: Content::Text("The call was interrupted by the user.".to_owned()),
        is_error: true,
    });
    messages.push(Message { role: Role::Assistant, content: Content::Blocks(blocks.clone()) });
    // The engine puts results, the note about the interrupt and the next prompt in one message.
    let after = |prompt: &str| {
        let blocks = vec![result.clone(), Block::text(MARKER), Block::text(prompt)];
        let mut messages = messages.clone();
        messages.push(Message { role: Role::User, content: Content::Blocks(blocks) });
        messages
    };
    let played = play_on(&mut after("run `two`"), ALL, fine).await;
    assert_eq!(
        played.responses.iter().map(|calls| render(calls)).collect::<Vec<_>>(),
        ["Bash two"]
    );
    let played = play_on(&mut after("why did you stop?"), ALL, fine).await;
    assert!(played.responses.is_empty(), "{:?}", played.responses);
    assert!(played.answer.contains("why did you stop"), "{}", played.answer);

    // An answer that never began leaves both prompts in one message.
    let blocks = [Block::text("run `one`"), Block::text(MARKER), Block::text("run `two`")];
    let both = Message { role: Role::User, content: Content::Blocks(blocks.into()) };
    let played = play_on(&mut vec![both], ALL, fine).await;
    assert_eq!(
        played.responses.iter().map(|calls| render(calls)).collect::<Vec<_>>(),
        ["Bash two"]
    );
}

#[tokio::test]
async fn a_recap_names_prompts_without_repeating_them() {
    let mut messages = vec![user("run `one`")];
    play_on(&mut messages, ALL, fine).await;
    messages.push(user("Summarize this conversation so that work can go on."));
    let recap = play_on(&mut messages, ALL, fine).await;
    assert!(recap.responses.is_empty());
    assert!(recap.answer.contains("\"run `one`\""), "{}", recap.answer);

    let after = play(&recap.answer, ALL, fine).await;
    assert!(after.responses.is_empty(), "{:?}", after.responses);
}

#[tokio::test]
async fn a_wanted_structure_is_given_once_and_last() {
    let tools = ["Bash", "StructuredOutput"];
    let played = play("run `pwd`", &tools, fine).await;
    let calls: Vec<String> = played.responses.iter().map(|calls| render(calls)).collect();
    assert_eq!(calls, ["Bash pwd", "StructuredOutput rehearsal a"]);
}

#[tokio::test]
async fn the_same_request_always_gets_the_same_response() {
    let first = respond(request(vec![user("list the files")], ALL)).await;
    let second = respond(request(vec![user("list the files")], ALL)).await;
    assert_eq!(first, second);
    let named = Rehearsal::new(RehearsalNote::ChosenByName);
    let events: Vec<_> = named.respond(request(vec![user("say hi")], ALL)).collect().await;
    let (blocks, _) = fold(&events);
    assert!(blocks[0].as_text().unwrap().starts_with("hi\n\nrehearsal model: chosen by name"));
}

#[tokio::test]
async fn tokens_are_estimated() {
    let rehearsal = Rehearsal::new(RehearsalNote::NoKey);
    let short = rehearsal.count_tokens(request(vec![user("a")], &[])).await.unwrap();
    let long = rehearsal.count_tokens(request(vec![user(&"a".repeat(351))], &[])).await.unwrap();
    assert_eq!(long - short, 100);
}

#[tokio::test]
async fn long_and_repetitive_prompts_are_answered_at_once() {
    for unit in [
        "\n",
        "'a ",
        "{ ",
        ", please ",
        "and read ",
        "run: ",
        "`",
        "\"",
        "delegate ",
        "write a.b with:\n",
    ] {
        let prompt = unit.repeat(30_000 / unit.len());
        fold(&respond(request(vec![user(&prompt)], ALL)).await);
    }
    let huge = format!("write a.txt with `{}`", "x".repeat(70_000));
    assert!(play(&huge, ALL, fine).await.responses.is_empty());
}

proptest::proptest! {
    #[test]
    fn any_prompt_gets_a_well_formed_response(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "list", "files", "read", "a.txt", "run", "`x`", "and", "then", ",", ".", ":", "\n",
                "write", "with", "to", "in", "replace", "search", "for", "ask", "me", "delegate",
                "todo", "-", "call", "Bash", "{}", "the", "background", "ü", "“é”", "'", "\"", "say",
            ]),
            0..12,
        ),
        noise in ".{0,12}",
        glue in proptest::sample::select(vec![" ", ""]),
    ) {
        let prompt = format!("{}{noise}", words.join(glue));
        let events = Rehearsal::new(RehearsalNote::NoKey).respond(request(vec![user(&prompt)], ALL));
        let events: Vec<ModelEvent> =
            futures_util::FutureExt::now_or_never(events.collect()).unwrap();
        fold(&events);
    }
}
