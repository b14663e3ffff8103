//! Identifiers as newtypes: plain strings on the wire, distinct types inside.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps a string that is already known to be such an identifier.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The identifier as it stands on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

id_type! {
    /// Names a session: a UUID, also the name of its transcript file.
    SessionId
}
id_type! {
    /// Names one frame and, for user and assistant frames, the transcript entry that stores it.
    EntryId
}
id_type! {
    /// Names a tool call as the model wrote it (`toolu_…`).
    ToolUseId
}
id_type! {
    /// Names a control request, chosen by whoever sends it.
    RequestId
}
id_type! {
    /// Names a background task.
    TaskId
}
