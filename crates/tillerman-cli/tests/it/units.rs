//! The units for systemd start a program that knows what they ask of it.

use std::path::Path;

use crate::harness::World;

#[tokio::test]
async fn units_use_flags_that_there_are() {
    let world = World::new();
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    let mut checked = 0;
    for entry in std::fs::read_dir(packaging).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "service") {
            continue;
        }
        let unit = std::fs::read_to_string(&path).unwrap();
        let commands = unit.lines().filter_map(|line| line.strip_prefix("ExecStart="));
        for command in commands {
            let words: Vec<&str> = command.split_whitespace().collect();
            assert!(words[0].ends_with("/tillerman"), "{command}");
            // Whatever is not known is refused before the help is printed.
            let arguments = words[1..].iter().copied().chain(["--help"]);
            world.tillerman().args(arguments).run().await.assert_code(0);
            checked += 1;
        }
    }
    assert_eq!(checked, 2);
    let unknown = world.tillerman().args(["serve", "--no-such-flag", "--help"]).run().await;
    unknown.assert_code(1);
}
