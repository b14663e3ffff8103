//! The TypeScript of a Rust type as it is mentioned in a field.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use syn::{GenericArgument, PathArguments, Type};

/// A type in TypeScript, and the declared types it mentions.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    pub(crate) text: String,
    pub(crate) mentions: BTreeSet<String>,
    /// Whether the Rust type is an `Option`; `text` is then that of its content.
    pub(crate) is_option: bool,
    /// Whether it is a map of anything, which flattens into an index signature.
    pub(crate) is_open_map: bool,
}

impl Shape {
    fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// The type with `null` where it may be.
    pub(crate) fn nullable(&self) -> String {
        if self.is_option { format!("{} | null", self.text) } else { self.text.clone() }
    }
}

/// Translates a type.
pub(crate) fn shape(of: &Type) -> Result<Shape> {
    let Type::Path(path) = of else { bail!("the generator knows only named types in fields") };
    let Some(last) = path.path.segments.last() else { bail!("a type without a name") };
    let arguments = arguments(&last.arguments)?;
    let name = last.ident.to_string();
    Ok(match (name.as_str(), arguments.as_slice()) {
        ("String" | "Moment" | "PathBuf" | "str", []) => Shape::plain("string"),
        ("bool", []) => Shape::plain("boolean"),
        ("u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" | "f64", []) => {
            Shape::plain("number")
        }
        ("Value", []) => Shape::plain("unknown"),
        ("Box" | "Arc", [inner]) => shape(inner)?,
        ("Option", [inner]) => Shape { is_option: true, ..shape(inner)? },
        ("Vec", [inner]) => {
            let inner = shape(inner)?;
            let bracketed = inner.is_option || inner.text.contains(' ');
            let item = inner.nullable();
            let text = if bracketed { format!("({item})[]") } else { format!("{item}[]") };
            Shape { text, mentions: inner.mentions, ..Shape::default() }
        }
        ("Map" | "BTreeMap" | "HashMap", [_, value]) => {
            let value = shape(value)?;
            Shape {
                text: format!("Record<string, {}>", value.nullable()),
                is_open_map: value.text == "unknown",
                mentions: value.mentions,
                is_option: false,
            }
        }
        (name, []) => Shape {
            text: name.to_owned(),
            mentions: BTreeSet::from([name.to_owned()]),
            ..Shape::default()
        },
        (name, _) => bail!("the generator does not know the generic type `{name}`"),
    })
}

fn arguments(of: &PathArguments) -> Result<Vec<&Type>> {
    let PathArguments::AngleBracketed(list) = of else { return Ok(Vec::new()) };
    let types = list.args.iter().map(|argument| match argument {
        GenericArgument::Type(inner) => Ok(inner),
        _ => bail!("the generator knows only types as arguments of types"),
    });
    types.collect()
}
