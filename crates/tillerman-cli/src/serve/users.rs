//! `tillerman users`: who else may use the host.

use std::io::Write as _;
use std::path::PathBuf;

use tillerman_assembly::{StartFailure, SystemClock};
use tillerman_host::{Role, Store};
use tillerman_ports::Clock as _;

use crate::environment;
use crate::serve::place;

/// What is done about users.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum UsersCommand {
    /// Add somebody, or give somebody a new token and role; the token is shown once
    Add {
        /// The name
        name: String,
        /// viewer, approver or owner
        #[arg(long, default_value = "viewer", value_parser = role)]
        role: Role,
        /// Where the host keeps its data
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
    /// Remove somebody
    Remove {
        /// The name
        name: String,
        /// Where the host keeps its data
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
    /// List everybody
    List {
        /// Where the host keeps its data
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
}

fn role(name: &str) -> Result<Role, String> {
    Role::parse(name).ok_or_else(|| "the roles are viewer, approver and owner".to_owned())
}

/// Does it.
pub(crate) fn run(command: &UsersCommand) -> Result<u8, StartFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))?;
    let text = runtime.block_on(carry_out(command))?;
    drop(write!(std::io::stdout(), "{text}"));
    Ok(0)
}

async fn carry_out(command: &UsersCommand) -> Result<String, StartFailure> {
    let failed = |error: &dyn std::error::Error| {
        StartFailure::usage(format!("Nothing was changed: {error}."))
    };
    let (UsersCommand::Add { data_dir, .. }
    | UsersCommand::Remove { data_dir, .. }
    | UsersCommand::List { data_dir }) = command;
    let data = place::data_directory(data_dir.clone(), &environment::capture())?;
    let store = Store::open_beside(&data).map_err(|error| failed(&error))?;
    match command {
        UsersCommand::Add { name, role, .. } => {
            let token = store.add_user(name, *role, SystemClock.now()).await;
            let token = token.map_err(|error| failed(&error))?;
            Ok(format!(
                "{name} is now {} {}. The token, shown this once:\n{}\n",
                if *role == Role::Viewer { "a" } else { "an" },
                role.as_str(),
                token.reveal()
            ))
        }
        UsersCommand::Remove { name, .. } => {
            store.remove_user(name).await.map_err(|error| failed(&error))?;
            Ok(format!("{name} is gone; what they had open is closed.\n"))
        }
        UsersCommand::List { .. } => {
            let users = store.users().await.map_err(|error| failed(&error))?;
            Ok(users.iter().map(|it| format!("{} {}\n", it.name, it.role.as_str())).collect())
        }
    }
}
