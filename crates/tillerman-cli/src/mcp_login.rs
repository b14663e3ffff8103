//! `tillerman mcp login` and `logout`: signing in to servers, with a browser here or elsewhere.

use std::io::Write as _;
use std::pin::pin;
use std::time::Duration;

use tillerman_assembly::servers::{self, credential_files};
use tillerman_assembly::{Environment, SessionOrder, StartFailure, settings};
use tillerman_mcp::{Callback, CallbackError, NamedServer, SignIn, SignInError, SignInOptions};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::time::{Instant, timeout_at};

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// How much is read from somebody who pastes.
const LONGEST: u64 = 256 * 1024;

/// Signs in to a server.
pub(crate) async fn login(order: &SessionOrder, name: &str) -> Result<u8, StartFailure> {
    let environment = &order.environment;
    let server = server(order, name)?;
    let options = SignInOptions {
        client_secret: environment.get("MCP_CLIENT_SECRET"),
        callback_port: environment.number("MCP_OAUTH_CALLBACK_PORT"),
    };
    let failed = |why: SignInError| not_signed_in(name, &why.to_string());
    let sign_in =
        SignIn::begin(&credential_files(environment), &server, options).await.map_err(failed)?;
    say(&format!(
        "To sign in to {name}, open this address in a browser:\n\n{}\n\nThis waits for the browser to \
         come back, for {} minutes. If the browser is on another machine, paste the address here that \
         it ends up at.",
        sign_in.url(),
        PATIENCE.as_secs() / 60
    ));
    let callback = answer(&sign_in).await.map_err(|why| not_signed_in(name, &why))?;
    sign_in.finish(callback).await.map_err(failed)?;
    say(&format!("Signed in to {name}. Sessions that wait for it connect by themselves."));
    Ok(0)
}

/// Forgets the tokens of a server.
pub(crate) fn logout(environment: &Environment, name: &str) -> Result<u8, StartFailure> {
    let forgotten = credential_files(environment).forget(name);
    let any = forgotten.map_err(|error| StartFailure::usage(format!("{error}. Remove it.")))?;
    say(&if any {
        format!("Signed out of {name}: its tokens are removed from this machine.")
    } else {
        format!("Nobody was signed in to {name}.")
    });
    Ok(0)
}

fn server(order: &SessionOrder, name: &str) -> Result<NamedServer, StartFailure> {
    let (environment, cwd) = (&order.environment, &order.cwd);
    let layers = settings::of_session(order, environment, cwd)?;
    let servers = servers::servers(order, environment, &layers, cwd)?;
    servers.into_iter().find(|server| server.name == name).ok_or_else(|| {
        StartFailure::usage(format!(
            "There is no MCP server called {name} here. `tillerman mcp list` shows those there are; \
             those of a project count when --setting-sources names project."
        ))
    })
}

/// Waits for whichever comes first: the browser, or a pasted address that belongs to this sign-in.
async fn answer(sign_in: &SignIn) -> Result<Callback, String> {
    let deadline = Instant::now() + PATIENCE;
    let mut lines = BufReader::new(tokio::io::stdin().take(LONGEST)).lines();
    let mut is_open = true;
    let mut redirected = pin!(sign_in.redirected());
    let wait = async {
        loop {
            tokio::select! {
                answer = &mut redirected => return answer.map_err(|why| why.to_string()),
                line = lines.next_line(), if is_open => match line {
                    Ok(Some(line)) if line.trim().is_empty() => {}
                    Ok(Some(line)) => match sign_in.read(&line) {
                        Ok(callback) => return Ok(callback),
                        Err(why @ CallbackError::Refused(_)) => return Err(why.to_string()),
                        Err(why) => say(&format!("Still waiting: {why}.")),
                    },
                    Ok(None) | Err(_) => is_open = false,
                },
            }
        }
    };
    let minutes = PATIENCE.as_secs() / 60;
    timeout_at(deadline, wait)
        .await
        .unwrap_or_else(|_| Err(format!("nobody came back within {minutes} minutes")))
}

fn not_signed_in(name: &str, why: &str) -> StartFailure {
    StartFailure::usage(format!("Not signed in to {name}: {why}. Nothing was changed."))
}

fn say(text: &str) {
    let mut out = std::io::stdout();
    drop(writeln!(out, "{text}"));
    drop(out.flush());
}
