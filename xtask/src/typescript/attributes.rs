//! What serde attributes say about the written form.

use anyhow::{Result, bail};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The attributes of a type, a variant or a field that change what is written.
#[derive(Debug, Default)]
pub(crate) struct Serde {
    pub(crate) tag: Option<String>,
    pub(crate) rename: Option<String>,
    pub(crate) rename_all: Option<String>,
    pub(crate) rename_all_fields: Option<String>,
    pub(crate) flags: Vec<&'static str>,
}

/// Attributes without a value that matter here.
const FLAGS: [&str; 5] = ["untagged", "flatten", "skip", "default", "transparent"];
/// Attributes that change only how values are read.
const READING: [&str; 5] = ["alias", "deserialize_with", "from", "deny_unknown_fields", "bound"];

impl Serde {
    /// Reads them; an attribute nobody thought of is an error, because it could change the form.
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut found = Self::default();
        for attribute in attributes.iter().filter(|it| it.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                let value = if meta.input.peek(syn::Token![=]) {
                    Some(meta.value()?.parse::<syn::LitStr>()?.value())
                } else {
                    None
                };
                found.take(&name, value).map_err(|error| meta.error(error))
            })?;
        }
        Ok(found)
    }

    /// Whether an attribute without a value is there.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    fn take(&mut self, name: &str, value: Option<String>) -> Result<()> {
        match (name, value) {
            ("tag", value) => self.tag = value,
            ("rename", value) => self.rename = value,
            ("rename_all", value) => self.rename_all = value,
            ("rename_all_fields", value) => self.rename_all_fields = value,
            ("skip_serializing_if", _) => self.flags.push("skip_serializing_if"),
            (name, _) if FLAGS.contains(&name) => {
                self.flags.extend(FLAGS.iter().find(|flag| **flag == name));
            }
            (name, _) if READING.contains(&name) => {}
            (name, _) => bail!("the generator does not know the serde attribute `{name}`"),
        }
        Ok(())
    }
}

/// The sentences of a doc comment.
pub(crate) fn documentation(attributes: &[Attribute]) -> Vec<String> {
    let texts = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    texts.collect()
}

/// A name in one of serde's cases.
pub(crate) fn renamed(name: &str, case: Option<&str>, is_variant: bool) -> Result<String> {
    let words = words(name);
    let capital = |word: &String| {
        let mut letters = word.chars();
        letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    Ok(match case {
        None => name.to_owned(),
        Some("lowercase") => name.to_lowercase(),
        Some("snake_case") => words.join("_"),
        Some("kebab-case") => words.join("-"),
        Some("PascalCase") if is_variant => name.to_owned(),
        Some("PascalCase") => words.iter().map(capital).collect(),
        Some("camelCase") => {
            let rest = words.iter().skip(1).map(capital);
            words.first().cloned().into_iter().chain(rest).collect()
        }
        Some(other) => bail!("the generator does not know the case `{other}`"),
    })
}

/// The words of a name in either of Rust's cases, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut begins = true;
    for letter in name.chars() {
        if letter == '_' {
            begins = true;
            continue;
        }
        if begins || letter.is_uppercase() {
            words.push(String::new());
        }
        begins = false;
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}
