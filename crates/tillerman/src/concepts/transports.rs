//! Transports: where the engine runs, and what that changes.
//!
//! Everything above a [`Transport`](crate::transport::Transport) is the same, so that a program can
//! begin in one place and move to another by changing one line:
//!
//! | | the engine runs | good for |
//! |---|---|---|
//! | [`InProcess`](crate::transport::InProcess) | in your process (the default) | services with many sessions: no start, a few hundred kilobytes each |
//! | [`Subprocess`](crate::transport::Subprocess) | as a program of its own | a crash or a leak that stays outside, and the official CLI |
//! | `WebSocket` (feature `websocket`) | on a Tillerman host | agents near the files, programs elsewhere |
//!
//! ```
//! use tillerman::Options;
//! use tillerman::transport::Subprocess;
//!
//! let here = Options::new();
//! let found = Options::new().transport(Subprocess::new());
//! let named = Options::new().path_to_executable("/opt/tillerman/bin/tillerman");
//! # drop((here, found, named));
//! ```
//!
//! # What a transport cannot do
//!
//! An option that cannot be honoured is an error of the kind
//! [`Unsupported`](crate::ErrorKind::Unsupported) before anything starts, never silence:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use tillerman::{Client, ErrorKind, Options};
//!
//! // An engine in this process has no standard error.
//! let options = Options::new().model("rehearsal").stderr(|line| println!("{line}"));
//! let error = Client::connect(options).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Unsupported);
//! # });
//! ```
//!
//! | option | in process | `tillerman` as a subprocess | the official CLI | on a host |
//! |---|---|---|---|---|
//! | [`stderr`](crate::Options::stderr) | no, see `tracing` | yes | yes | no |
//! | [`path_to_executable`](crate::Options::path_to_executable), [`executable`](crate::Options::executable) | no | yes | yes | no |
//! | [`guard`](crate::Options::guard), [`strict_environment`](crate::Options::strict_environment) | yes | yes | no | yes |
//! | [`extra_arg`](crate::Options::extra_arg) | flags of sessions | every flag | every flag of its own | flags of sessions |
//! | a model or tool as an object, [`InProcess::model`](crate::transport::InProcess::model) | yes | no | no | no |
//!
//! Which program a subprocess is, its `--version` says. It is asked only where an option depends on
//! it. A [`Run`](crate::run::Run) over the official CLI, which shows its whole environment to its
//! tools, starts it with the variables that agents need and no others.
