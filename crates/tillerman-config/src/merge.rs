//! Laying settings over each other, remembering where each value came from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::source::Source;
use crate::spots::{Spot, Spots, escaped};

/// A list with an order that is taken whole from the strongest layer that has one.
const FALLBACK: &str = "/fallbackModel";
/// A list that administrators set for good.
const MODELS: &str = "/availableModels";

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub source: Source,
    /// The file, if it lies in one.
    pub path: Option<PathBuf>,
    /// Where in the file, if that is known.
    pub spot: Option<Spot>,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.path, self.spot) {
            (Some(path), Some(spot)) => write!(f, "{}:{}", path.display(), spot.line),
            (Some(path), None) => write!(f, "{}", path.display()),
            (None, _) => write!(f, "--settings or the host"),
        }
    }
}

/// All layers in one.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// The settings.
    pub value: Map<String, Value>,
    /// Where each value that is no object or list came from, by JSON pointer into `value`.
    pub origins: BTreeMap<String, Origin>,
}

/// A layer as merging sees it.
pub(crate) struct Piece<'a> {
    pub(crate) source: Source,
    pub(crate) path: Option<&'a PathBuf>,
    pub(crate) spots: &'a Spots,
}

impl Piece<'_> {
    /// Whether a list of this layer replaces what weaker layers say.
    fn replaces(&self, pointer: &str) -> bool {
        pointer == FALLBACK || (pointer == MODELS && self.source == Source::Managed)
    }

    fn origin(&self, pointer: &str) -> Origin {
        let spot = self.path.and_then(|_| self.spots.find(pointer));
        Origin { source: self.source, path: self.path.cloned(), spot }
    }
}

impl Merged {
    /// Lays a stronger layer on top: lists are joined without repetition, objects are merged,
    /// everything else is replaced.
    pub(crate) fn lay(&mut self, piece: &Piece<'_>, over: &Map<String, Value>) {
        let mut value = Value::Object(std::mem::take(&mut self.value));
        for (name, item) in over {
            self.put(&mut value, name, item, ("", ""), piece);
        }
        if let Value::Object(value) = value {
            self.value = value;
        }
    }

    /// Puts an item into an object; `at` is where the object stands in the result and in the layer.
    fn put(
        &mut self,
        into: &mut Value,
        name: &str,
        item: &Value,
        at: (&str, &str),
        piece: &Piece<'_>,
    ) {
        let Value::Object(object) = into else { return };
        let target = format!("{}/{}", at.0, escaped(name));
        let origin = format!("{}/{}", at.1, escaped(name));
        match (object.get_mut(name), item) {
            (Some(held @ Value::Object(_)), Value::Object(items)) => {
                for (name, item) in items {
                    self.put(held, name, item, (&target, &origin), piece);
                }
            }
            (Some(Value::Array(held)), Value::Array(items)) if !piece.replaces(&target) => {
                for (index, item) in items.iter().enumerate() {
                    if !held.contains(item) {
                        let place = format!("{target}/{}", held.len());
                        self.note(&place, item, &format!("{origin}/{index}"), piece);
                        held.push(item.clone());
                    }
                }
            }
            _ => {
                self.forget(&target);
                self.note(&target, item, &origin, piece);
                object.insert(name.to_owned(), item.clone());
            }
        }
    }

    /// Remembers where a value and everything in it came from.
    fn note(&mut self, target: &str, item: &Value, origin: &str, piece: &Piece<'_>) {
        match item {
            Value::Object(items) if !items.is_empty() => {
                for (name, item) in items {
                    let name = escaped(name);
                    self.note(
                        &format!("{target}/{name}"),
                        item,
                        &format!("{origin}/{name}"),
                        piece,
                    );
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    self.note(
                        &format!("{target}/{index}"),
                        item,
                        &format!("{origin}/{index}"),
                        piece,
                    );
                }
            }
            _ => drop(self.origins.insert(target.to_owned(), piece.origin(origin))),
        }
    }

    fn forget(&mut self, target: &str) {
        let below = format!("{target}/");
        self.origins.retain(|pointer, _| pointer != target && !pointer.starts_with(&below));
    }
}
