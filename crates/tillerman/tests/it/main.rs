//! Everything the SDK promises, over every transport it has.

#[cfg(test)]
mod host;
#[cfg(test)]
mod world;

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod budgets;
#[cfg(test)]
mod callbacks;
#[cfg(test)]
mod event_bus;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod methods;
#[cfg(test)]
mod option_surroundings;
#[cfg(test)]
mod options;
#[cfg(test)]
mod other_engines;
#[cfg(test)]
mod public_api;
#[cfg(test)]
mod public_items;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod workspaces;
