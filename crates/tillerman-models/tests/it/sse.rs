//! Events come out the same however their bytes are cut, and garbage harms nobody.

use proptest::collection::vec;
use proptest::prelude::*;
use tillerman_models::sse::{MAX_EVENT_BYTES, SseDecoder, SseError, SseEvent};

fn decode(chunks: &[&[u8]], limit: usize) -> (Vec<SseEvent>, Option<SseError>) {
    let mut decoder = SseDecoder::with_limit(limit);
    let mut events = Vec::new();
    let mut failure = None;
    for chunk in chunks {
        failure = decoder.push(chunk).err();
        events.extend(std::iter::from_fn(|| decoder.next_event()));
    }
    (events, failure)
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<SseEvent> = expected
        .iter()
        .map(|(event, data)| SseEvent { event: (*event).to_owned(), data: (*data).to_owned() })
        .collect();
    assert_eq!(decode(&[text.as_bytes()], 1_000), (expected.clone(), None), "{text:?}");
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert_eq!(decode(&bytes, 1_000), (expected, None), "{text:?} byte by byte");
}

#[test]
fn lines_may_end_in_any_of_three_ways() {
    for end in ["\n", "\r", "\r\n"] {
        check(
            &format!("event: a{end}data: 1{end}{end}data: 2{end}{end}"),
            &[("a", "1"), ("", "2")],
        );
    }
    check("data: 1\r\n\ndata: 2\n\r\n", &[("", "1"), ("", "2")]);
}

#[test]
fn fields_are_read_as_the_standard_says() {
    check("data:tight\n\n", &[("", "tight")]);
    check("data:  wide\n\n", &[("", " wide")]);
    check("data: one\ndata: two\ndata\n\n", &[("", "one\ntwo\n")]);
    check("data\n\n", &[("", "")]);
    check("event: lonely\n\ndata: next\n\n", &[("", "next")]);
    check(": comment\nid: 7\nretry: 9\nunknown: x\ndata: a:b\n\n", &[("", "a:b")]);
    check("event: a\nevent: b\ndata: 1\n\n", &[("b", "1")]);
    check("data: never ended", &[]);
    check("data: never ended\n", &[]);
}

#[test]
fn a_byte_order_mark_counts_only_at_the_start() {
    check("\u{feff}data: 1\n\n\u{feff}data: 2\n\n", &[("", "1")]);
    check("\u{feff}\ndata: 1\n\n", &[("", "1")]);
}

#[test]
fn characters_may_be_split_and_broken_ones_are_replaced() {
    check("data: Grüße 🌍\n\n", &[("", "Grüße 🌍")]);
    let (events, failure) = decode(&[b"data: \xff\xfe\n\n"], 100);
    assert_eq!((events[0].data.as_str(), failure), ("\u{fffd}\u{fffd}", None));
}

#[test]
fn lines_and_events_without_end_are_refused_and_earlier_events_kept() {
    let (events, failure) = decode(&[b"data: 1\n\ndata: 23456", b"78", b"more\n\n"], 10);
    assert_eq!(events.len(), 1);
    assert_eq!(failure, Some(SseError::LineTooLong { limit: 10 }));
    let (events, failure) = decode(&[b"data: 1234\ndata: 5678\ndata: 9\n\n", b"data: 1\n\n"], 10);
    assert_eq!((events, failure), (vec![], Some(SseError::EventTooLong { limit: 10 })));
}

#[test]
fn the_usual_limit_is_sixteen_mebibytes() {
    let mut decoder = SseDecoder::default();
    let line = vec![b'x'; MAX_EVENT_BYTES];
    assert_eq!(decoder.push(&line), Ok(()));
    assert_eq!(decoder.push(b"x"), Err(SseError::LineTooLong { limit: MAX_EVENT_BYTES }));
}

/// Text in which everything the format cares about is frequent.
fn stream_bytes() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"event: ".to_vec()),
        Just(b"data".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b":".to_vec()),
        Just("\u{feff}".as_bytes().to_vec()),
        Just("ü🌍".as_bytes().to_vec()),
        vec(any::<u8>(), 0..6),
    ];
    vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn chunking_makes_no_difference(
        bytes in stream_bytes(),
        cuts in vec(any::<prop::sample::Index>(), 0..12),
        limit in 4_usize..200,
    ) {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let chunks: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(decode(&chunks, limit), decode(&[&bytes], limit));
    }

    #[test]
    fn random_bytes_never_panic(chunks in vec(vec(any::<u8>(), 0..64), 0..16)) {
        let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
        let (events, _) = decode(&chunks, 64);
        prop_assert!(events.iter().all(|event| event.data.len() <= 64 * 3));
    }
}
