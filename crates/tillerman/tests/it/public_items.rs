//! The items of a source file that users of its crate can see, one line each.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Visibility};

/// The names of the types and traits of a file that are public.
pub(crate) fn public_types(file: &syn::File) -> BTreeSet<String> {
    let named = file.items.iter().filter_map(|item| match item {
        Item::Struct(it) => Some((&it.vis, &it.ident)),
        Item::Enum(it) => Some((&it.vis, &it.ident)),
        Item::Trait(it) => Some((&it.vis, &it.ident)),
        Item::Type(it) => Some((&it.vis, &it.ident)),
        _ => None,
    });
    let written = named.filter(|(vis, _)| is_public(vis)).map(|(_, name)| name.to_string());
    // What a macro makes types of is among the names it is given.
    let given = file.items.iter().filter_map(|item| match item {
        Item::Macro(it) if it.ident.is_none() => Some(it.mac.tokens.clone()),
        _ => None,
    });
    let given = given.flat_map(TokenStream::into_iter).filter_map(|token| match token {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    });
    written.chain(given).collect()
}

/// The public items of a file. Implementations count where they are for one of these types.
pub(crate) fn public_items(file: &syn::File, types: &BTreeSet<String>) -> Vec<String> {
    let mut lines = Vec::new();
    for item in &file.items {
        item_lines(item, types, &mut lines);
    }
    lines
}

fn item_lines(item: &Item, types: &BTreeSet<String>, lines: &mut Vec<String>) {
    match item {
        Item::Fn(it) if is_public(&it.vis) => {
            lines.push(format!("{}pub {}", marks(&it.attrs), text(&it.sig)));
        }
        Item::Struct(it) if is_public(&it.vis) => {
            let (name, generics) = (&it.ident, text(&it.generics));
            lines.push(format!("{}pub struct {name}{generics}", marks(&it.attrs)));
            let public = it.fields.iter().filter(|field| is_public(&field.vis));
            lines.extend(public.map(|field| match &field.ident {
                Some(name) => format!("    pub {name}: {}", text(&field.ty)),
                None => format!("    pub {}", text(&field.ty)),
            }));
        }
        Item::Enum(it) if is_public(&it.vis) => {
            let (name, generics) = (&it.ident, text(&it.generics));
            lines.push(format!("{}pub enum {name}{generics}", marks(&it.attrs)));
            let variants = it.variants.iter();
            lines.extend(variants.map(|it| format!("    {}{}", it.ident, fields(&it.fields))));
        }
        Item::Trait(it) if is_public(&it.vis) => {
            let (name, generics) = (&it.ident, text(&it.generics));
            let bounds = text(&it.supertraits);
            let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
            lines.push(format!("{}pub trait {name}{generics}{bounds}", marks(&it.attrs)));
            lines.extend(it.items.iter().map(|item| format!("    {}", of_trait(item))));
        }
        Item::Impl(it) => implementation(it, types, lines),
        Item::Macro(it) if it.ident.is_some() => made(it.mac.tokens.clone(), lines),
        Item::Macro(it) => {
            let given = without_documents(it.mac.tokens.clone());
            lines.push(format!("{}! {{ {} }}", text(&it.mac.path), text(&given)));
        }
        Item::Type(it) if is_public(&it.vis) => lines.push(format!("{}{}", marks(&it.attrs), {
            let mut bare = it.clone();
            bare.attrs.clear();
            text(&bare)
        })),
        Item::Const(it) if is_public(&it.vis) => {
            lines.push(format!("{}pub const {}: {}", marks(&it.attrs), it.ident, text(&it.ty)));
        }
        Item::Use(it) if is_public(&it.vis) => {
            lines.push(format!("{}pub use {};", marks(&it.attrs), text(&it.tree)));
        }
        Item::Mod(it) if is_public(&it.vis) => {
            lines.push(format!("{}pub mod {};", marks(&it.attrs), it.ident));
        }
        _ => {}
    }
}

