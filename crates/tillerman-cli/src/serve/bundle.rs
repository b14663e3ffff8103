//! `tillerman debug-bundle`: what somebody who helps needs to know, and no secrets.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tillerman_assembly::{PROTOCOL_LEVEL, StartFailure};
use tillerman_host::Store;

use crate::serve::place;
use crate::{doctor, environment};

/// Writes the bundle: one text file that can be read before it is sent.
pub(crate) fn run(output: &Path, data_dir: Option<PathBuf>) -> Result<u8, StartFailure> {
    let environment = environment::capture();
    let cwd = environment::working_directory()?;
    let mut text = String::from("# Tillerman debug bundle\n\n");
    let mut add = |title: &str, body: &str| {
        // Writing into a string cannot fail.
        let written = writeln!(text, "## {title}\n\n{}\n", body.trim());
        debug_assert!(written.is_ok());
    };
    let version = env!("CARGO_PKG_VERSION");
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    add("Version", &format!("Tillerman {version}, protocol {PROTOCOL_LEVEL}, {system}"));
    let examined = doctor::examine(&environment, &cwd, data_dir.clone(), crate::serve::PORT);
    add("Doctor", &examined.text());
    // Names alone; values may be credentials.
    let mut names: Vec<String> =
        std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| {
        ["CLAUDE", "ANTHROPIC", "TILLERMAN", "OPENAI", "OTEL"].iter().any(|it| name.starts_with(it))
    });
    names.sort();
    add("Variables that are set", &names.join("\n"));
    let data = place::data_directory(data_dir, &environment)?;
    add("Host", &host(&data));
    let mut file = std::fs::OpenOptions::new();
    let made = file.write(true).create_new(true).open(output);
    let written = made.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        StartFailure::usage(format!("{} could not be written: {error}", output.display()))
    })?;
    drop(writeln!(
        std::io::stdout(),
        "{} was written. It holds no messages, no values of variables and no tokens; look through \
         it before you send it.",
        output.display()
    ));
    Ok(0)
}

fn host(data: &Path) -> String {
    if !data.join("host.db").exists() {
        return format!("never started ({} has no database)", data.display());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let told = Store::open_beside(data).map_err(|error| error.to_string()).and_then(|store| {
        let runtime = runtime.map_err(|error| error.to_string())?;
        runtime.block_on(store.summary()).map_err(|error| error.to_string())
    });
    match told {
        Ok(lines) => lines.join("\n"),
        Err(error) => format!("the database cannot be read: {error}"),
    }
}
