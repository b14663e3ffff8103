//! Attacks on real sandboxes, and what users rely on beside them.

#[cfg(test)]
mod upstream;
#[cfg(test)]
mod world;

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod basics;
#[cfg(test)]
mod broker;
#[cfg(test)]
mod escapes;
#[cfg(test)]
mod files;
#[cfg(test)]
mod git_push;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod network;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod stages;
