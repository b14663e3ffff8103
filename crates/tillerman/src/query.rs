//! One prompt, or a stream of them, and everything that comes of it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_util::StreamExt as _;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tillerman_ports::BoxFuture;

use crate::connection::{Connection, Controls, Ends, Plan, open, orders};
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Answer, Message, Prompts};
use crate::options::Options;

/// Asks once and streams everything that comes of it.
///
/// The stream ends when the engine is done: after the last result, when no agent works in the
/// background any more. Every result is delivered, and callbacks are answered to the end.
///
/// ```
/// # async fn example() -> tillerman::Result<()> {
/// use futures_util::StreamExt as _;
/// use tillerman::{Options, query};
///
/// let mut messages = query("list files", Options::new().model("rehearsal"));
/// while let Some(message) = messages.next().await {
///     if let Some(text) = message?.text() {
///         println!("{text}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub fn query(prompt: impl Into<Prompts>, options: Options) -> Query {
    plan(prompt.into(), options, Ends::WhenDone)
}

/// The same, but the session waits for more when all prompts are answered.
pub(crate) fn query_that_stays_open(prompt: impl Into<Prompts>, options: Options) -> Query {
    plan(prompt.into(), options, Ends::WhenClosed)
}

fn plan(prompts: Prompts, options: Options, ends: Ends) -> Query {
    let (sender, receiver) = orders();
    let prompts = Some(prompts.into_stream());
    let plan = Plan { options, prompts, ends, orders: receiver };
    Query { controls: Controls::new(sender), stage: Stage::Planned(Some(Box::new(plan))) }
}

/// Asks once and returns the answer.
///
/// # Errors
/// When the session cannot be opened, or when the round fails.
pub async fn prompt(prompt: impl Into<Prompts>, options: Options) -> Result<Answer> {
    query(prompt, options).answer().await
}

/// What [`query`] returns: a stream of messages that starts when it is first polled. Dropping it
/// ends the session.
#[must_use = "streams do nothing unless they are polled"]
pub struct Query {
    controls: Controls,
    stage: Stage,
}

enum Stage {
    Planned(Option<Box<Plan>>),
    Opening(BoxFuture<Result<Connection>>),
    Open(Connection),
    Over,
}

impl Query {
    /// Steers the session from elsewhere. Requests wait until the stream is polled for the first
    /// time.
    #[must_use]
    pub fn controls(&self) -> Controls {
        self.controls.clone()
    }

    /// Reads to the end and returns the last result.
    ///
    /// # Errors
    /// When the session cannot be opened, or when the last round failed.
    pub async fn answer(mut self) -> Result<Answer> {
        let mut last = None;
        while let Some(message) = self.next().await {
            if let Message::Result(result) = message? {
                last = Some(result);
            }
        }
        last.map_or_else(
            || Err(Error::new(ErrorKind::Closed, "the session ended without an answer")),
            |result| Answer::of(*result),
        )
    }

    /// Reads to the end and returns the structured answer as a type. The schema is made from the
    /// type unless the options have one.
    ///
    /// ```
    /// # async fn example() -> tillerman::Result<()> {
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Verdict {
    ///     approved: bool,
    ///     remarks: Vec<String>,
    /// }
    ///
    /// let verdict: Verdict = tillerman::query("Review the change", tillerman::Options::new())
    ///     .parse()
    ///     .await?;
    /// # drop((verdict.approved, verdict.remarks));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the session cannot be opened, when the round fails, or when there is no such answer.
    pub async fn parse<T: DeserializeOwned + JsonSchema>(mut self) -> Result<T> {
        if let Stage::Planned(Some(plan)) = &mut self.stage
            && plan.options.model.output_schema.is_none()
        {
            plan.options.model.output_schema = Some(crate::tools::schema_of::<T>());
        }
        self.answer().await?.parse()
    }
}

impl Stream for Query {
    type Item = Result<Message>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match &mut self.stage {
                Stage::Planned(plan) => {
                    let Some(plan) = plan.take() else { return Poll::Ready(None) };
                    self.stage = Stage::Opening(Box::pin(open(*plan)));
                }
                Stage::Opening(opening) => match ready!(opening.as_mut().poll(context)) {
                    Ok(connection) => self.stage = Stage::Open(connection),
                    Err(error) => {
                        self.stage = Stage::Over;
                        return Poll::Ready(Some(Err(error)));
                    }
                },
                Stage::Open(connection) => {
                    let message = ready!(connection.messages.poll_recv(context));
                    if message.is_none() {
                        self.stage = Stage::Over;
                    }
                    return Poll::Ready(message);
                }
                Stage::Over => return Poll::Ready(None),
            }
        }
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Planned(_) => "planned",
            Stage::Opening(_) => "opening",
            Stage::Open(_) => "open",
            Stage::Over => "over",
        };
        f.debug_struct("Query").field("stage", &stage).finish_non_exhaustive()
    }
}
