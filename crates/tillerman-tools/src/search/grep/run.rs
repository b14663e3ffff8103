//! Searching a tree with all processors.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink};
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use ignore::{DirEntry, WalkBuilder, WalkState};

use super::collect::{AnyMatch, MatchCount, MatchLines};
use super::params::{Mode, NAME, Numbers, Params};
use crate::search::bounds::{Brake, Braked, Foremost};
use crate::search::place::{ByChange, Place, is_version_control};

/// What is kept at most when no limit is asked for.
const MOST_KEPT: usize = 100_000;
/// What one file may take in memory, which matters for long lines and patterns that span lines.
const FILE_BYTES: usize = 256 << 20;

/// What a search found.
#[derive(Debug)]
pub(super) struct Found {
    /// The first lines or files in their order, as many as were asked for with the offset.
    pub(super) entries: Vec<String>,
    /// How many lines or files there are.
    pub(super) total: usize,
    /// How many files have matches.
    pub(super) files: usize,
    /// How many lines match, where they were counted.
    pub(super) matches: u64,
}

/// Searches the place.
///
/// # Errors
/// A text for the model when the pattern, a glob or the type makes no sense.
pub(super) fn search(params: &Params, place: &Place, brake: &Brake<'_>) -> Result<Found, String> {
    let matcher = matcher(params)?;
    let walker = walker(params, place)?;
    let most = params.limit.unwrap_or(MOST_KEPT).saturating_add(params.offset).min(MOST_KEPT);
    let results = Mutex::new(Results::new(most));
    walker.build_parallel().run(|| {
        let matcher = matcher.clone();
        let mut worker = Worker { params, place, brake, matcher, searcher: searcher(params) };
        let results = &results;
        Box::new(move |entry| {
            if brake.is_pulled() {
                return WalkState::Quit;
            }
            // What cannot be entered or read is left out, as every search does.
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
            {
                worker.look_into(&entry, most, results);
            }
            WalkState::Continue
        })
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(results.into_found(params.mode, place))
}

fn matcher(params: &Params) -> Result<RegexMatcher, String> {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).case_insensitive(params.ignore_case);
    if params.multiline {
        builder.dot_matches_new_line(true);
    } else {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&params.pattern).map_err(|error| {
        let hint = if params.multiline || !error.to_string().contains("not allowed") {
            "Characters such as ( [ { . * + ? need a backslash to stand for themselves."
        } else {
            "Set multiline to match across line ends."
        };
        format!("{NAME}: the pattern is not a valid regular expression: {error}\n{hint}")
    })
}

fn searcher(params: &Params) -> Searcher {
    let mut builder = SearcherBuilder::new();
    builder
        .binary_detection(BinaryDetection::quit(0))
        .multi_line(params.multiline)
        .heap_limit(Some(FILE_BYTES))
        .line_number(params.mode == Mode::Content && params.lines.numbers == Numbers::Shown);
    if params.mode == Mode::Content {
        builder.before_context(params.lines.before).after_context(params.lines.after);
    }
    builder.build()
}

fn walker(params: &Params, place: &Place) -> Result<WalkBuilder, String> {
    let root = &place.root;
    let mut builder = WalkBuilder::new(root);
    let passes = place.passes();
    builder
        .hidden(false)
        .follow_links(false)
        .filter_entry(move |entry| !is_version_control(entry) && passes(entry));
    if !params.globs.is_empty() {
        let mut globs = OverrideBuilder::new(root);
        for glob in &params.globs {
            globs
                .add(glob)
                .map_err(|error| format!("{NAME}: the glob {glob} is not valid: {error}."))?;
        }
        let globs =
            globs.build().map_err(|error| format!("{NAME}: glob is not valid: {error}."))?;
        builder.overrides(globs);
    }
    if let Some(file_type) = &params.file_type {
        let types = TypesBuilder::new().add_defaults().select(file_type).build();
        builder.types(types.map_err(|_| {
            format!("{NAME}: there is no file type {file_type}; use glob, for example \"*.{file_type}\".")
        })?);
    }
    Ok(builder)
}

/// One thread's part of the search.
struct Worker<'a> {
    params: &'a Params,
    place: &'a Place,
    brake: &'a Brake<'a>,
    matcher: RegexMatcher,
    searcher: Searcher,
}

impl Worker<'_> {
    fn look_into(&mut self, entry: &DirEntry, most: usize, results: &Mutex<Results>) {
        let path = entry.path();
        match self.params.mode {
            Mode::Files => {
                let mut sink = AnyMatch::default();
                self.search(path, &mut sink);
                if sink.found {
                    let file = ByChange::new(path.to_path_buf());
                    lock(results).add_file(file);
                }
            }
            Mode::Count => {
                let mut sink = MatchCount::default();
                self.search(path, &mut sink);
                if sink.of_text() > 0 {
                    let line = format!("{}:{}", self.place.name(path), sink.of_text());
                    lock(results).add_lines(path, vec![line], 1, sink.of_text());
                }
            }
            Mode::Content => {
                let name = self.place.name(path);
                let matcher = self.matcher.clone();
                let mut sink = MatchLines::new(&matcher, &self.params.lines, &name, most);
                self.search(path, &mut sink);
                if let Some((lines, total)) = sink.into_lines() {
                    lock(results).add_lines(path, lines, total, 0);
                }
            }
        }
    }

    fn search(&mut self, path: &Path, sink: impl Sink) {
        let Ok(source) = File::open(path) else { return };
        let source = Braked { source, brake: self.brake };
        // A file that cannot be read to its end keeps what was found in it.
        self.searcher.search_reader(&self.matcher, source, sink).ok();
    }
}

fn lock(results: &Mutex<Results>) -> MutexGuard<'_, Results> {
    results.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was found so far; never much more than what will be shown.
struct Results {
    most: usize,
    newest: Foremost<ByChange>,
    lines: BTreeMap<PathBuf, Vec<String>>,
    kept: usize,
    total: usize,
    files: usize,
    matches: u64,
}

impl Results {
    fn new(most: usize) -> Self {
        Self {
            most,
            newest: Foremost::new(most),
            lines: BTreeMap::new(),
            kept: 0,
            total: 0,
            files: 0,
            matches: 0,
        }
    }

    fn add_file(&mut self, file: ByChange) {
        self.newest.push(file);
        self.files += 1;
    }

    /// Takes in the lines of a file and drops the last files that are not needed any more.
    fn add_lines(&mut self, path: &Path, lines: Vec<String>, total: usize, matches: u64) {
        self.files += 1;
        self.total += total;
        self.matches += matches;
        self.kept += lines.len();
        self.lines.insert(path.to_path_buf(), lines);
        while let Some(last) = self.lines.last_entry() {
            if self.kept - last.get().len() < self.most {
                break;
            }
            self.kept -= last.remove().len();
        }
    }

    fn into_found(self, mode: Mode, place: &Place) -> Found {
        let (entries, total) = match mode {
            Mode::Files => {
                let total = self.newest.total();
                let files = self.newest.into_sorted();
                (files.iter().map(|file| place.name(&file.path)).collect(), total)
            }
            Mode::Content | Mode::Count => {
                (self.lines.into_values().flatten().collect(), self.total)
            }
        };
        Found { entries, total, files: self.files, matches: self.matches }
    }
}
