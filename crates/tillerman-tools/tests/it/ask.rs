//! Questions to the user and their answers.

use serde_json::{Value, json};

use crate::bench::{Bench, structured, text};

fn question() -> Value {
    json!({
        "question": "Which color?", "header": "Color", "multiSelect": false,
        "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
    })
}

#[tokio::test]
async fn answers_reach_the_model_and_the_host() {
    let bench = Bench::new();
    let input = json!({
        "questions": [question()],
        "answers": {"Which color?": "Red"},
        "annotations": {"Which color?": {"notes": "dark, please"}},
    });
    bench.tool("AskUserQuestion").check(&input).unwrap();
    let output = bench.call("AskUserQuestion", input.clone()).await.unwrap();
    let told = text(&output);
    assert!(told.contains("Which color?\n  Red\n  Notes: dark, please"), "{told}");
    assert_eq!(structured(&output), input);
    let several = json!({"questions": [question()], "answers": {"Which color?": ["Red", "Blue"]}});
    let output = bench.call("AskUserQuestion", several).await.unwrap();
    assert_eq!(structured(&output)["answers"]["Which color?"], "Red, Blue");
    let own = json!({"questions": [question()], "answers": {}, "response": "green"});
    assert!(text(&bench.call("AskUserQuestion", own).await.unwrap()).contains("green"));
}

#[tokio::test]
async fn without_answers_the_model_learns_that_nobody_answered() {
    let bench = Bench::new();
    let refusal = bench.failure("AskUserQuestion", json!({"questions": [question()]})).await;
    assert!(refusal.contains("Nobody answered"), "{refusal}");
}

#[test]
fn malformed_questions_are_refused() {
    let bench = Bench::new();
    let refuse = |change: &dyn Fn(&mut Value), message: &str| {
        let mut question = question();
        change(&mut question);
        let input = json!({"questions": [question]});
        let refusal = bench.tool("AskUserQuestion").check(&input).unwrap_err();
        assert!(refusal.contains(message), "{refusal}");
    };
    refuse(&|it| it["options"] = json!([{"label": "a"}]), "two to four options");
    refuse(&|it| it["options"] = json!([{"label": "a"}, {"label": "a"}]), "twice");
    refuse(&|it| it["question"] = Value::Null, "questions[0].question is required");
    refuse(&|it| it["options"] = json!([{"label": "a"}, {}]), "questions[0].options[1].label");
    let twice = json!({"questions": [question(), question()]});
    assert!(bench.tool("AskUserQuestion").check(&twice).unwrap_err().contains("asked twice"));
}
