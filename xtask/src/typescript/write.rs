//! Writes declarations as TypeScript.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use syn::{Fields, FieldsNamed, ItemEnum, ItemStruct, Type, Variant};

use crate::typescript::attributes::{Serde, documentation, renamed};
use crate::typescript::read::{Declaration, Declarations};
use crate::typescript::shape::{Shape, shape};

const HEAD: &str = "\
// Generated from the Rust of tillerman-protocol by `cargo xtask types`. Do not edit.
// Readers are tolerant: other kinds than those listed in a union may arrive and are to be ignored.
";

/// The whole file: the roots and everything they mention, in alphabetical order.
pub(crate) fn module(declarations: &Declarations, roots: &[&str]) -> Result<String> {
    let mut wanted: BTreeSet<String> = roots.iter().map(|root| (*root).to_owned()).collect();
    let mut written: BTreeSet<(String, String)> = BTreeSet::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    while let Some(name) = wanted.pop_first() {
        if !known.insert(name.clone()) {
            continue;
        }
        let mut writer = Writer::default();
        let text = writer
            .declaration(&name, declarations.get(&name)?)
            .with_context(|| format!("in the type `{name}`"))?;
        written.insert((name, text));
        wanted.extend(writer.mentions.into_iter().filter(|it| !known.contains(it)));
    }
    let texts: Vec<String> = written.into_iter().map(|(_, text)| text).collect();
    Ok(format!("{HEAD}\n{}", texts.join("\n")))
}

#[derive(Default)]
struct Writer {
    mentions: BTreeSet<String>,
}

/// The fields of a struct or a variant.
#[derive(Default)]
struct Body {
    lines: Vec<String>,
    /// Types whose fields stand among these.
    parts: Vec<String>,
}

impl Writer {
    fn declaration(&mut self, name: &str, declaration: &Declaration) -> Result<String> {
        match declaration {
            Declaration::Identifier(attributes) => Ok(format!(
                "{}export type {name} = string;\n",
                comment(&documentation(attributes), "")
            )),
            Declaration::Struct(item) => self.structure(name, item),
            Declaration::Enum(item) => self.enumeration(name, item),
        }
    }

    fn structure(&mut self, name: &str, item: &ItemStruct) -> Result<String> {
        let serde = Serde::of(&item.attrs)?;
        let head = comment(&documentation(&item.attrs), "");
        match &item.fields {
            Fields::Named(fields) => {
                let body = self.body(fields, serde.rename_all.as_deref())?;
                let block = braces(&body.lines, "");
                if body.parts.is_empty() {
                    return Ok(format!("{head}export interface {name} {block}\n"));
                }
                Ok(format!("{head}export type {name} = {} & {block};\n", body.parts.join(" & ")))
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let inner = self.mention(&fields.unnamed[0].ty)?;
                Ok(format!("{head}export type {name} = {};\n", inner.nullable()))
            }
            _ => bail!("the generator does not know structs of this kind"),
        }
    }

    fn enumeration(&mut self, name: &str, item: &ItemEnum) -> Result<String> {
        let serde = Serde::of(&item.attrs)?;
        let mut text = comment(&documentation(&item.attrs), "");
        write!(text, "export type {name} =")?;
        for variant in &item.variants {
            if let Some(form) = self.variant(variant, &serde)? {
                let note = comment(&documentation(&variant.attrs), "  ");
                write!(text, "\n{note}  | {form}")?;
            }
        }
        Ok(format!("{text};\n"))
    }

