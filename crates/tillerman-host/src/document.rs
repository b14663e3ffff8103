//! Projects, personas, skills and agents: what they have in common as things that people keep.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::compose;
use crate::store::Kind;
use crate::wire::{Agent, Persona, Project, Skill};

/// The longest text of a persona, a skill or an agent.
const LONGEST_TEXT: usize = 200_000;

/// What is wrong with a document, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) field: &'static str,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }
}

/// Something that is kept under a name.
pub(crate) trait Document:
    Serialize + DeserializeOwned + JsonSchema + Clone + Send + Sync + 'static
{
    const KIND: Kind;
    /// The name of a list of them on the wire, and of the directory with their files.
    const PLURAL: &'static str;

    fn set_id(&mut self, id: String);
    fn name(&self) -> &str;
    fn set_name(&mut self, name: String);
    /// The file it is read from.
    fn source(&self) -> Option<&str>;
    fn set_source(&mut self, source: Option<String>);
    /// Takes what stands below the head of its file.
    fn set_text(&mut self, text: String);
    /// What is wrong with it.
    fn check(&self) -> Result<(), Fault>;
}

/// The parts of a document that all of them have alike.
macro_rules! common_parts {
    ($text:ident) => {
        fn set_id(&mut self, id: String) {
            self.id = id;
        }

        fn name(&self) -> &str {
            &self.name
        }

        fn set_name(&mut self, name: String) {
            self.name = name;
        }

        fn source(&self) -> Option<&str> {
            self.source.as_deref()
        }

        fn set_source(&mut self, source: Option<String>) {
            self.source = source;
        }

        fn set_text(&mut self, text: String) {
            self.$text = text;
        }
    };
}

impl Document for Project {
    const KIND: Kind = Kind::Project;
    const PLURAL: &'static str = "projects";

    common_parts!(additional_prompt);

    fn check(&self) -> Result<(), Fault> {
        compose::check(self)
    }
}

impl Document for Persona {
    const KIND: Kind = Kind::Persona;
    const PLURAL: &'static str = "personas";

    common_parts!(text);

    fn check(&self) -> Result<(), Fault> {
        check_text(&self.name, &self.text)
    }
}

impl Document for Skill {
    const KIND: Kind = Kind::Skill;
    const PLURAL: &'static str = "skills";

    common_parts!(text);

    fn check(&self) -> Result<(), Fault> {
        check_text(&self.name, &self.text)
    }
}

impl Document for Agent {
    const KIND: Kind = Kind::Agent;
    const PLURAL: &'static str = "agents";

    common_parts!(prompt);

    fn check(&self) -> Result<(), Fault> {
        check_text(&self.name, &self.prompt)?;
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if self.name.len() > 64 || !self.name.chars().all(fits) {
            let text = "The name of an agent has up to 64 letters, digits, dashes and underscores, \
                        since others call it by it.";
            return Err(Fault::new("name", text));
        }
        if self.description.trim().is_empty() {
            let text = "An agent needs a description: others decide by it when to call it.";
            return Err(Fault::new("description", text));
        }
        if self.prompt.trim().is_empty() {
            return Err(Fault::new("prompt", "An agent needs a text that says what it does."));
        }
        Ok(())
    }
}

fn check_text(name: &str, text: &str) -> Result<(), Fault> {
    if name.trim().is_empty() {
        return Err(Fault::new("name", "It needs a name."));
    }
    if text.len() > LONGEST_TEXT {
        return Err(Fault::new("text", "The text is too long."));
    }
    Ok(())
}
