//! Spans as collectors get them.

#[cfg(test)]
mod export;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod spans;
#[cfg(test)]
mod stage;
