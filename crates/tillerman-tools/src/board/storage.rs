//! The list on disk: a file that only grows, changed by one member at a time.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::board::list::{List, Task};

/// How long a change waits for another one to be over.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);

/// Where a list is kept.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    directory: PathBuf,
}

impl Storage {
    pub(crate) const fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn file(&self) -> PathBuf {
        self.directory.join("list.jsonl")
    }

    /// The list as it is now.
    pub(crate) fn load(&self) -> List {
        read(&self.file()).0
    }

    /// Changes the list while nobody else does: what `change` decides on is what is there.
    ///
    /// # Errors
    /// What `change` says, or a text for the model that says why nothing was changed.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&List) -> Result<(Vec<Task>, T), String>,
    ) -> Result<T, String> {
        let explain = |error: io::Error| {
            format!("The list of tasks cannot be changed: {error}. Nothing was changed.")
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(explain)?;
        let _lock = self.lock().map_err(explain)?;
        let (list, is_torn) = read(&self.file());
        let (changed, answer) = change(&list)?;
        let mut bytes = if is_torn { vec![b'\n'] } else { Vec::new() };
        for task in &changed {
            serde_json::to_writer(&mut bytes, task).map_err(|error| explain(error.into()))?;
            bytes.push(b'\n');
        }
        let append = || {
            let mut file = options().append(true).open(self.file())?;
            file.write_all(&bytes)?;
            file.sync_data()
        };
        append().map_err(explain)?;
        Ok(answer)
    }

    /// Held until it is dropped.
    fn lock(&self) -> io::Result<File> {
        let file = options().write(true).open(self.directory.join(".lock"))?;
        let until = Instant::now() + PATIENCE;
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(file),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => {
                    std::thread::sleep(PAUSE);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    options
}

/// Every task that can be read, and whether the last line was cut off.
fn read(path: &Path) -> (List, bool) {
    let text = std::fs::read(path).unwrap_or_default();
    let mut list = List::default();
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).for_each(|task| list.put(task));
    (list, text.last().is_some_and(|byte| *byte != b'\n'))
}
