//! What is wrong with how a session ended, if anything is.

use crate::error::{Error, ErrorKind};
use crate::transport::Ending;

/// How a session ended, and what is known about it.
pub(crate) struct Ended {
    /// What the transport says.
    pub(crate) ending: Ending,
    /// Why it was stopped, if it was.
    pub(crate) stopped: Option<ErrorKind>,
    /// Why it could not begin, in the engine's own words.
    pub(crate) refusal: Option<Error>,
    /// Whether its last result was one of failure, so that a process may well exit with 1.
    pub(crate) last_failed: bool,
    /// Whether it had begun.
    pub(crate) had_begun: bool,
    /// What the process said last.
    pub(crate) last_words: String,
}

/// What is wrong with that, if anything is.
pub(crate) fn verdict(ended: Ended) -> Option<Error> {
    match ended.stopped {
        Some(ErrorKind::Cancelled) => {
            let text = "the session was cancelled by its caller";
            return Some(Error::new(ErrorKind::Cancelled, text));
        }
        Some(_) => return None,
        None => {}
    }
    if let Some(error) = ended.refusal.or(ended.ending.error) {
        return Some(error);
    }
    let code = ended.ending.exit_code;
    let is_expected = code == Some(0) || (code == Some(1) && ended.last_failed);
    if is_expected && ended.had_begun {
        return None;
    }
    let code_text = code.map_or_else(|| "no exit code".to_owned(), |code| code.to_string());
    let when = if ended.had_begun { "in the middle of a session" } else { "before it began" };
    let text = format!("the engine ended {when}, with {code_text}");
    Some(Error::new(ErrorKind::Process, text).of_process(code, ended.last_words))
}

/// A session that cannot begin reports a failed round; what failed is the opening.
pub(crate) fn refusal(error: Error) -> Error {
    let text = error.to_string();
    if text.contains("No conversation found") {
        let text = format!("{text}; nothing was started; leave `resume` out to start afresh");
        return Error::new(ErrorKind::SessionNotFound, text);
    }
    error
}

/// What is answered to whoever wants something of a session that is over.
pub(crate) fn closed() -> Error {
    let text = "the session is over, so that nothing more can be sent; open another one";
    Error::new(ErrorKind::Closed, text)
}
