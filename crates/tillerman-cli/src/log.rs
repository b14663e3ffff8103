//! What the program says about itself on standard error: as text for people or as JSON for machines.

mod line;

use std::io::Write as _;
use std::path::Path;

use clap::ValueEnum;
use tillerman_assembly::Environment;
use tillerman_policy::keep_variable;
use tillerman_runtime::Secrets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use line::Lines;

use crate::environment;

/// Parts of names that stand for something secret.
const SECRET_NAMES: [&str; 6] = ["_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL"];

/// How much is said and in which form.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct LogArguments {
    /// How standard error is written (also TILLERMAN_LOG_FORMAT)
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// How much is said there (also TILLERMAN_LOG_LEVEL)
    #[arg(long, global = true, value_enum, value_name = "LEVEL")]
    pub(crate) log_level: Option<LogLevel>,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What went wrong
    Error,
    /// What may be wrong as well
    Warn,
    /// What happens as well
    Info,
    /// What goes on inside as well
    Debug,
}

/// Who the log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// One session or one errand.
    One,
    /// Many sessions, so that lines have to say which one they mean.
    Many,
}

/// A log that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log {
    format: LogFormat,
}

impl Log {
    /// Begins the log of this process.
    pub(crate) fn begin(
        arguments: &LogArguments,
        (usual, about): (LogLevel, About),
        file: Option<&Path>,
        environment: &Environment,
    ) -> Self {
        let (format, bad_format) =
            choose(arguments.log_format, environment.get("TILLERMAN_LOG_FORMAT"));
        let (level, bad_level) =
            choose(arguments.log_level, environment.get("TILLERMAN_LOG_LEVEL"));
        let format = format.unwrap_or_default();
        let (file, unopened) = match file.map(open) {
            Some(Ok(file)) => (Some(file), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        let level = level.unwrap_or(usual).filter();
        let lines = Lines { format, about, level, secrets: secrets(), file };
        // A second log in one process would be a mistake of ours, and the first one goes on.
        drop(tracing_subscriber::registry().with(lines).try_init());
        if format == LogFormat::Json {
            std::panic::set_hook(Box::new(|panic| {
                let place = panic.location().map(ToString::to_string).unwrap_or_default();
                tracing::error!(place, "the program has a mistake: {}", text_of(panic));
            }));
        }
        if let Some(error) = unopened {
            tracing::warn!("the debug file cannot be written ({error}), so standard error is");
        }
        for (name, value) in
            [("TILLERMAN_LOG_FORMAT", bad_format), ("TILLERMAN_LOG_LEVEL", bad_level)]
        {
            if let Some(value) = value {
                tracing::warn!("{name} is {value:?}, which is not known, and was left out");
            }
        }
        Self { format }
    }

    /// Says why the program ends.
    pub(crate) fn complain(self, message: &str) {
        match self.format {
            LogFormat::Text => drop(writeln!(std::io::stderr(), "{message}")),
            LogFormat::Json => tracing::error!("{message}"),
        }
    }
}

impl LogLevel {
    const fn filter(self) -> tracing::Level {
        match self {
            Self::Error => tracing::Level::ERROR,
            Self::Warn => tracing::Level::WARN,
            Self::Info => tracing::Level::INFO,
            Self::Debug => tracing::Level::DEBUG,
        }
    }
}

/// A file for the log that only this user can read.
fn open(path: &Path) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

/// What was chosen: the flag, else the variable; a value that makes no sense is given back.
fn choose<T: ValueEnum>(flag: Option<T>, variable: Option<String>) -> (Option<T>, Option<String>) {
    match (flag, variable) {
        (Some(flag), _) => (Some(flag), None),
        (None, None) => (None, None),
        (None, Some(value)) => match T::from_str(&value, true) {
            Ok(chosen) => (Some(chosen), None),
            Err(_) => (None, Some(value)),
        },
    }
}

fn text_of<'a>(panic: &'a std::panic::PanicHookInfo<'_>) -> &'a str {
    panic.payload_as_str().unwrap_or("it says nothing about it")
}

/// Everything in the environment that must not be seen in a log.
fn secrets() -> Secrets {
    let is_secret = |name: &str| {
        !keep_variable(name) || SECRET_NAMES.iter().any(|part| name.to_uppercase().contains(part))
    };
    let values = environment::values(is_secret);
    // Some hold lists of headers, whose values are the secrets.
    let parts = |value: String| {
        let inner: Vec<String> = value
            .split([',', '\n'])
            .filter_map(|part| part.split_once(['=', ':']))
            .map(|(_, value)| value.trim().to_owned())
            .collect();
        inner.into_iter().chain([value])
    };
    Secrets::new(values.into_iter().flat_map(parts))
}
