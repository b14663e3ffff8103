//! Files as people write them, right and wrong.

use serde_json::json;

use super::{Trouble, read};
use crate::wire::{Agent, Persona, Project};

#[test]
fn a_head_has_the_fields_and_the_rest_is_the_text() {
    let text = "---\n# for the shop\nname: Shop\ncwd: /srv/shop\nenvironment:\n  STAGE: test\n\
                max_budget_usd: 2\nallowed_tools: [Read, 'Bash(git status)']\n\
                mcp_servers:\n  docs:\n    type: http\n    url: http://127.0.0.1:1/\n---\n\n\
                Mind the till.\n";
    let read = read::<Project>("shop", text).unwrap();
    assert_eq!(read.name, "Shop");
    assert_eq!(read.body["id"], "shop");
    assert_eq!(read.body["cwd"], "/srv/shop");
    assert_eq!(read.body["environment"], json!({"STAGE": "test"}));
    assert_eq!(read.body["max_budget_usd"], 2.0);
    assert_eq!(read.body["allowed_tools"], json!(["Read", "Bash(git status)"]));
    assert_eq!(read.body["mcp_servers"]["docs"]["type"], "http");
    assert_eq!(read.body["additional_prompt"], "Mind the till.");
    assert!(read.body.get("source").is_none());
}

#[test]
fn a_file_without_a_head_is_all_text_and_has_the_name_of_the_file() {
    let read = read::<Persona>("calm", "Be calm.\r\n").unwrap();
    assert_eq!((read.name.as_str(), &read.body["text"]), ("calm", &json!("Be calm.")));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let line = |outcome: Result<super::Read, Trouble>| {
        let trouble = outcome.unwrap_err();
        assert!(trouble.message.ends_with('.'), "{trouble:?}");
        trouble.line.unwrap()
    };
    let cases = [
        (line(read::<Project>("p", "---\nname: P\ncwd: relative\n---\n")), 3),
        (line(read::<Project>("p", "---\nname: P\ncwd: /\nno_such_field: 1\n---\n")), 4),
        (line(read::<Project>("p", "---\ncwd: /\npermission_mode: [a]\n---\n")), 3),
        (line(read::<Project>("p", "---\ncwd: /\nname: \"open\n---\n")), 4),
        (line(read::<Project>("p", "---\nname: P\n")), 1),
        (line(read::<Project>("p", "text alone")), 1),
        (line(read::<Project>("p", "---\ncwd: /\nenvironment:\n  LD_PRELOAD: x\n---\n")), 3),
        (line(read::<Agent>("a", "---\nname: a b\ndescription: d\n---\nDo it.\n")), 2),
        (line(read::<Agent>("a", "---\nname: ab\n---\nDo it.\n")), 1),
    ];
    for (place, (found, expected)) in cases.into_iter().enumerate() {
        assert_eq!(found, expected, "case {place}");
    }
}
