//! Copies sources, so that npm works beside the tree and not in it.

use std::path::Path;
use std::{fs, io};

/// Makes the copies equal to the sources; what is gone there disappears here.
pub(crate) fn refresh(from: &Path, to: &Path, names: &[&str]) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for name in names {
        let (source, target) = (from.join(name), to.join(name));
        if source.is_dir() {
            if target.exists() {
                fs::remove_dir_all(&target)?;
            }
            copy_directory(&source, &target)?;
        } else {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
