//! Writes down everything an agent does.
//!
//! Subscribers of an event bus hear of every call once, whether it worked or not, and cannot break
//! the run.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use tillerman::events::{Event, EventBus};
//! use tillerman::{Options, prompt};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> tillerman::Result<()> {
//!     let bus = EventBus::new();
//!     let log = Arc::new(Mutex::new(Vec::new()));
//!     let writing = Arc::clone(&log);
//!     let _subscription = bus.subscribe(move |event| {
//!         if let Event::ToolInvoked(call) = event {
//!             let outcome = if call.is_error { "failed" } else { "worked" };
//!             writing.lock().unwrap().push(format!("{} {} {outcome}", call.name, call.params));
//!         }
//!     });
//!     let options = Options::new().model("rehearsal").no_session_persistence().events(&bus);
//!     prompt("list files", options).await?;
//!     assert_eq!(log.lock().unwrap().len(), 1);
//!     Ok(())
//! }
//! ```
