//! Pictures that come with a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tillerman_protocol::ipc::{IpcImage, IpcImages};

use crate::ipc::settings::PrepareImage;
use crate::wire::Attachment;

const LARGEST: usize = 20 * 1024 * 1024;
const MOST: usize = 20;
const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Reads pictures, checks them and makes them fit for a model. It takes its time.
///
/// # Errors
/// A sentence for people about the first that cannot be used.
pub(crate) fn read(images: IpcImages, prepare: PrepareImage) -> Result<Vec<Attachment>, String> {
    let images: Vec<IpcImage> = match images {
        IpcImages::List(images) => images,
        IpcImages::Text(text) if text.trim().is_empty() => Vec::new(),
        IpcImages::Text(text) => serde_json::from_str(&text).map_err(|error| {
            format!("images cannot be read: {error}. It is a list of data, mime_type and name.")
        })?,
    };
    if images.len() > MOST {
        return Err(format!("A message has at most {MOST} images; this one has {}.", images.len()));
    }
    images.into_iter().enumerate().map(|(place, image)| one(place, image, prepare)).collect()
}

fn one(place: usize, image: IpcImage, prepare: PrepareImage) -> Result<Attachment, String> {
    let number = place + 1;
    let name = if image.name.is_empty() { format!("image {number}") } else { image.name };
    if image.data.starts_with("data:") {
        return Err(format!(
            "{name}: data holds base64 alone, without a data: prefix. The message was not sent."
        ));
    }
    if !TYPES.contains(&image.mime_type.as_str()) {
        return Err(format!(
            "{name}: {:?} cannot be shown to a model. PNG, JPEG, GIF and WebP can.",
            image.mime_type
        ));
    }
    let bytes = STANDARD.decode(image.data.trim());
    let bytes = bytes.map_err(|_| format!("{name}: data is not base64. Nothing was sent."))?;
    if bytes.len() > LARGEST {
        return Err(format!("{name} has more than 20 MB. Send a smaller one."));
    }
    let (media_type, data_base64) =
        prepare(&bytes).map_err(|problem| format!("{name} was not sent: {problem}."))?;
    Ok(Attachment { name, media_type, data_base64 })
}
