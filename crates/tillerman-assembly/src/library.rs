//! Commands, skills and memory of files, as a session asks for them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tillerman_config::extensions::{
    AgentFile, Arguments, Audience, DEFAULT_STYLE, ExtensionPlaces, Extensions, LoadedFile, Origin,
    Part, Plugin, Problem, Skill, SkillKind, Surroundings, Trust, expand, listing,
};
use tillerman_engine::{ALIASES, COMMANDS};
use tillerman_ports::{
    Contents, Invocation, InvocationPart, Library, MemoryNote, Programs, Reading,
};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::frame::Init;
use tillerman_protocol::hook::{HookDetail, HookScope, HookSection, HookSource};
use tillerman_protocol::permission::PermissionMode;
use tillerman_tools::skill_spec;

use crate::extensions::{PluginFinder, report};
use crate::suggestion::nearest;

/// What a library is made with.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) places: ExtensionPlaces,
    pub(crate) finder: PluginFinder,
    pub(crate) surroundings: Surroundings,
    pub(crate) memory_files: Vec<MemoryNote>,
    pub(crate) session: String,
    /// The output style in use.
    pub(crate) style: String,
    /// How many characters the list of skills may have.
    pub(crate) budget: usize,
    pub(crate) runs_programs: bool,
    /// Whether what the repository brings may run, although it may loosen nothing.
    pub(crate) project_runs: bool,
}

/// The extensions of files.
#[derive(Debug)]
pub(crate) struct FileLibrary {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    shelf: Shelf,
    extensions: Extensions,
    /// The only skills that the host wants the model to have.
    only: Option<Vec<String>>,
}

impl FileLibrary {
    pub(crate) const fn new(shelf: Shelf, extensions: Extensions) -> Self {
        Self { state: Mutex::new(State { shelf, extensions, only: None }) }
    }

    /// What there is now.
    pub(crate) fn contents(&self) -> Contents {
        self.state().contents()
    }

    /// The agents that files define; those of a repository that may run nothing bring only words.
    pub(crate) fn agents(&self) -> Vec<AgentDefinition> {
        let state = self.state();
        let definition = |file: &AgentFile| {
            let mut definition = file.definition.clone();
            if !state.may_run(&file.origin) {
                definition.hooks = None;
                definition.mcp_servers = None;
                // A repository may tighten what a session may do, never loosen it.
                definition.permission_mode = definition
                    .permission_mode
                    .filter(|mode| matches!(mode, PermissionMode::Plan | PermissionMode::DontAsk));
            }
            definition
        };
        state.extensions.agents.iter().map(definition).collect()
    }

    /// The plugins whose hooks and servers may run.
    pub(crate) fn running_plugins(&self) -> Vec<Plugin> {
        let state = self.state();
        let runs = |plugin: &&Plugin| plugin.trust == Trust::Trusted || state.shelf.project_runs;
        state.extensions.plugins.iter().filter(runs).cloned().collect()
    }

    /// Agents and skills of files whose hooks and servers may not run.
    pub(crate) fn silenced(&self) -> Vec<String> {
        let state = self.state();
        let agents = state.extensions.agents.iter().filter(|file| {
            let runs = file.definition.hooks.is_some() || file.definition.mcp_servers.is_some();
            runs && !state.may_run(&file.origin)
        });
        let skills = state.extensions.skills.iter();
        let skills = skills.filter(|it| it.hooks.is_some() && !state.may_run(&it.origin));
        let paths = agents.map(|file| &file.path).chain(skills.map(|skill| &skill.path));
        let cwd = &state.shelf.places.cwd;
        paths.map(|path| path.strip_prefix(cwd).unwrap_or(path).display().to_string()).collect()
    }

