//! The `#[tool]` attribute: a function becomes a tool that agents can call.

mod attributes;
mod expand;

use proc_macro::TokenStream;

/// Makes a tool of a function; the function itself stays as it is.
///
/// Beside `fn name(…)` there is then `fn name_tool() -> tillerman::tools::Tool`. The first
/// paragraph of the function's documentation tells the model what the tool does, the documentation
/// of each parameter what to put there. Arguments that do not fit are refused before the function
/// runs. A parameter of the type `ToolContext` is told about the call instead.
///
/// In brackets: `name = "…"`, `title = "…"`, `description = "…"`, and the promises `read_only`,
/// `destructive`, `idempotent` and `open_world`.
#[proc_macro_attribute]
pub fn tool(attributes: TokenStream, function: TokenStream) -> TokenStream {
    expand::expand(attributes.into(), function.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