fn implementation(it: &syn::ItemImpl, types: &BTreeSet<String>, lines: &mut Vec<String>) {
    let subject = text(&it.self_ty);
    let name = subject.split(['<', ' ']).next().unwrap_or_default();
    if !types.contains(name) {
        return;
    }
    let generics = text(&it.generics);
    if let Some((_, of, _)) = &it.trait_ {
        lines.push(format!("{}impl{generics} {} for {subject}", marks(&it.attrs), text(of)));
        return;
    }
    let public = it.items.iter().filter_map(|item| match item {
        ImplItem::Fn(it) if is_public(&it.vis) => {
            Some(format!("    {}pub {}", marks(&it.attrs), text(&it.sig)))
        }
        ImplItem::Const(it) if is_public(&it.vis) => {
            Some(format!("    pub const {}: {}", it.ident, text(&it.ty)))
        }
        _ => None,
    });
    let public: Vec<String> = public.collect();
    if !public.is_empty() {
        lines.push(format!("{}impl{generics} {subject}", marks(&it.attrs)));
        lines.extend(public);
    }
}

/// The public items that a macro makes, each up to its body.
fn made(tokens: TokenStream, lines: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => made(group.stream(), lines),
            TokenTree::Ident(word)
                if word == "pub" && !matches!(tokens.peek(), Some(TokenTree::Group(_))) =>
            {
                let is_end = |token: &TokenTree| match token {
                    TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                    TokenTree::Punct(mark) => [';', ','].contains(&mark.as_char()),
                    _ => false,
                };
                let mut item = TokenStream::new();
                while let Some(token) = tokens.next_if(|token| !is_end(token)) {
                    item.extend([token]);
                }
                lines.push(format!("    made: pub {}", text(&item)));
            }
            _ => {}
        }
    }
}

/// Tokens without their documentation, whose words are for people.
fn without_documents(tokens: TokenStream) -> TokenStream {
    let mut kept = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_mark = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#');
        let is_document = |next: &TokenTree| match next {
            TokenTree::Group(group) => group.stream().to_string().starts_with("doc"),
            _ => false,
        };
        if is_mark && tokens.next_if(is_document).is_some() {
            continue;
        }
        kept.extend([match token {
            TokenTree::Group(group) => {
                let inner = without_documents(group.stream());
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            other => other,
        }]);
    }
    kept
}

/// Whether there is a body decides whether others must write one.
fn of_trait(item: &TraitItem) -> String {
    match item {
        TraitItem::Fn(it) if it.default.is_some() => format!("{} {{ … }}", text(&it.sig)),
        TraitItem::Fn(it) => format!("{};", text(&it.sig)),
        TraitItem::Type(it) => {
            let bounds = text(&it.bounds);
            let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
            format!("type {}{bounds};", it.ident)
        }
        TraitItem::Const(it) => format!("const {}: {};", it.ident, text(&it.ty)),
        other => text(other),
    }
}

fn fields(fields: &Fields) -> String {
    let each = fields.iter().map(|field| match &field.ident {
        Some(name) => format!("{name}: {}", text(&field.ty)),
        None => text(&field.ty),
    });
    let each = each.collect::<Vec<_>>().join(", ");
    match fields {
        Fields::Named(_) => format!(" {{ {each} }}"),
        Fields::Unnamed(_) => format!("({each})"),
        Fields::Unit => String::new(),
    }
}

/// The attributes that matter to users.
fn marks(attributes: &[Attribute]) -> String {
    let matter = ["derive", "non_exhaustive", "must_use", "deprecated", "cfg", "doc"];
    let matters = |it: &&Attribute| {
        let is_hidden = || text(&it.meta).contains("doc(hidden)");
        matter.iter().any(|name| it.path().is_ident(name) && (*name != "doc" || is_hidden()))
    };
    let kept = attributes.iter().filter(matters).map(|it| match it.path().is_ident("must_use") {
        // Its words are for people.
        true => "#[must_use] ".to_owned(),
        false => format!("#[{}] ", text(&it.meta)),
    });
    kept.collect()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Tokens the way people write them.
fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string().replace('\n', " ");
    for mark in [" ,", " ;", " :", " )", " >", " <", " (", " .", " !", " ?", " ]"] {
        text = text.replace(mark, &mark[1..]);
    }
    for mark in ["( ", "< ", "& ", ":: ", "# ", "! ", "[ ", "$ "] {
        text = text.replace(mark, mark.trim_end());
    }
    // What stood after a colon or an arrow keeps its distance.
    text.replace(",)", ")").replace("+(", "+ (").replace("->(", "-> (").replace("=(", "= (")
}
