//! Finding the folders of plugins that settings switch on, as far as they lie on this machine.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::extensions::origin::Trust;
use crate::extensions::plugins::{PluginFolder, read_object};
use crate::extensions::problem::Problem;
use crate::extensions::tree;
use crate::layers::{Layer, Layers};
use crate::source::Source;

/// Where a marketplace lists its plugins.
const LISTING: &str = ".claude-plugin/marketplace.json";

/// The plugins that settings switch on, with the folder of each that is on this machine.
#[must_use]
pub fn enabled_plugins(
    layers: &Layers,
    config_dir: &Path,
    cwd: &Path,
    project: Trust,
) -> (Vec<PluginFolder>, Vec<Problem>) {
    let (mut folders, mut problems) = (Vec::new(), Vec::new());
    let finder = Finder { layers, config_dir, cwd };
    for (name, by) in switched_on(layers) {
        match finder.find(&name) {
            Ok(found) => {
                // What a working copy switches on, or where it leads to, is the project's word.
                let from_project = by.is_in_repository() || found.from_project;
                let trust = if from_project { project } else { Trust::Trusted };
                let marketplace = found.marketplace;
                folders.push(PluginFolder { root: found.root, marketplace, trust });
            }
            Err(problem) => problems.push(problem),
        }
    }
    (folders, problems)
}

/// The plugins that are on after all layers have spoken, with the layer that decided.
fn switched_on(layers: &Layers) -> Vec<(String, Source)> {
    let mut decided: Vec<(String, Source, bool)> = Vec::new();
    for layer in layers.iter() {
        let switches = layer.settings.extra.get("enabledPlugins").and_then(Value::as_object);
        for (name, value) in switches.into_iter().flatten() {
            let is_on = !matches!(value, Value::Bool(false) | Value::Null);
            decided.retain(|(held, ..)| held != name);
            decided.push((name.clone(), layer.source, is_on));
        }
    }
    decided.into_iter().filter(|(.., is_on)| *is_on).map(|(name, by, _)| (name, by)).collect()
}

struct Finder<'a> {
    layers: &'a Layers,
    config_dir: &'a Path,
    cwd: &'a Path,
}

struct Found {
    root: PathBuf,
    marketplace: String,
    from_project: bool,
}

impl Finder<'_> {
    fn find(&self, full_name: &str) -> Result<Found, Problem> {
        let place = Path::new(full_name);
        let Some((plugin, marketplace)) = full_name.split_once('@') else {
            return Err(Problem::new(
                place,
                "enabledPlugins needs names of the form plugin@marketplace",
            ));
        };
        let is_name = |text: &str| !text.is_empty() && !text.contains(['/', '\\']) && text != "..";
        if !is_name(plugin) || !is_name(marketplace) {
            return Err(Problem::new(place, "is not the name of a plugin and its marketplace"));
        }
        if let Some((root, from_project)) = self.marketplace(marketplace)?
            && let Some(root) = listed(&root, plugin)?
        {
            return Ok(Found { root, marketplace: marketplace.to_owned(), from_project });
        }
        let cached = self.config_dir.join("plugins/cache").join(marketplace).join(plugin);
        let mut versions = tree::entries(self.config_dir, &cached, &mut Vec::new());
        match versions.pop() {
            Some(root) => {
                Ok(Found { root, marketplace: marketplace.to_owned(), from_project: false })
            }
            None => Err(Problem::new(
                place,
                "the plugin is not on this machine and is left out; \
                 install it, or name its folder with --plugin-dir",
            )),
        }
    }

    /// The folder of a marketplace, and whether only the project says where that is.
    fn marketplace(&self, name: &str) -> Result<Option<(PathBuf, bool)>, Problem> {
        let said = |layer: &Layer| {
            let known = layer.settings.extra.get("extraKnownMarketplaces")?;
            local_source(known.get(name)?.get("source")?)
        };
        let layers: Vec<&Layer> = self.layers.iter().collect();
        if let Some((path, layer)) = layers.iter().rev().find_map(|l| Some((said(l)?, *l))) {
            return Ok(Some((self.cwd.join(path), layer.source.is_in_repository())));
        }
        let listing = self.config_dir.join("plugins/known_marketplaces.json");
        let known = read_object(self.config_dir, &listing)?.unwrap_or_default();
        let location = known.get(name).and_then(|it| it.get("installLocation"));
        let usual = self.config_dir.join("plugins/marketplaces").join(name);
        let root = location.and_then(Value::as_str).map_or(usual, PathBuf::from);
        Ok(root.is_dir().then_some((root, false)))
    }
}

/// The folder that a source names, if it is one on this machine.
fn local_source(source: &Value) -> Option<PathBuf> {
    let path = || source.get("path").and_then(Value::as_str).map(PathBuf::from);
    match source.get("source")?.as_str()? {
        "directory" => path(),
        // The listing lies in a folder `.claude-plugin` of the marketplace.
        "file" => path()?.parent()?.parent().map(Path::to_path_buf),
        _ => None,
    }
}

/// What the settings of a repository lead to: the listings of marketplaces on this machine, and the
/// folders of all plugins in them.
pub(crate) fn led_to(settings: &Map<String, Value>, cwd: &Path) -> Vec<PathBuf> {
    let known = settings.get("extraKnownMarketplaces").and_then(Value::as_object);
    let sources = known.into_iter().flat_map(Map::values);
    let roots = sources.filter_map(|known| local_source(known.get("source")?));
    let mut places = Vec::new();
    for root in roots.map(|path| cwd.join(path)) {
        let listing = root.join(LISTING);
        let read = read_object(&root, &listing).ok().flatten().unwrap_or_default();
        let entries = read.get("plugins").and_then(Value::as_array).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.get("name")?.as_str());
        places.extend(names.filter_map(|name| listed(&root, name).ok().flatten()));
        places.push(listing);
    }
    places
}

/// The folder of a plugin that a marketplace lists and holds itself.
fn listed(marketplace: &Path, plugin: &str) -> Result<Option<PathBuf>, Problem> {
    let path = marketplace.join(LISTING);
    let Some(listing) = read_object(marketplace, &path)? else { return Ok(None) };
    let entries = listing.get("plugins").and_then(Value::as_array);
    let is_it =
        |entry: &&Map<String, Value>| entry.get("name").and_then(Value::as_str) == Some(plugin);
    let entry = entries.into_iter().flatten().filter_map(Value::as_object).find(is_it);
    let Some(Value::String(source)) = entry.and_then(|entry| entry.get("source")) else {
        return Ok(None);
    };
    tree::inside(marketplace, &marketplace.join(source))
}
