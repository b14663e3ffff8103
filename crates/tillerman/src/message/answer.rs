//! What is left of a round once it is over.

use serde::de::DeserializeOwned;
use serde_json::Value;
use tillerman_protocol::SessionId;
use tillerman_protocol::frame::{ResultFrame, ResultSubtype};

use crate::error::{Error, ErrorKind, Result};

/// A round that ended well.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// What the agent said last.
    pub text: String,
    /// The answer that matches the schema, where one was asked for.
    pub structured_output: Option<Value>,
    /// The whole result, with costs and tokens.
    pub result: ResultFrame,
}

impl Answer {
    /// Takes a result for an answer.
    ///
    /// # Errors
    /// When the round failed: [`ErrorKind::MaxTurns`], [`ErrorKind::MaxBudget`],
    /// [`ErrorKind::StructuredOutput`], [`ErrorKind::Api`] or [`ErrorKind::Execution`]. The error
    /// carries the result.
    pub fn of(result: ResultFrame) -> Result<Self> {
        if result.is_error || result.subtype != ResultSubtype::Success {
            return Err(failure(result));
        }
        Ok(Self {
            text: result.result.clone().unwrap_or_default(),
            structured_output: result.structured_output.clone(),
            result,
        })
    }

    /// The session, for resuming it.
    #[must_use]
    pub const fn session_id(&self) -> &SessionId {
        &self.result.session_id
    }

    /// Reads the structured output into a type.
    ///
    /// # Errors
    /// [`ErrorKind::StructuredOutput`] when there is none or when it does not fit the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        let Some(output) = &self.structured_output else {
            return Err(Error::new(
                ErrorKind::StructuredOutput,
                "the agent ended without a structured answer; ask for one with `output_format` or \
                 `output_type`, and say in the prompt what it is to contain",
            )
            .with_result(self.result.clone()));
        };
        T::deserialize(output).map_err(|error| {
            Error::new(
                ErrorKind::StructuredOutput,
                format!(
                    "the answer matches its schema but not the type it is read into: {error}; \
                     derive the schema from the type with `output_type`"
                ),
            )
            .with_result(self.result.clone())
        })
    }
}

fn failure(result: ResultFrame) -> Error {
    let errors = result.errors.clone().unwrap_or_default().join("; ");
    let said = [errors, result.result.clone().unwrap_or_default()];
    let said = said.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let (kind, what) = match &result.subtype {
        ResultSubtype::ErrorMaxTurns => (
            ErrorKind::MaxTurns,
            format!("the agent reached its turn limit; raise `max_turns` or ask for less: {said}"),
        ),
        ResultSubtype::ErrorMaxBudgetUsd => (
            ErrorKind::MaxBudget,
            format!("the budget is used up; raise it or ask for less: {said}"),
        ),
        ResultSubtype::ErrorMaxStructuredOutputRetries => (
            ErrorKind::StructuredOutput,
            format!(
                "no answer matched the schema; simplify it or explain it in the prompt: {said}"
            ),
        ),
        _ if is_api_failure(&result) => {
            (ErrorKind::Api, format!("the model could not answer: {said}"))
        }
        ResultSubtype::Other(name) => (
            ErrorKind::Execution,
            format!("the round ended as {name}, which this version does not know: {said}"),
        ),
        _ => (ErrorKind::Execution, format!("the round failed: {said}")),
    };
    let status = result.api_error_status;
    Error::new(kind, what).with_status(status).with_result(result)
}

fn is_api_failure(result: &ResultFrame) -> bool {
    result.subtype == ResultSubtype::Success
        || result.api_error_status.is_some()
        || result.terminal_reason == "api_error"
}
