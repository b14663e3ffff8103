//! What browsers are given.

use std::collections::HashSet;
use std::io::Read as _;

use flate2::read::GzDecoder;
use tillerman_web::{Asset, CONTENT_SECURITY_POLICY, IS_BUILT, asset, assets};

/// All scripts together, uncompressed.
const MOST_SCRIPT_BYTES: usize = 400 * 1024;

fn text(asset: Asset) -> String {
    String::from_utf8(asset.bytes.to_vec()).unwrap()
}

/// The addresses in attributes of a page.
fn addresses(page: &str) -> Vec<&str> {
    let after = |mark| page.split(mark).skip(1).filter_map(|rest: &str| rest.split('"').next());
    after(" src=\"").chain(after(" href=\"")).collect()
}

#[test]
fn the_page_is_at_the_root_under_three_names() {
    let page = asset("").unwrap();
    assert_eq!(asset("/"), Some(page));
    assert_eq!(asset("/index.html"), Some(page));
    assert_eq!(page.content_type, "text/html; charset=utf-8");
    assert!(!page.immutable, "a new version must be noticed");
    assert!(text(page).contains("<title>Tillerman</title>"));
}

#[test]
fn everything_the_page_names_is_there() {
    let page = text(asset("/").unwrap());
    let own: Vec<&str> =
        addresses(&page).into_iter().filter(|address| !address.starts_with("/api/")).collect();
    assert_eq!(own.is_empty(), !IS_BUILT, "{own:?}");
    for address in own {
        assert!(asset(address).is_some(), "{address} is named by the page and not embedded");
    }
}

#[test]
fn nothing_else_is_found() {
    for path in [
        "/../Cargo.toml",
        "//index.html",
        "/assets",
        "/assets/",
        "/INDEX.HTML",
        "/index.html/",
        "\0",
    ] {
        assert_eq!(asset(path), None, "{path:?}");
    }
}

#[test]
fn tags_tell_files_apart_and_compressed_copies_are_the_same_files() {
    let mut tags = HashSet::new();
    for asset in assets() {
        assert!(asset.etag.len() > 10 && asset.etag.chars().all(|c| c.is_ascii_hexdigit()));
        assert!(tags.insert(asset.etag), "{} shares its tag", asset.path);
        if let Some(gzip) = asset.gzip {
            let mut plain = Vec::new();
            GzDecoder::new(gzip).read_to_end(&mut plain).unwrap();
            assert_eq!(plain, asset.bytes, "{}", asset.path);
            assert!(gzip.len() < asset.bytes.len());
        }
    }
}

#[test]
fn the_page_fits_its_policy() {
    let page = text(asset("/").unwrap());
    assert!(!page.contains(" style="), "a style attribute would be refused");
    assert!(!page.contains("<style"), "an inline style would be refused");
    for script in page.split("<script").skip(1) {
        assert!(script.trim_start().contains("src=\""), "an inline script would be refused");
    }
    assert!(CONTENT_SECURITY_POLICY.starts_with("default-src 'none'"));
    assert!(!CONTENT_SECURITY_POLICY.contains("unsafe"));
}

#[test]
fn the_page_is_small_and_loads_nothing_from_elsewhere() {
    let scripts = assets().iter().filter(|asset| asset.path.ends_with(".js"));
    let total: usize = scripts.map(|asset| asset.bytes.len()).sum();
    assert_eq!(total > 0, IS_BUILT);
    assert!(total <= MOST_SCRIPT_BYTES, "{total} bytes of scripts");
    for asset in assets().iter().filter(|asset| !asset.path.ends_with(".js")) {
        let text = text(*asset).replace("http://www.w3.org/", "");
        assert!(!text.contains("http://") && !text.contains("https://"), "{}", asset.path);
    }
}
