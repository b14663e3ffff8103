//! The real clock.

use std::time::{SystemTime, UNIX_EPOCH};

use tillerman_ports::Clock;
use tillerman_protocol::Moment;

/// Tells the system's time.
#[derive(Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is where time comes from")]
    fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
