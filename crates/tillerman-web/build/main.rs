//! Builds the page with npm and writes the list of its files as Rust.
//!
//! Everything happens in the build's own directory: the sources are copied there first, so that the
//! tree stays clean and two builds never meet. Without node, or when npm fails, a plain page that
//! says what to do takes the place of the real one; `TILLERMAN_WEB=required` makes that an error and
//! `TILLERMAN_WEB=off` does not even try.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build script reads cargo's environment, starts npm and talks to cargo by printing"
)]

mod copy;
mod embed;
mod npm;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What the page is made from, relative to `web/`.
const SOURCES: [&str; 7] = [
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
    "public",
    "src",
];

const PLAIN_PAGE: &str = include_str!("plain.html");

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let web = manifest.join("../../web");
    println!("cargo::rerun-if-env-changed=TILLERMAN_WEB");
    println!("cargo::rerun-if-changed=build");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", web.join(source).display());
    }
    let wish = env::var("TILLERMAN_WEB").unwrap_or_default();
    let pages = out.join("dist");
    empty(&pages)?;
    let built = if wish == "off" {
        Err("TILLERMAN_WEB is off".to_owned())
    } else {
        build(&web, &out, &pages)
    };
    let is_built = built.is_ok();
    if let Err(reason) = built {
        if wish == "required" {
            return Err(io::Error::other(format!("the web page could not be built: {reason}")));
        }
        println!("cargo::warning=the web page is not built; a plain one takes its place:");
        reason.lines().for_each(|line| println!("cargo::warning={line}"));
        empty(&pages)?;
        fs::create_dir_all(&pages)?;
        fs::write(pages.join("index.html"), PLAIN_PAGE.replace("{reason}", &escaped(&reason)))?;
    }
    let list = embed::list(&pages, &out.join("gzip"))?;
    fs::write(out.join("assets.rs"), format!("{list}\n{}", is_built_line(is_built)))
}

fn empty(directory: &Path) -> io::Result<()> {
    if directory.exists() { fs::remove_dir_all(directory) } else { Ok(()) }
}

fn build(web: &Path, out: &Path, pages: &Path) -> Result<(), String> {
    let workshop = out.join("web");
    copy::refresh(web, &workshop, &SOURCES).map_err(|error| error.to_string())?;
    npm::install(&workshop)?;
    npm::bundle(&workshop, pages)
}

fn is_built_line(is_built: bool) -> String {
    format!(
        "/// Whether this is the real page; otherwise it is one that says how to get it.\n\
         pub const IS_BUILT: bool = {is_built};\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
