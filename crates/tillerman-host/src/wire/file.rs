//! Documents that people keep as files, and what is wrong with some of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where documents are read from, and what is wrong with them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentFiles {
    /// The directory with one directory for each kind: `projects`, `personas`, `skills`, `agents`.
    pub directory: String,
    /// Files that are not as they should be.
    pub problems: Vec<FileProblem>,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileProblem {
    /// What the file is: `project`, `persona`, `skill` or `agent`.
    pub kind: String,
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// What is wrong, and what holds meanwhile.
    pub message: String,
}