    /// The lines that tell the model of skills; empty when there are none.
    pub(crate) fn listing(&self) -> String {
        self.state().listing()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Library for FileLibrary {
    fn command(&self, prompt: &str) -> Reading {
        self.state().command(prompt)
    }

    fn skill(&self, name: &str, arguments: &str) -> Result<Invocation, String> {
        let state = self.state();
        let skill = state.model_skill(name)?;
        state.invoke(skill, arguments)
    }

    fn grants(&self, name: &str) -> Vec<String> {
        let state = self.state();
        state.model_skill(name.trim_start_matches('/')).map(grants).unwrap_or_default()
    }

    fn hooks(&self, name: &str) -> Option<HookSource> {
        let state = self.state();
        let skill = state.extensions.skill(name.trim_start_matches('/'))?;
        let section = skill.hooks.as_ref().filter(|_| state.may_run(&skill.origin))?;
        let section = HookSection::read(section.as_object()?);
        let variables = state.variables(skill).into_iter();
        let of_plugin = variables.filter(|(name, _)| *name == "CLAUDE_PLUGIN_ROOT");
        Some(HookSource {
            origin: format!("the skill {}", skill.name),
            scope: HookScope::Skill,
            section,
            variables: of_plugin.map(|(name, value)| (name.to_owned(), value)).collect(),
        })
    }

    fn memory_for(&self, path: &Path) -> Vec<String> {
        let surroundings = &mut self.state().shelf.surroundings;
        let texts = surroundings.memory_for(path);
        report(&surroundings.take_problems());
        texts
    }

    fn take_loaded(&self) -> Vec<HookDetail> {
        let loaded = self.state().shelf.surroundings.take_loaded();
        loaded.into_iter().map(told_to_hooks).collect()
    }

    fn memory_files(&self) -> Vec<MemoryNote> {
        self.state().shelf.memory_files.clone()
    }

    fn reload(&self) -> Contents {
        let mut state = self.state();
        state.extensions = state.shelf.finder.load_again(&state.shelf.places);
        report(&state.extensions.problems);
        state.contents()
    }

    fn limit_skills(&self, names: &[String]) -> Contents {
        let mut state = self.state();
        state.only = Some(names.to_vec());
        state.contents()
    }
}

impl State {
    /// Whether what comes from there may run things.
    fn may_run(&self, origin: &Origin) -> bool {
        origin.trust() == Trust::Trusted || self.shelf.project_runs
    }

    fn command(&self, prompt: &str) -> Reading {
        let words = prompt.trim().strip_prefix('/').unwrap_or_default();
        let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let is_name = |it: char| it.is_alphanumeric() || "-_.:".contains(it);
        let looks_like_one = name.starts_with(char::is_alphanumeric) && name.chars().all(is_name);
        if !looks_like_one || name.starts_with("mcp__") {
            return Reading::Plain;
        }
        if name == "help" {
            return Reading::Answer(self.help());
        }
        if COMMANDS.iter().any(|(known, _)| *known == name) {
            return Reading::Plain;
        }
        match self.extensions.skill(name) {
            Some(skill) if skill.audience == Audience::Model => {
                Reading::Answer(format!("/{name} is for the agent alone; ask for the work itself."))
            }
            Some(skill) => match self.invoke(skill, rest.trim()) {
                Ok(invocation) => Reading::Invocation(invocation),
                Err(reason) => Reading::Answer(reason),
            },
            // "/tmp is full" is about a folder.
            None if Path::new("/").join(name).exists() => Reading::Plain,
            None if ALIASES.iter().any(|(alias, _)| *alias == name) => Reading::Plain,
            // What nobody can have meant as a command is for the model to make sense of.
            None => self.mistyped(name).map_or(Reading::Plain, Reading::Answer),
        }
    }

    fn mistyped(&self, name: &str) -> Option<String> {
        let own = COMMANDS.iter().map(|(known, _)| *known);
        let added = self.extensions.for_people().map(|skill| skill.name.as_str());
        let meant = nearest(name, own.chain(added))?;
        Some(format!(
            "Unknown command: /{name}. Did you mean /{meant}? /help lists the commands that work \
             here."
        ))
    }

    fn help(&self) -> String {
        let own = COMMANDS.iter().map(|(name, about)| format!("/{name}: {about}"));
        let added = self.extensions.for_people().map(|skill| {
            let hint = if skill.argument_hint.is_empty() { "" } else { " " };
            let about = skill.description.lines().next().unwrap_or_default();
            let from = skill.origin.name();
            format!("/{}{hint}{}: {about} ({from})", skill.name, skill.argument_hint)
        });
        own.chain(added).collect::<Vec<_>>().join("\n")
    }

    /// A skill that the model may have.
    fn model_skill(&self, name: &str) -> Result<&Skill, String> {
        let known = self.extensions.skill(name.trim_start_matches('/'));
        let skill = known.filter(|skill| self.is_offered(skill)).ok_or_else(|| {
            let names: Vec<&str> = self.offered().map(|skill| skill.name.as_str()).collect();
            format!("There is no skill {name}. The skills are: {}.", names.join(", "))
        })?;
        match skill.audience {
            Audience::People => Err(format!("Only the user may start {name}: /{}.", skill.name)),
            Audience::Everybody | Audience::Model => Ok(skill),
        }
    }

    fn is_offered(&self, skill: &Skill) -> bool {
        self.only.as_ref().is_none_or(|names| {
            let last = skill.name.rsplit(':').next().unwrap_or_default();
            names.iter().any(|name| *name == skill.name || name == last)
        })
    }

    fn offered(&self) -> impl Iterator<Item = &Skill> {
        self.extensions.for_the_model().filter(|skill| self.is_offered(skill))
    }

    fn listing(&self) -> String {
        listing(self.offered(), self.shelf.budget)
    }

    fn invoke(&self, skill: &Skill, arguments: &str) -> Result<Invocation, String> {
        let body = skill.body().map_err(|problem| format!("/{}: {problem}", skill.name))?;
        let arguments = Arguments {
            text: arguments.to_owned(),
            names: skill.arguments.clone(),
            variables: self.variables(skill),
        };
        let mut parts: Vec<InvocationPart> =
            expand(&body, &arguments).into_iter().map(|part| self.part(part)).collect();
        if skill.kind == SkillKind::Skill {
            let folder = skill.directory().display();
            let head = format!("The files of this skill lie in {folder}.\n\n");
            parts.insert(0, InvocationPart::Text(head));
        }
        let is_trusted = skill.origin.trust() == Trust::Trusted;
        let may_run = self.may_run(&skill.origin);
        Ok(Invocation {
            name: skill.name.clone(),
            parts,
            programs: if may_run { Programs::Judged } else { Programs::Refused },
            grants: grants(skill),
            // Another model may be another provider, which is not for a project to choose.
            model: skill.model.clone().filter(|_| is_trusted),
        })
    }

    fn part(&self, part: Part) -> InvocationPart {
        match part {
            Part::Text(text) => InvocationPart::Text(text),
            Part::File(path) => InvocationPart::File(path),
            Part::Program(command) if self.shelf.runs_programs => InvocationPart::Program(command),
            Part::Program(_) => {
                InvocationPart::Text("[not run: programs in skills are switched off]".to_owned())
            }
        }
    }

    fn variables(&self, skill: &Skill) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("CLAUDE_SESSION_ID", self.shelf.session.clone()),
            ("CLAUDE_SKILL_DIR", skill.directory().display().to_string()),
            ("CLAUDE_PROJECT_DIR", self.shelf.places.project_root().display().to_string()),
        ];
        if let Origin::Plugin { name, .. } = &skill.origin {
            let plugin = self.extensions.plugins.iter().find(|plugin| plugin.name == *name);
            let root = plugin.map(|plugin| plugin.root.display().to_string());
            variables.extend(root.map(|root| ("CLAUDE_PLUGIN_ROOT", root)));
        }
        variables
    }

