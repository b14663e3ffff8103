//! Directories that an agent keeps itself, such as its memory.

use serde_json::json;

use crate::world::{World, unguarded_world};

const KEPT: &str = "/mnt/w/.claude/agent-memory/keeper";

fn world() -> World {
    let mut world = unguarded_world();
    world.policy.keeps = vec![KEPT.into()];
    world
}

fn writes(world: &World, path: &str) -> &'static str {
    world.verdict_of("Write", &json!({"file_path": path, "content": "x"}))
}

#[test]
fn file_tools_look_and_write_there_and_not_beside_it() {
    let table = [
        (".claude/agent-memory/keeper/MEMORY.md", "allow"),
        (".claude/agent-memory/keeper/deep/notes.md", "allow"),
        (".claude/agent-memory/keeper/../other/MEMORY.md", "ask"),
        (".claude/agent-memory/other/MEMORY.md", "ask"),
        (".claude/agent-memory/keeper2/MEMORY.md", "ask"),
        (".claude/settings.json", "ask"),
        (".claude/agent-memory/keeper/.git/config", "ask"),
        (".claude/agent-memory/keeper/.bashrc", "ask"),
    ];
    for (path, expected) in table {
        assert_eq!(writes(&world(), &format!("/mnt/w/{path}")), expected, "{path}");
    }
    let mut elsewhere = world();
    elsewhere.policy.keeps = vec!["/mnt/h/.claude/agent-memory/keeper".into()];
    let read = |world: &World, path: &str| world.verdict_of("Read", &json!({"file_path": path}));
    assert_eq!(read(&elsewhere, "/mnt/h/.claude/agent-memory/keeper/MEMORY.md"), "allow");
    assert_eq!(read(&elsewhere, "/mnt/h/.claude/settings.json"), "ask");
}

#[test]
fn links_rules_and_plans_still_count() {
    let file = format!("{KEPT}/MEMORY.md");
    let linked = world().link(&file, "/mnt/h/.profile");
    assert_eq!(writes(&linked, &file), "ask");
    let mut doubled = world();
    doubled.disk.with_other_names = vec![file.clone().into()];
    assert_eq!(writes(&doubled, &file), "ask");
    assert_eq!(writes(&world().deny(&["Edit(MEMORY.md)"]), &file), "deny");
    assert_eq!(writes(&world().mode("plan"), &file), "ask");
    assert_eq!(world().ruling(&format!("echo x > {file}")).verdict.name(), "ask");
}
