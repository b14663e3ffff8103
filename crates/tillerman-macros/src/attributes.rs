//! What stands in the brackets of `#[tool(…)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser as _;
use syn::{Expr, ExprLit, Lit, Meta, Result, Token, punctuated::Punctuated};

/// What stands in the brackets.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    /// Calls on the tool, such as `.read_only()`.
    pub(crate) calls: Vec<TokenStream>,
}

impl Attributes {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let metas = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut attributes = Self::default();
        for meta in metas {
            attributes.add(&meta)?;
        }
        Ok(attributes)
    }

    fn add(&mut self, meta: &Meta) -> Result<()> {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "name" => self.name = Some(text(meta)?),
            "description" => self.description = Some(text(meta)?),
            "title" => {
                let title = text(meta)?;
                self.calls.push(quote!(.title(#title)));
            }
            "read_only" => self.calls.push(quote!(.read_only())),
            "destructive" => self.calls.push(quote!(.destructive())),
            "idempotent" => self.calls.push(quote!(.idempotent())),
            "open_world" => self.calls.push(quote!(.open_world())),
            _ => {
                let text = "expected name, title, description, read_only, destructive, idempotent \
                            or open_world";
                return Err(syn::Error::new_spanned(meta, text));
            }
        }
        Ok(())
    }
}

fn text(meta: &Meta) -> Result<String> {
    if let Meta::NameValue(pair) = meta
        && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value
    {
        return Ok(text.value());
    }
    Err(syn::Error::new_spanned(meta, "expected a text, as in name = \"…\""))
}
