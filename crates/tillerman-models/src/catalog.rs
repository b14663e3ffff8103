//! The models Tillerman knows: windows, limits, prices and aliases, in one table.

use tillerman_protocol::catalog::{Catalog, ModelProfile, Price};

/// The model that answers when nobody chose one.
pub const DEFAULT_MODEL: &str = "claude-sonnet-4-5";

/// One line of the table. Prices are dollars per million tokens.
struct Row {
    id: &'static str,
    name: &'static str,
    about: &'static str,
    max_output: u64,
    input: f64,
    output: f64,
}

const fn row(
    id: &'static str,
    name: &'static str,
    about: &'static str,
    max_output: u64,
    (input, output): (f64, f64),
) -> Row {
    Row { id, name, about, max_output, input, output }
}

const WINDOW: u64 = 200_000;

/// Ids are prefixes and the longest match wins. The last rows are fallbacks, so that a model newer
/// than this table still has a price; that is why the first Opus 4 models are listed by their full
/// names: a bare `claude-opus-4` would lend its price to every later Opus 4.
#[rustfmt::skip]
const MODELS: [Row; 15] = [
    row("claude-opus-4-6",    "Claude Opus 4.6",   "For the hardest work",             64_000, (5.0, 25.0)),
    row("claude-opus-4-5",    "Claude Opus 4.5",   "For hard work",                    64_000, (5.0, 25.0)),
    row("claude-sonnet-4-5",  "Claude Sonnet 4.5", "For everyday work",                64_000, (3.0, 15.0)),
    row("claude-haiku-4-5",   "Claude Haiku 4.5",  "For quick, simple work",           64_000, (1.0, 5.0)),
    row("claude-opus-4-1",    "Claude Opus 4.1",   "An earlier Opus",                  32_000, (15.0, 75.0)),
    row("claude-opus-4-0",    "Claude Opus 4",     "An earlier Opus",                  32_000, (15.0, 75.0)),
    row("claude-opus-4-2025", "Claude Opus 4",     "An earlier Opus, by date",         32_000, (15.0, 75.0)),
    row("claude-sonnet-4",    "Claude Sonnet 4",   "An earlier Sonnet",                64_000, (3.0, 15.0)),
    row("claude-3-5-haiku",   "Claude Haiku 3.5",  "An earlier Haiku",                  8_192, (0.8, 4.0)),
    row("claude-3-haiku",     "Claude Haiku 3",    "An early Haiku",                    4_096, (0.25, 1.25)),
    row("claude-opus",        "Claude Opus",       "Any other Opus",                   64_000, (5.0, 25.0)),
    row("claude-sonnet",      "Claude Sonnet",     "Any other Sonnet",                 64_000, (3.0, 15.0)),
    row("claude-haiku",       "Claude Haiku",      "Any other Haiku",                  64_000, (1.0, 5.0)),
    row("claude",             "Claude",            "Any other Claude model",           32_000, (3.0, 15.0)),
    row("rehearsal",          "Rehearsal",         "Offline and free: no model at all", 8_192, (0.0, 0.0)),
];

const ALIASES: [(&str, &str); 7] = [
    ("default", DEFAULT_MODEL),
    ("best", "claude-opus-4-6"),
    ("opus", "claude-opus-4-6"),
    ("sonnet", "claude-sonnet-4-5"),
    ("haiku", "claude-haiku-4-5"),
    ("sonnet[1m]", "claude-sonnet-4-5[1m]"),
    ("opus[1m]", "claude-opus-4-6[1m]"),
];

/// Everything that is known about models.
#[must_use]
pub fn catalog() -> Catalog {
    let aliases = ALIASES.map(|(alias, id)| (alias.to_owned(), id.to_owned()));
    Catalog { models: MODELS.iter().map(profile).collect(), aliases: aliases.to_vec() }
}

fn profile(row: &Row) -> ModelProfile {
    ModelProfile {
        id: row.id.to_owned(),
        display_name: row.name.to_owned(),
        description: row.about.to_owned(),
        context_window: WINDOW,
        max_output_tokens: row.max_output,
        price: Price {
            input: row.input,
            output: row.output,
            cache_read: row.input * 0.1,
            cache_write: row.input * 1.25,
        },
    }
}
