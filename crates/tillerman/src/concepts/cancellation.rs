//! Cancellation: how to end things in good order.
//!
//! From gentle to final:
//!
//! | | what it does |
//! |---|---|
//! | [`Controls::interrupt`](crate::Controls::interrupt) | ends the round; the session stays, and its result says that it was interrupted |
//! | [`Controls::stop_task`](crate::Controls::stop_task) | ends one task in the background |
//! | [`Controls::end_input`](crate::Controls::end_input) | says that nothing more will be said; the session finishes what it has begun |
//! | [`Client::close`](crate::Client::close) | ends the session now and waits until it is gone |
//! | [`Options::cancel_with`](crate::Options::cancel_with) | the same from a token; the stream ends with `ErrorKind::Cancelled` |
//! | dropping it | the same without waiting; the engine is ended in the background |
//!
//! Whatever you choose, every call that was begun is closed, processes are ended as whole groups,
//! and the transcript stays whole: the session can be resumed.
//!
//! Futures of callbacks are dropped when their answer is no longer wanted. So write them as you
//! write any future that may be dropped at an await: hold guards that tidy up, and finish in a task
//! of your own what must be finished.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use tillerman::{Client, Options};
//!
//! # let options = Options::new().model("rehearsal").no_session_persistence();
//! let mut client = Client::connect(options).await?;
//! let controls = client.controls();
//! client.send("list files").await?;
//! // From another task, or after a timeout:
//! controls.interrupt().await?;
//! let answer = client.answer().await;
//! # drop(answer);
//! client.close().await?;
//! # Ok::<(), tillerman::Error>(())
//! # }).unwrap();
//! ```
