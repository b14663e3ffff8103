//! Lines are told together and in order, and a flood is noticed.

use std::sync::Mutex;
use std::time::Duration;

use tillerman_ports::model::BoxFuture;
use tillerman_ports::{BackgroundTask, TaskDesk, TaskNews, TaskRefused};
use tokio_util::sync::CancellationToken;

use super::Feed;
use crate::config::MonitorLimits;

/// Keeps what it is told.
#[derive(Debug, Default)]
struct Ear(Mutex<Vec<String>>);

impl TaskDesk for Ear {
    fn take(&self, _: BackgroundTask) -> Result<(), TaskRefused> {
        Err(TaskRefused)
    }

    fn tell(&self, news: TaskNews) -> BoxFuture<()> {
        self.0.lock().unwrap().push(news.text);
        Box::pin(std::future::ready(()))
    }
}

fn limits() -> MonitorLimits {
    MonitorLimits { burst: 3, ..MonitorLimits::default() }
}

/// What is told when pieces come, each after so many milliseconds.
async fn heard(pieces: &[(u64, &str)]) -> (Vec<String>, Feed) {
    let (feed, ear) = (Feed::new(limits()), Ear::default());
    let (never, id) = (CancellationToken::new(), "b1".into());
    let printing = async {
        for (after, piece) in pieces {
            tokio::time::sleep(Duration::from_millis(*after)).await;
            feed.push(piece.as_bytes());
        }
        feed.end();
    };
    let ((), rest) = tokio::join!(printing, feed.speak(&id, &ear, &never));
    let mut told = ear.0.into_inner().unwrap();
    told.extend(rest);
    (told, feed)
}

#[tokio::test(start_paused = true)]
async fn lines_that_come_together_are_told_together() {
    let (told, _) =
        heard(&[(0, "one\ntw"), (100, "o\n"), (900, "three\n"), (10_000, "four")]).await;
    assert_eq!(told, ["one\ntwo", "three", "four"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_told_twice_within_the_pause() {
    let (told, _) = heard(&[(0, "one\n"), (300, "two\n"), (200, "three\n"), (2_000, "\n")]).await;
    assert_eq!(told, ["one", "two\nthree"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_too_much_is_left_out_and_counted() {
    let (told, feed) = heard(&[(0, "1\n2\n3\n4\n5\n\n  \n"), (2_500, "6\n7\n8\n")]).await;
    assert_eq!(told[0], "1\n2\n3\n[2 more lines came and are left out here.]");
    assert_eq!(told[1], "6\n7\n[One more line came and is left out here.]");
    assert_eq!((feed.untold(), feed.is_flooded()), (3, false));
}

#[tokio::test(start_paused = true)]
async fn only_a_flood_that_lasts_is_one() {
    let feed = Feed::new(limits());
    for _ in 0..29 {
        feed.push(b"a\nb\nc\nd\ne\n");
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert!(!feed.is_flooded());
    feed.push(b"a\nb\nc\nd\ne\n");
    tokio::time::advance(Duration::from_secs(1)).await;
    feed.push(b"a\nb\nc\nd\ne\n");
    assert!(feed.is_flooded());
    let calm = Feed::new(limits());
    for _ in 0..20 {
        calm.push(b"a\nb\nc\nd\ne\n");
        tokio::time::advance(Duration::from_secs(6)).await;
    }
    assert!(!calm.is_flooded(), "there was a rest after each");
}

#[tokio::test(start_paused = true)]
async fn long_lines_are_cut_and_odd_bytes_shown() {
    let feed = Feed::new(limits());
    let ear = Ear::default();
    feed.push("x".repeat(5_000).as_bytes());
    feed.push(b"\na\xffb\0c\r\n");
    feed.end();
    let told = feed.speak(&"b1".into(), &ear, &CancellationToken::new()).await.unwrap();
    assert!(ear.0.into_inner().unwrap().is_empty(), "it is told with the end");
    assert_eq!(told, format!("{} […]\na\u{fffd}b c", "x".repeat(2_000)));
}

#[tokio::test(start_paused = true)]
async fn nobody_is_told_after_the_stop() {
    let (feed, ear, stop) = (Feed::new(limits()), Ear::default(), CancellationToken::new());
    feed.push(b"one\n");
    stop.cancel();
    assert_eq!(feed.speak(&"b1".into(), &ear, &stop).await, None);
    assert!(ear.0.into_inner().unwrap().is_empty());
}