    fn contents(&self) -> Contents {
        let skills = self.offered().filter(|skill| skill.kind == SkillKind::Skill);
        let own = COMMANDS.iter().map(|(name, _)| (*name).to_owned());
        let added = self.extensions.for_people().map(|skill| skill.name.clone());
        let problems: Vec<String> =
            self.extensions.problems.iter().map(ToString::to_string).collect();
        let mut init = Init {
            slash_commands: own.chain(added).collect(),
            skills: skills.map(|skill| skill.name.clone()).collect(),
            agents: self.extensions.agents.iter().map(|it| it.definition.name.clone()).collect(),
            plugins: self.plugins(),
            output_style: self.shelf.style.clone(),
            ..Init::default()
        };
        if !problems.is_empty() {
            init.extra.insert("plugin_errors".to_owned(), self.errors());
        }
        let listing = self.listing();
        let skill_tool = (!listing.is_empty()).then(|| skill_spec(&listing));
        Contents { init, greeting: self.greeting(), skill_tool, problems }
    }

    fn plugins(&self) -> Vec<Value> {
        let plugin = |it: &Plugin| {
            let mut plugin = json!({"name": it.name, "path": it.root, "source": it.source});
            if let Some(version) = &it.version {
                plugin["version"] = json!(version);
            }
            plugin
        };
        self.extensions.plugins.iter().map(plugin).collect()
    }

