//! Output styles: those that are built in and those of files.

use tillerman_config::extensions::CodingInstructions;

use crate::grove::Grove;

#[test]
fn styles_of_files_stand_before_those_that_are_built_in() {
    let grove = Grove::new();
    grove.put("user/output-styles/pirate.md", "---\nname: Pirate\ndescription: Arr\n---\nSay arr.");
    grove.put(
        "repo/.claude/output-styles/concise.md",
        "---\nname: Concise\nkeep-coding-instructions: true\n---\nOurs.",
    );
    let extensions = grove.load();
    let names: Vec<&str> = extensions.styles.iter().map(|style| style.name.as_str()).collect();
    assert_eq!(names, ["Concise", "Pirate", "Proactive", "Explanatory", "Learning"]);
    let pirate = extensions.style("pirate").unwrap();
    assert_eq!((pirate.text.as_str(), pirate.coding), ("Say arr.", CodingInstructions::Replaced));
    let concise = extensions.style("CONCISE").unwrap();
    assert_eq!((concise.text.as_str(), concise.coding), ("Ours.", CodingInstructions::Kept));
    assert!(extensions.style("nothing").is_none());
}
