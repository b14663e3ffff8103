//! A cheap look at a line that borrows from it and copies nothing.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::line::{self, CHECKSUM_FIELD, Checksum, FORMAT_FIELD};
use crate::load::SkipReason;

/// What finding the conversation in a file needs to know of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Probe<'a> {
    /// The kind of entry.
    #[serde(rename = "type", borrow, default)]
    pub(crate) kind: Option<&'a str>,
    /// The entry.
    #[serde(borrow, default)]
    pub(crate) uuid: Option<&'a str>,
    /// The entry before it.
    #[serde(borrow, default)]
    pub(crate) parent_uuid: Option<&'a str>,
    /// Whether it belongs to a subagent.
    #[serde(default)]
    pub(crate) is_sidechain: Option<bool>,
    /// What it says of its message.
    #[serde(borrow, default)]
    pub(crate) message: Option<MessageProbe<'a>>,
    /// The format of the writer, if it was one of ours.
    #[serde(default)]
    tillerman_format: Option<u64>,
    #[serde(rename = "crc", borrow, default)]
    checksum: Option<&'a str>,
}

/// What siblings are recognised by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct MessageProbe<'a> {
    /// The response that the block belongs to.
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a str>,
    /// The call that the message answers.
    #[serde(borrow, default, rename = "content")]
    pub(crate) answers: Answer<'a>,
}

/// The call that the first tool result of some content answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer<'a>(pub(crate) Option<&'a str>);

impl Probe<'_> {
    /// The format of the writer; other writers count as the oldest.
    pub(crate) const fn format(&self) -> u64 {
        match self.tillerman_format {
            Some(format) => format,
            None => 0,
        }
    }
}

/// Looks at one line, without its newline, and hands what it found to `see`.
///
/// # Errors
/// When the line is damaged.
pub(crate) fn look<T>(line: &[u8], see: impl FnOnce(Probe<'_>) -> T) -> Result<T, SkipReason> {
    let text = std::str::from_utf8(line).map_err(|_| SkipReason::NotJson)?;
    let checksum = line::check(line);
    if checksum != Checksum::Differs
        && let Ok(probe) = serde_json::from_str::<Probe<'_>>(text)
    {
        require_checksum(&probe, checksum)?;
        return Ok(see(probe));
    }
    // Anything unusual about a line, such as an escaped key or a message of another shape, ends
    // here. Being unusual is no damage.
    let values: Map<String, Value> = serde_json::from_str(text).map_err(|_| SkipReason::NotJson)?;
    if checksum == Checksum::Differs && !line::was_only_reencoded(line, &values) {
        return Err(SkipReason::Checksum);
    }
    let probe = from_values(&values);
    require_checksum(&probe, checksum)?;
    Ok(see(probe))
}

/// Every line of ours was written with a checksum, so one that lost it is damaged. Later formats
/// may have another kind.
fn require_checksum(probe: &Probe<'_>, checksum: Checksum) -> Result<(), SkipReason> {
    let lost = checksum == Checksum::Absent
        && probe.tillerman_format.is_some_and(|format| format <= line::FORMAT)
        && probe.checksum.is_none_or(|digits| digits.len() != 8);
    if lost { Err(SkipReason::Checksum) } else { Ok(()) }
}

fn from_values(values: &Map<String, Value>) -> Probe<'_> {
    let text = |name: &str| values.get(name).and_then(Value::as_str);
    let message = values.get("message").and_then(Value::as_object);
    Probe {
        kind: text("type"),
        uuid: text("uuid"),
        parent_uuid: text("parentUuid"),
        is_sidechain: values.get("isSidechain").and_then(Value::as_bool),
        message: message.map(|message| MessageProbe {
            id: message.get("id").and_then(Value::as_str),
            answers: Answer(first_answer(message.get("content"))),
        }),
        // A format that is no number can only come from a later program.
        tillerman_format: values
            .get(FORMAT_FIELD)
            .map(|format| format.as_u64().unwrap_or(u64::MAX)),
        checksum: text(CHECKSUM_FIELD),
    }
}

fn first_answer(content: Option<&Value>) -> Option<&str> {
    content?.as_array()?.iter().find_map(|block| {
        let is_result = block.get("type").and_then(Value::as_str) == Some("tool_result");
        if is_result { block.get("tool_use_id").and_then(Value::as_str) } else { None }
    })
}

impl<'de: 'a, 'a> Deserialize<'de> for Answer<'a> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor).map(Answer)
    }
}

#[derive(Deserialize)]
struct BlockProbe<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a str>,
    #[serde(borrow, default)]
    tool_use_id: Option<&'a str>,
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Self::Value, A::Error> {
        let mut answer = None;
        while let Some(block) = blocks.next_element::<BlockProbe<'de>>()? {
            if answer.is_none() && block.kind == Some("tool_result") {
                answer = block.tool_use_id;
            }
        }
        Ok(answer)
    }
}
