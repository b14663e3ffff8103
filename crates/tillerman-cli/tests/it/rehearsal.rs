//! A fresh machine without any key: everything can be tried, and nothing is pretended.

use crate::harness::World;

#[tokio::test]
async fn a_plain_request_leads_to_real_calls() {
    let world = World::new();
    std::fs::write(world.file("README.md"), "# Boats\n\nHow to steer a boat.\n").unwrap();
    std::fs::write(world.file("rudder.txt"), "left\n").unwrap();
    let arguments = ["-p", "list the files here and tell me what README.md says"];
    let finished = world.tillerman().args(arguments).run().await;
    finished.assert_code(0);
    let text = finished.text();
    assert!(text.contains("rudder.txt"), "{text}");
    assert!(text.contains("How to steer a boat."), "{text}");
    assert!(text.contains("rehearsal model: no API key found"), "{text}");
    let stored = world.entries();
    let blocks = stored.iter().map(|entry| &entry["message"]["content"][0]);
    let calls: Vec<&str> = blocks.filter_map(|block| block["name"].as_str()).collect();
    assert_eq!(calls, ["Bash", "Read"]);
}

#[tokio::test]
async fn a_call_that_needs_permission_is_denied_and_told() {
    let world = World::new();
    let arguments = ["-p", "run `touch made-it`"];
    let finished = world.tillerman().args(arguments).run().await;
    finished.assert_code(0);
    assert!(!world.file("made-it").exists());
    assert!(finished.text().contains("rehearsal model"), "{}", finished.text());
}
