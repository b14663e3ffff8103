//! Tests of the embedded page.

#[cfg(test)]
mod assets;
