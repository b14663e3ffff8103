//! What an authorization server sends back with the browser.

use reqwest::Url;

/// How much of what an authorization server says is repeated.
const LONGEST: usize = 300;

/// The answer to a sign-in: a code that can be exchanged for tokens once.
pub struct Callback {
    pub(super) code: String,
    pub(super) issuer: Option<String>,
}

impl std::fmt::Debug for Callback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callback").finish_non_exhaustive()
    }
}

/// Why an address is not the answer that a sign-in waits for.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallbackError {
    /// It is no address at all.
    #[error("that is not an address; copy the whole address that the browser ended up at")]
    NotAnAddress,
    /// It belongs to another sign-in, or to none.
    #[error("that address does not belong to this sign-in; copy the one the browser ended up at")]
    Foreign,
    /// It belongs to this sign-in and brings nothing.
    #[error("that address brings no code; open the printed address again")]
    Empty,
    /// The authorization server, or the person asked, said no.
    #[error("the sign-in was refused: {0}")]
    Refused(String),
}

/// Reads the address that a browser was sent back to.
pub(super) fn read(address: &str, state: &str) -> Result<Callback, CallbackError> {
    let address = Url::parse(address.trim()).map_err(|_| CallbackError::NotAnAddress)?;
    let value = |wanted: &str| {
        let mut pairs = address.query_pairs();
        pairs.find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    // Any page can send a browser to this machine; only who was asked knows the state.
    if value("state").as_deref() != Some(state) {
        return Err(CallbackError::Foreign);
    }
    if let Some(error) = value("error") {
        let said = value("error_description").map(|it| format!("{error} ({it})")).unwrap_or(error);
        return Err(CallbackError::Refused(presentable(&said)));
    }
    let code = value("code").filter(|code| !code.is_empty()).ok_or(CallbackError::Empty)?;
    Ok(Callback { code, issuer: value("iss") })
}

/// A text of somebody else's that a terminal can be shown.
pub(super) fn presentable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}
