//! Reading and writing as a table.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a line.
pub(crate) fn read<T: DeserializeOwned>(line: &Value) -> T {
    match serde_json::from_str(&line.to_string()) {
        Ok(read) => read,
        Err(error) => panic!("{error}: {line}"),
    }
}

/// Reads a line and writes it again: nothing may be lost or invented.
#[track_caller]
pub(crate) fn keeps<T: DeserializeOwned + Serialize + PartialEq + Debug>(line: &Value) -> T {
    let first: T = read(line);
    let written = serde_json::to_value(&first).unwrap();
    assert_eq!(written, *line);
    let second: T = read(&written);
    assert_eq!(first, second);
    first
}

/// Reads a line that says less or more than ours would, and writes it as ours would.
#[track_caller]
pub(crate) fn becomes<T: DeserializeOwned + Serialize>(line: &Value, expected: &Value) -> T {
    let read: T = read(line);
    assert_eq!(serde_json::to_value(&read).unwrap(), *expected);
    read
}
