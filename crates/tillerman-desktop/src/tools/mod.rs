//! The tools themselves, one a module.

mod off_thread;

mod list_files;
mod read_file;
mod search_files;
mod write_file;

mod arguments;
mod get_system_info;
mod open_in_default_app;
mod run_shell_command;

mod clipboard;

mod analyze_image;
mod capture_screenshot;

use crate::plan::Plan;

pub(crate) use capture_screenshot::SCREEN as SCREEN_WAYS;
pub(crate) use clipboard::READERS as CLIPBOARD_WAYS;
pub(crate) use open_in_default_app::WAYS as OPENING_WAYS;

/// Every tool, in the order in which they are listed.
pub(crate) static PLANS: [Plan; 11] = [
    list_files::PLAN,
    read_file::PLAN,
    write_file::PLAN,
    search_files::PLAN,
    run_shell_command::PLAN,
    get_system_info::PLAN,
    open_in_default_app::PLAN,
    clipboard::READ,
    clipboard::WRITE,
    capture_screenshot::PLAN,
    analyze_image::PLAN,
];
