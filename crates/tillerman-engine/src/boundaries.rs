//! What a session writes down and shows about compactions.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::{CompactMetadata, Frame, SystemDetail, SystemFrame};
use tillerman_protocol::transcript::{Entry, SystemEntry};

use crate::compaction::Compaction;
use crate::keepsakes::Keepsakes;
use crate::session::Session;

/// The note in front of a summary. What came before it is no longer part of the conversation.
pub(crate) const COMPACTED: &str = "compact_boundary";
/// The note that outputs were cleared.
pub(crate) const CLEARED_OUTPUTS: &str = "microcompact_boundary";

impl Session {
    /// Writes down that the conversation begins anew, and with what. The note alone changes
    /// nothing: only the summary that hangs on it does, so that a crash between the two is safe.
    pub(crate) fn record_compaction(
        &mut self,
        compaction: &Compaction,
        blocks: &[Block],
        kept: &Keepsakes,
    ) {
        let uuid = self.ids.entry_id();
        let mut link = self.link(uuid.clone(), None);
        let before = link.parent_uuid.take();
        link.logical_parent_uuid.clone_from(&before);
        let (trigger, pre, post) =
            (compaction.trigger.name(), compaction.pre_tokens, compaction.post_tokens);
        let extra = fields(json!({
            "content": "The conversation was compacted",
            "level": "info",
            "isMeta": false,
            "compactMetadata": {"trigger": trigger, "preTokens": pre, "postTokens": post},
        }));
        let subtype = COMPACTED.to_owned();
        self.append(Entry::System(Box::new(SystemEntry { link, subtype, extra })));
        let summary = self.ids.entry_id();
        let content = Content::Blocks(blocks.to_vec());
        let mut entry = self.user_entry(summary, Some(uuid.clone()), content);
        entry.is_compact_summary = Some(true);
        entry.extra = kept.to_fields();
        self.append(Entry::User(Box::new(entry)));
        let compact_metadata = CompactMetadata {
            trigger: trigger.to_owned(),
            pre_tokens: pre,
            extra: fields(json!({"post_tokens": post})),
        };
        let detail =
            SystemDetail::CompactBoundary { compact_metadata, logical_parent_uuid: before };
        let session_id = self.config.session_id.clone();
        self.emit(Frame::System(Box::new(SystemFrame { detail, session_id, uuid })));
        self.emit_system(SystemDetail::compacted(Ok(())));
    }

    /// Writes down and shows that the outputs of these calls were cleared.
    pub(crate) fn record_clearing(&mut self, calls: &HashSet<ToolUseId>, before: u64, saved: u64) {
        let uuid = self.ids.entry_id();
        let mut ids: Vec<&ToolUseId> = calls.iter().collect();
        ids.sort();
        let extra = fields(json!({
            "content": "Old tool outputs were cleared",
            "level": "info",
            "isMeta": false,
            "microcompactMetadata": {
                "trigger": "auto",
                "preTokens": before,
                "tokensSaved": saved,
                "compactedToolIds": ids,
            },
        }));
        let link = self.link(uuid.clone(), None);
        let subtype = CLEARED_OUTPUTS.to_owned();
        self.append(Entry::System(Box::new(SystemEntry { link, subtype, extra })));
        let detail = SystemDetail::MicrocompactBoundary {
            microcompact_metadata: CompactMetadata {
                trigger: "auto".to_owned(),
                pre_tokens: before,
                extra: fields(json!({"tokens_saved": saved})),
            },
        };
        let session_id = self.config.session_id.clone();
        self.emit(Frame::System(Box::new(SystemFrame { detail, session_id, uuid })));
    }

    pub(crate) fn emit_compaction_failure(&mut self, reason: &str) {
        self.emit_system(SystemDetail::compacted(Err(reason.to_owned())));
    }
}

/// The calls whose outputs a note says were cleared.
pub(crate) fn cleared_calls(note: &SystemEntry) -> HashSet<ToolUseId> {
    let ids = note.extra.get("microcompactMetadata").and_then(|data| data.get("compactedToolIds"));
    let ids = ids.and_then(Value::as_array).into_iter().flatten();
    ids.filter_map(Value::as_str).map(ToolUseId::new).collect()
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
