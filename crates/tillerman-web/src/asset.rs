//! The files of the page.

/// One file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Where it is served, without a leading slash.
    pub path: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
    /// The content compressed with gzip, where that makes it smaller.
    pub gzip: Option<&'static [u8]>,
    /// The value of `content-type`.
    pub content_type: &'static str,
    /// What tells this content from any other; `etag` wants it in quotes.
    pub etag: &'static str,
    /// Whether the name changes with the content, so that browsers may keep it for good.
    pub immutable: bool,
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The file at a path, with or without a leading slash; the root is the page itself.
#[must_use]
pub fn asset(path: &str) -> Option<Asset> {
    let wanted = path.strip_prefix('/').unwrap_or(path);
    let wanted = if wanted.is_empty() { "index.html" } else { wanted };
    ASSETS.iter().find(|asset| asset.path == wanted).copied()
}

/// All files of the page.
#[must_use]
pub const fn assets() -> &'static [Asset] {
    ASSETS
}
