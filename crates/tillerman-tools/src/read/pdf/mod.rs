//! Showing the text of PDF files, page by page.
//!
//! Such files come from anywhere, so nothing here recurses without a limit or trusts a size.

mod content;
mod font;
mod layout;
mod show;

pub(super) use show::show;
