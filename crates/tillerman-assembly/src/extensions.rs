//! Finding what files add to a session, and dressing the system prompt with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tillerman_config::extensions::{
    CodingInstructions, DEFAULT_STYLE, ExtensionPlaces, Extensions, LISTING_BUDGET, Memory,
    MemoryFile, MemoryKind, OutputStyle, PluginFolder, Problem, Surroundings, Trust,
    enabled_plugins,
};
use tillerman_config::{Layers, Places, Source, Standing};
use tillerman_ports::{Contents, MemoryNote};
use tillerman_protocol::SessionId;
use tillerman_runtime::SystemPrompt;

use crate::environment::Environment;
use crate::instructions;
use crate::library::{FileLibrary, Shelf};
use crate::order::SessionOrder;

#[cfg(target_os = "macos")]
const MANAGED_DIR: &str = "/Library/Application Support/ClaudeCode";
#[cfg(not(target_os = "macos"))]
const MANAGED_DIR: &str = "/etc/claude-code";

/// What files add to a session.
pub(crate) struct Extended {
    pub(crate) library: Arc<FileLibrary>,
    pub(crate) contents: Contents,
    memory: String,
    style: Option<OutputStyle>,
}

/// Where a session looks for extensions.
pub(crate) struct Ground<'a> {
    pub(crate) layers: &'a Layers,
    /// The working directory first, then those that the command line adds.
    pub(crate) directories: &'a [PathBuf],
    pub(crate) session: &'a SessionId,
}

/// Finds what files add to a session.
pub(crate) fn extend(
    order: &SessionOrder,
    environment: &Environment,
    ground: &Ground<'_>,
) -> Extended {
    let places = places(order, environment, ground);
    let memory = if environment.is_on("CLAUDE_CODE_DISABLE_CLAUDE_MDS") {
        Memory::default()
    } else {
        Memory::load(&places)
    };
    report(&memory.problems);
    let finder = PluginFinder::new(order, &places, ground.layers.standing().clone());
    let (folders, problems) = finder.find(ground.layers);
    let extensions = finder.load(&places, &folders, problems);
    report(&extensions.problems);
    let style = chosen_style(ground.layers, &extensions);
    let shelf = Shelf {
        style: style.as_ref().map_or(DEFAULT_STYLE, |style| &style.name).to_owned(),
        session: ground.session.to_string(),
        budget: environment.number("SLASH_COMMAND_TOOL_CHAR_BUDGET").unwrap_or(LISTING_BUDGET),
        runs_programs: !ground.layers.is_on("disableSkillShellExecution"),
        project_runs: ground.layers.runs(Source::Project),
        surroundings: Surroundings::new(places.clone(), &memory),
        memory_files: memory.files.iter().map(note).collect(),
        places,
        finder,
    };
    let library = Arc::new(FileLibrary::new(shelf, extensions));
    Extended { contents: library.contents(), library, memory: memory.text(), style }
}

fn note(file: &MemoryFile) -> MemoryNote {
    let kind = match file.kind {
        MemoryKind::Managed => "Managed",
        MemoryKind::User => "User",
        MemoryKind::Project => "Project",
        MemoryKind::Local => "Local",
    };
    MemoryNote { path: file.path.clone(), kind, bytes: file.shown().len() as u64 }
}

impl Extended {
    /// Adds memory to a system prompt, and the output style where the prompt is our own.
    pub(crate) fn dress(&self, prompt: &mut SystemPrompt) {
        prompt.memory.clone_from(&self.memory);
        let Some(style) = &self.style else { return };
        if prompt.base != instructions::CODING {
            return;
        }
        let is_trusted = style.origin.trust() == Trust::Trusted;
        if style.coding == CodingInstructions::Replaced && is_trusted {
            instructions::GENERAL.clone_into(&mut prompt.base);
        }
        let text = &style.text;
        prompt.base.push_str(&format!("\n\nOutput style: {}\n{text}", style.name));
    }
}

