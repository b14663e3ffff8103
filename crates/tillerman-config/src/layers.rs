//! Settings in layers: reading them, and which value holds.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::sandbox::{SandboxSettings, SandboxSettingsError};
use tillerman_protocol::settings::{PermissionSettings, Settings};

use crate::host_policy::restricting;
use crate::merge::{Merged, Piece};
use crate::read::{SettingsError, read_file, read_text, typed};
use crate::source::{Places, Source};
use crate::spots::Spots;
use crate::standing::{LeftOut, Standing, Wants, weigh};
use crate::watch::Stamps;

/// One settings file or argument.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Where it comes from.
    pub source: Source,
    /// The file, if it lies in one.
    pub path: Option<PathBuf>,
    /// The part of it that takes effect.
    pub settings: Settings,
    /// Everything it says that can be used.
    pub(crate) said: Map<String, Value>,
    /// The part of it that takes effect, as it was written.
    pub(crate) in_effect: Map<String, Value>,
    pub(crate) spots: Spots,
}

/// All layers, weakest first. Until [`Layers::in_effect`] says more, what lies in the repository
/// may only tighten.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    pub(crate) layers: Vec<Layer>,
    pub(crate) errors: Vec<SettingsError>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Files beside the settings that are left out as long as the repository may run nothing.
    pub(crate) beside: Vec<LeftOut>,
    pub(crate) standing: Standing,
    pub(crate) places: Option<Places>,
    pub(crate) sources: Vec<Source>,
    pub(crate) stamps: Stamps,
    /// Files of the repository whose changes wait for the user's trust.
    pub(crate) held: Vec<PathBuf>,
}

impl Layers {
    /// Reads the files of the given sources and those of the machine's administrators. A broken
    /// file or value is left out and reported; it removes no protection that another file gives.
    #[must_use]
    pub fn load(places: &Places, sources: &[Source]) -> Self {
        let mut loaded = Self {
            places: Some(places.clone()),
            sources: sources.to_vec(),
            // Taken first: what changes while files are read is noticed the next time.
            stamps: Stamps::take(places, sources),
            ..Self::default()
        };
        for (source, path) in places.files(sources) {
            match read_file(&path) {
                Ok(Some(reading)) => {
                    loaded.errors.extend(reading.errors);
                    loaded.push(source, Some(path), reading.said, reading.spots);
                }
                Ok(None) => {}
                Err(error) => loaded.errors.push(error),
            }
        }
        loaded.in_effect(Standing::default())
    }

    /// The same layers with what takes effect when a repository stands like this.
    #[must_use]
    pub fn in_effect(mut self, standing: Standing) -> Self {
        self.standing = standing;
        self.left_out.clear();
        let confined = self
            .layers
            .iter()
            .any(|layer| !layer.source.is_in_repository() && asks_for_sandbox(&layer.said));
        let user = self.layers.iter().find(|layer| layer.source == Source::User);
        let users_mode = user.and_then(|layer| typed(&layer.said).permissions?.default_mode);
        let users_mode = users_mode.unwrap_or_default();
        for layer in &mut self.layers {
            let (mut kept, left_out) = weigh(layer.source, &layer.said, &self.standing, users_mode);
            if !self.standing.loosens(layer.source) && !confined && asks_for_sandbox(&kept) {
                // A sandbox that only the repository wants must not make questions go away.
                kept["sandbox"]["autoAllowBashIfSandboxed"] = json!(false);
            }
            layer.settings = typed(&kept);
            layer.in_effect = kept;
            self.left_out.extend(left_out);
        }
        if self.sources.contains(&Source::Project) && !self.standing.runs(Source::Project) {
            let file = self.places.as_ref().map(|places| places.cwd.join(".mcp.json"));
            if file.is_some_and(|file| file.exists()) {
                let key = ".mcp.json".to_owned();
                let servers = LeftOut { source: Source::Project, key, wants: Wants::Consent };
                self.left_out.push(servers);
            }
            self.left_out.extend(self.beside.iter().cloned());
        }
        self
    }

    /// Names files of the repository beside its settings that may run nothing, for whoever is told
    /// what was left out.
    pub fn leave_out_beside(&mut self, files: impl IntoIterator<Item = String>) {
        let (source, wants) = (Source::Project, Wants::Consent);
        self.beside = files.into_iter().map(|key| LeftOut { source, key, wants }).collect();
        *self = std::mem::take(self).again();
    }

    /// Lays the command line's settings over those of the files.
    pub fn push_flag(&mut self, settings: Settings) {
        let Ok(Value::Object(said)) = serde_json::to_value(settings) else { return };
        self.push(Source::Flag, None, said, Spots::default());
        *self = std::mem::take(self).again();
    }

