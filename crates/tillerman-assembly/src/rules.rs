//! Rules from flags and settings, with a warning for each that cannot be read.

use tillerman_policy::Rule;

/// Rules that approve; one that cannot be read approves nothing.
pub(crate) fn allowing(texts: &[String]) -> Vec<Rule> {
    let read = |text: &String| match Rule::parse(text) {
        Ok(rule) => Some(rule),
        Err(error) => {
            tracing::warn!("{error}; nothing is allowed by it");
            None
        }
    };
    texts.iter().filter_map(read).collect()
}

/// Rules that refuse or ask; one that cannot be read holds for every call of its tool.
pub(crate) fn restricting(texts: &[String]) -> Vec<Rule> {
    let read = |text: &String| {
        let (rule, error) = Rule::parse_restriction(text);
        if let Some(error) = error {
            tracing::warn!(
                "{error}; until it is mended it holds for every call of {}",
                rule.tool()
            );
        }
        rule
    };
    texts.iter().map(read).collect()
}
