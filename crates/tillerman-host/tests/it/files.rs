//! Projects, personas, skills and agents as files: taken over, followed, and named when broken.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{World, within};

const PROJECT: &str = "---\nname: Shop\ncwd: /\nmodel: small\npersona_ids: [calm]\n\
    skill_ids: [count]\nagent_ids: [scout]\n---\nMind the till.\n";
const AGENT: &str = "---\nname: scout\ndescription: Looks around.\ntools: [Read, Grep]\n---\n\
    Look around and say what is there.\n";

fn put(world: &World, name: &str, text: &str) -> PathBuf {
    put_in(&world.root.path().join("data"), name, text)
}

fn put_in(data: &Path, name: &str, text: &str) -> PathBuf {
    let path = data.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    // In one step, so that no half of a file is ever read.
    let fresh = path.with_extension("fresh");
    std::fs::write(&fresh, text).unwrap();
    std::fs::rename(&fresh, &path).unwrap();
    path
}

async fn quick() -> World {
    World::with(|settings| settings.timeouts.files = Duration::from_millis(5)).await
}

/// Waits until a list looks as wanted.
async fn until(world: &World, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let look = async {
        loop {
            let found = world.get(path).await.expect(200);
            if wanted(&found) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    within(path, look).await
}

#[tokio::test]
async fn a_session_gets_what_the_files_of_its_project_say() {
    let mut world = quick().await;
    let source = put(&world, "projects/shop.md", PROJECT);
    put(&world, "personas/calm.md", "Be calm.\n");
    put(&world, "skills/count.md", "---\nname: Count\n---\nCount first.\n");
    put(&world, "agents/scout.md", AGENT);
    let is_there = |found: &Value| found["problems"] == json!([]);
    until(&world, "/agents", |found| found["agents"][0]["id"] == "scout").await;
    until(&world, "/files", is_there).await;
    let project = world.get("/projects/shop").await.expect(200);
    assert_eq!(project["source"], source.display().to_string());
    assert_eq!((&project["name"], &project["model"]), (&json!("Shop"), &json!("small")));
    let new = json!({"project_id": "shop"});
    let conversation = world.send("POST", "/conversations", new).await.expect(201);
    world.say(conversation["id"].as_str().unwrap(), "go").await;
    let mut puppet = world.puppet().await;
    let guarded = puppet.order.guarded_paths.join("\n");
    assert!(guarded.contains("data/projects") && guarded.contains("data/agents"), "{guarded}");
    let hello = puppet.greet().await;
    let expected = "Mind the till.\n\nBe calm.\n\n## Skill Instructions\n\nCount first.";
    assert_eq!(hello["appendSystemPrompt"], expected);
    let scout = json!({"description": "Looks around.", "tools": ["Read", "Grep"],
        "prompt": "Look around and say what is there."});
    assert_eq!(hello["agents"], json!({ "scout": scout }));
}

#[tokio::test]
async fn files_are_followed_and_what_is_gone_goes() {
    let world = quick().await;
    let mut socket = world.socket().await;
    socket.send(json!({"type": "watch"})).await;
    assert!(socket.answers().await);
    let path = put(&world, "personas/calm.md", "Be calm.");
    socket.next_of("documents").await;
    put(&world, "personas/calm.md", "---\nname: Calmer\n---\nBe calmer.");
    let changed = |found: &Value| found["personas"][0]["text"] == "Be calmer.";
    assert_eq!(until(&world, "/personas", changed).await["personas"][0]["name"], "Calmer");
    std::fs::remove_file(path).unwrap();
    until(&world, "/personas", |found| found["personas"] == json!([])).await;
    let audit = world.get("/audit").await.expect(200);
    let actions: Vec<&str> = audit["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| entry["action"].as_str())
        .collect();
    assert_eq!(actions, ["persona.delete", "persona.put", "persona.put"]);
}

#[tokio::test]
async fn a_broken_file_is_named_with_its_line_and_the_former_state_stays() {
    let world = quick().await;
    let path = put(&world, "projects/shop.md", "---\nname: Shop\ncwd: /\n---\n");
    until(&world, "/projects", |found| found["projects"][0]["name"] == "Shop").await;
    put(&world, "projects/shop.md", "---\nname: Shop 2\ncwd: /\nmodell: small\n---\n");
    put(&world, "projects/new.md", "---\ncwd: relative\n---\n");
    let both = |found: &Value| found["problems"].as_array().unwrap().len() == 2;
    let found = until(&world, "/files", both).await;
    assert_eq!(found["directory"], world.root.path().join("data").display().to_string());
    let [new, shop] = found["problems"].as_array().unwrap().as_slice() else { panic!("two") };
    assert_eq!((&shop["path"], &shop["line"]), (&json!(path), &json!(4)));
    let message = shop["message"].as_str().unwrap();
    assert!(message.contains("modell") && message.contains("former state stays"), "{message}");
    assert_eq!((&new["kind"], &new["line"]), (&json!("project"), &json!(2)));
    assert!(new["message"].as_str().unwrap().contains("left out"), "{new}");
    // Also over a restart.
    let world = world.again(|settings| settings.timeouts.files = Duration::from_millis(5)).await;
    until(&world, "/files", both).await;
    let projects = world.get("/projects").await.expect(200);
    assert_eq!(projects["projects"].as_array().unwrap().len(), 1);
    assert_eq!(projects["projects"][0]["name"], "Shop");
    put(&world, "projects/shop.md", "---\nname: Shop 3\ncwd: /\n---\n");
    std::fs::remove_file(world.root.path().join("data/projects/new.md")).unwrap();
    until(&world, "/files", |found| found["problems"] == json!([])).await;
    assert_eq!(world.get("/projects/shop").await.expect(200)["name"], "Shop 3");
}

#[tokio::test]
async fn what_comes_from_a_file_is_not_changed_behind_its_back() {
    let world = quick().await;
    let path = put(&world, "skills/count.md", "Count first.");
    until(&world, "/skills", |found| found["skills"][0]["id"] == "count").await;
    let change = json!({"text": "Count last."});
    let refused = world.send("PATCH", "/skills/count", change).await.expect(409);
    assert_eq!(refused["error"]["code"], "from_file");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains(&path.display().to_string()), "{message}");
    let refused = world.send("DELETE", "/skills/count", json!({})).await;
    assert_eq!(refused.expect_error(409), "from_file");
    assert_eq!(world.get("/skills/count").await.expect(200)["text"], "Count first.");
    let forged = json!({"name": "mine", "text": "x", "source": "/etc/passwd"});
    let made = world.send("POST", "/skills", forged).await.expect(201);
    assert!(made.get("source").is_none());
    let own = format!("/skills/{}", made["id"].as_str().unwrap());
    let patch = json!({"source": "/etc/passwd", "text": "y"});
    assert!(world.send("PATCH", &own, patch).await.expect(200).get("source").is_none());
    world.send("DELETE", &own, json!({})).await.expect(204);
}

#[tokio::test]
async fn names_that_lead_nowhere_are_told() {
    let world = quick().await;
    put(&world, "projects/shop.md", "---\ncwd: /\npersona_ids: [clam]\n---\n");
    put(&world, "personas/calm.md", "Be calm.");
    let told = |found: &Value| !found["problems"].as_array().unwrap().is_empty();
    let found = until(&world, "/files", told).await;
    let message = found["problems"][0]["message"].as_str().unwrap();
    assert!(message.contains("\"clam\"") && message.contains("works without it"), "{message}");
    let shop = world.get("/projects/shop").await.expect(200);
    assert_eq!(shop["name"], "shop", "the name of the file is the name");
}

#[tokio::test]
async fn agents_are_managed_like_everything_else() {
    let world = World::new().await;
    let made = json!({"name": "scout", "description": "Looks.", "prompt": "Look."});
    let made = world.send("POST", "/agents", made).await.expect(201);
    assert!(made["tools"].is_null());
    for wrong in [
        json!({"name": "two words", "description": "d", "prompt": "p"}),
        json!({"name": "a", "description": " ", "prompt": "p"}),
        json!({"name": "a", "description": "d"}),
    ] {
        let refused = world.send("POST", "/agents", wrong.clone()).await;
        assert_eq!(refused.expect_error(400), "bad_request", "{wrong}");
    }
    assert_eq!(world.get("/agents").await.expect(200)["agents"], json!([made]));
}
