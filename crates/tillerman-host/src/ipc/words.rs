//! Messages that begin with a slash or address an agent.

/// The end of a message that is for an agent, so that the model cannot overlook it.
const ADDRESSED: &str = "\n\n(This is for the agent ";
const ADDRESSED_END: &str = ": hand it over with the Agent tool.)";

/// What `/help` says.
pub(crate) const HELP: &str = "\
/help      shows this
/session   says which conversation and session this is
/reset     forgets what was said: the next message begins a conversation (also /clear)
@name …    hands a message to an agent
Every other command goes to the agent.";

/// A command that is answered here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalCommand {
    Help,
    Session,
    Reset,
}

/// The command that a message is, if it is answered here.
pub(crate) fn local_command(message: &str) -> Option<LocalCommand> {
    match message.trim() {
        "/help" => Some(LocalCommand::Help),
        "/session" => Some(LocalCommand::Session),
        "/reset" | "/clear" => Some(LocalCommand::Reset),
        _ => None,
    }
}

/// The agent that a message is for: `@name` at its beginning with something to do after it.
pub(crate) fn addressed_agent(message: &str) -> Option<&str> {
    let rest = message.trim_start().strip_prefix('@')?;
    let (name, what) = rest.split_once(char::is_whitespace)?;
    let fits = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    (!name.is_empty() && name.chars().all(fits) && !what.trim().is_empty()).then_some(name)
}

/// The message with a note about whom it is for.
pub(crate) fn address(message: &str, agent: &str) -> String {
    format!("{message}{ADDRESSED}{agent}{ADDRESSED_END}")
}

/// The message as the user wrote it.
pub(crate) fn as_written(message: &str) -> &str {
    let message = message.split(crate::ipc::memory::HEADING).next().unwrap_or(message);
    match message.split_once(ADDRESSED) {
        Some((written, note)) if note.ends_with(ADDRESSED_END) => written,
        _ => message,
    }
}
