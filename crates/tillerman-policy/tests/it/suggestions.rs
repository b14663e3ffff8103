//! What is offered so that a question need not be asked again.

use serde_json::{Value, json};
use tillerman_policy::Verdict;
use tillerman_protocol::permission::{PermissionMode, PermissionUpdate, UpdateDestination};

use crate::world::{World, default_world};

fn suggestions(world: &World, tool: &str, input: &Value) -> Vec<PermissionUpdate> {
    match world.ruling_of(tool, input, tool == "Read").verdict {
        Verdict::Ask { suggestions, .. } => suggestions,
        other => panic!("{other:?}"),
    }
}

fn commands(command: &str) -> Vec<String> {
    let suggested = suggestions(&default_world(), "Bash", &json!({ "command": command }));
    suggested
        .iter()
        .flat_map(|update| match update {
            PermissionUpdate::AddRules { rules, destination, .. } => {
                assert_eq!(*destination, UpdateDestination::LocalSettings);
                rules.iter().map(|rule| rule.rule_content.clone().unwrap()).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn exactly_what_was_shown_is_suggested() {
    assert_eq!(commands("mkdir one"), ["mkdir one"]);
    assert_eq!(commands("npm test && npm run lint"), ["npm test", "npm run lint"]);
    assert_eq!(commands("ls && make && make"), ["make"]);
}

#[test]
fn nothing_is_suggested_that_would_allow_more() {
    let none = [
        "sh -c x",
        "python3 x.py",
        "sudo make",
        "xargs rm",
        "make $X",
        "make *",
        "make > x",
        "A=b make",
        "$x",
        "env make",
        "npx evil",
        "for i in a; do make; done",
        "make 'a b'",
        "make \"unclosed",
        "a;b;c;d;e;f",
        "touch .git/x",
    ];
    for command in none {
        let world = crate::world::unguarded_world();
        let suggested = suggestions(&world, "Bash", &json!({ "command": command }));
        assert!(suggested.is_empty(), "{command}: {suggested:?}");
    }
}

#[test]
fn an_accepted_suggestion_answers_the_question() {
    for command in
        ["mkdir one", "npm test && npm run lint", "git push origin main", "ls && make -j8 all"]
    {
        let mut world = default_world();
        for update in suggestions(&world, "Bash", &json!({ "command": command })) {
            world.policy.apply(&update);
        }
        assert_eq!(world.ruling(command).verdict.name(), "allow", "{command}");
    }
}

#[test]
fn edits_inside_suggest_the_mode_and_paths_outside_their_folder() {
    let suggested = suggestions(&default_world(), "Write", &json!({ "file_path": "a" }));
    let mode = PermissionUpdate::SetMode {
        mode: PermissionMode::AcceptEdits,
        destination: UpdateDestination::Session,
    };
    assert_eq!(suggested, [mode]);
    let folder = PermissionUpdate::AddDirectories {
        directories: vec!["/srv/x".to_owned()],
        destination: UpdateDestination::Session,
    };
    assert_eq!(
        suggestions(&default_world(), "Read", &json!({ "file_path": "/srv/x/a" })),
        [folder]
    );
}

#[test]
fn a_host_is_suggested_for_the_web() {
    let suggested =
        suggestions(&default_world(), "WebFetch", &json!({ "url": "https://Example.com/x" }));
    let text = format!("{suggested:?}");
    assert!(text.contains("domain:example.com"), "{text}");
}