    /// What could not be used, in the form that hosts know from plugins.
    fn errors(&self) -> Value {
        let error = |problem: &Problem| {
            let is_its = |it: &&Plugin| problem.path.starts_with(&it.root);
            let holder = self.extensions.plugins.iter().find(is_its);
            let plugin = holder.map(|it| it.source.as_str()).unwrap_or_default();
            let (message, path) = (problem.to_string(), &problem.path);
            json!({"plugin": plugin, "type": "generic-error", "message": message, "path": path})
        };
        self.extensions.problems.iter().map(error).collect()
    }

    fn greeting(&self) -> Map<String, Value> {
        let own = COMMANDS.iter().map(|(name, about)| {
            let hint = if *name == "model" { "[name]" } else { "" };
            json!({"name": name, "description": about, "argumentHint": hint, "builtin": true})
        });
        let added = self.extensions.for_people().map(|it| {
            let hint = &it.argument_hint;
            json!({"name": it.name, "description": it.description, "argumentHint": hint})
        });
        let agents = self.extensions.agents.iter().map(|it| {
            let it = &it.definition;
            let mut agent = json!({"name": it.name, "description": it.description});
            if let Some(model) = &it.model {
                agent["model"] = json!(model);
            }
            agent
        });
        let styles = self.extensions.styles.iter().map(|style| style.name.clone());
        let styles: Vec<String> = std::iter::once(DEFAULT_STYLE.to_owned()).chain(styles).collect();
        let user_styles = self.shelf.places.config_dir.join("output-styles");
        Map::from_iter([
            ("commands".to_owned(), own.chain(added).collect()),
            ("agents".to_owned(), agents.collect()),
            ("output_style".to_owned(), json!(self.shelf.style)),
            ("available_output_styles".to_owned(), json!(styles)),
            ("user_output_styles_dir".to_owned(), json!(user_styles)),
        ])
    }
}

/// What hooks are told of a memory file that was loaded.
fn told_to_hooks(file: LoadedFile) -> HookDetail {
    let shown = |path: PathBuf| path.display().to_string();
    HookDetail::InstructionsLoaded {
        file_path: shown(file.path),
        memory_type: file.kind.name().to_owned(),
        load_reason: file.reason.to_owned(),
        globs: file.patterns,
        trigger_file_path: file.touched.map(shown),
        parent_file_path: file.imported_by.map(shown),
    }
}

/// What a skill allows while it is worked on: nothing, unless the user stands behind it.
fn grants(skill: &Skill) -> Vec<String> {
    match skill.origin.trust() {
        Trust::Trusted => skill.allowed_tools.clone(),
        Trust::Untrusted => Vec::new(),
    }
}
