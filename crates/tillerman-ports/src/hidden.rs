//! Paths that searches pass over.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Whether a path is to be passed over, given by its real name.
type Covers = dyn Fn(&Path) -> bool + Send + Sync;

/// What a tool that looks at many files must leave out, because it could not be read by name.
#[derive(Clone, Default)]
pub struct Hidden {
    covers: Option<Arc<Covers>>,
}

impl Hidden {
    /// Everything that `covers` says.
    pub fn by(covers: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self { covers: Some(Arc::new(covers)) }
    }

    /// Whether anything is hidden at all.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.covers.is_none()
    }

    /// Whether this path is hidden.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        self.covers.as_ref().is_some_and(|covers| covers(path))
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_nothing() { "Hidden(nothing)" } else { "Hidden(something)" })
    }
}
