//! Golden transcripts: sessions told as text, played against the engine and compared as a whole.
//!
//! `#` says what is proved, `!` sets the session up, `>` is an input and `<` an effect.
//! `UPDATE_GOLDEN=1` rewrites the effects. A few effects that belong together share a line:
//! `record` is an entry that is appended and then shown as a frame, `store` is the end of a round
//! (costs and last prompt appended, transcript synchronised). `call-model` shows what a request
//! adds to the one before it. `> restart` ends the process and goes on from what it appended,
//! `> clock` says which second it is from then on.

mod audit;
mod effects;
mod frames;
mod inputs;
mod names;
mod notation;
mod said;
mod setup;
mod streams;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use similar::TextDiff;
use tillerman_engine::{Effect, Input, Restored, Session, SessionConfig, restore};
use tillerman_protocol::Moment;

use audit::Audit;
use effects::Renderer;
use names::Names;
use streams::Streams;

#[test]
fn transcripts_play_as_written() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut failures = Vec::new();
    let paths = transcripts();
    assert!(paths.len() > 50, "the transcripts are gone");
    for path in paths {
        let written = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(played) = catch_unwind(AssertUnwindSafe(|| play(&written))) else {
            failures.push(format!("{name}: broke an invariant, see the panic above"));
            continue;
        };
        if played == written {
            continue;
        }
        if update {
            fs::write(&path, played).unwrap();
        } else {
            failures.push(format!("{name}:\n{}", difference(&written, &played)));
        }
    }
    assert!(
        failures.is_empty(),
        "{} transcripts differ; UPDATE_GOLDEN=1 accepts the effects as they are now\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn difference(written: &str, played: &str) -> String {
    let diff = TextDiff::from_lines(written, played);
    diff.unified_diff().context_radius(2).header("written", "played").to_string()
}

/// The transcript with the effects that the engine has now.
fn play(written: &str) -> String {
    let mut stage: Option<Stage> = None;
    let mut config = setup::usual();
    let mut played = String::new();
    assert!(written.starts_with("# "), "the first line says what is proved");
    for line in written.lines().filter(|line| !line.starts_with('<')) {
        played.push_str(line);
        played.push('\n');
        if let Some(line) = line.strip_prefix("! ") {
            assert!(stage.is_none(), "a session is set up before it hears anything");
            setup::apply(&mut config, line);
        } else if let Some(line) = line.strip_prefix("> ") {
            let stage = stage.get_or_insert_with(|| Stage::new(config.clone()));
            for effect in stage.play(line) {
                played.push_str("< ");
                played.push_str(&effect);
                played.push('\n');
            }
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "not a line: {line}");
        }
    }
    played
}

/// So many seconds after the session was set up.
fn moment(seconds: i64) -> Moment {
    Moment::from_millis(seconds * 1000)
}

/// A session and everybody around it.
struct Stage {
    now: Moment,
    session: Session,
    config: SessionConfig,
    names: Names,
    streams: Streams,
    renderer: Renderer,
    audit: Audit,
}

impl Stage {
    fn new(config: SessionConfig) -> Self {
        Self {
            now: moment(0),
            session: Session::new(config.clone(), Restored::default()),
            config,
            names: Names::new(),
            streams: Streams::default(),
            renderer: Renderer::default(),
            audit: Audit::default(),
        }
    }

    fn play(&mut self, line: &str) -> Vec<String> {
        if line == "restart" {
            self.restart();
            return Vec::new();
        }
        if let Some(seconds) = line.strip_prefix("clock ") {
            self.now = moment(seconds.parse().unwrap());
            return Vec::new();
        }
        let inputs = inputs::read(line, &self.names, &mut self.streams);
        let effects: Vec<Effect> = inputs.into_iter().flat_map(|input| self.step(input)).collect();
        self.renderer.lines(&effects, &mut self.names)
    }

    fn step(&mut self, input: Input) -> Vec<Effect> {
        self.audit.heard(&input);
        let effects = self.session.step(self.now, input);
        self.audit.wanted(&effects);
        self.audit.rested(&self.session);
        for effect in &effects {
            if let Effect::CallModel { response, request } = effect {
                let name = self.names.response(*response);
                self.streams.requested(&name, &request.model);
            }
        }
        effects
    }

    fn restart(&mut self) {
        self.names.restart();
        self.audit.restart();
        self.config.seed[0] += 1000;
        let restored = restore(self.audit.entries());
        self.session = Session::new(self.config.clone(), restored);
    }
}
