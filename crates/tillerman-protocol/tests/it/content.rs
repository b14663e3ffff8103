//! Message content.

use serde_json::{Value, json};
use tillerman_protocol::content::{Block, Content, Message, ToolResult};

use crate::wire::{becomes, keeps, read};

#[test]
fn content_is_a_text_or_a_list_of_blocks() {
    assert!(matches!(keeps(&json!("Hi")), Content::Text(_)));
    let blocks = json!([{"type": "text", "text": "Hi"}, {"type": "document", "source": {"a": 1}}]);
    let content: Content = keeps(&blocks);
    assert_eq!(content.plain_text(), "Hi");
    assert_eq!(content.into_blocks().len(), 2);
}

#[test]
fn blank_texts_disappear() {
    for blank in [json!(""), json!(" \n"), json!([]), json!([{"type": "text", "text": " "}])] {
        let content: Content = read(&blank);
        assert!(content.is_blank(), "{blank}");
        assert!(content.into_blocks().is_empty(), "{blank}");
    }
    let picture: Content = read(&json!([{"type": "image", "source": {}}]));
    assert!(!picture.is_blank());
}

#[test]
fn blocks_nobody_knows_are_passed_on() {
    for block in [
        json!({"type": "container_upload", "file_id": "f"}),
        json!({"type": "text"}),
        json!({"type": "tool_use", "name": "Bash"}),
        json!({"text": "no type"}),
        json!("bare"),
    ] {
        assert!(matches!(keeps(&block), Block::Other(_)), "{block}");
    }
}

#[test]
fn results_of_tools_are_read_with_gaps() {
    let whole = json!({"type": "tool_result", "tool_use_id": "t", "content": "x"});
    for (line, is_error) in [
        (json!({"type": "tool_result", "tool_use_id": "t", "content": "x"}), false),
        (
            json!({"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": null}),
            false,
        ),
        (
            json!({"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": false}),
            false,
        ),
    ] {
        let Block::ToolResult(result) = becomes(&line, &whole) else { panic!("{line}") };
        assert_eq!(result.is_error, is_error);
    }
    for gap in [json!({"tool_use_id": "t"}), json!({"tool_use_id": "t", "content": null})] {
        let result: ToolResult = read(&gap);
        assert_eq!(result.content, Content::Text(String::new()));
    }
    let blocks = json!({"type": "tool_result", "tool_use_id": "t", "is_error": true,
        "content": [{"type": "text", "text": "x"}, {"type": "image", "source": {}}]});
    assert!(matches!(keeps(&blocks), Block::ToolResult(result) if result.is_error));
}

#[test]
fn a_thought_without_a_signature_gets_an_empty_one() {
    let line = json!({"type": "thinking", "thinking": "Hm"});
    becomes::<Block>(&line, &json!({"type": "thinking", "thinking": "Hm", "signature": ""}));
    let call: Block = read(&json!({"type": "tool_use", "id": "t", "name": "Look"}));
    assert!(matches!(call, Block::ToolUse { input: Value::Null, .. }));
}

#[test]
fn a_message_has_one_of_two_roles() {
    keeps::<Message>(&json!({"role": "assistant", "content": "Hi"}));
    assert!(serde_json::from_value::<Message>(json!({"role": "system", "content": "Hi"})).is_err());
}
