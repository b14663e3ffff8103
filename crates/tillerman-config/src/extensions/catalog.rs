//! Everything that files add to a session, by kind.

use crate::extensions::agents::{self, AgentFile};
use crate::extensions::origin::Home;
use crate::extensions::places::{ExtensionPlaces, Order};
use crate::extensions::plugins::{self, Plugin, PluginFolder};
use crate::extensions::problem::Problem;
use crate::extensions::skills::{self, Audience, Skill};
use crate::extensions::styles::{self, OutputStyle};

/// How much of a list of skills models are shown, in characters.
pub const LISTING_BUDGET: usize = 8_000;

/// Everything that files add to a session.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// Plugins that are in use.
    pub plugins: Vec<Plugin>,
    /// Skills and commands; names are unique.
    pub skills: Vec<Skill>,
    /// Subagents; names are unique.
    pub agents: Vec<AgentFile>,
    /// Output styles; names are unique.
    pub styles: Vec<OutputStyle>,
    /// What could not be used, and why.
    pub problems: Vec<Problem>,
}

impl Extensions {
    /// Looks at all places. Only heads of files are kept; texts are read when they are due.
    #[must_use]
    pub fn load(places: &ExtensionPlaces, folders: &[PluginFolder]) -> Self {
        let mut problems = Vec::new();
        let mut in_use: Vec<Plugin> = Vec::new();
        for folder in folders {
            match plugins::read(folder, &mut problems) {
                Ok(plugin) if in_use.iter().any(|held| held.name == plugin.name) => {
                    let reason = format!("another plugin is called {} and counts", plugin.name);
                    problems.push(Problem::new(&plugin.root, reason));
                }
                Ok(plugin) => in_use.push(plugin),
                Err(problem) => problems.push(problem),
            }
        }
        let homes = |kind: &str, order, of_plugins: Vec<Home>| {
            let mut homes = places.homes(kind, order);
            homes.extend(of_plugins);
            homes
        };
        let of_plugins = |kind: fn(&plugins::Folders) -> &Vec<std::path::PathBuf>| -> Vec<Home> {
            in_use.iter().flat_map(|plugin| plugin.homes(kind)).collect()
        };
        let mut found = Vec::new();
        let skill_homes = homes("skills", Order::UserFirst, of_plugins(|it| &it.skills));
        skills::load_skills(&skill_homes, &mut problems, &mut found);
        for plugin in &in_use {
            let home = plugin.home(plugin.root.clone());
            skills::load_single(&home, &plugin.name, &mut problems, &mut found);
        }
        let command_homes = homes("commands", Order::UserFirst, of_plugins(|it| &it.commands));
        skills::load_commands(&command_homes, &mut problems, &mut found);
        let agent_homes = homes("agents", Order::ProjectFirst, of_plugins(|it| &it.agents));
        let style_homes = homes("output-styles", Order::ProjectFirst, of_plugins(|it| &it.styles));
        Self {
            skills: found,
            agents: agents::load(&agent_homes, &mut problems),
            styles: styles::load(&style_homes, &mut problems),
            plugins: in_use,
            problems,
        }
    }

    /// The skill or command of a name. Its last part is enough where only one has it.
    #[must_use]
    pub fn skill(&self, name: &str) -> Option<&Skill> {
        let exact = self.skills.iter().find(|skill| skill.name == name);
        exact.or_else(|| {
            let is_last =
                |skill: &&Skill| skill.name.rsplit(':').next() == Some(name) && skill.name != name;
            let mut fitting = self.skills.iter().filter(is_last);
            let first = fitting.next()?;
            fitting.next().is_none().then_some(first)
        })
    }

    /// The output style of a name, whatever its case.
    #[must_use]
    pub fn style(&self, name: &str) -> Option<&OutputStyle> {
        self.styles.iter().find(|style| style.name.eq_ignore_ascii_case(name))
    }

    /// The skills that the model may ask for.
    pub fn for_the_model(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.audience != Audience::People)
    }

    /// The skills and commands that people may ask for.
    pub fn for_people(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.audience != Audience::Model)
    }
}

/// The lines that tell the model of skills, within a budget of characters. When descriptions do not
/// fit they become shorter for all alike; names are told as long as any fits.
#[must_use]
pub fn listing<'a>(skills: impl IntoIterator<Item = &'a Skill>, budget: usize) -> String {
    let skills: Vec<&Skill> = skills.into_iter().collect();
    let names: usize = skills.iter().map(|skill| skill.name.len() + 5).sum();
    let share = budget.saturating_sub(names) / skills.len().max(1);
    let mut text = String::new();
    for (at, skill) in skills.iter().enumerate() {
        let line = line(skill, share);
        if text.len() + line.len() > budget {
            let left = skills.len() - at;
            text.push_str(&format!("and {left} more, which /help lists\n"));
            break;
        }
        text.push_str(&line);
    }
    text
}

fn line(skill: &Skill, share: usize) -> String {
    let one_line = skill.description.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.is_empty() {
        return format!("- {}\n", skill.name);
    }
    if one_line.len() <= share {
        return format!("- {}: {one_line}\n", skill.name);
    }
    let room = share.saturating_sub('…'.len_utf8());
    let end = (0..=room).rev().find(|at| one_line.is_char_boundary(*at)).unwrap_or(0);
    let mut short = one_line[..end].to_owned();
    if short.is_empty() {
        return format!("- {}\n", skill.name);
    }
    short.push('…');
    format!("- {}: {short}\n", skill.name)
}
