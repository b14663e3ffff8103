//! What `tillerman serve` would find here.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::process::geteuid;
use tillerman_assembly::Environment;
use tillerman_desktop::{DesktopConfig, survey};
use tillerman_host::{DataInspection, DatabaseState};

use crate::doctor::report::{Report, Row};
use crate::traces::Belonging;
use crate::{serve, traces};

const HOST: &str = "Host (tillerman serve)";
/// How long whoever holds the port may take to say what it is.
const GLANCE: Duration = Duration::from_secs(1);
/// How much of an answer is read.
const ANSWER: u64 = 4_096;

/// Adds what a host would find.
pub(crate) fn examine(
    report: &mut Report,
    environment: &Environment,
    cwd: &Path,
    data_dir: Option<PathBuf>,
    port: u16,
) {
    report.add(user(environment));
    let mut in_use = false;
    match serve::data_directory(data_dir, environment) {
        Ok(data) => {
            report.add(directory(&data));
            let inspected = DataInspection::of(&data);
            in_use = inspected.is_in_use;
            report.add(database(&inspected.database));
            report.add(files(&data, &inspected));
        }
        Err(failure) => {
            report.add(Row::bad(HOST, "data directory", failure.message, "set HOME"));
        }
    }
    report.add(port_row(port, in_use));
    report.add(page());
    report.add(traces_row(environment));
    report.add(desktop(cwd));
}

fn user(environment: &Environment) -> Row {
    let what = "user";
    match serve::check_user(None, environment) {
        Ok(_) if geteuid().is_root() => Row::note(
            HOST,
            what,
            "root, since IS_SANDBOX is set: agents may do everything on this machine",
            "start the host as another user, or with --run-as, where that matters",
        ),
        Ok(_) => Row::ok(HOST, what, "agents work as you, and may do what you may"),
        Err(_) => Row::note(
            HOST,
            what,
            "root, so that serve refuses to start",
            "start it as another user, with --run-as USER, or with IS_SANDBOX=1",
        ),
    }
}

fn directory(data: &Path) -> Row {
    let what = "data directory";
    let shown = data.display();
    let metadata = match std::fs::metadata(data) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return not_there(data),
        Err(error) => {
            let advice = "make it yours, or name another with --data-dir";
            return Row::bad(HOST, what, format!("{shown}: {error}"), advice);
        }
    };
    if !metadata.is_dir() {
        let meaning = format!("{shown} is not a directory");
        return Row::bad(HOST, what, meaning, "name another with --data-dir");
    }
    if access(data, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let advice = "make it yours, or name another with --data-dir";
        return Row::bad(HOST, what, format!("{shown} cannot be written"), advice);
    }
    if metadata.mode() & 0o077 != 0 {
        let meaning = format!("{shown} is open to others; the next start of the host closes it");
        return Row::note(HOST, what, meaning, format!("chmod 700 {shown}"));
    }
    Row::ok(HOST, what, format!("{shown}, writable and private"))
}

/// The first start makes the directory, below the nearest one that is there.
fn not_there(data: &Path) -> Row {
    let what = "data directory";
    let nearest = data.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let shown = data.display();
    if access(nearest, Access::WRITE_OK | Access::EXEC_OK).is_ok() {
        return Row::ok(HOST, what, format!("{shown}, which the first start makes"));
    }
    let meaning = format!("{shown} cannot be made: {} cannot be written", nearest.display());
    Row::bad(HOST, what, meaning, "name another with --data-dir")
}

fn database(state: &DatabaseState) -> Row {
    let what = "database";
    match state {
        DatabaseState::Missing => Row::ok(HOST, what, "none yet; the first start makes it"),
        DatabaseState::Usable { version, newest } if version == newest => {
            Row::ok(HOST, what, format!("opens, version {version}"))
        }
        DatabaseState::Usable { version, newest } => {
            let meaning = format!("opens, version {version}; the next start makes it {newest}");
            Row::note(HOST, what, meaning, "keep a copy if you may want to go back")
        }
        DatabaseState::Newer { version, newest } => Row::bad(
            HOST,
            what,
            format!("version {version} of a later program, and this one knows {newest}"),
            "start the program that wrote it, or name another directory with --data-dir",
        ),
        DatabaseState::Broken(error) => Row::bad(
            HOST,
            what,
            format!("cannot be read: {error}"),
            "move it away and build it anew from the transcripts with tillerman reindex",
        ),
        _ => Row::note(HOST, what, "in a state that is not known", "look at it yourself"),
    }
}

