//! Tries one way out of a confinement; the tests run it inside. It ends with 0 only when it got out.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod attempts;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use std::io::Write as _;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match attempts::attempt(&arguments) {
        Ok(text) => {
            drop(writeln!(std::io::stdout(), "{text}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            drop(writeln!(std::io::stdout(), "refused: {error}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::FAILURE
}
