//! Silence is measured from the last byte, whatever that byte was.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tillerman_models::event_reader::EventReader;
use tillerman_protocol::model::FailureKind;

const IDLE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_half_open_stream_fails_after_the_idle_timeout() {
    let first = Bytes::from_static(b"data: 1\n\ndata: half");
    let bytes = stream::iter([Ok(first)]).chain(stream::pending());
    let mut reader = EventReader::new(bytes, IDLE);
    assert_eq!(reader.next().await.unwrap().unwrap().data, "1");
    let before = tokio::time::Instant::now();
    assert_eq!(reader.next().await.unwrap_err().kind, FailureKind::Stream);
    assert_eq!(before.elapsed(), IDLE);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_only_pings_stays_alive() {
    let bytes = stream::unfold(0, |count| async move {
        tokio::time::sleep(IDLE - Duration::from_secs(1)).await;
        (count < 20).then(|| (Ok(Bytes::from_static(b": ping\n\n")), count + 1))
    });
    let mut reader = EventReader::new(bytes, IDLE);
    assert_eq!(reader.next().await.unwrap(), None);
}
