//! What people rely on when sessions are stored, resumed, listed and forked.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod forking;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod resuming;
#[cfg(test)]
mod rewinding;
#[cfg(test)]
mod rewinding_damage;
#[cfg(test)]
mod rewinding_limits;
#[cfg(test)]
mod rewinding_links;
#[cfg(test)]
mod rewinding_random;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod size;
#[cfg(test)]
mod stand;
#[cfg(test)]
mod sweeping;
#[cfg(test)]
mod teams;
