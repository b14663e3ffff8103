//! Files that came with messages, for those who may see the conversation.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::store::AttachmentRow;

/// A file of a person is shown or saved, and does nothing else in the host's name.
const NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");

pub(crate) async fn attachment(
    State(state): State<Arc<ApiState>>,
    Path((conversation, message, place)): Path<(String, String, String)>,
) -> Result<Response, ApiError> {
    let unknown = || ApiError::unknown("file");
    let place: u32 = place.parse().map_err(|_| unknown())?;
    let found = state
        .shared
        .store
        .read(move |db| AttachmentRow::find(db, &conversation, &message, place))
        .await?;
    let AttachmentRow { name, media_type, bytes } = found.ok_or_else(unknown)?;
    let (kind, handling) = handling(&media_type);
    let disposition = format!("{handling}; {}", filename(&name));
    let disposition = HeaderValue::try_from(disposition).map_err(|_| unknown())?;
    let head = [
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CONTENT_DISPOSITION, disposition),
        (CONTENT_SECURITY_POLICY, NOTHING),
    ];
    Ok((head, bytes).into_response())
}

/// How a browser is told to take a kind of file: pictures are shown, everything else is saved.
fn handling(media_type: &str) -> (&'static str, &'static str) {
    match media_type {
        "image/png" => ("image/png", "inline"),
        "image/jpeg" => ("image/jpeg", "inline"),
        "image/gif" => ("image/gif", "inline"),
        "image/webp" => ("image/webp", "inline"),
        "application/pdf" => ("application/pdf", "attachment"),
        "application/json" => ("application/json", "attachment"),
        // HTML and scripts are text here, whatever they call themselves.
        text if text.starts_with("text/") => ("text/plain; charset=utf-8", "attachment"),
        _ => ("application/octet-stream", "attachment"),
    }
}

/// The name for saving: in plain letters for everybody, and whole for those who can read it.
fn filename(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " .-_()".contains(letter);
    let plain: String =
        name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let mut whole = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b".-_".contains(&byte) {
            whole.push(char::from(byte));
        } else {
            whole.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("filename=\"{plain}\"; filename*=UTF-8''{whole}")
}
