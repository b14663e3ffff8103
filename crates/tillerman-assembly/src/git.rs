//! The little that is told about git: whether there is a repository and which branch is out.

use std::path::Path;

/// The branch of the repository around a directory; empty on a detached head, `None` without one.
pub(crate) fn branch(directory: &Path) -> Option<String> {
    let dot_git =
        directory.ancestors().map(|above| above.join(".git")).find(|path| path.exists())?;
    let git_dir = match std::fs::read_to_string(&dot_git) {
        // A worktree or submodule: the file names the real directory.
        Ok(text) => {
            let named = text.trim().strip_prefix("gitdir: ")?.to_owned();
            dot_git.parent()?.join(named)
        }
        Err(_) => dot_git,
    };
    let head = std::fs::read_to_string(git_dir.join("HEAD")).unwrap_or_default();
    Some(head.trim().strip_prefix("ref: refs/heads/").unwrap_or_default().to_owned())
}
