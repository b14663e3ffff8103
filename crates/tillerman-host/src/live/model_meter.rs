//! Measures what a conversation asks of its model, by the frames of its run.

use serde_json::Value;
use tokio::time::Instant;

use crate::metrics::ModelMetrics;

/// The request that is under way, as far as frames tell.
#[derive(Debug, Default)]
pub(crate) struct ModelMeter {
    asked: Option<Instant>,
}

impl ModelMeter {
    /// Takes in a frame.
    pub(crate) fn hear(&mut self, frame: &Value, metrics: &ModelMetrics) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match (text(&frame["type"]).as_str(), text(&frame["subtype"]).as_str()) {
            ("system", "status") if frame["status"] == "requesting" => {
                self.asked = Some(Instant::now());
            }
            ("system", "api_retry") => {
                self.asked = None;
                metrics.failed(&text(&frame["error"]));
            }
            ("stream_event", _) if frame["parent_tool_use_id"].is_null() => {
                self.hear_event(&text(&frame["event"]["type"]), metrics);
            }
            ("result", _) => self.hear_result(frame, metrics),
            _ => {}
        }
    }

    fn hear_event(&mut self, event: &str, metrics: &ModelMetrics) {
        let Some(asked) = self.asked else { return };
        match event {
            "message_start" => metrics.began(asked.elapsed()),
            "message_stop" => {
                self.asked = None;
                metrics.answered(asked.elapsed());
            }
            _ => {}
        }
    }

    /// A round that ends while a request is under way has lost it.
    fn hear_result(&mut self, frame: &Value, metrics: &ModelMetrics) {
        if self.asked.take().is_none() {
            return;
        }
        if frame["terminal_reason"] == "api_error" {
            let status = frame["api_error_status"].as_u64();
            let error = status.map_or_else(|| "unknown".to_owned(), |status| status.to_string());
            metrics.failed(&error);
        } else {
            metrics.cancelled();
        }
    }
}