/// Tokens are kept as hashes in the database, so that its files are what has to be closed.
fn files(data: &Path, inspected: &DataInspection) -> Row {
    let what = "token file";
    if inspected.database == DatabaseState::Missing {
        return Row::ok(HOST, what, "none yet; the first start shows a token once");
    }
    if inspected.open_files.is_empty() {
        return Row::ok(HOST, what, "hashes of tokens are readable by their owner only");
    }
    let names = inspected.open_files.join(", ");
    let advice = format!("chmod 600 {}/host.db*", data.display());
    Row::bad(HOST, what, format!("others can read {names}"), advice)
}

fn port_row(port: u16, in_use: bool) -> Row {
    let what = "port";
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match TcpListener::bind(address) {
        Ok(_) if in_use => Row::note(
            HOST,
            what,
            format!("{address} is free, and a host uses the data directory on another port"),
            "find it by the address it printed, or stop it first",
        ),
        Ok(_) => Row::ok(HOST, what, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => match (is_host(address), in_use) {
            (true, true) => Row::ok(HOST, what, format!("{address} is ours: the host runs")),
            (true, false) => Row::note(
                HOST,
                what,
                format!("{address} belongs to a host with another data directory"),
                "choose another port with --port",
            ),
            (false, _) => Row::note(
                HOST,
                what,
                format!("{address} belongs to another program"),
                "choose another port with --port",
            ),
        },
        Err(error) => {
            let meaning = format!("{address} cannot be used: {error}");
            Row::bad(HOST, what, meaning, "choose another port with --port")
        }
    }
}

/// Whether a host answers there.
fn is_host(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, GLANCE)?;
        stream.set_read_timeout(Some(GLANCE))?;
        stream.set_write_timeout(Some(GLANCE))?;
        let head = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes())?;
        let mut answer = Vec::new();
        // Whoever says too much is no host of ours.
        stream.take(ANSWER).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let states =
        ["{\"status\":\"ok\"}", "{\"status\":\"leaving\"}", "{\"status\":\"no_database\"}"];
    ask().is_ok_and(|answer| states.iter().any(|state| answer.ends_with(state)))
}

fn page() -> Row {
    match tillerman_web::asset("") {
        Some(_) => Row::ok(HOST, "page", "built in; any browser shows it, none is needed here"),
        None => Row::note(
            HOST,
            "page",
            "this program was built without its page; the API is there all the same",
            "build it where npm is installed",
        ),
    }
}

fn traces_row(environment: &Environment) -> Row {
    match traces::settings(environment, Belonging::Nothing) {
        Ok(Some(settings)) => {
            Row::ok(HOST, "traces", format!("go to {}", settings.shown_endpoint()))
        }
        Ok(None) => Row::ok(HOST, "traces", "off (OTEL_EXPORTER_OTLP_ENDPOINT is not set)"),
        Err(error) => {
            let meaning = format!("not sent: {error}");
            Row::bad(HOST, "traces", meaning, "correct the OTEL_EXPORTER_OTLP_ variables")
        }
    }
}

fn desktop(cwd: &Path) -> Row {
    let what = "desktop tools";
    let Ok(config) = DesktopConfig::new(cwd, std::env::vars_os()) else {
        return Row::note(HOST, what, "not here: the working directory is gone", "change it");
    };
    let found = survey(&config);
    if found.desktop == "none" {
        let meaning = "files and commands only: there is no desktop here";
        return Row::note(HOST, what, meaning, "start tillerman ipc from within a desktop session");
    }
    let missing = found.programs.iter().filter(|(_, program)| program.is_none());
    let missing: Vec<&str> = missing.map(|(what, _)| *what).collect();
    if missing.is_empty() {
        return Row::ok(HOST, what, format!("all there ({})", found.desktop));
    }
    let meaning = format!("no program for {} ({})", missing.join(", "), found.desktop);
    Row::note(HOST, what, meaning, "docs/desktop.md names the programs")
}
