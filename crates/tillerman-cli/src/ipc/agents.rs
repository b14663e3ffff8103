//! The agents of a desktop assistant: four that come with it, and the user's own as JSON.

use std::path::Path;

use tillerman_protocol::agent::AgentDefinition;

/// Files that are looked at.
const MOST: usize = 200;
/// The largest definition.
const LARGEST: u64 = 256 * 1024;

/// Each with its name, when it is to be used, and what it is told.
const BUILT_IN: [(&str, &str, &str); 4] = [
    (
        "researcher",
        "Finds things out: reads files and web pages and reports what they say, with sources.",
        "You research. Look at the sources yourself before you state something, name them, keep \
         apart what they say and what you conclude, and say what you could not find out. Change \
         nothing.",
    ),
    (
        "coder",
        "Writes, changes and explains code.",
        "You program. Read the code around a change first and follow its ways. Make the smallest \
         change that does the work, check it by running what there is to run, and report what you \
         changed and what you saw.",
    ),
    (
        "analyst",
        "Makes sense of data, logs and numbers.",
        "You analyze. Look at the data before you compute, check your numbers a second way, say \
         how sure you are, and lead with the answer. Change nothing.",
    ),
    (
        "file-ops",
        "Sorts, renames, moves and tidies files.",
        "You tidy files. List what is there first, say what you are about to do, never overwrite \
         or remove something without being told to, and report every file that changed.",
    ),
];

/// The agents, those left out that the user has a file for: Markdown files are found by every
/// session, and JSON files here.
pub(crate) fn find(config: &Path) -> Vec<AgentDefinition> {
    let folder = config.join("agents");
    let own = read(&folder);
    let has_file = |name: &str| {
        folder.join(format!("{name}.md")).exists() || own.iter().any(|agent| agent.name == name)
    };
    let built_in = BUILT_IN.iter().filter(|(name, ..)| !has_file(name));
    let mut agents: Vec<AgentDefinition> = built_in
        .map(|(name, description, prompt)| AgentDefinition {
            name: (*name).to_owned(),
            description: (*description).to_owned(),
            prompt: (*prompt).to_owned(),
            ..AgentDefinition::default()
        })
        .collect();
    agents.extend(own);
    agents
}

fn read(folder: &Path) -> Vec<AgentDefinition> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .take(MOST)
        .collect();
    files.sort();
    files.iter().filter_map(|file| read_one(file)).collect()
}

/// One agent; what is wrong with it is said on standard error.
fn read_one(file: &Path) -> Option<AgentDefinition> {
    let wrong = |why: &str| tracing::warn!("{} is not an agent: {why}", file.display());
    let metadata = std::fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        wrong("it is no file, or too large");
        return None;
    }
    let text = std::fs::read_to_string(file).map_err(|error| wrong(&error.to_string())).ok()?;
    let agent: AgentDefinition =
        serde_json::from_str(&text).map_err(|error| wrong(&error.to_string())).ok()?;
    let missing =
        [("name", &agent.name), ("description", &agent.description), ("prompt", &agent.prompt)];
    if let Some((field, _)) = missing.iter().find(|(_, value)| value.trim().is_empty()) {
        wrong(&format!("it has no {field}"));
        return None;
    }
    Some(agent)
}
