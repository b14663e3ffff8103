//! Projects, personas and skills: kept, composed, and refused when they are wrong.

use serde_json::json;

use crate::harness::World;

#[tokio::test]
async fn a_session_gets_everything_its_project_says() {
    let mut world = World::new().await;
    let folder = world.root.path().join("work").display().to_string();
    let persona = json!({"name": "Calm", "text": "Be calm."});
    let persona = world.send("POST", "/personas", persona).await.expect(201);
    let skill = json!({"name": "Count", "text": "Count first."});
    let skill = world.send("POST", "/skills", skill).await.expect(201);
    let project = json!({
        "name": "Light", "cwd": folder, "environment": {"STAGE": "test"},
        "guarded_paths": ["CLAUDE.md"], "allowed_tools": ["Read"], "disallowed_tools": ["Bash"],
        "permission_mode": "acceptEdits", "model": "small", "max_budget_usd": 2.5,
        "persona_ids": [persona["id"], "gone"], "skill_ids": [skill["id"]],
        "mcp_servers": {"docs": {"type": "http", "url": "http://127.0.0.1:1/"}},
        "additional_prompt": "Mind the rocks.",
    });
    let project = world.send("POST", "/projects", project).await.expect(201);
    let new = json!({"project_id": project["id"]});
    let conversation = world.send("POST", "/conversations", new).await.expect(201);
    assert_eq!(conversation["model"], "small");
    assert_eq!(conversation["permission_mode"], "acceptEdits");
    world.say(conversation["id"].as_str().unwrap(), "go").await;
    let mut puppet = world.puppet().await;
    let order = &puppet.order;
    assert_eq!(order.cwd.display().to_string(), folder);
    assert_eq!(order.model.as_deref(), Some("small"));
    assert_eq!(order.environment["STAGE"], "test");
    assert_eq!(order.guarded_paths[0], "CLAUDE.md");
    assert_eq!(
        (&order.allowed_tools[..], &order.disallowed_tools[..]),
        (&["Read".to_owned()][..], &["Bash".to_owned()][..])
    );
    assert_eq!(order.max_budget_usd, Some(2.5));
    assert!(order.mcp_servers.contains_key("docs"));
    let hello = puppet.greet().await;
    let expected = "Mind the rocks.\n\nBe calm.\n\n## Skill Instructions\n\nCount first.";
    assert_eq!(hello["appendSystemPrompt"], expected);
}

#[tokio::test]
async fn a_bypassing_session_has_no_tools_for_planning() {
    let mut world = World::with(|settings| settings.may_bypass = true).await;
    let new = json!({"permission_mode": "bypassPermissions"});
    let conversation = world.send("POST", "/conversations", new).await.expect(201);
    world.say(conversation["id"].as_str().unwrap(), "go").await;
    let puppet = world.puppet().await;
    assert_eq!(puppet.order.disallowed_tools, ["EnterPlanMode", "ExitPlanMode"]);
    assert!(puppet.order.may_bypass);
}

#[tokio::test]
async fn documents_are_changed_field_by_field_and_removed() {
    let world = World::new().await;
    let made = json!({"name": "P", "cwd": "/", "model": "a"});
    let made = world.send("POST", "/projects", made).await.expect(201);
    let path = format!("/projects/{}", made["id"].as_str().unwrap());
    let changed = world.send("PATCH", &path, json!({"model": null, "name": "Q"})).await.expect(200);
    assert_eq!((&changed["name"], &changed["cwd"]), (&json!("Q"), &json!("/")));
    assert!(changed["model"].is_null());
    assert_eq!(world.get("/projects").await.expect(200)["projects"], json!([changed]));
    for wrong in [
        json!({"environment": {"LD_PRELOAD": "/tmp/x.so"}}),
        json!({"cwd": "relative"}),
        json!({"name": ""}),
        json!({"max_budget_usd": -1.0}),
        json!({"allowed_tools": ["--resume=x"]}),
        json!({"permission_mode": "yolo"}),
        json!({"no_such_field": 1}),
    ] {
        let answer = world.send("PATCH", &path, wrong.clone()).await;
        assert_eq!(answer.expect_error(400), "bad_request", "{wrong}");
    }
    world.send("DELETE", &path, json!({})).await.expect(204);
    assert_eq!(world.get(&path).await.expect_error(404), "not_found");
    let new = json!({"project_id": made["id"]});
    assert_eq!(world.send("POST", "/conversations", new).await.expect_error(404), "not_found");
}

#[tokio::test]
async fn a_daily_limit_of_a_project_holds_for_it_alone() {
    let mut world = World::new().await;
    let project = json!({"name": "P", "cwd": "/", "daily_budget_usd": 0.5});
    let project = world.send("POST", "/projects", project).await.expect(201);
    let new = json!({"project_id": project["id"]});
    let limited = world.send("POST", "/conversations", new).await.expect(201);
    let limited = limited["id"].as_str().unwrap().to_owned();
    world.say(&limited, "go").await;
    let (puppet, prompt) = world.prompted().await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.result(0.6).await;
    world.reaches(&limited, "idle").await;
    let body = json!({"text": "more", "client_id": "2"});
    let path = format!("/conversations/{limited}/messages");
    assert_eq!(world.send("POST", &path, body).await.expect_error(402), "limit_reached");
    let free = world.conversation().await;
    world.say(&free, "go").await;
    let usage = world.get("/usage").await.expect(200);
    assert_eq!(usage["by_project"][0]["project_id"], project["id"]);
}
