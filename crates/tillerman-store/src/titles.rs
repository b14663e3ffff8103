//! Finding a session by the title that a person gave it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;
use tillerman_protocol::SessionId;

use crate::sessions::{OpenError, SessionFiles};

/// How much is read of each end of a transcript, which is where titles stand.
const END: u64 = 64 << 10;

impl SessionFiles {
    /// The newest session of this project that has this title.
    ///
    /// # Errors
    /// When the project's directory cannot be read. Transcripts that cannot be read have no title.
    pub fn titled(&self, title: &str) -> Result<Option<SessionId>, OpenError> {
        let title = title.trim();
        let has_title = |path: &Path| title_of(path).ok().flatten().is_some_and(|it| it == title);
        let found = self.list()?.into_iter().find(|session| has_title(&session.path));
        Ok(found.filter(|_| !title.is_empty()).map(|session| session.id))
    }
}

/// The newest title in a transcript.
fn title_of(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
    let last = read_end(&file)?;
    if let Some(title) = newest_title(&last) {
        return Ok(Some(title));
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(newest_title(&read_end(&file)?))
}

fn read_end(file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(END).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn newest_title(text: &str) -> Option<String> {
    let title = |line: &str| -> Option<String> {
        let entry: Value = serde_json::from_str(line).ok()?;
        let is_title = entry.get("type")?.as_str()? == "custom-title";
        let title = entry.get("customTitle")?.as_str()?;
        is_title.then(|| title.trim().to_owned())
    };
    text.lines().rev().filter(|line| line.contains("custom-title")).find_map(title)
}
