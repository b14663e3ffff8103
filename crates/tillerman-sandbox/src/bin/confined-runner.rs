//! The stages of a confined command as a small program of their own.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == tillerman_sandbox::STAGE) {
        return tillerman_sandbox::run_stage(arguments);
    }
    ExitCode::from(tillerman_sandbox::REFUSED)
}
