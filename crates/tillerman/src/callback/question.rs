//! Questions of the agent to the person (the tool AskUserQuestion).

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Questions that the agent wants answered before it goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Questions {
    /// The questions, at most four.
    #[serde(default)]
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Question {
    /// The question.
    pub question: String,
    /// A word or two for a heading.
    pub header: String,
    /// What can be chosen.
    pub options: Vec<Choice>,
    /// Whether more than one may be chosen.
    pub multi_select: bool,
}

/// Something that can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Choice {
    /// What it is called.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// The person's answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct QuestionsAnswer {
    answers: Vec<(String, String)>,
    declined: Option<String>,
}

impl QuestionsAnswer {
    /// No answers yet; questions that get none count as left open.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers a question with one of its choices or with words of the person's own.
    pub fn answer(mut self, question: &Question, answer: impl Into<String>) -> Self {
        self.answers.push((question.question.clone(), answer.into()));
        self
    }

    /// The person does not want to answer, and this is what the agent is told.
    pub fn decline(why: impl Into<String>) -> Self {
        Self { answers: Vec::new(), declined: Some(why.into()) }
    }

    /// The input of the call with the answers in it, or why there are none.
    pub(crate) fn into_input(self, mut input: Value) -> Result<Value, String> {
        if let Some(why) = self.declined {
            return Err(why);
        }
        let answers: Map<String, Value> =
            self.answers.into_iter().map(|(question, answer)| (question, json!(answer))).collect();
        if let Some(fields) = input.as_object_mut() {
            fields.insert("answers".to_owned(), Value::Object(answers));
        }
        Ok(input)
    }
}
