//! Results of tools, resources and prompts as a conversation can hold them.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::tool::{ToolFailure, ToolOutcome, ToolOutput};

/// Pictures that providers accept.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Providers refuse larger ones.
const LARGEST_PICTURE: usize = 5 << 20;
/// The start of a large output that is shown beside the file's name.
const GLIMPSE: usize = 2_000;

/// Where large outputs go, and what counts as large.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    pub(crate) directory: PathBuf,
    pub(crate) chars: usize,
}

/// The outcome of a call from a server's result.
///
/// # Cancel safety
/// Dropping the future may leave a file behind that nothing names.
pub(crate) async fn outcome(result: &Value, label: &str, shelf: &Shelf) -> ToolOutcome {
    let parts = result.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut blocks = Vec::new();
    for part in &parts {
        blocks.extend(block(part, label, shelf).await);
    }
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    if blocks.is_empty()
        && let Some(structured) = structured
    {
        blocks.push(Block::text(structured.to_string()));
    }
    let blocks = fitted(blocks, label, shelf).await;
    if result.get("isError") == Some(&Value::Bool(true)) {
        let text = Content::Blocks(blocks).plain_text();
        let text =
            if text.trim().is_empty() { "The tool failed without a word.".into() } else { text };
        return Err(ToolFailure::new(text));
    }
    let structured = structured.filter(|value| value.to_string().len() <= shelf.chars);
    let shown = shown(&blocks, &parts, structured);
    let blocks = if blocks.is_empty() { vec![Block::text("(no output)")] } else { blocks };
    Ok(ToolOutput::new(Content::Blocks(blocks), Some(shown)))
}

/// What hosts are told: the content, and beside it what a program can make more of.
fn shown(blocks: &[Block], parts: &[Value], structured: Option<&Value>) -> Value {
    let content = serde_json::to_value(blocks).unwrap_or_default();
    let is_link = |part: &&Value| part.get("type").is_some_and(|kind| kind == "resource_link");
    let links: Vec<Value> = parts.iter().filter(is_link).cloned().map(without_type).collect();
    if structured.is_none() && links.is_empty() {
        return content;
    }
    let mut shown = json!({"content": content});
    if let Some(structured) = structured {
        shown["structuredContent"] = structured.clone();
    }
    if !links.is_empty() {
        shown["resourceLinks"] = Value::Array(links);
    }
    shown
}

fn without_type(mut part: Value) -> Value {
    if let Some(fields) = part.as_object_mut() {
        fields.shift_remove("type");
    }
    part
}

/// Content from the messages of a prompt.
pub(crate) async fn content(messages: &[Value], label: &str, shelf: &Shelf) -> Content {
    let mut blocks = Vec::new();
    for message in messages {
        if let Some(part) = message.get("content") {
            blocks.extend(block(part, label, shelf).await);
        }
    }
    Content::Blocks(fitted(blocks, label, shelf).await)
}

/// Content from what a resource holds.
pub(crate) async fn resource(contents: &[Value], label: &str, shelf: &Shelf) -> Content {
    let mut blocks = Vec::new();
    for content in contents {
        blocks.extend(embedded(content, label, shelf).await);
    }
    Content::Blocks(fitted(blocks, label, shelf).await)
}

async fn block(part: &Value, label: &str, shelf: &Shelf) -> Option<Block> {
    let text = |name: &str| part.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => Some(Block::text(text("text"))),
        "image" => Some(picture(text("mimeType"), text("data"), label, shelf).await),
        "audio" => Some(kept(text("mimeType"), text("data"), label, shelf).await),
        "resource" => match part.get("resource") {
            Some(resource) => embedded(resource, label, shelf).await,
            None => None,
        },
        "resource_link" => {
            let about = text("description");
            Some(Block::text(format!("[Resource: {}] {about}", text("uri")).trim().to_owned()))
        }
        _ => Some(Block::text(part.to_string())),
    }
}

async fn embedded(resource: &Value, label: &str, shelf: &Shelf) -> Option<Block> {
    let text = |name: &str| resource.get(name).and_then(Value::as_str);
    if let Some(content) = text("text") {
        let uri = text("uri").unwrap_or_default();
        return Some(Block::text(format!("[Resource: {uri}]\n{content}")));
    }
    let kind = text("mimeType").unwrap_or("application/octet-stream");
    let blob = text("blob")?;
    Some(picture(kind, blob, label, shelf).await)
}

async fn picture(kind: &str, data: &str, label: &str, shelf: &Shelf) -> Block {
    let is_readable =
        PICTURES.contains(&kind) && data.len() <= LARGEST_PICTURE && STANDARD.decode(data).is_ok();
    if is_readable {
        let source = json!({"type": "base64", "media_type": kind, "data": data});
        return Block::Image { source };
    }
    kept(kind, data, label, shelf).await
}

/// Data that a conversation cannot hold, as the name of a file that does.
async fn kept(kind: &str, data: &str, label: &str, shelf: &Shelf) -> Block {
    let Ok(bytes) = STANDARD.decode(data) else {
        return Block::text(format!("[{kind}: the server's data is not base64 and was left out]"));
    };
    let size = bytes.len();
    match save(&shelf.directory, label, extension(kind), bytes).await {
        Ok(path) => Block::text(format!("[{kind}, {size} bytes, saved to {}]", path.display())),
        Err(error) => Block::text(format!("[{kind}, {size} bytes, could not be saved: {error}]")),
    }
}

/// Blocks whose text is not too much for a conversation; the whole of it goes to a file.
async fn fitted(blocks: Vec<Block>, label: &str, shelf: &Shelf) -> Vec<Block> {
    let length = |block: &Block| block.as_text().map_or(0, |text| text.chars().count());
    let total: usize = blocks.iter().map(length).sum();
    if total <= shelf.chars {
        return blocks;
    }
    let (texts, others): (Vec<Block>, Vec<Block>) =
        blocks.into_iter().partition(|block| block.as_text().is_some());
    let text = Content::Blocks(texts).plain_text();
    let glimpse: String = text.chars().take(GLIMPSE.min(shelf.chars)).collect();
    let limit = shelf.chars;
    let note = match save(&shelf.directory, label, "txt", text.into_bytes()).await {
        Ok(path) => format!(
            "The output has {total} characters, more than the {limit} that fit here. All of it was \
             saved to {}; read or search that file. It begins:\n{glimpse}",
            path.display()
        ),
        Err(error) => format!(
            "The output has {total} characters, more than the {limit} that fit here, and could not be \
             saved ({error}). It begins:\n{glimpse}"
        ),
    };
    let mut fitted = vec![Block::text(note)];
    fitted.extend(others);
    fitted
}

async fn save(
    directory: &Path,
    label: &str,
    extension: &'static str,
    bytes: Vec<u8>,
) -> std::io::Result<PathBuf> {
    let directory = directory.to_path_buf();
    let stem = crate::names::normalized(label);
    let saved = tokio::task::spawn_blocking(move || write(&directory, &stem, extension, &bytes));
    saved.await.map_err(std::io::Error::other)?
}

/// Writes a new file that only this user can read.
fn write(directory: &Path, stem: &str, extension: &str, bytes: &[u8]) -> std::io::Result<PathBuf> {
    use std::io::Write as _;
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    for number in 1..10_000 {
        let path = directory.join(format!("{stem}-{number}.{extension}"));
        match options.open(&path) {
            Ok(mut file) => return file.write_all(bytes).map(|()| path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other("there are too many outputs in the directory"))
}

fn extension(kind: &str) -> &'static str {
    match kind {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "application/pdf" => "pdf",
        _ => "bin",
    }
}
