//! Requests and responses of desktop shells.

use serde_json::{Value, json};
use tillerman_protocol::ipc::{
    IpcBody, IpcDecision, IpcImage, IpcImages, IpcKind, IpcRequest, IpcResponse,
};

fn read(value: Value) -> IpcRequest {
    serde_json::from_value(value).unwrap()
}

#[test]
fn requests_are_read_with_whatever_else_they_hold() {
    let request = read(json!({"id": "1", "kind": "interrupt", "later": {"field": 1}}));
    assert_eq!(
        (request.id.as_str(), IpcKind::parse(&request.kind)),
        ("1", Some(IpcKind::Interrupt))
    );
    assert_eq!(request.message, None);
    let request = read(json!({"id": "2", "kind": "permission_response", "permission_id": "p",
        "decision": "deny", "message": "no", "always": [0]}));
    assert_eq!(request.decision, Some(IpcDecision::Deny));
    assert_eq!(request.always, [0]);
    assert_eq!(request.updated_input, None, "absent leaves the input as it was");
    assert_eq!(IpcKind::parse("dance"), None);
}

#[test]
fn images_come_as_a_list_or_as_a_text() {
    let image = json!({"data": "AA==", "mime_type": "image/png"});
    let expected = IpcImage {
        data: "AA==".to_owned(),
        mime_type: "image/png".to_owned(),
        name: String::new(),
    };
    let request = read(json!({"id": "1", "kind": "user_message", "images": [image]}));
    assert_eq!(request.images, Some(IpcImages::List(vec![expected])));
    let text = json!([image]).to_string();
    let request = read(json!({"id": "1", "kind": "user_message", "images": text}));
    assert_eq!(request.images, Some(IpcImages::Text(text)));
}

#[test]
fn responses_have_a_type_an_id_and_a_time() {
    let say = |body| serde_json::to_value(IpcResponse { body, id: "r".to_owned(), timestamp: 7 });
    let cases = [
        (
            IpcBody::Ready { protocol: 1, version: "0.1.0".to_owned() },
            json!({"type": "ready", "protocol": 1, "version": "0.1.0"}),
        ),
        (
            IpcBody::Token { token: "hi".to_owned(), conversation_id: Some("c".to_owned()) },
            json!({"type": "token", "token": "hi", "conversation_id": "c"}),
        ),
        (
            IpcBody::ToolUse {
                tool_use_id: "t".to_owned(),
                tool_name: "Read".to_owned(),
                tool_input: json!({"a": 1}),
            },
            json!({"type": "tool_use", "tool_use_id": "t", "tool_name": "Read",
                "tool_input": {"a": 1}}),
        ),
        (
            IpcBody::Notice {
                notice: "it broke".to_owned(),
                conversation_id: Some("c".to_owned()),
            },
            json!({"type": "notice", "notice": "it broke", "conversation_id": "c"}),
        ),
        (IpcBody::Done { data: None }, json!({"type": "done"})),
        (IpcBody::Error { error: "no".to_owned() }, json!({"type": "error", "error": "no"})),
    ];
    for (body, mut expected) in cases {
        expected["id"] = json!("r");
        expected["timestamp"] = json!(7);
        let written = say(body.clone()).unwrap();
        assert_eq!(written, expected);
        let again: IpcResponse = serde_json::from_value(written).unwrap();
        assert_eq!(again.body, body);
    }
}
