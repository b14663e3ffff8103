//! Agents in the real program, without any key: the rehearsal model can hand work on too.

use crate::harness::World;

#[tokio::test]
async fn work_is_handed_to_an_agent_and_its_transcript_is_kept() {
    let world = World::new();
    std::fs::write(world.file("rudder.txt"), "left\n").unwrap();
    let arguments = ["-p", "delegate: list the files here"];
    let finished = world.tillerman().args(arguments).run().await;
    finished.assert_code(0);
    let text = finished.text();
    assert!(text.contains("rudder.txt"), "{text}");
    let stored = world.entries();
    let outcome = stored.iter().find_map(|entry| entry.get("toolUseResult")).unwrap();
    assert_eq!(
        (&outcome["status"], &outcome["agentType"]),
        (&"completed".into(), &"general-purpose".into())
    );
    let calls = stored.iter().filter(|entry| entry["message"]["content"][0]["name"] == "Agent");
    assert_eq!(calls.count(), 1);
    assert!(stored.iter().all(|entry| entry["isSidechain"] != true), "the agent has its own file");
}

#[tokio::test]
async fn agents_can_be_taken_away_and_must_be_readable() {
    let world = World::new();
    let arguments = ["-p", "delegate: list the files here", "--disallowedTools", "Agent"];
    let finished = world.tillerman().args(arguments).run().await;
    finished.assert_code(0);
    let stored = world.entries();
    assert!(!stored.iter().any(|entry| entry["message"]["content"][0]["name"] == "Agent"));
    let finished = world.tillerman().args(["-p", "hello", "--agents", "{"]).run().await;
    finished.assert_code(1);
}
