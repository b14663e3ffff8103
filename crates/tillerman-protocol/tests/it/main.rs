//! The wire and the files, as official clients and the official CLI write and read them.

#[cfg(test)]
mod wire;

#[cfg(test)]
mod content;
#[cfg(test)]
mod controls;
#[cfg(test)]
mod frames;
#[cfg(test)]
mod further_controls;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod hook_outputs;
#[cfg(test)]
mod hook_sections;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod ipc;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod news;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod required;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod stream;
#[cfg(test)]
mod transcript;
