//! The confinement of one session, as the port that tools know.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tillerman_ports::{Confined, Confiner, Exchange, Hold, PlainCommand};
use tillerman_protocol::sandbox::SandboxSettings;

use crate::confinement::{Confinement, SessionPlaces};
use crate::egress::Violation;
use crate::files::{FileAccess, OpenFileError};
use crate::{ConfinedCommand, Prepared, Sandbox, SandboxError};

/// The confinement of one session. Dropping it ends its proxy.
#[derive(Debug)]
pub struct SessionSandbox {
    prepared: Arc<Prepared>,
    files: FileAccess,
    settings: Arc<SandboxSettings>,
}

impl SessionSandbox {
    /// Makes the confinement ready that settings ask for.
    ///
    /// # Errors
    /// When this machine cannot enforce every part of it. Nothing may be run then.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing behind.
    pub async fn prepare(
        sandbox: &Sandbox,
        settings: SandboxSettings,
        places: SessionPlaces,
    ) -> Result<Self, SandboxError> {
        let confinement = Confinement::of_session(&settings, places);
        let files = FileAccess::new(&confinement);
        let prepared = sandbox.prepare(confinement).await?;
        Ok(Self { prepared: Arc::new(prepared), files, settings: Arc::new(settings) })
    }
}

impl Confiner for SessionSandbox {
    fn exchange(&self) -> Exchange {
        Exchange {
            outside: self.prepared.private_temp().to_path_buf(),
            inside: self.prepared.private_temp_inside().to_path_buf(),
        }
    }

    fn confine(&self, command: PlainCommand<'_>) -> Result<Confined, String> {
        let PlainCommand { program, arguments, directory, environment, text } = command;
        let mut confined = self
            .prepared
            .command_with(program.as_os_str(), arguments, directory, environment)
            .map_err(|error| with_causes(&error))?;
        Ok(Confined {
            program: std::mem::take(&mut confined.program),
            arguments: std::mem::take(&mut confined.arguments),
            environment: std::mem::take(&mut confined.environment).into_iter().collect(),
            hold: Box::new(Held {
                command: confined,
                prepared: Arc::clone(&self.prepared),
                settings: Arc::clone(&self.settings),
                text: text.to_owned(),
            }),
        })
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.files.open(path).map_err(refusal)
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.files.write(path, content).map_err(refusal)
    }

    fn hides(&self, path: &Path) -> bool {
        self.files.hides(path)
    }
}

/// A command that may still be running.
#[derive(Debug)]
struct Held {
    command: ConfinedCommand,
    prepared: Arc<Prepared>,
    settings: Arc<SandboxSettings>,
    text: String,
}

impl Hold for Held {
    fn finish(self: Box<Self>) -> Vec<String> {
        let Self { command, prepared, settings, text } = *self;
        let violations = command.finish().into_iter().chain(prepared.take_violations());
        // A command that tries again and again has one thing to say.
        let mut counted: BTreeMap<String, usize> = BTreeMap::new();
        for Violation { kind, text: violation } in violations {
            if !settings.ignores(kind.name(), &text, &violation) {
                *counted.entry(violation).or_default() += 1;
            }
        }
        let say = |(text, count)| match count {
            1 => text,
            count => format!("{text} ({count} times)"),
        };
        counted.into_iter().map(say).collect()
    }
}

fn refusal(error: OpenFileError) -> io::Error {
    match error {
        OpenFileError::Open { source, .. } => source,
        OpenFileError::Outside(_) => io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it lies outside the directories that the sandbox lets this session write \
             (sandbox.filesystem.allowWrite adds one)",
        ),
        OpenFileError::Guarded(_) => {
            io::Error::new(io::ErrorKind::PermissionDenied, "it is guarded and stays as it is")
        }
        OpenFileError::Hidden(_) => {
            io::Error::new(io::ErrorKind::PermissionDenied, "the sandbox hides it")
        }
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