fn places(order: &SessionOrder, environment: &Environment, ground: &Ground<'_>) -> ExtensionPlaces {
    let (cwd, added) = match ground.directories {
        [cwd, more @ ..] => (cwd.clone(), more),
        [] => (PathBuf::new(), &[][..]),
    };
    // Directories that only settings name are for files, not for what steers the agent.
    let added = added.iter().take(order.session.directories.len()).cloned().collect();
    ExtensionPlaces {
        config_dir: environment.config_dir(),
        home: environment.get("HOME").map(PathBuf::from),
        cwd,
        managed_dir: Some(PathBuf::from(MANAGED_DIR)).filter(|path| path.is_dir()),
        added,
        sources: ground.layers.sources().to_vec(),
        trust: if ground.layers.standing().loosens(Source::Project) {
            Trust::Trusted
        } else {
            Trust::Untrusted
        },
        memory_excludes: ground.layers.own_texts("claudeMdExcludes"),
    }
}

fn chosen_style(layers: &Layers, extensions: &Extensions) -> Option<OutputStyle> {
    let name = layers.strongest(|settings| settings.output_style.clone())?;
    if name.eq_ignore_ascii_case(DEFAULT_STYLE) {
        return None;
    }
    let found = extensions.style(&name).cloned();
    if found.is_none() {
        tracing::warn!("there is no output style {name}; the default one is used");
    }
    found
}

pub(crate) fn report(problems: &[Problem]) {
    for problem in problems {
        tracing::warn!("{problem}");
    }
}

/// Finds the folders of plugins, now and again.
#[derive(Debug)]
pub(crate) struct PluginFinder {
    named: Vec<PluginFolder>,
    /// Folders whose MCP servers are not wanted.
    without_servers: Vec<PathBuf>,
    places: Places,
    /// How far the settings of the repository are believed.
    standing: Standing,
    trust: Trust,
    commands: Commands,
}

/// Whether commands and skills are wanted at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Commands {
    Wanted,
    Unwanted,
}

impl PluginFinder {
    fn new(order: &SessionOrder, places: &ExtensionPlaces, standing: Standing) -> Self {
        let flags = &order.extension;
        let folder = |path: &PathBuf| PluginFolder {
            root: places.cwd.join(path),
            marketplace: "inline".to_owned(),
            trust: Trust::Trusted,
        };
        let without: Vec<PluginFolder> = flags.plugins_without_servers.iter().map(folder).collect();
        let real = |folder: &PluginFolder| folder.root.canonicalize().ok();
        Self {
            without_servers: without.iter().filter_map(real).collect(),
            named: flags.plugins.iter().map(folder).chain(without).collect(),
            places: Places::new(places.config_dir.clone(), places.cwd.clone()),
            standing,
            trust: places.trust,
            commands: if flags.disable_slash_commands {
                Commands::Unwanted
            } else {
                Commands::Wanted
            },
        }
    }

    fn find(&self, layers: &Layers) -> (Vec<PluginFolder>, Vec<Problem>) {
        let (enabled, problems) =
            enabled_plugins(layers, &self.places.config_dir, &self.places.cwd, self.trust);
        (self.named.iter().cloned().chain(enabled).collect(), problems)
    }

    fn load(
        &self,
        places: &ExtensionPlaces,
        folders: &[PluginFolder],
        problems: Vec<Problem>,
    ) -> Extensions {
        let mut extensions = Extensions::load(places, folders);
        extensions.problems.extend(problems);
        let unwanted = |root: &Path| self.without_servers.iter().any(|held| held == root);
        for plugin in extensions.plugins.iter_mut().filter(|plugin| unwanted(&plugin.root)) {
            plugin.mcp_servers.clear();
        }
        if self.commands == Commands::Unwanted {
            extensions.skills.clear();
        }
        extensions
    }

    /// Reads settings, plugins and all other extensions again.
    pub(crate) fn load_again(&self, places: &ExtensionPlaces) -> Extensions {
        let layers = Layers::load(&self.places, &places.sources);
        let layers = layers.in_effect(self.standing.clone());
        let (folders, problems) = self.find(&layers);
        self.load(places, &folders, problems)
    }
}
