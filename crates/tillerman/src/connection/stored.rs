//! Sessions of a store, laid out on disk so that an engine can resume them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use tillerman_protocol::SessionId;

use crate::error::{Error, ErrorKind, Result};
use crate::options::{Options, Origin};
use crate::sessions::{SessionKey, SessionStore, project_key};

/// Lays out the session that the options resume from a store, and points the options at it.
///
/// The directory lives as long as what is returned.
pub(crate) async fn lay_out(options: &mut Options) -> Result<Option<TempDir>> {
    let Some(store) = options.session.store.clone() else { return Ok(None) };
    let cwd = options.surroundings.cwd.clone();
    let project = project_key(&cwd.unwrap_or_else(|| PathBuf::from(".")));
    let session = match &options.session.origin {
        Origin::New => return Ok(None),
        Origin::Session(id) => SessionId::new(id),
        Origin::Newest => {
            let sessions = store.list_sessions(project.clone()).await?;
            let newest = sessions.into_iter().max_by_key(|session| session.modified);
            let Some(newest) = newest else {
                let text = "the session store has no session of this directory to go on with; \
                            nothing was started";
                return Err(Error::new(ErrorKind::SessionNotFound, text));
            };
            newest.session_id
        }
    };
    let key = SessionKey::new(project, session);
    let Some(entries) = store.load(key.clone()).await? else {
        let text = format!(
            "the session store has no session {}; nothing was started; leave `resume` out to \
             start afresh",
            key.session_id
        );
        return Err(Error::new(ErrorKind::SessionNotFound, text));
    };
    let home = tempfile::tempdir().map_err(unwritable)?;
    let project_dir = home.path().join("projects").join(&key.project_key);
    write(&project_dir.join(format!("{}.jsonl", key.session_id)), &entries)?;
    write_agents(&store, &key, &project_dir).await?;
    options.session.origin = Origin::Session(key.session_id.as_str().to_owned());
    let variable = "CLAUDE_CONFIG_DIR".to_owned();
    options.surroundings.env.insert(variable, home.path().display().to_string());
    Ok(Some(home))
}

async fn write_agents(
    store: &Arc<dyn SessionStore>,
    key: &SessionKey,
    project_dir: &Path,
) -> Result<()> {
    for subpath in store.list_subkeys(key.clone()).await? {
        let part = key.clone().part(&subpath);
        let is_plain = Path::new(&subpath)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if let Some(entries) = store.load(part).await?.filter(|_| is_plain) {
            let path = project_dir.join(key.session_id.as_str()).join(format!("{subpath}.jsonl"));
            write(&path, &entries)?;
        }
    }
    Ok(())
}

fn write(path: &Path, entries: &[Value]) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let mut file = std::fs::File::create(path).map_err(unwritable)?;
    let mut text = Vec::new();
    for entry in entries {
        text.extend_from_slice(entry.to_string().as_bytes());
        text.push(b'\n');
    }
    file.write_all(&text).map_err(unwritable)
}

fn unwritable(error: std::io::Error) -> Error {
    let text = "the session of the store cannot be laid out in the temporary directory; nothing \
                was started; make room there";
    Error::new(ErrorKind::Store, text).because(error)
}
