//! The one error of the SDK: a kind to branch on, a text to read, a hint about trying again.

use std::error::Error as StdError;
use std::fmt;

use tillerman_protocol::frame::ResultFrame;

/// What every fallible function of the SDK returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something did not work.
///
/// Programs branch on [`Error::kind`] and [`Error::retry`]; people read the text, which says what
/// happened, what was done about it and what to do next.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    kind: ErrorKind,
    message: String,
    exit_code: Option<i32>,
    status: Option<u16>,
    stderr: String,
    result: Option<Box<ResultFrame>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What kind of thing did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The program or the directory it should run in does not exist.
    NotFound,
    /// The engine could not be started or reached.
    Connection,
    /// The program speaks a version of the protocol that is too old.
    Version,
    /// The process ended on its own with an error.
    Process,
    /// Something arrived that cannot be read.
    Decode,
    /// The engine refused a request.
    Refused,
    /// An answer did not come in time.
    Timeout,
    /// The session is over, so that nothing can be sent any more.
    Closed,
    /// The caller cancelled.
    Cancelled,
    /// An option contradicts another one or makes no sense.
    InvalidOptions,
    /// The transport cannot do what an option asks for.
    Unsupported,
    /// The turn limit was reached.
    MaxTurns,
    /// The dollar limit or the token limit was reached.
    MaxBudget,
    /// The deadline had passed.
    Deadline,
    /// No answer matched the schema, or it could not be read into the type.
    StructuredOutput,
    /// The model's provider failed.
    Api,
    /// The round was interrupted or failed.
    Execution,
    /// There is no such session.
    SessionNotFound,
    /// A session store failed.
    Store,
    /// A workspace could not be made, or must not be.
    Workspace,
    /// A tool or a server of tools was defined in a way that cannot work.
    Tool,
}

/// Whether the same thing may work when it is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retry {
    /// It will not.
    Never,
    /// It may, after a pause; each further pause should be longer.
    AfterPause,
    /// It will once the caller has changed what the text names.
    AfterChange,
}

impl Error {
    /// An error of this kind with a text for people.
    ///
    /// Transports and session stores of other people use it too.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            inner: Box::new(Inner {
                kind,
                message: message.into(),
                exit_code: None,
                status: None,
                stderr: String::new(),
                result: None,
                source: None,
            }),
        }
    }

    /// The same error with what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// The same error with what the process left behind.
    #[must_use]
    pub fn of_process(mut self, exit_code: Option<i32>, stderr: impl Into<String>) -> Self {
        self.inner.exit_code = exit_code;
        self.inner.stderr = stderr.into();
        self
    }

    pub(crate) fn with_status(mut self, status: Option<u16>) -> Self {
        self.inner.status = status;
        self
    }

    pub(crate) fn with_result(mut self, result: ResultFrame) -> Self {
        self.inner.result = Some(Box::new(result));
        self
    }

    /// What kind of thing did not work.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Whether the same thing may work when it is tried again.
    #[must_use]
    pub fn retry(&self) -> Retry {
        match self.kind() {
            ErrorKind::Connection | ErrorKind::Timeout => Retry::AfterPause,
            ErrorKind::Api => match self.inner.status {
                None | Some(408 | 409 | 429 | 500..) => Retry::AfterPause,
                Some(_) => Retry::AfterChange,
            },
            ErrorKind::NotFound
            | ErrorKind::Version
            | ErrorKind::InvalidOptions
            | ErrorKind::Unsupported
            | ErrorKind::Workspace
            | ErrorKind::Tool
            | ErrorKind::MaxTurns
            | ErrorKind::MaxBudget
            | ErrorKind::Deadline
            | ErrorKind::SessionNotFound => Retry::AfterChange,
            _ => Retry::Never,
        }
    }

    /// The exit code of the process, if one ended.
    #[must_use]
    pub const fn exit_code(&self) -> Option<i32> {
        self.inner.exit_code
    }

    /// The HTTP status of the provider's failure, if it had one.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        self.inner.status
    }

    /// The last lines that the process wrote to standard error.
    #[must_use]
    pub fn stderr(&self) -> &str {
        &self.inner.stderr
    }

    /// The result of the round that failed, with its costs, if there was one.
    #[must_use]
    pub fn result(&self) -> Option<&ResultFrame> {
        self.inner.result.as_deref()
    }

    /// The same error once more, for a second listener; what caused it stays with the first.
    pub(crate) fn again(&self) -> Self {
        let Inner { kind, message, exit_code, status, stderr, .. } = &*self.inner;
        Self::new(*kind, message.clone())
            .of_process(*exit_code, stderr.clone())
            .with_status(*status)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.message)?;
        if !self.inner.stderr.is_empty() {
            write!(f, "\nits last words: {}", self.inner.stderr.trim_end())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, message, exit_code, status, stderr, source, .. } = &*self.inner;
        f.debug_struct("Error")
            .field("kind", kind)
            .field("message", message)
            .field("exit_code", exit_code)
            .field("status", status)
            .field("stderr", stderr)
            .field("source", source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source = self.inner.source.as_deref()?;
        Some(source)
    }
}
