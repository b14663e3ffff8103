//! What a shell command does, as far as that can be told without running it.
//!
//! A command is parsed, cut into its simple commands, and each is judged by its own words. Only
//! words without any expansion are understood; everything else can make a command forbidden, but
//! never approved.

mod ansi_c;
mod word;

mod script;

mod crosscheck;
mod heredoc;
mod redirect;
mod rough;
mod walk;

mod options;

mod dispatch;

mod git;
mod little_languages;
mod read_only;
mod readers;

mod edits;
mod writes;

mod pattern;
mod risky;

pub(crate) use dispatch::{Launch, is_interpreter, is_shell, launch, views};
pub(crate) use edits::{Edited, edits};
pub(crate) use git::{NEUTRAL as NEUTRAL_GIT, runs_git};
pub(crate) use pattern::{CommandPattern, Hit};
pub(crate) use read_only::{certain_words, looks, reads_files};
pub(crate) use script::{Script, Simple, read};
pub(crate) use word::Word;
pub(crate) use writes::{Target, file_names, reads_of, targets};
