//! The port to what files add to a session: commands, skills, and memory of the places it looks at.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tillerman_protocol::frame::Init;
use tillerman_protocol::hook::{HookDetail, HookSource};
use tillerman_protocol::tool::ToolSpec;

/// The texts a session can draw on.
pub trait Library: Send + Sync + std::fmt::Debug {
    /// What a prompt means that begins with a slash. May read files.
    fn command(&self, prompt: &str) -> Reading;

    /// The text of a skill that the model asks for. May read files.
    ///
    /// # Errors
    /// A text for the model that says why there is none.
    fn skill(&self, name: &str, arguments: &str) -> Result<Invocation, String>;

    /// The rules that are allowed while a skill is worked on. Reads nothing.
    fn grants(&self, name: &str) -> Vec<String>;

    /// The hooks that hold from the use of a skill on, if it brings any and they may run. Reads
    /// nothing.
    fn hooks(&self, _name: &str) -> Option<HookSource> {
        None
    }

    /// Memory that is due now that a path was looked at; each text is given once. May read files.
    fn memory_for(&self, path: &Path) -> Vec<String>;

    /// The memory files that were loaded since this was last asked, as hooks are told of them.
    fn take_loaded(&self) -> Vec<HookDetail> {
        Vec::new()
    }

    /// The memory files that hold from the start, broadest first. Reads nothing.
    fn memory_files(&self) -> Vec<MemoryNote> {
        Vec::new()
    }

    /// Reads everything again.
    fn reload(&self) -> Contents;

    /// Offers the model only these skills from now on.
    fn limit_skills(&self, names: &[String]) -> Contents;
}

/// A memory file, for people who ask what fills the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryNote {
    /// The file.
    pub path: PathBuf,
    /// Whose word it is: `Managed`, `User`, `Project` or `Local`.
    pub kind: &'static str,
    /// How many bytes the model is shown of it.
    pub bytes: u64,
}

/// What a prompt that begins with a slash means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It is for the session or the model as it is.
    Plain,
    /// It is answered with this text, without a model.
    Answer(String),
    /// It stands for another text.
    Invocation(Invocation),
}

/// A command or skill that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Its name.
    pub name: String,
    /// What it consists of, in order.
    pub parts: Vec<InvocationPart>,
    /// Whether programs in it may run, if permission rules allow them as well.
    pub programs: Programs,
    /// Rules that are allowed while it is worked on.
    pub grants: Vec<String>,
    /// The model it wants to be answered by.
    pub model: Option<String>,
}

/// A part of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvocationPart {
    /// Words as they are.
    Text(String),
    /// A shell command whose output stands in its place.
    Program(String),
    /// A file that is mentioned, as it is written.
    File(String),
}

/// Whether programs in an invocation may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Programs {
    /// If permission rules allow them.
    Judged,
    /// Never: whoever wrote them is not trusted.
    #[default]
    Refused,
}

/// What a library holds, as hosts are told.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// The lists of `init`; everything else in it is to be ignored.
    pub init: Init,
    /// Fields for the answer to `initialize`.
    pub greeting: Map<String, Value>,
    /// What the model is told about skills, where there are any.
    pub skill_tool: Option<ToolSpec>,
    /// What could not be used, and why.
    pub problems: Vec<String>,
}
