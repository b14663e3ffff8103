//! Points in time as the wire writes them: UTC, milliseconds, ISO 8601.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment(i64);

impl Moment {
    /// A moment from milliseconds since the Unix epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to this moment; zero when the clock went backwards.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(timestamp) => write!(f, "{timestamp:.3}"),
            Err(_) => f.write_str("1970-01-01T00:00:00.000Z"),
        }
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A timestamp nobody can read must not make a prompt or an entry unreadable.
        Ok(Self(match Written::deserialize(deserializer)? {
            Written::Text(text) => {
                text.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond)
            }
            Written::Millis(millis) => millis,
            Written::Nonsense(_) => 0,
        }))
    }
}

/// A moment as some writer wrote it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Millis(i64),
    Nonsense(serde::de::IgnoredAny),
}
