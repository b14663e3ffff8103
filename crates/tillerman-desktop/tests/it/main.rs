//! Behaviour of the desktop tools that users rely on.

#[cfg(test)]
mod commands;
#[cfg(test)]
mod containment;
#[cfg(test)]
mod desktop;
#[cfg(test)]
mod files;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod stage;
