//! Sessions of many prompts.

use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::connection::{Connection, Controls, Ends, Plan, open, orders};
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Answer, Message};
use crate::options::Options;

/// A session that stays open: say something, read the answer, say something else.
///
/// Everything of [`Controls`] can be called on it, also while a stream of messages is read if you
/// take [`controls`](Self::controls) first. Dropping a client ends its session.
///
/// ```
/// # async fn example() -> tillerman::Result<()> {
/// use tillerman::{Client, Options};
///
/// let mut client = Client::connect(Options::new().model("rehearsal")).await?;
/// client.send("list files").await?;
/// let answer = client.answer().await?;
/// println!("{}", answer.text);
/// client.close().await
/// # }
/// ```
#[derive(Debug)]
pub struct Client {
    controls: Controls,
    connection: Connection,
}

impl Client {
    /// Opens a session.
    ///
    /// # Errors
    /// When the options contradict each other, or when the engine cannot be started or reached.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing running.
    pub async fn connect(options: Options) -> Result<Self> {
        let (sender, receiver) = orders();
        let plan = Plan { options, prompts: None, ends: Ends::WhenClosed, orders: receiver };
        let connection = Box::pin(open(plan)).await?;
        Ok(Self { controls: Controls::new(sender), connection })
    }

    /// Steers the session from elsewhere, such as another task.
    #[must_use]
    pub fn controls(&self) -> Controls {
        self.controls.clone()
    }

    /// The next message; nothing once the session is over.
    ///
    /// # Cancel safety
    /// No message is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Result<Message>> {
        self.connection.messages.recv().await
    }

    /// All messages from here on, until the session is over.
    pub fn stream(&mut self) -> Messages<'_> {
        Messages { client: self, until: Until::TheEnd }
    }

    /// The messages up to and including the next result.
    pub fn receive_response(&mut self) -> Messages<'_> {
        Messages { client: self, until: Until::Result }
    }

    /// Reads up to the next result and returns it.
    ///
    /// # Errors
    /// When the round fails, or when the session ends before it has a result.
    ///
    /// # Cancel safety
    /// Messages before the result that were read already are gone when the future is dropped.
    pub async fn answer(&mut self) -> Result<Answer> {
        while let Some(message) = self.next().await {
            if let Message::Result(result) = message? {
                return Answer::of(*result);
            }
        }
        Err(Error::new(ErrorKind::Closed, "the session ended before it had an answer"))
    }

    /// Ends the session now, whatever is under way, and waits until the engine is gone. To let it
    /// finish first, use [`Controls::end_input`] and read to the end.
    ///
    /// # Errors
    /// When the engine could not be ended.
    pub async fn close(self) -> Result<()> {
        self.controls.close().await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message>>> {
        self.connection.messages.poll_recv(context)
    }
}

impl Deref for Client {
    type Target = Controls;

    fn deref(&self) -> &Controls {
        &self.controls
    }
}

/// Messages of a [`Client`].
#[derive(Debug)]
#[must_use = "streams do nothing unless they are polled"]
pub struct Messages<'a> {
    client: &'a mut Client,
    until: Until,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    TheEnd,
    Result,
    Now,
}

impl Stream for Messages<'_> {
    type Item = Result<Message>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.until == Until::Now {
            return Poll::Ready(None);
        }
        let message = ready!(self.client.poll_next(context));
        let is_result = matches!(message, Some(Ok(Message::Result(_))));
        if is_result && self.until == Until::Result {
            self.until = Until::Now;
        }
        Poll::Ready(message)
    }
}
