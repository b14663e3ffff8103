//! What the policy says about calls, told by tables.

#[cfg(test)]
mod world;

#[cfg(test)]
mod allow_rules;
#[cfg(test)]
mod bypassing;
#[cfg(test)]
mod concerns;
#[cfg(test)]
mod confined;
#[cfg(test)]
mod deny_rules;
#[cfg(test)]
mod doing;
#[cfg(test)]
mod doing_more;
#[cfg(test)]
mod editing;
#[cfg(test)]
mod environment;
#[cfg(test)]
mod files;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod looking;
#[cfg(test)]
mod monitors;
#[cfg(test)]
mod order;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod size;
#[cfg(test)]
mod suggestions;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod updates;
#[cfg(test)]
mod writes;
