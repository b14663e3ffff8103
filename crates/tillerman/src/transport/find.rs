//! Where the program of a subprocess may be.

use std::path::{Path, PathBuf};

/// The programs to try, in this order. Bare names are looked up in `PATH` by the system.
pub(crate) fn candidates(home: Option<&Path>) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("tillerman")];
    let below_home = |path: &str| home.map(|home| home.join(path));
    found.extend(below_home(".cargo/bin/tillerman"));
    found.extend(below_home(".local/bin/tillerman"));
    found.push(PathBuf::from("claude"));
    found.extend(below_home(".npm-global/bin/claude"));
    found.push(PathBuf::from("/usr/local/bin/claude"));
    found.extend(below_home(".local/bin/claude"));
    found.extend(below_home("node_modules/.bin/claude"));
    found.extend(below_home(".yarn/bin/claude"));
    found.extend(below_home(".claude/local/claude"));
    found
}

/// Whether a program is a script that needs a JavaScript runtime.
pub(crate) fn is_script(program: &Path) -> bool {
    let ending = program.extension().and_then(std::ffi::OsStr::to_str);
    matches!(ending, Some("js" | "mjs" | "cjs" | "ts"))
}