    /// Lays what restricts of a host's own settings over everything; returns the keys that do not.
    pub fn push_host_policy(&mut self, settings: &Map<String, Value>) -> Vec<String> {
        let (kept, dropped) = restricting(settings);
        self.push(Source::Managed, None, kept, Spots::default());
        *self = std::mem::take(self).again();
        dropped
    }

    /// Changes keys of the command line's settings: each is replaced whole, `null` takes it back.
    ///
    /// # Errors
    /// When a value is wrong; then nothing changes.
    pub fn change_flag(&mut self, changes: &Map<String, Value>) -> Result<(), SettingsError> {
        let text = Value::Object(changes.clone()).to_string();
        let reading = read_text(&text, "apply_flag_settings")?;
        if let Some(error) = reading.errors.into_iter().next() {
            return Err(error);
        }
        if !self.layers.iter().any(|layer| layer.source == Source::Flag) {
            self.push(Source::Flag, None, Map::new(), Spots::default());
        }
        let flags = self.layers.iter_mut().filter(|layer| layer.source == Source::Flag);
        for layer in flags {
            for (name, value) in changes {
                layer.said.shift_remove(name);
                if !value.is_null() {
                    layer.said.insert(name.clone(), value.clone());
                }
            }
        }
        *self = std::mem::take(self).again();
        Ok(())
    }

    fn again(self) -> Self {
        let standing = self.standing.clone();
        self.in_effect(standing)
    }

    /// Puts a layer where its strength belongs.
    fn push(
        &mut self,
        source: Source,
        path: Option<PathBuf>,
        said: Map<String, Value>,
        spots: Spots,
    ) {
        let settings = Settings::default();
        let layer = Layer { source, path, settings, said, in_effect: Map::new(), spots };
        let place = self.layers.partition_point(|held| held.source <= source);
        self.layers.insert(place, layer);
    }

    /// The layers, weakest first.
    #[must_use]
    pub fn all(&self) -> &[Layer] {
        &self.layers
    }

    /// The layers themselves.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The layers, weakest first.
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Layer> {
        self.layers.iter()
    }

    /// The sources that were read.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// What could not be used.
    #[must_use]
    pub fn errors(&self) -> &[SettingsError] {
        &self.errors
    }

    /// What of the repository did not take effect.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// How far the repository is believed.
    #[must_use]
    pub const fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Whether what a source runs (hooks, MCP servers, commands in skills, variables) takes effect.
    #[must_use]
    pub fn runs(&self, source: Source) -> bool {
        self.standing.runs(source)
    }

    /// The strongest layer's value of a key.
    pub fn strongest<T>(&self, pick: impl Fn(&Settings) -> Option<T>) -> Option<T> {
        self.layers.iter().rev().find_map(|layer| pick(&layer.settings))
    }

    /// Everything that takes effect in one.
    #[must_use]
    pub fn merged(&self) -> Merged {
        let mut merged = Merged::default();
        for layer in &self.layers {
            let piece =
                Piece { source: layer.source, path: layer.path.as_ref(), spots: &layer.spots };
            merged.lay(&piece, &layer.in_effect);
        }
        merged
    }

    /// Whether any layer turns a switch on that makes things stricter.
    #[must_use]
    pub fn is_on(&self, key: &str) -> bool {
        self.layers.iter().any(|layer| layer.in_effect.get(key) == Some(&Value::Bool(true)))
    }

