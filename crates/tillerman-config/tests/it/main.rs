//! What people rely on when settings and extensions come from several places.

#[cfg(test)]
mod desk;

#[cfg(test)]
mod argument;
#[cfg(test)]
mod broken;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod managed;
#[cfg(test)]
mod mcp_files;
#[cfg(test)]
mod merging;
#[cfg(test)]
mod persist;
#[cfg(test)]
mod reload;
#[cfg(test)]
mod repository;
#[cfg(test)]
mod trusting;

#[cfg(test)]
mod grove;

#[cfg(test)]
mod agents;
#[cfg(test)]
mod frontmatter;
#[cfg(test)]
mod host_policy;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod plugins;
#[cfg(test)]
mod skills;
#[cfg(test)]
mod styles;
#[cfg(test)]
mod surroundings;
#[cfg(test)]
mod templates;
