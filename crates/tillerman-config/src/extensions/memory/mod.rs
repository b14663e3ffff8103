//! Memory files: what people want the agent to know, from the whole machine to one folder.

mod file;
mod imports;
mod load;
mod rules;
mod surroundings;

pub use file::{LoadedFile, MemoryFile, MemoryKind};
pub use load::Memory;
pub use surroundings::Surroundings;
