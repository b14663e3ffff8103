//! A limit for every wait, so that a broken test fails with a sentence instead of hanging.

use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(10);

/// Waits for something that a correct test brings about soon.
#[expect(clippy::panic, reason = "a test that waits in vain must fail and say for what")]
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(LIMIT, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {} s in vain for {what}", LIMIT.as_secs()),
    }
}
