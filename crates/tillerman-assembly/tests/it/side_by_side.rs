//! Two sessions in one process at once, each in a world of its own.

use serde_json::json;
use tillerman_assembly::SessionOrder;
use tillerman_testkit::{ScriptedServer, response, script};
use tokio::task::JoinSet;

use crate::world::{World, converse};

/// Says that it is there, waits until the other session has said so, and tells where it is.
fn meet(mine: &str, other: &str) -> String {
    format!(
        "touch ../{mine}.here; until test -e ../{other}.here; do sleep 0.01; done; pwd; echo $MARK"
    )
}

async fn server(mine: &str, other: &str) -> ScriptedServer {
    let replies = script()
        .reply(response().tool_call("Bash", json!({ "command": meet(mine, other) })))
        .reply(response().tool_call("Write", json!({ "file_path": "note.txt", "content": mine })))
        .reply(response().text("done"));
    ScriptedServer::start(replies).await
}

fn order(world: &World, name: &str, server: &ScriptedServer) -> SessionOrder {
    let url = server.url();
    let key = format!("sk-dummy-{name}-0123456789");
    let variables =
        [("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", &key), ("MARK", name)];
    world.order(name, &variables)
}

#[tokio::test]
async fn sessions_share_neither_directory_nor_environment() {
    let world = World::new();
    let servers = [server("left", "right").await, server("right", "left").await];
    let mut sessions = JoinSet::new();
    for (name, server) in ["left", "right"].into_iter().zip(&servers) {
        std::fs::create_dir_all(world.path("config")).unwrap();
        let order = order(&world, name, server);
        std::fs::write(order.cwd.join("CLAUDE.md"), format!("Remember the {name} side.")).unwrap();
        // Tasks of a runtime are Send, so this compiles only as long as sessions are.
        sessions.spawn(async move { converse(&order, "meet the other one").await });
    }
    while let Some(finished) = sessions.join_next().await {
        let finished = finished.unwrap();
        assert_eq!(finished.result()["result"], "done", "{:?}", finished.frames);
        assert!(!finished.end.last_result_failed);
    }
    for (name, server) in ["left", "right"].into_iter().zip(&servers) {
        let cwd = world.path(name);
        let told = server.request(1).tool_result_texts().join("\n");
        assert!(told.contains(&format!("{}\n{name}", cwd.display())), "{told}");
        assert_eq!(std::fs::read_to_string(cwd.join("note.txt")).unwrap(), name);
        let system = server.request(0).system_text();
        assert!(system.contains(&format!("Working directory: {}", cwd.display())), "{system}");
        assert!(system.contains(&format!("Remember the {name} side.")), "{system}");
        let key = server.request(0).header("x-api-key").map(str::to_owned);
        assert_eq!(key.as_deref(), Some(format!("sk-dummy-{name}-0123456789").as_str()));
        server.verify();
    }
    let projects = std::fs::read_dir(world.path("config/projects")).unwrap();
    assert_eq!(projects.count(), 2, "each directory has transcripts of its own");
}