    /// A list of texts; a repository adds some only when it is trusted.
    #[must_use]
    pub fn own_texts(&self, key: &str) -> Vec<String> {
        let own = self.layers.iter().filter(|layer| self.standing.loosens(layer.source));
        let lists = own.filter_map(|layer| layer.in_effect.get(key)?.as_array());
        lists.flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    /// The command that prints the API key.
    #[must_use]
    pub fn key_helper(&self) -> Option<String> {
        self.strongest(|settings| settings.api_key_helper.clone())
    }

    /// Rules that approve.
    #[must_use]
    pub fn allow(&self) -> Vec<String> {
        let managed_only = self.administrators_say("allowManagedPermissionRulesOnly");
        let may_approve = |layer: &&Layer| !managed_only || layer.source == Source::Managed;
        joined(self.layers.iter().filter(may_approve), |permissions| &permissions.allow)
    }

    /// Rules that refuse.
    #[must_use]
    pub fn deny(&self) -> Vec<String> {
        joined(self.layers.iter(), |permissions| &permissions.deny)
    }

    /// Rules that ask.
    #[must_use]
    pub fn ask(&self) -> Vec<String> {
        joined(self.layers.iter(), |permissions| &permissions.ask)
    }

    /// The mode to start in. A repository may choose a stricter one than the user, and a looser one
    /// only when it is trusted.
    #[must_use]
    pub fn default_mode(&self) -> Option<PermissionMode> {
        let mut chosen = None;
        for layer in &self.layers {
            let mode = layer.settings.permissions.as_ref().and_then(|it| it.default_mode);
            let Some(mode) = mode else { continue };
            let loosens = strictness(mode) < strictness(chosen.unwrap_or_default());
            if !loosens || self.standing.loosens(layer.source) {
                chosen = Some(mode);
            }
        }
        chosen
    }

    /// Whether any layer forbids to bypass permissions.
    #[must_use]
    pub fn forbids_bypass(&self) -> bool {
        self.layers.iter().any(|layer| {
            let permissions = layer.settings.permissions.as_ref();
            let switch = permissions.and_then(|it| it.extra.get("disableBypassPermissionsMode"));
            switch.is_some_and(|value| value == "disable")
        })
    }

    /// Further working directories.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        let named = joined(self.layers.iter(), |permissions| &permissions.additional_directories);
        named.into_iter().map(PathBuf::from).collect()
    }

    /// The models that may be chosen; none when nobody limits them.
    #[must_use]
    pub fn available_models(&self) -> Option<Vec<String>> {
        let models = self.merged().value.get("availableModels")?.as_array()?.clone();
        Some(models.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
    }

    /// Variables for tools, the strongest layer's last.
    #[must_use]
    pub fn variables(&self) -> Vec<(String, String)> {
        self.layers.iter().filter_map(|layer| layer.settings.env.clone()).flatten().collect()
    }

    /// Variables that hold for this program as well, such as endpoints and credentials: a
    /// repository sets them only when it is trusted.
    #[must_use]
    pub fn own_variables(&self) -> Vec<(String, String)> {
        let may_steer = |layer: &&Layer| self.standing.loosens(layer.source);
        let layers = self.layers.iter().filter(may_steer);
        layers.filter_map(|layer| layer.settings.env.clone()).flatten().collect()
    }

    /// Days after which old sessions are removed; none when nobody can say: the user's file was not
    /// read or could not be.
    #[must_use]
    pub fn cleanup_days(&self) -> Option<u32> {
        if !self.sources.contains(&Source::User) || !self.errors.is_empty() {
            return None;
        }
        Some(self.strongest(|settings| settings.cleanup_period_days).unwrap_or(USUAL_DAYS))
    }

    /// What confines commands: all layers together, of which a repository's can only tighten
    /// unless it is trusted.
    ///
    /// # Errors
    /// When a layer's sandbox cannot be understood. Nothing may be run then.
    pub fn sandbox(&self) -> Result<SandboxSettings, SandboxSettingsError> {
        self.layers.iter().try_fold(SandboxSettings::default(), |all, layer| {
            let Some(own) = layer.settings.sandbox_settings()? else { return Ok(all) };
            let believed = self.standing.loosens(layer.source);
            Ok(all.overlaid(if believed { own } else { own.tightening() }))
        })
    }

    /// Whether the machine's administrators have switched something on.
    pub(crate) fn administrators_say(&self, key: &str) -> bool {
        let managed = self.layers.iter().filter(|layer| layer.source == Source::Managed);
        managed.into_iter().any(|layer| layer.in_effect.get(key) == Some(&Value::Bool(true)))
    }
}

/// How long old sessions are kept when nobody says.
const USUAL_DAYS: u32 = 30;

fn asks_for_sandbox(settings: &Map<String, Value>) -> bool {
    let section = settings.get("sandbox").and_then(Value::as_object);
    section.and_then(|section| section.get("enabled")) == Some(&Value::Bool(true))
}

/// The lists of all layers, each text once.
fn joined<'a>(
    layers: impl Iterator<Item = &'a Layer>,
    pick: impl Fn(&'a PermissionSettings) -> &'a Vec<String>,
) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let permissions = layers.filter_map(|layer| layer.settings.permissions.as_ref());
    for text in permissions.flat_map(pick) {
        if !texts.contains(text) {
            texts.push(text.clone());
        }
    }
    texts
}

/// How much a mode leaves to be asked or refused.
const fn strictness(mode: PermissionMode) -> u8 {
    match mode {
        PermissionMode::BypassPermissions => 0,
        PermissionMode::Auto => 1,
        PermissionMode::AcceptEdits => 2,
        PermissionMode::Default => 3,
        PermissionMode::DontAsk => 4,
        PermissionMode::Plan => 5,
    }
}
