//! Answers the agent's questions.
//!
//! The tool AskUserQuestion exists once somebody can answer it. Here a program does, in place of a
//! person.
//!
//! ```
//! use tillerman::callback::QuestionsAnswer;
//! use tillerman::{Options, prompt};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> tillerman::Result<()> {
//!     let options = Options::new().model("rehearsal").no_session_persistence().on_question(
//!         async |asked| {
//!             let mut answer = QuestionsAnswer::new();
//!             for question in &asked.questions {
//!                 let first = question.options.first().map(|it| it.label.clone());
//!                 answer = answer.answer(question, first.unwrap_or_else(|| "yes".to_owned()));
//!             }
//!             answer
//!         },
//!     );
//!     println!("{}", prompt("ask me which color I like", options).await?.text);
//!     Ok(())
//! }
//! ```
