//! Writes built files as a Rust table.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

/// The table of all files below a directory; compressed copies go into another.
pub(crate) fn list(pages: &Path, compressed: &Path) -> io::Result<String> {
    if compressed.exists() {
        fs::remove_dir_all(compressed)?;
    }
    fs::create_dir_all(compressed)?;
    let mut files = Vec::new();
    collect(pages, &mut files)?;
    files.sort();
    let mut text = String::from("static ASSETS: &[Asset] = &[\n");
    for (number, file) in files.iter().enumerate() {
        let relative = file.strip_prefix(pages).map_err(io::Error::other)?;
        let path = relative.to_string_lossy().replace('\\', "/");
        let bytes = fs::read(file)?;
        let gzip = compress(&bytes, &compressed.join(number.to_string()))?;
        let gzip = gzip
            .map_or_else(|| "None".to_owned(), |path| format!("Some(include_bytes!({path:?}))"));
        let digest = Sha256::digest(&bytes);
        let etag: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        writeln!(
            text,
            "    Asset {{ path: {path:?}, bytes: include_bytes!({file:?}), gzip: {gzip}, content_type: {:?}, \
             etag: \"{etag}\", immutable: {} }},",
            content_type(&path),
            path.starts_with("assets/"),
        )
        .map_err(io::Error::other)?;
    }
    text.push_str("];\n");
    Ok(text)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// The compressed copy, if it is smaller.
fn compress(bytes: &[u8], into: &Path) -> io::Result<Option<PathBuf>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    let small = encoder.finish()?;
    if small.len() >= bytes.len() {
        return Ok(None);
    }
    fs::write(into, small)?;
    Ok(Some(into.to_owned()))
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json" | "webmanifest") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
