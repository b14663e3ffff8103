//! What agents of one owner remember, on a host that several people use.

use std::path::{Path, PathBuf};

use serde_json::json;
use tillerman_testkit::{ScriptedServer, response, script};

use crate::world::{World, converse};

const EMPTY: &str = "It is empty so far.";

/// Has an agent of this owner write into its memory, and returns what it knew before.
async fn remember(world: &World, owner: &str, scope: &str, memory: &Path, text: &str) -> String {
    let call = json!({"description": "keep", "prompt": "do it", "subagent_type": "keeper"});
    // A file that is there would have to be read first.
    let file = memory.join("MEMORY.md");
    let file = if file.exists() { memory.join("later.md") } else { file };
    let write = json!({"file_path": file, "content": text});
    let server = ScriptedServer::start(
        script()
            .reply(response().tool_call("Agent", call))
            .reply(response().tool_call("Write", write))
            .reply(response().text("noted"))
            .reply(response().text("done")),
    )
    .await;
    let unused = std::fs::read_dir(world.path(".")).unwrap().count();
    let mut order = world.order_asking(&format!("unused-{unused}"), &server);
    order.cwd = world.path("work");
    order.owner = Some(owner.to_owned());
    let agent = json!({"name": "keeper", "description": "keeps", "prompt": "You keep.",
        "memory": scope});
    order.extension.agents = vec![serde_json::from_value(agent).unwrap()];
    converse(&order, "go").await;
    let knew = server.request(1).system_text();
    let written = std::fs::read_to_string(&file);
    let told = server.request(2).tool_result_texts();
    assert_eq!(written.unwrap_or_default(), text, "of {owner}: {told:?}");
    knew
}

fn others(world: &World, owner: &str, scope: &str) -> PathBuf {
    let place = world.path("config/agent-memory-of").join(owner);
    match scope {
        "user" => place.join("user/keeper"),
        _ => {
            let work = world.path("work").display().to_string();
            let letter = |byte: u8| match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
                _ => format!("%{byte:02x}"),
            };
            place.join("local").join(work.bytes().map(letter).collect::<String>()).join("keeper")
        }
    }
}

#[tokio::test]
async fn what_agents_of_one_owner_remember_is_no_other_s() {
    let world = World::new();
    std::fs::create_dir(world.path("work")).unwrap();
    for (scope, first) in [
        ("user", world.path("config/agent-memory/keeper")),
        ("local", world.path("work/.claude/agent-memory-local/keeper")),
    ] {
        assert!(remember(&world, "", scope, &first, "first").await.contains(EMPTY));
        let vera = others(&world, "vera", scope);
        assert!(remember(&world, "vera", scope, &vera, "hers").await.contains(EMPTY));
        // File systems that know no capitals keep these two apart as well.
        let capital = others(&world, "%56era", scope);
        assert!(remember(&world, "Vera", scope, &capital, "another's").await.contains(EMPTY));
        let again = remember(&world, "vera", scope, &vera, "more").await;
        assert!(again.contains("hers") && !again.contains("another's"), "{again}");
        let again = remember(&world, "", scope, &first, "second").await;
        assert!(again.contains("first") && !again.contains("more"), "{again}");
    }
    let project = world.path("work/.claude/agent-memory/keeper");
    remember(&world, "", "project", &project, "for all").await;
    let shared = remember(&world, "vera", "project", &project, "theirs").await;
    assert!(shared.contains("for all"), "a project's memory stays with the project");
}

#[tokio::test]
async fn no_name_of_an_owner_leads_out_of_its_place() {
    let world = World::new();
    std::fs::create_dir(world.path("work")).unwrap();
    for (name, folder) in [("..", "%2e%2e"), ("../../up", "%2e%2e%2f%2e%2e%2fup"), ("a.b", "a%2eb")]
    {
        let place = others(&world, folder, "user");
        remember(&world, name, "user", &place, folder).await;
    }
    let made = std::fs::read_dir(world.path("config/agent-memory-of")).unwrap();
    assert_eq!(made.count(), 3);
}

#[tokio::test]
async fn file_tools_stay_out_of_what_others_remember() {
    let world = World::new();
    std::fs::create_dir(world.path("work")).unwrap();
    let files = [
        ("", world.path("config/agent-memory/keeper/MEMORY.md")),
        ("", world.path("work/.claude/agent-memory-local/keeper/MEMORY.md")),
        ("vera", world.path("config/agent-memory-of/vera/user/keeper/MEMORY.md")),
        ("mara", world.path("config/agent-memory-of/mara/user/keeper/MEMORY.md")),
    ];
    for (_, file) in &files {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "a secret of the rudder").unwrap();
    }
    for reader in ["", "vera"] {
        for (number, (owner, file)) in files.iter().enumerate() {
            let command = format!("cat {}", file.display());
            let server = ScriptedServer::start(
                script()
                    .reply(response().tool_call("Read", json!({"file_path": file})))
                    .reply(response().tool_call("Bash", json!({"command": command})))
                    .reply(response().text("done")),
            )
            .await;
            let mut order = world.order_asking(&format!("unused-{reader}-{number}"), &server);
            order.cwd = world.path("work");
            order.owner = Some(reader.to_owned());
            converse(&order, "look").await;
            for request in [1, 2] {
                let shown = server.request(request).tool_result_texts().join("\n");
                let is_seen = shown.contains("a secret of the rudder");
                assert_eq!(is_seen, reader == *owner, "{reader:?} {}: {shown}", file.display());
            }
        }
    }
}
