//! From a function to the function and its tool.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Expr, ExprLit, FnArg, Ident, ItemFn, Lit, Meta, Pat, Result, Type};

use crate::attributes::Attributes;

/// A parameter of the function.
enum Parameter {
    /// An argument that the model gives.
    Argument { name: Ident, kind: Box<Type>, documentation: Vec<Attribute> },
    /// What the function is told about the call.
    Context,
}

pub(crate) fn expand(attributes: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let attributes = Attributes::parse(attributes)?;
    let mut function: ItemFn = syn::parse2(function)?;
    refuse_generics(&function)?;
    let parameters = take_parameters(&mut function)?;
    let own_name = &function.sig.ident;
    let name = attributes.name.unwrap_or_else(|| own_name.to_string());
    let description = attributes.description.unwrap_or_else(|| documentation(&function.attrs));
    if description.is_empty() {
        let text = "a model cannot choose a tool it knows nothing about: document the function, or \
                    say description = \"…\"";
        return Err(syn::Error::new_spanned(own_name, text));
    }
    let fields = parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Argument { name, kind, documentation } => {
            Some(quote!(#(#documentation)* #name: #kind))
        }
        Parameter::Context => None,
    });
    let values = parameters.iter().map(|parameter| match parameter {
        Parameter::Argument { name, .. } => quote!(arguments.#name),
        Parameter::Context => quote!(context),
    });
    let awaiting = function.sig.asyncness.map(|_| quote!(.await));
    let (visibility, calls) = (&function.vis, &attributes.calls);
    let tool_name = format_ident!("{}_tool", own_name);
    let about = format!("The tool that calls [`{own_name}`].");
    let fields: Vec<TokenStream> = fields.collect();
    let values: Vec<TokenStream> = values.collect();
    Ok(quote! {
        #function

        #[doc = #about]
        #visibility fn #tool_name() -> ::tillerman::tools::Tool {
            #[derive(
                ::tillerman::__private::serde::Deserialize,
                ::tillerman::__private::schemars::JsonSchema,
            )]
            #[serde(crate = "::tillerman::__private::serde", deny_unknown_fields)]
            #[schemars(crate = "::tillerman::__private::schemars")]
            struct Arguments {
                #(#fields,)*
            }

            ::tillerman::tools::Tool::new(
                #name,
                #description,
                |arguments: Arguments, context: ::tillerman::tools::ToolContext| async move {
                    // A tool without arguments, or one that does not care about its call.
                    let _ = (&arguments, &context);
                    #own_name(#(#values),*)#awaiting
                },
            )
            #(#calls)*
        }
    })
}

fn refuse_generics(function: &ItemFn) -> Result<()> {
    let generics = &function.sig.generics;
    if generics.params.is_empty() {
        return Ok(());
    }
    Err(syn::Error::new_spanned(generics, "a tool has no generic parameters: its schema is fixed"))
}

/// Reads the parameters and takes their documentation, which functions must not have.
fn take_parameters(function: &mut ItemFn) -> Result<Vec<Parameter>> {
    let mut parameters = Vec::new();
    for input in &mut function.sig.inputs {
        let FnArg::Typed(input) = input else {
            return Err(syn::Error::new_spanned(input, "a tool is a function, not a method"));
        };
        if is_context(&input.ty) {
            parameters.push(Parameter::Context);
            continue;
        }
        let Pat::Ident(pattern) = input.pat.as_ref() else {
            let text = "a parameter of a tool needs a name that the model can use";
            return Err(syn::Error::new_spanned(&input.pat, text));
        };
        if let Type::Reference(reference) = input.ty.as_ref() {
            let text = "a tool owns its arguments: take a String instead of a &str";
            return Err(syn::Error::new_spanned(reference, text));
        }
        let name = pattern.ident.clone();
        let documentation = std::mem::take(&mut input.attrs);
        parameters.push(Parameter::Argument { name, kind: input.ty.clone(), documentation });
    }
    Ok(parameters)
}

fn is_context(kind: &Type) -> bool {
    let Type::Path(path) = kind else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "ToolContext")
}

/// The first paragraph of the documentation, as one line.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let paragraph: Vec<String> = lines
        .map(|line| line.trim().to_owned())
        .skip_while(String::is_empty)
        .take_while(|line| !line.is_empty())
        .collect();
    paragraph.join(" ")
}
