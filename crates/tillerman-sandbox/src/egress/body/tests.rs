//! Bodies that end where they say, and bodies that do not.

use super::{Framing, PassOnError, pass_on};

async fn passed(framing: Framing, text: &str) -> (Result<(), PassOnError>, String, usize) {
    let mut from = text.as_bytes();
    let mut to = Vec::new();
    let done = pass_on(framing, &mut from, &mut to).await;
    (done, String::from_utf8(to).unwrap(), from.len())
}

#[tokio::test]
async fn nothing_is_passed_on_beyond_the_end() {
    for (framing, text, whole, left) in [
        (Framing::Empty, "next", "", 4),
        (Framing::Length(3), "abcnext", "abc", 4),
        (Framing::UntilClosed, "abc", "abc", 0),
        (Framing::Chunked, "3;x=y\r\nabc\r\n0\r\n\r\nnext", "3\r\nabc\r\n0\r\n\r\n", 4),
        (
            Framing::Chunked,
            "A\r\n0123456789\r\n0\r\nT: x\r\n\r\n",
            "a\r\n0123456789\r\n0\r\n\r\n",
            0,
        ),
    ] {
        let (done, said, rest) = passed(framing, text).await;
        done.unwrap();
        assert_eq!((said.as_str(), rest), (whole, left), "{text:?}");
    }
}

#[tokio::test]
async fn what_is_no_body_is_an_error() {
    for (framing, text) in [
        (Framing::Length(4), "abc"),
        (Framing::Chunked, "3\r\nab"),
        (Framing::Chunked, "3\r\nabcd\r\n0\r\n\r\n"),
        (Framing::Chunked, "3\nabc\n0\n\n"),
        (Framing::Chunked, "+3\r\nabc\r\n0\r\n\r\n"),
        (Framing::Chunked, "\r\nabc\r\n0\r\n\r\n"),
        (Framing::Chunked, "0\r\n"),
        (Framing::Chunked, "11111111111111111\r\na"),
    ] {
        let (done, _, _) = passed(framing, text).await;
        assert!(matches!(done, Err(PassOnError::Read(_))), "{text:?}: {done:?}");
    }
}
