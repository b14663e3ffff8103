//! `tillerman reindex`: the host's database built anew from transcripts.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tillerman_assembly::StartFailure;
use tillerman_host::wire::Event;
use tillerman_host::{Reindexed, Retold, Store};
use tillerman_protocol::Moment;

use crate::environment;
use crate::serve::place;

/// Reads every transcript and has the database say what they say.
pub(crate) fn run(data_dir: Option<PathBuf>) -> Result<u8, StartFailure> {
    let environment = environment::capture();
    let data = place::data_directory(data_dir, &environment)?;
    let projects = environment.config_dir().join("projects");
    let store = Store::open(&data)
        .map_err(|error| StartFailure::usage(format!("Nothing was changed: {error}.")))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for transcript in transcripts(&projects) {
        let retold = retell(&transcript);
        let done = runtime.block_on(store.reindex(retold)).map_err(|error| {
            StartFailure::usage(format!("{}: {error}. Run it again.", transcript.display()))
        })?;
        let word = match done {
            Reindexed::Rebuilt => "rebuilt",
            Reindexed::Found => "found",
            Reindexed::Empty => "empty",
        };
        *counts.entry(word).or_default() += 1;
    }
    let counts: Vec<String> =
        counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let text = if counts.is_empty() { "no transcripts".to_owned() } else { counts.join(", ") };
    drop(writeln!(std::io::stdout(), "{}: {text}", projects.display()));
    Ok(0)
}

fn transcripts(projects: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(projects).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten());
    let mut paths: Vec<PathBuf> = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    paths.sort();
    paths
}

/// What a transcript says. Lines that nobody can read are passed over.
fn retell(path: &Path) -> Retold {
    let session_id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let mut retold = Retold { session_id: session_id.unwrap_or_default(), ..Retold::default() };
    let Ok(file) = std::fs::File::open(path) else { return retold };
    for line in BufReader::new(file).lines().map_while(Result::ok) {
        let Ok(entry) = serde_json::from_str::<Value>(&line) else { continue };
        if entry["isSidechain"] == true || entry["isMeta"] == true {
            continue;
        }
        if let Some(cwd) = entry["cwd"].as_str().filter(|_| retold.cwd.is_empty()) {
            cwd.clone_into(&mut retold.cwd);
        }
        match entry["type"].as_str().unwrap_or_default() {
            "user" | "assistant" => retold.events.extend(event_of(&entry)),
            "cost-state" => {
                let cost = entry["totalCostUSD"].as_f64().or(entry["total_cost_usd"].as_f64());
                retold.cost_usd = cost.unwrap_or(retold.cost_usd);
            }
            _ => {}
        }
    }
    retold
}

fn event_of(entry: &Value) -> Option<(Moment, Event)> {
    let at: Moment = serde_json::from_value(entry["timestamp"].clone()).ok()?;
    let content = &entry["message"]["content"];
    let is_result = content
        .as_array()
        .is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_result"));
    if entry["type"] == "user" && !is_result {
        let blocks = content.as_array().into_iter().flatten();
        let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        let text = content.as_str().map_or_else(|| texts.join("\n"), str::to_owned);
        let message_id = entry["uuid"].as_str().unwrap_or_default().to_owned();
        let (attachments, by) = (Vec::new(), "transcript".to_owned());
        let client_id = String::new();
        return Some((at, Event::User { message_id, text, attachments, by, client_id }));
    }
    let mut frame = Map::new();
    for (from, to) in [
        ("type", "type"),
        ("message", "message"),
        ("uuid", "uuid"),
        ("sessionId", "session_id"),
        ("timestamp", "timestamp"),
        ("toolUseResult", "tool_use_result"),
    ] {
        if let Some(value) = entry.get(from) {
            frame.insert(to.to_owned(), value.clone());
        }
    }
    frame.insert("parent_tool_use_id".to_owned(), Value::Null);
    Some((at, Event::Frame { frame: Value::Object(frame) }))
}
