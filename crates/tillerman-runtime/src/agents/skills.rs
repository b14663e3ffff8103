//! Skills that an agent knows from the start, because its definition names them.

use tillerman_ports::{InvocationPart, Library};
use tillerman_protocol::agent::AgentDefinition;

/// A skill is cut behind so many characters, so that a prompt stays a prompt.
const MOST_CHARACTERS: usize = 20_000;

/// The prompt of an agent, with the skills that its definition names.
pub(crate) fn with_skills(library: Option<&dyn Library>, definition: &AgentDefinition) -> String {
    let mut prompt = definition.prompt.clone();
    for name in definition.skills.iter().flatten() {
        let text = match library {
            Some(library) => text_of(library, name),
            None => Err("this session has no skills".to_owned()),
        };
        prompt.push_str(&match text {
            Ok(text) => format!("\n\n# Skill: {name}\n\n{text}"),
            Err(reason) => {
                tracing::warn!(agent = definition.name, skill = name, "left out: {reason}");
                format!("\n\nThe skill {name} could not be read and is missing: {reason}")
            }
        });
    }
    prompt
}

/// The words of a skill. Programs in it are not run before the agent has begun; it sees them as
/// they are written and can run them itself, under its own rules.
fn text_of(library: &dyn Library, name: &str) -> Result<String, String> {
    let invocation = library.skill(name, "")?;
    let words = invocation.parts.into_iter().map(|part| match part {
        InvocationPart::Text(text) => text,
        InvocationPart::Program(command) => format!("`{command}`"),
        InvocationPart::File(path) => format!("@{path}"),
    });
    Ok(words.collect::<String>().chars().take(MOST_CHARACTERS).collect())
}
