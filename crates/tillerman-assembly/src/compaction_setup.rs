//! When conversations are compacted and in which form rounds end: flags, variables, settings.

use std::sync::Arc;

use serde_json::Value;
use tillerman_config::Layers;
use tillerman_engine::{CompactionConfig, CompactionMode, StructuredOutputConfig};
use tillerman_ports::Tool;
use tillerman_runtime::StructuredOutput;

use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::order::SessionOrder;

const OUTPUT_RETRIES: u32 = 5;

/// When conversations are compacted. Of several windows the variable's counts, then the flag's,
/// then that of the settings.
pub(crate) fn compaction(
    order: &SessionOrder,
    environment: &Environment,
    from_settings: Option<u64>,
) -> CompactionConfig {
    let mode = if environment.is_on("DISABLE_COMPACT") {
        CompactionMode::Off
    } else if environment.is_on("DISABLE_AUTO_COMPACT") {
        CompactionMode::OnRequest
    } else {
        CompactionMode::Automatic
    };
    CompactionConfig {
        mode,
        window: environment
            .number("CLAUDE_CODE_AUTO_COMPACT_WINDOW")
            .or(order.limits.autocompact)
            .or(from_settings)
            .filter(|window| *window > 0),
        percent: environment
            .number("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")
            .filter(|percent| (1..=100).contains(percent)),
        unknown_window: environment
            .number("CLAUDE_CODE_MAX_CONTEXT_TOKENS")
            .filter(|window| *window > 0),
        ..CompactionConfig::automatic()
    }
}

/// The window that settings ask for.
pub(crate) fn window_of_settings(layers: &Layers) -> Option<u64> {
    layers.strongest(|settings| settings.extra.get("autoCompactWindow").and_then(Value::as_u64))
}

/// How often a model may try again to deliver structured output.
pub(crate) fn output_retries(environment: &Environment) -> u32 {
    environment.number("MAX_STRUCTURED_OUTPUT_RETRIES").unwrap_or(OUTPUT_RETRIES)
}

/// Adds the tool that delivers structured output, if a schema is given.
pub(crate) fn add_structured_output(
    tools: &mut Vec<Arc<dyn Tool>>,
    order: &SessionOrder,
    environment: &Environment,
) -> Result<Option<StructuredOutputConfig>, StartFailure> {
    let Some(schema) = &order.model.json_schema else { return Ok(None) };
    let tool = StructuredOutput::new(schema.clone())
        .map_err(|error| StartFailure::usage(format!("--json-schema: {error}")))?;
    let config = tool.config(output_retries(environment));
    tools.push(Arc::new(tool));
    Ok(Some(config))
}
