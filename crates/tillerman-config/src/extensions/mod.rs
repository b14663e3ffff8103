//! What files add to a session: memory, agents, skills, commands, output styles, plugins.

mod origin;
mod places;
mod problem;

mod catalog;

mod agents;
mod skills;
mod styles;

mod marketplaces;
mod plugins;

mod template;
mod words;

mod memory;

mod frontmatter;
mod tree;

pub use agents::AgentFile;
pub use catalog::{Extensions, LISTING_BUDGET, listing};
pub use marketplaces::enabled_plugins;
pub(crate) use marketplaces::led_to;
pub use memory::{LoadedFile, Memory, MemoryFile, MemoryKind, Surroundings};
pub use origin::{Origin, Trust};
pub use places::ExtensionPlaces;
pub use plugins::{Plugin, PluginFolder};
pub use problem::Problem;
pub use skills::{Audience, Skill, SkillKind};
pub use styles::{CodingInstructions, DEFAULT_STYLE, OutputStyle};
pub use template::{Arguments, Part, expand};
