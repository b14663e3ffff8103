//! Following the files: a look at the start, and another whenever one of them may have changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::live::{News, Shared};
use crate::shelf::scan::{Inventory, directory_of, look, open};
use crate::shelf::sync::take;
use crate::store::Kind;
use crate::wire::FileProblem;

/// How long a look at the disk may take.
const LONGEST_LOOK: Duration = Duration::from_secs(20);

/// The files of a host.
#[derive(Debug)]
pub(crate) struct Shelf {
    shared: Arc<Shared>,
    /// What was there when it was last taken over.
    known: Option<Inventory>,
}

impl Shelf {
    pub(crate) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared, known: None }
    }

    /// Follows the files until the host leaves.
    pub(crate) async fn follow(mut self, leaving: CancellationToken) {
        loop {
            let pause = tokio::time::sleep(self.shared.settings.timeouts.files);
            tokio::select! {
                () = leaving.cancelled() => return,
                () = pause => self.read().await,
            }
        }
    }

    /// Takes over what the files say, unless nothing about them has changed.
    pub(crate) async fn read(&mut self) {
        let root = self.shared.store.directory().to_owned();
        let known = self.known.clone();
        let looking = tokio::task::spawn_blocking(move || {
            let found = look(&root);
            let held = if known.as_ref() == Some(&found) { None } else { Some(open(&found)) };
            (found, held)
        });
        let Ok(Ok((found, held))) = tokio::time::timeout(LONGEST_LOOK, looking).await else {
            tracing::warn!("the files of projects and agents could not be looked at in time");
            return;
        };
        let Some(held) = held else { return };
        let unknown: Vec<Kind> = found.unreadable.iter().map(|(kind, ..)| *kind).collect();
        let now = self.shared.now();
        let taking = self.shared.store.write(move |db| take(db, &held, &unknown, now)).await;
        match taking {
            Ok(mut taken) => {
                taken.problems.splice(0..0, found.unreadable.iter().map(unreadable));
                self.known = Some(found);
                self.tell(taken.problems, taken.has_changed);
            }
            Err(error) => tracing::error!(%error, "what files say could not be taken over"),
        }
    }

    fn tell(&self, problems: Vec<FileProblem>, has_changed: bool) {
        let before = self.shared.problems.borrow().clone();
        for problem in problems.iter().filter(|problem| !before.contains(problem)) {
            let FileProblem { path, line, message, .. } = problem;
            tracing::warn!(path, line, "{message}");
        }
        let is_news = has_changed || problems != *before;
        self.shared.problems.send_replace(Arc::new(problems));
        if is_news {
            self.shared.tell(News::documents());
        }
    }
}

fn unreadable((kind, path, reason): &(Kind, PathBuf, String)) -> FileProblem {
    FileProblem {
        kind: kind.as_str().to_owned(),
        path: path.display().to_string(),
        line: None,
        message: format!("The directory cannot be read: {reason}. What was read from it stays."),
    }
}

/// What no session may write, since it says what sessions may do.
///
/// These are parts of paths and not paths, so that a command which mentions another directory of
/// such a common name is not taken for one that means these.
pub(crate) fn guarded(root: &Path) -> Vec<String> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let root = root.display().to_string();
    let root = root.trim_start_matches('/');
    let names = Kind::ALL.iter().map(|kind| directory_of(*kind)).chain(["host.db"]);
    names.map(|name| format!("{root}/{name}")).collect()
}