    /// The form of a variant; none for those that stand for anything unknown.
    fn variant(&mut self, variant: &Variant, of: &Serde) -> Result<Option<String>> {
        let serde = Serde::of(&variant.attrs)?;
        let plain = renamed(&variant.ident.to_string(), of.rename_all.as_deref(), true)?;
        let name = serde.rename.clone().unwrap_or(plain);
        if serde.has("untagged") || of.has("untagged") {
            return self.untagged(variant);
        }
        let case = serde.rename_all.as_deref().or(of.rename_all_fields.as_deref());
        let Some(tag) = &of.tag else {
            return Ok(Some(match &variant.fields {
                Fields::Unit => format!("\"{name}\""),
                _ => format!("{{ \"{name}\": {} }}", self.content(&variant.fields, case)?),
            }));
        };
        Ok(Some(match &variant.fields {
            Fields::Unit => format!("{{ {tag}: \"{name}\" }}"),
            Fields::Named(fields) => {
                let mut body = self.body(fields, case)?;
                body.lines.insert(0, format!("{tag}: \"{name}\";"));
                let block = braces(&body.lines, "    ");
                if body.parts.is_empty() {
                    block
                } else {
                    format!("({block} & {})", body.parts.join(" & "))
                }
            }
            Fields::Unnamed(_) => {
                format!("({{ {tag}: \"{name}\" }} & {})", self.content(&variant.fields, case)?)
            }
        }))
    }

    fn untagged(&mut self, variant: &Variant) -> Result<Option<String>> {
        let form = self.content(&variant.fields, None)?;
        Ok(match form.as_str() {
            "unknown" | "Record<string, unknown>" => None,
            // A bare `string` would swallow the names beside it.
            "string" => Some("(string & {})".to_owned()),
            _ => Some(form),
        })
    }

    fn content(&mut self, fields: &Fields, case: Option<&str>) -> Result<String> {
        match fields {
            Fields::Named(fields) => {
                let body = self.body(fields, case)?;
                Ok(body
                    .parts
                    .into_iter()
                    .chain([braces(&body.lines, "    ")])
                    .collect::<Vec<_>>()
                    .join(" & "))
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Ok(self.mention(&fields.unnamed[0].ty)?.nullable())
            }
            _ => bail!("the generator does not know variants of this kind"),
        }
    }

    fn body(&mut self, fields: &FieldsNamed, case: Option<&str>) -> Result<Body> {
        let mut body = Body::default();
        let mut open = false;
        for field in &fields.named {
            let serde = Serde::of(&field.attrs)?;
            if serde.has("skip") {
                continue;
            }
            let shape = self.mention(&field.ty)?;
            if serde.has("flatten") {
                if shape.is_open_map {
                    open = true;
                } else {
                    body.parts.push(shape.text);
                }
                continue;
            }
            let ident = field.ident.as_ref().context("a field without a name")?.to_string();
            let ident = ident.strip_prefix("r#").unwrap_or(&ident);
            let name = serde.rename.clone().map_or_else(|| renamed(ident, case, false), Ok)?;
            let left_out = serde.has("skip_serializing_if");
            let mark = if left_out || serde.has("default") { "?" } else { "" };
            let text = if left_out { shape.text } else { shape.nullable() };
            let note = comment(&documentation(&field.attrs), "");
            body.lines.extend(note.lines().map(str::to_owned));
            body.lines.push(format!("{}{mark}: {text};", quoted(&name)));
        }
        if open {
            body.lines.push("[key: string]: unknown;".to_owned());
        }
        Ok(body)
    }

    fn mention(&mut self, of: &Type) -> Result<Shape> {
        let found = shape(of)?;
        self.mentions.extend(found.mentions.iter().cloned());
        Ok(found)
    }
}

fn braces(lines: &[String], indent: &str) -> String {
    if lines.is_empty() {
        return "{}".to_owned();
    }
    let inner: Vec<String> = lines.iter().map(|line| format!("{indent}  {line}")).collect();
    format!("{{\n{}\n{indent}}}", inner.join("\n"))
}

fn quoted(name: &str) -> String {
    let is_plain =
        name.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$');
    if is_plain { name.to_owned() } else { format!("\"{name}\"") }
}

fn comment(sentences: &[String], indent: &str) -> String {
    let text =
        sentences.iter().take_while(|line| !line.is_empty()).cloned().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        String::new()
    } else {
        format!("{indent}/** {} */\n", text.replace("*/", "*\u{200b}/"))
    }
}
