//! Streamed responses and what they used.

use serde_json::{Value, json};
use tillerman_protocol::frame::Frame;
use tillerman_protocol::stream::{StreamEvent, Usage};

use crate::wire::{keeps, read};

#[test]
fn events_are_kept_whole_inside_and_outside_of_frames() {
    let usage = json!({"input_tokens": 3, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0, "output_tokens": 1, "cache_creation": {"a": 1}});
    let table = [
        json!({"type": "message_start", "message": {"id": "m", "model": "x", "usage": usage,
            "role": "assistant", "content": []}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": "Hi"}}),
        json!({"type": "content_block_delta", "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "{\"a\""}}),
        json!({"type": "content_block_delta", "index": 2,
            "delta": {"type": "thinking_delta", "thinking": "Hm"}}),
        json!({"type": "content_block_delta", "index": 2,
            "delta": {"type": "signature_delta", "signature": "c2ln"}}),
        json!({"type": "content_block_delta", "index": 3,
            "delta": {"type": "citations_delta", "citation": {"a": 1}}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null,
            "container": null}, "usage": usage}),
        json!({"type": "message_stop"}),
        json!({"type": "ping"}),
        json!({"type": "from_the_future", "anything": 1}),
    ];
    for event in table {
        keeps::<StreamEvent>(&event);
        let frame = json!({"type": "stream_event", "event": event, "parent_tool_use_id": null,
            "uuid": "u", "session_id": "s", "ttft_ms": 400});
        assert!(matches!(keeps(&frame), Frame::StreamEvent(_)), "{frame}");
    }
}

#[test]
fn gaps_in_a_stream_are_filled() {
    for line in [
        json!({"type": "message_start", "message": {}}),
        json!({"type": "message_start", "message": {"usage": null}}),
        json!({"type": "message_delta", "delta": {}}),
        json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": null}),
        json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": null}}),
    ] {
        assert!(!matches!(read(&line), StreamEvent::Other(_)), "{line}");
    }
    let broken = json!({"type": "content_block_delta", "index": -1, "delta": {}});
    assert!(matches!(read(&broken), StreamEvent::Other(_)));
}

#[test]
fn later_reports_of_usage_win_where_they_say_something() {
    let usage = |value: Value| -> Usage { read(&value) };
    let mut counted = usage(json!({"input_tokens": 10, "cache_read_input_tokens": 5,
        "output_tokens": 1, "service_tier": "standard"}));
    counted.update(&usage(json!({"output_tokens": 40, "input_tokens": 0, "inference_geo": "eu"})));
    assert_eq!((counted.input_tokens, counted.output_tokens), (10, 40));
    assert_eq!(counted.extra.len(), 2);
    assert_eq!(counted.input_total(), 15);
    counted.add(&usage(json!({"input_tokens": 1, "output_tokens": 2})));
    assert_eq!((counted.input_tokens, counted.output_tokens), (11, 42));
}
