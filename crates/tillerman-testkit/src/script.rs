//! Scripts: which reply goes to which request.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::conversation;
use crate::reply::Reply;
use crate::request::CapturedRequest;
use crate::response::response;

/// Starts an empty script.
#[must_use]
pub fn script() -> ScriptBuilder {
    ScriptBuilder::default()
}

/// Collects the replies of a script in order.
#[derive(Clone, Debug, Default)]
pub struct ScriptBuilder {
    lines: Vec<Line>,
}

/// A reply and whom it is for.
#[derive(Clone, Debug)]
struct Line {
    when: Option<String>,
    reply: Reply,
}

impl Line {
    fn fits(&self, request: &CapturedRequest) -> bool {
        self.when.as_ref().is_none_or(|text| request.user_text().contains(text))
    }
}

impl ScriptBuilder {
    /// Adds the reply to the next request.
    #[must_use]
    pub fn reply(mut self, reply: impl Into<Reply>) -> Self {
        self.lines.push(Line { when: None, reply: reply.into() });
        self
    }

    /// Adds a reply for a conversation in which a user or a tool said this text; other requests
    /// leave it in its place and take the next reply that fits them.
    #[must_use]
    pub fn reply_when(mut self, text: impl Into<String>, reply: impl Into<Reply>) -> Self {
        self.lines.push(Line { when: Some(text.into()), reply: reply.into() });
        self
    }

    /// Ends the script. Whatever takes a [`Script`] also takes the builder itself.
    #[must_use]
    pub fn build(self) -> Script {
        Script { source: Source::Sequence(self.lines), keeps_requests: true }
    }
}

/// Decides which reply a request gets.
#[derive(Clone)]
pub struct Script {
    source: Source,
    keeps_requests: bool,
}

#[derive(Clone)]
enum Source {
    Sequence(Vec<Line>),
    Function(Arc<dyn Fn(&CapturedRequest) -> Reply + Send + Sync>),
}

impl Script {
    /// Decides by the contents of the request, for conversations that run side by side.
    pub fn from_fn(decide: impl Fn(&CapturedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self { source: Source::Function(Arc::new(decide)), keeps_requests: true }
    }

    /// Has the server forget requests once they are answered, for runs of very many of them.
    #[must_use]
    pub fn forgetting(self) -> Self {
        Self { keeps_requests: false, ..self }
    }

    /// Whether requests are kept for later questions.
    pub(crate) fn keeps_requests(&self) -> bool {
        self.keeps_requests
    }

    /// Answers every prompt of every conversation with this many calls of one tool, one after
    /// the other, and then with the text "done". Requests that offer no tools get the text at
    /// once.
    pub fn tool_loop(calls: usize, tool: impl Into<String>, input: impl Into<Value>) -> Self {
        let (tool, input) = (tool.into(), input.into());
        Self::from_fn(move |request| {
            let offers_tools = !request.tool_names().is_empty();
            if offers_tools && conversation::results_since_prompt(request.messages()) < calls {
                response().tool_call(&tool, input.clone()).into()
            } else {
                response().text("done").into()
            }
        })
    }

    /// The reply to a request and its number, given which replies were taken before.
    pub(crate) fn reply(
        &self,
        taken: &BTreeSet<usize>,
        request: &CapturedRequest,
    ) -> Option<(usize, Reply)> {
        match &self.source {
            Source::Sequence(lines) => lines
                .iter()
                .enumerate()
                .find(|(number, line)| !taken.contains(number) && line.fits(request))
                .map(|(number, line)| (number, line.reply.clone())),
            Source::Function(decide) => Some((taken.len(), decide(request))),
        }
    }

    /// How many replies there are, where that is known.
    pub(crate) fn len(&self) -> Option<usize> {
        match &self.source {
            Source::Sequence(lines) => Some(lines.len()),
            Source::Function(_) => None,
        }
    }
}

impl From<ScriptBuilder> for Script {
    fn from(builder: ScriptBuilder) -> Self {
        builder.build()
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Sequence(lines) => f.debug_tuple("Script").field(lines).finish(),
            Source::Function(_) => f.write_str("Script(decides by request)"),
        }
    }
}
