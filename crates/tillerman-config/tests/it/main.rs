//! What people rely on when settings come from several places.

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
mod persist;
