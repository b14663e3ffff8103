//! A conversation that goes on in another process: the id is all that is kept.
//!
//! `cargo run -p tillerman --example resume -- [MODEL]`

#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::sync::Arc;

use tillerman::sessions::{FileStore, Sessions};
use tillerman::{Options, Session};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "rehearsal".to_owned());
    let home = tempfile::tempdir()?;
    let options =
        Options::new().model(model).env("CLAUDE_CONFIG_DIR", home.path().to_string_lossy());

    let mut session = Session::create(options.clone()).await?;
    println!("{}", session.prompt("list files").await?.text);
    let id = session.id().clone();
    session.close().await?;

    // Here the program could have been started again.
    let mut session = Session::resume(&id, options).await?;
    println!("{}", session.prompt("list files again").await?.text);
    session.close().await?;

    let store = Arc::new(FileStore::new(home.path()));
    let sessions = Sessions::new(store, &std::env::current_dir()?);
    sessions.rename(&id, "Two questions").await?;
    for session in sessions.list().await? {
        let messages = sessions.messages(&session.session_id).await?;
        println!("{}: {} messages", session.summary, messages.len());
    }
    Ok(())
}
