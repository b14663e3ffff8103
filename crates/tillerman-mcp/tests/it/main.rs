//! A hub and servers of every kind, well behaved and not.

#[cfg(test)]
mod authorization;
#[cfg(test)]
mod stage;

#[cfg(test)]
mod asking;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod challenges;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod in_process;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod remote;
#[cfg(test)]
mod resources;
#[cfg(test)]
mod results;
#[cfg(test)]
mod serving;
#[cfg(test)]
mod sign_in;
