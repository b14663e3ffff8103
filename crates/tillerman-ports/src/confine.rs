//! The port to what confines commands and file tools.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Confines the commands and file tools of a session. Whatever it cannot confine it refuses.
pub trait Confiner: Send + Sync + std::fmt::Debug {
    /// A directory through which this process and commands exchange files.
    fn exchange(&self) -> Exchange;

    /// Turns a command into one that is confined. Looks at the disk, so it may block for some
    /// milliseconds; start the result at once, from a thread that lives as long as the command.
    ///
    /// # Errors
    /// Why it cannot be confined, as a sentence for people. Nothing may be run then.
    fn confine(&self, command: PlainCommand<'_>) -> Result<Confined, String>;

    /// Opens a file for reading under the same confinement.
    ///
    /// # Errors
    /// When it is hidden or cannot be opened.
    fn open(&self, path: &Path) -> std::io::Result<File>;

    /// Replaces a file's content under the same confinement, making the file and its directories
    /// where they are missing.
    ///
    /// # Errors
    /// When it may not be written.
    fn replace(&self, path: &Path, content: &[u8]) -> std::io::Result<()>;

    /// Whether a path is kept from commands and tools.
    fn hides(&self, path: &Path) -> bool;
}

/// A directory that has one name for this process and another for confined commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Its name for this process. Commands can put links there: open files without following any.
    pub outside: PathBuf,
    /// Its name for commands.
    pub inside: PathBuf,
}

/// A command as it would run without confinement.
#[derive(Clone, Copy, Debug)]
pub struct PlainCommand<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// Where it starts.
    pub directory: &'a Path,
    /// Variables beside those that every command of the session has.
    pub environment: &'a [(OsString, OsString)],
    /// The command as the model wrote it, for telling which violations matter.
    pub text: &'a str,
}

/// A command that is confined.
#[derive(Debug)]
pub struct Confined {
    /// The program to start.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment; clear what would be inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// What must be held until it has ended.
    pub hold: Box<dyn Hold>,
}

/// What must be held until a confined command has ended.
pub trait Hold: Send + std::fmt::Debug {
    /// Lets go, and tells what the command tried and was refused, each as a sentence.
    fn finish(self: Box<Self>) -> Vec<String>;
}

/// Where a call runs in a session that confines its commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bounds {
    /// Inside.
    #[default]
    Confined,
    /// Outside, because somebody said so.
    Free,
}
