//! Reads the declarations of types out of Rust sources.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use syn::parse::Parser as _;
use syn::{Attribute, Ident, Item, ItemEnum, ItemMacro, ItemStruct, Visibility};

/// All types of the protocol by name.
#[derive(Default)]
pub(crate) struct Declarations {
    types: BTreeMap<String, Declaration>,
}

/// One declared type.
pub(crate) enum Declaration {
    Struct(ItemStruct),
    Enum(ItemEnum),
    /// An identifier, which is a plain string on the wire.
    Identifier(Vec<Attribute>),
}

/// The macro that declares identifiers.
const IDENTIFIERS: &str = "id_type";

impl Declarations {
    /// Takes the types of one file.
    pub(crate) fn read(&mut self, source: &str) -> Result<()> {
        for item in syn::parse_file(source)?.items {
            match item {
                Item::Struct(item) if is_public(&item.vis) => {
                    self.add(&item.ident.clone(), Declaration::Struct(item))?;
                }
                Item::Enum(item) if is_public(&item.vis) => {
                    self.add(&item.ident.clone(), Declaration::Enum(item))?;
                }
                Item::Macro(item) if item.mac.path.is_ident(IDENTIFIERS) => {
                    let (name, attributes) = identifier(&item)?;
                    self.add(&name, Declaration::Identifier(attributes))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A type by its name.
    pub(crate) fn get(&self, name: &str) -> Result<&Declaration> {
        self.types
            .get(name)
            .with_context(|| format!("the type `{name}` is not declared in the protocol"))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    fn add(&mut self, name: &Ident, declaration: Declaration) -> Result<()> {
        if self.types.insert(name.to_string(), declaration).is_some() {
            bail!("there are two types called `{name}`: TypeScript has one room for all of them");
        }
        Ok(())
    }
}

const fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn identifier(item: &ItemMacro) -> Result<(Ident, Vec<Attribute>)> {
    let parse = |input: syn::parse::ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        Ok((input.parse::<Ident>()?, attributes))
    };
    Ok(parse.parse2(item.mac.tokens.clone())?)
}
