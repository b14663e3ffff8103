//! Sessions in this very process, as the SDK and the host run them.

#[cfg(test)]
mod side_by_side;
#[cfg(test)]
mod world;

#[cfg(test)]
mod belongings;
#[cfg(test)]
mod doors;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod leftover_trees;
#[cfg(test)]
mod main_agent;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod owners;
