//! The grep call: from the model's input to matches.

use std::sync::Arc;

use serde_json::Value;
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Hidden, Tool, ToolCall};
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolSpec};
use tokio_util::sync::CancellationToken;

use super::params::{NAME, Params, input_schema};
use super::report::report;
use super::run::search;
use crate::blocking::{interrupted, off_thread};
use crate::search::bounds::Brake;
use crate::search::place::Place;
use crate::session::Session;

const DESCRIPTION: &str = "\
Searches the content of files for a regular expression in ripgrep's syntax (escape ( [ { to find them \
literally). By default it lists the files that match, the most recently changed first; output_mode \
content shows the lines, count how many there are. Narrow it down with path, glob or type. Files that \
git ignores and binary files are left out. Prefer it to grep or rg in Bash.";

/// Finds files by content.
#[derive(Debug)]
pub(crate) struct Grep {
    session: Arc<Session>,
}

impl Grep {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: input_schema(),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        Params::parse(input).map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let session = Arc::clone(&self.session);
        Box::pin(async move {
            let params = Params::parse(&call.input).map_err(ToolFailure::new)?;
            let ToolCall { cancel, hidden, .. } = call;
            off_thread(cancel, move |cancel| grep(&session, &params, hidden, cancel)).await
        })
    }
}

fn grep(
    session: &Session,
    params: &Params,
    hidden: Hidden,
    cancel: &CancellationToken,
) -> ToolOutcome {
    let place = Place::find(session, params.path.as_deref(), hidden).map_err(ToolFailure::new)?;
    let brake = Brake::new(cancel);
    let found = search(params, &place, &brake).map_err(ToolFailure::new)?;
    if brake.is_cancelled() {
        return Err(interrupted());
    }
    Ok(report(params, &found, brake.timed_out(), session.config().limits.inline_chars))
}
