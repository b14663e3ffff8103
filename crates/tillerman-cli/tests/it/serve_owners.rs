//! Several people at one host, and what their agents remember.

use serde_json::json;
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::World;
use crate::served::Served;

const KEEPER: &str = "---\nname: keeper\ndescription: keeps\nmemory: user\n---\nYou keep.\n";

/// Has the keeper called once.
async fn provider() -> ScriptedServer {
    let call = json!({"description": "keep", "prompt": "do it", "subagent_type": "keeper"});
    let script = script().reply(response().tool_call("Agent", call)).reply(response().text("kept"));
    ScriptedServer::start(script.reply(response().text("done"))).await
}

#[tokio::test]
async fn agents_of_two_people_remember_in_two_places() {
    for more in [&[][..], &["--isolate"]] {
        let world = World::new();
        std::fs::create_dir(world.config().join("agents")).unwrap();
        std::fs::write(world.config().join("agents/keeper.md"), KEEPER).unwrap();
        let data = world.path("data");
        let places = ["agent-memory/keeper", "agent-memory-of/vera/user/keeper"];
        let are_there = || places.map(|place| world.config().join(place).is_dir());

        let server = provider().await;
        let host = Served::launch(&world, world.tillerman().asks(&server), more).await;
        let id = host.say("go").await;
        host.reaches(&id, "idle").await;
        assert_eq!(are_there(), [true, false], "{}", host.events(&id).await);
        let token = host.token.clone();
        drop(host);

        let add = ["users", "add", "vera", "--role", "owner", "--data-dir", data.to_str().unwrap()];
        let added = world.tillerman().args(add).run().await;
        let hers = added.text().lines().last().unwrap().to_owned();
        std::fs::remove_dir_all(world.config().join("agent-memory")).unwrap();
        let server = provider().await;
        let host = Served::launch(&world, world.tillerman().asks(&server), more).await;
        let vera = Served { token: hers, ..host };
        let id = vera.say("go").await;
        vera.reaches(&id, "idle").await;
        assert_eq!(are_there(), [false, true], "{}", vera.events(&id).await);
        let host = Served { token, ..vera };
        assert_eq!(host.get(&format!("/conversations/{id}")).await["owner"], "vera");
    }
}
