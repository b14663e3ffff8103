//! Jupyter notebooks: showing their cells and changing them.

mod document;
mod edit;
mod show;

pub(crate) use edit::NotebookEdit;
pub(crate) use show::show;
