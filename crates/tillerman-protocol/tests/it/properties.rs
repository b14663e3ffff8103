//! Whatever a line says, it is read.

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{collection, proptest};
use serde_json::{Map, Value, json};
use tillerman_protocol::control::ControlBody;
use tillerman_protocol::frame::Frame;
use tillerman_protocol::stream::StreamEvent;
use tillerman_protocol::transcript::Entry;

/// Names and values that mean something here, so that chance comes close to real lines.
const WORDS: [&str; 40] = [
    "type",
    "subtype",
    "user",
    "assistant",
    "system",
    "result",
    "stream_event",
    "control_request",
    "control_response",
    "request",
    "response",
    "request_id",
    "message",
    "role",
    "content",
    "text",
    "tool_use",
    "tool_result",
    "id",
    "name",
    "input",
    "uuid",
    "session_id",
    "sessionId",
    "init",
    "success",
    "error",
    "usage",
    "modelUsage",
    "event",
    "delta",
    "index",
    "message_start",
    "parentUuid",
    "timestamp",
    "initialize",
    "hooks",
    "can_use_tool",
    "tool_name",
    "last-prompt",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0..WORDS.len()).prop_map(|index| WORDS[index].to_owned()),
        1 => any::<String>(),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::vec((word(), inner), 0..6).prop_map(object),
        ]
    })
}

fn object(fields: Vec<(String, Value)>) -> Value {
    Value::Object(fields.into_iter().collect::<Map<_, _>>())
}

fn line() -> impl Strategy<Value = Value> {
    collection::vec((word(), value()), 0..8).prop_map(object)
}

proptest! {
    #[test]
    fn an_object_is_a_frame_an_entry_an_event_and_a_request(line in line()) {
        let text = line.to_string();
        let frame: Frame = serde_json::from_str(&text).unwrap();
        let again: Frame = serde_json::from_value(serde_json::to_value(&frame).unwrap()).unwrap();
        assert_eq!(frame, again);
        let entry: Entry = serde_json::from_str(&text).unwrap();
        let again: Entry = serde_json::from_value(serde_json::to_value(&entry).unwrap()).unwrap();
        assert_eq!(entry, again);
        serde_json::from_str::<StreamEvent>(&text).unwrap();
        serde_json::from_str::<ControlBody>(&text).unwrap();
    }

    #[test]
    fn a_frame_of_a_known_type_is_read_whatever_it_lacks(
        kind in 0..WORDS.len(),
        subtype in word(),
        mut line in line(),
    ) {
        line["type"] = json!(WORDS[kind]);
        line["subtype"] = json!(subtype);
        let frame: Frame = serde_json::from_str(&line.to_string()).unwrap();
        serde_json::to_string(&frame).unwrap();
        let entry: Entry = serde_json::from_str(&line.to_string()).unwrap();
        serde_json::to_string(&entry).unwrap();
    }

    #[test]
    fn no_text_makes_reading_panic(text in any::<String>()) {
        drop(serde_json::from_str::<Frame>(&text));
        drop(serde_json::from_str::<Entry>(&text));
    }
}
