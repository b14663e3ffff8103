//! Treats an agent like a process.
//!
//! A run has a number, takes messages while it lives, and tells its end: 0 when it was done or
//! killed, 1 after an error.
//!
//! ```
//! use tillerman::run::{Run, RunEvent, RunPlan};
//! use tillerman::Options;
//! use tokio::sync::mpsc;
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> tillerman::Result<()> {
//!     let (sender, mut exits) = mpsc::channel(1);
//!     let options = Options::new().model("rehearsal").no_session_persistence();
//!     let plan = RunPlan::new("list files", options)
//!         .mode("auto-edit")?
//!         .guard(["CLAUDE.md"])
//!         .on_event(|event| {
//!             if let RunEvent::Error(error) = event {
//!                 println!("it failed: {error}");
//!             }
//!         })
//!         .on_exit(move |code| drop(sender.try_send(code)))
//!         .on_api_outage(|| println!("the provider is down; start it again later"));
//!     let run = Run::start(plan);
//!     println!("{} runs", run.pid());
//!     assert_eq!(exits.recv().await, Some(0));
//!     assert!(!run.send_message("too late").await);
//!     Ok(())
//! }
//! ```
